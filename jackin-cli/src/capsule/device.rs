//! A terminal device, the operator's or our side of a program's, read and written without ever waiting in the loop.

use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use jackin_core::Size;
use rustix::io::Errno;
use rustix::termios::{self, Winsize};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe;

/// A terminal device. Clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Device(Arc<Sides>);

/// The pipe types watch any file that can be polled. Room to write is watched for only while there is none: every read at
/// the other end makes room, and would wake us.
#[derive(Debug)]
struct Sides {
    reads: Mutex<pipe::Receiver>,
    file: File,
}

/// Opens a PTY of the given size: our side, and the program's.
pub(super) fn open_pty(size: Size) -> Result<(Device, pty_process::Pts)> {
    let (pty, pts) = pty_process::open().context("cannot open a terminal for the session")?;
    let device =
        Device::watch(File::from(OwnedFd::from(pty))).context("cannot watch the session's terminal")?;
    device.resize(size).context("cannot set the terminal's size")?;
    Ok((device, pts))
}

impl Device {
    /// Watches a device that was opened so that reads and writes do not wait.
    pub(crate) fn watch(file: File) -> io::Result<Self> {
        let reads = pipe::Receiver::from_file_unchecked(file.try_clone()?)?;
        Ok(Self(Arc::new(Sides { reads: Mutex::new(reads), file })))
    }

    /// What comes from the device, as soon as there is something; nothing or an error when it is gone. One task at a time
    /// may wait for it.
    ///
    /// A read takes all that is there, or fills the buffer; so the next one waits to be told of more, and does not ask. On
    /// the way of a key that would cost as much as the read itself. (Of a terminal that is not in raw mode a read takes one
    /// line: such a one must not be watched.)
    pub(crate) async fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut buf = ReadBuf::new(buf);
        poll_fn(|context| {
            let mut reads = self.0.reads.lock().unwrap_or_else(PoisonError::into_inner);
            Pin::new(&mut *reads).poll_read(context, &mut buf)
        })
        .await?;
        Ok(buf.filled().len())
    }

    /// What is there already, or none.
    pub(super) fn try_read(&self, buf: &mut [u8]) -> Option<io::Result<usize>> {
        match rustix::io::read(&self.0.file, buf) {
            Err(Errno::AGAIN | Errno::INTR) => None,
            done => Some(done.map_err(io::Error::from)),
        }
    }

    /// Writes as much as there is room for, once there is room for some.
    pub(super) async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::io::write(&self.0.file, bytes) {
                Err(Errno::AGAIN) => {
                    pipe::Sender::from_file_unchecked(self.0.file.try_clone()?)?.writable().await?;
                }
                Err(Errno::INTR) => {}
                done => return Ok(done?),
            }
        }
    }

    /// Writes everything.
    pub(crate) async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write(bytes).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => bytes = &bytes[written..],
            }
        }
        Ok(())
    }

    /// Writes as much as there is room for now.
    pub(super) fn try_write(&self, bytes: &[u8]) -> usize {
        // Whatever is wrong with the device shows when the rest is written.
        rustix::io::write(&self.0.file, bytes).unwrap_or(0)
    }

    pub(super) fn resize(&self, size: Size) -> io::Result<()> {
        let size = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(termios::tcsetwinsize(&self.0.file, size)?)
    }
}
