use std::collections::VecDeque;
use std::time::{Duration, Instant};

use jackin_core::SessionId;

/// How long a program may take to answer a key before others get their turn again.
const ANSWER_LIMIT: Duration = Duration::from_millis(2);

/// Whose turn it is among the sessions.
///
/// While a program is about to answer a key, what others say waits for a moment: the answer then finds the loop asleep
/// and the processor free, however much the others print.
#[derive(Debug)]
pub(super) struct Turns<T> {
    awaited: Option<(SessionId, Instant)>,
    waiting: VecDeque<(SessionId, T)>,
}

impl<T> Turns<T> {
    pub(super) fn new() -> Self {
        Self { awaited: None, waiting: VecDeque::new() }
    }

    /// A key was typed into a session.
    pub(super) fn expect_answer(&mut self, from: SessionId, now: Instant) {
        // What it said before must not wait behind its own answer.
        if !self.waiting.iter().any(|(id, _)| *id == from) {
            self.awaited = Some((from, now + ANSWER_LIMIT));
        }
    }

    /// Takes in what a session says, and gives it back if it is its turn.
    pub(super) fn arrive(&mut self, from: SessionId, said: T) -> Option<T> {
        match self.awaited {
            Some((awaited, _)) if awaited == from => self.awaited = None,
            None if self.waiting.is_empty() => {}
            _ => {
                self.waiting.push_back((from, said));
                return None;
            }
        }
        Some(said)
    }

    /// The next that waited, if its turn has come.
    pub(super) fn next(&mut self, now: Instant) -> Option<(SessionId, T)> {
        if self.awaited.is_some_and(|(_, until)| now < until) {
            return None;
        }
        self.awaited = None;
        self.waiting.pop_front()
    }

    /// Whether the turn of something that waited has come.
    pub(super) fn is_ready(&self, now: Instant) -> bool {
        !self.waiting.is_empty() && self.awaited.is_none_or(|(_, until)| until <= now)
    }

    /// When it comes at the latest, if something waits for an answer.
    pub(super) fn due(&self) -> Option<Instant> {
        let (_, until) = self.awaited?;
        (!self.waiting.is_empty()).then_some(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> SessionId {
        SessionId::new(number).unwrap()
    }

    #[test]
    fn without_keys_everybody_is_heard_at_once() {
        let mut turns = Turns::new();
        assert_eq!(turns.arrive(id(1), "a"), Some("a"));
        assert_eq!(turns.arrive(id(2), "b"), Some("b"));
        assert_eq!(turns.next(Instant::now()), None);
    }

    #[test]
    fn others_wait_for_the_answer_and_keep_their_order() {
        let now = Instant::now();
        let mut turns = Turns::new();
        turns.expect_answer(id(1), now);
        assert_eq!(turns.arrive(id(2), "flood 1"), None);
        assert_eq!(turns.arrive(id(3), "flood 2"), None);
        assert_eq!(turns.next(now), None);
        assert_eq!(turns.due(), Some(now + ANSWER_LIMIT));
        assert_eq!(turns.arrive(id(1), "answer"), Some("answer"));
        // What comes now comes after what waited.
        assert_eq!(turns.arrive(id(2), "flood 3"), None);
        let rest: Vec<_> = std::iter::from_fn(|| turns.next(now)).collect();
        assert_eq!(rest, [(id(2), "flood 1"), (id(3), "flood 2"), (id(2), "flood 3")]);
        assert_eq!(turns.arrive(id(2), "flood 4"), Some("flood 4"));
    }

    #[test]
    fn a_program_that_does_not_answer_holds_nobody_up() {
        let now = Instant::now();
        let mut turns = Turns::new();
        turns.expect_answer(id(1), now);
        assert_eq!(turns.arrive(id(2), "flood"), None);
        assert_eq!(turns.next(now + ANSWER_LIMIT), Some((id(2), "flood")));
        assert_eq!(turns.due(), None);
    }

    #[test]
    fn what_a_program_said_before_a_key_does_not_wait_behind_its_answer() {
        let now = Instant::now();
        let mut turns = Turns::new();
        turns.expect_answer(id(1), now);
        assert_eq!(turns.arrive(id(2), "before"), None);
        assert_eq!(turns.arrive(id(1), "answer"), Some("answer"));
        turns.expect_answer(id(2), now);
        assert_eq!(turns.arrive(id(2), "answer"), None);
        assert_eq!(turns.next(now), Some((id(2), "before")));
        assert_eq!(turns.next(now), Some((id(2), "answer")));
    }
}
