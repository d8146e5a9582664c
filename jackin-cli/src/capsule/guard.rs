//! What gives the operator's terminal back when the attach client was killed and could not.
//!
//! The client starts this program once more, beside itself, when it is attached. That second process holds the terminal
//! and one end of a pipe, and does nothing. A byte over the pipe means that the client has left in order; the pipe's end
//! without one means that it is gone, whatever ended it.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use jackin_core::protocol::attach::{Frame, encode};
use rustix::termios::{
    self, ControlModes, InputModes, LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, Termios,
};

use super::own::{is_ours, own_program};
use super::terminal::leave;

/// How long the capsule may take to let go of the terminal when the client has left or is gone.
pub(super) const LEAVING_LIMIT: Duration = Duration::from_millis(500);

/// What the guard has to know.
#[derive(Debug, Args)]
pub(super) struct GuardArgs {
    /// The terminal's settings before the client changed them
    #[arg(long, value_delimiter = ',', required = true)]
    settings: Vec<u64>,
    /// The capsule draws by itself, and is at the other end of standard error
    #[arg(long)]
    lent: bool,
}

/// The process that waits beside a client. Dropping it says that the client leaves in order.
#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    /// Starts a guard for the terminal on standard output. A terminal that was lent comes with the connection to whoever
    /// has it.
    pub(super) fn start(before: &Termios, lent_over: Option<OwnedFd>) -> Result<Self> {
        let (program, below) = own_program()?;
        // In somebody else's program, which uses the client as a library, there is nothing to start again.
        ensure!(is_ours(), "{} is not this program", program.display());
        let settings: Vec<String> = Settings::of(before).0.iter().map(ToString::to_string).collect();
        let mut command = Command::new(program);
        command.args(below).args(["guard", "--settings", &settings.join(",")]);
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        if let Some(connection) = lent_over {
            command.arg("--lent").stderr(Stdio::from(connection));
        }
        Ok(Self(command.spawn().context("cannot start the guard of the terminal")?))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // One that was killed needs no telling.
        let _ = self.0.stdin.take().map(|mut pipe| pipe.write_all(b"."));
        let _ = self.0.wait();
    }
}

/// Waits for the end of the client, and restores the terminal if that came without notice.
pub(super) fn guard(args: &GuardArgs) -> Result<u8> {
    let before = Settings::try_from(args.settings.as_slice())?;
    // Outside of the terminal's session no signal from there reaches us, and its settings may be changed whoever is in
    // the foreground by then.
    rustix::process::setsid().context("cannot leave the terminal's session")?;
    if matches!(io::stdin().read(&mut [0]), Ok(1)) {
        return Ok(0);
    }
    if args.lent {
        // The capsule must not draw any more when the terminal is given back.
        let _ = io::stderr().as_fd().try_clone_to_owned().map(|capsule| take_from(capsule.into()));
    }
    let mut terminal = io::stdout();
    // A terminal that takes nothing any more cannot be restored either.
    let _ = terminal.write_all(leave().as_bytes()).and_then(|()| terminal.flush());
    let _ = before.restore(terminal.as_fd());
    Ok(0)
}

/// Detaches in the name of the client, and waits until the capsule has ended the connection.
fn take_from(mut capsule: UnixStream) -> io::Result<()> {
    let until = Instant::now() + LEAVING_LIMIT;
    let mut wire = Vec::new();
    encode(&Frame::Detach, &mut wire).map_err(io::Error::other)?;
    capsule.set_nonblocking(false)?;
    capsule.set_write_timeout(Some(LEAVING_LIMIT))?;
    capsule.write_all(&wire)?;
    let mut buf = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        // No time left is an error here, and the end.
        capsule.set_read_timeout(Some(left))?;
        if capsule.read(&mut buf)? == 0 {
            return Ok(());
        }
    }
}

/// Those of a terminal's settings that raw mode changes: modes of input, output, control and the line, and how much a
/// read waits for, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settings([u64; 6]);

impl Settings {
    fn of(termios: &Termios) -> Self {
        Self([
            termios.input_modes.bits().into(),
            termios.output_modes.bits().into(),
            termios.control_modes.bits().into(),
            termios.local_modes.bits().into(),
            termios.special_codes[SpecialCodeIndex::VMIN].into(),
            termios.special_codes[SpecialCodeIndex::VTIME].into(),
        ])
    }

    fn put_into(self, termios: &mut Termios) {
        let [input, output, control, local, least, wait] = self.0;
        termios.input_modes = InputModes::from_bits_retain(input as _);
        termios.output_modes = OutputModes::from_bits_retain(output as _);
        termios.control_modes = ControlModes::from_bits_retain(control as _);
        termios.local_modes = LocalModes::from_bits_retain(local as _);
        termios.special_codes[SpecialCodeIndex::VMIN] = least as _;
        termios.special_codes[SpecialCodeIndex::VTIME] = wait as _;
    }

    /// Sets them, unless somebody else has changed them since: a shell that saw the client die, and reads the next line.
    fn restore(self, terminal: impl AsFd) -> io::Result<()> {
        let mut termios = termios::tcgetattr(&terminal)?;
        let now = Self::of(&termios);
        self.put_into(&mut termios);
        let mut raw = termios.clone();
        raw.make_raw();
        if now == Self::of(&raw) {
            termios::tcsetattr(terminal, OptionalActions::Flush, &termios)?;
        }
        Ok(())
    }
}

impl TryFrom<&[u64]> for Settings {
    type Error = anyhow::Error;

    fn try_from(numbers: &[u64]) -> Result<Self> {
        Ok(Self(numbers.try_into().context("a terminal's settings are six numbers")?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_restored_unless_somebody_else_changed_them() {
        let (pty, _pts) = pty_process::blocking::open().unwrap();
        let mut before = termios::tcgetattr(&pty).unwrap();
        before.local_modes -= LocalModes::ECHOE;
        before.special_codes[SpecialCodeIndex::VMIN] = 7;
        let mut raw = before.clone();
        raw.make_raw();
        termios::tcsetattr(&pty, OptionalActions::Now, &raw).unwrap();
        let before = Settings::of(&before);
        before.restore(&pty).unwrap();
        assert_eq!(Settings::of(&termios::tcgetattr(&pty).unwrap()), before);

        let mut shell = raw;
        shell.local_modes |= LocalModes::ISIG;
        termios::tcsetattr(&pty, OptionalActions::Now, &shell).unwrap();
        before.restore(&pty).unwrap();
        assert_eq!(Settings::of(&termios::tcgetattr(&pty).unwrap()), Settings::of(&shell));
    }

    #[test]
    fn settings_survive_the_command_line() {
        let (pty, _pts) = pty_process::blocking::open().unwrap();
        let settings = Settings::of(&termios::tcgetattr(&pty).unwrap());
        assert_eq!(Settings::try_from(&settings.0[..]).unwrap(), settings);
        assert!(Settings::try_from(&[1, 2][..]).is_err());
    }
}
