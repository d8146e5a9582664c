//! Full-screen programs that people use: what each one prints is recorded once and replayed in a pane of tmux and in one of
//! ours, and both must show the same, cell for cell, with colours and attributes.
//!
//! A program that is not installed is skipped, and says so; `apt-get install vim htop less mc tmux` has all of them.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Place, Terminal, eventually};

const ROWS: u16 = 30;
const COLS: u16 = 100;

/// A program, and what is typed into it: each step waits for a text, is compared, and then typed.
struct Script {
    program: &'static str,
    args: Vec<String>,
    steps: Vec<(&'static str, &'static str)>,
}

fn is_installed(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    found.is_ok_and(|output| output.status.success())
}

/// A file to look at: long, with wide characters, tabs and lines that wrap.
fn sample(dir: &Path) -> PathBuf {
    let file = dir.join("sample.rs");
    let line = |at: usize| match at % 7 {
        0 => format!("fn number_{at}(x: &str) -> Option<u32> {{ /* 日本語 and wörter */ x.parse().ok() }}\n"),
        3 => format!("\tif\t{at}\t> 7 {{ return Some(\"tabs\\there\"); }}\n"),
        5 => format!("// {}\n", "a long line that goes on and on ".repeat(6)),
        _ => format!("let line_{at} = {at};\n"),
    };
    std::fs::write(&file, (0..300).map(line).collect::<String>()).unwrap();
    file
}

/// What the program had printed at each step.
fn record(script: &Script) -> Vec<Vec<u8>> {
    let args: Vec<&str> = script.args.iter().map(String::as_str).collect();
    let terminal = Terminal::start(script.program, &args, ROWS, COLS);
    let mut recorded = Vec::new();
    for (text, keys) in &script.steps {
        terminal.wait_for(text);
        settle(&terminal);
        recorded.push(terminal.bytes());
        terminal.type_in(keys);
    }
    recorded
}

/// Waits until a program has printed nothing for a while: a recording may end anywhere, but best where it is quiet.
fn settle(terminal: &Terminal) {
    let mut before = usize::MAX;
    while terminal.bytes().len() != before {
        before = terminal.bytes().len();
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
}

/// A tmux server of its own, which does not outlive the test.
struct Tmux(PathBuf);

impl Tmux {
    fn run(&self, args: &[&str]) -> String {
        let output = Command::new("tmux")
            .arg("-S")
            .arg(&self.0)
            .args(["-f", "/dev/null"])
            .args(args)
            .env_remove("TMUX")
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        assert!(output.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.0).arg("kill-server").output();
    }
}

/// Replays a recording in both and compares.
fn compare(what: &str, recording: &[u8]) {
    let place = Place::new();
    let file = place.dir().join("recording");
    std::fs::write(&file, recording).unwrap();
    let replay = format!("stty raw -echo; cat '{}'; exec sleep 1000", file.display());
    let tmux = Tmux(place.dir().join("tmux"));
    let (rows, cols) = (ROWS.to_string(), COLS.to_string());
    tmux.run(&["new-session", "-d", "-x", &cols, "-y", &rows, "cat"]);
    tmux.run(&["set", "-g", "status", "off"]);
    tmux.run(&["resize-window", "-x", &cols, "-y", &rows]);
    tmux.run(&["respawn-pane", "-k", &replay]);
    // Without chrome, and with a terminal of that size, the pane is as large as that.
    let _daemon = place.daemon_with(&["--no-chrome", "--", "sh", "-c", "read -r x"], &[]);
    let terminal = place.attach(ROWS, COLS);
    eventually("it is as large as the terminal", || {
        place.ctl_json(&["status"])["sessions"][0]["size"]
            == serde_json::json!({ "rows": ROWS, "cols": COLS })
    });
    place.ctl(&["create", "--", "sh", "-c", &replay]);
    let other = Terminal::start("tmux", &["-u", "-S", tmux.0.to_str().unwrap(), "attach"], ROWS, COLS);
    let start = std::time::Instant::now();
    loop {
        let (theirs, ours) = (other.cells(), terminal.cells());
        let is_blank = ours.iter().flatten().all(|cell| cell.text == " ");
        if theirs == ours && !is_blank {
            break;
        }
        if start.elapsed().as_secs() > 20 {
            let differing = theirs.iter().zip(&ours).enumerate().flat_map(|(row, (theirs, ours))| {
                let cells = theirs.iter().zip(ours).enumerate().filter(|(_, (theirs, ours))| theirs != ours);
                cells
                    .map(move |(col, (theirs, ours))| format!("{row},{col}: tmux {theirs:?}, ours {ours:?}"))
                    .collect::<Vec<_>>()
            });
            let differing: Vec<String> = differing.collect();
            panic!(
                "{what}: {} cells differ, such as\n{}",
                differing.len(),
                differing[..differing.len().min(5)].join("\n")
            );
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn check(script: &Script) {
    for needed in [script.program, "tmux"] {
        if !is_installed(needed) {
            eprintln!("skipped: {needed} is not installed");
            return;
        }
    }
    let recorded = record(script);
    for (step, recording) in recorded.iter().enumerate() {
        assert!(!recording.is_empty());
        compare(&format!("{} at step {step}", script.program), recording);
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

#[test]
fn vim_looks_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let file = sample(dir.path());
    check(&Script {
        program: "vim",
        args: words(&[
            "-Nu",
            "NONE",
            "-i",
            "NONE",
            "-c",
            "set nu cursorline hlsearch t_Co=256 | syntax on",
            file.to_str().unwrap(),
        ]),
        steps: vec![
            ("line_1", "50j/number\r"),
            ("number_", ":vsplit | split\r"),
            ("sample.rs", "ggVG"),
            ("VISUAL", "\x1b:q!\r"),
        ],
    });
}

#[test]
fn less_looks_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let file = sample(dir.path());
    check(&Script {
        program: "less",
        args: words(&["-R", "-N", file.to_str().unwrap()]),
        steps: vec![
            ("line_1", " "),
            (":", "/number\r"),
            ("number_", "50%"),
            (":", "bbu"),
            (":", "G"),
            ("END", "q"),
        ],
    });
}

#[test]
fn htop_looks_the_same() {
    check(&Script {
        program: "htop",
        args: words(&["-d", "100", "--tree"]),
        steps: vec![("├─", "\x1bOB\x1bOB\x1bOB"), ("├─", "q")],
    });
}

#[test]
fn mc_looks_the_same() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    check(&Script {
        program: "mc",
        args: words(&["-u", "-x", dir.path().to_str().unwrap(), "/usr"]),
        steps: vec![
            ("sample.rs", "\x1bOB\x1bOR"),
            ("fn number_0", "\x1b[6~"),
            ("line_", "\x1b[21~"),
            ("sample.rs", "\x1b[20~"),
            ("File", "\x1b\x1b\x1b[21~"),
        ],
    });
}
