//! Lending a terminal.
//!
//! A client on the same machine hands its terminal to the capsule with the first byte that it sends. Keys and frames
//! then skip the client's process: two wake-ups less from key to screen. A capsule in a container gets no terminal:
//! whoever owns one can do more to it than draw.

use std::fs::{self, File};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

use rustix::cmsg_space;
use rustix::fs::OFlags;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use tokio::io::Interest;
use tokio::net::UnixStream;

/// Whether the capsule at the other end runs as the same user, on the same machine and outside of containers as far as
/// we are.
pub(super) fn shares_house(stream: &UnixStream) -> bool {
    let Ok(peer) = stream.peer_cred() else { return false };
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/pid")).ok();
    let same_namespace = peer.pid().is_some_and(|pid| {
        let own = namespace("self");
        own.is_some() && own == namespace(&pid.to_string())
    });
    same_namespace && peer.uid() == rustix::process::geteuid().as_raw()
}

/// Sends the first byte of a greeting, with the terminal.
pub(super) async fn send_first(stream: &UnixStream, byte: u8, terminal: BorrowedFd<'_>) -> io::Result<()> {
    stream
        .async_io(Interest::WRITABLE, || {
            let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            let lent = [terminal];
            let fits = control.push(SendAncillaryMessage::ScmRights(&lent));
            debug_assert!(fits, "the space is made for one");
            sendmsg(stream, &[IoSlice::new(&[byte])], &mut control, SendFlags::empty())?;
            Ok(())
        })
        .await
}

/// Receives the first byte, and the terminal where one was lent. Anything else that comes with it is closed.
pub(super) async fn receive_first(stream: &UnixStream) -> io::Result<(u8, Option<File>)> {
    stream
        .async_io(Interest::READABLE, || {
            let mut byte = [0];
            let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let flags = RecvFlags::CMSG_CLOEXEC;
            let received = recvmsg(stream, &mut [IoSliceMut::new(&mut byte)], &mut control, flags)?;
            if received.bytes == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut sent = control.drain().filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(files) => Some(files),
                _ => None,
            });
            let lent = sent.next().and_then(|mut files| files.next());
            Ok((byte[0], lent.map(File::from).filter(is_usable)))
        })
        .await
}

/// Only a terminal that never makes us wait is of use, and none that we were started from: whoever reads that one in the
/// background is stopped.
fn is_usable(file: &File) -> bool {
    let flags = rustix::fs::fcntl_getfl(file);
    let waits = !flags.is_ok_and(|flags| flags.contains(OFlags::NONBLOCK | OFlags::RDWR));
    // The session of a terminal is told to its own session only.
    let is_own = rustix::termios::tcgetsid(file).is_ok();
    rustix::termios::isatty(file) && !waits && !is_own
}
