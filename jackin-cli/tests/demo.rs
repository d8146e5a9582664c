//! What a newcomer runs first.

mod support;

use std::io::Read;
use std::process::{Command, Stdio};

use support::{JACKIN, Terminal, eventually};

#[test]
fn without_a_terminal_the_demo_prints_its_events_and_cleans_up() {
    let runtime_dir = tempfile::tempdir().unwrap();
    let output = Command::new(JACKIN)
        .arg("demo")
        .stdin(Stdio::null())
        .env("XDG_RUNTIME_DIR", runtime_dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let in_order = |instance: &str, expected: &[&str]| {
        let lines: Vec<&str> = printed.lines().filter(|line| line.contains(instance)).collect();
        let mut rest = lines.iter();
        for expected in expected {
            let found = rest.any(|line| line.contains(expected));
            assert!(found, "{instance} has no {expected:?} in order in:\n{printed}");
        }
    };
    in_order(
        "fix-login",
        &[
            "working: busy [transcript: turn started]",
            "declared repo: https://github.com/example/shop",
            "declared issue: https://github.com/example/shop/issues/41",
            "declared status: fixing the flaky login test",
            "declared pr: https://github.com/example/shop/pull/42",
            "done: idle [transcript: turn ended]",
            "session 1 ended: ended",
        ],
    );
    in_order(
        "write-docs",
        &[
            "working: busy [screen: rule claude/spinner]",
            "blocked: question: Do you want to run this command? [screen: rule claude/permission]",
            "you answer: 1",
            "working: busy",
            "done: idle",
            "session 1 ended: ended",
        ],
    );
    in_order(
        "build-release",
        &[
            "working: busy",
            "crashed (exit code 101)",
            "you start it again",
            "declared status: release built",
            "done: idle [hook: turn ended]",
            "session 1 ended: ended",
        ],
    );
    assert_eq!(std::fs::read_dir(runtime_dir.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn on_a_terminal_the_demo_asks_and_goes_on_when_answered() {
    let mut terminal = Terminal::run(&["demo"], 30, 140);
    terminal.wait_for("Do you want to run this command?");
    // The first that needs the operator is shown as it ended, although the area is low.
    terminal.wait_for("out of file descriptors");
    for keys in ["/", "write-docs", "\r", "\r"] {
        terminal.type_in(keys);
    }
    // The bar of the multiplexer tells that this is the session itself and no preview.
    terminal.wait_for("jackin'");
    terminal.type_in("1");
    terminal.wait_for("I wrote docs/routes.md");
    terminal.type_in("\x02d");
    terminal.wait_for("filter");
    terminal.type_in("\x03");
    assert_eq!(terminal.exit_code(), 0);
    terminal.wait_for("nothing is left running");
}

#[test]
fn leaving_the_demo_ends_it() {
    let mut terminal = Terminal::run(&["demo"], 30, 100);
    terminal.wait_for("fix-login");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
    terminal.wait_for("nothing is left running");
}

#[test]
fn a_terminal_that_is_closed_ends_the_demo() {
    let runtime_dir = tempfile::tempdir().unwrap();
    let (mut pty, pts) = pty_process::blocking::open().unwrap();
    pty.resize(pty_process::Size::new(30, 100)).unwrap();
    let mut demo = pty_process::blocking::Command::new(JACKIN)
        .arg("demo")
        .env("TERM", "xterm-256color")
        .env("XDG_RUNTIME_DIR", runtime_dir.path())
        .spawn(pts)
        .unwrap();
    let mut shown = vt100::Parser::new(30.try_into().unwrap(), 100.try_into().unwrap(), 0);
    while !shown.screen().contents().contains("fix-login") {
        let mut buf = [0; 4096];
        let len = pty.read(&mut buf).unwrap();
        shown.process(&buf[..len]);
    }
    drop(pty);
    demo.wait().unwrap();
    eventually("nothing is left behind", || std::fs::read_dir(runtime_dir.path()).unwrap().count() == 0);
}
