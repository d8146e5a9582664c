//! The daemon: one loop that owns the sessions, their statuses and the multiplexer. Everything else (PTYs,
//! connections) is a task that sends messages to it.
//!
//! Each round: what the operator did comes first, then a frame that is due, then what a program printed. So a
//! flooding program delays neither a key nor a frame by more than one read.

mod client;
mod context;
mod ended;
mod ending;
mod frame_log;
mod outputs;
mod recordings;
mod screens;
mod sessions;
mod start;
mod timeouts;
mod viewers;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use jackin_core::protocol::attach::ShutdownReason;
use jackin_core::{AgentFile, EventKind, InstanceName, PaneId, SessionId, Timestamp};
use jackin_mux::{Input, Mux, Place};
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::sync::{mpsc, watch};

use super::alarm::Alarm;
use super::clock::Clock;
use super::connection::{self, ClientEvent, Door, Message};
use super::endings::Endings;
use super::events::EventLog;
use super::memory::OomKills;
use super::places::Places;
use super::reader::Typing;
use super::record::Ending;
use super::session::{Session, SessionEvent};
use super::socket::{Socket, create_private_dir};
use super::sweep::Sweeper;
use super::tags::InstanceTags;
use super::turns::Turns;
use super::user::SessionUser;
use super::watch::{FINDINGS, Watcher, Watching};
use client::{Client, FAREWELL_LIMIT};
use context::Surrounding;
use ended::EndedSessions;
use frame_log::FrameLog;
use recordings::Recordings;
use screens::Previews;
use start::MAX_SESSIONS;
use viewers::Viewers;

pub(super) use ended::Origin;
pub(super) use recordings::Outcome;
pub(super) use screens::Shown;
pub(super) use start::Start;
#[cfg(feature = "host")]
pub(crate) use start::new_token;

/// What a daemon is started with.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) places: Places,
    /// Whom sessions run as, where that is not whom we run as.
    pub(super) user: Option<SessionUser>,
    /// The operator's user, where that is neither we nor root.
    pub(super) operator_uid: Option<u32>,
    /// The first session's command line; empty means what the configuration says.
    pub(super) command: Vec<String>,
    /// What the host says about the instance.
    pub(super) config: AgentFile,
    pub(super) mux: jackin_mux::Settings,
    /// Where rules about screens are, beside the built-in ones.
    pub(super) rule_directories: Vec<PathBuf>,
}

/// Runs until the last session has ended or a signal or call stops it. Returns the exit code. `ready` is called once
/// the sockets answer and the first session runs.
pub(super) async fn run(settings: Settings, ready: impl FnOnce()) -> Result<i32> {
    let (to_daemon, mut messages) = mpsc::channel(64);
    let (reports, mut from_sessions) = mpsc::channel(2 * MAX_SESSIONS);
    let operator_socket = Socket::bind_for_operator(&settings.places.operator, settings.operator_uid)?;
    let agents_socket = Socket::bind_for_agents(&settings.places, settings.user.as_ref())?;
    let session_uid = settings.user.as_ref().map(|user| user.uid);
    let operator = Door::Operator(settings.operator_uid);
    let (to_findings, mut findings) = mpsc::channel(FINDINGS);
    let (to_recordings, mut recordings) = mpsc::unbounded_channel();
    let (to_branch, mut branch) = watch::channel(None);
    // Before the first session: what has a handler here is not ignored there, however the capsule was started (`nohup`, `&`).
    let signals = signals()?;
    let mut daemon = Daemon::start(
        settings,
        reports,
        Watching { findings: to_findings, branch: to_branch },
        to_recordings,
    )?;
    let (open, mut all_closed) = mpsc::channel(1);
    let doors = [
        tokio::spawn(connection::accept(operator_socket, operator, to_daemon.clone(), open.clone())),
        tokio::spawn(connection::accept(agents_socket, Door::Agents(session_uid), to_daemon.clone(), open)),
    ];
    tokio::spawn(stop_on_signal(signals, to_daemon));
    ready();
    let mut alarm = Alarm::new();
    while daemon.is_alive() {
        daemon.tick();
        let behind = daemon.render_if_due();
        daemon.render_viewers();
        take_in(&mut daemon.turns, &mut from_sessions);
        alarm.set(daemon.next_alarm());
        let now = Instant::now();
        let (turn_ready, answer_near) = (daemon.turns.is_ready(now), daemon.turns.is_answer_near(now));
        tokio::select! {
            biased;
            Some(message) = messages.recv() => daemon.handle(message),
            Some((id, finding)) = findings.recv() => daemon.found(id, finding),
            Some(ending) = recordings.recv() => daemon.recording_ended(ending),
            Ok(()) = branch.changed() => daemon.branch_changed(branch.borrow_and_update().clone()),
            permit = daemon.room_for_a_frame(), if behind => match permit {
                Some(permit) => daemon.render(permit),
                None => daemon.client_gone(),
            },
            () = std::future::ready(()), if turn_ready => daemon.give_turn().await,
            Some((id, event)) = from_sessions.recv() => {
                daemon.turns.arrive(id, event);
                take_in(&mut daemon.turns, &mut from_sessions);
                daemon.give_turn().await;
            }
            () = alarm.rings() => daemon.handle_timeouts(),
            () = look_again(), if answer_near => {}
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

/// Looks at sockets and terminals without falling asleep. Whoever wants the processor, such as the program that is to
/// answer, has it first.
async fn look_again() {
    std::thread::yield_now();
    tokio::task::yield_now().await;
}

/// Everything that sessions have said so far; the choice is then among all of them.
fn take_in(turns: &mut Turns<SessionEvent>, said: &mut mpsc::Receiver<(SessionId, SessionEvent)>) {
    while let Ok((id, event)) = said.try_recv() {
        turns.arrive(id, event);
    }
}

/// The signals that end a capsule.
fn signals() -> Result<[Signals; 4]> {
    let listen = |kind| signal(kind).context("cannot listen for signals");
    Ok([
        listen(SignalKind::terminate())?,
        listen(SignalKind::interrupt())?,
        listen(SignalKind::hangup())?,
        listen(SignalKind::quit())?,
    ])
}

async fn stop_on_signal(
    [mut terminate, mut interrupt, mut hangup, mut quit]: [Signals; 4],
    to_daemon: mpsc::Sender<Message>,
) {
    loop {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
            _ = quit.recv() => {}
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
    places: Places,
    pub(super) user: Option<SessionUser>,
    endings: Endings,
    /// Whether a signal or a call ends it.
    stopping: bool,
    /// By a signal.
    signalled: bool,
    /// Nothing was started yet: the operator is to choose what.
    picking: bool,
    /// The pane that the operator types into just now.
    typing: Option<PaneId>,
    reports: mpsc::Sender<(SessionId, SessionEvent)>,
    client: Option<Client>,
    viewers: Viewers,
    recordings: Recordings,
    previews: Previews,
    frame_log: FrameLog,
    sweeper: Sweeper,
    /// Sessions that were told to end and have, and when what they left is killed.
    remnants: Vec<(u32, Instant)>,
    surrounding: Surrounding,
    started: Instant,
    last_bell: Option<Instant>,
    turns: Turns<SessionEvent>,
    /// How much was printed since the runtime last looked at sockets and terminals.
    unlooked: usize,
    keys: Typing,
    /// What ended badly and was not acknowledged.
    ended: EndedSessions,
    /// The session that ended last.
    last: Option<Session>,
    exit_code: i32,
}

impl Daemon {
    fn start(
        settings: Settings,
        reports: mpsc::Sender<(SessionId, SessionEvent)>,
        watching: Watching,
        recordings: mpsc::UnboundedSender<Ending>,
    ) -> Result<Self> {
        let Settings { places, user, operator_uid: _, command, config, mux, rule_directories } = settings;
        if let Some(state) = &places.state {
            create_private_dir(state).with_context(|| {
                format!("cannot make the directory {} for the record of the end", state.display())
            })?;
        }
        let instance = config.instance.clone();
        let workdir = config.workdir.as_ref().map(PathBuf::from).or_else(|| std::env::current_dir().ok());
        let watcher = Watcher::start(instance.clone(), workdir, rule_directories, user.clone(), watching)
            .context("cannot start the thread that watches agents")?;
        let mut tags = InstanceTags::new(instance.clone());
        if let Err(error) = tags.restore(&config.tag_overrides) {
            tracing::warn!("tag_overrides of the configuration are left out: {error}");
        }
        let mut daemon = Self {
            log: EventLog::new(instance.clone()),
            tags,
            instance,
            sessions: BTreeMap::new(),
            mux: Mux::new(mux),
            clock: Clock::new(),
            oom_kills: OomKills::new(),
            watcher,
            config,
            picking: false,
            typing: None,
            places,
            user,
            endings: Endings::default(),
            stopping: false,
            signalled: false,
            reports,
            client: None,
            viewers: Viewers::new(),
            recordings: Recordings::new(recordings),
            previews: Previews::new(),
            frame_log: FrameLog::new(),
            sweeper: Sweeper::default(),
            remnants: Vec::new(),
            surrounding: Surrounding::default(),
            started: Instant::now(),
            last_bell: None,
            turns: Turns::new(),
            unlooked: 0,
            keys: Typing::new(),
            ended: EndedSessions::new(),
            last: None,
            exit_code: 0,
        };
        let agent = daemon.config.initial_agent.clone().filter(|_| command.is_empty());
        if command.is_empty() && agent.is_none() && !daemon.config.agents.is_empty() {
            daemon.picking = true;
        } else {
            daemon.open(Place::Tab, None, true, Start { command, agent, ..Start::default() })?;
        }
        daemon.tell_context();
        Ok(daemon)
    }

    /// Whether there is something to run for.
    fn is_alive(&self) -> bool {
        self.picking || !self.sessions.is_empty()
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Stop => {
                self.stop();
                self.signalled = true;
                // Whoever ends it by a signal wants to hear that it ended; the record tells the rest.
                self.exit_code = 0;
            }
            Message::Attach(attach) if attach.hello.read_only => self.admit_viewer(attach),
            Message::Attach(attach) => self.attach(attach),
            Message::Client { id, event } if self.client.as_ref().is_some_and(|client| client.id == id) => {
                match event {
                    ClientEvent::Input(bytes) => {
                        self.refresh_context();
                        self.mux.handle_input(Input::Client(&bytes), self.steady());
                    }
                    ClientEvent::Resize(size) => {
                        self.mux.handle_input(Input::Resized(size), self.steady());
                    }
                    ClientEvent::Detach => self.dismiss_client(ShutdownReason::Detached, "detached"),
                    ClientEvent::TerminalGone => {
                        self.dismiss_client(ShutdownReason::Detached, "the terminal is gone");
                    }
                    ClientEvent::Gone => self.client_gone(),
                    ClientEvent::Taken => {}
                }
            }
            // From one that looks on, or from a client that was taken over.
            Message::Client { id, event } => self.hear_viewer(id, &event),
            Message::Call { caller, call, answer } => {
                // Whoever asked may have gone.
                let _ = answer.send(self.answer(caller, call));
            }
        }
    }

    pub(super) fn publish(&mut self, kind: EventKind) {
        self.log.publish(kind, self.clock.now());
    }

    /// The time that intervals are measured with. A wall clock that is set back must not stop the screen.
    pub(super) fn steady(&self) -> Timestamp {
        Timestamp::default() + self.started.elapsed()
    }
}
