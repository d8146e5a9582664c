use std::cell::Cell;
use std::time::Instant;

use jackin_core::Timestamp;

/// The wall clock, except that it never runs backwards and never stands still: when it is set back, time goes on at
/// its usual pace from where it was.
#[derive(Debug)]
pub(super) struct Clock {
    last: Cell<(Timestamp, Instant)>,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { last: Cell::new((super::now(), Instant::now())) }
    }

    pub(super) fn now(&self) -> Timestamp {
        let (last, at) = self.last.get();
        let next = later(last, at, super::now(), Instant::now());
        self.last.set(next);
        next.0
    }
}

fn later(last: Timestamp, at: Instant, wall: Timestamp, now: Instant) -> (Timestamp, Instant) {
    (wall.max(last + now.duration_since(at)), now)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_that_is_set_back_goes_on() {
        let (start, begin) = (Timestamp::from_millis(100_000), Instant::now());
        let second = Duration::from_secs(1);
        let forward = later(start, begin, Timestamp::from_millis(500_000), begin + second);
        assert_eq!(forward.0, Timestamp::from_millis(500_000), "set forward, it follows");
        let back = later(forward.0, forward.1, Timestamp::from_millis(0), begin + 2 * second);
        assert_eq!(back.0, Timestamp::from_millis(501_000));
    }
}
