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
use jackin_core::{AgentFile, AgentStatus, EventKind, InstanceName, PaneId, SessionId, Timestamp, one_line};
use jackin_mux::{Input, Mux, Output, Place};
use jackin_status::ProcessEnd;
use rustix::process::Signal;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::alarm::Alarm;
use super::clock::Clock;
use super::connection::{self, Attach, Caller, ClientEvent, Message, ToClient};
use super::events::EventLog;
use super::launch::Launch;
use super::memory::OomKills;
use super::reader::Typing;
use super::session::{Program, Session, SessionEvent, exit_code, title_of};
use super::socket::Socket;
use super::status::Observed;
use super::tags::InstanceTags;
use super::turns::Turns;
use super::watch::{FINDINGS, Finding, Order, Subject, Surroundings, Watcher, directory_in_front};

/// How long sessions that were told to end may take until they are killed.
const TERM_GRACE: Duration = Duration::from_secs(3);

/// The longest title that is kept, in characters.
const MAX_TITLE: usize = 200;

/// The exit code of a program that SIGKILL ended.
const KILLED: i32 = 128 + 9;

/// How much rather a session is ended than this daemon when memory runs out, of 1,000.
const OOM_SCORE: &str = "300";
/// What a program has to print at once for others to be asked whether they want a turn.
const LARGE: usize = 4 * 1024;

/// How often a ringing session is an event.
const BELL_INTERVAL: Duration = Duration::from_secs(1);

/// What a daemon is started with.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) socket: PathBuf,
    /// The first session's command line; empty means what the configuration says.
    pub(super) command: Vec<String>,
    /// What the host says about the instance.
    pub(super) config: AgentFile,
    pub(super) mux: jackin_mux::Settings,
    /// Where rules about screens are, beside the built-in ones.
    pub(super) rule_directories: Vec<PathBuf>,
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
    let (to_findings, mut findings) = mpsc::channel(FINDINGS);
    let mut daemon = Daemon::start(settings, agent_socket_path, reports, to_findings)?;
    let (open, mut all_closed) = mpsc::channel(1);
    let doors = [
        tokio::spawn(connection::accept(operator_socket, Caller::Operator, to_daemon.clone(), open.clone())),
        tokio::spawn(connection::accept(agents_socket, Caller::Agent, to_daemon.clone(), open)),
    ];
    tokio::spawn(stop_on_signal(signals()?, to_daemon));
    ready();
    let mut alarm = Alarm::new();
    while daemon.is_alive() {
        daemon.tick();
        let behind = daemon.render_if_due();
        alarm.set(daemon.next_alarm());
        let turn_ready = daemon.turns.is_ready(Instant::now());
        tokio::select! {
            biased;
            Some(message) = messages.recv() => daemon.handle(message),
            Some((id, finding)) = findings.recv() => daemon.found(id, finding),
            permit = daemon.room_for_a_frame(), if behind => match permit {
                Some(permit) => daemon.render(permit),
                None => daemon.client_gone(),
            },
            () = std::future::ready(()), if turn_ready => {
                if let Some((id, event)) = daemon.turns.next(Instant::now()) {
                    daemon.hear(id, event).await;
                }
            }
            Some((id, event)) = from_sessions.recv() => {
                if let Some(event) = daemon.turns.arrive(id, event) {
                    daemon.hear(id, event).await;
                }
            }
            () = alarm.rings() => daemon.handle_timeouts(),
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

/// The signals that end a capsule.
fn signals() -> Result<[Signals; 3]> {
    let listen = |kind| signal(kind).context("cannot listen for signals");
    Ok([listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?, listen(SignalKind::hangup())?])
}

async fn stop_on_signal(
    [mut terminate, mut interrupt, mut hangup]: [Signals; 3],
    to_daemon: mpsc::Sender<Message>,
) {
    loop {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
        if to_daemon.send(Message::Stop).await.is_err() {
            return;
        }
    }
}

#[derive(Debug)]
pub(super) struct Daemon {
    pub(super) instance: InstanceName,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) mux: Mux,
    pub(super) log: EventLog,
    pub(super) tags: InstanceTags,
    pub(super) clock: Clock,
    oom_kills: OomKills,
    pub(super) watcher: Watcher,
    pub(super) config: AgentFile,
    agent_socket: PathBuf,
    /// Nothing was started yet: the operator is to choose what.
    picking: bool,
    /// The pane that the operator types into just now.
    typing: Option<PaneId>,
    reports: mpsc::Sender<(SessionId, SessionEvent)>,
    client: Option<Client>,
    started: Instant,
    last_bell: Option<Instant>,
    turns: Turns<SessionEvent>,
    keys: Typing,
    /// The session that ended last.
    last: Option<Session>,
    exit_code: i32,
}

/// The attached operator's terminal.
#[derive(Debug)]
struct Client {
    id: u64,
    frames: mpsc::Sender<ToClient>,
}

/// What to start in a new session.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// The command line; empty means the agent, or else the user's shell.
    pub(super) command: Vec<String>,
    /// The id of a configured agent.
    pub(super) agent: Option<String>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) env: BTreeMap<String, String>,
}

impl Daemon {
    fn start(
        settings: Settings,
        agent_socket: PathBuf,
        reports: mpsc::Sender<(SessionId, SessionEvent)>,
        findings: mpsc::Sender<(SessionId, Finding)>,
    ) -> Result<Self> {
        let Settings { command, config, mux, rule_directories, .. } = settings;
        let instance = config.instance.clone();
        let watcher = Watcher::start(instance.clone(), rule_directories, findings)
            .context("cannot start the thread that watches agents")?;
        let mut daemon = Self {
            log: EventLog::new(instance.clone()),
            tags: InstanceTags::new(instance.clone()),
            instance,
            sessions: BTreeMap::new(),
            mux: Mux::new(mux),
            clock: Clock::new(),
            oom_kills: OomKills::new(),
            watcher,
            config,
            picking: false,
            typing: None,
            agent_socket,
            reports,
            client: None,
            started: Instant::now(),
            last_bell: None,
            turns: Turns::new(),
            keys: Typing::new(),
            last: None,
            exit_code: 0,
        };
        let agent = daemon.config.initial_agent.clone().filter(|_| command.is_empty());
        if command.is_empty() && agent.is_none() && !daemon.config.agents.is_empty() {
            daemon.picking = true;
        } else {
            daemon.open(Place::Tab, None, true, Start { command, agent, ..Start::default() })?;
        }
        Ok(daemon)
    }

    /// Whether there is something to run for.
    fn is_alive(&self) -> bool {
        self.picking || !self.sessions.is_empty()
    }

    /// Opens a pane and starts a session in it.
    pub(super) fn open(
        &mut self,
        place: Place,
        name: Option<&str>,
        focus: bool,
        start: Start,
    ) -> Result<SessionId> {
        let launch = self.prepare(&start)?;
        let program = launch.command.first().map_or_else(shell, Clone::clone);
        let usual = start.agent.and(launch.name.clone()).unwrap_or_else(|| title_of(&program));
        let name = name.map_or(usual, ToOwned::to_owned);
        let now = self.steady();
        let pane = self.mux.open(place, &name, focus, now).context("there is no room for another pane")?;
        let started = self.start_in(pane, launch, start.cwd);
        if started.is_err() {
            self.mux.handle_input(Input::PaneClosed { pane }, now);
        }
        started
    }

    /// Starts a session in a pane that is open.
    fn start_in(&mut self, pane: PaneId, launch: Launch, cwd: Option<PathBuf>) -> Result<SessionId> {
        // Every session has one pane, and neither kind of number is used again.
        let id = SessionId::new(pane.get()).context("a pane's number is not 0")?;
        let Launch { mut command, env: given, name, rules, family, transcripts, plain_tags, sse_port } =
            launch;
        if command.is_empty() {
            command.push(shell());
        }
        let cwd = cwd.or_else(|| self.config.workdir.as_ref().map(PathBuf::from));
        let mut own = self.common_env();
        own.extend(given);
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
        let started = self.clock.now();
        let is_agent = name.is_some();
        let observed = Observed::new(name, rules, started);
        let mut surroundings = Surroundings::default();
        surroundings.read(|name| own.get(name).cloned().or_else(|| std::env::var(name).ok()));
        surroundings.cwd = cwd.clone().or_else(|| std::env::current_dir().ok());
        let program = Program {
            command: &command,
            env: own,
            cwd: cwd.as_deref(),
            user: self.config.user.as_ref(),
            size,
            typing: self.keys.clone(),
        };
        let mut session = Session::start(id, pane, token, &program, observed, self.reports.clone())?;
        session.plain_tags = plain_tags;
        if let Some(leader) = session.leader() {
            // Not every system has it.
            let _ = std::fs::write(format!("/proc/{leader}/oom_score_adj"), OOM_SCORE);
            let subject = Subject {
                leader,
                started,
                family,
                is_agent,
                surroundings,
                transcripts,
                plain_tags,
                sse_port,
            };
            self.watcher.tell(id, Order::Watch(Box::new(subject)));
        }
        self.picking = false;
        self.publish(EventKind::SessionStarted { session_id: id, title: session.title.clone() });
        self.sessions.insert(id, session);
        Ok(id)
    }

    /// Finds out what to start.
    fn prepare(&self, start: &Start) -> Result<Launch> {
        let limit =
            self.config.limits.sessions.map_or(MAX_SESSIONS, |limit| (limit as usize).min(MAX_SESSIONS));
        anyhow::ensure!(
            self.sessions.len() < limit,
            "{limit} sessions run already: end one before starting another"
        );
        let Some(id) = start.agent.as_ref().filter(|_| start.command.is_empty()) else {
            return Ok(Launch::of_command(start.command.clone(), start.env.clone()));
        };
        let agents = &self.config.agents;
        let agent = agents.iter().find(|agent| agent.id == *id).with_context(|| {
            let ids: Vec<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
            let known = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
            format!("no agent {id:?} is configured (configured are: {known}); give a command line instead")
        })?;
        let home = self.common_env().remove("HOME").or_else(|| std::env::var("HOME").ok());
        let directory = self.agent_socket.parent().unwrap_or(Path::new("."));
        let mut launch = Launch::of_agent(agent, home.as_deref().map(Path::new), directory)?;
        launch.env.extend(start.env.clone());
        Ok(launch)
    }

    /// What every session's environment has because of the configuration.
    fn common_env(&self) -> BTreeMap<String, String> {
        let (user, git) = (self.config.user.as_ref(), self.config.git.as_ref());
        let git_name = git.and_then(|git| git.name.as_ref());
        let git_email = git.and_then(|git| git.email.as_ref());
        let set = [
            ("HOME", user.and_then(|user| user.home.as_ref())),
            ("USER", user.and_then(|user| user.name.as_ref())),
            ("LOGNAME", user.and_then(|user| user.name.as_ref())),
            ("GIT_AUTHOR_NAME", git_name),
            ("GIT_COMMITTER_NAME", git_name),
            ("GIT_AUTHOR_EMAIL", git_email),
            ("GIT_COMMITTER_EMAIL", git_email),
        ];
        set.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.clone()))).collect()
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Stop => self.stop(),
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
                    let agent = match launch {
                        jackin_mux::Launch::Shell => None,
                        jackin_mux::Launch::Agent(id) => Some(id),
                    };
                    let start = Start { agent, ..Start::default() };
                    let launch = self.prepare(&start);
                    if let Err(error) = launch.and_then(|launch| self.start_in(pane, launch, None)) {
                        tracing::warn!("{error:#}");
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
                Output::Typed { pane } => self.typing = Some(pane),
                Output::Prompt { pane, mark } => {
                    if let Some(id) = self.session_in(pane).map(|session| session.id) {
                        self.marked(id, mark);
                    }
                }
                Output::Progress { pane, progress } => {
                    if let Some(id) = self.session_in(pane).map(|session| session.id) {
                        self.progressed(id, progress);
                    }
                }
                Output::Title { pane, title } => {
                    if let Some(id) = self.session_in(pane).map(|session| session.id) {
                        self.titled(id, &title);
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
        let Some(id) = self.session_in(pane).map(|session| session.id) else { return };
        let typed = self.typing.take_if(|typing| *typing == pane).is_some();
        if typed {
            self.typed(id, &bytes);
            self.keys.typed();
            self.turns.expect_answer(id, Instant::now());
        }
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

    /// What a session's tasks say.
    async fn hear(&mut self, id: SessionId, event: SessionEvent) {
        match event {
            SessionEvent::Printed(bytes, permit) => {
                self.printed(id, &bytes, permit);
                if bytes.len() >= LARGE {
                    // The runtime looks at sockets and terminals in between: a key waits for one such batch at most.
                    tokio::task::yield_now().await;
                }
            }
            SessionEvent::Exited(status) => self.exited(id, exit_code(status)),
        }
    }

    fn printed(&mut self, id: SessionId, bytes: &[u8], permit: OwnedSemaphorePermit) {
        let now = self.steady();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.observed.printed(now);
        if session.plain_tags {
            self.watcher.printed(id, bytes, self.clock.now());
        }
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
        if !on_purpose && self.exit_code == 0 {
            self.exit_code = code;
        }
        // Of those that are killed, the kernel's victim is the one whose end was counted.
        let oom_killed = code == KILLED && self.oom_kills.again();
        let end = ProcessEnd { exit_code: code, oom_killed, on_purpose };
        self.process_ended(id, end);
        let status: AgentStatus = end.status();
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

    pub(super) fn publish(&mut self, kind: EventKind) {
        self.log.publish(kind, self.clock.now());
    }

    /// Tells the sessions to end; those that do not are killed after a grace.
    pub(super) fn stop(&mut self) {
        self.picking = false;
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

    /// When something is due even if nothing happens.
    fn next_alarm(&self) -> Option<Instant> {
        let (steady, now) = (self.steady(), self.clock.now());
        let kill = self.sessions.values().filter_map(|session| session.kill_at).min();
        let observe =
            self.sessions.values().filter_map(|session| session.observed.next_timeout(steady, now)).min();
        let observe = observe.map(|after| Instant::now() + after);
        // A frame that is due already waits for the client.
        let frame = self.mux.frame_due().filter(|due| *due > steady);
        let mux = [frame, self.mux.poll_timeout()].into_iter().flatten().min();
        let mux = mux.map(|at| self.started + at.since(Timestamp::default()));
        [kill.map(tokio::time::Instant::into_std), observe, mux, self.turns.due()].into_iter().flatten().min()
    }

    fn handle_timeouts(&mut self) {
        let now = tokio::time::Instant::now();
        for session in self.sessions.values_mut() {
            if session.kill_at.is_some_and(|at| at <= now) {
                session.kill_at = None;
                session.signal(Signal::KILL);
            }
        }
        let ids: Vec<SessionId> = self.sessions.keys().copied().collect();
        for id in ids {
            self.observe_timeouts(id);
        }
    }

    /// What `status` and the session list tell.
    pub(super) fn session_infos(&self) -> Vec<SessionInfo> {
        self.sessions.values().map(|session| self.session_info(session)).collect()
    }

    fn session_info(&self, session: &Session) -> SessionInfo {
        let Session { id, pane, title, observed, .. } = session;
        let authority = observed.authority();
        let cwd = session.leader().and_then(directory_in_front).or_else(|| session.cwd.clone());
        SessionInfo {
            id: *id,
            pane: Some(*pane),
            tab: self.mux.tab(*pane).and_then(|tab| u32::try_from(tab + 1).ok()),
            title: title.clone(),
            agent: observed.agent().map(ToOwned::to_owned),
            status: authority.status().clone(),
            attention: authority.attention(),
            since: authority.since(),
            cause: authority.cause().clone(),
            size: self.mux.size(*pane).unwrap_or_default(),
            cwd: cwd.map(|cwd| cwd.display().to_string()),
            usage: observed.usage(),
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

    fn attach(&mut self, Attach { id, hello, terminal_taken, frames }: Attach) {
        self.dismiss_client(ShutdownReason::TakenOver, "another terminal attached to this capsule");
        let mut wire = Vec::new();
        let welcome = Welcome {
            version: Version::CURRENT,
            instance: self.instance.clone(),
            session_count: self.sessions.len(),
            terminal_taken,
        };
        for frame in [Frame::Welcome(welcome), Frame::SessionList(self.session_infos())] {
            // Texts are bounded where they enter; a list that is too long all the same is done without.
            let _ = encode(&frame, &mut wire);
        }
        // The channel is empty: it was made for this client.
        if frames.try_send(ToClient::Frames(wire)).is_err() {
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
    fn room_for_a_frame(&self) -> impl Future<Output = Option<mpsc::OwnedPermit<ToClient>>> + use<> {
        let frames = self.client.as_ref().map(|client| client.frames.clone());
        async { frames?.reserve_owned().await.ok() }
    }

    /// Draws what is due, unless the client has not taken the last frame; then it is behind.
    fn render_if_due(&mut self) -> bool {
        if self.mux.frame_due().is_none_or(|due| due > self.steady()) {
            return false;
        }
        let room = self.client.as_ref().map(|client| client.frames.clone().try_reserve_owned());
        match room {
            Some(Ok(permit)) => {
                self.render(permit);
                false
            }
            Some(Err(_)) => true,
            None => false,
        }
    }

    fn render(&mut self, permit: mpsc::OwnedPermit<ToClient>) {
        let mut screen = Vec::new();
        self.mux.render(self.steady(), &mut screen);
        permit.send(ToClient::Screen(screen));
    }

    fn ring(&self) {
        if let Some(client) = &self.client {
            // A client that is behind has more to worry about than a bell.
            let _ = client.frames.try_send(ToClient::Bell);
        }
    }

    fn dismiss_client(&mut self, reason: ShutdownReason, message: &str) {
        // Whoever leaves without having chosen anything wants nothing.
        self.picking &= self.client.is_none() || matches!(reason, ShutdownReason::TakenOver);
        if let Some(client) = self.client.take() {
            tokio::spawn(farewell(client.frames, Shutdown { reason, message: message.to_owned() }));
            self.mux.handle_input(Input::Detached, self.steady());
            self.publish(EventKind::ClientDetached);
        }
    }

    fn client_gone(&mut self) {
        if self.client.take().is_some() {
            self.picking = false;
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
            let on_purpose = self.last.as_ref().is_some_and(|session| session.stopped_on_purpose);
            let reason = if on_purpose {
                ShutdownReason::Stopped
            } else {
                ShutdownReason::AllSessionsEnded { exit_code }
            };
            let message = self.last.as_ref().map_or_else(String::new, |session| {
                format!("{}: {}", session.title, session.observed.authority().status())
            });
            let last_frame =
                tokio::time::timeout(FAREWELL_LIMIT, client.frames.send(ToClient::Screen(screen))).await;
            if last_frame.is_ok() {
                farewell(client.frames, Shutdown { reason, message }).await;
            }
        }
        exit_code
    }
}

/// How long a client that does not read may delay its own farewell.
const FAREWELL_LIMIT: Duration = Duration::from_secs(1);

async fn farewell(frames: mpsc::Sender<ToClient>, shutdown: Shutdown) {
    let mut wire = Vec::new();
    if encode(&Frame::Shutdown(shutdown), &mut wire).is_err() {
        return;
    }
    // It may be gone or stuck; then there is nobody to tell.
    let _ = tokio::time::timeout(FAREWELL_LIMIT, frames.send(ToClient::Frames(wire))).await;
}

/// A secret that nobody guesses.
fn new_token() -> Result<String> {
    let mut random = [0u8; 16];
    let filled = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .context("the system gives no random numbers")?;
    anyhow::ensure!(filled == random.len(), "the system gives too few random numbers");
    Ok(random.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")))
}
