//! What happened is kept, and recordings are played.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::operator::Operator;
use crate::support::{JACKIN, Terminal, eventually};

/// An agent that asks, declares what it is told to, and ends with the code that it is given.
fn operator() -> Operator {
    let operator = Operator::new();
    let script = "#!/bin/sh
report() { echo \"$1\" | JACKIN capsule report --strict; }
report '{\"event\":\"waiting\",\"prompt\":\"Delete it?\"}'
while read -r line; do
    case $line in
    exit*) exit ${line#exit } ;;
    *) report \"{\\\"event\\\":\\\"assistant-text\\\",\\\"message_id\\\":\\\"m\\\",\\\"chunk\\\":\\\"<jackin:link>$line</jackin:link>\\\",\\\"end\\\":true}\" ;;
    esac
done
";
    operator.install("robot", &script.replace("JACKIN", JACKIN));
    operator.configure("[agents.robot]\ndisplay = \"Robot\"\n");
    operator
}

#[test]
fn statuses_tags_and_ends_are_kept_and_outlive_the_instance() {
    let operator = operator();
    operator.ok(&["load", "--detach", "--agent", "robot", "--name", "api"]);
    operator.ok(&["wait", "api", "--until", "blocked", "--timeout", "60s"]);
    // Somebody else follows it, too, and writes the same.
    let mut second = operator.command(&["watch"]).stderr(Stdio::null()).spawn().unwrap();
    operator.ok(&["send", "api", "--force", "https://example.com/a"]);
    eventually("it is kept", || {
        operator.ok(&["log", "api"]).contains("declared link: https://example.com/a")
    });
    operator.ok(&["tags", "set", "api", "pr", "https://github.com/a/b/pull/3"]);
    eventually("that too", || {
        operator.ok(&["log", "api"]).contains("the operator set pr: https://github.com/a/b/pull/3")
    });
    operator.ok(&["send", "api", "--force", "exit 7"]);
    let ended = "api: the instance has ended: crashed (exit code 7)";
    eventually("its end is kept", || {
        let log = operator.ok(&["log"]);
        log.contains(ended) && log.contains("all sessions ended")
    });
    second.kill().unwrap();
    second.wait().unwrap();
    operator.ok(&["eject", "api"]);
    let log = operator.ok(&["log", "api"]);
    for once in
        ["Delete it?", "declared link", "session 1 ended: crashed (exit code 7)", "all sessions ended", ended]
    {
        assert_eq!(log.matches(once).count(), 1, "{once} in\n{log}");
    }
    let json = operator.ok(&["log", "api", "--json"]);
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(
        lines.iter().any(|line| line["event"] == "tag-observed" && line["value"] == "https://example.com/a")
    );
    assert!(lines.iter().any(|line| line["event"] == "instance-ended" && line["status"]["exit_code"] == 7));
    assert_eq!(operator.ok(&["log", "-n", "1"]).lines().count(), 1);

    operator.ok(&["load", "--detach", "--agent", "robot", "--name", "api"]);
    let (_, told) = operator.refused(&["eject", "api", "--purge"]);
    assert!(told.contains("--yes"), "{told}");
    operator.ok(&["eject", "api", "--purge", "--yes"]);
    let (_, told) = operator.refused(&["log", "api"]);
    assert!(told.contains("there is no instance api"), "{told}");
}

#[test]
fn a_log_goes_on_as_long_as_there_is_something_to_tell() {
    let operator = operator();
    operator.ok(&["load", "--detach", "--no-watch", "--agent", "robot", "--name", "api"]);
    operator.ok(&["wait", "api", "--until", "blocked", "--timeout", "60s"]);
    let mut log = operator.command(&["log", "api", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(log.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    assert!(first.contains("seen: session 1 ") && first.contains("Delete it?"), "{first}");
    operator.ok(&["send", "api", "--force", "https://example.com/b"]);
    assert!(lines.any(|line| line.contains("https://example.com/b")));
    operator.ok(&["eject", "api"]);
    // It ends with the instance.
    lines.for_each(drop);
    assert!(log.wait().unwrap().success());
    assert!(operator.ok(&["log"]).contains("https://example.com/b"), "it was kept");
}

#[test]
fn a_capsules_own_log_is_printed() {
    let operator = Operator::new();
    let mut load = operator.command(&["load", "--detach", "--name", "noisy", "--", "sleep", "1000"]);
    assert!(load.env("JACKIN_LOG", "debug").output().unwrap().status.success());
    operator.ok(&["load", "--detach", "--name", "quiet", "--", "sleep", "1000"]);
    let (_, told) = operator.refused(&["log", "quiet", "--capsule"]);
    assert!(told.contains("JACKIN_LOG=debug"), "{told}");
    let (_, told) = operator.refused(&["log", "nobody", "--capsule"]);
    assert!(told.contains("there is no instance nobody"), "{told}");
    std::fs::write(operator.home().join("sockets/noisy/jackin.log"), "one\ntw\x1b[31mo\n").unwrap();
    assert_eq!(operator.ok(&["log", "noisy", "--capsule", "-n", "1"]), "tw [31mo");
}

#[test]
fn what_was_recorded_is_played() {
    let operator = Operator::new();
    operator.ok(&[
        "load",
        "--detach",
        "--name",
        "api",
        "--",
        "sh",
        "-c",
        "while read -r line; do echo \"got <$line>\"; done",
    ]);
    let file = operator.json(&["record", "api", "start", "--json"])["path"].as_str().unwrap().to_owned();
    operator.ok(&["send", "api", "--force", "hello"]);
    eventually("it was printed", || operator.ok(&["read", "api"]).contains("got <hello>"));
    operator.ok(&["record", "api", "stop"]);
    assert!(operator.ok(&["play", "--text", &file]).contains("got <hello>"));
    let (_, told) = operator.refused(&["play", &file]);
    assert!(told.contains("--text"), "{told}");
}

#[test]
fn a_player_pauses_steps_and_draws_nothing_but_the_screen() {
    let operator = Operator::new();
    let file = operator.shop().join("a.cast");
    let head = "{\"version\": 2, \"width\": 60, \"height\": 10}\n";
    let cast = format!(
        "{head}[0.1, \"o\", \"\\u001b]52;c;aGk=\\u0007\\u001b]0;mine\\u0007\\u001b[cone \"]\n[5000, \"o\", \"two \"]\n[9000, \"o\", \"three\"]\n"
    );
    std::fs::write(&file, cast).unwrap();
    let file = file.to_str().unwrap();
    let mut player = Terminal::run(&["play", "--speed", "2", file], 24, 80);
    player.wait_for("one");
    player.type_in(" .");
    player.wait_for("one two");
    player.type_in("x.");
    assert_eq!(player.exit_code(), 0);
    // What was there last stays when it is over.
    assert!(player.text().contains("one two three"), "{}", player.text());
    let sent = String::from_utf8_lossy(&player.bytes()).into_owned();
    for bad in ["\x1b]52", "mine", "\x1b[c"] {
        assert!(!sent.contains(bad), "{bad:?} reached the terminal");
    }
    let mut player = Terminal::run(&["play", file], 24, 80);
    player.wait_for("one");
    player.type_in("q");
    assert_eq!(player.exit_code(), 0);

    std::fs::write(file, format!("{head}[0, \"o\", \"whole\"]\nbroken\n[1, \"o\", \"lost\"]\n")).unwrap();
    let output = operator.run(&["play", "--text", file]);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout).trim()), (Some(1), "whole"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 3 is not understood"));
    let (_, told) = operator.refused(&["play", "--text", "/etc/hostname"]);
    assert!(told.contains("no recording"), "{told}");
}
