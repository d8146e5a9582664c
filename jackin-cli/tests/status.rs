//! `jackin status replay` and `jackin status screen`.

mod support;

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::JACKIN;

fn status(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(JACKIN)
        .arg("status")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

const RECORDING: &str = concat!(
    r#"{"type":"turn.started"}"#,
    "\nnonsense\n",
    r#"{"type":"turn.failed","error":{"message":"no quota"}}"#,
);

#[test]
fn a_recording_gives_transitions_with_line_and_cause() {
    let output = status(&["replay", "--runtime", "codex-exec"], RECORDING);
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "line 1: busy [stream: turn started]\n\
         line 3: idle (last turn failed: no quota) [stream: turn failed: no quota]\n"
    );
    assert!(String::from_utf8(output.stderr).unwrap().contains("1 of 3 lines were no JSON objects"));
    let json = status(&["replay", "--runtime", "codex-exec", "--json"], RECORDING).stdout;
    let first: Value = serde_json::from_slice(json.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!((&first["line"], &first["status"]["kind"]), (&Value::from(1), &Value::from("busy")));
}

#[test]
fn a_screen_gets_a_verdict_and_the_rule_that_gave_it() {
    let screen = " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n";
    let verdict = String::from_utf8(status(&["screen", "--agent", "claude"], screen).stdout).unwrap();
    assert!(verdict.starts_with("question") && verdict.contains("rule claude/"), "{verdict}");
    let none = status(&["screen", "--agent", "claude"], "$ ls\n");
    assert!(String::from_utf8(none.stdout).unwrap().contains("no rule of claude matches"));
    let unknown = status(&["screen", "--agent", "perl"], "");
    assert_eq!(unknown.status.code(), Some(1));
    let unknown = status(&["replay", "--runtime", "perl"], "");
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("write one of claude-stream"));
}
