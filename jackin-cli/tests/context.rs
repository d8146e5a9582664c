//! What stands beside the panes (branch, pull request, usage), and what sessions use of the machine.

mod support;

use std::fs;
use std::process::Command;

use serde_json::json;
use support::{Place, Terminal, eventually};

const IDLE: &str = "printf 'ready\\n'; while read -r line; do :; done";

/// A repository as far as the capsule looks at one, with another branch than the usual.
fn repository(place: &Place) -> std::path::PathBuf {
    let workdir = place.dir().join("work");
    fs::create_dir_all(workdir.join(".git")).unwrap();
    check_out(&workdir, "fix/login");
    workdir
}

/// As Git does it: the new file takes the old one's place.
fn check_out(workdir: &std::path::Path, branch: &str) {
    let git = workdir.join(".git");
    fs::write(git.join("HEAD.lock"), format!("ref: refs/heads/{branch}\n")).unwrap();
    fs::rename(git.join("HEAD.lock"), git.join("HEAD")).unwrap();
}

fn start(place: &Place, workdir: &std::path::Path) -> (support::Capsule, Terminal) {
    let config = place.dir().join("agent.toml");
    let text = format!(
        "version = 1\ninstance = \"api-fix\"\nworkspace = \"api\"\nworkdir = \"{}\"\n",
        workdir.display()
    );
    fs::write(&config, text).unwrap();
    let daemon = place.daemon_with(&["--config", config.to_str().unwrap(), "--", "sh", "-c", IDLE], &[]);
    let terminal = place.attach(24, 100);
    terminal.wait_for("ready");
    (daemon, terminal)
}

#[test]
fn the_branch_is_followed_and_the_usual_one_needs_no_row() {
    let place = Place::new();
    let workdir = repository(&place);
    let (_daemon, terminal) = start(&place, &workdir);
    terminal.wait_for("fix/login · api-fix");
    terminal.wait_for_bytes("\x1b]2;api · fix/login\x07".as_bytes());
    let rows = |rows: u64| place.ctl_json(&["status"])["sessions"][0]["size"]["rows"] == json!(rows);
    eventually("the row is ours", || rows(22));
    check_out(&workdir, "main");
    eventually("the row is the pane's again", || rows(23));
    eventually("nothing is left of it", || !terminal.text().contains("api-fix"));
    check_out(&workdir, "feature");
    terminal.wait_for("feature · api-fix");
}

#[test]
fn the_host_tells_of_pull_request_and_quota() {
    let place = Place::new();
    let workdir = repository(&place);
    let (_daemon, terminal) = start(&place, &workdir);
    terminal.wait_for("fix/login");
    terminal.type_in(b"\x02u");
    terminal.wait_for("usage unavailable: host not connected");
    terminal.type_in("q");
    let context = json!({
        "pull_request": { "number": 7, "url": "https://x/p/7", "checks": { "passed": 2, "pending": 1 } },
        "quotas": [{ "provider": "claude", "window": "5h", "remaining_percent": 42.0, "confidence": "reported", "as_of": 0 }],
        "needs_login": ["codex"],
    });
    assert!(place.ctl(&["context", &context.to_string()]).status.success());
    terminal.wait_for("fix/login · #7 … 2 of 3");
    let usage = json!({ "event": "usage", "scope": "session", "input_tokens": 12000, "output_tokens": 300, "cost_usd": 0.25 });
    assert!(place.ctl(&["report", &usage.to_string()]).status.success());
    terminal.wait_for("12.3k tokens, $0.25");
    terminal.type_in(b"\x02u");
    terminal.wait_for("12.0k in, 300 out, $0.25");
    terminal.wait_for("time in states");
    terminal.wait_for("claude 5h: 42 % left (reported");
    terminal.wait_for("codex: needs login");
    terminal.type_in("q");
    // It is not true of another branch.
    let context = json!({ "branch": "fix/login", "pull_request": { "number": 8 } });
    assert!(place.ctl(&["context", &context.to_string()]).status.success());
    terminal.wait_for("fix/login · #8 · api-fix");
    check_out(&workdir, "other");
    terminal.wait_for("other · api-fix");
    check_out(&workdir, "fix/login");
    terminal.wait_for("fix/login · #8 · api-fix");
    assert!(place.ctl(&["context", "{}"]).status.success());
    eventually("it is taken back", || !terminal.text().contains("#8"));
    let refused = place.ctl(&["context", "7"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not what context.set takes"));
}

#[test]
fn sessions_are_measured_when_somebody_asks() {
    let place = Place::new();
    let _daemon = place.daemon("sleep 1000 & sleep 1000 & wait");
    let used = || place.ctl_json(&["resources"])["sessions"][0].clone();
    eventually("all three are counted", || used()["processes"] == 3);
    assert!(used()["memory"].as_u64().unwrap() > 100_000);
    place.ctl(&["create", "--", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; read x"]);
    let busy = || place.ctl_json(&["resources"])["sessions"][1]["cpu_ms"].as_u64().unwrap();
    eventually("it has used processor time", || busy() > 20);
    let told = String::from_utf8(place.ctl(&["resources"]).stdout).unwrap();
    assert!(told.contains("MiB") && told.lines().count() == 2, "{told}");
}

#[test]
fn what_the_operator_set_and_hid_survives_a_restart() {
    let place = Place::new();
    let mut daemon = place.daemon(IDLE);
    let pr = "https://github.com/a/b/pull/7";
    assert!(place.ctl(&["tags", "set", "pr", pr]).status.success());
    assert!(place.ctl(&["tags", "unset", "link", "https://example.com/old"]).status.success());
    let overrides = place.ctl_json(&["tags", "overrides"]);
    assert_eq!(overrides["overrides"][0]["value"], pr);
    assert_eq!(overrides["overrides"][1]["action"], "unset");
    place.ctl(&["shutdown"]);
    daemon.wait();

    // By the file that the host writes,
    let config = place.dir().join("agent.toml");
    let text = format!(
        "version = 1\ninstance = \"x\"\ntag_overrides = [{{ kind = \"pr\", value = \"{pr}\", action = \"set\", at = 5 }}]\n"
    );
    fs::write(&config, text).unwrap();
    let _daemon = place.daemon_with(&["--config", config.to_str().unwrap(), "--", "sh", "-c", IDLE], &[]);
    assert_eq!(
        place.ctl_json(&["tags"])["tags"],
        json!([{ "kind": "pr", "value": pr, "provider": "operator" }])
    );
    // or by a call, which takes all or nothing.
    let bad = json!({ "overrides": [{ "kind": "pr", "value": "no address", "action": "set" }] });
    assert!(!place.ctl(&["tags", "restore", &bad.to_string()]).status.success());
    assert_eq!(place.ctl_json(&["tags", "overrides"])["overrides"].as_array().unwrap().len(), 1);
    assert!(place.ctl(&["tags", "restore", &overrides.to_string()]).status.success());
    assert_eq!(place.ctl_json(&["tags", "overrides"]), overrides);
}

#[test]
fn the_operators_user_must_not_be_the_agents() {
    let place = Place::new();
    let own = rustix::process::geteuid().as_raw();
    let refused = |args: &[&str]| {
        let output = Command::new(support::JACKIN)
            .args(["capsule", "daemon", "--socket", place.socket().to_str().unwrap()])
            .args(args)
            .args(["--", "sh", "-c", "exit 0"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let message = refused(&["--operator-uid", &own.to_string()]);
    assert!(message.contains("is the operator and also whom sessions run as"), "{message}");
    if own == 0 {
        let config = place.dir().join("agent.toml");
        fs::write(&config, "version = 1\ninstance = \"x\"\noperator_uid = 1234\n[user]\nuid = 1234\n")
            .unwrap();
        let message = refused(&["--config", config.to_str().unwrap()]);
        assert!(message.contains("user 1234 is the operator and also"), "{message}");
    }
}

/// A user of the host comes in by the socket, and nobody else does.
#[test]
fn the_operators_user_is_let_in_beside_root() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can let somebody else in");
        return;
    }
    let place = Place::new();
    let run = place.dir().join("run");
    fs::create_dir(&run).unwrap();
    std::os::unix::fs::chown(&run, Some(4242), Some(4242)).unwrap();
    let mode = |path: &std::path::Path, mode| {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    mode(&run, 0o770);
    mode(place.dir(), 0o711);
    let socket = run.join("j.sock");
    let mut daemon = Command::new(support::JACKIN)
        .args(["capsule", "daemon", "--socket", socket.to_str().unwrap(), "--operator-uid", "4242"])
        .args(["--", "sh", "-c", IDLE])
        .spawn()
        .unwrap();
    let status = |uid: u32| {
        use std::os::unix::process::CommandExt;
        // A copy that another user may run: the build's directory may be closed to them.
        let copy = place.dir().join("jackin");
        if !copy.exists() {
            fs::copy(support::JACKIN, &copy).unwrap();
            mode(&copy, 0o755);
        }
        let output = Command::new(copy)
            .args(["capsule", "ctl", "--socket", socket.to_str().unwrap(), "status"])
            .uid(uid)
            .gid(uid)
            .output()
            .unwrap();
        output.status.success()
    };
    eventually("root gets in", || status(0));
    assert!(status(4242), "the operator gets in");
    assert!(!status(4243), "nobody else does");
    // Even where the file was opened up by mistake.
    mode(&socket, 0o666);
    mode(&run, 0o777);
    assert!(!status(4243), "nobody else does");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}
