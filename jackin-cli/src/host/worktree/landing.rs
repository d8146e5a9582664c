//! How a clone comes home: its commits onto a branch of the operator's repository, and the rest away.
//!
//! What is in a clone was an agent's to change, so no Git of ours takes it for its repository: that would run what its
//! settings name. Its references are read as data ([`Refs`]), its files are looked at, and its commits fetched, through a
//! repository that nobody else has touched.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::beside::Beside;
use super::clone::{self, FETCH, lenders};
use super::git::{Git, git};
use super::refs::{Refs, small_file};
use super::{Removed, drop_branch, utf8};
use crate::host::plan::Worktree;

/// The largest index that is looked at.
const LARGEST_INDEX: u64 = 256 << 20;

/// The largest list of stores to borrow from.
const LARGEST_LIST: u64 = 64 << 10;

/// Takes the clone away, unless something would be lost.
pub(super) fn remove(worktree: &Worktree) -> Result<Removed> {
    let Worktree { repository, path, branch, .. } = worktree;
    drop(Beside::new(path, "making")?);
    let gone = Beside::new(path, "gone")?;
    let mut landed = branch.clone();
    if path.exists() {
        // What cannot be looked at is not thrown away.
        let Ok(Some(branch)) = bring_home(worktree) else { return Ok(Removed::Kept) };
        landed = branch;
        // Half of one must not be taken for a whole one by whoever comes next.
        fs::rename(path, gone.path()).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    drop(gone);
    Ok(Removed::Gone { kept_branch: drop_branch(repository, &landed) })
}

/// Brings the clone's commits into the repository; the branch that they are on, or nothing if there is more in it than that.
fn bring_home(worktree: &Worktree) -> Result<Option<String>> {
    let Worktree { repository, path, branch, .. } = worktree;
    let lenders = lenders(repository)?;
    no_traps(path)?;
    let objects = own_objects(path, &lenders)?;
    let refs = Refs::read(&path.join(".git"))?;
    let Some(head) = refs.head.clone() else { return Ok(None) };

    let place = Beside::new(path, "look")?;
    let look = place.path();
    clone::init(repository, look, "work", &[lenders, vec![objects]].concat())?;
    let index = small_file(&path.join(".git/index"), LARGEST_INDEX)?;
    furnish(&look.join(".git"), &refs, &head, index.as_deref())?;
    if !is_clean(look, path)? {
        return Ok(None);
    }
    let landed = match refs.all.get(&format!("refs/heads/{branch}")) {
        Some(tip) => land(worktree, look, tip)?,
        None => branch.clone(),
    };
    let kept = refs.all.iter().filter(|(name, _)| !name.starts_with(REMOTES)).map(|(_, id)| id.clone());
    let unknown = unknown(repository, &kept.chain([head]).collect())?;
    Ok((unknown.is_empty() || are_elsewhere(look, &unknown)?).then_some(landed))
}

const REMOTES: &str = "refs/remotes/";

/// Refuses what would make Git wait for ever: a pipe in the place of one of the files that it reads.
fn no_traps(clone: &Path) -> Result<()> {
    let mut directories = vec![clone.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let is_plain = kind.is_dir() || kind.is_file() || kind.is_symlink();
            let is_read = entry.file_name().as_encoded_bytes().starts_with(b".git");
            ensure!(is_plain || !is_read, "{} is no file", entry.path().display());
            if kind.is_dir() {
                directories.push(entry.path());
            }
        }
    }
    Ok(())
}

/// The clone's own store of objects: files in directories, and borrowed from nobody else. Whatever else it named would be
/// fetched, and shown to the next agent.
fn own_objects(clone: &Path, lenders: &[PathBuf]) -> Result<PathBuf> {
    let objects = clone.join(".git/objects");
    let is_directory = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    ensure!(is_directory(&clone.join(".git")) && is_directory(&objects), "there are no objects");
    let mut directories = vec![objects.clone()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            ensure!(kind.is_dir() || kind.is_file(), "{} is no file", entry.path().display());
            if kind.is_dir() {
                directories.push(entry.path());
            }
        }
    }
    let list = small_file(&objects.join("info/alternates"), LARGEST_LIST)?.unwrap_or_default();
    let list = String::from_utf8_lossy(&list);
    let is_ours = |line: &str| line.is_empty() || lenders.iter().any(|store| store.to_str() == Some(line));
    ensure!(list.lines().all(is_ours), "it borrows from somewhere else");
    Ok(objects)
}

/// Puts what the clone says into a repository of ours, as data.
fn furnish(own: &Path, refs: &Refs, head: &str, index: Option<&[u8]>) -> io::Result<()> {
    fs::write(own.join("HEAD"), format!("{head}\n"))?;
    if let Some(index) = index {
        fs::write(own.join("index"), index)?;
    }
    let remotes = refs.all.iter().filter(|(name, _)| name.starts_with(REMOTES) && is_plain(name));
    let lines: Vec<String> = remotes.map(|(name, id)| format!("{id} {name}\n")).collect();
    fs::write(own.join("packed-refs"), lines.concat())?;
    // Whatever the agent's files ask for: no program has a say in what they contain.
    fs::create_dir_all(own.join("info"))?;
    fs::write(own.join("info/attributes"), "* !filter\n")
}

/// A name of the usual letters.
fn is_plain(name: &str) -> bool {
    let is_usual = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_' | '.' | '+' | '#');
    name.chars().all(is_usual) && !name.contains("..")
}

/// Whether a working tree has nothing but what is in its commit. A submodule has a repository of its own, which is as
/// hostile: nobody looks into one, so it counts as work.
fn is_clean(look: &Path, tree: &Path) -> Result<bool> {
    let git = |args: &[&str]| {
        let dirs = [("--git-dir", look.join(".git")), ("--work-tree", tree.to_owned())];
        let dirs = dirs.iter().flat_map(|(option, dir)| [(*option).as_ref(), dir.as_os_str()]);
        // The operator's monitor would stay behind; hooks may be looked for in the agent's tree; and what root gave away
        // has another time than the index says.
        let settings = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.trustctime=false"];
        let settings = settings.into_iter().chain(["core.checkStat=minimal"]).flat_map(|set| ["-c", set]);
        Git::new().args(dirs).args(settings).args(args).limited().run()
    };
    let files = git(&["ls-files", "--stage", "-z"])?;
    let links = files.split('\0').filter(|entry| entry.starts_with("160000 "));
    let mut filled = links
        .filter_map(|entry| entry.split_once('\t'))
        .filter(|(_, name)| fs::read_dir(tree.join(name)).is_ok_and(|mut entries| entries.next().is_some()));
    if filled.next().is_some() {
        return Ok(false);
    }
    // All of it, whatever the operator likes to see.
    let status = git(&["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all"])?;
    Ok(status.trim().is_empty())
}

/// Brings a commit and all before it onto the clone's branch, or, if the operator has gone on with that, onto another one.
fn land(worktree: &Worktree, look: &Path, tip: &str) -> Result<String> {
    let Worktree { repository, path, branch, .. } = worktree;
    fs::create_dir_all(look.join(".git/refs/heads"))?;
    fs::write(look.join(".git/refs/heads/work"), format!("{tip}\n"))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let incoming = format!("refs/jackin/incoming/{name}");
    let fetch = Git::at(repository).args(["-c", "fetch.fsckObjects=true"]).args(FETCH);
    fetch.args([utf8(look)?, &format!("+refs/heads/work:{incoming}")]).limited().run()?;

    let is_there = |name: &str| git(repository, &["rev-parse", "--verify", "--quiet", name]);
    let own = format!("refs/heads/{branch}");
    let goes_on = match is_there(&own) {
        Ok(at) if at.trim_end() == tip => return Ok(branch.clone()),
        Ok(_) => git(repository, &["merge-base", "--is-ancestor", &own, &incoming]).is_ok(),
        Err(_) => true,
    };
    let put = |name: &str, force: &str| {
        git(repository, &["branch", "--quiet", "--no-track", force, name, &incoming]).is_ok()
    };
    let landed = if goes_on && put(branch, "--force") {
        branch.clone()
    } else {
        let mut others = (2..1_000).map(|number| format!("{branch}-{number}"));
        let free = others.find(|name| is_there(&format!("refs/heads/{name}")).is_err());
        let free = free.context("every branch name is taken")?;
        ensure!(put(&free, "--no-force"), "cannot make the branch {free}");
        free
    };
    git(repository, &["update-ref", "-d", &incoming])?;
    Ok(landed)
}

/// Those of some objects that a repository does not have.
fn unknown(repository: &Path, ids: &BTreeSet<String>) -> Result<Vec<String>> {
    let input = ids.iter().flat_map(|id| [id.as_bytes(), b"\n"]).flatten().copied().collect();
    let check = Git::at(repository).args(["cat-file", "--batch-check=%(objectname)"]);
    let answers = check.input(input).limited().run()?;
    Ok(answers.lines().filter_map(|line| line.strip_suffix(" missing")).map(str::to_owned).collect())
}

/// Whether commits are part of what the clone had from elsewhere: pulled, or pushed.
fn are_elsewhere(look: &Path, ids: &[String]) -> Result<bool> {
    let input = ids.iter().flat_map(|id| [id.as_bytes(), b"\n"]).flatten().copied().collect();
    let list = Git::at(look).args(["rev-list", "--max-count=1", "--not", "--remotes", "--stdin"]);
    Ok(list.input(input).limited().run()?.trim().is_empty())
}
