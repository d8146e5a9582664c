use std::collections::VecDeque;
use std::time::{Duration, Instant};

use jackin_core::SessionId;

/// How long a program may take to answer a key before others get their turn again.
const ANSWER_LIMIT: Duration = Duration::from_millis(2);

/// How long the loop stays awake for the answer. A program that echoes has answered by then, and whoever sleeps has to be
/// woken first, which takes a good part of that time.
const AWAKE: Duration = Duration::from_micros(200);

/// Whose turn it is among the sessions.
///
/// While a program is about to answer a key, what others say waits for a moment: the answer then finds the loop waiting
/// and the processor free, however much the others print. An answer that takes longer does not go to the end of the
/// line: whoever was typed into last has every other turn, so that it waits for one of the others and not for all.
///
/// Everything that arrived has to be known before the next turn is given.
#[derive(Debug)]
pub(super) struct Turns<T> {
    /// Who is to answer, and when the key was typed.
    awaited: Option<(SessionId, Instant)>,
    /// Whoever was typed into last.
    preferred: Option<SessionId>,
    /// Whether that one had the last turn.
    had_turn: bool,
    waiting: VecDeque<(SessionId, T)>,
}

impl<T> Turns<T> {
    pub(super) fn new() -> Self {
        Self { awaited: None, preferred: None, had_turn: false, waiting: VecDeque::new() }
    }

    /// A key was typed into a session.
    pub(super) fn expect_answer(&mut self, from: SessionId, now: Instant) {
        self.awaited = Some((from, now));
        self.preferred = Some(from);
        self.had_turn = false;
    }

    /// Whether the answer to a key may come at any moment.
    pub(super) fn is_answer_near(&self, now: Instant) -> bool {
        self.awaited.is_some_and(|(_, typed)| now < typed + AWAKE)
    }

    /// Takes in what a session says.
    pub(super) fn arrive(&mut self, from: SessionId, said: T) {
        self.waiting.push_back((from, said));
    }

    /// The next in turn, unless everybody waits for an answer.
    pub(super) fn next(&mut self, now: Instant) -> Option<(SessionId, T)> {
        let at = self.place_of_next(now)?;
        let (id, said) = self.waiting.remove(at)?;
        self.had_turn = self.preferred == Some(id);
        // Its answer has come, or others have waited long enough.
        self.awaited = None;
        Some((id, said))
    }

    /// Whether somebody's turn has come.
    pub(super) fn is_ready(&self, now: Instant) -> bool {
        self.place_of_next(now).is_some()
    }

    /// When it comes at the latest, if something waits for an answer.
    pub(super) fn due(&self) -> Option<Instant> {
        let (_, typed) = self.awaited?;
        (!self.waiting.is_empty()).then_some(typed + ANSWER_LIMIT)
    }

    fn place_of_next(&self, now: Instant) -> Option<usize> {
        let first_of = |wanted: SessionId| self.waiting.iter().position(|(id, _)| *id == wanted);
        match self.awaited {
            Some((awaited, typed)) if now < typed + ANSWER_LIMIT => first_of(awaited),
            _ => {
                let others = self.waiting.iter().position(|(id, _)| Some(*id) != self.preferred);
                let preferred = self.preferred.and_then(first_of);
                if self.had_turn { others.or(preferred) } else { preferred.or(others) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> SessionId {
        SessionId::new(number).unwrap()
    }

    fn all(turns: &mut Turns<&'static str>, now: Instant) -> Vec<&'static str> {
        std::iter::from_fn(|| turns.next(now)).map(|(_, said)| said).collect()
    }

    #[test]
    fn without_keys_everybody_is_heard_in_order() {
        let (mut turns, now) = (Turns::new(), Instant::now());
        assert!(!turns.is_ready(now));
        for (from, said) in [(1, "a"), (2, "b"), (1, "c")] {
            turns.arrive(id(from), said);
        }
        assert!(turns.is_ready(now) && turns.due().is_none());
        assert_eq!(all(&mut turns, now), ["a", "b", "c"]);
    }

    #[test]
    fn others_wait_for_the_answer_and_keep_their_order() {
        let (mut turns, now) = (Turns::new(), Instant::now());
        turns.expect_answer(id(1), now);
        turns.arrive(id(2), "flood 1");
        turns.arrive(id(3), "flood 2");
        assert!(!turns.is_ready(now) && turns.next(now).is_none());
        assert_eq!(turns.due(), Some(now + ANSWER_LIMIT));
        turns.arrive(id(1), "answer");
        assert_eq!(all(&mut turns, now), ["answer", "flood 1", "flood 2"]);
        assert_eq!(turns.due(), None);
    }

    #[test]
    fn the_loop_stays_awake_for_an_answer_that_comes_at_once() {
        let (mut turns, now) = (Turns::new(), Instant::now());
        assert!(!turns.is_answer_near(now));
        turns.expect_answer(id(1), now);
        assert!(turns.is_answer_near(now));
        assert!(!turns.is_answer_near(now + AWAKE), "it does not wait for one that thinks first");
        turns.arrive(id(1), "answer");
        turns.next(now);
        assert!(!turns.is_answer_near(now));
    }

    #[test]
    fn a_program_that_does_not_answer_holds_nobody_up() {
        let (mut turns, now) = (Turns::new(), Instant::now());
        turns.expect_answer(id(1), now);
        turns.arrive(id(2), "flood");
        assert_eq!(turns.next(now + ANSWER_LIMIT), Some((id(2), "flood")));
        assert_eq!(turns.due(), None);
    }

    /// A processor that has much to do runs the program late; its answer then stands behind what all others have said.
    #[test]
    fn a_late_answer_waits_for_one_of_the_others_at_most() {
        let (mut turns, now) = (Turns::new(), Instant::now());
        turns.expect_answer(id(1), now);
        for other in 2..=64 {
            turns.arrive(id(other), "flood");
            turns.arrive(id(other), "flood");
        }
        let late = now + ANSWER_LIMIT;
        assert_eq!(turns.next(late), Some((id(2), "flood")));
        turns.arrive(id(1), "answer");
        assert_eq!(turns.next(late), Some((id(1), "answer")));
    }

    /// Nor does one that is typed into while it floods take all turns.
    #[test]
    fn whoever_is_typed_into_has_every_other_turn() {
        let (mut turns, now) = (Turns::new(), Instant::now());
        for said in ["1", "2", "3", "4"] {
            turns.arrive(id(1), said);
        }
        turns.arrive(id(2), "a");
        turns.arrive(id(3), "b");
        turns.expect_answer(id(1), now);
        assert_eq!(all(&mut turns, now + ANSWER_LIMIT), ["1", "a", "2", "b", "3", "4"]);
    }

    #[test]
    fn what_a_program_said_before_a_key_comes_before_its_answer() {
        let (mut turns, now) = (Turns::new(), Instant::now());
        turns.arrive(id(3), "flood");
        turns.arrive(id(2), "before");
        turns.expect_answer(id(2), now);
        turns.arrive(id(2), "answer");
        assert_eq!(all(&mut turns, now + ANSWER_LIMIT), ["before", "flood", "answer"]);
    }
}
