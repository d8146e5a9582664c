use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use jackin_core::run::{AgentError, Ended, ProcessIds, RunContext};
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::{Instant, sleep_until};

use crate::group::Group;

use super::{Happened, Notes, Place, PlaceCommand, PlaceProcess};

/// How much is read at once.
const READ_SIZE: usize = 64 << 10;

/// After a process's end its output is read until it has been silent for this long, while others hold it open,
const DRAIN_SILENCE: Duration = Duration::from_millis(200);

/// and for no longer than this, in case that they never fall silent.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// How long those others have to end by themselves.
const LEFTOVER_GRACE: Duration = Duration::from_millis(500);

/// How often they are looked at.
const GROUP_CHECK: Duration = Duration::from_millis(10);

/// This machine: the process gets a group of its own, so that it can be ended with everything that it started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

#[async_trait]
impl Place for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    async fn start(
        &self,
        command: &PlaceCommand,
        _context: &RunContext,
        _notes: &Notes,
    ) -> Result<Box<dyn PlaceProcess>, AgentError> {
        let program = command.program.to_string_lossy().into_owned();
        if !command.cwd.is_dir() {
            return Err(AgentError::NoWorkdir { dir: command.cwd.display().to_string() });
        }
        let refused = |error: std::io::Error| AgentError::CannotStart {
            program: program.clone(),
            reason: error.to_string(),
        };
        let stdin = match &command.stdin {
            Some(path) => Stdio::from(File::open(path).map_err(refused)?),
            None => Stdio::null(),
        };
        let spawned = Command::new(&command.program)
            .args(&command.args)
            .env_clear()
            .envs(&command.env)
            .current_dir(&command.cwd)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn();
        let mut child = match spawned {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(AgentError::NotInstalled { program });
            }
            spawned => spawned.map_err(refused)?,
        };
        let group = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed()));
        Ok(Box::new(LocalProcess {
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            group: Group(group),
            child,
            phase: Phase::Running,
            out: vec![0; READ_SIZE],
            err: vec![0; READ_SIZE],
        }))
    }
}

struct LocalProcess {
    child: Child,
    group: Group,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    phase: Phase,
    out: Vec<u8>,
    err: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Phase {
    Running,
    /// It ended; what it had printed, and what its children print, is read.
    Draining {
        status: ExitStatus,
        ended: Instant,
        last: Instant,
    },
    /// What it left behind was asked to end.
    Clearing {
        status: ExitStatus,
        until: Instant,
    },
    Over {
        status: ExitStatus,
    },
}

#[async_trait]
impl PlaceProcess for LocalProcess {
    fn ids(&self) -> Option<ProcessIds> {
        let group = self.group.0?.as_raw_nonzero().get();
        Some(ProcessIds { pid: group, pgid: group })
    }

    async fn next(&mut self) -> Happened {
        loop {
            let Some(wake) = self.advance() else {
                return Happened::Ended(self.ended());
            };
            let running = matches!(self.phase, Phase::Running);
            tokio::select! {
                len = read(&mut self.stdout, &mut self.out), if self.stdout.is_some() => {
                    if self.heard(len) {
                        return Happened::Stdout(self.out[..len].to_vec());
                    }
                    self.stdout = None;
                }
                len = read(&mut self.stderr, &mut self.err), if self.stderr.is_some() => {
                    if self.heard(len) {
                        return Happened::Stderr(self.err[..len].to_vec());
                    }
                    self.stderr = None;
                }
                status = self.child.wait(), if running => {
                    let status = status.unwrap_or_else(|_| ExitStatus::from_raw(1 << 8));
                    let now = Instant::now();
                    self.phase = Phase::Draining { status, ended: now, last: now };
                }
                () = sleep_until(wake) => {}
            }
        }
    }

    async fn terminate(&mut self) {
        self.group.signal(Signal::TERM);
        // One that is stopped would not notice.
        self.group.signal(Signal::CONT);
    }

    async fn kill(&mut self) {
        self.group.signal(Signal::KILL);
    }
}

impl LocalProcess {
    /// Goes on to the next phase if it is time. When to look again; none when it is over.
    fn advance(&mut self) -> Option<Instant> {
        let now = Instant::now();
        let silent = self.stdout.is_none() && self.stderr.is_none();
        if let Phase::Draining { status, ended, last } = self.phase {
            let wake = (last + DRAIN_SILENCE).min(ended + DRAIN_LIMIT);
            if !silent && now < wake {
                return Some(wake);
            }
            // A run leaves nothing running: what its children still print would be in no record.
            self.group.signal(Signal::TERM);
            self.group.signal(Signal::CONT);
            self.phase = Phase::Clearing { status, until: now + LEFTOVER_GRACE };
        }
        if let Phase::Clearing { status, until } = self.phase {
            if !self.group.is_empty() && now < until {
                return Some(until.min(now + GROUP_CHECK));
            }
            self.group.signal(Signal::KILL);
            self.group.0 = None;
            self.phase = Phase::Over { status };
        }
        match self.phase {
            Phase::Over { .. } => None,
            _ => Some(now + Duration::from_secs(3_600)),
        }
    }

    /// Notes that something was printed; false when nothing more comes from there.
    fn heard(&mut self, len: usize) -> bool {
        if let Phase::Draining { last, .. } = &mut self.phase {
            *last = Instant::now();
        }
        len > 0
    }

    fn ended(&self) -> Ended {
        let Phase::Over { status } = self.phase else { return Ended::with_code(1) };
        match (status.code(), status.signal()) {
            (Some(code), _) => Ended::with_code(code),
            (None, signal) => Ended::by_signal(signal.unwrap_or(0)),
        }
    }
}

/// Reads what was printed; nothing at the end or when the pipe is broken.
async fn read(from: &mut Option<impl AsyncRead + Unpin>, buf: &mut [u8]) -> usize {
    match from {
        Some(from) => from.read(buf).await.unwrap_or(0),
        None => 0,
    }
}
