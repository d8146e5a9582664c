//! `jackin tags parse`, as skill authors use it.

mod support;

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::JACKIN;

fn parse(args: &[&str], input: &[u8]) -> String {
    let mut child = Command::new(JACKIN)
        .args(["tags", "parse"])
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

const MESSAGE: &[u8] = b"x <jackin:pr>https://github.com/a/b/pull/7</jackin:pr>";

#[test]
fn each_tag_is_one_line() {
    let printed: Vec<Value> =
        parse(&["--json"], MESSAGE).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected =
        json!({ "kind": "pr", "value": "https://github.com/a/b/pull/7", "namespace": "jackin", "line": 1 });
    assert_eq!(printed, [expected]);
    assert_eq!(parse(&["-"], MESSAGE), "line 1: jackin:pr https://github.com/a/b/pull/7\n");
}

#[test]
fn what_does_not_count_is_explained_when_asked_for() {
    let message = b"\n`<jackin:pr>x</jackin:pr>` and <jackin:issue>nonsense</jackin:issue>\n";
    assert_eq!(parse(&[], message), "");
    let explained = parse(&["--explain"], message);
    assert!(explained.contains("line 2: skipped jackin:pr x (in an inline code span)"), "{explained}");
    assert!(explained.contains("line 2: skipped jackin:issue nonsense ("), "{explained}");
}

#[test]
fn tags_are_found_in_recordings_of_agents_in_their_own_words_only() {
    let recording = concat!(
        r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#,
        "\n",
        r#"{"type":"user","message":{"content":[{"type":"text","text":"<jackin:pr>https://github.com/a/b/pull/1</jackin:pr>"}]}}"#,
        "\n",
        r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"<jackin:pr>https://github.com/a/b/pull/7</jackin:pr>"}]}}"#,
        "\n",
        r#"{"type":"result","subtype":"success","is_error":false,"result":"<jackin:pr>https://github.com/a/b/pull/7</jackin:pr>"}"#,
        "\n",
    );
    let printed = parse(&["--from", "claude-stream"], recording.as_bytes());
    assert_eq!(printed, "line 3: jackin:pr https://github.com/a/b/pull/7\n");
    let output = Command::new(JACKIN).args(["tags", "parse", "--from", "perl"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_missing_file_is_named() {
    let output = Command::new(JACKIN).args(["tags", "parse", "/no/such/file"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot open /no/such/file"));
}
