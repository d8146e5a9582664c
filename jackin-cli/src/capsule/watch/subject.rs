use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jackin_core::{SessionId, Timestamp};
use jackin_status::{Channel, Foreground, Runtime};

use super::foreground::{self, ProcessId};
use super::owner::{Candidate, Reasons};
use super::tail::{Line, Progress, Tail, named_directory, times};
use super::worker::POLL;
use super::{Finding, Subject, places, process};
use crate::capsule::agents::Family;

/// How often the processes of a session are looked at, at most.
const PROCESS_INTERVAL: Duration = Duration::from_millis(250);
/// How often files that change are looked at, at most.
const FILE_INTERVAL: Duration = Duration::from_millis(30);
/// How often directories are searched for transcripts, at most.
const SEEK_INTERVAL: Duration = Duration::from_millis(250);
/// While an agent's tools run, nothing else may tell that they have ended.
const TOOLS_INTERVAL: Duration = Duration::from_secs(2);
/// How long after the last sign of life a session's transcript is still looked for now and then.
const LIVELY: Duration = Duration::from_secs(10);
/// What was written this long before an agent started is not its own; clocks of file systems are coarse.
const COARSE: Duration = Duration::from_secs(2);
/// Lines this much older than the agent are a conversation that it took up again.
const PAST: Duration = Duration::from_secs(5);
/// How many files of the configured directories are looked at, and how deep they may lie.
const MOST_CONFIGURED: usize = 1_000;
const DEEPEST: usize = 4;

/// A session and what was found out about it.
pub(super) struct Watched {
    subject: Subject,
    agent: Option<Agent>,
    /// When the worker should look, and whether at the processes too.
    due: Option<Instant>,
    processes_due: bool,
    processes_seen: Option<Instant>,
    last_active: Instant,
    sought: Option<Instant>,
    seek_again: bool,
    foreground: Option<Foreground>,
}

/// The agent in a session.
struct Agent {
    family: Option<Family>,
    process: Option<ProcessId>,
    reasons: Reasons,
    surroundings: places::Surroundings,
    /// Transcripts that were there before, and how long they were.
    before: BTreeMap<PathBuf, u64>,
    tail: Option<Tail>,
    more: bool,
    /// What the agent itself named.
    told: Option<PathBuf>,
}

/// A transcript that might be this session's.
#[derive(Debug)]
pub(super) struct Sought {
    pub(super) path: PathBuf,
    /// When it was begun or grew again.
    pub(super) at: Timestamp,
    runtime: Runtime,
    from: u64,
}

impl Watched {
    pub(super) fn new(subject: Subject) -> Self {
        let mut watched = Self {
            agent: None,
            due: None,
            processes_due: false,
            processes_seen: None,
            last_active: Instant::now(),
            sought: None,
            seek_again: false,
            foreground: None,
            subject,
        };
        if watched.subject.is_agent {
            let (family, started) = (watched.subject.family, watched.subject.started);
            watched.agent = Some(watched.new_agent(family, None, started));
        }
        watched.active(None);
        watched
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Something was printed or typed.
    pub(super) fn active(&mut self, typed: Option<Timestamp>) {
        if let Some(at) = typed {
            self.typed(at);
        }
        self.last_active = Instant::now();
        self.look_soon();
    }

    /// The operator types.
    pub(super) fn typed(&mut self, at: Timestamp) {
        if let Some(agent) = &mut self.agent {
            agent.reasons.typed(at);
        }
    }

    pub(super) fn look_soon(&mut self) {
        self.processes_due = true;
        let free = self.processes_seen.map(|seen| seen + PROCESS_INTERVAL);
        self.look_by(free.unwrap_or_else(Instant::now));
    }

    pub(super) fn files_changed(&mut self) {
        if self.agent.is_some() {
            self.look_by(Instant::now() + FILE_INTERVAL);
        }
    }

    pub(super) fn told_transcript(&mut self, path: PathBuf) {
        if let Some(agent) = &mut self.agent {
            agent.told = Some(path);
            self.look_by(Instant::now());
        }
    }

    fn look_by(&mut self, at: Instant) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// Who is in front, whether an agent came or went. Returns the number of a new agent's process.
    pub(super) fn look_at_processes(&mut self, now: Instant, mut tell: impl FnMut(Finding)) -> Option<u32> {
        let free = self.processes_seen.is_none_or(|seen| now >= seen + PROCESS_INTERVAL);
        if !std::mem::take(&mut self.processes_due) || !free {
            return None;
        }
        self.processes_seen = Some(now);
        let front = foreground::look(self.subject.leader)?;
        let mut new_agent = None;
        let gone = self.agent.as_ref().and_then(|agent| agent.process).is_some_and(|agent| !agent.is_alive());
        if gone {
            self.foreground = None;
            if self.subject.is_agent {
                // A wrapper may start it again.
                if let Some(agent) = &mut self.agent {
                    agent.process = None;
                }
            } else {
                self.agent = None;
                tell(Finding::AgentLeft);
            }
        }
        if let Some((family, process)) = front.agent {
            let known = self.agent.as_ref().is_some_and(|agent| agent.process == Some(process));
            let configured =
                self.subject.is_agent && self.agent.as_ref().is_some_and(|agent| agent.process.is_none());
            if configured {
                self.learn(family, process);
            } else if !known && !self.subject.is_agent {
                let started = process.started().unwrap_or(self.subject.started);
                self.agent = Some(self.new_agent(Some(family), Some(process), started));
                new_agent = Some(process.pid);
                tell(Finding::AgentStarted(family));
            }
        }
        let agent = self.agent.as_ref()?;
        let in_front = match (front.agent, agent.process) {
            (Some((_, process)), _) => foreground::busy_with(process, &front.name),
            // An agent of an unknown kind is the session's own program.
            (None, None) if front.is_leader => {
                Foreground { name: front.name.clone(), is_agent: true, children: 0 }
            }
            (None, _) => Foreground { name: front.name.clone(), is_agent: false, children: 0 },
        };
        if self.foreground.as_ref() != Some(&in_front) {
            self.foreground = Some(in_front.clone());
            tell(Finding::Foreground(in_front));
        }
        new_agent
    }

    /// The process of an agent that was known to come.
    fn learn(&mut self, family: Family, process: ProcessId) {
        let surroundings = self.surroundings(Some(process));
        let Some(agent) = &mut self.agent else { return };
        agent.process = Some(process);
        agent.family.get_or_insert(family);
        if surroundings != agent.surroundings {
            let files = candidates(agent.family, &surroundings, &self.subject.transcripts);
            agent.before = lengths(files, agent.reasons.started());
            agent.surroundings = surroundings;
        }
    }

    fn new_agent(&self, family: Option<Family>, process: Option<ProcessId>, started: Timestamp) -> Agent {
        let mut agent = Agent {
            family,
            process,
            reasons: Reasons::new(started),
            surroundings: self.surroundings(process),
            before: BTreeMap::new(),
            tail: None,
            more: false,
            told: None,
        };
        agent.before = lengths(candidates(family, &agent.surroundings, &self.subject.transcripts), started);
        agent
    }

    /// Its own environment where that can be read, and what the session was started with.
    fn surroundings(&self, process: Option<ProcessId>) -> places::Surroundings {
        let mut around = self.subject.surroundings.clone();
        if let Some(ProcessId { pid, .. }) = process {
            around.read(|name| process::variable(pid, name));
            around.cwd = process::directory(pid).or(around.cwd);
        }
        around
    }

    /// Transcripts that are new, or have grown, since the agent started.
    pub(super) fn seek_transcript(&mut self, now: Instant) -> Option<Vec<Sought>> {
        let agent = self.agent.as_mut()?;
        let runtime = agent.family?.transcript()?;
        let family = agent.family?;
        let known = |path: &PathBuf| path.is_file() && places::is_known(family, &agent.surroundings, path);
        // It may be named before it is there.
        if let Some(path) = agent.told.take_if(|path| known(path)) {
            let from = agent.before.get(&path).copied().unwrap_or(0);
            if agent.tail.as_ref().is_none_or(|tail| tail.path() != path) {
                agent.tail = Some(Tail::new(path, runtime, from));
            }
            return None;
        }
        self.seek_again = self.sought.is_some_and(|sought| now < sought + SEEK_INTERVAL);
        if self.seek_again {
            return None;
        }
        self.sought = Some(now);
        let mut sought = Vec::new();
        for path in candidates(agent.family, &agent.surroundings, &self.subject.transcripts) {
            let Some((len, modified, born)) = times(&path) else { continue };
            let before = agent.before.get(&path).copied();
            let current = agent.tail.as_ref().is_some_and(|tail| tail.path() == path);
            let old = modified + COARSE < agent.reasons.started() || before == Some(len);
            if current || old || !is_from_here(family, &path, agent.surroundings.cwd.as_deref()) {
                continue;
            }
            let at = if before.is_some() { modified } else { born.unwrap_or(modified) };
            sought.push(Sought { path, at, runtime, from: before.unwrap_or(0) });
        }
        sought.sort_by_key(|sought| sought.at);
        Some(sought)
    }

    /// Takes a transcript for its own.
    pub(super) fn follow(&mut self, sought: Sought) {
        if let Some(agent) = &mut self.agent {
            // Once read, it is no longer one that might be taken up again.
            if let Some(old) = &agent.tail
                && let Some((len, ..)) = times(old.path())
            {
                agent.before.insert(old.path().to_owned(), len);
            }
            agent.tail = Some(Tail::new(sought.path, sought.runtime, sought.from));
        }
    }

    pub(super) fn read_transcript(&mut self, mut tell: impl FnMut(Finding)) {
        let Some(agent) = &mut self.agent else { return };
        let Some(tail) = &mut agent.tail else { return };
        let oldest = Timestamp::from_millis(
            agent.reasons.started().as_millis().saturating_sub(PAST.as_millis() as u64),
        );
        let channel = tail.runtime().channel();
        let progress = tail.read(|Line { at, events }| {
            if at.is_none_or(|at| at >= oldest) {
                tell(Finding::Said { channel, at, events });
            }
        });
        agent.more = progress == Progress::More;
        if progress == Progress::Gone {
            agent.tail = None;
            tell(Finding::Closed(Channel::Transcript));
        }
    }

    /// Everything was looked at; says when to look again although nothing happens.
    pub(super) fn looked(&mut self, now: Instant, polling: bool) {
        self.due = None;
        let lively = now < self.last_active + LIVELY;
        if self.processes_due {
            self.look_soon();
        }
        if self.seek_again {
            self.look_by(self.sought.map_or(now, |sought| sought + SEEK_INTERVAL));
        }
        let Some(agent) = &self.agent else { return };
        let unfound =
            agent.tail.is_none() && agent.family.is_some_and(|family| family.transcript().is_some());
        let tools = self.foreground.as_ref().is_some_and(|front| front.is_agent && front.children > 0);
        if agent.more {
            self.look_by(now);
        } else if lively && (unfound || polling) {
            self.look_by(now + POLL);
        }
        if tools {
            self.processes_due = true;
            self.look_by(now + TOOLS_INTERVAL);
        }
    }

    /// Whether it reads this transcript.
    pub(super) fn reads(&self, path: &Path) -> bool {
        self.agent.as_ref().and_then(|agent| agent.tail.as_ref()).is_some_and(|tail| tail.path() == path)
    }

    /// Whether its agent has this file open; most write and close.
    pub(super) fn has_open(&self, path: &Path) -> bool {
        let Some(ProcessId { pid, .. }) = self.agent.as_ref().and_then(|agent| agent.process) else {
            return false;
        };
        let family = std::iter::once(pid).chain(process::below(pid).into_iter().take(4));
        family.flat_map(process::open_files).any(|open| open == path)
    }

    /// Whether its agent could have written this file.
    pub(super) fn may_write(&self, path: &Path) -> bool {
        let Some(agent) = &self.agent else { return false };
        path.parent().is_some_and(|parent| places_of(agent, &self.subject.transcripts).contains(parent))
            || self.subject.transcripts.iter().any(|configured| path.starts_with(configured))
    }

    pub(super) fn candidate(&self, id: SessionId) -> Candidate<'_> {
        let agent = self.agent.as_ref().expect("whoever may write a transcript is an agent");
        Candidate { id, reasons: &agent.reasons, has_one: agent.tail.is_some() }
    }

    /// The directories in which a change would be news.
    pub(super) fn directories(&self) -> BTreeSet<PathBuf> {
        let Some(agent) = &self.agent else { return BTreeSet::new() };
        let mut directories = places_of(agent, &self.subject.transcripts);
        directories.extend(agent.tail.as_ref().and_then(|tail| tail.path().parent()).map(Path::to_owned));
        directories.retain(|directory| directory.is_dir());
        directories
    }
}

fn places_of(agent: &Agent, configured: &[PathBuf]) -> BTreeSet<PathBuf> {
    let usual =
        agent.family.map(|family| places::directories(family, &agent.surroundings)).unwrap_or_default();
    let own = configured.iter().map(|path| {
        if path.is_dir() { path.clone() } else { path.parent().map_or_else(|| path.clone(), Path::to_owned) }
    });
    usual.into_iter().chain(own).collect()
}

/// The transcripts that were there before the agent, and their lengths. One that was begun since is not among them.
fn lengths(paths: Vec<PathBuf>, started: Timestamp) -> BTreeMap<PathBuf, u64> {
    let known = paths.into_iter().filter_map(|path| {
        let (len, modified, born) = times(&path)?;
        let is_new = born.unwrap_or(modified) + COARSE >= started && modified + COARSE >= started;
        (!is_new).then_some((path, len))
    });
    known.collect()
}

/// Every file that may be a transcript of this agent.
fn candidates(family: Option<Family>, around: &places::Surroundings, configured: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(family) = family {
        for directory in places::directories(family, around) {
            let named =
                |path: &PathBuf| path.file_name().is_some_and(|name| places::is_transcript(family, name));
            found.extend(places::files(&directory).filter(named));
        }
    }
    for path in configured {
        collect(path, 0, &mut found);
    }
    found
}

fn collect(path: &Path, depth: usize, into: &mut Vec<PathBuf>) {
    if into.len() >= MOST_CONFIGURED || depth > DEEPEST {
        return;
    }
    if path.is_dir() {
        places::files(path).for_each(|path| collect(&path, depth + 1, into));
    } else {
        into.push(path.to_owned());
    }
}

/// Whether a transcript names the agent's directory. Two directories can share a place for transcripts.
fn is_from_here(family: Family, path: &Path, cwd: Option<&Path>) -> bool {
    match (family, named_directory(path)) {
        (Family::Claude | Family::Codex, Some(named)) => {
            let named = PathBuf::from(named);
            let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
            cwd.is_none_or(|cwd| real(cwd) == real(&named))
        }
        // Its first line says so; it is not written yet.
        (Family::Codex, None) => false,
        _ => true,
    }
}
