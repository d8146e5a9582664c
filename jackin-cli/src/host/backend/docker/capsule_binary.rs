//! Finding the static capsule that is put into containers.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::BackendError;
use super::labels::OWN_VERSION;
use crate::config::Paths;

/// Names the file outright.
const VARIABLE: &str = "JACKIN_CAPSULE_BIN";

const FILE: &str = "jackin-capsule";

/// How far above the running program a directory of cargo is looked for: `target/TRIPLE/debug/deps` is the deepest.
const MOST_ABOVE: usize = 5;

/// The kernel's names of processors, with the numbers that programs for them carry.
const MACHINES: [(&str, u16); 4] = [("x86_64", 62), ("aarch64", 183), ("riscv64", 243), ("s390x", 22)];

/// The capsule, for an engine's processors.
#[derive(Debug)]
pub(super) struct CapsuleBinary {
    /// Where it was found.
    pub(super) path: PathBuf,
    /// The program.
    pub(super) bytes: Vec<u8>,
}

impl CapsuleBinary {
    /// Looks in all places where one may be, in this order: what `JACKIN_CAPSULE_BIN` names, beside the running program,
    /// the cache of this version, and for developers where cargo puts it.
    pub(super) fn find(arch: &str, paths: &Paths) -> Result<Self, BackendError> {
        let named = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        let own = std::env::current_exe().ok();
        Self::find_in(arch, named.as_deref(), own.as_deref(), &paths.cache())
    }

    fn find_in(
        arch: &str,
        named: Option<&Path>,
        own: Option<&Path>,
        cache: &Path,
    ) -> Result<Self, BackendError> {
        if let Some(file) = named {
            return match fs::read(file) {
                Err(error) => Err(error.to_string()),
                Ok(bytes) => check(&bytes, arch).map(|()| Self { path: file.to_owned(), bytes }),
            }
            .map_err(|why| {
                let file = file.display();
                BackendError::Impossible(format!("{VARIABLE} names {file}, which is of no use: {why}"))
            });
        }
        let mut looked = String::new();
        for file in places(arch, own, cache) {
            let why = match fs::read(&file) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => "it is not there".to_owned(),
                Err(error) => error.to_string(),
                Ok(bytes) => match check(&bytes, arch) {
                    Ok(()) => return Ok(Self { path: file, bytes }),
                    Err(why) => why,
                },
            };
            let _ = write!(looked, "\n  {}: {why}", file.display());
        }
        Err(BackendError::Impossible(format!(
            "there is no static jackin-capsule for {arch}, which containers need. It was looked for at{looked}\n\
             Make one with `cargo build --release --target {arch}-unknown-linux-musl --no-default-features \
             --features capsule --bin jackin-capsule`, or name one with {VARIABLE}"
        )))
    }
}

fn places(arch: &str, own: Option<&Path>, cache: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    places.extend(own.map(|own| own.with_file_name(FILE)));
    places.push(cache.join(OWN_VERSION).join(arch).join(FILE));
    let built = Path::new(&format!("{arch}-unknown-linux-musl")).join("release").join(FILE);
    let above = own.into_iter().flat_map(Path::ancestors).skip(1).take(MOST_ABOVE);
    // An installed program has no such directory above it, and nobody wants to read of it.
    places.extend(above.map(|dir| dir.join(&built)).filter(|file| file.exists()));
    places
}

/// Refuses what is no static program for these processors, by what the head of the file says.
fn check(bytes: &[u8], arch: &str) -> Result<(), String> {
    let not_ours = || "it is no program for Linux".to_owned();
    let head = bytes.get(..64).filter(|head| head.starts_with(b"\x7fELF")).ok_or_else(not_ours)?;
    if head[4] != 2 {
        return Err("it is a program of 32 bits".to_owned());
    }
    let little = head[5] == 1;
    let number = |at: usize, len: usize| -> Option<u64> {
        let bytes = bytes.get(at..at.checked_add(len)?)?;
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if little { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) })
    };
    let machine = number(18, 2).ok_or_else(not_ours)? as u16;
    let known = |machine: u16| MACHINES.iter().find(|(_, number)| *number == machine).map(|(name, _)| *name);
    match MACHINES.iter().find(|(name, _)| *name == arch) {
        None => return Err(format!("there are no capsules for {arch}")),
        Some((_, expected)) if machine != *expected => {
            let other = known(machine).map_or_else(|| format!("machine {machine}"), ToOwned::to_owned);
            return Err(format!("it is for {other}, and the engine is {arch}"));
        }
        Some(_) => {}
    }
    let table = number(32, 8).ok_or_else(not_ours)? as usize;
    let (size, count) = (number(54, 2).ok_or_else(not_ours)?, number(56, 2).ok_or_else(not_ours)?);
    for at in 0..count as usize {
        let entry = table.checked_add(at * size as usize).ok_or_else(not_ours)?;
        if number(entry, 4).ok_or_else(not_ours)? == INTERPRETER {
            return Err("it is not static: in an image it would not find its libraries".to_owned());
        }
    }
    Ok(())
}

/// The entry of a program's table that names the loader of its libraries.
const INTERPRETER: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    /// The head of a program with one entry of this kind in its table.
    fn program(machine: u16, entry: u32) -> Vec<u8> {
        let mut bytes = vec![0; 120];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes[32..40].copy_from_slice(&64u64.to_le_bytes());
        bytes[54..56].copy_from_slice(&56u16.to_le_bytes());
        bytes[56..58].copy_from_slice(&1u16.to_le_bytes());
        bytes[64..68].copy_from_slice(&entry.to_le_bytes());
        bytes
    }

    #[test]
    fn only_a_static_program_for_the_engine_will_do() {
        assert_eq!(check(&program(62, 1), "x86_64"), Ok(()));
        assert_eq!(check(&program(183, 1), "aarch64"), Ok(()));
        let of_another = check(&program(183, 1), "x86_64").unwrap_err();
        assert!(of_another.contains("for aarch64, and the engine is x86_64"), "{of_another}");
        assert!(check(&program(62, 3), "x86_64").unwrap_err().contains("not static"));
        assert!(check(b"#!/bin/sh\n", "x86_64").unwrap_err().contains("no program"));
        assert!(check(&program(62, 1), "vax").unwrap_err().contains("no capsules for vax"));
    }

    #[test]
    fn no_file_makes_it_fail() {
        let whole = program(62, 1);
        for len in 0..whole.len() {
            let _ = check(&whole[..len], "x86_64");
        }
        for at in 0..whole.len() {
            let mut bent = whole.clone();
            bent[at] = 0xff;
            let _ = check(&bent, "x86_64");
        }
    }

    #[test]
    fn this_test_program_is_told_from_a_static_one() {
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        if cfg!(all(target_os = "linux", target_env = "gnu")) {
            assert!(check(&own, std::env::consts::ARCH).unwrap_err().contains("not static"));
        }
    }

    #[test]
    fn places_are_looked_at_in_order_and_told_when_there_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let (cache, own) = (dir.path().join("cache"), dir.path().join("target/debug/jackin"));
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        let find = |named: Option<&Path>| CapsuleBinary::find_in("x86_64", named, Some(&own), &cache);
        let error = find(None).unwrap_err().to_string();
        for told in ["target/debug/jackin-capsule", OWN_VERSION, "x86_64-unknown-linux-musl", VARIABLE] {
            assert!(error.contains(told), "{error}");
        }
        let put = |file: PathBuf, mark: u8| {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let mut bytes = program(62, 1);
            bytes[119] = mark;
            fs::write(&file, bytes).unwrap();
            file
        };
        let marked = |found: Result<CapsuleBinary, BackendError>| found.unwrap().bytes[119];
        put(dir.path().join("target/x86_64-unknown-linux-musl/release/jackin-capsule"), 3);
        assert_eq!(marked(find(None)), 3);
        put(cache.join(OWN_VERSION).join("x86_64/jackin-capsule"), 2);
        assert_eq!(marked(find(None)), 2);
        let beside = put(own.with_file_name(FILE), 1);
        assert_eq!(marked(find(None)), 1);
        fs::write(&beside, program(62, 3)).unwrap();
        assert_eq!(marked(find(None)), 2, "one with libraries is passed over");
        assert_eq!(marked(find(Some(&put(dir.path().join("own"), 9)))), 9);
        let error = find(Some(&beside)).unwrap_err().to_string();
        assert!(error.contains(VARIABLE) && error.contains("not static"), "{error}");
    }
}
