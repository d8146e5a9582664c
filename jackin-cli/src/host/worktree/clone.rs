//! A repository of its own for an agent behind a wall, in the place of a worktree.
//!
//! A worktree shares the repository's `.git`, and whoever may write there has programs run by the next Git of the
//! operator's: hooks, filters, monitors. So an agent in a container gets a repository that only borrows the objects, which
//! are mounted read-only. What is in it is the agent's to change: from then on no Git of ours takes it for its repository.
//! What it holds is read as data, and looked at, and fetched, through a repository that nobody else has touched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use reqwest::Url;

use super::refs::{Refs, small_file};
use super::{Owner, Removed, git, git_dir, git_within_limit, utf8};
use crate::host::plan::Worktree;

/// How many stores of objects may borrow from each other, as Git has it.
const DEEPEST: usize = 5;

/// The largest index that is looked at.
const LARGEST_INDEX: u64 = 256 << 20;

/// A fetch that brings what is named, and begins nothing else.
const FETCH: [&str; 9] = [
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
    let at = utf8(&making.0)?;
    init(repository, &making.0, branch)?;
    lend(&making.0.join(".git"), &lenders(repository)?)?;
    let refs = ["heads", "tags", "remotes"].map(|kind| format!("+refs/{kind}/*:refs/{kind}/*"));
    let words = ["--update-head-ok", "--update-shallow", utf8(repository)?];
    let refs: Vec<&str> = refs.iter().map(String::as_str).collect();
    git(&making.0, &[&FETCH[..], &words, &refs].concat())?;
    settings(repository, &making.0)?;
    git(&making.0, &["reset", "--quiet", "--hard"])?;
    if let Some(owner) = owner {
        give(&making.0, owner).with_context(|| format!("cannot give {at} to user {}", owner.uid))?;
    }
    fs::rename(&making.0, path).with_context(|| format!("cannot make {}", path.display()))?;
    Ok(())
}

/// A repository with nothing in it, of the same kind as another one. Templates are made for the operator's own.
fn init(like: &Path, path: &Path, branch: &str) -> Result<()> {
    let kind = git(like, &["rev-parse", "--show-object-format"])?;
    let mut command = Command::new("git");
    command.arg("init").args(["--quiet", "--template=", "--object-format", kind.trim_end()]);
    command.arg(format!("--initial-branch={branch}"));
    git_within_limit(&mut command, &[utf8(path)?]).map(drop)
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
        git(clone, &["config", &format!("remote.{remote}.url"), &without_password(url.trim_end())])?;
        let fetch = format!("+refs/heads/*:refs/remotes/{remote}/*");
        git(clone, &["config", &format!("remote.{remote}.fetch"), &fetch])?;
    }
    Ok(())
}

/// A token in an address is the operator's, not the agent's.
fn without_password(address: &str) -> String {
    match Url::parse(address) {
        Ok(mut url) if url.password().is_some() => {
            // Without a password the name before it may be the token.
            let _ = url.set_password(None).and_then(|()| url.set_username(""));
            url.into()
        }
        _ => address.to_owned(),
    }
}

/// Lets a repository use the objects of others.
fn lend(git_dir: &Path, stores: &[PathBuf]) -> Result<()> {
    let mut list = String::new();
    for store in stores {
        list.push_str(utf8(store)?);
        list.push('\n');
    }
    let info = git_dir.join("objects/info");
    fs::create_dir_all(&info)
        .and_then(|()| fs::write(info.join("alternates"), list))
        .with_context(|| format!("cannot write into {}", info.display()))
}

/// Takes the clone away, unless something would be lost: its commits come onto the repository's branch first.
pub(super) fn remove(worktree: &Worktree) -> Result<Removed> {
    let Worktree { repository, path, branch, .. } = worktree;
    drop(Beside::new(path, "making")?);
    let mut landed = branch.clone();
    if path.exists() {
        // What cannot be looked at is not thrown away.
        let Ok(Some(branch)) = bring_home(worktree) else { return Ok(Removed::Kept) };
        landed = branch;
        fs::remove_dir_all(path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(Removed::Gone { kept_branch: super::drop_branch(repository, &landed) })
}

/// Brings the clone's commits into the repository; the branch that they are on, or nothing if there is more in it than that.
fn bring_home(worktree: &Worktree) -> Result<Option<String>> {
    let Worktree { repository, path, branch, .. } = worktree;
    let theirs = path.join(".git");
    ensure!(fs::symlink_metadata(&theirs)?.is_dir(), "{} is no directory", theirs.display());
    no_traps(path)?;
    let refs = Refs::read(&theirs)?;
    let Some(head) = refs.head.clone() else { return Ok(None) };

    let beside = Beside::new(path, "look")?;
    let look = beside.0.as_path();
    init(repository, look, "work")?;
    let own = look.join(".git");
    let objects = theirs.join("objects").canonicalize().context("there are no objects")?;
    lend(&own, &[lenders(repository)?, vec![objects]].concat())?;
    fs::write(own.join("HEAD"), format!("{head}\n"))?;
    if let Some(index) = small_file(&theirs.join("index"), LARGEST_INDEX)? {
        fs::write(own.join("index"), index)?;
    }
    if !is_clean(&own, path)? {
        return Ok(None);
    }

    let mut landed = branch.clone();
    if let Some(tip) = refs.all.get(&format!("refs/heads/{branch}")) {
        fs::create_dir_all(own.join("refs/heads"))?;
        fs::write(own.join("refs/heads/work"), format!("{tip}\n"))?;
        landed = fetch(repository, look, branch)?;
    }
    let mut commits =
        refs.all.iter().filter(|(name, _)| !name.starts_with("refs/remotes/")).map(|(_, at)| at);
    let is_here = |at: &String| git(repository, &["cat-file", "-e", at]).is_ok();
    Ok((is_here(&head) && commits.all(is_here)).then_some(landed))
}

/// Refuses what would make Git wait for ever: a pipe in the place of one of the files that it reads.
fn no_traps(clone: &Path) -> Result<()> {
    let objects = clone.join(".git/objects");
    let mut directories = vec![clone.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let is_read =
                directory.starts_with(&objects) || entry.file_name().as_encoded_bytes().starts_with(b".git");
            let is_odd = !kind.is_dir() && !kind.is_file() && !kind.is_symlink();
            ensure!(!(is_read && is_odd), "{} is no file", entry.path().display());
            if kind.is_dir() {
                directories.push(entry.path());
            }
        }
    }
    Ok(())
}

/// Whether a working tree has nothing but what is in its commit. A submodule has a repository of its own, which is as
/// hostile: nobody looks into one, so it counts as work.
fn is_clean(git_dir: &Path, tree: &Path) -> Result<bool> {
    let look = |args: &[&str]| {
        let mut command = Command::new("git");
        command.arg("--git-dir").arg(git_dir).arg("--work-tree").arg(tree);
        // The operator's own monitor would stay behind.
        git_within_limit(command.args(["-c", "core.fsmonitor=false"]), args)
    };
    let files = look(&["ls-files", "--stage", "-z"])?;
    let links = files.split('\0').filter(|entry| entry.starts_with("160000 "));
    let mut filled = links
        .filter_map(|entry| entry.split_once('\t'))
        .filter(|(_, name)| fs::read_dir(tree.join(name)).is_ok_and(|mut entries| entries.next().is_some()));
    if filled.next().is_some() {
        return Ok(false);
    }
    // All of it, whatever the operator likes to see.
    let status = look(&["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all"])?;
    Ok(status.trim().is_empty())
}

/// Fetches the branch `work` of a repository of ours; if the operator has gone on with the branch, under another name.
fn fetch(repository: &Path, from: &Path, branch: &str) -> Result<String> {
    let mut names =
        std::iter::once(branch.to_owned()).chain((2..10).map(|number| format!("{branch}-{number}")));
    let fetched = names.find(|name| {
        let spec = format!("refs/heads/work:refs/heads/{name}");
        let mut command = Command::new("git");
        command.arg("-C").arg(repository).args(["-c", "fetch.fsckObjects=true"]).args(FETCH).arg(from);
        git_within_limit(&mut command, &[&spec]).is_ok()
    });
    fetched.context("the commits cannot be fetched")
}

/// Where a clone is while it is being made.
pub(super) fn unfinished(worktree: &Worktree) -> PathBuf {
    beside(&worktree.path, "making")
}

fn beside(clone: &Path, purpose: &str) -> PathBuf {
    let name = clone.file_name().unwrap_or_default().to_string_lossy();
    clone.with_file_name(format!(".{name}.{purpose}"))
}

/// A directory of our own beside a clone, which goes when it is done with.
struct Beside(PathBuf);

impl Beside {
    fn new(clone: &Path, purpose: &str) -> Result<Self> {
        let path = beside(clone, purpose);
        // One that somebody else left, who was killed.
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", path.display()))
            }
            _ => Ok(Self(path)),
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
#[path = "clone_tests.rs"]
mod tests;
