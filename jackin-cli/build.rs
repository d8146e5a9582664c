//! Has the static programs' relocations written in their short form: a twentieth of the program's size less.

use std::process::Command;

/// Before this release of Rust, the C library that static programs start with does not read that form.
const FIRST_MINOR: u32 = 93;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is_static = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "musl");
    if is_static && minor_release().is_some_and(|minor| minor >= FIRST_MINOR) {
        println!("cargo:rustc-link-arg-bins=-zpack-relative-relocs");
    }
}

/// The 95 of `rustc 1.95.0 (…)`.
fn minor_release() -> Option<u32> {
    let output = Command::new(std::env::var_os("RUSTC")?).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split(['.', ' ']).nth(2)?.parse().ok()
}
