use std::time::Duration;

use jackin_core::{RuntimeEvent, Timestamp};

use super::claim::{Claim, Says};
use crate::Channel;
use crate::decode::recent::Recent;

/// After the source ended, how long "busy" and "question" still stand: the process's end usually follows at once.
const CLOSING: Duration = Duration::from_secs(2);
/// How long the last background task's end is not yet taken for idleness: it usually wakes another turn.
const WAKING: Duration = Duration::from_secs(2);
/// How long "busy" stands without another word. Tools may run long without a hook or a line.
const HOOK_STALE: Duration = Duration::from_secs(15 * 60);
const TRANSCRIPT_STALE: Duration = Duration::from_secs(10 * 60);
/// How long "busy" stands on a transcript whose last word is the agent's and which has no tool open: that is how a turn
/// ends there, and only newer versions say so.
const LAST_WORD_STALE: Duration = Duration::from_secs(10);

/// What one structured channel has said.
#[derive(Debug)]
pub(super) struct ChannelState {
    channel: Channel,
    phase: Phase,
    /// When it last said anything about the status, by its own clock, and in which order: the later breaks a tie.
    at: Timestamp,
    order: u64,
    evidence: String,
    waits: Recent<Wait>,
    agents: Recent<()>,
    tools: Recent<()>,
    last_word: bool,
    /// The last background task ended at this time, after the turn had.
    tasks_done: Option<Timestamp>,
    closed: Option<Timestamp>,
}

#[derive(Debug, PartialEq)]
enum Phase {
    Silent,
    Busy,
    Idle(Option<String>),
}

#[derive(Debug)]
struct Wait {
    prompt: Option<String>,
    at: Timestamp,
}

/// What an event means for a question that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bearing {
    /// Nothing.
    None,
    /// Somebody is asked.
    Asks,
    /// Nobody is asked any more, whoever asked before.
    Settles,
    /// The agent goes on, so if a screen only seemed to ask, it was answered.
    GoesOn,
}

impl ChannelState {
    pub(super) fn new(channel: Channel) -> Self {
        Self {
            channel,
            phase: Phase::Silent,
            at: Timestamp::default(),
            order: 0,
            evidence: String::new(),
            waits: Recent::default(),
            agents: Recent::default(),
            tools: Recent::default(),
            last_word: false,
            tasks_done: None,
            closed: None,
        }
    }

    pub(super) fn apply(&mut self, event: &RuntimeEvent, at: Timestamp, order: u64) -> Bearing {
        let words = describe(event);
        let bearing = match event {
            RuntimeEvent::SessionStarted { .. } => {
                *self = Self::new(self.channel);
                // The hook fires when the agent is ready for a prompt. Elsewhere it only gives the session its name.
                if self.channel == Channel::Hook {
                    self.phase = Phase::Idle(None);
                }
                Bearing::Settles
            }
            RuntimeEvent::TurnStarted => {
                self.phase = Phase::Busy;
                self.waits.clear();
                Bearing::Settles
            }
            RuntimeEvent::AssistantText { .. } => {
                self.phase = Phase::Busy;
                self.last_word = true;
                Bearing::GoesOn
            }
            RuntimeEvent::ToolStarted { id, .. } => {
                self.phase = Phase::Busy;
                self.last_word = false;
                self.tools.insert(id, ());
                Bearing::None
            }
            RuntimeEvent::ToolFinished { id, .. } => {
                self.phase = Phase::Busy;
                self.last_word = false;
                self.tools.remove(id);
                Bearing::GoesOn
            }
            RuntimeEvent::Waiting { id, prompt } => {
                self.phase = Phase::Busy;
                let wait = Wait { prompt: prompt.clone(), at };
                self.waits.insert(id.as_deref().unwrap_or_default(), wait);
                Bearing::Asks
            }
            RuntimeEvent::WaitingResolved { id: Some(id) } => {
                self.waits.remove(id);
                if self.waits.is_empty() { Bearing::Settles } else { Bearing::None }
            }
            RuntimeEvent::WaitingResolved { id: None } => {
                self.waits.clear();
                Bearing::Settles
            }
            RuntimeEvent::TurnEnded { error } => {
                self.phase = Phase::Idle(error.clone());
                self.waits.clear();
                self.tools.clear();
                self.last_word = false;
                self.tasks_done = None;
                Bearing::Settles
            }
            RuntimeEvent::SubAgentStarted { id } => {
                self.agents.insert(id, ());
                Bearing::None
            }
            RuntimeEvent::SubAgentEnded { id } => {
                let known = self.agents.remove(id).is_some();
                if !known {
                    return Bearing::None;
                }
                self.tasks_done = (self.agents.is_empty() && self.phase != Phase::Busy).then_some(at);
                Bearing::None
            }
            RuntimeEvent::Ended => {
                self.closed = Some(at);
                return Bearing::None;
            }
            // Tokens and whatever comes later say nothing about the status.
            _ => return Bearing::None,
        };
        self.closed = None;
        self.at = at;
        self.order = order;
        self.evidence = words;
        bearing
    }

    pub(super) fn close(&mut self, at: Timestamp) {
        self.closed = Some(at);
    }

    /// Somebody was answered, as another source tells: forgets what was asked up to `at`.
    pub(super) fn settle_waits(&mut self, at: Timestamp) {
        self.waits.retain(|wait| wait.at > at);
    }

    pub(super) fn channel(&self) -> Channel {
        self.channel
    }

    /// What decides between two channels: which spoke last.
    pub(super) fn age(&self) -> (Timestamp, u64) {
        (self.at, self.order)
    }

    pub(super) fn at(&self) -> Timestamp {
        self.at
    }

    /// What it says at `now`.
    pub(super) fn claim(&self, now: Timestamp) -> Option<Claim> {
        let source = self.channel.source();
        if let Some(wait) = self.waits.values().next_back() {
            let evidence = match &wait.prompt {
                Some(prompt) => format!("asks: {prompt}"),
                None => "waits for an answer".to_owned(),
            };
            return Some(Claim::new(Says::Question(wait.prompt.clone()), source, evidence, wait.at));
        }
        let tasks = self.agents.len();
        let says = match &self.phase {
            Phase::Silent if tasks == 0 => return None,
            Phase::Silent | Phase::Busy => Says::Busy,
            Phase::Idle(_) if tasks > 0 => {
                let evidence = format!("{}, background tasks: {tasks}", self.evidence);
                return Some(Claim::new(Says::Busy, source, evidence, self.at));
            }
            Phase::Idle(_) if self.tasks_done.is_some_and(|done| now < done + WAKING) => Says::Busy,
            Phase::Idle(error) => Says::Idle(error.clone()),
        };
        Some(Claim::new(says, source, self.evidence.clone(), self.at))
    }

    /// Why what it says no longer counts at `now`, if so.
    pub(super) fn stale(&self, now: Timestamp) -> Option<&'static str> {
        let (since, why) = self.stale_from()?;
        (since <= now).then_some(why)
    }

    fn stale_from(&self) -> Option<(Timestamp, &'static str)> {
        let idle = self.waits.is_empty() && self.agents.is_empty() && matches!(self.phase, Phase::Idle(_));
        if idle {
            return None;
        }
        if let Some(closed) = self.closed {
            return Some((closed + CLOSING, "the source has ended"));
        }
        // A question is not forgotten because nobody answers it.
        if !self.waits.is_empty() {
            return None;
        }
        match self.channel {
            Channel::Stream => None,
            Channel::Hook => Some((self.at + HOOK_STALE, "no hook has reported for 15 minutes")),
            Channel::Transcript if self.last_word && self.tools.is_empty() => {
                Some((self.at + LAST_WORD_STALE, "the transcript's last word may be the turn's end"))
            }
            Channel::Transcript => {
                Some((self.at + TRANSCRIPT_STALE, "the transcript has not grown for 10 minutes"))
            }
        }
    }

    /// When what it says may change by time alone.
    pub(super) fn deadlines(&self) -> impl Iterator<Item = Timestamp> {
        let waking = self.tasks_done.map(|done| done + WAKING);
        self.stale_from().map(|(since, _)| since).into_iter().chain(waking)
    }
}

fn describe(event: &RuntimeEvent) -> String {
    match event {
        RuntimeEvent::SessionStarted { .. } => "session started".to_owned(),
        RuntimeEvent::TurnStarted => "turn started".to_owned(),
        RuntimeEvent::AssistantText { .. } => "assistant text".to_owned(),
        RuntimeEvent::ToolStarted { name, .. } => format!("tool {name} started"),
        RuntimeEvent::ToolFinished { failed: false, .. } => "tool finished".to_owned(),
        RuntimeEvent::ToolFinished { failed: true, .. } => "tool failed".to_owned(),
        RuntimeEvent::Waiting { .. } => "asked".to_owned(),
        RuntimeEvent::WaitingResolved { .. } => "answered".to_owned(),
        RuntimeEvent::TurnEnded { error: None } => "turn ended".to_owned(),
        RuntimeEvent::TurnEnded { error: Some(error) } => format!("turn failed: {error}"),
        RuntimeEvent::SubAgentStarted { .. } => "sub-agent started".to_owned(),
        RuntimeEvent::SubAgentEnded { .. } => "sub-agent ended".to_owned(),
        _ => "event".to_owned(),
    }
}
