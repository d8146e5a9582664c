//! One task for each connection: it speaks the protocol on one side and sends messages to the daemon on the other.
//! Nothing that a peer sends reaches the daemon before it was decoded here.

mod asking;
mod control;
mod terminal;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use jackin_core::Size;
use jackin_core::protocol::attach::Hello;
use jackin_core::protocol::control::{Call, PREFACE};
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

use super::control::Answer;
use super::socket::Socket;
use super::{lend, refusals};
use asking::Asker;
use control::Control;
use terminal::serve_terminal;

pub(super) use terminal::Lent;

/// How many connections a socket serves at once; further ones are closed at once.
const MAX_CONNECTIONS: usize = 64;

/// How long a peer may take to say what it wants, and to finish a message that it began.
const PATIENCE: Duration = Duration::from_secs(5);

const READ_SIZE: usize = 64 * 1024;

/// Whose socket it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// The operator's, who is we or root, or this user beside.
    Operator(Option<u32>),
    /// The agents', whose sessions run as this user if not as ours.
    Agents(Option<u32>),
}

/// Whose socket a connection came in by, which decides what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    Operator,
    /// An agent, or whoever has a token, with the number of the process where that is known.
    Agent(Option<u32>),
}

/// What connections tell the daemon.
#[derive(Debug)]
pub(super) enum Message {
    /// A signal asks the capsule to end.
    Stop,
    Attach(Attach),
    Client {
        id: u64,
        event: ClientEvent,
    },
    Call {
        caller: Caller,
        call: Call,
        answer: oneshot::Sender<Answer>,
    },
}

/// An operator's terminal that wants to be attached.
#[derive(Debug)]
pub(super) struct Attach {
    pub(super) id: u64,
    pub(super) hello: Hello,
    /// Its terminal, where that came with it.
    pub(super) lent: Option<Lent>,
    /// What it is to get; dropping the sender ends the connection.
    pub(super) frames: mpsc::Sender<ToClient>,
}

/// What an attached client gets.
#[derive(Debug)]
pub(super) enum ToClient {
    /// Bytes for the operator's terminal.
    Screen(Vec<u8>),
    Bell,
    /// Other frames, encoded.
    Frames(Vec<u8>),
}

/// What an attached terminal did.
#[derive(Debug)]
pub(super) enum ClientEvent {
    Input(Vec<u8>),
    Resize(Size),
    Detach,
    /// The terminal that it lent is gone; it is still there to be told.
    TerminalGone,
    Gone,
    /// It took the last frame; only those that look on say so.
    Taken,
}

/// Serves a socket for ever. Every connection holds a clone of `open` until it ends.
pub(super) async fn accept(
    socket: Socket,
    door: Door,
    to_daemon: mpsc::Sender<Message>,
    open: mpsc::Sender<Infallible>,
) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok((stream, _)) = socket.listener.accept().await else {
            // Out of file descriptors, most likely: let some connections end first.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Some(caller) = admit(&stream, door) else { continue };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            continue;
        };
        let (to_daemon, open) = (to_daemon.clone(), open.clone());
        tokio::spawn(async move {
            // A connection that breaks is the peer's business alone.
            let _ = serve(stream, caller, to_daemon).await;
            drop((place, open));
        });
    }
}

/// The file's mode keeps others out already; this holds even where the file was opened up by mistake.
fn admit(stream: &UnixStream, door: Door) -> Option<Caller> {
    let own = rustix::process::geteuid().as_raw();
    let peer = stream.peer_cred().ok()?;
    let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
    let (is_own, uid) = ([own, 0].contains(&peer.uid()), peer.uid());
    match door {
        Door::Operator(operator) if is_own || operator == Some(uid) => Some(Caller::Operator),
        Door::Agents(sessions) if is_own || sessions == Some(uid) => Some(Caller::Agent(pid)),
        Door::Operator(_) | Door::Agents(_) => {
            refusals::log(|| format!("user {uid} (process {pid:?}) was turned away at {door}"));
            None
        }
    }
}

async fn serve(stream: UnixStream, caller: Caller, to_daemon: mpsc::Sender<Message>) -> io::Result<()> {
    let (first, lent) = timeout(PATIENCE, lend::receive_first(&stream)).await??;
    let (reader, writer) = stream.into_split();
    if first == PREFACE {
        let daemon = Asker { caller, to_daemon };
        Control::new(reader, writer, daemon).serve().await
    } else if caller == Caller::Operator {
        serve_terminal(first, lent, reader, writer, to_daemon).await
    } else {
        Ok(())
    }
}
