//! A Git worktree for each instance, so that agents of one repository do not write into each other's files.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};
use jackin_core::InstanceName;

use super::plan::Worktree;
use crate::config::Paths;

/// Decides where the worktree of an instance goes; nothing is made yet.
pub(super) fn plan(paths: &Paths, instance: &InstanceName, directory: &Path) -> Result<Worktree> {
    let top = git(directory, &["rev-parse", "--show-toplevel"])
        .with_context(|| format!("{} is in no Git repository: leave --worktree out", directory.display()))?;
    let has_commit = git(directory, &["rev-parse", "--verify", "--quiet", "HEAD"]).is_ok();
    ensure!(has_commit, "the repository has no commit yet: make one, or leave --worktree out");
    let repository = PathBuf::from(top.trim_end());
    let path = paths.worktrees().join(instance.as_str());
    ensure!(
        !path.exists(),
        "{} is there already, from an instance of that name: choose another --name, or remove it with `git worktree remove`",
        path.display()
    );
    let taken = |branch: &str| {
        git(&repository, &["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")]).is_ok()
    };
    let base = format!("jackin/{instance}");
    let mut branches =
        std::iter::once(base.clone()).chain((2..1_000).map(|number| format!("{base}-{number}")));
    let branch = branches.find(|branch| !taken(branch)).context("every branch name is taken")?;
    Ok(Worktree { repository, path, branch })
}

/// The directory that a repository, and all of its worktrees, keep everything in.
pub(super) fn git_dir(repository: &Path) -> Result<PathBuf> {
    let dir = git(repository, &["rev-parse", "--git-common-dir"])?;
    let dir = repository.join(dir.trim_end());
    dir.canonicalize().with_context(|| format!("cannot find {}", dir.display()))
}

/// Makes a worktree.
pub(super) fn create(worktree: &Worktree) -> Result<()> {
    let Worktree { repository, path, branch } = worktree;
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    git(repository, &["worktree", "add", "--quiet", "-b", branch, utf8(path)?])
        .with_context(|| format!("cannot make the worktree {}", path.display()))?;
    Ok(())
}

/// Whether a Git is at work on it, which may have outlived whoever started it.
pub(super) fn is_being_made(worktree: &Worktree) -> bool {
    let path = worktree.path.as_os_str().as_encoded_bytes();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| {
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.contains(&b"worktree".as_slice()) && words.contains(&b"add".as_slice()) && words.contains(&path)
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
    let Worktree { repository, path, branch } = worktree;
    if path.exists() {
        match git(path, &["status", "--porcelain"]) {
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
    if !repository.exists() {
        return Ok(Removed::Gone { kept_branch: None });
    }
    // One that was interrupted half way is still in the repository's list.
    let _ = git(repository, &["worktree", "prune"]);
    let there =
        git(repository, &["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")]).is_ok();
    // `-d` refuses to delete what is merged nowhere.
    let deleted = there && git(repository, &["branch", "--quiet", "-d", branch]).is_ok();
    Ok(Removed::Gone { kept_branch: (there && !deleted).then(|| branch.clone()) })
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("the path {} is not UTF-8", path.display()))
}

fn git(directory: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(args)
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .output()
        .context("cannot start git: is it installed?")?;
    let Output { status, stdout, stderr } = output;
    if !status.success() {
        bail!("git {}: {}", args.first().unwrap_or(&""), String::from_utf8_lossy(&stderr).trim());
    }
    Ok(String::from_utf8_lossy(&stdout).into_owned())
}

/// The branch that a directory is on; none where there is no repository, or no branch.
pub(crate) fn branch(directory: &Path) -> Option<String> {
    let mut dir = Some(directory);
    let dot_git = loop {
        let candidate = dir?.join(".git");
        if candidate.exists() {
            break candidate;
        }
        dir = dir?.parent();
    };
    let git_dir = if dot_git.is_dir() {
        dot_git
    } else {
        let text = std::fs::read_to_string(&dot_git).ok()?;
        dot_git.parent()?.join(text.strip_prefix("gitdir:")?.trim())
    };
    let head = std::fs::read_to_string(git_dir.join("HEAD")).ok()?;
    let branch = head.strip_prefix("ref: refs/heads/")?.trim_end();
    // A repository is an agent's to write.
    (!branch.is_empty() && branch.len() < 256 && !branch.contains(char::is_control))
        .then(|| branch.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let worktree = plan(&paths, &name, repo.path()).unwrap();
        create(&worktree).unwrap();
        assert_eq!(branch(&worktree.path).as_deref(), Some("jackin/api"));
        assert_eq!(branch(repo.path()).as_deref(), Some("main"));
        let common = repo.path().join(".git").canonicalize().unwrap();
        assert_eq!(
            (git_dir(repo.path()).unwrap(), git_dir(&worktree.path).unwrap()),
            (common.clone(), common)
        );
        std::fs::write(worktree.path.join("new.txt"), "work").unwrap();
        assert_eq!(remove(&worktree).unwrap(), Removed::Kept);
        assert!(worktree.path.join("new.txt").exists());
        assert!(plan(&paths, &name, repo.path()).unwrap_err().to_string().contains("is there already"));
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
            plan(&Paths::new(home.path(), home.path()), &"api".parse().unwrap(), repo.path()).unwrap();
        create(&worktree).unwrap();
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
        let error =
            plan(&Paths::new(dir.path(), dir.path()), &"api".parse().unwrap(), dir.path()).unwrap_err();
        assert!(error.to_string().contains("is in no Git repository"), "{error:#}");
        assert_eq!(branch(dir.path()), None);
    }
}
