//! One task for each connection: it speaks the protocol on one side and sends messages to the daemon on the other.
//! Nothing that a peer sends reaches the daemon before it was decoded here.

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jackin_core::Size;
use jackin_core::protocol::Version;
use jackin_core::protocol::attach::{self, DecodeError, Frame, Hello, Shutdown, ShutdownReason};
use jackin_core::protocol::control::{
    self, Call, CallError, ControlError, Done, ErrorCode, Match, PREFACE, Recording, Reply, Request, Status,
    StreamItem, Until, Waited,
};
use jackin_core::{AgentStatus, Attention, Event, EventKind, Received, SessionId};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

use super::control::Answer;
use super::device::Device;
use super::events::Feed;
use super::socket::Socket;
use super::{lend, refusals};

/// How many connections a socket serves at once; further ones are closed at once.
const MAX_CONNECTIONS: usize = 64;

/// How long a peer may take to say what it wants, and to finish a message that it began.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a peer may leave an answer unread.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

const READ_SIZE: usize = 64 * 1024;

/// How much of what an operator types is read at once; a paste comes in pieces of a terminal's buffer.
const KEYS_SIZE: usize = 4 * 1024;

/// Whose socket it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Operator,
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
    /// Its terminal came with it.
    pub(super) terminal_taken: bool,
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
        Door::Operator if is_own => Some(Caller::Operator),
        Door::Agents(sessions) if is_own || sessions == Some(uid) => Some(Caller::Agent(pid)),
        Door::Operator | Door::Agents(_) => {
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
        Control { reader, writer, daemon, decoder: control::Decoder::new() }.serve().await
    } else if caller == Caller::Operator {
        serve_terminal(first, lent, reader, writer, to_daemon).await
    } else {
        Ok(())
    }
}

async fn serve_terminal(
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
    let terminal = lent.filter(|_| !looks_on).map(Device::watch).transpose()?;
    let taken = looks_on.then_some(id);
    let attach = Attach { id, hello, terminal_taken: terminal.is_some(), frames };
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
        () = read_keys(id, terminal.as_ref(), &to_daemon) => {}
        _ = write_frames(outgoing, writer, terminal.as_ref(), taken, &to_daemon) => {}
    }
    Ok(())
}

/// Keys from a terminal that was lent; the others come as frames.
async fn read_keys(id: u64, terminal: Option<&Device>, to_daemon: &mpsc::Sender<Message>) {
    let Some(terminal) = terminal else { return std::future::pending().await };
    let mut buf = vec![0; KEYS_SIZE];
    while let Ok(len @ 1..) = terminal.read(&mut buf).await {
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
    terminal: Option<&Device>,
    taken: Option<u64>,
    to_daemon: &mpsc::Sender<Message>,
) -> io::Result<()> {
    let mut wire = Vec::new();
    while let Some(next) = outgoing.recv().await {
        wire.clear();
        match (next, terminal) {
            (ToClient::Screen(bytes), Some(terminal)) => terminal.write_all(&bytes).await?,
            (ToClient::Bell, Some(terminal)) => terminal.write_all(b"\x07").await?,
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

/// A control connection: calls, one after another.
struct Control {
    reader: OwnedReadHalf,
    writer: OwnedWriteHalf,
    daemon: Asker,
    decoder: control::Decoder,
}

/// The way to the daemon's answers.
#[derive(Clone)]
struct Asker {
    caller: Caller,
    to_daemon: mpsc::Sender<Message>,
}

impl Asker {
    async fn ask(&self, call: Call) -> Option<Answer> {
        let (answer, answered) = oneshot::channel();
        self.to_daemon.send(Message::Call { caller: self.caller, call, answer }).await.ok()?;
        answered.await.ok()
    }
}

impl Control {
    async fn serve(mut self) -> io::Result<()> {
        while let Some(call) = self.next_call().await? {
            match call {
                Ok(Call { request: Request::Events { from }, token }) => {
                    return self.stream(token, from).await;
                }
                Ok(Call { request: Request::Wait { sessions, until, matching, timeout_ms }, .. })
                    if self.daemon.caller == Caller::Operator =>
                {
                    let daemon = self.daemon.clone();
                    let waiting = wait(&daemon, &sessions, &until, matching);
                    let limited = async {
                        match timeout_ms {
                            Some(ms) => {
                                timeout(Duration::from_millis(ms), waiting).await.unwrap_or_else(|_| {
                                    Err(ControlError::new(
                                        ErrorCode::Timeout,
                                        format!("not so after {ms} ms"),
                                    ))
                                })
                            }
                            None => waiting.await,
                        }
                    };
                    let waited = tokio::select! {
                        waited = limited => waited,
                        // Nobody is left to be told.
                        () = self.peer_gone() => return Ok(()),
                    };
                    self.reply(&Reply::from(waited)).await?;
                }
                Ok(Call {
                    request:
                        Request::SessionSend { session_id, text, submit, force: false, wait_ms: Some(ms) },
                    ..
                }) if self.daemon.caller == Caller::Operator => {
                    let daemon = self.daemon.clone();
                    let sending = send_when_ready(&daemon, session_id, &text, submit);
                    let limited = async {
                        timeout(Duration::from_millis(ms), sending).await.unwrap_or_else(|_| {
                            Err(ControlError::new(
                                ErrorCode::Timeout,
                                format!(
                                    "session {session_id} could take nothing for {ms} ms, so nothing was sent"
                                ),
                            ))
                        })
                    };
                    let sent = tokio::select! {
                        sent = limited => sent,
                        () = self.peer_gone() => return Ok(()),
                    };
                    self.reply(&Reply::from(sent)).await?;
                }
                Ok(call) => match self.daemon.ask(call).await {
                    Some(Answer::Message(wire)) => self.write(&wire).await?,
                    Some(Answer::Recording(outcome)) => {
                        let gone = |_| Err("the recording's thread is gone".to_owned());
                        let outcome = outcome.await.unwrap_or_else(gone);
                        let reply = outcome
                            .map(|path| Recording { path: path.display().to_string() })
                            .map_err(|error| ControlError::new(ErrorCode::Failed, error));
                        self.reply(&Reply::from(reply)).await?;
                    }
                    Some(Answer::Feed(_)) | None => return Ok(()),
                },
                Err(error) => {
                    let code = match error {
                        CallError::UnknownMethod { .. } => ErrorCode::UnknownMethod,
                        _ => ErrorCode::BadRequest,
                    };
                    self.reply::<Done>(&Reply::Error(ControlError::new(code, error.to_string()))).await?;
                }
            }
        }
        Ok(())
    }

    /// The next call; none when the peer or the daemon is gone. A message that was begun must be finished in time, and
    /// an agent has no reason to keep a connection open between two.
    async fn next_call(&mut self) -> io::Result<Option<Result<Call, CallError>>> {
        let mut buf = vec![0; READ_SIZE];
        let soon = || tokio::time::Instant::now() + PATIENCE;
        let mut finish_by = (self.daemon.caller != Caller::Operator).then(soon);
        loop {
            match self.decoder.next_message() {
                Ok(Some(json)) => return Ok(Some(Call::from_json(json))),
                Ok(None) => {}
                Err(error) => {
                    let error = ControlError::new(ErrorCode::BadRequest, error.to_string());
                    self.reply::<Done>(&Reply::Error(error)).await?;
                    return Ok(None);
                }
            }
            let room = self.decoder.room().min(buf.len());
            let len = tokio::select! {
                len = self.reader.read(&mut buf[..room]) => len?,
                () = self.daemon.to_daemon.closed() => return Ok(None),
                () = deadline(finish_by) => return Ok(None),
            };
            if len == 0 {
                return Ok(None);
            }
            finish_by.get_or_insert_with(soon);
            let _ = self.decoder.feed(&buf[..len]);
        }
    }

    /// Completes when the peer closes. What it sends until then is kept for later.
    async fn peer_gone(&mut self) {
        let mut buf = vec![0; READ_SIZE];
        loop {
            let room = self.decoder.room().min(buf.len());
            match self.reader.read(&mut buf[..room]).await {
                Ok(len) if len > 0 => {
                    let _ = self.decoder.feed(&buf[..len]);
                }
                // A peer that sends ahead without end has to wait.
                Ok(_) if room == 0 => std::future::pending().await,
                _ => return,
            }
        }
    }

    async fn reply<T: serde::Serialize>(&mut self, reply: &Reply<T>) -> io::Result<()> {
        let mut wire = Vec::new();
        control::encode(reply, &mut wire).map_err(io::Error::other)?;
        self.write(&wire).await
    }

    /// A peer that does not take an answer for this long gets no more of them.
    async fn write(&mut self, wire: &[u8]) -> io::Result<()> {
        timeout(WRITE_PATIENCE, self.writer.write_all(wire)).await?
    }

    async fn stream(mut self, token: Option<String>, from: Option<u64>) -> io::Result<()> {
        let Feed { missed, past, mut live } =
            match self.daemon.ask(Call { token, request: Request::Events { from } }).await {
                Some(Answer::Feed(feed)) => feed,
                Some(Answer::Message(wire)) => return self.write(&wire).await,
                Some(Answer::Recording(_)) | None => return Ok(()),
            };
        if missed > 0 {
            self.reply(&Reply::Result(StreamItem::Missed { count: missed })).await?;
        }
        for event in past {
            self.reply(&Reply::Result(StreamItem::Event(event))).await?;
        }
        let mut buf = [0; 256];
        loop {
            let item = tokio::select! {
                next = live.next() => match next {
                    Some(Received::Value(event)) => StreamItem::Event(event),
                    Some(Received::Missed(count)) => StreamItem::Missed { count },
                    None => return Ok(()),
                },
                // A subscriber has nothing more to say; what it sends is ignored until it closes.
                read = self.reader.read(&mut buf) => match read? {
                    0 => return Ok(()),
                    _ => continue,
                },
            };
            self.reply(&Reply::Result(item)).await?;
        }
    }
}

/// Follows the events from a status on, so a state that is there already counts, and none is missed in between.
async fn wait(
    daemon: &Asker,
    sessions: &[SessionId],
    until: &[Until],
    matching: Match,
) -> Result<Waited, ControlError> {
    if until.is_empty() {
        return Err(ControlError::new(ErrorCode::BadRequest, "name at least one state to wait for"));
    }
    let gone = || ControlError::new(ErrorCode::NotFound, "the capsule ended before the state was reached");
    let Some(Answer::Feed(Feed { mut live, .. })) = daemon.ask(Request::Events { from: None }.into()).await
    else {
        return Err(gone());
    };
    let mut seen = ask_status(daemon).await.ok_or_else(gone)?;
    loop {
        if let Some(waited) = evaluate(&seen, sessions, until, matching)? {
            return Ok(waited);
        }
        match live.next().await {
            Some(Received::Value(Event {
                kind: EventKind::AgentStateChanged { session_id, state, status, .. },
                ..
            })) => {
                if let Some(session) = seen.sessions.iter_mut().find(|session| session.id == session_id) {
                    (session.attention, session.status) = (state, status);
                }
            }
            Some(
                Received::Value(Event { kind: EventKind::SessionStarted { .. }, .. }) | Received::Missed(_),
            ) => {
                seen = ask_status(daemon).await.ok_or_else(gone)?;
            }
            Some(Received::Value(_)) => {}
            None => return Err(gone()),
        }
    }
}

/// Waits until a session's agent shows its prompt, then types. If it is busy again by then, waits again.
async fn send_when_ready(
    daemon: &Asker,
    session_id: SessionId,
    text: &str,
    submit: bool,
) -> Result<Done, ControlError> {
    let gone = || ControlError::new(ErrorCode::NotFound, format!("session {session_id} has ended"));
    let Some(Answer::Feed(Feed { mut live, .. })) = daemon.ask(Request::Events { from: None }.into()).await
    else {
        return Err(gone());
    };
    loop {
        let status = ask_status(daemon).await.ok_or_else(gone)?;
        let session = status.sessions.iter().find(|session| session.id == session_id).ok_or_else(|| {
            ControlError::new(
                ErrorCode::NotFound,
                format!("there is no session {session_id}; `status` lists them"),
            )
        })?;
        // An agent that has only been started shows no prompt yet. A shell never says that it does.
        let starting = session.agent.is_some() && session.status == AgentStatus::Initializing;
        if !starting && !matches!(session.attention, Attention::Blocked | Attention::Working) {
            let request = Request::SessionSend {
                session_id,
                text: text.to_owned(),
                submit,
                force: false,
                wait_ms: None,
            };
            let sent = daemon.ask(request.into()).await.and_then(answer_of::<Done>).ok_or_else(gone)?;
            match sent {
                Err(error) if error.code == ErrorCode::Refused => {}
                sent => return sent,
            }
        }
        loop {
            match live.next().await {
                Some(
                    Received::Value(Event {
                        kind: EventKind::AgentStateChanged { .. } | EventKind::SessionEnded { .. },
                        ..
                    })
                    | Received::Missed(_),
                ) => break,
                Some(Received::Value(_)) => {}
                None => return Err(gone()),
            }
        }
    }
}

async fn ask_status(daemon: &Asker) -> Option<Status> {
    daemon.ask(Request::Status {}.into()).await.and_then(answer_of::<Status>)?.ok()
}

/// Reads an answer as whoever asked by socket would.
fn answer_of<T: serde::de::DeserializeOwned>(answer: Answer) -> Option<Result<T, ControlError>> {
    let Answer::Message(wire) = answer else { return None };
    let mut decoder = control::Decoder::new();
    let _ = decoder.feed(&wire);
    let json = decoder.next_message().ok()??;
    Some(serde_json::from_slice::<Reply<T>>(json).ok()?.into_result())
}

/// The sessions that are in one of the states, if they are enough.
fn evaluate(
    status: &Status,
    sessions: &[SessionId],
    until: &[Until],
    matching: Match,
) -> Result<Option<Waited>, ControlError> {
    if let Some(missing) =
        sessions.iter().find(|id| !status.sessions.iter().any(|session| session.id == **id))
    {
        return Err(ControlError::new(ErrorCode::NotFound, format!("there is no session {missing}")));
    }
    let mut considered = status
        .sessions
        .iter()
        .filter(|session| sessions.is_empty() || sessions.contains(&session.id))
        .peekable();
    let any_considered = considered.peek().is_some();
    let (met, unmet): (Vec<_>, Vec<_>) = considered
        .partition(|session| until.iter().any(|until| until.is_met(&session.status, session.attention)));
    let enough = match matching {
        Match::Any => !met.is_empty(),
        Match::All => any_considered && unmet.is_empty(),
    };
    Ok(enough.then(|| Waited { sessions: met.iter().map(|session| session.id).collect() }))
}

async fn deadline(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
