//! What scripts do with instances.

use crate::operator::Operator;
use crate::support::{Terminal, eventually};

/// An agent that reports like a hook: it asks at once, and goes on with what is typed.
const ASKING: &str = r#"#!/bin/sh
report() { echo "$1" | "$JACKIN_PROGRAM" capsule report --strict; }
report '{"event":"waiting","prompt":"Delete it?"}'
echo asking
while read -r line; do
    report '{"event":"waiting-resolved"}'
    report '{"event":"turn-ended"}'
    echo "got <$line>"
    [ "$line" = bye ] && exit 0
done
"#;

fn with_agent() -> Operator {
    let operator = Operator::new();
    operator.install("robot", ASKING);
    operator.configure(&format!(
        "[agents.robot]\ndisplay = \"Robot\"\nenv = {{ JACKIN_PROGRAM = {:?} }}\n",
        crate::support::JACKIN
    ));
    operator
}

#[test]
fn an_agent_is_loaded_listed_waited_for_asked_and_ejected() {
    let operator = with_agent();
    let loaded = operator.json(&["load", "--json", "--agent", "robot"]);
    assert_eq!((&loaded["instance"], &loaded["host"]), (&"shop".into(), &"local".into()));
    let waited = operator.json(&["wait", "shop", "--until", "blocked", "--timeout", "60s", "--json"]);
    assert_eq!(waited["met"][0]["instance"], "shop");
    let instance = operator.instance("shop");
    assert_eq!(
        (&instance["attention"], &instance["status"]["kind"]),
        (&"blocked".into(), &"question".into())
    );
    assert_eq!(instance["status"]["prompt"], "Delete it?");
    assert_eq!((&instance["agent"], &instance["workspace"]), (&"robot".into(), &"shop".into()));
    assert!(operator.ok(&["ls"]).contains("question: Delete it?"));

    let (code, why) = operator.refused(&["send", "shop", "yes"]);
    assert_eq!(code, 1);
    assert!(why.contains("is blocked (question: Delete it?)"), "{why}");
    assert_eq!(operator.json(&["send", "shop", "--force", "--json", "yes"]), serde_json::json!({}));
    operator.ok(&["wait", "jackin-shop", "--until", "done", "--timeout", "60s"]);
    eventually("it answered", || operator.ok(&["read", "shop"]).contains("got <yes>"));
    assert_eq!(operator.json(&["read", "shop", "--json"])["size"]["cols"], 80);
    assert!(operator.ok(&["explain", "shop"]).starts_with("idle"));
    operator.ok(&["ack", "shop"]);
    eventually("it was acknowledged", || operator.instance("shop")["attention"] == "idle");

    operator.ok(&["tags", "set", "shop", "pr", "https://github.com/a/b/pull/1"]);
    let tags = operator.json(&["tags", "list", "shop", "--json"]);
    assert_eq!((&tags["tags"][0]["kind"], &tags["tags"][0]["provider"]), (&"pr".into(), &"operator".into()));
    operator.ok(&["tags", "unset", "shop", "pr", "https://github.com/a/b/pull/1"]);
    assert_eq!(operator.json(&["tags", "list", "shop", "--json"])["tags"], serde_json::json!([]));

    let ejected = operator.json(&["eject", "shop", "--json"]);
    assert_eq!(ejected["ejected"][0]["error"], serde_json::Value::Null);
    assert_eq!(operator.json(&["ls", "--json"])["instances"], serde_json::json!([]));
    eventually("nothing is left", || operator.left().is_empty());
}

#[test]
fn a_time_that_runs_out_has_a_code_of_its_own() {
    let operator = with_agent();
    operator.ok(&["load", "--detach", "--agent", "robot"]);
    operator.ok(&["wait", "--until", "blocked", "--timeout", "60s"]);
    let (code, _) = operator.refused(&["wait", "--until", "working", "--timeout", "1s"]);
    assert_eq!(code, 124);
    let (code, why) = operator.refused(&["wait", "--until", "bored"]);
    assert_eq!(code, 2);
    assert!(why.contains("is not a state to wait for"), "{why}");
}

#[test]
fn waiting_for_all_needs_all_and_for_any_one() {
    let operator = with_agent();
    operator.ok(&["load", "--detach", "--agent", "robot", "--name", "one"]);
    operator.ok(&["load", "--detach", "--name", "two", "--", "sleep", "1000"]);
    let any = operator.ok(&["wait", "one", "two", "--until", "blocked", "--timeout", "60s"]);
    assert_eq!(any, "one");
    let (code, _) =
        operator.refused(&["wait", "one", "two", "--all", "--until", "blocked", "--timeout", "1s"]);
    assert_eq!(code, 124);
}

#[test]
fn events_of_all_instances_come_in_one_stream() {
    use std::io::{BufRead, BufReader};
    let operator = with_agent();
    operator.ok(&["load", "--detach", "--agent", "robot", "--name", "one"]);
    operator.ok(&["load", "--detach", "--agent", "robot", "--name", "two"]);
    operator.ok(&["wait", "--all", "--until", "blocked", "--timeout", "60s"]);
    let mut events =
        operator.command(&["events", "--json"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(events.stdout.take().unwrap())
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(&line.unwrap()).unwrap());
    let mut snapshots = 0;
    while snapshots < 2 {
        snapshots += u32::from(lines.next().unwrap()["event"] == "snapshot");
    }
    for name in ["one", "two"] {
        operator.ok(&["send", name, "--force", "go"]);
        let changed =
            lines.find(|event| event["event"] == "agent-state-changed" && event["instance"] == name);
        assert!(changed.is_some());
    }
    operator.ok(&["eject", "one"]);
    assert!(lines.any(|event| event["event"] == "instance-gone" && event["instance"] == "one"));
    operator.ok(&["load", "--detach", "--name", "three", "--", "sleep", "1000"]);
    assert!(lines.any(|event| event["event"] == "snapshot" && event["instance"] == "three"));
    events.kill().unwrap();
    events.wait().unwrap();
}

#[test]
fn a_second_terminal_sees_the_same() {
    let operator = with_agent();
    operator.ok(&["load", "--detach", "--agent", "robot"]);
    operator.ok(&["wait", "shop", "--until", "blocked", "--timeout", "60s"]);
    let (home, config) = (operator.home(), operator.home().parent().unwrap().join("config"));
    let env = format!("JACKIN_HOME={} JACKIN_CONFIG_DIR={}", home.display(), config.display());
    let attach = |args: &str| {
        let line = format!("{env} {} hardline shop {args}", crate::support::JACKIN);
        Terminal::start("/bin/sh", &["-c", &line], 24, 80)
    };
    let first = attach("");
    first.wait_for("asking");
    let second = attach("--read-only");
    second.wait_for("asking");
    first.type_in("hello\r");
    first.wait_for("got <hello>");
    second.wait_for("got <hello>");
    first.type_in("bye\r");
    first.wait_for("ended");
    eventually("it ended well and is gone", || operator.left().is_empty());
}

#[test]
fn the_list_says_what_cannot_be_read() {
    let operator = Operator::new();
    std::fs::create_dir_all(operator.home().join("instances")).unwrap();
    std::fs::write(operator.home().join("instances/odd.toml"), "version = 9").unwrap();
    let output = operator.run(&["ls"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("odd.toml is not understood"));
}
