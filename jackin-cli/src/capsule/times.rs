use std::time::Duration;

use jackin_core::Timestamp;

/// How long something has been in each of its states.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// States that were left, each with the time spent in it.
    past: Vec<(&'static str, Duration)>,
    state: &'static str,
    since: Timestamp,
}

impl Times {
    /// Begins to count in a state.
    pub(super) fn new(state: &'static str, now: Timestamp) -> Self {
        Self { past: Vec::new(), state, since: now }
    }

    /// Another state begins, or the same goes on.
    pub(super) fn enter(&mut self, state: &'static str, now: Timestamp) {
        if self.state != state {
            add(&mut self.past, self.state, now.since(self.since));
            (self.state, self.since) = (state, now);
        }
    }

    /// The times until now, that of the state that goes on included, in the order in which the states first were.
    pub(super) fn until(&self, now: Timestamp) -> impl Iterator<Item = (&'static str, Duration)> + use<> {
        let mut all = self.past.clone();
        add(&mut all, self.state, now.since(self.since));
        all.into_iter()
    }
}

/// There are as many entries as there are words for states.
fn add(times: &mut Vec<(&'static str, Duration)>, state: &'static str, time: Duration) {
    match times.iter_mut().find(|(known, _)| *known == state) {
        Some((_, known)) => *known = known.saturating_add(time),
        None => times.push((state, time)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_moment_belongs_to_one_state() {
        let at = Timestamp::from_millis;
        let told = |times: &Times, now| {
            times.until(at(now)).map(|(state, time)| (state, time.as_millis())).collect::<Vec<_>>()
        };
        let mut times = Times::new("busy", at(100));
        assert_eq!(told(&times, 300), [("busy", 200)]);
        times.enter("idle", at(400));
        times.enter("busy", at(500));
        times.enter("busy", at(600));
        assert_eq!(told(&times, 700), [("busy", 500), ("idle", 100)]);
        assert_eq!(
            told(&times, 0),
            [("busy", 300), ("idle", 100)],
            "a clock that was set back takes nothing"
        );
    }
}
