//! What a capsule logs, and what it never does.

mod support;

use support::{Place, eventually};

#[test]
fn frames_are_told_when_debugging() {
    let place = Place::new();
    let _daemon = place.daemon_with(&["--", "sh", "-c", "echo ready; read -r x"], &[("JACKIN_DEBUG", "1")]);
    let terminal = place.attach(24, 80);
    terminal.wait_for("ready");
    let log = || std::fs::read_to_string(place.dir().join("j.log")).unwrap();
    eventually("a frame is told", || log().contains("frame full, reason Attach, dirty panes 1, 24 rows, "));
    terminal.type_in("abc");
    eventually("a small one too", || {
        log()
            .lines()
            .any(|line| line.contains("frame partial, dirty panes 1, 1 rows, ") && line.ends_with("µs"))
    });
}

#[test]
fn without_debugging_there_is_no_log() {
    let place = Place::new();
    let _daemon = place.daemon_with(&["--", "sh", "-c", "echo ready; read -r x"], &[("JACKIN_DEBUG", "0")]);
    place.attach(24, 80).wait_for("ready");
    assert!(!place.dir().join("j.log").exists());
}

/// Neither a value of an environment nor a key is in the log, whatever the level and whatever goes wrong.
#[test]
fn no_secret_is_logged() {
    let place = Place::new();
    let config = place.dir().join("agent.toml");
    let text = "version = 1\ninstance = \"x\"\ninitial_agent = \"a\"\nunknown = \"k3y-in-an-unknown-one\"\n[[agents]]\nid = \"a\"\n\
                command = [\"sh\", \"-c\", \"echo ready; read -r x\"]\nenv = { API_KEY = \"k3y-of-the-agent\" }\n";
    std::fs::write(&config, text).unwrap();
    let env = [("JACKIN_LOG", "trace"), ("JACKIN_DEBUG", "1"), ("SECRET", "k3y-of-the-daemon")];
    let _daemon = place.daemon_with(&["--config", config.to_str().unwrap()], &env);
    let terminal = place.attach(24, 80);
    terminal.wait_for("ready");
    terminal.type_in("k3y-that-is-typed");
    terminal.wait_for("k3y-that-is-typed");
    terminal.type_in(b"\x1b[200~k3y-that-is-pasted\x1b[201~");
    terminal.wait_for("k3y-that-is-pasted");
    place.ctl(&["send", "--force", "--no-enter", "k3y-that-is-sent"]);
    terminal.wait_for("k3y-that-is-sent");
    place.ctl(&["create", "--env", "TOKEN=k3y-of-a-session", "--", "sh", "-c", "echo second; exit 3"]);
    place.ctl(&["create", "--env", "TOKEN=k3y-of-no-session", "--", "/no/such/program"]);
    eventually("the second ended badly", || place.ctl_json(&["status"])["sessions"][1]["pane"].is_null());
    place.ctl(&["restart", "--session", "2"]);
    place.ctl(&[
        "report",
        "--runtime",
        "claude",
        r#"{"hook_event_name":"k3y-in-a-report","prompt":"k3y-of-a-prompt"}"#,
    ]);
    let log = std::fs::read_to_string(place.dir().join("j.log")).unwrap();
    assert!(log.contains("frame partial") && log.contains("unknown is not known and is ignored"), "{log}");
    assert!(!log.contains("k3y"), "{}", log.lines().filter(|line| line.contains("k3y")).collect::<String>());
    // Nor the tokens that sessions are given.
    assert!(!log.contains("JACKIN_AGENT_TOKEN="));
}
