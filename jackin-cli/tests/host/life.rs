//! How instances begin and end.

use std::path::PathBuf;

use crate::operator::{Operator, git, processes};
use crate::support::eventually;

#[test]
fn a_clean_end_leaves_nothing_and_nobody() {
    let operator = Operator::new();
    operator.ok(&["load", "--detach", "--name", "brief", "--", "sh", "-c", "read -r line"]);
    eventually("there are the capsule, its session and a watcher", || processes(&operator).len() == 3);
    operator.ok(&["send", "brief", "go"]);
    // The watcher that was left behind cleans up; no other command runs.
    eventually("it is gone", || operator.left().is_empty());
    eventually("nobody is left", || processes(&operator).is_empty());
}

#[test]
fn a_crash_is_kept_until_it_is_restarted_or_ejected() {
    let operator = Operator::new();
    operator.ok(&[
        "load",
        "--detach",
        "--name",
        "bad",
        "--",
        "sh",
        "-c",
        "echo last words; read -r code; exit $code",
    ]);
    operator.ok(&["send", "bad", "7"]);
    operator.ok(&["wait", "bad", "--until", "status:crashed", "--timeout", "60s"]);
    eventually("it is listed as crashed", || operator.instance("bad")["state"] == "ended");
    let instance = operator.instance("bad");
    assert_eq!(instance["status"], serde_json::json!({ "kind": "crashed", "exit_code": 7 }));
    assert_eq!(instance["attention"], "blocked");
    let (code, why) = operator.refused(&["hardline", "bad"]);
    assert_eq!(code, 1);
    assert!(why.contains("has ended (crashed (exit code 7))") && why.contains("jackin restart bad"), "{why}");
    assert!(operator.ok(&["hardline", "bad", "--inspect"]).contains("last words"));
    let (_, why) = operator.refused(&["send", "bad", "x"]);
    assert!(why.contains("bad has ended"), "{why}");
    let gc = operator.json(&["gc", "--json"]);
    assert_eq!((&gc["removed"], &gc["kept"][0]["instance"]), (&serde_json::json!([]), &"bad".into()));

    operator.ok(&["restart", "bad", "--detach"]);
    eventually("somebody looks after it again", || {
        processes(&operator).iter().any(|line| line.contains(" watch bad"))
    });
    eventually("it runs again", || operator.ok(&["read", "bad"]).contains("last words"));
    let (_, why) = operator.refused(&["restart", "bad"]);
    assert!(why.contains("bad is running"), "{why}");
    operator.ok(&["send", "bad", "8"]);
    eventually("it crashed again", || operator.instance("bad")["status"]["exit_code"] == 8);
    // Whoever watches it may be looking at it just now.
    eventually("it is taken away", || {
        operator.json(&["gc", "--all", "--json"])["removed"] == serde_json::json!(["bad"])
    });
    assert_eq!(operator.left(), Vec::<PathBuf>::new());
}

#[test]
fn what_the_operator_said_about_tags_outlives_the_capsule() {
    let operator = Operator::new();
    operator.ok(&["load", "--detach", "--name", "x", "--", "sh", "-c", "read -r code; exit $code"]);
    operator.ok(&["tags", "set", "x", "issue", "https://github.com/a/b/issues/2"]);
    operator.ok(&["send", "x", "3"]);
    eventually("it crashed", || operator.instance("x")["state"] == "ended");
    operator.ok(&["restart", "x", "--detach"]);
    eventually("it is there again", || {
        operator.json(&["tags", "list", "x", "--json"])["tags"][0]["value"]
            == "https://github.com/a/b/issues/2"
    });
}

#[test]
fn a_killed_capsule_is_a_crash() {
    let operator = Operator::new();
    operator.ok(&["load", "--detach", "--name", "shot", "--", "sleep", "1000"]);
    let pid = std::fs::read_to_string(operator.home().join("sockets/shot/capsule.pid")).unwrap();
    assert!(std::process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    eventually("it is known", || operator.instance("shot")["status"]["exit_code"] == 137);
    eventually("nobody watches it any more", || {
        processes(&operator).iter().all(|line| !line.contains(" watch "))
    });
    operator.ok(&["eject", "shot"]);
    assert_eq!(operator.left(), Vec::<PathBuf>::new());
}

#[test]
fn what_a_killed_capsule_left_running_goes_with_its_instance_and_nothing_else_does() {
    let (operator, other) = (Operator::new(), Operator::new());
    let script = "trap '' HUP TERM; echo \"$HOME\" > here; while :; do sleep 90; done";
    for of in [&operator, &other] {
        of.ok(&["load", "--detach", "--no-watch", "--name", "x", "--", "sh", "-c", script]);
        eventually("it began", || of.shop().join("here").exists());
    }
    // What is loaded from within a session is no part of it.
    let session = std::fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let environ = std::fs::read(entry.path().join("environ")).ok()?;
        let environ = String::from_utf8_lossy(&environ).into_owned();
        let own = environ.contains(&format!("JACKIN_HOME={}\0", operator.home().display()));
        (own && environ.contains("JACKIN_AGENT_TOKEN=")).then_some(environ)
    });
    let variables = session.unwrap();
    let variables = variables.split('\0').filter_map(|pair| pair.split_once('='));
    let mut inner = operator.command(&["load", "--detach", "--name", "inner", "--", "sleep", "1000"]);
    inner.envs(variables.filter(|(name, _)| name.starts_with("JACKIN_")));
    assert!(inner.output().unwrap().status.success());

    let pid = std::fs::read_to_string(operator.home().join("sockets/x/capsule.pid")).unwrap();
    assert!(std::process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    let sessions =
        |of: &Operator| processes(of).iter().filter(|line| line.starts_with("sh -c trap ")).count();
    eventually("it is known", || operator.instance("x")["state"] == "ended");
    assert_eq!((sessions(&operator), sessions(&other)), (1, 1));
    operator.ok(&["eject", "x"]);
    assert_eq!((sessions(&operator), sessions(&other)), (0, 1));
    assert!(!processes(&operator).iter().any(|line| line.starts_with("sleep 90")));
    assert_eq!(operator.instance("inner")["state"], "running");
    assert_eq!(other.instance("x")["state"], "running");
}

#[test]
fn names_are_chosen_and_taken_ones_are_refused() {
    let operator = Operator::new();
    assert_eq!(operator.ok(&["load", "--detach", "--", "sleep", "1000"]), "shop");
    assert_eq!(operator.ok(&["load", "--detach", "--", "sleep", "1000"]), "shop-2");
    let (_, why) = operator.refused(&["load", "--detach", "--name", "shop", "--", "sleep", "1000"]);
    assert!(why.contains("there is an instance shop already"), "{why}");
    let (_, why) = operator.refused(&["hardline", "nobody"]);
    assert!(why.contains("there is no instance nobody"), "{why}");
    operator.ok(&["exile"]);
    assert_eq!(operator.left(), Vec::<PathBuf>::new());
}

#[test]
fn ten_that_start_at_once_get_ten_names() {
    let operator = Operator::new();
    let starting: Vec<_> = (0..10)
        .map(|_| {
            let mut command = operator.command(&["load", "--detach", "--no-watch", "--", "sleep", "1000"]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut names: Vec<String> = starting
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        })
        .collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 10);
    assert_eq!(operator.json(&["ls", "--json"])["instances"].as_array().unwrap().len(), 10);
}

/// Makes the shop a repository; false, with a word that the test is skipped, where there is no Git.
fn make_repository(operator: &Operator) -> bool {
    let shop = operator.shop();
    let is_there = git(&shop, &["init", "--quiet", "-b", "main"]);
    if is_there {
        assert!(git(&shop, &["commit", "--quiet", "--allow-empty", "-m", "first"]));
    } else {
        println!("skipped: git is not installed");
    }
    is_there
}

#[test]
fn a_worktree_is_made_and_kept_only_while_it_holds_work() {
    let operator = Operator::new();
    if !make_repository(&operator) {
        return;
    }
    let load = ["load", "--json", "--worktree", "--name", "tree", "--", "sleep", "1000"];
    let loaded = operator.json(&load);
    let tree = PathBuf::from(loaded["workdir"].as_str().unwrap());
    assert_eq!(tree, operator.home().join("worktrees/tree"));
    assert_eq!(operator.instance("tree")["branch"], "jackin/tree");
    operator.ok(&["eject", "tree"]);
    assert!(!tree.exists());

    operator.json(&load);
    std::fs::write(tree.join("new.txt"), "work").unwrap();
    let ejected = operator.json(&["eject", "tree", "--json"]);
    assert_eq!(ejected["ejected"][0]["worktree"], tree.to_str().unwrap());
    assert!(tree.join("new.txt").exists());
    let (_, why) = operator.refused(&load);
    assert!(why.contains("is there already"), "{why}");
    assert_eq!(operator.left(), vec![tree]);
}

#[test]
fn work_that_is_kept_is_told_of_and_blocks_nobody() {
    let operator = Operator::new();
    if !make_repository(&operator) {
        return;
    }
    let load = ["load", "--detach", "--worktree", "--", "sh", "-c", "echo work > new.txt; read -r x"];
    assert_eq!(operator.ok(&load), "shop");
    let tree = operator.home().join("worktrees/shop");
    eventually("it has worked", || tree.join("new.txt").exists());
    assert!(!told(&operator, &["ls"]).contains("holds work"), "it is at work on it");
    operator.ok(&["eject", "shop"]);
    for command in ["ls", "gc"] {
        let told = told(&operator, &[command]);
        assert!(told.contains(&format!("{} holds work", tree.display())), "{command}: {told}");
    }
    assert_eq!(operator.ok(&load), "shop-2", "the next name is free");
    operator.ok(&["eject", "shop-2"]);
}

/// Everything that a command says.
fn told(operator: &Operator, args: &[&str]) -> String {
    let output = operator.run(args);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn what_a_signal_stopped_is_kept_and_can_be_started_again() {
    let operator = Operator::new();
    operator.ok(&["load", "--detach", "--name", "one", "--", "sh", "-c", "echo ready; read -r x"]);
    eventually("it runs", || operator.ok(&["read", "one"]).contains("ready"));
    let pid = std::fs::read_to_string(operator.home().join("sockets/one/capsule.pid")).unwrap();
    assert!(std::process::Command::new("kill").args(["-TERM", pid.trim()]).status().unwrap().success());
    eventually("it has ended", || operator.instance("one")["state"] == "ended");
    // Whoever watches it may be looking at it just now.
    eventually("it is kept", || operator.json(&["gc", "--json"])["kept"][0]["instance"] == "one");
    operator.ok(&["restart", "one", "--detach"]);
    eventually("it runs again", || operator.ok(&["read", "one"]).contains("ready"));
    operator.ok(&["eject", "one"]);
    assert_eq!(operator.left(), Vec::<PathBuf>::new());
}

#[test]
fn what_is_wrong_is_told_before_anything_is_made() {
    let operator = Operator::new();
    operator.configure("[defaults]\nagent = 7\nrole = \"nobody\"\n");
    let (code, why) = operator.refused(&["load", "--detach"]);
    assert_eq!(code, 2);
    assert_eq!(why.lines().count(), 2, "{why}");
    operator.configure("");
    let (_, why) = operator.refused(&["load", "--detach", "--agent", "claude-of-nowhere"]);
    assert!(why.contains("there is no agent"), "{why}");
    let (_, why) = operator.refused(&["load", "--", "true"]);
    assert!(why.contains("there is no terminal to attach to"), "{why}");
    let (_, why) = operator.refused(&["load", "--detach", "/nowhere"]);
    assert!(why.contains("nor is it a workspace"), "{why}");
    assert_eq!(operator.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_program_that_does_not_exist_leaves_nothing() {
    let operator = Operator::new();
    let (_, why) = operator.refused(&["load", "--detach", "--", "/no/such/program"]);
    assert!(why.contains("/no/such/program"), "{why}");
    assert_eq!(operator.left(), Vec::<PathBuf>::new());
}

#[test]
fn an_agent_gets_its_own_token_and_no_other() {
    let operator = Operator::new();
    operator.install("mine", "#!/bin/sh\nenv | sort\necho the end\nread -r line\n");
    operator
        .configure("[agents.mine]\ntokens = [\"MY_TOKEN\"]\n[agents.other]\ntokens = [\"OTHER_TOKEN\"]\n");
    let mut load = operator.command(&["load", "--detach", "--agent", "mine", "--env", "PLAIN=1"]);
    let output = load.env("MY_TOKEN", "s3cret").env("OTHER_TOKEN", "theirs").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    eventually("it printed", || operator.ok(&["read", "shop", "--history", "500"]).contains("the end"));
    let seen = operator.ok(&["read", "shop", "--history", "500"]);
    assert!(seen.contains("MY_TOKEN=s3cret") && seen.contains("PLAIN=1"), "{seen}");
    assert!(!seen.contains("OTHER_TOKEN"), "{seen}");
    let manifest = std::fs::read_to_string(operator.home().join("instances/shop.toml")).unwrap();
    assert!(manifest.contains("MY_TOKEN") && !manifest.contains("s3cret"), "{manifest}");
}

#[test]
fn what_is_meant_can_be_said_where_nothing_would_be_asked() {
    let operator = Operator::new();
    operator.ok(&["load", "--detach", "--name", "one", "--", "cat"]);
    operator.ok(&["load", "--detach", "--name", "two", "--", "cat"]);
    operator.ok(&["eject", "one", "--yes"]);
    operator.ok(&["exile", "--yes"]);
    assert_eq!(operator.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_directory_that_is_a_workspace_is_named_as_one() {
    let operator = Operator::new();
    let load = ["load", "--detach", "--name", "one", "--", "cat"];
    let told = |operator: &Operator, args: &[&str]| {
        let output = operator.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        operator.ok(&["eject", "one"]);
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(!told(&operator, &load).contains("workspace"));
    let workdir = operator.shop().display().to_string();
    operator.configure(&format!(
        "[roles.builder]\n[workspaces.store]\nworkdir = {workdir:?}\nrole = \"builder\"\n"
    ));
    let line = "[jackin] this is the workspace store: role builder, as a process of this machine\n";
    assert_eq!(told(&operator, &load).matches(line).count(), 1);
    let named = ["load", "--detach", "--name", "one", "store", "--", "cat"];
    assert!(!told(&operator, &named).contains("this is the workspace"), "it was named");
}
