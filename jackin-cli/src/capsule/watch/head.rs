//! The branch of the working directory, as Git keeps it in the file HEAD.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jackin_core::one_line;
use rustix::fs::OFlags;

/// How much of Git's small files is read.
const LONGEST: u64 = 4 << 10;

/// The longest name that is kept, in characters.
const LONGEST_NAME: usize = 200;

/// How much of a commit's name tells it.
const SHORT: usize = 8;

/// The branches that are the usual ones where Git does not say which is.
const USUAL: [&str; 2] = ["main", "master"];

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::capsule) struct Branch {
    /// Its name; of a commit without one, the beginning of the commit's.
    pub(in crate::capsule) name: String,
    /// Whether it is the one that everything starts from.
    pub(in crate::capsule) is_usual: bool,
}

/// A working directory whose branch is watched.
#[derive(Debug)]
pub(super) struct Head {
    workdir: PathBuf,
    /// Where Git keeps HEAD, once there is one.
    directory: Option<PathBuf>,
}

impl Head {
    pub(super) fn new(workdir: PathBuf) -> Self {
        Self { workdir, directory: None }
    }

    /// The directory to be told of changes in.
    pub(super) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// What is checked out just now.
    pub(super) fn look(&mut self) -> Option<Branch> {
        self.directory = git_directory(&self.workdir);
        let directory = self.directory.as_ref()?;
        let head = read(&directory.join("HEAD"))?;
        let Some(name) = named(&head) else {
            let commit: String = head.chars().take_while(char::is_ascii_hexdigit).take(SHORT).collect();
            return (commit.len() == SHORT).then_some(Branch { name: commit, is_usual: false });
        };
        // A worktree shares the remotes of the repository that it belongs to.
        let shared = read(&directory.join("commondir")).map(|shared| directory.join(shared.trim_end()));
        let remote = read(&shared.as_ref().unwrap_or(directory).join("refs/remotes/origin/HEAD"));
        let usual =
            remote.as_deref().and_then(|text| text.trim_end().strip_prefix("ref: refs/remotes/origin/"));
        let is_usual = usual.map_or_else(|| USUAL.contains(&name), |usual| usual == name);
        Some(Branch { name: one_line(name, LONGEST_NAME), is_usual })
    }
}

/// The branch that a directory is on; none where there is no repository, or no branch.
#[cfg(feature = "host")]
pub(crate) fn branch(workdir: &Path) -> Option<String> {
    let head = read(&git_directory(workdir)?.join("HEAD"))?;
    named(&head).filter(|name| !name.is_empty()).map(|name| one_line(name, LONGEST_NAME))
}

fn named(head: &str) -> Option<&str> {
    head.trim_end().strip_prefix("ref: refs/heads/")
}

/// `.git` of a directory, or of one above it: a directory, or a file that names one.
fn git_directory(workdir: &Path) -> Option<PathBuf> {
    workdir.ancestors().find_map(|above| {
        let git = above.join(".git");
        if fs::metadata(&git).ok()?.is_dir() {
            return Some(git);
        }
        let named = read(&git)?;
        Some(above.join(named.strip_prefix("gitdir:")?.trim()))
    })
}

/// A small file, which need not be there. What an agent put there instead of a file must not make us wait.
fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(())?;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(name: &str, is_usual: bool) -> Branch {
        Branch { name: name.to_owned(), is_usual }
    }

    #[test]
    fn the_branch_is_found_above_and_in_worktrees() {
        let dir = tempfile::tempdir().unwrap();
        let (git, deep) = (dir.path().join(".git"), dir.path().join("src/deep"));
        fs::create_dir_all(&deep).unwrap();
        let mut head = Head::new(deep);
        assert_eq!(head.look(), None);
        fs::create_dir(&git).unwrap();
        assert_eq!(head.look(), None);
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(head.look(), Some(branch("main", true)));
        assert_eq!(head.directory(), Some(git.as_path()));
        fs::create_dir_all(git.join("refs/remotes/origin")).unwrap();
        fs::write(git.join("refs/remotes/origin/HEAD"), "ref: refs/remotes/origin/trunk\n").unwrap();
        assert_eq!(head.look(), Some(branch("main", false)));
        fs::write(git.join("HEAD"), "ref: refs/heads/fix/a\x1b]0;b\n").unwrap();
        let odd = head.look().unwrap().name;
        assert!(odd.starts_with("fix/a") && !odd.contains('\x1b'), "{odd:?}");
        fs::write(git.join("HEAD"), "0123456789abcdef0123456789abcdef01234567\n").unwrap();
        assert_eq!(head.look(), Some(branch("01234567", false)));
        fs::write(git.join("HEAD"), "nonsense").unwrap();
        assert_eq!(head.look(), None);

        let tree = dir.path().join("tree");
        let own = git.join("worktrees/tree");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        fs::write(own.join("HEAD"), "ref: refs/heads/trunk\n").unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        let mut head = Head::new(tree);
        assert_eq!(head.look(), Some(branch("trunk", true)));
        assert_eq!(head.directory(), Some(own.as_path()));
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_keeps_nobody_waiting() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(dir.path().join(".git/HEAD")).status().unwrap();
        assert!(made.success());
        assert_eq!(Head::new(dir.path().to_owned()).look(), None);
    }
}
