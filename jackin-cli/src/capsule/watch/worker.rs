use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use jackin_core::{InstanceName, SessionId};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::head::Head;
use super::owner::{Candidate, owner};
use super::plain::PlainOutput;
use super::rules::Rules;
use super::subject::{Sought, Watched};
use super::{Branch, Finding, Order, Watching, sse};

/// What wakes the thread.
#[derive(Debug)]
pub(super) enum Wake {
    Order(SessionId, Order),
    /// Something changed in a watched directory.
    Changed,
    /// A process that was watched has ended.
    Ended(SessionId),
    End,
}

/// The thread's own: every session, and what is watched for it.
pub(super) struct Worker {
    instance: InstanceName,
    rules: Rules,
    findings: tokio::sync::mpsc::Sender<(SessionId, Finding)>,
    head: Option<Head>,
    branch: tokio::sync::watch::Sender<Option<Branch>>,
    to_self: Sender<Wake>,
    plain_waiting: Arc<AtomicUsize>,
    sessions: BTreeMap<SessionId, Watched>,
    plain: BTreeMap<SessionId, PlainOutput>,
    files: Files,
}

impl Worker {
    pub(super) fn new(
        instance: InstanceName,
        head: Option<Head>,
        rules: Rules,
        Watching { findings, branch }: Watching,
        to_self: Sender<Wake>,
        plain_waiting: Arc<AtomicUsize>,
    ) -> Self {
        Self {
            instance,
            rules,
            findings,
            head,
            branch,
            files: Files::new(to_self.clone()),
            to_self,
            plain_waiting,
            sessions: BTreeMap::new(),
            plain: BTreeMap::new(),
        }
    }

    /// Runs until the daemon is gone.
    pub(super) fn run(mut self, wakes: &Receiver<Wake>) {
        self.look_at_head();
        loop {
            let due = self.sessions.values().filter_map(Watched::due).min();
            let wake = match due {
                Some(due) => wakes.recv_timeout(due.saturating_duration_since(Instant::now())),
                None => wakes.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match wake {
                Ok(Wake::End) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Wake::Order(id, order)) => self.obey(id, order),
                Ok(Wake::Changed) => {
                    self.files.noticed();
                    self.look_at_head();
                    self.sessions.values_mut().for_each(Watched::files_changed);
                }
                Ok(Wake::Ended(id)) => {
                    if let Some(session) = self.sessions.get_mut(&id) {
                        session.look_soon();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.look(Instant::now());
            if self.findings.is_closed() {
                return;
            }
        }
    }

    fn obey(&mut self, id: SessionId, order: Order) {
        match order {
            Order::Watch(subject) => {
                if subject.plain_tags {
                    self.plain.insert(id, PlainOutput::new(self.instance.clone(), id));
                }
                if let Some(port) = subject.sse_port {
                    sse::follow(id, port, self.findings.clone());
                }
                self.sessions.insert(id, Watched::new(*subject));
            }
            Order::Forget => {
                self.sessions.remove(&id);
                self.plain.remove(&id);
                self.watch_files();
            }
            Order::Look { typed } => {
                // A repository that was not there when we last looked, or that cannot be watched.
                self.look_at_head();
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.active(typed);
                }
            }
            Order::TypedInto(at) => {
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.typed(at);
                }
            }
            Order::Screen { agent, screen } => {
                let look = self.rules.look(&agent, &screen);
                self.tell(id, Finding::Screen(look));
            }
            Order::Transcript(path) => {
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.told_transcript(path);
                }
            }
            Order::Printed { bytes, at } => {
                self.plain_waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
                let found =
                    self.plain.get_mut(&id).map(|plain| plain.printed(&bytes, at)).unwrap_or_default();
                if !found.is_empty() {
                    self.tell(id, Finding::Tags(found));
                }
            }
            Order::Typed(bytes) => {
                if let Some(plain) = self.plain.get_mut(&id) {
                    plain.typed(&bytes);
                }
            }
        }
    }

    /// Looks at the sessions for which it is time.
    fn look(&mut self, now: Instant) {
        let due: Vec<SessionId> = self
            .sessions
            .iter()
            .filter(|(_, session)| session.due().is_some_and(|due| due <= now))
            .map(|(id, _)| *id)
            .collect();
        if due.is_empty() {
            return;
        }
        for id in due {
            let Some(session) = self.sessions.get_mut(&id) else { continue };
            let mut found = Vec::new();
            let new_agent = session.look_at_processes(now, |finding| found.push(finding));
            if let Some(process) = new_agent {
                tell_end(id, process, self.to_self.clone());
            }
            if let Some(sought) = session.seek_transcript(now) {
                self.give(id, sought);
            }
            for finding in found {
                self.tell(id, finding);
            }
            if let Some(session) = self.sessions.get_mut(&id) {
                let findings = &self.findings;
                // A daemon that is gone is noticed by the loop.
                session.read_transcript(|finding| drop(findings.blocking_send((id, finding))));
                session.looked(now, self.files.is_polling());
            }
        }
        self.watch_files();
    }

    /// Gives a session the transcripts that are its own and leaves the others.
    fn give(&mut self, id: SessionId, sought: Vec<Sought>) {
        for sought in sought {
            let taken = self.sessions.iter().any(|(other, session)| {
                *other != id && (session.reads(&sought.path) || session.has_open(&sought.path))
            });
            let Some(session) = self.sessions.get(&id).filter(|_| !taken) else { continue };
            let is_own = session.has_open(&sought.path) || {
                let rivals = self.sessions.iter().filter(|(_, other)| other.may_write(&sought.path));
                let candidates: Vec<Candidate<'_>> = rivals.map(|(id, other)| other.candidate(*id)).collect();
                owner(&candidates, sought.at) == Some(id)
            };
            if is_own && let Some(session) = self.sessions.get_mut(&id) {
                tracing::debug!("session {id} writes {}", sought.path.display());
                session.follow(sought);
            }
        }
    }

    fn look_at_head(&mut self) {
        let Some(head) = &mut self.head else { return };
        let before = head.directory().map(Path::to_owned);
        let branch = head.look();
        let moved = head.directory() != before.as_deref();
        self.branch.send_if_modified(|told| {
            let is_news = *told != branch;
            *told = branch;
            is_news
        });
        if moved {
            self.watch_files();
        }
    }

    fn watch_files(&mut self) {
        let of_head = self.head.as_ref().and_then(Head::directory).map(Path::to_owned);
        let of_sessions = self.sessions.values().flat_map(Watched::directories);
        let wanted = of_sessions.chain(of_head).collect();
        self.files.watch(wanted);
    }

    fn tell(&self, id: SessionId, finding: Finding) {
        // A daemon that is gone is noticed by the loop.
        let _ = self.findings.blocking_send((id, finding));
    }
}

/// Says when a process has ended, which nothing on its terminal need tell.
fn tell_end(id: SessionId, pid: u32, to_worker: Sender<Wake>) {
    #[cfg(target_os = "linux")]
    {
        use rustix::event::{PollFd, PollFlags, poll};
        use rustix::process::{Pid, PidfdFlags, pidfd_open};
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        let wait = move || {
            // An end that is missed is noticed when something is printed.
            let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], None);
            let _ = to_worker.send(Wake::Ended(id));
        };
        let _ = std::thread::Builder::new().name("agent-end".to_owned()).stack_size(64 << 10).spawn(wait);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (id, pid, to_worker);
}

/// The directories that are watched for changes. Where the system cannot watch, the worker looks at them now and then.
struct Files {
    to_worker: Sender<Wake>,
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    /// A change was told and not yet taken: further ones are no news.
    told: Arc<AtomicBool>,
    polling: bool,
}

impl Files {
    fn new(to_worker: Sender<Wake>) -> Self {
        Self {
            to_worker,
            watcher: None,
            watched: BTreeSet::new(),
            told: Arc::new(AtomicBool::new(false)),
            // For those who want to see how it works where nothing can be watched.
            polling: std::env::var_os("JACKIN_WATCH").is_some_and(|how| how == "poll"),
        }
    }

    fn noticed(&self) {
        self.told.store(false, Ordering::Release);
    }

    fn is_polling(&self) -> bool {
        self.polling
    }

    fn watch(&mut self, wanted: BTreeSet<PathBuf>) {
        if self.polling || wanted == self.watched {
            return;
        }
        if self.watcher.is_none() && !wanted.is_empty() {
            let (told, to_worker) = (Arc::clone(&self.told), self.to_worker.clone());
            let notice = move |event: notify::Result<notify::Event>| {
                // Reading, which we do ourselves, is no change.
                let changed = event.is_ok_and(|event| !matches!(event.kind, EventKind::Access(_)));
                if changed && !told.swap(true, Ordering::AcqRel) {
                    let _ = to_worker.send(Wake::Changed);
                }
            };
            match notify::recommended_watcher(notice) {
                Ok(watcher) => self.watcher = Some(watcher),
                Err(error) => return self.give_up(&error),
            }
        }
        let Some(watcher) = &mut self.watcher else { return };
        for gone in self.watched.difference(&wanted) {
            // It may not exist any more.
            let _ = watcher.unwatch(gone);
        }
        let mut failed = None;
        for new in wanted.difference(&self.watched) {
            if let Err(error) = watcher.watch(new, RecursiveMode::NonRecursive) {
                failed = Some(error).filter(|_| Path::exists(new));
            }
        }
        self.watched = wanted;
        if let Some(error) = failed {
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &notify::Error) {
        tracing::warn!("directories cannot be watched, so they are looked at now and then: {error}");
        self.watcher = None;
        self.watched.clear();
        self.polling = true;
    }
}

/// How often what cannot be watched is looked at while its session is active.
pub(super) const POLL: Duration = Duration::from_millis(500);
