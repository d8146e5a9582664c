//! What a repository that belongs to an agent points at, read as data: no Git is asked, because it would follow the
//! repository's own settings.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::regular::read_regular;

const LARGEST_REF: u64 = 4 << 10;
const LARGEST_LIST: u64 = 16 << 20;
const MOST_REFS: usize = 100_000;
const DEEPEST: usize = 32;

/// The commits that a repository knows by a name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Refs {
    /// What is checked out; nothing before the first commit.
    pub(super) head: Option<String>,
    /// By their whole names.
    pub(super) all: BTreeMap<String, String>,
}

impl Refs {
    pub(super) fn read(git_dir: &Path) -> Result<Self> {
        let mut all = BTreeMap::new();
        let packed = text(&git_dir.join("packed-refs"), LARGEST_LIST)?.unwrap_or_default();
        for line in packed.lines() {
            if let Some((id, name)) = line.split_once(' ').filter(|(id, _)| is_id(id)) {
                all.insert(name.to_owned(), id.to_owned());
            }
        }
        loose(&git_dir.join("refs"), "refs", 0, &mut all)?;
        let head = text(&git_dir.join("HEAD"), LARGEST_REF)?.unwrap_or_default();
        let head = match head.trim_end().strip_prefix("ref: ") {
            Some(name) => all.get(name.trim()).cloned(),
            None => Some(head.trim_end().to_owned()).filter(|id| is_id(id)),
        };
        Ok(Self { head, all })
    }
}

/// Those that have a file each, which count for more than a line of the list.
fn loose(dir: &Path, name: &str, depth: usize, all: &mut BTreeMap<String, String>) -> Result<()> {
    if depth > DEEPEST || all.len() > MOST_REFS {
        bail!("there are more references than anybody makes");
    }
    // A link could lead anywhere.
    if !fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir()) {
        return Ok(());
    }
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let file = entry.file_name();
        let name = format!("{name}/{}", file.to_str().context("a reference has a name that is no text")?);
        if entry.file_type()?.is_dir() {
            loose(&entry.path(), &name, depth + 1, all)?;
        } else if let Some(id) = text(&entry.path(), LARGEST_REF)?.filter(|text| is_id(text.trim_end())) {
            all.insert(name, id.trim_end().to_owned());
        }
    }
    Ok(())
}

/// A commit's name, in either of Git's two lengths.
fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn text(path: &Path, most: u64) -> Result<Option<String>> {
    Ok(small_file(path, most)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// A file that need not be there.
pub(super) fn small_file(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    match read_regular(path, most) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).with_context(|| format!("cannot read {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0123456789abcdef0123456789abcdef01234567";
    const B: &str = "76543210fedcba9876543210fedcba9876543210";

    #[test]
    fn references_are_read_from_the_list_and_from_files() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("refs/heads/fix")).unwrap();
        fs::write(
            at("packed-refs"),
            format!("# pack-refs with: peeled\n{A} refs/heads/main\n{A} refs/heads/fix/a\n^{B}\nx y\n"),
        )
        .unwrap();
        fs::write(at("refs/heads/fix/a"), format!("{B}\n")).unwrap();
        fs::write(at("refs/heads/broken"), "ref: ../../etc/passwd\n").unwrap();
        fs::write(at("HEAD"), "ref: refs/heads/fix/a\n").unwrap();
        let refs = Refs::read(dir.path()).unwrap();
        assert_eq!(refs.head.as_deref(), Some(B));
        let all = [("refs/heads/fix/a", B), ("refs/heads/main", A)]
            .map(|(name, id)| (name.to_owned(), id.to_owned()));
        assert_eq!(refs.all, BTreeMap::from(all));
        fs::write(at("HEAD"), format!("{A}\n")).unwrap();
        assert_eq!(Refs::read(dir.path()).unwrap().head.as_deref(), Some(A));
        fs::write(at("HEAD"), "ref: refs/heads/unborn\n").unwrap();
        assert_eq!(Refs::read(dir.path()).unwrap().head, None);
    }

    #[test]
    fn what_is_no_file_is_refused_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("refs")).unwrap();
        let head = dir.path().join("HEAD");
        assert!(std::process::Command::new("mkfifo").arg(&head).status().unwrap().success());
        assert!(Refs::read(dir.path()).is_err());
        fs::remove_file(&head).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &head).unwrap();
        assert!(Refs::read(dir.path()).is_err());
        fs::remove_file(&head).unwrap();
        fs::write(&head, vec![b'x'; 1 << 20]).unwrap();
        assert!(Refs::read(dir.path()).is_err());
        // A way in circles ends.
        fs::remove_file(&head).unwrap();
        std::os::unix::fs::symlink("..", dir.path().join("refs/heads")).unwrap();
        assert!(Refs::read(dir.path()).is_err());
    }
}
