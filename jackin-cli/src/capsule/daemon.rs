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
    AgentStatus, Cause, EventKind, InstanceName, PaneId, SessionId, Source, Timestamp, one_line,
};
use jackin_mux::{Input, Launch, Mux, Output, Place};
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::connection::{self, Attach, Caller, ClientEvent, Message};
use super::events::EventLog;
use super::now;
use super::session::{Program, Session, SessionEvent, exit_code, title_of};
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
    /// Whether there is more on the operator's terminal than the panes.
    pub(super) chrome: bool,
}

/// The agents' own socket, beside the operator's.
pub(super) fn agent_socket(operator_socket: &Path) -> PathBuf {
    let mut name = operator_socket.file_stem().map_or_else(|| OsString::from("jackin"), OsString::from);
    name.push(".agent.sock");
    operator_socket.with_file_name(name)
}

/// How many sessions one capsule runs at a time.
const MAX_SESSIONS: usize = 128;

/// Runs until the last session has ended or a signal or call stops it. Returns the exit code. `ready` is called once
/// the sockets answer and the first session runs.
pub(super) async fn run(settings: Settings, ready: impl FnOnce()) -> Result<i32> {
    let (to_daemon, mut messages) = mpsc::channel(64);
    let (reports, mut from_sessions) = mpsc::channel(2 * MAX_SESSIONS);
    let operator_socket = Socket::bind(&settings.socket)?;
    let agent_socket_path = agent_socket(&settings.socket);
    let agents_socket = Socket::bind(&agent_socket_path)?;
    let mut daemon = Daemon::start(settings, agent_socket_path, reports)?;
    let (open, mut all_closed) = mpsc::channel(1);
    let doors = [
        tokio::spawn(connection::accept(operator_socket, Caller::Operator, to_daemon.clone(), open.clone())),
        tokio::spawn(connection::accept(agents_socket, Caller::Agent, to_daemon, open)),
    ];
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let mut hangup = signal(SignalKind::hangup()).context("cannot listen for SIGHUP")?;
    ready();
    while !daemon.sessions.is_empty() {
        daemon.tick();
        let frame_due = daemon.mux.frame_due();
        let render_now = frame_due.is_some_and(|due| due <= daemon.steady());
        let frame_due = frame_due.filter(|_| !render_now);
        let wake = [frame_due, daemon.mux.poll_timeout()].into_iter().flatten().min();
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
            Some((id, event)) = from_sessions.recv() => match event {
                SessionEvent::Printed(bytes, permit) => daemon.printed(id, &bytes, permit),
                SessionEvent::Exited(status) => daemon.exited(id, exit_code(status)),
            },
            () = daemon.sleep_until(wake), if wake.is_some() => {}
            () = daemon.next_timeout() => daemon.handle_timeouts(),
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
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) mux: Mux,
    pub(super) log: EventLog,
    pub(super) tags: InstanceTags,
    agent_socket: PathBuf,
    reports: mpsc::Sender<(SessionId, SessionEvent)>,
    client: Option<Client>,
    started: Instant,
    last_bell: Option<Instant>,
    /// The session that ended last.
    last: Option<Session>,
    exit_code: i32,
}

/// The attached operator's terminal.
#[derive(Debug)]
struct Client {
    id: u64,
    frames: mpsc::Sender<Vec<u8>>,
}

/// What to start in a new session.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// The command line; empty means the user's shell.
    pub(super) command: Vec<String>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) env: BTreeMap<String, String>,
}

impl Daemon {
    fn start(
        settings: Settings,
        agent_socket: PathBuf,
        reports: mpsc::Sender<(SessionId, SessionEvent)>,
    ) -> Result<Self> {
        let Settings { instance, command, chrome, .. } = settings;
        let mut daemon = Self {
            log: EventLog::new(instance.clone()),
            tags: InstanceTags::new(instance.clone()),
            instance,
            sessions: BTreeMap::new(),
            mux: Mux::new(jackin_mux::Settings { chrome, ..jackin_mux::Settings::default() }),
            agent_socket,
            reports,
            client: None,
            started: Instant::now(),
            last_bell: None,
            last: None,
            exit_code: 0,
        };
        daemon.open(Place::Tab, None, true, Start { command, ..Start::default() })?;
        Ok(daemon)
    }

    /// Opens a pane and starts a session in it.
    pub(super) fn open(
        &mut self,
        place: Place,
        name: Option<&str>,
        focus: bool,
        start: Start,
    ) -> Result<SessionId> {
        anyhow::ensure!(
            self.sessions.len() < MAX_SESSIONS,
            "{MAX_SESSIONS} sessions run already: end one before starting another"
        );
        let program = start.command.first().map_or_else(shell, Clone::clone);
        let name = name.map_or_else(|| title_of(&program), ToOwned::to_owned);
        let now = self.steady();
        let pane = self.mux.open(place, &name, focus, now).context("there is no room for another pane")?;
        let started = self.start_in(pane, start);
        if started.is_err() {
            self.mux.handle_input(Input::PaneClosed { pane }, now);
        }
        started
    }

    /// Starts a session in a pane that is open.
    fn start_in(&mut self, pane: PaneId, start: Start) -> Result<SessionId> {
        // Every session has one pane, and neither kind of number is used again.
        let id = SessionId::new(pane.get()).context("a pane's number is not 0")?;
        let Start { mut command, cwd, env: mut own } = start;
        if command.is_empty() {
            command.push(shell());
        }
        let token = new_token()?;
        let env = [
            ("TERM", "xterm-256color".to_owned()),
            ("COLORTERM", "truecolor".to_owned()),
            ("JACKIN_INSTANCE", self.instance.to_string()),
            ("JACKIN_SESSION", id.to_string()),
            ("JACKIN_AGENT_SOCKET", self.agent_socket.display().to_string()),
            ("JACKIN_AGENT_TOKEN", token.clone()),
        ];
        own.extend(env.map(|(name, value)| (name.to_owned(), value)));
        let size = self.mux.size(pane).unwrap_or_default();
        let program = Program { command: &command, env: own, cwd: cwd.as_deref(), size };
        let session = Session::start(id, pane, token, &program, now(), self.reports.clone())?;
        self.publish(EventKind::SessionStarted { session_id: id, title: session.title.clone() });
        self.sessions.insert(id, session);
        Ok(id)
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Attach(attach) => self.attach(attach),
            Message::Client { id, event } if self.client.as_ref().is_some_and(|client| client.id == id) => {
                match event {
                    ClientEvent::Input(bytes) => {
                        self.mux.handle_input(Input::Client(&bytes), self.steady());
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
            match output {
                Output::WritePty { pane, bytes } => self.type_in(pane, bytes),
                Output::ResizePty { pane, size } => {
                    if let Some(session) = self.session_in(pane) {
                        session.resize(size);
                    }
                }
                Output::Spawn { pane, launch, .. } => {
                    let command = match launch {
                        Launch::Shell => Vec::new(),
                        Launch::Agent(id) => vec![id],
                    };
                    let start = Start { command, ..Start::default() };
                    if self.sessions.len() >= MAX_SESSIONS || self.start_in(pane, start).is_err() {
                        self.mux.handle_input(Input::PaneClosed { pane }, self.steady());
                        self.ring();
                    }
                }
                Output::Kill { pane } => {
                    let kill_at = tokio::time::Instant::now() + TERM_GRACE;
                    if let Some(session) = self.session_in(pane) {
                        session.stop(kill_at);
                    }
                }
                Output::Title { pane, title } => {
                    if let Some(id) = self.session_in(pane).map(|session| session.id) {
                        self.set_title(id, &title);
                    }
                }
                Output::Bell { pane } => {
                    self.ring();
                    let quiet = self.last_bell.is_none_or(|last| last.elapsed() >= BELL_INTERVAL);
                    if let Some(session_id) =
                        self.session_in(pane).map(|session| session.id).filter(|_| quiet)
                    {
                        self.last_bell = Some(Instant::now());
                        self.publish(EventKind::Bell { session_id });
                    }
                }
                Output::Seen { pane } => {
                    if let Some(id) = self.session_in(pane).map(|session| session.id) {
                        self.acknowledge(id);
                    }
                }
                Output::Detach => self.dismiss_client(
                    ShutdownReason::Detached,
                    "detached; everything goes on running, and attaching again shows it",
                ),
                // What this capsule cannot do is answered as terminals answer.
                Output::Restart { .. } | Output::Record { .. } => self.ring(),
                _ => {}
            }
        }
    }

    fn session_in(&mut self, pane: PaneId) -> Option<&mut Session> {
        self.sessions.values_mut().find(|session| session.pane == pane)
    }

    fn type_in(&mut self, pane: PaneId, bytes: Vec<u8>) {
        if self.session_in(pane).is_some_and(|session| session.write(bytes).is_err()) {
            self.ring();
        }
    }

    /// An empty title is a program that cleans up behind itself; the last one says more.
    pub(super) fn set_title(&mut self, id: SessionId, title: &str) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let title = one_line(title, MAX_TITLE);
        if title != session.title && !title.is_empty() {
            session.title.clone_from(&title);
            self.publish(EventKind::TitleChanged { session_id: id, title });
        }
    }

    fn printed(&mut self, id: SessionId, bytes: &[u8], permit: OwnedSemaphorePermit) {
        let now = self.steady();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        self.mux.handle_input(Input::Pty { pane: session.pane, bytes }, now);
        if self.mux.backlog(session.pane) > 0 {
            session.parked.push(permit);
        }
    }

    /// Gives the multiplexer its time when that is due, and readers that waited for it theirs.
    fn tick(&mut self) {
        let now = self.steady();
        if self.mux.poll_timeout().is_some_and(|due| due <= now) {
            self.mux.handle_input(Input::Tick, now);
            for session in self.sessions.values_mut() {
                if self.mux.backlog(session.pane) == 0 {
                    session.parked.clear();
                }
            }
            self.carry_out();
        }
    }

    fn exited(&mut self, id: SessionId, code: i32) {
        let Some(session) = self.sessions.get(&id) else { return };
        let (pane, on_purpose) = (session.pane, session.stopped_on_purpose);
        let status = if on_purpose {
            AgentStatus::Ended { exit_code: code }
        } else {
            if self.exit_code == 0 {
                self.exit_code = code;
            }
            AgentStatus::from_exit_code(code)
        };
        let evidence = format!("the process ended with exit code {code}");
        self.set_status(id, status.clone(), Source::Process, &evidence);
        self.publish(EventKind::SessionEnded { session_id: id, status });
        while self.mux.backlog(pane) > 0 {
            self.mux.handle_input(Input::Tick, self.steady());
        }
        self.tags.forget(id);
        self.last = self.sessions.remove(&id);
        if self.sessions.is_empty() {
            // Its screen is the last thing that the operator sees.
            self.publish(EventKind::AllSessionsEnded);
        } else {
            self.mux.handle_input(Input::PaneClosed { pane }, self.steady());
        }
    }

    /// Takes a verdict about a session and tells whoever listens, if it is news.
    pub(super) fn set_status(&mut self, id: SessionId, status: AgentStatus, source: Source, evidence: &str) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.standing.set(status, Cause::new(source, evidence, now())) {
            self.publish_status(id);
        }
    }

    /// The operator looked at a session.
    pub(super) fn acknowledge(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.standing.acknowledge() {
            self.publish_status(id);
        }
    }

    fn publish_status(&mut self, id: SessionId) {
        let now = self.steady();
        let Some(Session { pane, standing, .. }) = self.sessions.get(&id) else { return };
        let (status, attention) = (standing.status(), standing.attention());
        self.mux.handle_input(Input::Status { pane: *pane, status, attention }, now);
        let change = EventKind::AgentStateChanged {
            session_id: id,
            state: attention,
            status: status.clone(),
            cause: standing.cause().clone(),
        };
        self.publish(change);
    }

    pub(super) fn publish(&mut self, kind: EventKind) {
        self.log.publish(kind, now());
    }

    /// Tells the sessions to end; those that do not are killed after a grace.
    pub(super) fn stop(&mut self) {
        let kill_at = tokio::time::Instant::now() + TERM_GRACE;
        self.sessions.values_mut().for_each(|session| session.stop(kill_at));
    }

    /// Tells one session to end.
    pub(super) fn stop_one(&mut self, id: SessionId) {
        let kill_at = tokio::time::Instant::now() + TERM_GRACE;
        if let Some(session) = self.sessions.get_mut(&id) {
            session.stop(kill_at);
        }
    }

    /// The time that intervals are measured with. A wall clock that is set back must not stop the screen.
    pub(super) fn steady(&self) -> Timestamp {
        Timestamp::default() + self.started.elapsed()
    }

    async fn next_timeout(&self) {
        let next = self.sessions.values().filter_map(|session| {
            let initializing = matches!(session.standing.status(), AgentStatus::Initializing);
            let unknown_at = initializing.then(|| session.started + INITIALIZING_LIMIT);
            [session.kill_at, unknown_at].into_iter().flatten().min()
        });
        match next.min() {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    fn handle_timeouts(&mut self) {
        let now = tokio::time::Instant::now();
        let mut unknown = Vec::new();
        for session in self.sessions.values_mut() {
            if session.kill_at.is_some_and(|at| at <= now) {
                session.kill_at = None;
                session.signal(Signal::KILL);
            }
            let initializing = matches!(session.standing.status(), AgentStatus::Initializing);
            if initializing && session.started + INITIALIZING_LIMIT <= now {
                unknown.push(session.id);
            }
        }
        for id in unknown {
            let evidence = "no evidence since the session was started";
            self.set_status(id, AgentStatus::Unknown, Source::Quiet, evidence);
        }
    }

    async fn sleep_until(&self, at: Option<Timestamp>) {
        if let Some(at) = at {
            tokio::time::sleep(at.since(self.steady())).await;
        }
    }

    /// What `status` and the session list tell.
    pub(super) fn session_infos(&self) -> Vec<SessionInfo> {
        self.sessions.values().map(|session| self.session_info(session)).collect()
    }

    fn session_info(&self, session: &Session) -> SessionInfo {
        let Session { id, pane, title, standing, .. } = session;
        SessionInfo {
            id: *id,
            pane: Some(*pane),
            tab: self.mux.tab(*pane).and_then(|tab| u32::try_from(tab + 1).ok()),
            title: title.clone(),
            agent: None,
            status: standing.status().clone(),
            attention: standing.attention(),
            since: standing.since(),
            cause: standing.cause().clone(),
            size: self.mux.size(*pane).unwrap_or_default(),
            cwd: None,
            usage: None,
        }
    }
}

/// The user's shell.
fn shell() -> String {
    std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned())
}

/// The attached client.
impl Daemon {
    pub(super) fn is_attached(&self) -> bool {
        self.client.is_some()
    }

    fn attach(&mut self, Attach { id, hello, frames }: Attach) {
        self.dismiss_client(ShutdownReason::TakenOver, "another terminal attached to this capsule");
        let mut wire = Vec::new();
        let welcome = Welcome {
            version: Version::CURRENT,
            instance: self.instance.clone(),
            session_count: self.sessions.len(),
        };
        for frame in [Frame::Welcome(welcome), Frame::SessionList(self.session_infos())] {
            // Texts are bounded where they enter; a list that is too long all the same is done without.
            let _ = encode(&frame, &mut wire);
        }
        // The channel is empty: it was made for this client.
        if frames.try_send(wire).is_err() {
            return;
        }
        self.client = Some(Client { id, frames });
        let terminal = jackin_mux::Client {
            size: hello.size,
            term: hello.term.as_deref(),
            colorterm: hello.colorterm.as_deref(),
        };
        self.mux.handle_input(Input::Attached(terminal), self.steady());
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
            let on_purpose = self.last.as_ref().is_some_and(|session| session.stopped_on_purpose);
            let reason = if on_purpose {
                ShutdownReason::Stopped
            } else {
                ShutdownReason::AllSessionsEnded { exit_code }
            };
            let message = self.last.as_ref().map_or_else(String::new, |session| {
                format!("{}: {}", session.title, session.standing.status())
            });
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
