use std::process::Command;

use crate::scene::Scene;
use crate::support::{JACKIN, eventually};

const TWO: &str = "[[agents]]\nid = \"claude\"\ndisplay = \"Claude Code\"\n\
    [[agents]]\nid = \"robot\"\ndisplay = \"Robot\"\nenv = { GREETING = \"hello from the file\" }\n\
    [git]\nname = \"Jo\"\n[mux.keys]\nprefix = \"ctrl+a\"\n";

#[test]
fn the_operator_picks_an_agent_and_it_starts_with_its_environment() {
    let scene = Scene::new();
    let mut capsule = scene.start(TWO);
    assert_eq!(scene.place.ctl_json(&["status"])["sessions"].as_array().unwrap().len(), 0);
    assert_eq!(scene.place.ctl_json(&["status"])["instance"], "stage");
    let terminal = scene.place.attach(24, 80);
    terminal.wait_for("Claude Code");
    terminal.wait_for("Robot");
    terminal.type_in("rob\r");
    terminal.wait_for("robot is here");
    assert_eq!(scene.session(1)["agent"], "Robot");
    terminal.type_in("run echo \"<$GREETING, $GIT_AUTHOR_NAME, $JACKIN_SESSION>\"\r");
    terminal.wait_for("<hello from the file, Jo, 1>");
    // The prefix of the file, not the usual one.
    terminal.type_in(b"\x01c");
    terminal.wait_for("Start");
    terminal.type_in("shell\r");
    eventually("a shell runs too", || {
        scene.place.ctl_json(&["status"])["sessions"].as_array().unwrap().len() == 2
    });
    assert!(scene.place.ctl(&["shutdown"]).status.success());
    assert!(capsule.wait().success());
}

#[test]
fn whoever_leaves_the_picker_ends_the_capsule() {
    let scene = Scene::new();
    let mut capsule = scene.start(TWO);
    let terminal = scene.place.attach(24, 80);
    terminal.wait_for("Robot");
    drop(terminal);
    assert!(capsule.wait().success());
}

#[test]
fn an_unknown_agent_is_named_with_those_that_are_known() {
    let scene = Scene::new();
    let _capsule = scene.start(TWO);
    let refused = scene.place.ctl(&["create", "--agent", "parrot"]);
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(told.contains("no agent \"parrot\" is configured (configured are: claude, robot)"), "{told}");
}

#[test]
fn every_mistake_of_a_file_is_told_before_anything_starts() {
    let scene = Scene::new();
    let config = scene.path("agent.toml");
    std::fs::write(&config, "version = 1\n[[agents]]\nid = \"x\"\nruntime = \"perl\"\n").unwrap();
    let output = Command::new(JACKIN)
        .args(["capsule", "daemon", "--socket", &scene.path("j.sock"), "--config", &config])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("agent.toml:1: instance is missing; write, for example, instance = \"api-fix\""),
        "{told}"
    );
    assert!(told.contains("agent.toml:4: agents.runtime: \"perl\" is not known"), "{told}");
    assert!(!scene.place.socket().exists());
}

#[test]
fn what_is_not_known_is_ignored_and_logged() {
    let scene = Scene::new();
    let config = scene.path("agent.toml");
    std::fs::write(&config, "version = 1\ninstance = \"a\"\nmood = \"good\"\n").unwrap();
    let args = ["--config", config.as_str(), "--", "sh", "-c", "read -r line"];
    let _capsule = scene.place.daemon_with(&args, &[("JACKIN_LOG", "warn")]);
    let log = std::fs::read_to_string(scene.path("j.log")).unwrap();
    assert!(log.contains("agent.toml:3: mood is not known and is ignored"), "{log}");
}
