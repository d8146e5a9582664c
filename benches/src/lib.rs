//! Benchmarks of the hot paths; each file under `benches/` is one subject.
