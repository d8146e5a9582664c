//! What can be done with what has ended, and where it cannot be attached to.

use std::path::PathBuf;

use crate::operator::Operator;
use crate::support::{JACKIN, eventually};

/// Starts another session in an instance.
fn another(operator: &Operator, instance: &str, script: &str) {
    let socket = operator.home().join("sockets").join(instance).join("jackin.sock");
    let socket = socket.to_str().unwrap();
    operator.ok(&["capsule", "ctl", "--socket", socket, "create", "--", "sh", "-c", script]);
}

#[test]
fn crashed_sessions_of_an_instance_that_runs_are_started_again() {
    let operator = Operator::new();
    operator.ok(&["load", "--detach", "--name", "x", "--", "sh", "-c", "echo first; read -r line"]);
    let (_, why) = operator.refused(&["restart", "x"]);
    assert!(why.contains("x is running") && why.contains("nothing to restart"), "{why}");
    let ids = || -> Vec<(u64, bool)> {
        let sessions = operator.instance("x")["sessions"].as_array().cloned().unwrap_or_default();
        sessions.iter().map(|one| (one["id"].as_u64().unwrap(), one["pane"].is_null())).collect()
    };
    let crash = "echo again; read -r line; exit 9";
    another(&operator, "x", crash);
    another(&operator, "x", crash);
    operator.ok(&["send", "x", "--session", "2", "go"]);
    operator.ok(&["send", "x", "--session", "3", "go"]);
    eventually("both crashed", || ids() == [(1, false), (2, true), (3, true)]);

    let restarted = operator.json(&["restart", "x", "--session", "3", "--json"]);
    assert_eq!(restarted["restarted"], serde_json::json!([{ "session": 3, "as": 4 }]));
    eventually("it runs", || operator.ok(&["read", "x", "--session", "4"]).contains("again"));
    let (_, why) = operator.refused(&["restart", "x", "--session", "1"]);
    assert!(why.contains("session 1 runs"), "{why}");
    assert_eq!(operator.ok(&["restart", "x", "--detach"]), "x");
    eventually("all of them run", || ids() == [(1, false), (4, false), (5, false)]);
    assert!(operator.ok(&["read", "x", "--session", "1"]).contains("first"), "nobody else was disturbed");
}

#[test]
fn an_instance_is_not_attached_to_from_within_itself() {
    let operator = Operator::new();
    let shell = ["load", "--detach", "--no-watch", "--name"];
    for name in ["outer", "inner"] {
        operator.ok(&[&shell[..], &[name, "--", "sh"]].concat());
    }
    operator.ok(&["send", "--force", "outer", &format!("{JACKIN} hardline outer; echo code $?")]);
    eventually("it is refused", || {
        let screen = operator.ok(&["read", "outer"]).replace('\n', "");
        screen.contains("inside of outer") && screen.contains("code 1")
    });
    operator.ok(&["send", "--force", "outer", &format!("clear; {JACKIN} hardline inner")]);
    operator.ok(&["send", "--force", "inner", "echo in the in''ner one"]);
    eventually("another is shown", || operator.ok(&["read", "outer"]).contains("in the inner one"));
    operator.ok(&["eject", "inner"]);
    eventually("the operator was told how to leave", || {
        operator.ok(&["read", "outer"]).replace('\n', "").contains("Ctrl+B d leaves outer")
    });
}

#[test]
fn what_is_known_of_a_crashed_instance_is_printed_and_what_to_do() {
    let operator = Operator::new();
    let script = "echo last words; read -r line; exit 5";
    operator.ok(&["load", "--detach", "--name", "bad", "--", "sh", "-c", script]);
    operator.ok(&["send", "bad", "go"]);
    eventually("it crashed", || operator.instance("bad")["state"] == "ended");
    assert!(operator.ok(&["read", "bad"]).contains("last words"));
    assert!(operator.json(&["read", "bad", "--json"])["text"].as_str().unwrap().contains("last words"));
    let (_, why) = operator.refused(&["read", "bad", "--session", "7"]);
    assert!(why.contains("session 7"), "{why}");
    let (code, why) = operator.refused(&["explain", "bad"]);
    assert_eq!(code, 1);
    for hint in ["crashed (exit code 5)", "hardline bad --inspect", "restart bad", "eject bad"] {
        assert!(why.contains(hint), "{hint}: {why}");
    }
    operator.ok(&["eject", "bad"]);
    assert_eq!(operator.left(), Vec::<PathBuf>::new());
}
