use std::process::{Command, Stdio};

use crate::scene::Scene;
use crate::support::{JACKIN, eventually};

const ROBOT: &str = "initial_agent = \"robot\"\n[[agents]]\nid = \"robot\"\n";

#[test]
fn a_text_is_pasted_where_the_program_knows_pastes() {
    let scene = Scene::new();
    let _capsule = scene.start(ROBOT);
    scene.tell("1", "run printf '\\033[?2004hready\\n'; head -n 1 | od -c");
    eventually("it knows pastes", || scene.screen("1").contains("\nready"));
    // `od` shows what the markers of a paste look like to a program.
    let sent = scene.place.ctl(&["send", "--force", "two words"]);
    assert!(sent.status.success());
    eventually("the markers came", || {
        let screen = scene.screen("1");
        screen.contains("033   [   2   0   0   ~   t   w   o") && screen.contains("2   0   1   ~")
    });
}

#[test]
fn sending_waits_for_the_prompt_when_asked_to() {
    let scene = Scene::new();
    let _capsule = scene.start(ROBOT);
    let report = |event: &str| {
        let out = scene.place.ctl(&[
            "send",
            "--force",
            &format!("run {JACKIN} capsule report --event {event} </dev/null"),
        ]);
        assert!(out.status.success());
    };
    report("turn-started");
    scene.wait_for(1, "busy", "hook");
    let late = scene.place.ctl(&["send", "--wait", "50", "run echo too soon"]);
    assert_eq!(late.status.code(), Some(124));
    assert!(String::from_utf8(late.stderr).unwrap().contains("nothing was sent"));

    let waiting = Command::new(JACKIN)
        .args(["capsule", "ctl", "--socket", scene.place.socket().to_str().unwrap()])
        .args(["send", "--wait", "60000", "run echo in time"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    report("turn-ended");
    assert!(waiting.wait_with_output().unwrap().status.success());
    eventually("it was sent", || scene.screen("1").contains("\nin time"));
    assert!(!scene.screen("1").contains("too soon"));
    let gone = scene.place.ctl(&["send", "--wait", "50", "--session", "9", "x"]);
    assert!(String::from_utf8(gone.stderr).unwrap().contains("there is no session 9"));
}
