//! A repository for an agent in a container, with a real Git in there.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use crate::command_line::{Operator, left};
use crate::support::eventually;

fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    let output = command.arg("-C").arg(dir).args(args).env("HOME", dir).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_agent_commits_in_its_own_repository_and_cannot_touch_the_operators() {
    let Some(operator) = Operator::new() else { return };
    let work = operator.dir.path().join("work");
    let is_known = [0, 1000].contains(&work.metadata().unwrap().uid());
    if !is_known || !Path::new("/usr/bin/git").exists() {
        println!("skipped: it wants root or user 1000, and /usr/bin/git for the container");
        return;
    }
    git(&work, &["init", "--quiet", "-b", "main"]);
    git(&work, &["config", "user.name", "An Operator"]);
    git(&work, &["config", "user.email", "operator@example.com"]);
    std::fs::create_dir(work.join("part")).unwrap();
    std::fs::write(work.join("part/file"), "first\n").unwrap();
    git(&work, &["add", "part"]);
    // The operator's hooks are in each tree, and this tree will be the agent's.
    std::fs::write(operator.dir.path().join(".gitconfig"), "[core]\nhooksPath = .githooks\n").unwrap();
    let caught = operator.dir.path().join("caught");
    git(&work, &["commit", "--quiet", "-m", "first"]);

    let name = Operator::name("tree");
    let git_dir = work.canonicalize().unwrap().join(".git");
    let script = format!(
        "PATH=/usr/bin:/bin; pwd; git log --format=%s; echo second > file
        mkdir ../.githooks; printf '#!/bin/sh\\ntouch {1}\\n' > ../.githooks/post-index-change
        chmod +x ../.githooks/*; git add ../.githooks; git commit --quiet --all -m second && echo committed
        touch -d 2001-01-01 file; echo x > {0}/objects/evil || echo no objects
        echo x > {0}/config || echo no settings; mkdir {0}/hooks || echo no hooks; echo is done; exec sleep 1000",
        git_dir.display(),
        caught.display()
    );
    // The bare image has no Git: this machine's is lent.
    let mounts = ["/usr", "/lib", "/lib64"].map(|dir| format!("{dir}:{dir}:ro"));
    let mut args = vec!["load", "--detach", "--worktree", "--image", operator.image, "--name", &name];
    let there = mounts.iter().filter(|mount| Path::new(mount.split(':').next().unwrap()).exists());
    args.extend(there.flat_map(|mount| ["--mount", mount.as_str()]));
    args.extend(["./part", "--", "sh", "-c", &script]);
    operator.ok(&args);

    let mut screen = String::new();
    eventually("it is done", || {
        screen = operator.ok(&["read", &name]);
        screen.contains("is done")
    });
    for line in ["/workspace/part", "first", "committed", "no objects", "no settings", "no hooks"] {
        assert!(screen.lines().any(|shown| shown == line), "{line}: {screen}");
    }
    assert_eq!(operator.instance(&name)["branch"], format!("jackin/{name}"));
    let ejected = operator.json(&["eject", &name, "--json"]);
    assert_eq!(ejected["ejected"][0]["branch"], format!("jackin/{name}"), "{ejected}");
    assert_eq!(git(&work, &["show", &format!("jackin/{name}:part/file")]), "second\n");
    assert!(!caught.exists(), "a hook of the agent's ran on the host");
    assert_eq!(left(&name), Vec::<String>::new());
    let trees = std::fs::read_dir(operator.dir.path().join("home/worktrees")).unwrap();
    assert_eq!(trees.count(), 0);
}
