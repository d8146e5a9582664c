use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{AgentStatus, Cause, Timestamp};

/// What an operator needs to know of an agent at a glance. The greater is the more urgent, so the roll-up of a tab,
/// an instance or a fleet is the maximum of its parts.
///
/// ```
/// use jackin_core::Attention;
///
/// let tab = [Attention::Working, Attention::Blocked, Attention::Done];
/// assert_eq!(Attention::roll_up(tab), Attention::Blocked);
/// assert_eq!(Attention::roll_up([]), Attention::Unknown);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Attention {
    /// Nothing is known.
    #[default]
    Unknown,
    /// Nothing to do and nothing to see.
    Idle,
    /// At work.
    Working,
    /// Finished work that nobody has looked at yet.
    Done,
    /// Cannot go on without the operator: a question, or the process is gone.
    Blocked,
}

impl Attention {
    /// Every value, most urgent first.
    pub const ALL: [Self; 5] = [Self::Blocked, Self::Done, Self::Working, Self::Idle, Self::Unknown];

    /// The most urgent of many.
    pub fn roll_up(parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().max().unwrap_or_default()
    }

    /// The word for it, on the wire and in commands.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Done => "done",
            Self::Blocked => "blocked",
        }
    }
}

impl fmt::Display for Attention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// The word is none of the five.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not a state: write blocked, done, working, idle or unknown")]
pub struct UnknownAttention(String);

impl FromStr for Attention {
    type Err = UnknownAttention;

    fn from_str(text: &str) -> Result<Self, UnknownAttention> {
        Self::ALL
            .into_iter()
            .find(|attention| attention.word() == text)
            .ok_or_else(|| UnknownAttention(crate::name::cut(text)))
    }
}

/// A session's status together with the one flag that turns "idle" into "done": whether somebody has looked.
///
/// The acknowledgement rule: an agent that becomes idle after work, or whose turn failed, is unseen. It is seen once
/// the operator types into its pane, stays on it for [`Standing::DWELL`], or acknowledges it by command. New work
/// makes the next idle unseen again. Nothing else clears it; above all not the agent's own output.
///
/// ```
/// use jackin_core::{AgentStatus, Attention, Cause, Source, Standing, Timestamp};
///
/// let at = Timestamp::from_millis;
/// let cause = |ms| Cause::new(Source::Stream, "as told", at(ms));
/// let mut standing = Standing::new(at(0));
/// standing.set(AgentStatus::Busy { since: at(10) }, cause(10));
/// standing.set(AgentStatus::idle(), cause(20));
/// assert_eq!(standing.attention(), Attention::Done);
/// assert!(standing.acknowledge());
/// assert_eq!(standing.attention(), Attention::Idle);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    status: AgentStatus,
    cause: Cause,
    since: Timestamp,
    unseen: bool,
}

impl Standing {
    /// How long the operator stays on a pane until that counts as having looked.
    pub const DWELL: Duration = Duration::from_secs(2);

    /// A session that was started at `now`.
    pub fn new(now: Timestamp) -> Self {
        Self {
            status: AgentStatus::Initializing,
            cause: Cause::new(crate::Source::Launch, "session started", now),
            since: now,
            unseen: false,
        }
    }

    /// Takes a new verdict. Returns whether the status changed, which is when it is worth an event; a fresher cause
    /// for the same status is kept without one.
    pub fn set(&mut self, status: AgentStatus, cause: Cause) -> bool {
        let worked = matches!(self.status, AgentStatus::Busy { .. } | AgentStatus::Question { .. });
        match &status {
            AgentStatus::Idle { error } if *error != self.error() || worked => {
                self.unseen = worked || error.is_some();
            }
            AgentStatus::Idle { .. } => {}
            _ => self.unseen = false,
        }
        let changed = status != self.status;
        // A question whose text became known only later is the same question: the time in state goes on.
        if status.word() != self.status.word() {
            self.since = cause.at;
        }
        (self.status, self.cause) = (status, cause);
        changed
    }

    /// The operator looked. Returns whether that changed anything.
    pub fn acknowledge(&mut self) -> bool {
        std::mem::take(&mut self.unseen)
    }

    /// The operator's pane has had the focus since `focused`: acknowledges once that is long enough. Returns whether
    /// that changed anything; [`Standing::dwell_deadline`] says when to ask again.
    pub fn dwell(&mut self, focused: Timestamp, now: Timestamp) -> bool {
        self.dwell_deadline(focused).is_some_and(|deadline| deadline <= now) && self.acknowledge()
    }

    /// When a focus that began at `focused` will have acknowledged; none when there is nothing to acknowledge.
    pub fn dwell_deadline(&self, focused: Timestamp) -> Option<Timestamp> {
        self.unseen.then(|| focused.max(self.since) + Self::DWELL)
    }

    /// What the operator sees.
    pub fn attention(&self) -> Attention {
        match self.status {
            AgentStatus::Question { .. } | AgentStatus::Crashed { .. } | AgentStatus::OomKilled => {
                Attention::Blocked
            }
            AgentStatus::Idle { .. } if self.unseen => Attention::Done,
            AgentStatus::Busy { .. } => Attention::Working,
            AgentStatus::Idle { .. } | AgentStatus::Ended { .. } => Attention::Idle,
            AgentStatus::Initializing | AgentStatus::Unknown => Attention::Unknown,
        }
    }

    /// The status.
    pub fn status(&self) -> &AgentStatus {
        &self.status
    }

    /// Why it is that.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// Since when it has been that.
    pub fn since(&self) -> Timestamp {
        self.since
    }

    fn error(&self) -> Option<String> {
        match &self.status {
            AgentStatus::Idle { error } => error.clone(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn standing(statuses: &[AgentStatus]) -> Standing {
        let mut standing = Standing::new(at(0));
        for (i, status) in statuses.iter().enumerate() {
            let ms = 100 * (i as u64 + 1);
            standing.set(status.clone(), Cause::new(Source::Stream, "test", at(ms)));
        }
        standing
    }

    fn busy() -> AgentStatus {
        AgentStatus::Busy { since: at(1) }
    }

    fn question() -> AgentStatus {
        AgentStatus::Question { prompt: None, since: at(1) }
    }

    fn failed() -> AgentStatus {
        AgentStatus::Idle { error: Some("rate limit".into()) }
    }

    #[test]
    fn attention_of_every_status() {
        for (history, expected) in [
            (vec![], Attention::Unknown),
            (vec![AgentStatus::Unknown], Attention::Unknown),
            (vec![AgentStatus::idle()], Attention::Idle),
            (vec![busy()], Attention::Working),
            (vec![busy(), AgentStatus::idle()], Attention::Done),
            (vec![busy(), question(), AgentStatus::idle()], Attention::Done),
            (vec![failed()], Attention::Done),
            (vec![busy(), question()], Attention::Blocked),
            (vec![AgentStatus::Crashed { exit_code: 1 }], Attention::Blocked),
            (vec![AgentStatus::OomKilled], Attention::Blocked),
            (vec![busy(), AgentStatus::Ended { exit_code: 0 }], Attention::Idle),
            (vec![busy(), AgentStatus::idle(), busy()], Attention::Working),
        ] {
            assert_eq!(standing(&history).attention(), expected, "{history:?}");
        }
    }

    #[test]
    fn the_same_idle_again_does_not_undo_a_look() {
        let mut standing = standing(&[busy(), failed()]);
        assert!(standing.acknowledge());
        assert!(!standing.acknowledge());
        standing.set(failed(), Cause::new(Source::Screen, "again", at(900)));
        assert_eq!(standing.attention(), Attention::Idle);
        standing.set(AgentStatus::idle(), Cause::new(Source::Screen, "error gone", at(950)));
        assert_eq!(standing.attention(), Attention::Idle);
    }

    #[test]
    fn a_look_counts_only_after_the_dwell_and_only_from_the_end_of_the_work() {
        let mut standing = standing(&[busy(), AgentStatus::idle()]);
        let finished = standing.since();
        assert_eq!(standing.dwell_deadline(at(0)), Some(finished + Standing::DWELL));
        assert!(!standing.dwell(at(0), finished + Duration::from_millis(1_999)));
        assert!(standing.dwell(at(0), finished + Standing::DWELL));
        assert_eq!(standing.dwell_deadline(at(0)), None);
    }

    #[test]
    fn a_question_stays_blocked_when_looked_at() {
        let mut standing = standing(&[busy(), question()]);
        standing.acknowledge();
        assert_eq!(standing.attention(), Attention::Blocked);
    }

    #[test]
    fn time_in_state_survives_a_better_text_for_the_same_question() {
        let mut standing = standing(&[busy(), question()]);
        let since = standing.since();
        let told = AgentStatus::Question { prompt: Some("Run it?".into()), since: at(1) };
        assert!(standing.set(told.clone(), Cause::new(Source::Screen, "dialog", at(999))));
        assert!(!standing.set(told, Cause::new(Source::Hook, "report", at(1_000))));
        assert_eq!(standing.since(), since);
        assert_eq!(standing.cause().source, Source::Hook);
    }

    #[test]
    fn roll_up_order() {
        assert!(Attention::ALL.is_sorted_by(|a, b| a > b));
        for attention in Attention::ALL {
            assert_eq!(attention.word().parse(), Ok(attention));
        }
        assert!("busy".parse::<Attention>().unwrap_err().to_string().contains("write blocked"));
    }
}
