use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use jackin_core::Size;
use rustix::fs::OFlags;
use rustix::termios::{self, OptionalActions, Termios};

use super::device::Device;
use super::guard::Guard;

/// The alternate screen and a title of our own, empty.
const ENTER: &str = "\x1b[22;2t\x1b[?1049h\x1b[2J\x1b[H";

/// The title as it was, everything that frames switched on off again, and back from the alternate screen.
pub(super) fn leave() -> String {
    // A frame that never ended must not keep the terminal from showing what comes next.
    format!("\x1b[?2026l\x1b[23;2t{}\x1b[?1049l", jackin_mux::RESTORE)
}

/// The operator's terminal in raw mode, on the alternate screen. Dropping it restores what was there, so every way out
/// of the client, a panic included, leaves a usable terminal; a guard does the same for a client that was killed.
#[derive(Debug)]
pub(crate) struct Terminal {
    tty: File,
    before: Termios,
    /// Told last that everything is in order.
    guard: OnceLock<Guard>,
}

impl Terminal {
    /// Takes the terminal over.
    pub(crate) fn enter() -> Result<Self> {
        require_terminal()?;
        let tty = open_terminal().context("cannot open the terminal")?;
        let before = termios::tcgetattr(&tty).context("cannot read the terminal's settings")?;
        let mut raw = before.clone();
        raw.make_raw();
        // What was typed ahead is kept.
        termios::tcsetattr(&tty, OptionalActions::Now, &raw).context("cannot set raw mode")?;
        let terminal = Self { tty, before, guard: OnceLock::new() };
        write_blocking(ENTER);
        Ok(terminal)
    }

    /// Has the terminal restored even if this process is killed. One that was lent comes with the connection to whoever
    /// draws on it.
    pub(super) fn have_guarded(&self, lent_over: Option<OwnedFd>) {
        match Guard::start(&self.before, lent_over) {
            // There is one at most.
            Ok(guard) => drop(self.guard.set(guard)),
            // Without one, everything works but that.
            Err(error) => tracing::debug!("{error:#}"),
        }
    }

    /// Takes the terminal over again after this process was stopped and somebody else used it.
    pub(super) fn resume(&self) {
        let mut raw = self.before.clone();
        raw.make_raw();
        // A terminal that is gone is noticed by the next read.
        let _ = termios::tcsetattr(&self.tty, OptionalActions::Now, &raw);
        write_blocking(ENTER);
    }

    pub(crate) fn size(&self) -> Size {
        match termios::tcgetwinsize(&self.tty) {
            Ok(size) if size.ws_row > 0 && size.ws_col > 0 => Size::new(size.ws_row, size.ws_col),
            _ => Size::default(),
        }
    }

    /// The device itself, for reading keys and drawing.
    pub(crate) fn device(&self) -> Result<Device> {
        self.tty.try_clone().and_then(Device::watch).context("cannot watch the terminal")
    }
}

impl AsFd for Terminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tty.as_fd()
    }
}

/// Says what to do when there is no terminal to attach.
pub(super) fn require_terminal() -> Result<()> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        bail!("attaching needs a terminal; without one, use `daemon`, `ctl read` and `ctl send`");
    }
    Ok(())
}

fn write_blocking(text: &str) {
    let mut stdout = io::stdout();
    // A terminal that takes nothing any more cannot be restored either.
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

impl Drop for Terminal {
    fn drop(&mut self) {
        write_blocking(&leave());
        let _ = termios::tcsetattr(&self.tty, OptionalActions::Flush, &self.before);
    }
}

/// The terminal opened anew: not waiting in reads must not become a setting of the descriptor that we share with the
/// shell.
pub(crate) fn open_terminal() -> io::Result<File> {
    let open = |path: PathBuf| {
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        OpenOptions::new().read(true).write(true).custom_flags(flags.bits() as i32).open(path)
    };
    let by_name = termios::ttyname(io::stdin().as_fd(), Vec::new())
        .map_err(io::Error::from)
        .and_then(|name| open(PathBuf::from(name.to_string_lossy().into_owned())));
    by_name.or_else(|_| open(PathBuf::from("/dev/tty")))
}
