//! Standard input and output as a connection to a capsule: for `docker exec` and `ssh`, where a socket cannot cross.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use anyhow::{Context, Result};

const BUFFER: usize = 64 * 1024;

/// Carries bytes both ways until the capsule closes the connection. The end of standard input is passed on: what the
/// capsule still has to say comes through.
pub(super) fn bridge(socket: &Path) -> Result<()> {
    let capsule = UnixStream::connect(socket).with_context(|| {
        format!("no capsule answers at {}: start one with `jackin capsule run`", socket.display())
    })?;
    let to_capsule = capsule.try_clone().context("cannot use the connection both ways")?;
    // Without the buffers of the standard streams: a key must not wait for a line end.
    let own =
        |fd: io::Result<std::os::fd::OwnedFd>| fd.map(File::from).context("a standard stream is closed");
    let input = own(io::stdin().as_fd().try_clone_to_owned())?;
    let output = own(io::stdout().as_fd().try_clone_to_owned())?;
    // It may wait for input for ever; the process does not wait for it.
    std::thread::spawn(move || {
        let _ = carry(input, &to_capsule);
        let _ = to_capsule.shutdown(Shutdown::Write);
    });
    // Whoever does not take the answers any more does not need them.
    let _ = carry(&capsule, output);
    let _ = capsule.shutdown(Shutdown::Both);
    Ok(())
}

fn carry(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut buf = vec![0; BUFFER];
    loop {
        match from.read(&mut buf) {
            Ok(0) => return Ok(()),
            Ok(len) => to.write_all(&buf[..len])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
