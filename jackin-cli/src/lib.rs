//! jackin
