//! The operator's terminal: a real PTY whose other side reads everything as fast as it can, and answers what terminals
//! are asked.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use pty_process::blocking::{Command, Pty};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

use super::text::Reader;

pub(crate) const ROWS: u16 = 50;
pub(crate) const COLS: u16 = 160;

/// Longer than any of it takes; only a program that hangs comes to feel it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Terminal {
    pty: Pty,
    child: Child,
    reader: Reader,
    buffer: Vec<u8>,
}

/// What came of waiting for something to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Bytes,
    Nothing,
    End,
}

impl Terminal {
    /// Starts a program in it. Nobody's settings count: the home is an empty one.
    pub(crate) fn start(command: &[String], home: &Path) -> Result<Self> {
        let (program, arguments) = command.split_first().context("a command has a first word")?;
        let (pty, pts) = pty_process::blocking::open()?;
        pty.resize(pty_process::Size::new(ROWS, COLS))?;
        let mut process = Command::new(program).args(arguments).current_dir(home);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_personal(&name.to_string_lossy())) {
            process = process.env_remove(name);
        }
        let child =
            process.envs(environment(home)).spawn(pts).with_context(|| format!("cannot start {program}"))?;
        Ok(Self { pty, child, reader: Reader::default(), buffer: vec![0; 64 * 1024] })
    }

    pub(crate) fn client(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn type_in(&self, keys: &[u8]) -> Result<()> {
        Ok((&self.pty).write_all(keys)?)
    }

    /// Reads until all of these texts were seen, in any order; the time when the last of them was.
    pub(crate) fn wait_for(&mut self, texts: &[&str]) -> Result<Instant> {
        self.wait_until(texts, PATIENCE)?.with_context(|| {
            format!("never saw {:?} on the screen, which ends with:\n{}", texts.last(), self.reader.seen())
        })
    }

    /// Types a key and waits for it to show. One that does not within `limit` is said to have taken as long.
    pub(crate) fn press(&mut self, key: char, limit: Duration) -> Result<Duration> {
        let mut bytes = [0; 4];
        let key: &str = key.encode_utf8(&mut bytes);
        let start = Instant::now();
        self.type_in(key.as_bytes())?;
        Ok(self.wait_until(&[key], limit)?.map_or(limit, |end| end - start))
    }

    fn wait_until(&mut self, texts: &[&str], limit: Duration) -> Result<Option<Instant>> {
        let deadline = Instant::now() + limit;
        let mut missing: Vec<&str> = texts.to_vec();
        loop {
            match self.read_some(deadline.saturating_duration_since(Instant::now()))? {
                Came::Bytes => missing.retain(|text| !self.reader.just_saw(text.as_bytes())),
                Came::Nothing => return Ok(None),
                Came::End => bail!("the program ended; the screen's end:\n{}", self.reader.seen()),
            }
            if missing.is_empty() {
                return Ok(Some(Instant::now()));
            }
        }
    }

    /// Goes on reading for so long, as a terminal does while nobody types.
    pub(crate) fn read_for(&mut self, time: Duration) -> Result<()> {
        let deadline = Instant::now() + time;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.read_some(left)? != Came::Bytes {
                return Ok(());
            }
        }
    }

    /// Reads until nothing came for so long.
    pub(crate) fn read_until_quiet(&mut self, quiet: Duration) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while self.read_some(quiet)? == Came::Bytes {
            if Instant::now() > deadline {
                bail!("it draws and draws; the screen's end:\n{}", self.reader.seen());
            }
        }
        Ok(())
    }

    /// Reads until the program has ended.
    pub(crate) fn wait_for_end(&mut self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while self.read_some(Duration::from_secs(1))? != Came::End {
            if Instant::now() > deadline {
                bail!("it does not end; the screen's end:\n{}", self.reader.seen());
            }
        }
        self.child.wait()?;
        Ok(())
    }

    fn read_some(&mut self, limit: Duration) -> Result<Came> {
        let mut fds = [PollFd::from_borrowed_fd(self.pty.as_fd(), PollFlags::IN)];
        let limit = Timespec { tv_sec: limit.as_secs() as _, tv_nsec: limit.subsec_nanos().into() };
        if poll(&mut fds, Some(&limit))? == 0 {
            return Ok(Came::Nothing);
        }
        // Linux reports the end of a terminal's last program as an error.
        let read = (&self.pty).read(&mut self.buffer).unwrap_or(0);
        if read == 0 {
            return Ok(Came::End);
        }
        self.reader.feed(&self.buffer[..read]);
        let answers = self.reader.take_answers();
        if !answers.is_empty() {
            self.type_in(&answers)?;
        }
        Ok(Came::Bytes)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let pid = Pid::from_child(&self.child);
        for signal in [Signal::HUP, Signal::KILL] {
            let deadline = Instant::now() + Duration::from_secs(2);
            if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return;
            }
            let _ = kill_process(pid, signal);
            while Instant::now() < deadline {
                if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
                    return;
                }
                let _ = self.read_some(Duration::from_millis(5));
            }
        }
    }
}

/// What every program is started with, its server's control commands too.
pub(crate) fn environment(home: &Path) -> [(&'static str, std::ffi::OsString); 6] {
    [
        ("HOME", home.into()),
        ("TERM", "xterm-256color".into()),
        ("COLORTERM", "truecolor".into()),
        ("LANG", "C.UTF-8".into()),
        ("LC_ALL", "C.UTF-8".into()),
        ("SHELL", "/bin/sh".into()),
    ]
}

/// A variable by which somebody's own settings, or a multiplexer that this runs in, would be found.
pub(crate) fn is_personal(name: &str) -> bool {
    ["TMUX", "ZELLIJ", "JACKIN_", "XDG_"].iter().any(|prefix| name.starts_with(prefix))
}
