use serde_json::Value;

use crate::scene::Scene;
use crate::support::eventually;

#[test]
fn an_agent_that_is_started_in_a_shell_is_recognised_until_it_ends() {
    if !cfg!(target_os = "linux") {
        println!("skipped: processes are looked at on Linux only");
        return;
    }
    let scene = Scene::new();
    scene.record(
        "{\"type\":\"user\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"cwd\":\"x\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}\n",
    );
    let _capsule = scene.start_with(&[]);
    assert_eq!(scene.session(1)["agent"], Value::Null);
    scene.tell("1", &format!("cd {} && claude", scene.path("work")));
    eventually("it is recognised", || scene.session(1)["agent"] == "claude");
    assert_eq!(scene.session(1)["cwd"], scene.path("work").as_str());
    scene.tell("1", "write 1,1");
    scene.wait_for(1, "busy", "transcript");
    scene.tell("1", "quit");
    eventually("it is gone", || scene.session(1)["agent"] == Value::Null);
    let session = scene.session(1);
    assert_eq!(
        (&session["status"]["kind"], &session["cause"]["evidence"]),
        (&"unknown".into(), &"the agent has ended".into())
    );
    // And again, as another one.
    scene.tell("1", "codex");
    eventually("the other one is recognised", || scene.session(1)["agent"] == "codex");
}

#[test]
fn a_command_line_tells_the_agent_and_a_script_around_it_does_not_hide_it() {
    if !cfg!(target_os = "linux") {
        println!("skipped: processes are looked at on Linux only");
        return;
    }
    let scene = Scene::new();
    let _capsule = scene.start_with(&["--", "claude"]);
    assert_eq!(scene.session(1)["agent"], "claude");
    let created = scene.place.ctl(&["create", "--", "sh", "-c", "claude; echo over"]);
    assert!(created.status.success());
    eventually("the one in the script is recognised", || scene.session(2)["agent"] == "claude");
    scene.tell("2", "quit");
    eventually("the script has ended", || {
        scene.place.ctl_json(&["status"])["sessions"].as_array().unwrap().len() == 1
    });
}

#[test]
fn a_shell_says_nothing_of_itself() {
    let scene = Scene::new();
    let _capsule = scene.start_with(&["--", "sh", "-c", "while read -r line; do echo got $line; done"]);
    for word in ["a", "b", "c"] {
        scene.tell("1", word);
        eventually("it answers", || scene.screen("1").contains(&format!("got {word}")));
    }
    assert!(scene.events_named("agent-state-changed").is_empty());
}
