//! A terminal multiplexer in one file: real PTYs, and everything else by `jackin-mux`.
//!
//! ```console
//! $ cargo run -p jackin-examples --example mini_mux
//! ```
//!
//! It starts a shell. `ctrl+b` and then `%`, `"` or `c` starts more of them, `ctrl+b ?` lists all keys, `ctrl+b d` leaves.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::time::Instant;

use jackin_core::{PaneId, Size, Timestamp};
use jackin_mux::{Client, Input, Mux, Output, Place, RESTORE, Settings};
use pty_process::OwnedWritePty;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// What the loop waits for.
enum Event {
    Typed(Vec<u8>),
    Resized,
    Printed(PaneId, Vec<u8>),
    Ended(PaneId),
}

/// A program in a pane.
struct Program {
    input: OwnedWritePty,
    child: Child,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let terminal = RawTerminal::enter()?;
    let done = run().await;
    drop(terminal);
    done
}

async fn run() -> io::Result<()> {
    let started = Instant::now();
    // The multiplexer reads no clock: it is told the time, in any scale that does not run backwards.
    let now = || Timestamp::from_millis(started.elapsed().as_millis() as u64);
    // A few events at a time: a program that prints more than can be shown has to wait.
    let (sender, mut events) = mpsc::channel(16);
    read_keys(sender.clone());
    watch_size(sender.clone())?;

    let mut mux = Mux::new(Settings::default());
    let mut programs = HashMap::new();
    let (term, colorterm) = (std::env::var("TERM").ok(), std::env::var("COLORTERM").ok());
    let client = Client { size: terminal_size(), term: term.as_deref(), colorterm: colorterm.as_deref() };
    mux.handle_input(Input::Attached(client), now());
    if let Some(pane) = mux.open(Place::Tab, "shell", true, now()) {
        programs.insert(pane, start(pane, mux.size(pane).unwrap_or_default(), &sender)?);
    }

    let mut frame = Vec::new();
    loop {
        // 1. Do what it asks for.
        while let Some(output) = mux.poll_output() {
            match output {
                Output::WritePty { pane, bytes } => {
                    if let Some(program) = programs.get_mut(&pane) {
                        // A program that is about to end takes nothing any more.
                        let _ = program.input.write_all(&bytes).await;
                    }
                }
                Output::ResizePty { pane, size } => {
                    if let Some(program) = programs.get(&pane) {
                        program.input.resize(pty_size(size)).map_err(io::Error::other)?;
                    }
                }
                Output::Spawn { pane, size, .. } => match start(pane, size, &sender) {
                    Ok(program) => drop(programs.insert(pane, program)),
                    Err(_) => mux.handle_input(Input::PaneClosed { pane }, now()),
                },
                Output::Kill { pane } => {
                    if let Some(program) = programs.get_mut(&pane) {
                        program.child.start_kill()?;
                    }
                }
                Output::Detach => return Ok(()),
                // Titles, bells, prompts: for programs that do more than this one.
                _ => {}
            }
        }
        if programs.is_empty() {
            return Ok(());
        }
        // 2. Draw, when it is time to.
        let due = mux.frame_due();
        if due.is_some_and(|due| due <= now()) {
            frame.clear();
            mux.render(now(), &mut frame);
            write_out(&frame)?;
            continue;
        }
        // 3. Wait for something to happen, and hand it in.
        let wake = [due, mux.poll_timeout()].into_iter().flatten().min();
        let sleep = wake.unwrap_or_default().since(now());
        let event = tokio::select! {
            event = events.recv() => event,
            () = tokio::time::sleep(sleep), if wake.is_some() => None,
        };
        match event {
            Some(Event::Typed(bytes)) => mux.handle_input(Input::Client(&bytes), now()),
            Some(Event::Resized) => mux.handle_input(Input::Resized(terminal_size()), now()),
            Some(Event::Printed(pane, bytes)) => mux.handle_input(Input::Pty { pane, bytes: &bytes }, now()),
            Some(Event::Ended(pane)) => {
                programs.remove(&pane);
                mux.handle_input(Input::PaneClosed { pane }, now());
            }
            None => mux.handle_input(Input::Tick, now()),
        }
    }
}

/// Starts a shell in a PTY of its own; what it prints comes as events.
fn start(pane: PaneId, size: Size, events: &mpsc::Sender<Event>) -> io::Result<Program> {
    let (pty, pts) = pty_process::open().map_err(io::Error::other)?;
    pty.resize(pty_size(size)).map_err(io::Error::other)?;
    let shell = std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned());
    let command = pty_process::Command::new(shell).env("TERM", "xterm-256color").kill_on_drop(true);
    let child = command.spawn(pts).map_err(io::Error::other)?;
    let (mut output, input) = pty.into_split();
    let events = events.clone();
    tokio::spawn(async move {
        let mut bytes = vec![0; 64 * 1024];
        // A PTY whose last program has ended is an error to read from.
        while let Ok(read @ 1..) = output.read(&mut bytes).await {
            if events.send(Event::Printed(pane, bytes[..read].to_vec())).await.is_err() {
                return;
            }
        }
        let _ = events.send(Event::Ended(pane)).await;
    });
    Ok(Program { input, child })
}

fn pty_size(size: Size) -> pty_process::Size {
    pty_process::Size::new(size.rows, size.cols)
}

fn read_keys(events: mpsc::Sender<Event>) {
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = io::stdin().read(&mut bytes) {
            if events.blocking_send(Event::Typed(bytes[..read].to_vec())).is_err() {
                return;
            }
        }
    });
}

fn watch_size(events: mpsc::Sender<Event>) -> io::Result<()> {
    let mut changes = signal(SignalKind::window_change())?;
    tokio::spawn(async move {
        while changes.recv().await.is_some() && events.send(Event::Resized).await.is_ok() {}
    });
    Ok(())
}

fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(bytes)?;
    stdout.flush()
}

fn terminal_size() -> Size {
    tcgetwinsize(io::stdin()).map_or_else(|_| Size::default(), |size| Size::new(size.ws_row, size.ws_col))
}

/// The operator's terminal; dropping it leaves it as it was.
struct RawTerminal(Termios);

impl RawTerminal {
    fn enter() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Flush, &raw)?;
        write_out(b"\x1b[?1049h")?;
        Ok(Self(before))
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        let _ = write_out(format!("{RESTORE}\x1b[?1049l").as_bytes());
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.0);
    }
}
