//! One session as the operator sees it, and the instance that it belongs to.

use std::collections::{BTreeMap, VecDeque};

use jackin_core::protocol::control::{Provider, SessionInfo, TagEntry};
use jackin_core::{
    AgentStatus, Attention, Cause, EventKind, InstanceName, SessionId, Source, TagKind, Timestamp, Usage,
    UsageScope,
};

use crate::host::{Ending, Plan};

/// How many recent events of an instance are kept.
const RECENT: usize = 64;

/// How many tags of an instance are kept. A capsule has limits of its own; this one is for a capsule that lies.
const MOST_TAGS: usize = 512;

/// An instance with everything that is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) name: InstanceName,
    pub(crate) host: String,
    pub(crate) plan: Option<Box<Plan>>,
    pub(crate) presence: Presence,
    pub(crate) sessions: BTreeMap<SessionId, Session>,
    /// What was declared, the latest of each kind last.
    pub(crate) tags: Vec<TagEntry>,
    pub(crate) recent: VecDeque<Recent>,
    /// The last event that is contained in what is known.
    pub(crate) seq: u64,
    /// Since when its presence has been what it is.
    pub(crate) since: Timestamp,
    /// The branch that is checked out in its directory on this machine.
    pub(crate) branch: Option<String>,
    /// Whether it was asked how it is, and has not answered yet.
    pub(crate) asked: bool,
}

/// Whether an instance is there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Presence {
    /// It is being made, or its capsule has not answered yet.
    Starting,
    Running,
    /// Its capsule does not answer, and why.
    Silent(String),
    Ended(Box<Ending>),
}

/// A session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) title: String,
    pub(crate) agent: Option<String>,
    pub(crate) status: AgentStatus,
    pub(crate) attention: Attention,
    pub(crate) since: Timestamp,
    pub(crate) cause: Cause,
    pub(crate) usage: Option<Usage>,
    pub(crate) recording: Option<String>,
    pub(crate) load: Option<Load>,
}

/// What a session uses of its machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Load {
    /// Processor time so far, and when that was measured.
    pub(crate) cpu_ms: u64,
    pub(crate) at: Timestamp,
    /// Percent of one processor between the last two measurements.
    pub(crate) percent: Option<f64>,
    pub(crate) memory: u64,
}

impl Load {
    /// As exact as it is shown: whole percents and mebibytes.
    pub(crate) fn shown(self) -> (Option<u64>, u64) {
        (self.percent.map(|percent| percent.round() as u64), self.memory >> 20)
    }
}

/// Something that happened lately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recent {
    pub(crate) at: Timestamp,
    pub(crate) session: Option<SessionId>,
    pub(crate) what: String,
}

/// A session's attention changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn {
    pub(crate) instance: InstanceName,
    pub(crate) session: Option<SessionId>,
    pub(crate) before: Option<Attention>,
    pub(crate) attention: Attention,
    pub(crate) status: AgentStatus,
    pub(crate) since: Timestamp,
}

impl Instance {
    pub(crate) fn new(
        name: InstanceName,
        host: String,
        plan: Option<Box<Plan>>,
        presence: Presence,
        now: Timestamp,
    ) -> Self {
        Self {
            name,
            host,
            plan,
            presence,
            sessions: BTreeMap::new(),
            tags: Vec::new(),
            recent: VecDeque::new(),
            seq: 0,
            since: now,
            branch: None,
            asked: false,
        }
    }

    /// The workspace's name; an instance of which nothing is known stands for itself.
    pub(crate) fn workspace(&self) -> &str {
        self.plan.as_ref().map_or(self.name.as_str(), |plan| &plan.workspace)
    }

    /// The branch that it works on, where that is known.
    pub(crate) fn branch(&self) -> Option<&str> {
        let made =
            self.plan.as_ref().and_then(|plan| plan.worktree.as_ref()).map(|tree| tree.branch.as_str());
        self.branch.as_deref().or(made)
    }

    /// The agent that it was made for, by the name that its sessions go by.
    pub(crate) fn planned_agent(&self) -> Option<&str> {
        let plan = self.plan.as_ref()?;
        if let Some(program) = plan.command.first() {
            return program.rsplit('/').next();
        }
        let id = plan.agent.as_deref()?;
        let entry = plan.agents.iter().find(|entry| entry.id == id);
        Some(entry.and_then(|entry| entry.display.as_deref()).unwrap_or(id))
    }

    /// The value that stands for a kind.
    pub(crate) fn latest(&self, kind: &TagKind) -> Option<&TagEntry> {
        self.tags.iter().rev().find(|tag| tag.kind == *kind)
    }

    /// What can be opened, best first: what stands for each kind, then the rest.
    pub(crate) fn links(&self) -> Vec<&TagEntry> {
        let kinds = [TagKind::Pr, TagKind::Issue, TagKind::Link, TagKind::Repo];
        let of = |kind: &TagKind| {
            let kind = kind.clone();
            self.tags.iter().rev().filter(move |tag| tag.kind == kind)
        };
        let firsts: Vec<_> = kinds.iter().filter_map(|kind| of(kind).next()).collect();
        let rest = kinds.iter().flat_map(|kind| of(kind).skip(1));
        firsts.into_iter().chain(rest).filter(|tag| tag.value.starts_with("http")).collect()
    }

    /// Takes a tag that an agent declared. Whether it was not known.
    pub(crate) fn observe(&mut self, kind: &TagKind, value: &str) -> bool {
        if matches!(kind, TagKind::Other(_)) {
            return false;
        }
        if *kind == TagKind::Status {
            let top = self.latest(kind);
            if top.is_some_and(|tag| tag.provider == Provider::Operator || tag.value == value) {
                return false;
            }
            self.tags.retain(|tag| tag.kind != TagKind::Status);
        } else if self.tags.iter().any(|tag| tag.kind == *kind && tag.value == value) {
            return false;
        }
        if self.tags.len() >= MOST_TAGS {
            return false;
        }
        // What the operator set stays on top of its kind.
        let before = self.tags.iter().position(|tag| tag.kind == *kind && tag.provider == Provider::Operator);
        let entry = TagEntry { kind: kind.clone(), value: value.to_owned(), provider: Provider::Agent };
        self.tags.insert(before.unwrap_or(self.tags.len()), entry);
        true
    }

    pub(crate) fn set_tags(&mut self, mut tags: Vec<TagEntry>) {
        tags.truncate(MOST_TAGS);
        self.tags = tags;
    }

    pub(crate) fn remember(&mut self, at: Timestamp, session: Option<SessionId>, what: String) {
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Recent { at, session, what });
    }

    /// The most urgent of what it does.
    pub(crate) fn attention(&self) -> Attention {
        match &self.presence {
            Presence::Running => Attention::roll_up(self.sessions.values().map(|session| session.attention)),
            Presence::Ended(ending) if ending.is_clean() => Attention::Idle,
            Presence::Ended(_) => Attention::Blocked,
            Presence::Starting | Presence::Silent(_) => Attention::Unknown,
        }
    }

    /// The status of its row when it has no sessions to show.
    pub(crate) fn status(&self) -> AgentStatus {
        match &self.presence {
            Presence::Ended(ending) => ending.status(),
            Presence::Starting => AgentStatus::Initializing,
            Presence::Running | Presence::Silent(_) => AgentStatus::Unknown,
        }
    }
}

impl Session {
    pub(crate) fn started(id: SessionId, title: String, at: Timestamp) -> Self {
        Self {
            id,
            title,
            agent: None,
            status: AgentStatus::Initializing,
            attention: Attention::Unknown,
            since: at,
            cause: Cause::new(Source::Launch, "session started", at),
            usage: None,
            recording: None,
            load: None,
        }
    }

    pub(crate) fn of(info: SessionInfo) -> Self {
        Self {
            id: info.id,
            title: info.title,
            agent: info.agent,
            status: info.status,
            attention: info.attention,
            since: info.since,
            cause: info.cause,
            usage: info.usage,
            recording: info.recording,
            load: None,
        }
    }

    /// Takes a new status. A question whose text became known later is the same question.
    pub(crate) fn set(&mut self, status: AgentStatus, attention: Attention, cause: Cause) {
        if status.word() != self.status.word() {
            self.since = cause.at;
        }
        (self.status, self.attention, self.cause) = (status, attention, cause);
    }

    /// Adds what the agent says to have used.
    pub(crate) fn used(&mut self, usage: Usage) {
        let Some(before) = self.usage.filter(|_| usage.scope == UsageScope::Turn) else {
            self.usage = Some(usage);
            return;
        };
        let sum = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0).saturating_add(two.unwrap_or(0))),
        };
        let cost = match (before.cost_usd, usage.cost_usd) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0.0) + two.unwrap_or(0.0)),
        };
        self.usage = Some(Usage {
            scope: before.scope,
            input_tokens: sum(before.input_tokens, usage.input_tokens),
            cached_tokens: sum(before.cached_tokens, usage.cached_tokens),
            output_tokens: sum(before.output_tokens, usage.output_tokens),
            cost_usd: cost,
        });
    }

    /// The question in full, while there is one.
    pub(crate) fn question(&self) -> Option<&str> {
        match &self.status {
            AgentStatus::Question { prompt, .. } => {
                Some(prompt.as_deref().unwrap_or("It waits for an answer; its screen shows the question."))
            }
            _ => None,
        }
    }
}

/// The session that an event is about.
pub(crate) fn session_of(kind: &EventKind) -> Option<SessionId> {
    match kind {
        EventKind::SessionStarted { session_id, .. }
        | EventKind::SessionEnded { session_id, .. }
        | EventKind::AgentStateChanged { session_id, .. }
        | EventKind::TagObserved { session_id, .. }
        | EventKind::TitleChanged { session_id, .. }
        | EventKind::UsageUpdated { session_id, .. }
        | EventKind::Bell { session_id }
        | EventKind::RecordingStarted { session_id, .. }
        | EventKind::RecordingEnded { session_id, .. } => Some(*session_id),
        _ => None,
    }
}
