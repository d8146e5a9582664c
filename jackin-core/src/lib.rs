//! The vocabulary that all jackin crates share.
#![forbid(unsafe_code)]
