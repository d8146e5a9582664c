//! Whose a transcript is, where several agents of a kind work in one directory.

use std::collections::VecDeque;
use std::time::Duration;

use jackin_core::{SessionId, Timestamp};

/// How long after a start or a prompt an agent may take to begin its transcript.
const WINDOW: Duration = Duration::from_secs(30);

/// Clocks of file systems are coarse; what is closer than this cannot be told apart.
const COARSE: Duration = Duration::from_secs(1);

/// How many of the times at which the operator typed are kept.
const MOST_TIMES: usize = 64;

/// When an agent had a reason to begin a transcript: its start, and when the operator typed.
#[derive(Clone, Debug)]
pub(super) struct Reasons {
    started: Timestamp,
    typed: VecDeque<Timestamp>,
}

impl Reasons {
    pub(super) fn new(started: Timestamp) -> Self {
        Self { started, typed: VecDeque::new() }
    }

    pub(super) fn started(&self) -> Timestamp {
        self.started
    }

    pub(super) fn typed(&mut self, at: Timestamp) {
        // Keys that follow each other are one reason, the latest.
        if self.typed.back().is_some_and(|last| at < *last + COARSE / 2) {
            self.typed.pop_back();
        } else if self.typed.len() == MOST_TIMES {
            self.typed.pop_front();
        }
        self.typed.push_back(at);
    }

    /// The last reason before something happened.
    fn before(&self, at: Timestamp) -> Option<Timestamp> {
        let all = self.typed.iter().copied().chain([self.started]);
        all.filter(|reason| *reason <= at + COARSE).max()
    }
}

/// A session whose agent may have begun a transcript.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub(super) id: SessionId,
    pub(super) reasons: &'a Reasons,
    /// It has a transcript already. It can begin another, when the operator clears the conversation.
    pub(super) has_one: bool,
}

/// Whose transcript it is that was begun, or grew again, at `at`. Nobody's, where that cannot be told: no status is
/// better than another session's.
pub(super) fn owner(candidates: &[Candidate<'_>], at: Timestamp) -> Option<SessionId> {
    let reasons: Vec<(Timestamp, &Candidate<'_>)> =
        candidates.iter().filter_map(|candidate| Some((candidate.reasons.before(at)?, candidate))).collect();
    let last = reasons.iter().map(|(reason, _)| *reason).max()?;
    let close = reasons.iter().filter(|(reason, _)| *reason + COARSE > last).map(|(_, candidate)| *candidate);
    let close: Vec<&Candidate<'_>> = close.collect();
    let without: Vec<&Candidate<'_>> = close.iter().copied().filter(|candidate| !candidate.has_one).collect();
    let [only] = (if close.len() == 1 { &close[..] } else { &without[..] }) else { return None };
    let in_time = at.since(last) <= WINDOW;
    let alone = reasons.len() == 1 && !only.has_one;
    (in_time || alone).then_some(only.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    fn reasons(started: u64, typed: &[u64]) -> Reasons {
        let mut reasons = Reasons::new(at(started));
        for typed in typed {
            reasons.typed(at(*typed));
        }
        reasons
    }

    fn id(number: u32) -> SessionId {
        SessionId::new(number).unwrap()
    }

    fn whose(sessions: &[(Reasons, bool)], born: u64) -> Option<u32> {
        let candidates: Vec<Candidate<'_>> = sessions
            .iter()
            .zip(1..)
            .map(|((reasons, has_one), number)| Candidate { id: id(number), reasons, has_one: *has_one })
            .collect();
        owner(&candidates, at(born)).map(SessionId::get)
    }

    #[test]
    fn the_session_that_was_typed_into_last_begins_the_transcript() {
        let sessions = [(reasons(0, &[50, 100]), false), (reasons(5, &[80]), false)];
        assert_eq!(whose(&sessions, 101), Some(1));
        assert_eq!(whose(&sessions, 81), Some(2), "although the first was typed into since");
        assert_eq!(whose(&sessions, 6), Some(2), "started with a prompt");
    }

    #[test]
    fn two_that_cannot_be_told_apart_get_none() {
        assert_eq!(whose(&[(reasons(10, &[]), false), (reasons(10, &[]), false)], 11), None);
        assert_eq!(whose(&[(reasons(10, &[]), true), (reasons(10, &[]), false)], 11), Some(2));
    }

    #[test]
    fn a_transcript_out_of_the_blue_is_a_strangers() {
        assert_eq!(whose(&[(reasons(0, &[10]), true)], 300), None);
        assert_eq!(
            whose(&[(reasons(0, &[10]), false)], 300),
            Some(1),
            "alone and without one, it is its own"
        );
        assert_eq!(whose(&[(reasons(0, &[10]), false), (reasons(0, &[20]), false)], 300), None);
        assert_eq!(whose(&[(reasons(500, &[]), false)], 300), None, "older than the agent");
        assert_eq!(whose(&[], 300), None);
    }

    #[test]
    fn a_long_text_is_one_reason() {
        let mut reasons = reasons(0, &[]);
        for ms in 0..100_000 {
            reasons.typed(Timestamp::from_millis(ms));
        }
        assert!(reasons.typed.len() <= MOST_TIMES);
        assert_eq!(reasons.before(Timestamp::from_millis(99_999)), Some(Timestamp::from_millis(99_999)));
    }
}
