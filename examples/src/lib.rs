//! Programs that embed the jackin crates; each file under `examples/` is one.
