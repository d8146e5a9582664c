//! Benchmarks of the hot paths; each file under `benches/` is one subject. What they feed is made here.

pub mod cpu;
pub mod output;
