//! Skills: directories with a `SKILL.md` that teach agents something. A role names them; they are copied to where the
//! instance's agents look for such.

mod bundled;
mod places;
mod project;

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::config::Paths;

pub(super) use places::{Place, in_home};
pub(super) use project::{give, take_away};

/// The file that every skill has.
const MAIN: &str = "SKILL.md";

/// The most that a skill may be: files, bytes of them all, and directories within one another.
const MOST_FILES: usize = 500;
const MOST_BYTES: u64 = 8 << 20;
const DEEPEST: usize = 8;

/// A skill with everything that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Skill {
    pub(super) name: String,
    pub(super) files: Vec<SkillFile>,
}

/// One file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SkillFile {
    /// Its path within the skill.
    pub(super) path: String,
    /// Whether it can be run.
    pub(super) executable: bool,
    pub(super) bytes: Vec<u8>,
}

impl SkillFile {
    /// Who may do what with it.
    pub(super) const fn mode(&self) -> u32 {
        if self.executable { 0o755 } else { 0o644 }
    }
}

/// Why there is no such skill.
#[derive(Debug, Error)]
pub(super) enum SkillError {
    #[error("there is no skill {name:?}: put a directory with a {MAIN} at {}, or choose one of {known}", at.display())]
    Unknown { name: String, at: PathBuf, known: String },
    #[error("the skill {name} has no {MAIN}: add one to {}", at.display())]
    Empty { name: String, at: PathBuf },
    #[error("the skill {name} at {} is too large to be copied: it may have {MOST_FILES} files, {} MB and {DEEPEST} directories within one another", at.display(), MOST_BYTES >> 20)]
    TooLarge { name: String, at: PathBuf },
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: std::io::Error },
}

/// The skills with these names: the operator's own, else those that come with jackin.
pub(super) fn find(paths: &Paths, names: &[String]) -> Result<Vec<Skill>, SkillError> {
    names.iter().map(|name| find_one(paths, name)).collect()
}

fn find_one(paths: &Paths, name: &str) -> Result<Skill, SkillError> {
    let at = paths.skills().join(name);
    if at.is_dir() {
        return read(name, &at);
    }
    bundled::find(name).ok_or_else(|| {
        let mut known: Vec<String> = bundled::names().map(str::to_owned).collect();
        let own = fs::read_dir(paths.skills()).into_iter().flatten().flatten();
        let own = own.filter(|entry| entry.path().join(MAIN).is_file());
        known.extend(own.map(|entry| entry.file_name().to_string_lossy().into_owned()));
        known.sort();
        known.dedup();
        SkillError::Unknown { name: name.to_owned(), at: at.clone(), known: known.join(", ") }
    })
}

/// Reads a directory. Links are followed: what an operator keeps elsewhere is meant to be copied.
fn read(name: &str, at: &Path) -> Result<Skill, SkillError> {
    let too_large = || SkillError::TooLarge { name: name.to_owned(), at: at.to_owned() };
    let (mut files, mut bytes) = (Vec::new(), 0);
    let mut directories = vec![(at.to_owned(), String::new(), 0)];
    while let Some((directory, below, depth)) = directories.pop() {
        let failed = |path: &Path, error| SkillError::Read { path: path.to_owned(), error };
        let entries = fs::read_dir(&directory).map_err(|error| failed(&directory, error))?;
        for entry in entries {
            let path = entry.map_err(|error| failed(&directory, error))?.path();
            let Some(own) = path.file_name().and_then(|own| own.to_str()) else { continue };
            // A version control's directory is no part of what an agent learns.
            if own == ".git" {
                continue;
            }
            let known = fs::metadata(&path).map_err(|error| failed(&path, error))?;
            let below = if below.is_empty() { own.to_owned() } else { format!("{below}/{own}") };
            if known.is_dir() {
                if depth + 1 >= DEEPEST {
                    return Err(too_large());
                }
                directories.push((path, below, depth + 1));
            } else if known.is_file() {
                bytes += known.len();
                if files.len() == MOST_FILES || bytes > MOST_BYTES {
                    return Err(too_large());
                }
                let mut text = Vec::new();
                // One that grows meanwhile is cut where it was.
                let read =
                    fs::File::open(&path).and_then(|file| file.take(known.len()).read_to_end(&mut text));
                read.map_err(|error| failed(&path, error))?;
                let executable = known.permissions().mode() & 0o111 != 0;
                files.push(SkillFile { path: below, executable, bytes: text });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if !files.iter().any(|file| file.path == MAIN) {
        return Err(SkillError::Empty { name: name.to_owned(), at: at.to_owned() });
    }
    Ok(Skill { name: name.to_owned(), files })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> (tempfile::TempDir, Paths) {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::new(dir.path().join("home"), dir.path().join("config"));
        (dir, paths)
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_operators_own_comes_before_what_comes_with_jackin() {
        let (_dir, paths) = paths();
        let name = "jackin-machine-readable-pr";
        let bundled = find(&paths, &names(&[name])).unwrap();
        assert!(String::from_utf8_lossy(&bundled[0].files[0].bytes).contains("<jackin:pr>"));
        let own = paths.skills().join(name);
        fs::create_dir_all(own.join("scripts")).unwrap();
        fs::create_dir_all(own.join(".git/objects")).unwrap();
        fs::write(own.join(MAIN), "mine").unwrap();
        fs::write(own.join("scripts/go"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(own.join("scripts/go"), fs::Permissions::from_mode(0o700)).unwrap();
        let found = find(&paths, &names(&[name])).unwrap();
        let files: Vec<_> = found[0].files.iter().map(|file| (file.path.as_str(), file.mode())).collect();
        assert_eq!(files, [(MAIN, 0o644), ("scripts/go", 0o755)]);
    }

    #[test]
    fn what_is_no_skill_is_told_with_what_would_be() {
        let (_dir, paths) = paths();
        fs::create_dir_all(paths.skills().join("empty")).unwrap();
        fs::create_dir_all(paths.skills().join("mine")).unwrap();
        fs::write(paths.skills().join("mine").join(MAIN), "x").unwrap();
        let error = find(&paths, &names(&["nobody"])).unwrap_err().to_string();
        assert!(error.contains("skills/nobody") && error.contains("machine-readable-pr"), "{error}");
        assert!(error.contains("mine") && !error.contains("empty"), "{error}");
        let error = find(&paths, &names(&["mine", "empty"])).unwrap_err().to_string();
        assert!(error.contains("has no SKILL.md"), "{error}");
        let large = paths.skills().join("large");
        fs::create_dir_all(&large).unwrap();
        fs::File::create(large.join("data")).unwrap().set_len(MOST_BYTES + 1).unwrap();
        let error = find(&paths, &names(&["large"])).unwrap_err().to_string();
        assert!(error.contains("too large"), "{error}");
        // A link to itself comes to its end.
        let round = paths.skills().join("round");
        fs::create_dir_all(&round).unwrap();
        std::os::unix::fs::symlink(".", round.join("again")).unwrap();
        assert!(matches!(find(&paths, &names(&["round"])), Err(SkillError::TooLarge { .. })));
    }
}
