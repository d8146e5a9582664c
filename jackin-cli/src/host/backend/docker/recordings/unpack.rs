//! Takes recordings out of an archive. Somebody in a container may have chosen the names.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::host::backend::Brought;
use crate::host::manifest::private_dir;

/// How many recordings are taken of one container.
const MOST_FILES: usize = 200;

/// How many different recordings can have one name.
const MOST_NAMESAKES: u32 = 100;

/// The longest name; there is room for what is added to it.
const LONGEST_NAME: usize = 200;

/// Whether a name is a recording's, and nothing but a name.
pub(super) fn is_plain(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.ends_with(END)
        && !name.starts_with(['.', '-'])
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

const END: &str = ".cast";

/// Puts the recordings of an archive into a directory, as far as that goes.
pub(super) fn unpack(archive: impl Read, dir: &Path) -> Brought {
    let mut brought = Brought::default();
    let kept = keep_all(&mut tar::Archive::new(archive), dir, &mut brought.files);
    brought.trouble = kept.err().map(|error| error.to_string());
    brought
}

fn keep_all(archive: &mut tar::Archive<impl Read>, dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = plain_name(&entry.path_bytes());
        // A link may lead anywhere.
        let Some(name) = name.filter(|_| entry.header().entry_type().is_file()) else { continue };
        if files.len() == MOST_FILES {
            return Err(io::Error::other(format!("there are more than {MOST_FILES} of them")));
        }
        let size = entry.size();
        files.push(keep(&mut entry, size, dir, &name)?);
    }
    Ok(())
}

/// The name of a recording that is at the top of an archive, or in the one directory that it is of.
fn plain_name(path: &[u8]) -> Option<String> {
    let path = std::str::from_utf8(path).ok()?;
    let name = path.strip_prefix("state/").unwrap_or(path);
    is_plain(name).then(|| name.to_owned())
}

/// Writes a recording to a file that was not there. One that is there already, byte for byte, is as good.
fn keep(recording: &mut impl Read, size: u64, dir: &Path, name: &str) -> io::Result<PathBuf> {
    private_dir(dir)?;
    let mut new = New::create(dir, name)?;
    if io::copy(recording, &mut new.file)? != size {
        return Err(io::Error::new(ErrorKind::UnexpectedEof, format!("{name} did not come whole")));
    }
    new.file.sync_all()?;
    let stem = name.strip_suffix(END).unwrap_or(name);
    for number in 1..=MOST_NAMESAKES {
        let path = match number {
            1 => dir.join(name),
            _ => dir.join(format!("{stem}-{number}{END}")),
        };
        match fs::hard_link(&new.path, &path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Err(_) if is_same(&new.path, &path)? => return Ok(path),
            Err(_) => {}
        }
    }
    Err(io::Error::other(format!("there are too many recordings called {name} in {}", dir.display())))
}

/// A file while it is written; it goes with this value.
struct New {
    path: PathBuf,
    file: File,
}

impl New {
    fn create(dir: &Path, name: &str) -> io::Result<Self> {
        // Two may be at it in one process.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!(".{name}.{}-{number}.new", std::process::id()));
        // An interrupted command with the same number may have left one.
        let _ = fs::remove_file(&path);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { path, file })
    }
}

impl Drop for New {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let there = fs::symlink_metadata(other)?;
    if !there.is_file() || there.len() != fs::metadata(one)?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (BufReader::new(File::open(one)?), BufReader::new(File::open(other)?));
    let (mut left, mut right) = ([0; 8 * 1024], [0; 8 * 1024]);
    loop {
        let len = one.read(&mut left)?;
        if len == 0 {
            return Ok(true);
        }
        if other.read_exact(&mut right[..len]).is_err() || left[..len] != right[..len] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive with these names, whatever they are.
    fn archive(entries: &[(&str, tar::EntryType, &str)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, kind, text) in entries {
            let mut header = tar::Header::new_gnu();
            header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(text.len() as u64);
            header.set_cksum();
            builder.append(&header, text.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).into_iter().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    const FILE: tar::EntryType = tar::EntryType::Regular;

    #[test]
    fn only_plain_files_with_plain_names_come_out() {
        let outer = tempfile::tempdir().unwrap();
        let dir = outer.path().join("recordings/api");
        let bytes = archive(&[
            ("state/", tar::EntryType::Directory, ""),
            ("state/api-1.cast", FILE, "good"),
            ("state/exit.json", FILE, "{}"),
            ("state/../../up.cast", FILE, "bad"),
            ("../up.cast", FILE, "bad"),
            ("/up.cast", FILE, "bad"),
            ("state/deep/er.cast", FILE, "bad"),
            ("state/.hidden.cast", FILE, "bad"),
            ("state/-x.cast", FILE, "bad"),
            ("state/a\x1b[2J.cast", FILE, "bad"),
            ("state/a b.cast", FILE, "bad"),
            ("state/link.cast", tar::EntryType::Symlink, ""),
            ("state/hard.cast", tar::EntryType::Link, ""),
            ("state/pipe.cast", tar::EntryType::Fifo, ""),
            ("api-2.cast", FILE, "one alone"),
        ]);
        let brought = unpack(&bytes[..], &dir);
        assert_eq!(brought.trouble, None);
        assert_eq!(brought.files, ["api-1.cast", "api-2.cast"].map(|name| dir.join(name)));
        assert_eq!(names(&dir), ["api-1.cast", "api-2.cast"]);
        assert_eq!(names(outer.path()), ["recordings"]);
    }

    #[test]
    fn nothing_is_overwritten_and_nothing_is_there_twice() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.cast"), "mine").unwrap();
        let bytes = archive(&[("state/a.cast", FILE, "other")]);
        for _ in 0..2 {
            assert_eq!(unpack(&bytes[..], dir.path()).files, [dir.path().join("a-2.cast")]);
        }
        assert_eq!(names(dir.path()), ["a-2.cast", "a.cast"]);
        assert_eq!(fs::read_to_string(dir.path().join("a.cast")).unwrap(), "mine");
    }

    #[test]
    fn what_does_not_come_whole_is_told_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let bytes = archive(&[("state/a.cast", FILE, "whole"), ("state/b.cast", FILE, "half of it")]);
        // Two blocks for the first file, one for the second's header, and a few bytes of it.
        let brought = unpack(&bytes[..3 * 512 + 4], dir.path());
        assert_eq!(brought.files, [dir.path().join("a.cast")]);
        assert!(brought.trouble.is_some());
        assert_eq!(names(dir.path()), ["a.cast"]);
        assert!(unpack(&b"no archive at all"[..], dir.path()).files.is_empty());
    }
}
