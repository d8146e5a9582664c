//! The attach client: the operator's terminal at one end, a capsule's socket at the other.

use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use jackin_core::protocol::Version;
use jackin_core::protocol::attach::{DecodeError, Decoder, Frame, Hello, Shutdown, ShutdownReason, encode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::terminal::Terminal;

/// How an attachment ended.
#[derive(Debug)]
pub(crate) struct Parting {
    /// For the operator.
    pub(crate) message: String,
    /// For the shell: 0 after detaching, that of the sessions when they ended, 1 when something went wrong.
    pub(crate) exit_code: u8,
    /// Whether the capsule still runs.
    pub(crate) still_running: bool,
}

/// Shows a capsule on this terminal until the operator detaches or the capsule ends.
pub(crate) async fn attach(socket: &Path) -> Result<Parting> {
    let stream = UnixStream::connect(socket).await.with_context(|| {
        format!("no capsule answers at {}: start one with `jackin capsule run`", socket.display())
    })?;
    let terminal = Terminal::enter()?;
    let (reader, mut writer) = stream.into_split();

    let (to_capsule, mut frames) = mpsc::channel::<Vec<u8>>(16);
    let hello = Hello {
        version: Version::CURRENT,
        size: terminal.size(),
        term: std::env::var("TERM").ok(),
        term_program: std::env::var("TERM_PROGRAM").ok(),
        colorterm: std::env::var("COLORTERM").ok(),
        ..Hello::default()
    };
    writer.write_all(&encoded(&Frame::Hello(hello))).await.context("cannot greet the capsule")?;
    let sending = async {
        while let Some(frame) = frames.recv().await {
            if writer.write_all(&frame).await.is_err() {
                break;
            }
        }
        // The other direction tells why.
        std::future::pending::<()>().await;
    };
    let parting = tokio::select! {
        parting = show(&terminal, reader) => parting,
        parting = forward_keys(&terminal, &to_capsule) => parting,
        parting = forward_signals(&terminal, &to_capsule) => parting?,
        () = sending => unreachable!("sending never completes"),
    };
    Ok(parting)
}

fn encoded(frame: &Frame<'_>) -> Vec<u8> {
    let mut wire = Vec::new();
    encode(frame, &mut wire).expect("a client's frames are small, except input, which may have any length");
    wire
}

async fn show(terminal: &Terminal, mut reader: OwnedReadHalf) -> Parting {
    let mut decoder = Decoder::new();
    let mut buf = vec![0; 64 * 1024];
    let lost = |why: String| Parting { message: why, exit_code: 1, still_running: false };
    loop {
        loop {
            let written = match decoder.next_frame() {
                Ok(None) => break,
                Ok(Some(Frame::Output(bytes))) => terminal.write_all(bytes).await,
                Ok(Some(Frame::Bell)) => terminal.write_all(b"\x07").await,
                Ok(Some(Frame::Shutdown(shutdown))) => return part(shutdown),
                Ok(Some(_)) => Ok(()),
                Err(error) if error.is_fatal() || matches!(error, DecodeError::Version { .. }) => {
                    return lost(error.to_string());
                }
                // A frame that makes no sense costs itself only.
                Err(_) => Ok(()),
            };
            if written.is_err() {
                return terminal_gone();
            }
        }
        let room = decoder.room().min(buf.len());
        match reader.read(&mut buf[..room]).await {
            Ok(len) if len > 0 => {
                let _ = decoder.feed(&buf[..len]);
            }
            _ => return lost("lost the connection: the capsule was killed or has crashed".to_owned()),
        }
    }
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

async fn forward_keys(terminal: &Terminal, to_capsule: &mpsc::Sender<Vec<u8>>) -> Parting {
    let mut buf = vec![0; 16 * 1024];
    loop {
        match terminal.read(&mut buf).await {
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

async fn forward_signals(terminal: &Terminal, to_capsule: &mpsc::Sender<Vec<u8>>) -> Result<Parting> {
    let listen = |kind| signal(kind).context("cannot listen for signals");
    let mut resized = listen(SignalKind::window_change())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut hangup = listen(SignalKind::hangup())?;
    let mut continued = listen(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
    loop {
        tokio::select! {
            _ = resized.recv() => {
                // Ending is noticed by the other direction.
                let _ = to_capsule.send(encoded(&Frame::Resize(terminal.size()))).await;
            }
            _ = continued.recv() => {
                terminal.resume();
                let _ = to_capsule.send(encoded(&Frame::Resize(terminal.size()))).await;
            }
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => break,
        }
    }
    Ok(Parting { message: "detached by a signal".to_owned(), exit_code: 1, still_running: true })
}
