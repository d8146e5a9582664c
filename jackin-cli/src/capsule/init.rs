//! The first process of a container: it starts the daemon, takes in whatever is orphaned, passes signals on and ends
//! with the daemon.
//!
//! It is a process of its own because of the orphans. Their ends have to be collected by whoever is process 1, and a
//! daemon that waits for any child would take the ends of its own sessions away from those who wait for them.

use std::process::Command;

use anyhow::{Context, Result};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use tokio::signal::unix::{SignalKind, signal};

use super::args::block_on;
use super::own::own_program;
use super::places::DEFAULT_CONFIG;

/// Whether this is the first process of a PID namespace.
pub(super) fn is_first_process() -> bool {
    std::process::id() == 1
}

/// Starts this program again, as the daemon, and serves as process 1 until that has ended. Returns its exit code.
pub(super) fn run() -> Result<u8> {
    let (own, _) = own_program()?;
    let mut daemon = Command::new(own);
    if std::env::args_os().len() > 1 {
        daemon.args(std::env::args_os().skip(1));
    } else {
        daemon.arg("daemon");
        if std::path::Path::new(DEFAULT_CONFIG).exists() {
            daemon.args(["--config", DEFAULT_CONFIG]);
        }
    }
    block_on(watch_over(daemon))
}

async fn watch_over(mut daemon: Command) -> Result<u8> {
    // Listening begins before there is anything to hear.
    let listen = |kind| signal(kind).context("cannot listen for signals");
    let mut ended = listen(SignalKind::child())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut hangup = listen(SignalKind::hangup())?;
    let daemon = daemon.spawn().context("cannot start the daemon")?;
    let daemon = Pid::from_raw(daemon.id() as i32).context("a process has a number")?;
    loop {
        let told = tokio::select! {
            _ = ended.recv() => None,
            _ = terminate.recv() => Some(Signal::TERM),
            _ = interrupt.recv() => Some(Signal::INT),
            _ = hangup.recv() => Some(Signal::HUP),
        };
        if let Some(signal) = told {
            // It may have ended just now, which is heard next.
            let _ = rustix::process::kill_process(daemon, signal);
        }
        if let Some(status) = collect(daemon) {
            return Ok(exit_code(status));
        }
    }
}

/// Collects everything that has ended. Returns the end of `awaited`, if that is among it.
fn collect(awaited: Pid) -> Option<WaitStatus> {
    let mut end = None;
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == awaited => end = Some(status),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return end,
        }
    }
}

/// The exit code that a shell would tell.
fn exit_code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(script: &str) -> u8 {
        let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let pid = Pid::from_raw(child.id() as i32);
        let (_, status) = rustix::process::waitpid(pid, WaitOptions::empty()).unwrap().unwrap();
        // It is gone already.
        assert!(child.wait().is_err());
        exit_code(status)
    }

    #[test]
    fn the_end_of_the_daemon_is_told_as_a_shell_would() {
        assert_eq!((end_of("exit 0"), end_of("exit 3"), end_of("kill -9 $$")), (0, 3, 137));
    }
}
