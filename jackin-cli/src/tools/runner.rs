//! One command: started in a process group of its own, read as it prints, and ended when its time is over.

use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use jackin_tools::{Placeholder, ResolvedCommand};
use rustix::process::{Pid, Signal};
use thiserror::Error;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::group::Group;

use super::capture::{Capture, Captured, Lines};

/// How far a command may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run before it is asked to end.
    pub timeout: Duration,
    /// How long it has to end by itself when asked to.
    pub grace: Duration,
    /// How much of its output is kept, in bytes.
    pub output: usize,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal, which was not ours.
    Signaled(i32),
    /// Its time was over.
    TimedOut,
    /// It was stopped on request.
    Stopped,
}

/// A command that has ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// What it printed.
    pub output: Captured,
    /// How long it took.
    pub duration: Duration,
}

/// Why a command was not started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// Its working directory is not there.
    #[error("the working directory {} does not exist", .0.display())]
    NoWorkdir(PathBuf),
    /// The program is not there.
    #[error("there is no program `{0}`: install it, or name it with its directory")]
    NoProgram(String),
    /// The system refused.
    #[error("cannot start `{program}`: {error}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        error: io::Error,
    },
    /// The system has no pipe left.
    #[error("cannot make a pipe for the command's output: {0}")]
    Pipe(#[source] io::Error),
}

/// A command that runs. It is watched in the background: its time is kept whether or not its lines are taken. Dropping
/// this ends it.
#[derive(Debug)]
pub struct Running {
    lines: mpsc::Receiver<String>,
    stop: Option<oneshot::Sender<()>>,
    watcher: JoinHandle<Finished>,
}

/// How many lines may wait to be taken; then the command has to wait.
const LINES_AHEAD: usize = 256;

/// How much is read at once.
const READ_SIZE: usize = 64 * 1024;

/// After a command's end its output is read until it has been silent for this long, while others hold it open,
const DRAIN_SILENCE: Duration = Duration::from_millis(50);

/// and for no longer than this, in case that they never fall silent.
const DRAIN_LIMIT: Duration = Duration::from_millis(500);

/// How often a group whose leader has ended is looked at.
const GROUP_CHECK: Duration = Duration::from_millis(10);

/// How long killed processes may take to vanish; one in an uninterruptible wait may take for ever.
const KILL_LIMIT: Duration = Duration::from_secs(2);

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: jackin_tools::Tool::DEFAULT_TIMEOUT, grace: Duration::from_secs(3), output: 1 << 20 }
    }
}

impl Running {
    /// Starts a command, with nothing to read from and no terminal to write to. Must be called within a tokio runtime.
    pub fn start(command: &ResolvedCommand, limits: Limits) -> Result<Self, RunError> {
        let (reader, child) = spawn(command)?;
        let group = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
        let (to_taker, lines) = mpsc::channel(LINES_AHEAD);
        let (stop, stopped) = oneshot::channel();
        let now = Instant::now();
        let watcher = Watcher {
            started: now,
            grace: limits.grace,
            phase: Phase::Running { until: now + limits.timeout },
            ended_because: None,
            child,
            group: Group(group),
            exited: None,
            pipe: Some(reader),
            last_read: now,
            capture: Capture::new(limits.output),
            splitter: Lines::default(),
            waiting: Vec::new(),
            to_taker: Some(to_taker),
        };
        Ok(Self { lines, stop: Some(stop), watcher: tokio::spawn(watcher.watch(stopped)) })
    }

    /// The next line that it printed, without its end; none when nothing more comes.
    pub async fn next_line(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// Asks it to end, and ends it if it does not.
    pub fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It may have ended in the meantime.
            let _ = stop.send(());
        }
    }

    /// Waits for its end. Lines that were not taken are only in the result's output.
    pub async fn finish(mut self) -> Finished {
        self.lines.close();
        match (&mut self.watcher).await {
            Ok(finished) => finished,
            // Only a runtime that shuts down aborts the watcher.
            Err(_) => Finished { end: End::Stopped, output: Captured::default(), duration: Duration::ZERO },
        }
    }
}

impl End {
    /// The exit code that stands for it: the command's own, 128 plus a signal's number, 124 for a time that is over.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Exited(code) => u8::try_from(code).unwrap_or(1),
            Self::Signaled(signal) => 128 + u8::try_from(signal).unwrap_or(0).min(127),
            Self::TimedOut => 124,
            Self::Stopped => 130,
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(0) => f.write_str("done"),
            Self::Exited(code) => write!(f, "failed with exit code {code}"),
            Self::Signaled(signal) => write!(f, "ended by signal {signal}"),
            Self::TimedOut => f.write_str("stopped: its time was over"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

/// Whether there is a program of this name to start.
pub fn on_path(program: &str) -> bool {
    let is_program = |path: &Path| {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return is_program(Path::new(program));
    }
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| is_program(&dir.join(program))))
}

fn spawn(resolved: &ResolvedCommand) -> Result<(pipe::Receiver, Child), RunError> {
    if let Some(cwd) = resolved.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return Err(RunError::NoWorkdir(cwd.clone()));
    }
    // One pipe for both, so that their order is the one in which they were written.
    let (reader, writer) = io::pipe().map_err(RunError::Pipe)?;
    let second_writer = writer.try_clone().map_err(RunError::Pipe)?;
    let reader = pipe::Receiver::from_owned_fd(reader.into()).map_err(RunError::Pipe)?;
    let mut command = Command::new(&resolved.program);
    command.args(&resolved.args).stdin(Stdio::null()).stdout(writer).stderr(second_writer).process_group(0);
    for placeholder in Placeholder::ALL {
        command.env_remove(placeholder.variable());
    }
    command.envs(resolved.env.iter().map(|variable| (variable.name, &*variable.value)));
    if let Some(cwd) = &resolved.cwd {
        command.current_dir(cwd);
    }
    let child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => RunError::NoProgram(resolved.program.clone()),
        _ => RunError::Start { program: resolved.program.clone(), error },
    })?;
    // `command` goes here, and with it our ends of the pipe: what is left of it is the command's.
    Ok((reader, child))
}

#[derive(Clone, Copy)]
enum Phase {
    Running {
        until: Instant,
    },
    /// Asked to end; killed at this time.
    Ending {
        until: Instant,
    },
    /// Killed; given up at this time.
    Killed {
        until: Instant,
    },
}

/// Watches one command. Each round takes one thing that happened, then looks whether it is over.
struct Watcher {
    started: Instant,
    grace: Duration,
    phase: Phase,
    ended_because: Option<End>,
    child: Child,
    group: Group,
    exited: Option<(ExitStatus, Instant)>,
    pipe: Option<pipe::Receiver>,
    last_read: Instant,
    capture: Capture,
    splitter: Lines,
    /// Lines that the taker has no room for, the next one last.
    waiting: Vec<String>,
    to_taker: Option<mpsc::Sender<String>>,
}

impl Watcher {
    async fn watch(mut self, mut stopped: oneshot::Receiver<()>) -> Finished {
        let mut buf = vec![0; READ_SIZE];
        while !self.is_over() {
            let wake = self.wake();
            let running = matches!(self.phase, Phase::Running { .. });
            // While lines wait, the command waits; but not while it is being ended.
            let may_read = self.pipe.is_some() && (self.waiting.is_empty() || !running);
            tokio::select! {
                biased;
                () = sleep_until(wake) => self.time_passed(),
                _ = &mut stopped, if running => self.end(End::Stopped),
                () = deliver(self.to_taker.as_ref(), &mut self.waiting), if !self.waiting.is_empty() => {}
                status = self.child.wait(), if self.exited.is_none() => {
                    let status = status.unwrap_or_else(|_: io::Error| ExitStatus::from_raw(1 << 8));
                    self.exited = Some((status, Instant::now()));
                }
                len = read(&mut self.pipe, &mut buf), if may_read => self.printed(&buf[..len]),
            }
            if self.to_taker.as_ref().is_some_and(mpsc::Sender::is_closed) {
                self.to_taker = None;
                self.waiting.clear();
            }
        }
        self.finish()
    }

    /// When to look again if nothing happens.
    fn wake(&self) -> Instant {
        let now = Instant::now();
        match (self.phase, self.exited) {
            (Phase::Running { until }, None) => until,
            (Phase::Running { .. }, Some((_, exited))) => {
                (self.last_read.max(exited) + DRAIN_SILENCE).min(exited + DRAIN_LIMIT).max(now + GROUP_CHECK)
            }
            (Phase::Ending { until } | Phase::Killed { until }, _) => until.min(now + GROUP_CHECK),
        }
    }

    fn is_over(&self) -> bool {
        let Some((_, exited)) = self.exited else {
            return matches!(self.phase, Phase::Killed { until } if Instant::now() >= until);
        };
        let silent = self.pipe.is_none()
            || self.last_read.max(exited).elapsed() >= DRAIN_SILENCE
            || exited.elapsed() >= DRAIN_LIMIT;
        match self.phase {
            // Something that it left in the background may go on.
            Phase::Running { .. } => silent && self.waiting.is_empty(),
            Phase::Ending { .. } => self.group.is_empty() && silent,
            // A closed pipe says it as well: where nobody reaps orphans, a group of dead processes stays.
            Phase::Killed { until } => {
                self.pipe.is_none() || (self.group.is_empty() && silent) || Instant::now() >= until
            }
        }
    }

    fn time_passed(&mut self) {
        let now = Instant::now();
        match self.phase {
            Phase::Running { until } if now >= until && self.exited.is_none() => self.end(End::TimedOut),
            Phase::Ending { until } if now >= until => {
                self.group.signal(Signal::KILL);
                self.phase = Phase::Killed { until: now + KILL_LIMIT };
            }
            _ => {}
        }
    }

    fn end(&mut self, because: End) {
        self.ended_because = Some(because);
        self.group.signal(Signal::TERM);
        // One that is stopped would not notice.
        self.group.signal(Signal::CONT);
        self.phase = Phase::Ending { until: Instant::now() + self.grace };
    }

    fn printed(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            self.pipe = None;
            return;
        }
        self.last_read = Instant::now();
        self.capture.push(bytes);
        let takes_lines = self.to_taker.is_some() && matches!(self.phase, Phase::Running { .. });
        let mut lines = Vec::new();
        self.splitter.push(bytes, |line| {
            if takes_lines {
                lines.push(line);
            }
        });
        lines.reverse();
        lines.append(&mut self.waiting);
        self.waiting = lines;
    }

    fn finish(mut self) -> Finished {
        let end = self.ended_because.unwrap_or_else(|| match self.exited {
            Some((status, _)) => match (status.code(), status.signal()) {
                (Some(code), _) => End::Exited(code),
                (None, signal) => End::Signaled(signal.unwrap_or(0)),
            },
            None => End::TimedOut,
        });
        if self.ended_because.is_none() {
            // What it left in the background is meant to live, and must not die of a pipe that nobody reads.
            self.group.0 = None;
            if let Some(pipe) = self.pipe.take() {
                tokio::spawn(discard(pipe));
            }
        }
        if let (Some(to_taker), Some(line)) = (&self.to_taker, std::mem::take(&mut self.splitter).finish()) {
            // With no room left, the line is still in the output.
            let _ = to_taker.try_send(line);
        }
        let capture = std::mem::replace(&mut self.capture, Capture::new(0));
        Finished { end, output: capture.finish(), duration: self.started.elapsed() }
    }
}

/// Hands out the next line as soon as there is room for it.
async fn deliver(to_taker: Option<&mpsc::Sender<String>>, waiting: &mut Vec<String>) {
    if let Some(to_taker) = to_taker
        && let Ok(permit) = to_taker.reserve().await
        && let Some(line) = waiting.pop()
    {
        permit.send(line);
    }
}

/// Reads what was printed; nothing at the end or when the pipe is broken.
async fn read(pipe: &mut Option<pipe::Receiver>, buf: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(buf).await.unwrap_or(0),
        None => 0,
    }
}

async fn discard(mut pipe: pipe::Receiver) {
    let mut buf = vec![0; READ_SIZE];
    while matches!(pipe.read(&mut buf).await, Ok(1..)) {}
}

#[cfg(test)]
mod tests;
