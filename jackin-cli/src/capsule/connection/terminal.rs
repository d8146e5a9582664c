//! An operator's terminal: frames go to it, keys come from it.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use jackin_core::protocol::Version;
use jackin_core::protocol::attach::{self, DecodeError, Frame, Hello, Shutdown, ShutdownReason};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::super::device::Device;
use super::{Attach, ClientEvent, Message, PATIENCE, READ_SIZE, ToClient};

/// How much of what an operator types is read at once; a paste comes in pieces of a terminal's buffer.
const KEYS_SIZE: usize = 4 * 1024;

/// A terminal that was lent: the daemon writes to it itself, unless something is on its way already.
#[derive(Clone, Debug)]
pub(in crate::capsule) struct Lent {
    terminal: Device,
    is_busy: Arc<AtomicBool>,
}

/// Something is written until this is dropped.
struct Busy<'a>(&'a AtomicBool);

impl Lent {
    fn new(terminal: File) -> io::Result<Self> {
        Ok(Self { terminal: Device::watch(terminal)?, is_busy: Arc::default() })
    }

    fn busy(&self) -> Busy<'_> {
        self.is_busy.store(true, Ordering::Relaxed);
        Busy(&self.is_busy)
    }

    /// Writes as much of a frame as there is room for now, where nothing that was sent before waits. A frame that is taken at
    /// once, as most are, makes no detour through the connection's task.
    pub(in crate::capsule) fn try_write(&self, frame: &[u8]) -> usize {
        if self.is_busy.load(Ordering::Relaxed) { 0 } else { self.terminal.try_write(frame) }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

pub(super) async fn serve_terminal(
    first: u8,
    lent: Option<File>,
    mut reader: OwnedReadHalf,
    mut writer: OwnedWriteHalf,
    to_daemon: mpsc::Sender<Message>,
) -> io::Result<()> {
    static NEXT_ID: AtomicU64 = AtomicU64::new(1);
    let mut decoder = attach::Decoder::new();
    let _ = decoder.feed(&[first]);
    let hello = match timeout(PATIENCE, read_hello(&mut reader, &mut decoder)).await? {
        Ok(hello) => hello,
        Err(refusal) => {
            let mut wire = Vec::new();
            encode(&Frame::Shutdown(refusal), &mut wire)?;
            return writer.write_all(&wire).await;
        }
    };
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    // One frame in flight: the next one is rendered when this one was taken, and is then up to date.
    let (frames, outgoing) = mpsc::channel::<ToClient>(1);
    let looks_on = hello.read_only;
    // Whoever only looks on must not be able to do more by mistake.
    let lent = lent.filter(|_| !looks_on).map(Lent::new).transpose()?;
    let taken = looks_on.then_some(id);
    let attach = Attach { id, hello, lent: lent.clone(), frames };
    if to_daemon.send(Message::Attach(attach)).await.is_err() {
        return Ok(());
    }
    let reading = async {
        let mut buf = vec![0; READ_SIZE];
        'connection: loop {
            loop {
                match next_event(&mut decoder) {
                    Next::Event(event) => {
                        if to_daemon.send(Message::Client { id, event }).await.is_err() {
                            return;
                        }
                    }
                    Next::More => break,
                    Next::Broken => break 'connection,
                }
            }
            let room = decoder.room().min(buf.len());
            match reader.read(&mut buf[..room]).await {
                Ok(len) if len > 0 => {
                    let _ = decoder.feed(&buf[..len]);
                }
                _ => break,
            }
        }
        let _ = to_daemon.send(Message::Client { id, event: ClientEvent::Gone }).await;
    };
    // The daemon ends the connection by dropping the frames' sender, the peer by closing.
    tokio::select! {
        () = reading => {}
        () = read_keys(id, lent.as_ref(), &to_daemon) => {}
        _ = write_frames(outgoing, writer, lent.as_ref(), taken, &to_daemon) => {}
    }
    Ok(())
}

/// Keys from a terminal that was lent; the others come as frames.
async fn read_keys(id: u64, lent: Option<&Lent>, to_daemon: &mpsc::Sender<Message>) {
    let Some(lent) = lent else { return std::future::pending().await };
    let mut buf = vec![0; KEYS_SIZE];
    while let Ok(len @ 1..) = lent.terminal.read(&mut buf).await {
        let event = ClientEvent::Input(buf[..len].to_vec());
        if to_daemon.send(Message::Client { id, event }).await.is_err() {
            return;
        }
    }
    let _ = to_daemon.send(Message::Client { id, event: ClientEvent::TerminalGone }).await;
    // The daemon ends the connection, with a farewell.
    std::future::pending::<()>().await;
}

/// Writes what the client gets. A terminal that was lent is written to before the client hears anything later: it has
/// its terminal back for itself when it is told to leave.
async fn write_frames(
    mut outgoing: mpsc::Receiver<ToClient>,
    mut writer: OwnedWriteHalf,
    lent: Option<&Lent>,
    taken: Option<u64>,
    to_daemon: &mpsc::Sender<Message>,
) -> io::Result<()> {
    let mut wire = Vec::new();
    while let Some(next) = outgoing.recv().await {
        let _busy = lent.map(Lent::busy);
        wire.clear();
        match (next, lent) {
            (ToClient::Screen(bytes), Some(lent)) => lent.terminal.write_all(&bytes).await?,
            (ToClient::Bell, Some(lent)) => lent.terminal.write_all(b"\x07").await?,
            (ToClient::Screen(bytes), None) => encode(&Frame::Output(&bytes), &mut wire)?,
            (ToClient::Bell, None) => encode(&Frame::Bell, &mut wire)?,
            (ToClient::Frames(frames), _) => wire = frames,
        }
        writer.write_all(&wire).await?;
        if let Some(id) = taken {
            let event = ClientEvent::Taken;
            to_daemon.send(Message::Client { id, event }).await.map_err(io::Error::other)?;
        }
    }
    Ok(())
}

fn encode(frame: &Frame<'_>, wire: &mut Vec<u8>) -> io::Result<()> {
    attach::encode(frame, wire).map_err(io::Error::other)
}

async fn read_hello(reader: &mut OwnedReadHalf, decoder: &mut attach::Decoder) -> Result<Hello, Shutdown> {
    let protocol_error = |message: String| Shutdown { reason: ShutdownReason::ProtocolError, message };
    let mut buf = [0; 4096];
    loop {
        match decoder.next_frame() {
            Ok(Some(Frame::Hello(hello))) => return Ok(hello),
            Ok(Some(_)) => return Err(protocol_error("the first frame must be a Hello".to_owned())),
            Ok(None) => {}
            Err(error @ DecodeError::Version { .. }) => {
                let reason = ShutdownReason::VersionMismatch { server: Version::CURRENT };
                return Err(Shutdown { reason, message: error.to_string() });
            }
            Err(error) => return Err(protocol_error(error.to_string())),
        }
        let room = decoder.room().min(buf.len());
        match reader.read(&mut buf[..room]).await {
            Ok(len) if len > 0 => {
                let _ = decoder.feed(&buf[..len]);
            }
            _ => return Err(protocol_error("the connection was closed before a Hello".to_owned())),
        }
    }
}

enum Next {
    Event(ClientEvent),
    More,
    /// Nothing further can be read.
    Broken,
}

/// The next thing that the client did. Frames that make no sense here are skipped.
fn next_event(decoder: &mut attach::Decoder) -> Next {
    loop {
        return Next::Event(match decoder.next_frame() {
            Ok(None) => return Next::More,
            Ok(Some(Frame::Input(bytes))) => ClientEvent::Input(bytes.to_vec()),
            Ok(Some(Frame::Resize(size))) => ClientEvent::Resize(size),
            Ok(Some(Frame::Detach)) => ClientEvent::Detach,
            Ok(Some(_)) => continue,
            Err(error) if error.is_fatal() => return Next::Broken,
            Err(_) => continue,
        });
    }
}
