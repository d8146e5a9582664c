//! A repository of its own for an agent behind a wall, in the place of a worktree.
//!
//! A worktree shares the repository's `.git`, and whoever may write there has programs run by the next Git of the
//! operator's: hooks, filters, monitors. So an agent in a container gets a repository that only borrows the objects, which
//! are mounted read-only. How it comes home is in [`landing`](super::landing).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use reqwest::Url;

use super::beside::Beside;
use super::git::{Git, git};
use super::{Owner, git_dir, utf8};
use crate::host::plan::Worktree;

/// How many stores of objects may borrow from each other, as Git has it.
const DEEPEST: usize = 5;

/// A fetch that brings what is named, and begins nothing else.
pub(super) const FETCH: [&str; 9] = [
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-recurse-submodules",
    "--no-write-fetch-head",
];

/// The stores of objects that a clone of the repository borrows from.
pub(in crate::host) fn lenders(repository: &Path) -> Result<Vec<PathBuf>> {
    let mut found = vec![git_dir(repository)?.join("objects")];
    let mut next = 0;
    while let Some(store) = found.get(next).filter(|_| next < DEEPEST).cloned() {
        let list = fs::read_to_string(store.join("info/alternates")).unwrap_or_default();
        let named = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for store in named.filter_map(|line| store.join(line).canonicalize().ok()) {
            if !found.contains(&store) {
                found.push(store);
            }
        }
        next += 1;
    }
    Ok(found)
}

/// Makes the clone. It appears whole or not at all.
pub(super) fn create(worktree: &Worktree, owner: Option<Owner>) -> Result<()> {
    let Worktree { repository, path, branch, .. } = worktree;
    // While the branch is there, what the clone borrows is not cleared away.
    git(repository, &["branch", "--quiet", "--no-track", branch, "HEAD"])?;
    let making = Beside::new(path, "making")?;
    let at = making.path();
    init(repository, at, branch, &lenders(repository)?)?;
    let refs = ["heads", "tags", "remotes"].map(|kind| format!("+refs/{kind}/*:refs/{kind}/*"));
    let fetch = Git::at(at).args(FETCH).args(["--update-head-ok", "--update-shallow"]);
    fetch.args([repository.as_os_str()]).args(refs).run()?;
    settings(repository, at)?;
    // Large files are where the operator's Git LFS keeps them.
    let large = format!("lfs.storage={}", utf8(&git_dir(repository)?.join("lfs"))?);
    git(at, &["-c", &large, "reset", "--quiet", "--hard"])?;
    if let Some(owner) = owner {
        give(at, owner).with_context(|| format!("cannot give {} to user {}", at.display(), owner.uid))?;
    }
    fs::rename(at, path).with_context(|| format!("cannot make {}", path.display()))?;
    Ok(())
}

/// A repository with nothing in it, of the same kind as another one, that borrows objects. Templates are made for the
/// operator's own.
pub(super) fn init(like: &Path, path: &Path, branch: &str, lenders: &[PathBuf]) -> Result<()> {
    let kind = git(like, &["rev-parse", "--show-object-format"])?;
    let words = ["init", "--quiet", "--template=", "--object-format", kind.trim_end()];
    Git::new().args(words).args([&format!("--initial-branch={branch}"), utf8(path)?]).run()?;

    let mut list = String::new();
    for store in lenders {
        list.push_str(utf8(store)?);
        list.push('\n');
    }
    let (own, lent_from) = (path.join(".git"), git_dir(like)?);
    let write = || {
        fs::create_dir_all(own.join("objects/info"))?;
        fs::write(own.join("objects/info/alternates"), list)?;
        // Where the history was cut off.
        match fs::copy(lent_from.join("shallow"), own.join("shallow")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    };
    write().with_context(|| format!("cannot write into {}", own.display()))
}

/// Gives everything to the agent's user.
fn give(path: &Path, owner: Owner) -> io::Result<()> {
    std::os::unix::fs::lchown(path, Some(owner.uid), Some(owner.gid))?;
    if fs::symlink_metadata(path)?.is_dir() {
        fs::read_dir(path)?.try_for_each(|entry| give(&entry?.path(), owner))?;
    }
    Ok(())
}

/// What the agent needs of the repository's settings: where to push to, and whom commits are by.
fn settings(repository: &Path, clone: &Path) -> Result<()> {
    for key in ["user.name", "user.email"] {
        if let Ok(value) = git(repository, &["config", "--get", key]) {
            git(clone, &["config", key, value.trim_end()])?;
        }
    }
    let remotes = git(repository, &["remote"])?;
    for remote in remotes.lines() {
        let Ok(url) = git(repository, &["config", "--get", &format!("remote.{remote}.url")]) else {
            continue;
        };
        git(clone, &["config", &format!("remote.{remote}.url"), &without_secret(url.trim_end())])?;
        let fetch = format!("+refs/heads/*:refs/remotes/{remote}/*");
        git(clone, &["config", &format!("remote.{remote}.fetch"), &fetch])?;
    }
    Ok(())
}

/// A token in an address is the operator's, not the agent's. It may stand in the place of the user's name.
fn without_secret(address: &str) -> String {
    match Url::parse(address) {
        Ok(mut url) if matches!(url.scheme(), "http" | "https" | "ftp" | "ftps") => {
            let _ = url.set_password(None).and_then(|()| url.set_username(""));
            url.into()
        }
        Ok(mut url) if url.password().is_some() => {
            let _ = url.set_password(None);
            url.into()
        }
        _ => address.to_owned(),
    }
}

#[cfg(test)]
#[path = "clone_tests.rs"]
mod tests;
