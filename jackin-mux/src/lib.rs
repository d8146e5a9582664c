//! See the workspace's `ARCHITECTURE.md` for what this crate is for.
#![forbid(unsafe_code)]

pub mod vt;
