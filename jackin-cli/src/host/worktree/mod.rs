//! A Git worktree for each instance, so that agents of one repository do not write into each other's files.

mod beside;
pub(super) mod clone;
mod git;
mod landing;
mod refs;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use git::{Git, git};
use jackin_core::InstanceName;

use super::plan::Worktree;
use crate::config::Paths;

/// Decides where the worktree of an instance goes; nothing is made yet. With a wall around the agent it is a clone.
pub(super) fn plan(
    paths: &Paths,
    instance: &InstanceName,
    directory: &Path,
    is_clone: bool,
) -> Result<Worktree> {
    let top = git(directory, &["rev-parse", "--show-toplevel"])
        .with_context(|| format!("{} is in no Git repository: leave --worktree out", directory.display()))?;
    let has_commit = git(directory, &["rev-parse", "--verify", "--quiet", "HEAD"]).is_ok();
    ensure!(has_commit, "the repository has no commit yet: make one, or leave --worktree out");
    let repository = PathBuf::from(top.trim_end());
    let path = paths.worktrees().join(instance.as_str());
    // What is kept may be of either kind.
    let mend = if path.join(".git").is_dir() { "delete it" } else { "remove it with `git worktree remove`" };
    ensure!(
        !path.exists(),
        "{} is there already, from an instance of that name: choose another --name, or {mend}",
        path.display()
    );
    let taken = |branch: &str| {
        git(&repository, &["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")]).is_ok()
    };
    let base = format!("jackin/{instance}");
    let mut branches =
        std::iter::once(base.clone()).chain((2..1_000).map(|number| format!("{base}-{number}")));
    let branch = branches.find(|branch| !taken(branch)).context("every branch name is taken")?;
    Ok(Worktree { repository, path, branch, is_clone })
}

/// The directory that a repository, and all of its worktrees, keep everything in.
pub(super) fn git_dir(repository: &Path) -> Result<PathBuf> {
    let dir = git(repository, &["rev-parse", "--git-common-dir"])?;
    let dir = repository.join(dir.trim_end());
    dir.canonicalize().with_context(|| format!("cannot find {}", dir.display()))
}

/// Worktrees that hold work of instances that are gone.
pub(super) fn kept(paths: &Paths, is_known: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(paths.worktrees()).into_iter().flatten().flatten();
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Those with a point are on their way, or on their way out.
    let of_nobody = |path: &PathBuf| !name(path).starts_with('.') && !is_known(&name(path));
    let mut kept: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(of_nobody).collect();
    kept.sort();
    kept
}

/// Whose files are, by numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// Makes a worktree; a clone for its owner, if that is somebody else.
pub(super) fn create(worktree: &Worktree, owner: Option<Owner>) -> Result<()> {
    let Worktree { repository, path, branch, is_clone } = worktree;
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    if *is_clone {
        return clone::create(worktree, owner)
            .with_context(|| format!("cannot make the repository {}", path.display()));
    }
    git(repository, &["worktree", "add", "--quiet", "-b", branch, utf8(path)?])
        .with_context(|| format!("cannot make the worktree {}", path.display()))?;
    Ok(())
}

/// Whether a Git is at work on it, which may have outlived whoever started it.
pub(super) fn is_being_made(worktree: &Worktree) -> bool {
    let paths = [worktree.path.clone(), beside::place(&worktree.path, "making")];
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| {
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words[0].ends_with(b"git")
            && paths.iter().any(|path| words.contains(&path.as_os_str().as_encoded_bytes()))
    })
}

/// What became of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    /// It is gone. Commits, if there are any, are still on its branch.
    Gone {
        /// The branch, where it is kept because it has commits of its own.
        kept_branch: Option<String>,
    },
    /// It has changes that are in no commit, so it is still there.
    Kept,
}

/// Takes a worktree away, unless it has changes that would be lost. A branch without commits of its own goes with it.
pub(super) fn remove(worktree: &Worktree) -> Result<Removed> {
    let Worktree { repository, path, branch, is_clone } = worktree;
    if *is_clone {
        return landing::remove(worktree);
    }
    if path.exists() {
        // All of it, whatever the operator likes to see.
        let status = Git::at(path).args(["status", "--porcelain", "--untracked-files=normal"]);
        match status.limited().run() {
            Ok(changes) if !changes.trim().is_empty() => return Ok(Removed::Kept),
            Ok(_) => {}
            // What cannot be looked at is not thrown away.
            Err(_) if std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) => {
                return Ok(Removed::Kept);
            }
            Err(_) => {}
        }
        git(repository, &["worktree", "remove", utf8(path)?])
            .with_context(|| format!("cannot remove the worktree {}", path.display()))?;
    }
    // One that was interrupted half way is still in the repository's list.
    let _ = git(repository, &["worktree", "prune"]);
    Ok(Removed::Gone { kept_branch: drop_branch(repository, branch) })
}

/// Deletes a branch without commits of its own; otherwise it is kept, and named.
fn drop_branch(repository: &Path, branch: &str) -> Option<String> {
    let there =
        git(repository, &["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")]).is_ok();
    // `-d` refuses to delete what is merged nowhere.
    let deleted = there && git(repository, &["branch", "--quiet", "-d", branch]).is_ok();
    (there && !deleted).then(|| branch.to_owned())
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("the path {} is not UTF-8", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capsule::branch;

    fn repository() -> Option<tempfile::TempDir> {
        let dir = tempfile::tempdir().unwrap();
        if git(dir.path(), &["init", "--quiet", "-b", "main"]).is_err() {
            eprintln!("skipped: git is not installed");
            return None;
        }
        let identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
        git(dir.path(), &[&identity[..], &["commit", "--quiet", "--allow-empty", "-m", "first"]].concat())
            .unwrap();
        Some(dir)
    }

    #[test]
    fn a_worktree_goes_unless_something_would_be_lost() {
        let Some(repo) = repository() else { return };
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::new(home.path(), home.path());
        let name: InstanceName = "api".parse().unwrap();
        let worktree = plan(&paths, &name, repo.path(), false).unwrap();
        create(&worktree, None).unwrap();
        assert_eq!(branch(&worktree.path).as_deref(), Some("jackin/api"));
        assert_eq!(branch(repo.path()).as_deref(), Some("main"));
        let common = repo.path().join(".git").canonicalize().unwrap();
        assert_eq!(
            (git_dir(repo.path()).unwrap(), git_dir(&worktree.path).unwrap()),
            (common.clone(), common)
        );
        std::fs::write(worktree.path.join("new.txt"), "work").unwrap();
        // Whatever the operator likes to see.
        git(repo.path(), &["config", "status.showUntrackedFiles", "no"]).unwrap();
        assert_eq!(remove(&worktree).unwrap(), Removed::Kept);
        assert!(worktree.path.join("new.txt").exists());
        assert!(
            plan(&paths, &name, repo.path(), false).unwrap_err().to_string().contains("is there already")
        );
        std::fs::remove_file(worktree.path.join("new.txt")).unwrap();
        assert_eq!(remove(&worktree).unwrap(), Removed::Gone { kept_branch: None });
        assert!(!worktree.path.exists() && git(repo.path(), &["rev-parse", "jackin/api"]).is_err());
        assert_eq!(remove(&worktree).unwrap(), Removed::Gone { kept_branch: None }, "again is no error");
    }

    #[test]
    fn commits_stay_on_their_branch() {
        let Some(repo) = repository() else { return };
        let home = tempfile::tempdir().unwrap();
        let worktree =
            plan(&Paths::new(home.path(), home.path()), &"api".parse().unwrap(), repo.path(), false).unwrap();
        create(&worktree, None).unwrap();
        let identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
        git(&worktree.path, &[&identity[..], &["commit", "--quiet", "--allow-empty", "-m", "work"]].concat())
            .unwrap();
        let removed = remove(&worktree).unwrap();
        assert_eq!(removed, Removed::Gone { kept_branch: Some("jackin/api".to_owned()) });
        assert!(git(repo.path(), &["rev-parse", "jackin/api"]).is_ok());
    }

    #[test]
    fn where_there_is_no_repository_there_is_no_worktree() {
        let dir = tempfile::tempdir().unwrap();
        let error = plan(&Paths::new(dir.path(), dir.path()), &"api".parse().unwrap(), dir.path(), false)
            .unwrap_err();
        assert!(error.to_string().contains("is in no Git repository"), "{error:#}");
        assert_eq!(branch(dir.path()), None);
    }
}
