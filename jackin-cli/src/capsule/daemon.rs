//! The daemon: one loop that owns the sessions, their statuses and the multiplexer. Everything else (PTYs,
//! connections) is a task that sends messages to it.
//!
//! Each round: what the operator did comes first, then a frame that is due, then what a program printed. So a
//! flooding program delays neither a key nor a frame by more than one read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use jackin_core::protocol::Version;
use jackin_core::protocol::attach::{Frame, Shutdown, ShutdownReason, Welcome, encode};
use jackin_core::protocol::control::SessionInfo;
use jackin_core::{
    AgentStatus, Cause, EventKind, InstanceName, SessionId, Size, Source, Timestamp, one_line,
};
use jackin_mux::{Input, Mux, Output};
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::connection::{self, Attach, Caller, ClientEvent, Message};
use super::events::EventLog;
use super::now;
use super::session::{Program, Session, SessionEvent, exit_code};
use super::socket::Socket;
use super::tags::InstanceTags;

/// How long sessions that were told to end may take until they are killed.
const TERM_GRACE: Duration = Duration::from_secs(3);

/// The longest title that is kept, in characters.
const MAX_TITLE: usize = 200;

/// How often a ringing session is an event.
const BELL_INTERVAL: Duration = Duration::from_secs(1);

/// How long a session may show nothing until its status is "unknown" rather than "initializing".
const INITIALIZING_LIMIT: Duration = Duration::from_secs(20);

/// What a daemon is started with.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) instance: InstanceName,
    pub(super) socket: PathBuf,
    /// The first session's command line; empty means the user's shell.
    pub(super) command: Vec<String>,
}

/// The agents' own socket, beside the operator's.
pub(super) fn agent_socket(operator_socket: &Path) -> PathBuf {
    let mut name = operator_socket.file_stem().map_or_else(|| OsString::from("jackin"), OsString::from);
    name.push(".agent.sock");
    operator_socket.with_file_name(name)
}

/// Runs until the last session has ended or a signal or call stops it. Returns the exit code. `ready` is called once
/// the sockets answer and the first session runs.
pub(super) async fn run(settings: Settings, ready: impl FnOnce()) -> Result<i32> {
    let (to_daemon, mut messages) = mpsc::channel(64);
    let operator_socket = Socket::bind(&settings.socket)?;
    let agent_socket_path = agent_socket(&settings.socket);
    let agents_socket = Socket::bind(&agent_socket_path)?;
    let (mut daemon, mut from_session) = Daemon::start(settings, &agent_socket_path)?;
    let (open, mut all_closed) = mpsc::channel(1);
    let doors = [
        tokio::spawn(connection::accept(operator_socket, Caller::Operator, to_daemon.clone(), open.clone())),
        tokio::spawn(connection::accept(agents_socket, Caller::Agent, to_daemon, open)),
    ];
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let mut hangup = signal(SignalKind::hangup()).context("cannot listen for SIGHUP")?;
    ready();
    loop {
        let frame_due = daemon.mux.poll_timeout();
        let render_now = frame_due.is_some_and(|due| due <= daemon.steady());
        tokio::select! {
            biased;
            _ = terminate.recv() => daemon.stop(),
            _ = interrupt.recv() => daemon.stop(),
            _ = hangup.recv() => daemon.stop(),
            Some(message) = messages.recv() => daemon.handle(message),
            permit = daemon.room_for_a_frame(), if render_now => match permit {
                Some(permit) => daemon.render(permit),
                None => daemon.client_gone(),
            },
            Some(event) = from_session.recv() => match event {
                SessionEvent::Printed(bytes) => daemon.printed(&bytes),
                SessionEvent::Exited(status) => {
                    daemon.exited(exit_code(status));
                    break;
                }
            },
            () = daemon.sleep_until(frame_due), if frame_due.is_some() && !render_now => {}
            () = daemon.next_timeout() => daemon.handle_timeout(),
        }
        daemon.carry_out();
    }
    let exit_code = daemon.take_leave().await;
    // Without a daemon to ask, connections end once they have sent what they still have.
    doors.iter().for_each(tokio::task::JoinHandle::abort);
    drop(messages);
    let _ = tokio::time::timeout(FAREWELL_LIMIT, all_closed.recv()).await;
    Ok(exit_code)
}

#[derive(Debug)]
pub(super) struct Daemon {
    pub(super) instance: InstanceName,
    pub(super) session: Session,
    pub(super) mux: Mux,
    pub(super) log: EventLog,
    pub(super) tags: InstanceTags,
    client: Option<Client>,
    started: Instant,
    last_bell: Option<Instant>,
    /// When sessions that were told to end are killed.
    kill_at: Option<Instant>,
    exit_code: i32,
}

/// The attached operator's terminal.
#[derive(Debug)]
struct Client {
    id: u64,
    /// Since when it shows the session.
    since: Timestamp,
    frames: mpsc::Sender<Vec<u8>>,
}

impl Daemon {
    fn start(settings: Settings, agent_socket: &Path) -> Result<(Self, mpsc::Receiver<SessionEvent>)> {
        let Settings { instance, mut command, .. } = settings;
        if command.is_empty() {
            command.push(std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned()));
        }
        let mut log = EventLog::new(instance.clone());
        let mux = Mux::new(Size::default());
        let id = SessionId::new(1).expect("1 is not 0");
        let token = new_token()?;
        let env = BTreeMap::from([
            ("TERM", "xterm-256color".to_owned()),
            ("COLORTERM", "truecolor".to_owned()),
            ("JACKIN_INSTANCE", instance.to_string()),
            ("JACKIN_SESSION", id.to_string()),
            ("JACKIN_AGENT_SOCKET", agent_socket.display().to_string()),
            ("JACKIN_AGENT_TOKEN", token.clone()),
        ]);
        let program = Program { command: &command, env, cwd: None, size: mux.size() };
        let (session, from_session) = Session::start(id, mux.pane(), token, &program, now())?;
        log.publish(EventKind::SessionStarted { session_id: id, title: session.title.clone() }, now());
        let daemon = Self {
            tags: InstanceTags::new(instance.clone(), id),
            instance,
            session,
            mux,
            log,
            client: None,
            started: Instant::now(),
            last_bell: None,
            kill_at: None,
            exit_code: 0,
        };
        Ok((daemon, from_session))
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Attach(attach) => self.attach(attach),
            Message::Client { id, event } if self.client.as_ref().is_some_and(|client| client.id == id) => {
                match event {
                    ClientEvent::Input(bytes) => {
                        self.mux.handle_input(Input::Client(&bytes), self.steady());
                        self.acknowledge();
                    }
                    ClientEvent::Resize(size) => {
                        self.mux.handle_input(Input::Resized(size), self.steady());
                    }
                    ClientEvent::Detach => self.dismiss_client(ShutdownReason::Detached, "detached"),
                    ClientEvent::Gone => self.client_gone(),
                }
            }
            // From a client that was taken over.
            Message::Client { .. } => {}
            Message::Call { caller, call, answer } => {
                // Whoever asked may have gone.
                let _ = answer.send(self.answer(caller, call));
            }
        }
    }

    /// Does what the multiplexer asks for.
    fn carry_out(&mut self) {
        while let Some(output) = self.mux.poll_output() {
            let session_id = self.session.id;
            match output {
                Output::WritePty { bytes, .. } => self.type_in(bytes),
                Output::ResizePty { size, .. } => self.session.resize(size),
                Output::Title { title, .. } => self.set_title(&title),
                Output::Bell { .. } => {
                    self.ring();
                    if self.last_bell.is_none_or(|last| last.elapsed() >= BELL_INTERVAL) {
                        self.last_bell = Some(Instant::now());
                        self.publish(EventKind::Bell { session_id });
                    }
                }
                Output::Detach => self.dismiss_client(
                    ShutdownReason::Detached,
                    "detached; everything goes on running, and attaching again shows it",
                ),
                _ => {}
            }
        }
    }

    fn type_in(&self, bytes: Vec<u8>) {
        if self.session.write(bytes).is_err() {
            self.ring();
        }
    }

    /// An empty title is a program that cleans up behind itself; the last one says more.
    pub(super) fn set_title(&mut self, title: &str) {
        let title = one_line(title, MAX_TITLE);
        if title != self.session.title && !title.is_empty() {
            self.session.title.clone_from(&title);
            self.publish(EventKind::TitleChanged { session_id: self.session.id, title });
        }
    }

    fn printed(&mut self, bytes: &[u8]) {
        self.mux.handle_input(Input::Pty { pane: self.session.pane, bytes }, self.steady());
    }

    fn exited(&mut self, code: i32) {
        let status = if self.session.stopped_on_purpose {
            AgentStatus::Ended { exit_code: code }
        } else {
            self.exit_code = code;
            AgentStatus::from_exit_code(code)
        };
        self.set_status(status.clone(), Source::Process, &format!("the process ended with exit code {code}"));
        self.publish(EventKind::SessionEnded { session_id: self.session.id, status });
        self.publish(EventKind::AllSessionsEnded);
    }

    /// Takes a verdict about the session and tells whoever listens, if it is news.
    pub(super) fn set_status(&mut self, status: AgentStatus, source: Source, evidence: &str) {
        let standing = &mut self.session.standing;
        if standing.set(status, Cause::new(source, evidence, now())) {
            self.publish_status();
        }
    }

    /// The operator looked at the session.
    pub(super) fn acknowledge(&mut self) {
        if self.session.standing.acknowledge() {
            self.publish_status();
        }
    }

    fn publish_status(&mut self) {
        let standing = &self.session.standing;
        self.publish(EventKind::AgentStateChanged {
            session_id: self.session.id,
            state: standing.attention(),
            status: standing.status().clone(),
            cause: standing.cause().clone(),
        });
    }

    pub(super) fn publish(&mut self, kind: EventKind) {
        self.log.publish(kind, now());
    }

    /// Tells the sessions to end; those that do not are killed after a grace.
    pub(super) fn stop(&mut self) {
        self.session.stopped_on_purpose = true;
        self.session.signal(Signal::HUP);
        self.kill_at.get_or_insert(Instant::now() + TERM_GRACE);
    }

    /// The time that intervals are measured with. A wall clock that is set back must not stop the screen.
    fn steady(&self) -> Timestamp {
        Timestamp::default() + self.started.elapsed()
    }

    async fn next_timeout(&self) {
        let initializing = matches!(self.session.standing.status(), AgentStatus::Initializing);
        let unknown_at = initializing.then(|| self.started + INITIALIZING_LIMIT);
        let seen_at =
            self.client.as_ref().and_then(|client| self.session.standing.dwell_deadline(client.since));
        let seen_at = seen_at.map(|at| Instant::now() + at.since(now()));
        match [self.kill_at, unknown_at, seen_at].into_iter().flatten().min() {
            Some(at) => tokio::time::sleep_until(at.into()).await,
            None => std::future::pending().await,
        }
    }

    fn handle_timeout(&mut self) {
        if self.kill_at.is_some_and(|at| at <= Instant::now()) {
            self.kill_at = None;
            self.session.signal(Signal::KILL);
        } else if self.client.as_ref().is_some_and(|client| self.session.standing.dwell(client.since, now()))
        {
            self.publish_status();
        } else if self.started.elapsed() >= INITIALIZING_LIMIT
            && matches!(self.session.standing.status(), AgentStatus::Initializing)
        {
            self.set_status(AgentStatus::Unknown, Source::Quiet, "no evidence since the session was started");
        }
    }

    async fn sleep_until(&self, at: Option<Timestamp>) {
        if let Some(at) = at {
            tokio::time::sleep(at.since(self.steady())).await;
        }
    }

    /// What `status` and the session list tell.
    pub(super) fn session_info(&self) -> SessionInfo {
        let Session { id, pane, title, standing, .. } = &self.session;
        SessionInfo {
            id: *id,
            pane: Some(*pane),
            tab: Some(1),
            title: title.clone(),
            agent: None,
            status: standing.status().clone(),
            attention: standing.attention(),
            since: standing.since(),
            cause: standing.cause().clone(),
            size: self.mux.size(),
            cwd: None,
            usage: None,
        }
    }
}

/// The attached client.
impl Daemon {
    pub(super) fn is_attached(&self) -> bool {
        self.client.is_some()
    }

    fn attach(&mut self, Attach { id, hello, frames }: Attach) {
        self.dismiss_client(ShutdownReason::TakenOver, "another terminal attached to this capsule");
        let mut wire = Vec::new();
        let welcome =
            Welcome { version: Version::CURRENT, instance: self.instance.clone(), session_count: 1 };
        for frame in [Frame::Welcome(welcome), Frame::SessionList(vec![self.session_info()])] {
            // Texts are bounded where they enter; a list that is too long all the same is done without.
            let _ = encode(&frame, &mut wire);
        }
        // The channel is empty: it was made for this client.
        if frames.try_send(wire).is_err() {
            return;
        }
        self.client = Some(Client { id, since: now(), frames });
        self.mux.handle_input(Input::Attached(hello.size), self.steady());
        self.publish(EventKind::ClientAttached);
    }

    /// Waits until the client has taken the last frame; none when it is gone. A slow client thus gets fewer frames,
    /// never older ones.
    fn room_for_a_frame(&self) -> impl Future<Output = Option<mpsc::OwnedPermit<Vec<u8>>>> + use<> {
        let frames = self.client.as_ref().map(|client| client.frames.clone());
        async { frames?.reserve_owned().await.ok() }
    }

    fn render(&mut self, permit: mpsc::OwnedPermit<Vec<u8>>) {
        let mut screen = Vec::new();
        self.mux.render(self.steady(), &mut screen);
        let mut wire = Vec::with_capacity(screen.len() + 8);
        encode(&Frame::Output(&screen), &mut wire).expect("output of any length can be encoded");
        permit.send(wire);
    }

    fn ring(&self) {
        if let Some(client) = &self.client {
            let mut wire = Vec::new();
            encode(&Frame::Bell, &mut wire).expect("a bell is short");
            // A client that is behind has more to worry about than a bell.
            let _ = client.frames.try_send(wire);
        }
    }

    fn dismiss_client(&mut self, reason: ShutdownReason, message: &str) {
        if let Some(client) = self.client.take() {
            tokio::spawn(farewell(client.frames, Shutdown { reason, message: message.to_owned() }));
            self.mux.handle_input(Input::Detached, self.steady());
            self.publish(EventKind::ClientDetached);
        }
    }

    fn client_gone(&mut self) {
        if self.client.take().is_some() {
            self.mux.handle_input(Input::Detached, self.steady());
            self.publish(EventKind::ClientDetached);
        }
    }

    /// Sends the client the last frame and the farewell, and everybody else the end of the events.
    async fn take_leave(mut self) -> i32 {
        let exit_code = self.exit_code;
        self.carry_out();
        if let Some(client) = self.client.take() {
            let mut screen = Vec::new();
            self.mux.render(self.steady(), &mut screen);
            let mut wire = Vec::new();
            encode(&Frame::Output(&screen), &mut wire).expect("output of any length can be encoded");
            let reason = if self.session.stopped_on_purpose {
                ShutdownReason::Stopped
            } else {
                ShutdownReason::AllSessionsEnded { exit_code }
            };
            let message = format!("{}: {}", self.session.title, self.session.standing.status());
            let last_frame = tokio::time::timeout(FAREWELL_LIMIT, client.frames.send(wire)).await;
            if last_frame.is_ok() {
                farewell(client.frames, Shutdown { reason, message }).await;
            }
        }
        exit_code
    }
}

/// How long a client that does not read may delay its own farewell.
const FAREWELL_LIMIT: Duration = Duration::from_secs(1);

async fn farewell(frames: mpsc::Sender<Vec<u8>>, shutdown: Shutdown) {
    let mut wire = Vec::new();
    if encode(&Frame::Shutdown(shutdown), &mut wire).is_err() {
        return;
    }
    // It may be gone or stuck; then there is nobody to tell.
    let _ = tokio::time::timeout(FAREWELL_LIMIT, frames.send(wire)).await;
}

/// A secret that nobody guesses.
fn new_token() -> Result<String> {
    let mut random = [0u8; 16];
    let filled = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .context("the system gives no random numbers")?;
    anyhow::ensure!(filled == random.len(), "the system gives too few random numbers");
    Ok(random.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")))
}
