//! One program in one PTY. Two small tasks move its bytes and wait for its end; the daemon holds the rest.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jackin_core::{PaneId, SessionId, Size};
use rustix::process::{Pid, Signal};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::daemon::Origin;
use super::device::{Device, open_pty};
use super::exec_as;
use super::own::own_program;
use super::reader::{Printed, Reader, Typing};
use super::status::Observed;
use super::unstarted::Unstarted;
use super::user::SessionUser;

/// How much input may wait for a program that does not read; what comes on top is refused.
const MAX_PENDING_INPUT: usize = 8 << 20;

/// After a program's end its PTY is read until it has been silent for this long, while others hold it open,
const DRAIN_SILENCE: Duration = Duration::from_millis(50);

/// and for no longer than this, in case that they never fall silent.
const DRAIN_LIMIT: Duration = Duration::from_millis(500);

/// What to start.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) command: &'a [String],
    pub(super) env: BTreeMap<String, String>,
    /// Variables of ours that are kept from it.
    pub(super) without: &'a [String],
    pub(super) cwd: Option<&'a Path>,
    /// Whom it runs as, where that is not whom we run as.
    pub(super) user: Option<&'a SessionUser>,
    pub(super) size: Size,
    pub(super) typing: Typing,
}

/// What a session's tasks tell the daemon.
#[derive(Debug)]
pub(super) enum SessionEvent {
    Printed(Printed),
    Exited(ExitStatus),
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) pane: PaneId,
    pub(super) title: String,
    pub(super) token: String,
    pub(super) observed: Observed,
    /// What it was started with.
    pub(super) origin: Origin,
    /// Whether tags are taken from what it prints.
    pub(super) plain_tags: bool,
    /// Where it was started.
    pub(super) cwd: Option<std::path::PathBuf>,
    pub(super) stopped_on_purpose: bool,
    /// When it is killed, having been told to end.
    pub(super) kill_at: Option<Instant>,
    /// What the multiplexer has not caught up with yet; its reader waits.
    pub(super) parked: Option<Printed>,
    process_group: Option<Pid>,
    pty: Device,
    to_pty: mpsc::UnboundedSender<Vec<u8>>,
    size: watch::Sender<Size>,
    pending_input: Arc<AtomicUsize>,
}

/// A program cannot take more input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InputRefused;

impl Session {
    /// Starts a program, which says what it does to `to_daemon` from then on.
    pub(super) fn start(
        id: SessionId,
        pane: PaneId,
        token: String,
        program: &Program<'_>,
        observed: Observed,
        to_daemon: mpsc::Sender<(SessionId, SessionEvent)>,
    ) -> Result<Self> {
        let (pty, pts) = open_pty(program.size)?;
        let (name, args) = program.command.split_first().context("there is no command to start")?;
        let mut command = match program.user {
            None => pty_process::Command::new(name).args(args),
            Some(user) => {
                let (own, before) = own_program()?;
                let become_user = exec_as::arguments(user, program.cwd);
                pty_process::Command::new(own).args(before).args(become_user).args(program.command)
            }
        }
        .envs(&program.env);
        for kept in program.without.iter().filter(|name| !program.env.contains_key(*name)) {
            command = command.env_remove(kept);
        }
        // A program in our pane is not in the multiplexer or terminal that we were started from.
        for foreign in ["TMUX", "TMUX_PANE", "STY", "ZELLIJ", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"] {
            command = command.env_remove(foreign);
        }
        // Another user's directory may be closed to us.
        if let Some(cwd) = program.cwd.filter(|_| program.user.is_none()) {
            // The error of the program itself would be the same.
            ensure!(cwd.is_dir(), "cannot start {name} in {}: there is no such directory", cwd.display());
            command = command.current_dir(cwd);
        }
        let child = command.spawn(pts).map_err(|error| match error {
            pty_process::Error::Io(error) => Unstarted::new(name, &error).into(),
            error => anyhow::Error::new(error).context(format!("cannot start {name}")),
        })?;
        let process_group = child.id().and_then(|pid| Pid::from_raw(pid as i32));
        let (to_pty, for_pty) = mpsc::unbounded_channel();
        let pending_input = Arc::new(AtomicUsize::new(0));
        let (size, sizes) = watch::channel(program.size);
        tokio::spawn(write_input(pty.clone(), for_pty, sizes, Arc::clone(&pending_input)));
        tokio::spawn(read_output(
            Reader::new(id, pty.clone(), program.typing.clone()),
            child,
            Reports { id, to_daemon },
        ));
        Ok(Self {
            id,
            pane,
            title: title_of(name),
            token,
            observed,
            origin: Origin::default(),
            plain_tags: false,
            cwd: program.cwd.map(Path::to_owned),
            stopped_on_purpose: false,
            kill_at: None,
            parked: None,
            process_group,
            pty,
            to_pty,
            size,
            pending_input,
        })
    }

    /// The number of its first process.
    pub(super) fn leader(&self) -> Option<u32> {
        self.process_group.map(|group| group.as_raw_nonzero().get() as u32)
    }

    /// Asks the program to end; one that does not is killed at `kill_at`.
    pub(super) fn stop(&mut self, kill_at: Instant) {
        self.stopped_on_purpose = true;
        self.signal(Signal::HUP);
        self.kill_at.get_or_insert(kill_at);
    }

    /// Types bytes into the program. It need not read them at once, but there is a limit to what waits for it.
    pub(super) fn write(&self, mut bytes: Vec<u8>) -> Result<(), InputRefused> {
        // A program that reads, as most do, gets a key without a detour.
        if self.pending_input.load(Ordering::Relaxed) == 0 {
            let written = self.pty.try_write(&bytes);
            if written == bytes.len() {
                return Ok(());
            }
            bytes.drain(..written);
        }
        let waiting = self.pending_input.fetch_add(bytes.len(), Ordering::Relaxed);
        if waiting + bytes.len() > MAX_PENDING_INPUT {
            self.pending_input.fetch_sub(bytes.len(), Ordering::Relaxed);
            return Err(InputRefused);
        }
        self.to_pty.send(bytes).map_err(|_| InputRefused)
    }

    pub(super) fn resize(&self, size: Size) {
        // Only the latest counts, and a program that ended needs none any more.
        let _ = self.size.send(size);
    }

    /// Asks the program and what it started in its group to end, or ends them.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(group) = self.process_group {
            // It may have ended on its own.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

/// The exit code that a shell would tell: 128 plus the signal where a signal ended it.
pub(super) fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

pub(super) fn title_of(program: &str) -> String {
    let name = Path::new(program).file_name().map_or(program.into(), |name| name.to_string_lossy());
    name.chars().filter(|c| !c.is_control()).collect()
}

/// Writes what the operator types. A program that does not read delays its own input, but not its size.
async fn write_input(
    pty: Device,
    mut input: mpsc::UnboundedReceiver<Vec<u8>>,
    mut sizes: watch::Receiver<Size>,
    pending: Arc<AtomicUsize>,
) {
    let mut bytes = Vec::new();
    let mut written = 0;
    let mut shown = *sizes.borrow_and_update();
    loop {
        tokio::select! {
            changed = sizes.changed() => {
                if changed.is_err() {
                    return;
                }
                let size = *sizes.borrow_and_update();
                // Sizes that came and went in between are skipped. The same size again is a request to draw again,
                // and a program hears of changes only.
                if size == shown {
                    let _ = pty.resize(Size { rows: size.rows.saturating_add(1), ..size });
                }
                // Only a closed terminal has no size, and then nobody asks for it.
                let _ = pty.resize(size);
                shown = size;
            }
            wrote = pty.write(&bytes[written..]), if written < bytes.len() => match wrote {
                Ok(len) if len > 0 => {
                    written += len;
                    pending.fetch_sub(len, Ordering::Relaxed);
                }
                _ => return,
            },
            next = input.recv(), if written == bytes.len() => match next {
                Some(next) => (bytes, written) = (next, 0),
                None => return,
            },
        }
    }
}

/// One session's way to the daemon.
struct Reports {
    id: SessionId,
    to_daemon: mpsc::Sender<(SessionId, SessionEvent)>,
}

impl Reports {
    /// False when the daemon is gone.
    async fn printed(&self, printed: Printed) -> bool {
        self.to_daemon.send((self.id, SessionEvent::Printed(printed))).await.is_ok()
    }
}

/// Reads until the program has ended and everything that it printed was read. The end comes last.
async fn read_output(mut reader: Reader, mut child: tokio::process::Child, reports: Reports) {
    let status = loop {
        tokio::select! {
            printed = reader.next() => match printed {
                Some(printed) => {
                    if !reports.printed(printed).await {
                        return;
                    }
                }
                // The terminal is closed on the program's side: nothing more can come.
                None => break child.wait().await,
            },
            status = child.wait() => {
                drain(&mut reader, &reports).await;
                break status;
            }
        }
    };
    let status = status.unwrap_or_else(|_: io::Error| ExitStatus::from_raw(1 << 8));
    // The daemon may be gone before.
    let _ = reports.to_daemon.send((reports.id, SessionEvent::Exited(status))).await;
}

/// What the program printed before it ended, and what its children print just then.
async fn drain(reader: &mut Reader, reports: &Reports) {
    let until = Instant::now() + DRAIN_LIMIT;
    loop {
        // The time that the daemon takes is not the program's: what the kernel has is read at least once after it.
        reader.ready().await;
        let Ok(Some(printed)) = tokio::time::timeout(DRAIN_SILENCE, reader.next()).await else { return };
        if !reports.printed(printed).await || Instant::now() >= until {
            return;
        }
    }
}
