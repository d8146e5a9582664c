//! The attach client: the operator's terminal at one end, a capsule's socket at the other.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result};
use jackin_core::protocol::Version;
use jackin_core::protocol::attach::{
    DecodeError, Decoder, Frame, Hello, Shutdown, ShutdownReason, Welcome, encode,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::device::Device;
use super::guard::LEAVING_LIMIT;
use super::lend;
use super::sieve::Sieve;
use super::terminal::Terminal;
use crate::client::ByteStream;

/// How an attachment ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// For the operator.
    pub message: String,
    /// For the shell: 0 after detaching, that of the sessions when they ended, 1 when something went wrong.
    pub exit_code: u8,
    /// Whether the capsule still runs.
    pub still_running: bool,
}

/// Whether a terminal takes part or only shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It types, and decides how large everything is.
    Operator,
    /// It looks on, beside any number of others.
    Viewer,
}

/// Shows the capsule that listens at a socket on this terminal, until the operator detaches or the capsule ends.
pub async fn attach(socket: &Path, part: Part) -> Result<Parting> {
    let stream = UnixStream::connect(socket).await.with_context(|| {
        format!("no capsule answers at {}: start one with `jackin capsule run`", socket.display())
    })?;
    // From here on a signal must not leave the terminal as it is now.
    let signals = Signals::listen()?;
    let terminal = Terminal::enter()?;
    greet(&stream, &terminal, part).await.context(CANNOT_GREET)?;
    let connection = stream.as_fd().try_clone_to_owned().ok();
    let (reader, writer) = stream.into_split();
    converse(&terminal, connection, part, signals, Incoming::new(reader), writer).await
}

/// Shows a capsule on this terminal over a stream that leads to it, such as that of `jackin-capsule bridge`, and that
/// nothing was sent over yet. The terminal stays with this process.
pub async fn attach_over(stream: impl ByteStream + 'static, part: Part) -> Result<Parting> {
    let signals = Signals::listen()?;
    let terminal = Terminal::enter()?;
    let (reader, mut writer) = tokio::io::split(stream);
    let greet = async {
        writer.write_all(&hello(&terminal, part)).await?;
        writer.flush().await
    };
    greet.await.context(CANNOT_GREET)?;
    converse(&terminal, None, part, signals, Incoming::new(reader), writer).await
}

const CANNOT_GREET: &str = "cannot greet the capsule";

fn hello(terminal: &Terminal, part: Part) -> Vec<u8> {
    encoded(&Frame::Hello(Hello {
        version: Version::CURRENT,
        size: terminal.size(),
        term: std::env::var("TERM").ok(),
        term_program: std::env::var("TERM_PROGRAM").ok(),
        colorterm: std::env::var("COLORTERM").ok(),
        read_only: part == Part::Viewer,
        ..Hello::default()
    }))
}

/// Says Hello, and lends the terminal where that is safe.
async fn greet(stream: &UnixStream, terminal: &Terminal, part: Part) -> io::Result<()> {
    let hello = hello(terminal, part);
    let mut rest = &hello[..];
    if part == Part::Operator && lend::shares_house(stream) {
        lend::send_first(stream, hello[0], terminal.as_fd()).await?;
        rest = &hello[1..];
    }
    while !rest.is_empty() {
        let written = stream.async_io(Interest::WRITABLE, || stream.try_write(rest)).await?;
        rest = &rest[written..];
    }
    Ok(())
}

async fn converse(
    terminal: &Terminal,
    connection: Option<OwnedFd>,
    part: Part,
    mut signals: Signals,
    mut incoming: Incoming<impl AsyncRead + Unpin>,
    mut writer: impl AsyncWrite + Unpin,
) -> Result<Parting> {
    let welcome = match incoming.welcome().await {
        Ok(welcome) => welcome,
        Err(parting) => return Ok(parting),
    };
    terminal.have_guarded(connection.filter(|_| welcome.terminal_taken));
    let (to_capsule, mut frames) = mpsc::channel::<Vec<u8>>(16);
    let sending = async {
        while let Some(frame) = frames.recv().await {
            if write_frame(&mut writer, &frame).await.is_err() {
                break;
            }
        }
        // The other direction tells why.
        std::future::pending::<()>().await;
    };
    // A terminal that was taken is no longer ours to read and draw.
    let device = if welcome.terminal_taken { None } else { Some(terminal.device()?) };
    let parting = tokio::select! {
        parting = incoming.show(device.as_ref()) => return Ok(parting),
        parting = forward_keys(device.as_ref(), &to_capsule), if part == Part::Operator => parting,
        parting = await_leaving(device.as_ref()), if part == Part::Viewer => parting,
        parting = signals.forward(terminal, &to_capsule) => parting,
        () = sending => unreachable!("sending never completes"),
    };
    // The capsule must not draw any more when the terminal is given back.
    let leaving = async {
        if write_frame(&mut writer, &encoded(&Frame::Detach)).await.is_ok() {
            incoming.show(device.as_ref()).await;
        }
    };
    let _ = tokio::time::timeout(LEAVING_LIMIT, leaving).await;
    Ok(parting)
}

/// A bridge may keep bytes back until it is told not to, and a key must not wait.
async fn write_frame(writer: &mut (impl AsyncWrite + Unpin), frame: &[u8]) -> io::Result<()> {
    writer.write_all(frame).await?;
    writer.flush().await
}

fn encoded(frame: &Frame<'_>) -> Vec<u8> {
    let mut wire = Vec::new();
    encode(frame, &mut wire).expect("a client's frames are small, except input, which may have any length");
    wire
}

/// What the capsule sends.
struct Incoming<R> {
    reader: R,
    decoder: Decoder,
    buf: Vec<u8>,
    sieve: Sieve,
    /// What of a frame the terminal gets.
    passed: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Incoming<R> {
    fn new(reader: R) -> Self {
        Self {
            reader,
            decoder: Decoder::new(),
            buf: vec![0; 64 * 1024],
            sieve: Sieve::new(std::env::var("JACKIN_CLIPBOARD_READ").is_ok_and(|value| value == "1")),
            passed: Vec::new(),
        }
    }

    /// The capsule's first frame.
    async fn welcome(&mut self) -> Result<Welcome, Parting> {
        loop {
            match self.decoder.next_frame() {
                Ok(None) => self.more().await?,
                Ok(Some(Frame::Welcome(welcome))) => return Ok(welcome),
                Ok(Some(Frame::Shutdown(shutdown))) => return Err(part(shutdown)),
                Ok(Some(_)) => return Err(lost("the capsule did not answer the greeting".to_owned())),
                Err(error) => return Err(lost(error.to_string())),
            }
        }
    }

    /// Draws what comes until the capsule says farewell.
    async fn show(&mut self, device: Option<&Device>) -> Parting {
        loop {
            let bytes = match self.decoder.next_frame() {
                Ok(None) => match self.more().await {
                    Ok(()) => continue,
                    Err(parting) => return parting,
                },
                Ok(Some(Frame::Output(bytes))) => bytes,
                Ok(Some(Frame::Bell)) => b"\x07",
                Ok(Some(Frame::Shutdown(shutdown))) => return part(shutdown),
                Ok(Some(_)) => continue,
                Err(error) if error.is_fatal() || matches!(error, DecodeError::Version { .. }) => {
                    return lost(error.to_string());
                }
                // A frame that makes no sense costs itself only.
                Err(_) => continue,
            };
            let Some(device) = device else { continue };
            self.passed.clear();
            self.sieve.pass(bytes, &mut self.passed);
            if device.write_all(&self.passed).await.is_err() {
                return terminal_gone();
            }
        }
    }

    async fn more(&mut self) -> Result<(), Parting> {
        let room = self.decoder.room().min(self.buf.len());
        match self.reader.read(&mut self.buf[..room]).await {
            Ok(len) if len > 0 => {
                let _ = self.decoder.feed(&self.buf[..len]);
                Ok(())
            }
            _ => Err(lost("lost the connection: the capsule was killed or has crashed".to_owned())),
        }
    }
}

fn lost(message: String) -> Parting {
    Parting { message, exit_code: 1, still_running: false }
}

fn part(Shutdown { reason, message }: Shutdown) -> Parting {
    let (exit_code, still_running) = match reason {
        ShutdownReason::Detached => (0, true),
        ShutdownReason::TakenOver => (0, true),
        ShutdownReason::Stopped => (0, false),
        ShutdownReason::AllSessionsEnded { exit_code } => (u8::try_from(exit_code).unwrap_or(1), false),
        _ => (1, true),
    };
    // It comes from the capsule, which agents can talk to.
    let message = message.chars().filter(|c| !c.is_control()).collect();
    Parting { message, exit_code, still_running }
}

fn terminal_gone() -> Parting {
    Parting { message: "the terminal is gone".to_owned(), exit_code: 1, still_running: true }
}

/// Waits until whoever looks on has seen enough: `q`, Ctrl+C, or the keys that detach.
async fn await_leaving(device: Option<&Device>) -> Parting {
    let Some(device) = device else { return std::future::pending().await };
    let mut buf = [0; 1024];
    let mut prefixed = false;
    loop {
        match device.read(&mut buf).await {
            Ok(len) if len > 0 => {
                for &key in &buf[..len] {
                    if matches!(key, b'q' | CTRL_C) || prefixed && key == b'd' {
                        let message = "stopped looking on".to_owned();
                        return Parting { message, exit_code: 0, still_running: true };
                    }
                    prefixed = key == CTRL_B;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return terminal_gone(),
        }
    }
}

const CTRL_B: u8 = 0x02;
const CTRL_C: u8 = 0x03;

async fn forward_keys(device: Option<&Device>, to_capsule: &mpsc::Sender<Vec<u8>>) -> Parting {
    let Some(device) = device else { return std::future::pending().await };
    let mut buf = vec![0; 16 * 1024];
    loop {
        match device.read(&mut buf).await {
            Ok(len) if len > 0 => {
                if to_capsule.send(encoded(&Frame::Input(&buf[..len]))).await.is_err() {
                    return std::future::pending().await;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return terminal_gone(),
        }
    }
}

/// The signals that concern a client.
struct Signals {
    resized: Signal,
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    continued: Signal,
}

impl Signals {
    fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self {
            resized: listen(SignalKind::window_change())?,
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hangup: listen(SignalKind::hangup())?,
            continued: listen(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// Tells the capsule of another size, until a signal asks to leave.
    async fn forward(&mut self, terminal: &Terminal, to_capsule: &mpsc::Sender<Vec<u8>>) -> Parting {
        loop {
            tokio::select! {
                _ = self.resized.recv() => {
                    // Ending is noticed by the other direction.
                    let _ = to_capsule.send(encoded(&Frame::Resize(terminal.size()))).await;
                }
                _ = self.continued.recv() => {
                    terminal.resume();
                    let _ = to_capsule.send(encoded(&Frame::Resize(terminal.size()))).await;
                }
                _ = self.terminate.recv() => break,
                _ = self.interrupt.recv() => break,
                _ = self.hangup.recv() => break,
            }
        }
        Parting { message: "detached by a signal".to_owned(), exit_code: 1, still_running: true }
    }
}
