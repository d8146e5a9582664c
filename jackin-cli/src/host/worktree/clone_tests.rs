use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::*;
use crate::config::Paths;
use crate::host::worktree::{self, Removed};

/// A repository with one commit, and a clone of it as an agent in a container has it.
struct Place {
    repository: tempfile::TempDir,
    _home: tempfile::TempDir,
    worktree: Worktree,
}

impl Place {
    /// `None`, with a word, where there is no Git.
    fn new() -> Option<Self> {
        Self::with(&["-b", "main"])
    }

    fn with(options: &[&str]) -> Option<Self> {
        let repository = tempfile::tempdir().unwrap();
        if git(repository.path(), &[&["init", "--quiet"], options].concat()).is_err() {
            println!("skipped: git is not installed, or too old");
            return None;
        }
        fs::write(repository.path().join("file"), "first\n").unwrap();
        let address = "https://me:secret@example.com/o/r.git";
        for words in [
            &["config", "user.name", "An Operator"][..],
            &["config", "user.email", "operator@example.com"],
            &["remote", "add", "origin", address],
            &["add", "file"],
            &["commit", "--quiet", "-m", "first"],
        ] {
            git(repository.path(), words).unwrap();
        }
        Some(Self::of(repository))
    }

    fn of(repository: tempfile::TempDir) -> Self {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::new(home.path(), home.path());
        let worktree = worktree::plan(&paths, &"api".parse().unwrap(), repository.path(), true).unwrap();
        worktree::create(&worktree, None).unwrap();
        Self { repository, _home: home, worktree }
    }

    fn clone(&self) -> &Path {
        &self.worktree.path
    }

    fn commit(&self, text: &str) {
        fs::write(self.clone().join("file"), text).unwrap();
        git(self.clone(), &["commit", "--quiet", "--all", "-m", text]).unwrap();
    }

    fn file_at(&self, branch: &str) -> Option<String> {
        git(self.repository.path(), &["show", &format!("{branch}:file")]).ok()
    }

    fn remove(&self) -> Removed {
        worktree::remove(&self.worktree).unwrap()
    }

    /// Nothing of ours is left beside the clone.
    fn beside(&self) -> Vec<PathBuf> {
        let others = fs::read_dir(self.clone().parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        others.filter(|path| path != self.clone()).collect()
    }
}

#[test]
fn commits_come_home_and_the_rest_goes() {
    let Some(place) = Place::new() else { return };
    assert!(place.clone().join(".git").is_dir());
    assert_eq!(crate::capsule::branch(place.clone()).as_deref(), Some("jackin/api"));
    assert_eq!(fs::read_to_string(place.clone().join("file")).unwrap(), "first\n");
    let setting = |key: &str| git(place.clone(), &["config", "--local", "--get", key]).unwrap();
    assert_eq!(setting("remote.origin.url").trim_end(), "https://example.com/o/r.git");
    assert_eq!(setting("user.email").trim_end(), "operator@example.com");
    let own = git(place.clone(), &["count-objects"]).unwrap();
    assert!(own.starts_with("0 objects"), "nothing is copied: {own}");

    place.commit("work");
    assert_eq!(place.file_at("jackin/api").as_deref(), Some("first\n"));
    assert_eq!(place.remove(), Removed::Gone { kept_branch: Some("jackin/api".to_owned()) });
    assert_eq!(place.file_at("jackin/api").as_deref(), Some("work"));
    assert!(!place.clone().exists() && place.beside().is_empty());
    assert_eq!(place.remove(), Removed::Gone { kept_branch: Some("jackin/api".to_owned()) }, "again");
}

#[test]
fn without_commits_the_branch_goes_as_well() {
    let Some(place) = Place::new() else { return };
    assert_eq!(place.remove(), Removed::Gone { kept_branch: None });
    assert_eq!(place.file_at("jackin/api"), None);
}

#[test]
fn nothing_that_is_nowhere_else_is_thrown_away() {
    let Some(place) = Place::new() else { return };
    let is_kept = || place.remove() == Removed::Kept && place.clone().exists() && place.beside().is_empty();
    fs::write(place.clone().join("new"), "x").unwrap();
    assert!(is_kept(), "a new file");
    git(place.clone(), &["add", "new"]).unwrap();
    assert!(is_kept(), "a file that is only staged");
    git(place.clone(), &["stash", "--quiet"]).unwrap();
    assert!(is_kept(), "a stash");
    git(place.clone(), &["stash", "drop", "--quiet"]).unwrap();
    git(place.clone(), &["checkout", "--quiet", "-b", "other"]).unwrap();
    place.commit("on another branch");
    assert!(is_kept(), "another branch");
    git(place.clone(), &["pack-refs", "--all"]).unwrap();
    assert!(is_kept(), "another branch in the list");
    git(place.clone(), &["checkout", "--quiet", "--detach"]).unwrap();
    git(place.clone(), &["branch", "--quiet", "-D", "other"]).unwrap();
    assert!(is_kept(), "a commit that is on no branch");
    git(place.clone(), &["branch", "--quiet", "-f", "jackin/api", "HEAD"]).unwrap();
    assert_eq!(place.remove(), Removed::Gone { kept_branch: Some("jackin/api".to_owned()) });
    assert_eq!(place.file_at("jackin/api").as_deref(), Some("on another branch"));
}

#[test]
fn a_branch_that_the_operator_went_on_with_stays_as_it_is() {
    let Some(place) = Place::new() else { return };
    place.commit("the agent's");
    let repository = place.repository.path();
    git(repository, &["checkout", "--quiet", "jackin/api"]).unwrap();
    fs::write(repository.join("file"), "the operator's").unwrap();
    git(repository, &["commit", "--quiet", "--all", "-m", "mine"]).unwrap();
    assert_eq!(place.remove(), Removed::Gone { kept_branch: Some("jackin/api-2".to_owned()) });
    assert_eq!(place.file_at("jackin/api").as_deref(), Some("the operator's"));
    assert_eq!(place.file_at("jackin/api-2").as_deref(), Some("the agent's"));
}

#[test]
fn what_was_pulled_or_pushed_is_not_taken_for_work() {
    let Some(place) = Place::new() else { return };
    git(place.clone(), &["checkout", "--quiet", "-b", "other"]).unwrap();
    place.commit("pushed");
    git(place.clone(), &["tag", "--annotate", "-m", "t", "v1"]).unwrap();
    assert_eq!(place.remove(), Removed::Kept);
    git(place.clone(), &["update-ref", "refs/remotes/origin/other", "other"]).unwrap();
    assert_eq!(place.remove(), Removed::Gone { kept_branch: None });
}

#[test]
fn every_kind_of_repository_has_one() {
    let Some(place) = Place::with(&["-b", "main", "--object-format=sha256"]) else { return };
    place.commit("work");
    assert_eq!(place.remove(), Removed::Gone { kept_branch: Some("jackin/api".to_owned()) });
    assert_eq!(place.file_at("jackin/api").as_deref(), Some("work"));

    let Some(place) = Place::new() else { return };
    let origin = place.repository.path();
    git(origin, &["commit", "--quiet", "--allow-empty", "-m", "second"]).unwrap();
    let shallow = tempfile::tempdir().unwrap();
    let address = format!("file://{}", origin.display());
    git(origin, &["clone", "--quiet", "--depth", "1", &address, utf8(shallow.path()).unwrap()]).unwrap();
    let place = Place::of(shallow);
    place.commit("work");
    assert_eq!(git(place.clone(), &["log", "--format=%s"]).unwrap(), "work\nsecond\n");
    assert_eq!(place.remove(), Removed::Gone { kept_branch: Some("jackin/api".to_owned()) });
    assert_eq!(
        git(place.repository.path(), &["log", "--format=%s", "jackin/api"]).unwrap(),
        "work\nsecond\n"
    );
}

#[test]
fn nothing_comes_along_that_the_agent_borrowed_elsewhere() {
    let Some(place) = Place::new() else { return };
    let Some(secret) = Place::new() else { return };
    git(secret.repository.path(), &["commit", "--quiet", "--allow-empty", "-m", "secret"]).unwrap();
    let id = git(secret.repository.path(), &["rev-parse", "HEAD"]).unwrap();
    let theirs = secret.repository.path().join(".git/objects");
    let own = place.clone().join(".git/objects");
    git(place.clone(), &["checkout", "--quiet", "--detach"]).unwrap();
    fs::write(place.clone().join(".git/refs/heads/jackin/api"), &id).unwrap();
    let list = own.join("info/alternates");
    let before = fs::read_to_string(&list).unwrap();
    fs::write(&list, format!("{before}{}\n", theirs.display())).unwrap();
    assert_eq!(place.remove(), Removed::Kept, "by the list");
    fs::write(&list, before).unwrap();
    let folder = own.join(&id[..2]);
    std::os::unix::fs::symlink(theirs.join(&id[..2]), &folder).unwrap();
    assert_eq!(place.remove(), Removed::Kept, "by a link");
    fs::remove_file(folder).unwrap();
    fs::rename(&own, own.with_extension("old")).unwrap();
    std::os::unix::fs::symlink(&theirs, &own).unwrap();
    assert_eq!(place.remove(), Removed::Kept, "by a link for all of it");
    assert!(git(place.repository.path(), &["cat-file", "-e", id.trim_end()]).is_err());
}

#[test]
fn tokens_in_addresses_stay_here() {
    for (address, shown) in [
        ("https://ghp_token@github.com/o/r.git", "https://github.com/o/r.git"),
        ("https://me:secret@example.com/o/r", "https://example.com/o/r"),
        ("ssh://git@example.com/o/r", "ssh://git@example.com/o/r"),
        ("ssh://git:secret@example.com/o/r", "ssh://git@example.com/o/r"),
        ("git@github.com:o/r.git", "git@github.com:o/r.git"),
        ("../other", "../other"),
    ] {
        assert_eq!(without_secret(address), shown);
    }
}

#[test]
fn a_tree_that_is_deeper_than_files_may_be_open_goes() {
    let Some(place) = Place::new() else { return };
    let deep = place.clone().join(vec!["d"; 1_700].join("/"));
    fs::create_dir_all(deep).unwrap();
    assert_eq!(place.remove(), Removed::Gone { kept_branch: None });
    assert!(!place.clone().exists() && place.beside().is_empty());
}

#[test]
fn no_program_that_the_agent_left_in_its_repository_runs_here() {
    let Some(place) = Place::new() else { return };
    place.commit("work");
    let bait = tempfile::tempdir().unwrap();
    let (caught, script) = (bait.path().join("caught"), bait.path().join("script"));
    fs::write(&script, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", caught.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let script = utf8(&script).unwrap();
    fs::write(place.clone().join(".gitattributes"), "* filter=bait diff=bait merge=bait\n").unwrap();
    git(place.clone(), &["add", "."]).unwrap();
    git(place.clone(), &["commit", "--quiet", "-m", "attributes"]).unwrap();
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.gitProxy",
        "filter.bait.clean",
        "filter.bait.smudge",
        "filter.bait.process",
        "diff.bait.command",
        "diff.bait.textconv",
        "diff.external",
        "merge.bait.driver",
        "uploadpack.packObjectsHook",
        "gpg.program",
        "credential.helper",
    ] {
        git(place.clone(), &["config", key, script]).unwrap();
    }
    let hooks = place.clone().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in
        ["post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc", "fsmonitor-watchman"]
    {
        fs::copy(script, hooks.join(hook)).unwrap();
    }
    // Same size, other time: Git has to read it, and asks the filter.
    let touch = || {
        let touched =
            Command::new("touch").arg("-d").arg("2001-01-01").arg(place.clone().join("file")).status();
        assert!(touched.unwrap().success());
    };
    touch();
    let _ = git(place.clone(), &["status", "--porcelain"]);
    assert!(caught.exists(), "the bait is no good");
    fs::remove_file(&caught).unwrap();
    touch();

    assert_eq!(place.remove(), Removed::Gone { kept_branch: Some("jackin/api".to_owned()) });
    assert!(!caught.exists(), "{}", fs::read_to_string(&caught).unwrap());
    assert_eq!(place.file_at("jackin/api").as_deref(), Some("work"));
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn what_is_no_repository_any_more_is_kept() {
    let spoil: [fn(&Path); 8] = [
        |git| fs::remove_dir_all(git).unwrap(),
        |git| {
            fs::rename(git, git.with_extension("old")).unwrap();
            std::os::unix::fs::symlink("/", git).unwrap();
        },
        |git| {
            fs::remove_dir_all(git).unwrap();
            pipe(git);
        },
        |git| fs::write(git.join("index"), "nonsense").unwrap(),
        |git| fs::remove_dir_all(git.join("objects")).unwrap(),
        |git| pipe(&git.with_file_name(".gitignore")),
        |git| pipe(&git.join("packed-refs")),
        |git| {
            let tip = fs::read_to_string(git.join("refs/heads/jackin/api")).unwrap();
            let object = git.join("objects").join(&tip[..2]).join(tip[2..].trim_end());
            fs::remove_file(&object).unwrap();
            pipe(&object);
        },
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let Some(place) = Place::new() else { return };
        place.commit("work");
        spoil(&place.clone().join(".git"));
        // The operator's list goes on.
        let _ = crate::capsule::branch(place.clone());
        assert_eq!(place.remove(), Removed::Kept, "{number}");
        assert!(place.clone().join("file").exists() && place.beside().is_empty(), "{number}");
    }
}

#[test]
fn a_half_made_one_goes() {
    let Some(place) = Place::new() else { return };
    fs::rename(place.clone(), super::super::beside::place(place.clone(), "making")).unwrap();
    assert_eq!(place.remove(), Removed::Gone { kept_branch: None });
    assert!(place.beside().is_empty() && place.file_at("jackin/api").is_none());
}

#[test]
fn the_stores_that_a_store_borrows_from_are_found() {
    let Some(place) = Place::new() else { return };
    let found = lenders(place.clone()).unwrap();
    let both =
        [place.clone(), place.repository.path()].map(|at| at.canonicalize().unwrap().join(".git/objects"));
    assert_eq!(found, both);
}
