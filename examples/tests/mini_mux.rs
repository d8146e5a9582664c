//! Runs the example multiplexer in a real terminal, as a person would.

use std::path::PathBuf;
use std::time::Duration;

use jackin_core::Size;
use jackin_mux::vt::{Settings, Terminal};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Long enough for a busy machine; nobody waits for it unless something is broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// The operator's terminal, and the example in it.
struct Operator {
    terminal: Terminal,
    pty: pty_process::Pty,
    child: tokio::process::Child,
}

impl Operator {
    fn start() -> Self {
        let (pty, pts) = pty_process::open().unwrap();
        pty.resize(pty_process::Size::new(24, 80)).unwrap();
        let command = pty_process::Command::new(example("mini_mux"))
            .env("TERM", "xterm-256color")
            .env("SHELL", "/bin/sh")
            .env("PS1", "ready> ")
            .env_remove("ENV")
            .kill_on_drop(true);
        let child = command.spawn(pts).unwrap();
        Self { terminal: Terminal::new(Size::new(24, 80), Settings::default()), pty, child }
    }

    async fn types(&mut self, keys: &str) {
        self.pty.write_all(keys.as_bytes()).await.unwrap();
    }

    /// Reads until the screen is as wanted; false when the program has ended before.
    async fn reads_until(&mut self, wanted: impl Fn(&str) -> bool) -> bool {
        let mut bytes = [0; 4096];
        while !wanted(&self.terminal.screen_text()) {
            let read = tokio::time::timeout(PATIENCE, self.pty.read(&mut bytes)).await;
            let read = read.unwrap_or_else(|_| panic!("waited in vain:\n{}", self.terminal.screen_text()));
            let Ok(read @ 1..) = read else { return false };
            self.terminal.feed_all(&bytes[..read]);
            while let Some(event) = self.terminal.poll_event() {
                // It asks what the terminal can do, and is answered as by any other.
                if let jackin_mux::vt::Event::Reply(answer) = event {
                    self.pty.write_all(&answer).await.unwrap();
                }
            }
        }
        true
    }

    async fn sees(&mut self, text: &str) {
        let seen = self.reads_until(|screen| screen.contains(text)).await;
        assert!(seen, "it ended without {text:?}:\n{}", self.terminal.screen_text());
    }
}

/// Cargo builds the examples of a package with its tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is missing: cargo build -p jackin-examples --examples", path.display());
    path
}

#[tokio::test]
async fn two_shells_side_by_side_in_a_real_terminal() {
    let mut operator = Operator::start();
    operator.sees("ready>").await;
    operator.types("echo one$((1 + 1))three\r").await;
    operator.sees("one2three").await;

    operator.types("\x02%").await;
    let split = |screen: &str| screen.matches("ready>").count() >= 3 && screen.contains('│');
    assert!(operator.reads_until(split).await);
    operator.types("stty size\r").await;
    // The bar and the line above the panes take two rows; the left pane and the border 41 columns.
    operator.sees("22 39").await;

    operator.pty.resize(pty_process::Size::new(30, 100)).unwrap();
    operator.terminal.resize(Size::new(30, 100));
    operator.types("\x0c\rstty size\r").await;
    operator.sees("28 49").await;

    operator.types("exit\r").await;
    assert!(operator.reads_until(|screen| !screen.contains('│')).await);
    operator.types("exit\r").await;
    assert!(!operator.reads_until(|_| false).await, "without panes it ends");
    assert!(operator.child.wait().await.unwrap().success());
    assert!(!operator.terminal.is_alternate(), "and leaves the terminal as it was");
    assert!(operator.terminal.cursor().visible);
}
