//! Hook payloads are modelled after the agents' documentation, not recorded.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::scene::Scene;
use crate::support::{JACKIN, eventually};

/// Takes the command out of the settings that it was started with, as the real one would, and runs it with each line of
/// a file on standard input.
const HOOKED: &str = r#"command=$(printf '%s' "$2" | sed 's/.*"Stop":\[{"hooks":\[{"command":"\([^"]*\)".*/\1/'); while IFS= read -r line; do printf '%s' "$line" | sh -c "$command" || echo failed; done < "$HOOKS"; echo reported"#;

#[test]
fn an_observable_claude_reports_by_its_hooks() {
    let scene = Scene::new();
    let program = scene.path("claude");
    std::fs::write(&program, format!("#!/bin/sh\nHOOKS=$HOME/hooks; export HOOKS\n{HOOKED}\nread -r line\n"))
        .unwrap();
    let hooks = [
        json!({ "hook_event_name": "SessionStart", "session_id": "s", "source": "startup" }),
        json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "go" }),
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_use_id": "t", "tool_input": { "command": "make" } }),
        json!({ "hook_event_name": "PermissionRequest", "session_id": "s", "tool_name": "Bash", "tool_input": { "command": "make" } }),
    ];
    let lines: Vec<String> = hooks.iter().map(ToString::to_string).collect();
    std::fs::write(scene.path("hooks"), lines.join("\n") + "\n").unwrap();
    let _capsule = scene
        .start("initial_agent = \"c\"\n[[agents]]\nid = \"c\"\ncommand = [\"claude\"]\nobservable = true\n");
    let asked = scene.wait_for(1, "question", "hook");
    assert_eq!(asked["status"]["prompt"], "Allow Bash: make?");
    eventually("the hooks have ended", || scene.screen("1").contains("reported"));
    assert!(!scene.screen("1").contains("failed"));
    let told: Vec<_> = scene.events_named("agent-state-changed");
    let kinds: Vec<&str> = told.iter().map(|event| event["status"]["kind"].as_str().unwrap()).collect();
    assert!(kinds.windows(3).any(|kinds| kinds == ["idle", "busy", "question"]), "{kinds:?}");

    // What is typed into a dialog answers nothing until the agent says so.
    let refused = scene.place.ctl(&["send", "yes"]);
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn every_runtime_has_its_own_reports_and_a_wrong_one_is_told() {
    let scene = Scene::new();
    let _capsule = scene.start("initial_agent = \"robot\"\n[[agents]]\nid = \"robot\"\n");
    let report = format!("{JACKIN} capsule report");
    let hook = |runtime: &str, json: serde_json::Value| {
        format!("run echo '{json}' | {report} --strict --runtime {runtime}")
    };
    scene.tell("1", &hook("codex", json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s" })));
    scene.wait_for(1, "busy", "hook");
    scene.tell("1", &hook("codex-notify", json!({ "type": "agent-turn-complete", "turn-id": "1" })));
    scene.wait_for(1, "idle", "hook");
    scene.tell("1", &hook("gemini", json!({ "hook_event_name": "BeforeAgent", "prompt": "x" })));
    scene.wait_for(1, "busy", "hook");
    scene.tell("1", &format!("run {report} --event turn-ended </dev/null"));
    scene.wait_for(1, "idle", "hook");
    scene.tell_and_wait("1", &hook("perl", json!({})));
    eventually("it says what would do", || {
        scene.screen("1").replace('\n', "").contains("the runtimes are jackin, claude, codex, gemini")
    });
}

#[test]
fn a_report_that_cannot_be_made_does_not_fail_the_hook() {
    let report = |args: &[&str], input: &[u8]| {
        let mut child = Command::new(JACKIN)
            .args(["capsule", "report"])
            .args(args)
            .env_remove("JACKIN_AGENT_SOCKET")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.stdout.is_empty(), "agents read it");
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, told) = report(&["--runtime", "claude"], b"{}");
    assert_eq!(code, Some(0));
    assert!(told.contains("JACKIN_AGENT_SOCKET is not set"), "{told}");
    assert_eq!(report(&["--runtime", "claude"], b"nonsense").0, Some(0));
    assert_eq!(report(&["--strict", "--runtime", "claude"], b"{}").0, Some(1));
}
