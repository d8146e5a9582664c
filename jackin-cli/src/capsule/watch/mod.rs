//! Watches what agents do without asking them: transcripts on disk, the foreground process, the screen, plain output.
//! All of it runs in a thread of its own, so that a slow disk or a long transcript never delays a key; what it finds is
//! sent to the daemon.
//!
//! It wakes when it is told to look (something was printed or typed), when a watched directory changes, or when it said
//! that it would look again. Where nothing happens, it sleeps.

mod foreground;
mod head;
mod owner;
mod places;
mod plain;
mod process;
mod resources;
mod rules;
mod sse;
mod subject;
mod tail;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jackin_core::{InstanceName, RuntimeEvent, SessionId, Timestamp};
use jackin_status::{Channel, Foreground, Look, Screen};
use jackin_tags::AgentTagEvent;

pub(super) use head::Branch;
#[cfg(feature = "host")]
pub(crate) use head::branch;
pub(super) use places::Surroundings;
pub(super) use resources::measure;

use super::agents::Family;
use super::exec_as::read_as;
use super::user::SessionUser;
use head::Head;
use rules::Rules;
use worker::{Wake, Worker};

/// How much plain output may wait to be read; what a program prints on top of that is not searched for tags.
const MOST_PLAIN: usize = 4 << 20;

/// How many findings may wait for the daemon; then the watching waits.
pub(super) const FINDINGS: usize = 256;

/// The working directory of what is in front of the terminal whose session `leader` began.
pub(super) fn directory_in_front(leader: u32) -> Option<PathBuf> {
    let front = process::stat(leader).and_then(|stat| u32::try_from(stat.front).ok());
    front.and_then(process::directory).or_else(|| process::directory(leader))
}

/// A process's parent and the leader of its session.
pub(super) fn ancestry(pid: u32) -> Option<(u32, u32)> {
    let stat = process::stat(pid)?;
    Some((u32::try_from(stat.parent).ok()?, u32::try_from(stat.session).ok()?))
}

/// The processes that are in sessions of which the leader is wanted, each with that leader.
pub(super) fn members(is_wanted: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
    let session = |pid: u32| u32::try_from(process::stat(pid)?.session).ok();
    let all = process::all().filter_map(|pid| Some((pid, session(pid)?)));
    all.filter(|(_, leader)| is_wanted(*leader)).collect()
}

/// The daemon's end of the thread.
#[derive(Debug)]
pub(super) struct Watcher {
    to_worker: std::sync::mpsc::Sender<Wake>,
    plain_waiting: Arc<AtomicUsize>,
}

/// Where the thread tells what it finds.
#[derive(Debug)]
pub(super) struct Watching {
    pub(super) findings: tokio::sync::mpsc::Sender<(SessionId, Finding)>,
    /// What is checked out in the working directory.
    pub(super) branch: tokio::sync::watch::Sender<Option<Branch>>,
}

/// A session to be watched.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    /// The session's first process.
    pub(super) leader: u32,
    /// When it was started.
    pub(super) started: Timestamp,
    /// The agent that its command line is known to start.
    pub(super) family: Option<Family>,
    /// Whether its program is an agent, of a known kind or not. Otherwise it may come to run one, as a shell does.
    pub(super) is_agent: bool,
    pub(super) surroundings: Surroundings,
    /// Files and directories that are configured as its transcripts.
    pub(super) transcripts: Vec<PathBuf>,
    /// Whether tags are taken from what it prints.
    pub(super) plain_tags: bool,
    /// The port of its server's events.
    pub(super) sse_port: Option<u16>,
}

/// What was found out about a session.
#[derive(Debug)]
pub(super) enum Finding {
    /// An agent runs in the session's shell.
    AgentStarted(Family),
    /// It does no more.
    AgentLeft,
    Foreground(Foreground),
    Screen(Look),
    /// The agent said something of itself.
    Said {
        channel: Channel,
        at: Option<Timestamp>,
        events: Vec<RuntimeEvent>,
    },
    /// Nothing more comes from there.
    Closed(Channel),
    /// Tags in what was printed.
    Tags(Vec<AgentTagEvent>),
}

/// What the daemon tells the thread.
#[derive(Debug)]
pub(super) enum Order {
    Watch(Box<Subject>),
    Forget,
    /// Something was printed, or typed: what runs and what was written may have changed.
    Look {
        typed: Option<Timestamp>,
    },
    /// The operator types.
    TypedInto(Timestamp),
    /// What stands on the screen of an agent, to be judged by the rules for it.
    Screen {
        agent: String,
        screen: Box<Screen>,
    },
    /// The agent itself says where its transcript is.
    Transcript(PathBuf),
    Printed {
        bytes: Vec<u8>,
        at: Timestamp,
    },
    Typed(Vec<u8>),
}

impl Watcher {
    /// Starts the thread, which reads files as `user` where one is given. Rules in `rule_directories` come before the built-in ones.
    pub(super) fn start(
        instance: InstanceName,
        workdir: Option<PathBuf>,
        rule_directories: Vec<PathBuf>,
        user: Option<SessionUser>,
        watching: Watching,
    ) -> std::io::Result<Self> {
        let (to_worker, wakes) = std::sync::mpsc::channel();
        let plain_waiting = Arc::new(AtomicUsize::new(0));
        let (to_self, waiting) = (to_worker.clone(), Arc::clone(&plain_waiting));
        std::thread::Builder::new().name("watch".to_owned()).spawn(move || {
            // The operator's rules may be where the agents' user cannot look.
            let rules = Rules::read(&rule_directories);
            // What an agent writes is read with the agent's rights: a link to somebody else's file leads nowhere.
            if let Some(user) = user.filter(|user| user.uid != 0)
                && let Err(error) = read_as(&user)
            {
                tracing::error!("agents cannot be watched as user {}: {error}", user.uid);
                return;
            }
            let head = workdir.map(Head::new);
            Worker::new(instance, head, rules, watching, to_self, waiting).run(&wakes);
        })?;
        Ok(Self { to_worker, plain_waiting })
    }

    pub(super) fn tell(&self, id: SessionId, order: Order) {
        // Without the thread there is less to know, and nothing to do about it.
        let _ = self.to_worker.send(Wake::Order(id, order));
    }

    /// Hands over what a program printed, to be searched for tags.
    pub(super) fn printed(&self, id: SessionId, bytes: &[u8], at: Timestamp) {
        let waiting = self.plain_waiting.fetch_add(bytes.len(), Ordering::Relaxed);
        if waiting + bytes.len() > MOST_PLAIN {
            self.plain_waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
            return;
        }
        self.tell(id, Order::Printed { bytes: bytes.to_vec(), at });
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // The thread holds a sender to itself, so it has to be told.
        let _ = self.to_worker.send(Wake::End);
    }
}
