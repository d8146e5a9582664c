//! An operator's terminal and a capsule for tests: real PTYs, real processes, real sockets. Waiting is for a
//! condition; the deadline only turns a hang into a failure.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub const JACKIN: &str = env!("CARGO_BIN_EXE_jackin");
const DEADLINE: Duration = Duration::from_secs(60);

/// A program under a PTY, with an emulator on the other side.
pub struct Terminal {
    pty: Arc<pty_process::blocking::Pty>,
    pub child: Child,
    seen: Arc<(Mutex<Seen>, Condvar)>,
}

struct Seen {
    emulator: vt100::Parser,
    bytes: Vec<u8>,
    over: bool,
}

impl Terminal {
    pub fn run(args: &[&str], rows: u16, cols: u16) -> Self {
        Self::start(JACKIN, args, rows, cols)
    }

    /// Any program.
    pub fn start(program: &str, args: &[&str], rows: u16, cols: u16) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(pty_process::Size::new(rows, cols)).unwrap();
        let child = pty_process::blocking::Command::new(program)
            .args(args)
            .env("TERM", "xterm-256color")
            .env_remove("XDG_RUNTIME_DIR")
            // What somebody's own shell does when it starts is none of a test's business.
            .env("SHELL", "/bin/sh")
            // Not in this repository, whose branch would be shown.
            .current_dir(std::env::temp_dir())
            .spawn(pts)
            .unwrap();
        let pty = Arc::new(pty);
        let seen = Arc::new((
            Mutex::new(Seen {
                emulator: vt100::Parser::new(rows.try_into().unwrap(), cols.try_into().unwrap(), 0),
                bytes: Vec::new(),
                over: false,
            }),
            Condvar::new(),
        ));
        let (reader, shared) = (Arc::clone(&pty), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut buf = [0; 16 * 1024];
            loop {
                let len = (&*reader).read(&mut buf).unwrap_or(0);
                let mut seen = shared.0.lock().unwrap();
                seen.emulator.process(&buf[..len]);
                seen.bytes.extend_from_slice(&buf[..len]);
                seen.over = len == 0;
                shared.1.notify_all();
                if len == 0 {
                    return;
                }
            }
        });
        Self { pty, child, seen }
    }

    pub fn type_in(&self, keys: impl AsRef<[u8]>) {
        (&*self.pty).write_all(keys.as_ref()).unwrap();
    }

    pub fn resize(&self, rows: u16, cols: u16) {
        self.seen
            .0
            .lock()
            .unwrap()
            .emulator
            .screen_mut()
            .set_size(rows.try_into().unwrap(), cols.try_into().unwrap());
        self.pty.resize(pty_process::Size::new(rows, cols)).unwrap();
    }

    /// The settings of the terminal.
    pub fn settings(&self) -> rustix::termios::Termios {
        rustix::termios::tcgetattr(&*self.pty).unwrap()
    }

    /// What stands on the screen.
    pub fn text(&self) -> String {
        self.seen.0.lock().unwrap().emulator.screen().contents()
    }

    /// What stands on the screen and how it looks, row by row.
    pub fn cells(&self) -> Vec<Vec<Cell>> {
        cells(self.seen.0.lock().unwrap().emulator.screen())
    }

    /// Every byte since the start.
    pub fn bytes(&self) -> Vec<u8> {
        self.seen.0.lock().unwrap().bytes.clone()
    }

    pub fn wait_for(&self, text: &str) {
        self.wait_until(text, |seen| seen.emulator.screen().contents().contains(text));
    }

    /// Waits until it was sent these bytes.
    pub fn wait_for_bytes(&self, bytes: &[u8]) {
        let what = bytes.escape_ascii().to_string();
        self.wait_until(&what, |seen| seen.bytes.windows(bytes.len()).any(|sent| sent == bytes));
    }

    /// Waits until the screen's text is as wanted.
    pub fn wait_until_text(&self, what: &str, condition: impl Fn(&str) -> bool) {
        self.wait_until(what, |seen| condition(&seen.emulator.screen().contents()));
    }

    fn wait_until(&self, what: &str, condition: impl Fn(&Seen) -> bool) {
        let seen = self.seen.0.lock().unwrap();
        let (seen, timeout) =
            self.seen.1.wait_timeout_while(seen, DEADLINE, |seen| !condition(seen) && !seen.over).unwrap();
        assert!(
            !timeout.timed_out(),
            "never saw {what:?}; the screen:\n{}",
            seen.emulator.screen().contents()
        );
        assert!(
            condition(&seen),
            "it ended before {what:?}; the screen:\n{}",
            seen.emulator.screen().contents()
        );
    }

    /// Waits for the program's end; its exit code.
    pub fn exit_code(&mut self) -> i32 {
        let status = self.child.wait().unwrap();
        let seen = self.seen.0.lock().unwrap();
        drop(self.seen.1.wait_timeout_while(seen, DEADLINE, |seen| !seen.over).unwrap());
        status.code().unwrap_or(-1)
    }
}

/// A cell as it looks: an erased one and a blank are the same, and so are blanks in other colours of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub text: String,
    pub foreground: vt100::Color,
    pub background: vt100::Color,
    /// Bold, dim, italic, underlined, inverse.
    pub flags: [bool; 5],
}

pub fn cells(screen: &vt100::Screen) -> Vec<Vec<Cell>> {
    let (rows, cols) = screen.size();
    let cell = |row, col| {
        let cell = screen.cell(row, col).unwrap();
        let is_blank = matches!(cell.contents(), "" | " ");
        let shows = |attribute| attribute && !is_blank;
        let foreground = if is_blank && !cell.inverse() && !cell.underline() {
            vt100::Color::Default
        } else {
            cell.fgcolor()
        };
        Cell {
            text: if is_blank { " " } else { cell.contents() }.to_owned(),
            foreground,
            background: cell.bgcolor(),
            flags: [
                shows(cell.bold()),
                shows(cell.dim()),
                shows(cell.italic()),
                cell.underline(),
                cell.inverse(),
            ],
        }
    };
    (0..rows.get()).map(|row| (0..cols.get()).map(|col| cell(row, col)).collect()).collect()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A place for one capsule; whatever still runs in it is ended with it.
pub struct Place {
    dir: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("j.sock")
    }

    pub fn agent_socket(&self) -> PathBuf {
        self.dir.path().join("j.agent.sock")
    }

    /// `capsule run` with a shell script, on a terminal.
    pub fn run(&self, script: &str, rows: u16, cols: u16) -> Terminal {
        let socket = self.socket();
        Terminal::run(
            &["capsule", "run", "--socket", socket.to_str().unwrap(), "--", "sh", "-c", script],
            rows,
            cols,
        )
    }

    pub fn attach(&self, rows: u16, cols: u16) -> Terminal {
        Terminal::run(&["capsule", "attach", "--socket", self.socket().to_str().unwrap()], rows, cols)
    }

    /// A capsule with a shell script and no terminal, up when this returns.
    pub fn daemon(&self, script: &str) -> Capsule {
        self.daemon_with(&["--", "sh", "-c", script], &[])
    }

    /// A capsule with these arguments and variables, up when this returns.
    pub fn daemon_with(&self, args: &[&str], env: &[(&str, &str)]) -> Capsule {
        let socket = self.socket();
        let child = Command::new(JACKIN)
            .args(["capsule", "daemon", "--socket", socket.to_str().unwrap()])
            .args(args)
            .env("SHELL", "/bin/sh")
            .envs(env.iter().copied())
            .current_dir(self.dir())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let capsule = Capsule(child);
        eventually("the capsule answers", || self.ctl(&["status"]).status.success());
        capsule
    }

    /// A capsule of which no file may get larger than so many blocks of 512 bytes, as if the disk were full then.
    pub fn daemon_with_small_files(&self, blocks: u32, script: &str) -> Capsule {
        self.daemon_after(&format!("trap '' XFSZ; ulimit -f {blocks}"), script)
    }

    /// A capsule that a shell became after these commands.
    pub fn daemon_after(&self, commands: &str, script: &str) -> Capsule {
        let socket = self.socket();
        let child = Command::new("sh")
            .args(["-c", &format!("{commands}; exec \"$@\""), "sh", JACKIN, "capsule", "daemon", "--socket"])
            .args([socket.to_str().unwrap(), "--", "sh", "-c", script])
            .current_dir(self.dir())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let capsule = Capsule(child);
        eventually("the capsule answers", || self.ctl(&["status"]).status.success());
        capsule
    }

    pub fn ctl(&self, args: &[&str]) -> Output {
        Command::new(JACKIN)
            .args(["capsule", "ctl", "--socket", self.socket().to_str().unwrap()])
            .args(args)
            .output()
            .unwrap()
    }

    /// What a call prints with `--json`.
    pub fn ctl_json(&self, args: &[&str]) -> serde_json::Value {
        let output = self.ctl(&[args, &["--json"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.socket().exists() {
            self.ctl(&["shutdown"]);
        }
    }
}

/// A capsule in the foreground; it does not outlive the test.
pub struct Capsule(Child);

impl Capsule {
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.0.wait().unwrap()
    }
}

impl Drop for Capsule {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Looks until the condition holds.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
