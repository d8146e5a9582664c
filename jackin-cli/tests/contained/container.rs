//! The static capsule as process 1 of a container.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::docker::{CAPSULE, Container, image};
use crate::live;
use crate::support::eventually;

fn up(container: &Container) {
    eventually("the capsule answers", || container.ctl(&["status"]).status.success());
}

fn record(container: &Container) -> Value {
    serde_json::from_slice(&container.read("/jackin/state/exit.json")).unwrap()
}

#[test]
fn a_container_ends_with_its_capsule() {
    let Some(image) = image() else { return };
    let container = image.run(&[], &["daemon", "--", "sh", "-c", "read -r line; exit $line"]);
    up(&container);
    let line = container.exec(&[], &["cat", "/proc/1/cmdline"]).stdout;
    assert!(line.starts_with(CAPSULE.as_bytes()), "{}", String::from_utf8_lossy(&line));
    assert_eq!(container.ctl_json(&["status"])["sessions"].as_array().unwrap().len(), 1);
    assert!(container.ctl(&["send", "7"]).status.success());
    assert_eq!(container.wait(), 7);
    let record = record(&container);
    assert_eq!((&record["exit_code"], &record["sessions"][0]["exit_code"]), (&json!(7), &json!(7)));
    assert_eq!(record["sessions"][0]["status"], json!({ "kind": "crashed", "exit_code": 7 }));
}

#[test]
fn a_signal_to_the_container_is_an_orderly_end() {
    let Some(image) = image() else { return };
    // Called with nothing at all, it is the daemon, with a shell.
    let container = image.run(&[], &[]);
    up(&container);
    container.signal("TERM");
    assert_eq!(container.wait(), 0, "{}", container.logs());
    assert_eq!(record(&container)["stopped"], true);
}

#[test]
fn a_program_that_cannot_be_started_ends_the_container_as_a_shell_would() {
    let Some(image) = image() else { return };
    for (program, code) in [("no-such-agent", 127), ("/etc/passwd", 126)] {
        let container = image.run(&[], &["daemon", "--", program]);
        assert_eq!(container.wait(), code, "{}", container.logs());
        let session = &record(&container)["sessions"][0];
        assert_eq!(session["exit_code"], code);
        let screen = session["screen"].as_str().unwrap();
        assert!(screen.contains(&format!("cannot start {program}")), "{screen}");
    }
}

/// Images for platforms with a user of their own choice put it into root's group, and open its home to that.
#[test]
fn a_user_in_roots_group_is_taken_out_of_it() {
    let Some(image) = image() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (passwd, home) = (dir.path().join("passwd"), dir.path().join("app"));
    fs::write(&passwd, "root:x:0:0:root:/root:/bin/sh\ndefault:x:1000:0:Default:/app:/bin/sh\n").unwrap();
    fs::set_permissions(&passwd, fs::Permissions::from_mode(0o644)).unwrap();
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o775)).unwrap();
    let options = [format!("{}:/etc/passwd:ro", passwd.display()), format!("{}:/app", home.display())];
    let options = ["-v", &options[0], "-v", &options[1]];
    let script = "touch ~/mine; echo \"$(id -u):$(id -g):$(id -G):$HOME:$(ls ~)\"; read -r line";
    let container = image.run(&options, &["daemon", "--", "sh", "-c", script]);
    up(&container);
    let screen = || container.ctl_json(&["read", "--session", "1"])["text"].as_str().unwrap().to_owned();
    eventually("it said who it is", || screen().contains("1000:"));
    assert!(screen().contains("1000:1000:1000:/home/default:mine"), "{}", screen());
}

#[test]
fn every_end_is_told_and_nothing_is_left_amid_orphans() {
    let Some(image) = image() else { return };
    let container = image.run(&[], &["daemon", "--", "sh", "-c", "read -r line"]);
    up(&container);
    let script = r"while [ ! -e /workspace/go ]; do sleep 0.2; done
        i=0; while [ $i -lt 157 ]; do ( : & ); i=$((i+1)); done; exit $0";
    // One call of the engine for all of them.
    let create = format!(
        "i=2; while [ $i -le 65 ]; do {CAPSULE} ctl create --no-focus -- sh -c '{script}' $((i%10)) || exit; i=$((i+1)); done; touch /workspace/go"
    );
    let created = container.exec(&[], &["sh", "-c", &create]);
    assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
    eventually("the sessions have ended", || live(&container.ctl_json(&["status"])) == 1);
    let zombies = || {
        let states = container.exec(&[], &["sh", "-c", "cat /proc/[0-9]*/stat 2>/dev/null"]);
        String::from_utf8(states.stdout).unwrap().matches(") Z ").count()
    };
    eventually("the orphans were taken in", || zombies() == 0);
    assert!(container.ctl(&["kill", "--session", "1"]).status.success());
    container.wait();
    let record = record(&container);
    let sessions = record["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 65);
    for session in sessions.iter().filter(|session| session["id"] != 1) {
        assert_eq!(session["exit_code"], session["id"].as_u64().unwrap() % 10, "{session}");
    }
}
