//! jackin

