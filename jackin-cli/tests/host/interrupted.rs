//! Commands that were killed on their way.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use crate::operator::{Operator, git, processes};
use crate::support::eventually;

/// Kills a launch when it has told its n-th step, for every n, and looks at what `gc` leaves.
#[test]
fn a_launch_that_is_killed_at_any_step_leaves_nothing_after_gc() {
    let operator = Operator::new();
    let mut args = vec!["load", "--detach", "--no-watch", "--name", "cut"];
    if git(&operator.shop(), &["init", "--quiet", "-b", "main"])
        && git(&operator.shop(), &["commit", "--quiet", "--allow-empty", "-m", "first"])
    {
        args.push("--worktree");
    }
    args.extend(["--", "sleep", "1000"]);
    let mut steps = 0;
    loop {
        let mut load = operator.command(&args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut told = BufReader::new(load.stderr.take().unwrap()).lines();
        let reached = (0..=steps).all(|_| told.next().is_some());
        load.kill().unwrap();
        load.wait().unwrap();
        if reached {
            operator.ok(&["gc"]);
            // A capsule that was just being started may come after the first look.
            eventually("nothing is left", || {
                operator.ok(&["gc"]);
                operator.left().is_empty() && processes(&operator).is_empty()
            });
        } else {
            operator.ok(&["eject", "cut"]);
            assert_eq!(operator.left(), Vec::<PathBuf>::new());
            break;
        }
        steps += 1;
    }
    assert!(steps >= 1, "no step was told");
}

#[test]
fn what_has_no_record_is_found_by_its_directory() {
    let operator = Operator::new();
    operator.ok(&["load", "--detach", "--no-watch", "--name", "lost", "--", "sleep", "1000"]);
    std::fs::remove_file(operator.home().join("instances/lost.toml")).unwrap();
    operator.ok(&["gc"]);
    assert_eq!(operator.instance("lost"), serde_json::Value::Null, "without a record it is not listed");
    operator.ok(&["eject", "lost"]);
    assert_eq!(operator.left(), Vec::<PathBuf>::new());
}

#[test]
fn an_interrupt_takes_away_what_was_made() {
    let operator = Operator::new();
    // It never gets ready: its directory cannot be entered by the time that it starts.
    let mut load = operator.command(&["load", "--detach", "--name", "stop", "--", "sleep", "1000"]);
    let mut load = load.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut told = BufReader::new(load.stderr.take().unwrap()).lines();
    told.next();
    let pid = load.id().to_string();
    std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let ended = load.wait().unwrap();
    // It was quicker than the signal, or it cleaned up.
    if ended.success() {
        operator.ok(&["eject", "stop"]);
    }
    eventually("nothing is left", || {
        operator.ok(&["gc"]);
        operator.left().is_empty()
    });
}
