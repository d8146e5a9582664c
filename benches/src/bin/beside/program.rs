//! The programs that are compared, and how each is started, left, split and asked for its processes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::pane::{Pane, READY};
use super::processes;
use super::terminal::{Terminal, environment, is_personal};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Jackin,
    Tmux,
    Zellij,
    /// The program itself in the terminal: what is left to gain.
    Bare,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Jackin, Self::Tmux, Self::Zellij, Self::Bare];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jackin => "jackin",
            Self::Tmux => "tmux",
            Self::Zellij => "zellij",
            Self::Bare => "no multiplexer",
        })
    }
}

/// A program that is there.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) kind: Kind,
    pub(crate) version: String,
    file: String,
}

impl Program {
    /// The program if it is there: by its name, or jackin's by its file.
    pub(crate) fn find(kind: Kind, capsule: &Path) -> Result<Option<Self>> {
        let (file, flag) = match kind {
            Kind::Jackin => (capsule.display().to_string(), "--version"),
            Kind::Tmux => ("tmux".to_owned(), "-V"),
            Kind::Zellij => ("zellij".to_owned(), "--version"),
            Kind::Bare => return Ok(Some(Self { kind, version: String::new(), file: String::new() })),
        };
        let said = match Command::new(&file).arg(flag).stdin(Stdio::null()).output() {
            Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            Err(error) if kind == Kind::Jackin => bail!("{file}: {error}"),
            Err(_) => return Ok(None),
        };
        // "jackin-capsule 0.1.0" and "tmux 3.3a": the number is what differs.
        let number = said.rsplit(' ').next().unwrap_or_default();
        Ok(Some(Self { kind, version: format!("{kind} {number}"), file }))
    }

    pub(crate) fn is_multiplexer(&self) -> bool {
        self.kind != Kind::Bare
    }
}

/// Where everything of a run is: an empty home, sockets, payloads. It goes with the run.
#[derive(Debug)]
pub(crate) struct Room {
    directory: tempfile::TempDir,
    pane: PathBuf,
    settled: Duration,
    sessions: std::cell::Cell<u32>,
}

impl Room {
    /// `settled`: a screen is taken for drawn when nothing came for so long.
    pub(crate) fn new(settled: Duration) -> Result<Self> {
        let room = Self {
            directory: tempfile::Builder::new().prefix("beside").tempdir()?,
            pane: std::env::current_exe()?,
            settled,
            sessions: std::cell::Cell::new(0),
        };
        // What the others are told, jackin does by itself: 10,000 lines of history; and no wait after an Escape, as no
        // program here waits for one.
        std::fs::write(
            room.path("tmux.conf"),
            "set -g history-limit 10000\nset -s escape-time 0\nset -g status-interval 0\n",
        )?;
        Ok(room)
    }

    pub(crate) fn home(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, pane: &Pane) -> Vec<String> {
        let mut command = vec![self.pane.display().to_string()];
        command.extend(pane.words());
        command
    }

    /// A file that is the pane's program: zellij starts a shell without arguments.
    fn script(&self, id: &str, pane: &Pane) -> Result<String> {
        use std::os::unix::fs::PermissionsExt;
        let file = self.path(&format!("{id}.sh"));
        std::fs::write(&file, format!("#!/bin/sh\nexec {}\n", quoted(&self.command(pane))))?;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))?;
        Ok(file.display().to_string())
    }
}

/// The colon makes it a session's name alone: the beginning of a window's name would do as well.
const TMUX_SESSION: &str = "measured:";

fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
    words.join(" ")
}

/// A multiplexer with one pane, and the terminal that is attached to it. It is stopped when it is dropped.
pub(crate) struct Session<'a> {
    pub(crate) program: &'a Program,
    room: &'a Room,
    id: String,
    pane: Pane,
    terminal: Option<Terminal>,
}

impl<'a> Session<'a> {
    /// Starts it in a terminal, and does not wait for anything.
    pub(crate) fn start(program: &'a Program, room: &'a Room, pane: &Pane) -> Result<Self> {
        room.sessions.set(room.sessions.get() + 1);
        let id = format!("b{}-{}", std::process::id(), room.sessions.get());
        let mut session = Self { program, room, id, pane: pane.clone(), terminal: None };
        let mut command = match program.kind {
            Kind::Bare => Vec::new(),
            Kind::Jackin => session.words(&["run", "--socket", &session.socket(), "--"]),
            Kind::Tmux => session.words(&["new-session", "-s", TMUX_SESSION.trim_end_matches(':')]),
            Kind::Zellij => {
                let script = room.script(&session.id, pane)?;
                std::fs::write(session.zellij_settings(), zellij_settings(&script))?;
                session.words(&["--session", &session.id])
            }
        };
        if program.kind != Kind::Zellij {
            command.extend(room.command(pane));
        }
        session.terminal = Some(Terminal::start(&command, room.home())?);
        Ok(session)
    }

    /// Starts it, and waits until the pane is there and everything is drawn.
    pub(crate) fn ready(program: &'a Program, room: &'a Room, pane: &Pane) -> Result<Self> {
        let mut session = Self::start(program, room, pane)?;
        session.terminal()?.wait_for(&[READY])?;
        session.terminal()?.read_until_quiet(room.settled)?;
        Ok(session)
    }

    pub(crate) fn terminal(&mut self) -> Result<&mut Terminal> {
        self.terminal.as_mut().context("a terminal is attached")
    }

    /// Attaches another terminal.
    pub(crate) fn attach(&mut self) -> Result<&mut Terminal> {
        let command = match self.program.kind {
            Kind::Jackin => self.words(&["attach", "--socket", &self.socket()]),
            Kind::Tmux => self.words(&["attach", "-t", TMUX_SESSION]),
            Kind::Zellij => self.words(&["attach", &self.id]),
            Kind::Bare => bail!("nothing to attach to"),
        };
        Ok(self.terminal.insert(Terminal::start(&command, self.room.home())?))
    }

    /// Types the keys that detach, and waits for the client's end.
    pub(crate) fn detach(&mut self) -> Result<()> {
        let keys: &[u8] = if self.program.kind == Kind::Zellij { b"\x0fd" } else { b"\x02d" };
        let settled = self.room.settled;
        let terminal = self.terminal()?;
        terminal.read_until_quiet(settled)?;
        terminal.type_in(keys)?;
        terminal.wait_for_end()?;
        self.terminal = None;
        Ok(())
    }

    /// A pane at the right, without the focus.
    pub(crate) fn split(&self, pane: &Pane) -> Result<()> {
        let command = self.room.command(pane);
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        match self.program.kind {
            Kind::Jackin => {
                let socket = self.socket();
                let words = ["ctl", "--socket", &socket, "split", "--right", "--no-focus", "--"];
                self.control(&[&words[..], &command].concat())
            }
            Kind::Tmux => {
                self.control(&[&["split-window", "-d", "-h", "-t", TMUX_SESSION][..], &command].concat())
            }
            Kind::Zellij => {
                let words = ["--session", &self.id, "run", "-d", "right", "--"];
                self.control(&[&words[..], &command].concat())?;
                self.control(&["--session", &self.id, "action", "move-focus", "left"])
            }
            Kind::Bare => bail!("nothing to split"),
        }
        .map(drop)
    }

    /// Another of what the first pane is, in a tab of its own.
    pub(crate) fn tab(&self) -> Result<()> {
        let command = self.room.command(&self.pane);
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        match self.program.kind {
            Kind::Jackin => {
                let socket = self.socket();
                let words = ["ctl", "--socket", &socket, "create", "--no-focus", "--"];
                self.control(&[&words[..], &command].concat())
            }
            Kind::Tmux => self.control(&[&["new-window", "-d", "-t", TMUX_SESSION][..], &command].concat()),
            // Its shell is the pane's program.
            Kind::Zellij => self.control(&["--session", &self.id, "action", "new-tab"]),
            Kind::Bare => bail!("nothing to add a tab to"),
        }
        .map(drop)
    }

    /// The processes that are the multiplexer: its server, and the client that is attached.
    pub(crate) fn processes(&self) -> Result<Vec<u32>> {
        let mut found = self.servers()?;
        found.extend(self.terminal.as_ref().filter(|_| self.program.is_multiplexer()).map(Terminal::client));
        Ok(found)
    }

    /// The multiplexer's processes in the background.
    pub(crate) fn servers(&self) -> Result<Vec<u32>> {
        let said = match self.program.kind {
            Kind::Bare => return Ok(Vec::new()),
            Kind::Zellij => {
                return Ok(processes::with_words(|words| {
                    words.iter().any(|word| word == "--server")
                        && words.last().is_some_and(|last| last.ends_with(&self.id))
                }));
            }
            Kind::Tmux => self.control(&["display-message", "-p", "#{pid}"])?,
            Kind::Jackin => {
                let status = self.control(&["ctl", "--socket", &self.socket(), "status", "--json"])?;
                serde_json::from_str::<serde_json::Value>(&status)?["pid"].to_string()
            }
        };
        Ok(vec![said.trim().parse().with_context(|| format!("no process number: {said:?}"))?])
    }

    fn control(&self, words: &[&str]) -> Result<String> {
        let words = self.words(words);
        let mut command = Command::new(&words[0]);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_personal(&name.to_string_lossy())) {
            command.env_remove(name);
        }
        let output = command
            .args(&words[1..])
            .envs(environment(self.room.home()))
            .current_dir(self.room.home())
            .stdin(Stdio::null())
            .output()?;
        if !output.status.success() {
            bail!("{} failed: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The program with what it needs before its own words.
    fn words(&self, words: &[&str]) -> Vec<String> {
        let mut command = vec![self.program.file.clone()];
        match self.program.kind {
            Kind::Tmux => {
                let settings = self.room.path("tmux.conf").display().to_string();
                command.extend(["-S".into(), self.socket(), "-f".into(), settings]);
            }
            Kind::Zellij => command.extend(["--config".into(), self.zellij_settings()]),
            Kind::Jackin | Kind::Bare => {}
        }
        command.extend(words.iter().map(|&word| word.to_owned()));
        command
    }

    fn socket(&self) -> String {
        self.room.path(&format!("{}.sock", self.id)).display().to_string()
    }

    fn zellij_settings(&self) -> String {
        self.room.path(&format!("{}.kdl", self.id)).display().to_string()
    }
}

fn zellij_settings(shell: &str) -> String {
    format!(
        "show_startup_tips false\nshow_release_notes false\nsession_serialization false\nscroll_buffer_size 10000\n\
         simplified_ui true\ndefault_layout \"compact\"\ndefault_shell \"{shell}\"\n"
    )
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let _ = match self.program.kind {
            Kind::Bare => Ok(String::new()),
            Kind::Jackin => self.control(&["ctl", "--socket", &self.socket(), "shutdown"]),
            Kind::Tmux => self.control(&["kill-server"]),
            Kind::Zellij => self.control(&["kill-session", &self.id]),
        };
        self.terminal = None;
    }
}
