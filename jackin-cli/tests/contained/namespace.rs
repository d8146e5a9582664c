//! The daemon as process 1 of a PID namespace.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::live;
use crate::support::{JACKIN, Place, eventually};

const SESSIONS: u32 = 64;
const ORPHANS_EACH: u32 = 157;

/// How a program is started as process 1 here; none where that is not permitted.
fn unshare() -> Option<Vec<&'static str>> {
    let tries = [
        vec!["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"],
        vec!["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"],
    ];
    let works = |words: &Vec<&str>| {
        Command::new(words[0]).args(&words[1..]).arg("true").output().is_ok_and(|done| done.status.success())
    };
    let found = tries.into_iter().find(works);
    if found.is_none() {
        eprintln!("skipped: this system does not permit a PID namespace (unshare --pid)");
    }
    found
}

/// A capsule that is process 1.
struct First(Child);

impl First {
    fn start(place: &Place, script: &str) -> Option<Self> {
        let words = unshare()?;
        let child = Command::new(words[0])
            .args(&words[1..])
            .args([JACKIN, "capsule", "daemon", "--socket", place.socket().to_str().unwrap(), "--state"])
            .arg(place.dir().join("state"))
            .args(["--", "sh", "-c", script])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let first = Self(child);
        eventually("the capsule answers", || place.ctl(&["status"]).status.success());
        Some(first)
    }

    /// The number of process 1, seen from outside.
    fn init(&self) -> u32 {
        children(self.0.id())[0]
    }

    fn exit_code(&mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }
}

impl Drop for First {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn children(pid: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_ascii_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn record(place: &Place) -> Value {
    serde_json::from_slice(&fs::read(place.dir().join("state/exit.json")).unwrap()).unwrap()
}

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &pid.to_string()]).status().unwrap().success());
}

#[test]
fn every_end_is_told_and_nothing_is_left_amid_orphans() {
    let place = Place::new();
    let Some(mut first) = First::start(&place, "read -r line") else { return };
    let init = first.init();
    assert_ne!(place.ctl_json(&["status"])["pid"], 1, "the daemon is a child of process 1");
    let daemon = children(init)[0];
    let go = place.dir().join("go");
    let script = r#"while [ ! -e "$0" ]; do sleep 0.1; done
        i=0; while [ $i -lt "$1" ]; do ( : & ); i=$((i+1)); done
        printf 'made %s' "$i"; [ "$2" = 9 ] && kill -9 $$; exit "$2""#;
    let code = |id: u64| id % 10;
    for id in 2..=SESSIONS + 1 {
        let (orphans, code) = (ORPHANS_EACH.to_string(), code(id.into()).to_string());
        let args = ["create", "--no-focus", "--", "sh", "-c", script, go.to_str().unwrap(), &orphans, &code];
        let created = place.ctl(&args);
        assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
    }
    fs::write(&go, "").unwrap();
    eventually("the sessions have ended", || live(&place.ctl_json(&["status"])) == 1);
    eventually("the orphans were taken in", || children(init) == [daemon]);
    assert_eq!(children(daemon).len(), 1, "the session that is left");
    assert!(place.ctl(&["kill", "--session", "1"]).status.success());
    let exit_code = first.exit_code();

    let record = record(&place);
    let sessions = record["sessions"].as_array().unwrap();
    assert_eq!(sessions.len() as u32, SESSIONS + 1);
    for session in sessions.iter().filter(|session| session["id"] != 1) {
        let told = (&session["exit_code"], &session["signal"], &session["on_purpose"]);
        let expected = match code(session["id"].as_u64().unwrap()) {
            9 => (Value::Null, json!(9)),
            code => (json!(code), Value::Null),
        };
        assert_eq!(told, (&expected.0, &expected.1, &json!(false)), "{session}");
        assert!(session["screen"].as_str().unwrap().contains(&format!("made {ORPHANS_EACH}")), "{session}");
    }
    let shell_code = |session: &Value| {
        session["exit_code"].as_i64().unwrap_or_else(|| 128 + session["signal"].as_i64().unwrap())
    };
    let first_bad = sessions.iter().map(shell_code).find(|code| *code != 0).unwrap();
    assert_eq!(exit_code.map(i64::from), Some(first_bad));
    assert_eq!(record["exit_code"], first_bad);
}

#[test]
fn a_signal_ends_the_sessions_and_counts_as_success() {
    for name in ["TERM", "INT"] {
        let place = Place::new();
        // One that ends when told, and one that has to be killed.
        let Some(mut first) = First::start(&place, "read -r line") else { return };
        let stubborn =
            ["create", "--", "sh", "-c", "trap '' HUP TERM INT; echo deaf; while :; do sleep 1; done"];
        assert!(place.ctl(&stubborn).status.success());
        eventually("it is deaf", || {
            place.ctl_json(&["read", "--session", "2"])["text"].as_str().unwrap().contains("deaf")
        });
        signal(first.init(), name);
        assert_eq!(first.exit_code(), Some(0), "{name}");
        let record = record(&place);
        assert_eq!((&record["exit_code"], &record["stopped"]), (&json!(0), &json!(true)));
        let ends: Vec<_> = record["sessions"].as_array().unwrap().iter().map(|end| &end["signal"]).collect();
        assert_eq!(ends, [&json!(1), &json!(9)], "hung up, and killed");
        assert!(!place.socket().exists() && !Path::new(&place.agent_socket()).exists());
    }
}
