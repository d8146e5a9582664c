//! When the operator is told that an agent needs them. Rules only: time, focus and settings are arguments.

use std::collections::BTreeMap;
use std::time::Duration;

use jackin_core::{AgentStatus, Attention, Timestamp};

use super::agent::Turn;
use super::rows::{RowKey, is_crash};

/// The same news about the same session is not told again within this time: an agent that flaps rings once.
const AGAIN: Duration = Duration::from_secs(5);

/// What the operator is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notification {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) news: News,
}

/// What became of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Blocked,
    Done,
    Crashed,
}

/// What was told lately.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notices {
    told: BTreeMap<RowKey, (News, Timestamp)>,
}

/// What counts when something happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    pub(crate) now: Timestamp,
    /// When the console was started: what was so before is seen in the list.
    pub(crate) started: Timestamp,
    /// Whether the operator looks at this very session.
    pub(crate) on_screen: bool,
    pub(crate) muted: bool,
}

impl Notices {
    /// What to tell about a change, if anything.
    pub(crate) fn decide(&mut self, turn: &Turn, how: Circumstances) -> Option<Notification> {
        let news = news(turn)?;
        if how.on_screen || how.muted || (turn.before.is_none() && turn.since < how.started) {
            return None;
        }
        let key = RowKey { instance: turn.instance.clone(), session: turn.session };
        // What was told long ago no longer matters, and must not be kept for ever.
        self.told.retain(|_, (_, at)| how.now.since(*at) < AGAIN);
        if self.told.get(&key).is_some_and(|(told, _)| *told == news) {
            return None;
        }
        self.told.insert(key, (news, how.now));
        let text = match (&turn.status, news) {
            (AgentStatus::Question { prompt: Some(prompt), .. }, _) => prompt.clone(),
            (AgentStatus::Idle { error: Some(error) }, _) => format!("the last turn failed: {error}"),
            (_, News::Blocked) => "waits for an answer".to_owned(),
            (_, News::Done) => "has finished".to_owned(),
            (status, News::Crashed) => status.to_string(),
        };
        let title = match news {
            News::Blocked => format!("{} needs you", turn.instance),
            News::Done => format!("{} is done", turn.instance),
            News::Crashed => format!("{} crashed", turn.instance),
        };
        Some(Notification { title, text, news })
    }
}

fn news(turn: &Turn) -> Option<News> {
    match turn.attention {
        Attention::Blocked if is_crash(&turn.status) => Some(News::Crashed),
        Attention::Blocked => Some(News::Blocked),
        Attention::Done => Some(News::Done),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackin_core::SessionId;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    fn turn(before: Option<Attention>, attention: Attention, status: AgentStatus) -> Turn {
        Turn {
            instance: "api".parse().unwrap(),
            session: SessionId::new(1),
            before,
            attention,
            status,
            since: at(50),
        }
    }

    fn question() -> Turn {
        let status = AgentStatus::Question { prompt: Some("Run it?".into()), since: at(50) };
        turn(Some(Attention::Working), Attention::Blocked, status)
    }

    const USUAL: Circumstances = Circumstances {
        now: Timestamp::from_millis(60_000),
        started: Timestamp::from_millis(10_000),
        on_screen: false,
        muted: false,
    };

    #[test]
    fn blocked_done_and_crashed_are_told_and_nothing_else() {
        let crashed =
            turn(Some(Attention::Working), Attention::Blocked, AgentStatus::Crashed { exit_code: 2 });
        let done = turn(Some(Attention::Working), Attention::Done, AgentStatus::idle());
        for (turn, title, text) in [
            (question(), "api needs you", "Run it?"),
            (done, "api is done", "has finished"),
            (crashed, "api crashed", "crashed (exit code 2)"),
        ] {
            let told = Notices::default().decide(&turn, USUAL).unwrap();
            assert_eq!((told.title.as_str(), told.text.as_str()), (title, text));
        }
        for (attention, status) in [
            (Attention::Working, AgentStatus::Busy { since: at(1) }),
            (Attention::Idle, AgentStatus::idle()),
            (Attention::Unknown, AgentStatus::Unknown),
        ] {
            assert_eq!(Notices::default().decide(&turn(None, attention, status), USUAL), None);
        }
    }

    #[test]
    fn what_is_looked_at_muted_or_old_is_not_told() {
        let decide = |turn: &Turn, how| Notices::default().decide(turn, how);
        assert_eq!(decide(&question(), Circumstances { on_screen: true, ..USUAL }), None);
        assert_eq!(decide(&question(), Circumstances { muted: true, ..USUAL }), None);
        let first_seen = Turn { before: None, ..question() };
        assert!(decide(&first_seen, USUAL).is_some(), "it became so after the start");
        assert_eq!(decide(&first_seen, Circumstances { started: at(51), ..USUAL }), None);
    }

    #[test]
    fn an_agent_that_flaps_rings_once_and_one_that_crashes_then_rings_again() {
        let mut notices = Notices::default();
        assert!(notices.decide(&question(), USUAL).is_some());
        assert_eq!(notices.decide(&question(), Circumstances { now: at(63), ..USUAL }), None);
        let crashed = turn(Some(Attention::Blocked), Attention::Blocked, AgentStatus::OomKilled);
        assert!(notices.decide(&crashed, Circumstances { now: at(63), ..USUAL }).is_some());
        assert!(notices.decide(&question(), Circumstances { now: at(70), ..USUAL }).is_some());
    }
}
