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
    let mut rest = printed.as_str();
    for expected in [
        "session 1 started",
        "working: busy",
        "declared repo: https://github.com/example/shop",
        "declared issue: https://github.com/example/shop/issues/41",
        "declared status: fixing the flaky login test",
        "blocked: question: Run the test suite?",
        "working: busy",
        "declared pr: https://github.com/example/shop/pull/42",
        "done: idle",
        "session 1 ended: ended",
        "all sessions ended",
    ] {
        let at = rest.find(expected).unwrap_or_else(|| panic!("no {expected:?} in order in:\n{printed}"));
        rest = &rest[at + expected.len()..];
    }
    assert_eq!(std::fs::read_dir(runtime_dir.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn on_a_terminal_the_demo_asks_and_goes_on_when_answered() {
    let mut terminal = Terminal::run(&["demo"], 30, 100);
    terminal.wait_for("Run the test suite?");
    terminal.type_in("y");
    terminal.wait_for("All 212 tests pass.");
    terminal.wait_for("Any key ends the demo.");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
    terminal.wait_for("nothing is left running");
}

#[test]
fn leaving_the_demo_ends_it() {
    let mut terminal = Terminal::run(&["demo"], 30, 100);
    terminal.wait_for("demo agent");
    terminal.type_in(b"\x02d");
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
    while !shown.screen().contents().contains("demo agent") {
        let mut buf = [0; 4096];
        let len = pty.read(&mut buf).unwrap();
        shown.process(&buf[..len]);
    }
    drop(pty);
    demo.wait().unwrap();
    eventually("nothing is left behind", || std::fs::read_dir(runtime_dir.path()).unwrap().count() == 0);
}
