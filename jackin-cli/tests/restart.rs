//! Sessions that ended badly: what is left of them, and how they are started again.

mod support;

use serde_json::{Value, json};
use support::{Place, eventually};

/// Prints where and with what it runs, then ends as it is told to.
const CRASHES: &str = r#"printf 'in %s with <%s>\n' "$PWD" "$1"; read -r code; exit "$code""#;

fn session(place: &Place, id: u64) -> Option<Value> {
    let status = place.ctl_json(&["status"]);
    status["sessions"].as_array().unwrap().iter().find(|session| session["id"] == id).cloned()
}

fn screen(place: &Place, id: &str) -> String {
    place.ctl_json(&["read", "--session", id])["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_crashed_session_is_kept_and_restarted_as_it_was() {
    let place = Place::new();
    let mut daemon = place.daemon("read -r line");
    place.ctl(&["create", "--name", "work", "--", "sh", "-c", CRASHES, "sh", "an argument"]);
    eventually("it printed", || screen(&place, "2").contains("with <an argument>"));
    let running = place.ctl(&["restart", "--session", "2"]);
    assert!(String::from_utf8_lossy(&running.stderr).contains("session 2 runs"));
    place.ctl(&["send", "--session", "2", "9"]);
    eventually("it ended", || session(&place, 2).is_some_and(|session| session["pane"].is_null()));

    let ended = session(&place, 2).unwrap();
    assert_eq!(ended["status"], json!({ "kind": "crashed", "exit_code": 9 }));
    assert_eq!(ended["attention"], "blocked");
    assert_eq!(place.ctl_json(&["status"])["attention"], "blocked");
    assert_eq!(place.ctl_json(&["snapshot"])["sessions"].as_array().unwrap().len(), 2);
    assert!(screen(&place, "2").contains("with <an argument>"), "its last screen can be read");
    assert_eq!(place.ctl_json(&["explain", "--session", "2"])["status"]["exit_code"], 9);
    let sent = place.ctl(&["send", "--session", "2", "x"]);
    assert!(String::from_utf8_lossy(&sent.stderr).contains("session 2 has ended: `restart`"));

    assert_eq!(place.ctl_json(&["restart", "--session", "2"])["session_id"], 3);
    eventually("it printed again", || screen(&place, "3").contains("with <an argument>"));
    assert!(session(&place, 2).is_none(), "what was restarted is no longer waiting");
    let again = place.ctl(&["restart", "--session", "2"]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("there is no session 2"));

    place.ctl(&["send", "--session", "3", "1"]);
    eventually("it ended again", || session(&place, 3).is_some_and(|session| session["pane"].is_null()));
    assert!(place.ctl(&["ack", "--session", "3"]).status.success());
    assert!(session(&place, 3).is_none(), "an acknowledged end is forgotten");
    assert_ne!(place.ctl_json(&["status"])["attention"], "blocked");

    place.ctl(&["send", "x"]);
    assert_eq!(daemon.wait().code(), Some(9), "the first bad code is that of the capsule");
}

#[test]
fn what_ended_well_or_on_purpose_is_not_kept() {
    let place = Place::new();
    let _daemon = place.daemon("read -r line");
    place.ctl(&["create", "--", "sh", "-c", "exit 0"]);
    place.ctl(&["create", "--", "sh", "-c", "read -r line"]);
    place.ctl(&["kill", "--session", "3"]);
    eventually("both are gone", || session(&place, 2).is_none() && session(&place, 3).is_none());
}

#[test]
fn so_many_ended_sessions_are_kept_and_no_more() {
    let place = Place::new();
    let _daemon = place.daemon("read -r line");
    for _ in 0..20 {
        place.ctl(&["create", "--no-focus", "--", "sh", "-c", "exit 1"]);
    }
    let ended = || {
        let status = place.ctl_json(&["status"]);
        let sessions = status["sessions"].as_array().unwrap().clone();
        let running = sessions.iter().filter(|session| !session["pane"].is_null()).count();
        let ids: Vec<u64> = sessions.iter().map(|session| session["id"].as_u64().unwrap()).collect();
        (running, ids)
    };
    eventually("all have ended", || ended().0 == 1);
    let (_, ids) = ended();
    assert_eq!(ids.len(), 17, "{ids:?}");
    assert_eq!(ids[0], 1);
}

#[test]
fn the_operator_restarts_what_ended_last_by_a_key() {
    let place = Place::new();
    let terminal = place.run("printf 'first\n'; read -r line", 24, 80);
    terminal.wait_for("first");
    // Nothing to restart rings the bell.
    terminal.type_in(b"\x02e");
    terminal.wait_for_bytes(b"\x07");
    place.ctl(&["create", "--name", "again", "--", "sh", "-c", "printf 'second\n'; read -r line; exit 5"]);
    terminal.wait_for("second");
    terminal.type_in("\r");
    terminal.wait_for("first");
    terminal.type_in(b"\x02e");
    terminal.wait_for("second");
    eventually("it runs again", || session(&place, 3).is_some_and(|session| !session["pane"].is_null()));
    assert!(session(&place, 2).is_none());
}
