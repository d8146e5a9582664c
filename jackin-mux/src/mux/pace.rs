use std::time::Duration;

use jackin_core::Timestamp;

/// The shortest time between two frames of a long burst.
const FRAME_INTERVAL: Duration = Duration::from_millis(33);

/// The shortest time between the first two frames of a burst.
const FIRST_GAP: Duration = Duration::from_millis(2);

/// How soon a frame may follow another.
///
/// The first change after quiet is drawn at once. The next ones follow at gaps that double up to the frame interval: a
/// program that draws in several writes is seen whole a few milliseconds later, and one that floods costs thirty frames a
/// second.
#[derive(Debug, Default)]
pub(super) struct Pace {
    last: Option<Timestamp>,
    gap: Duration,
}

impl Pace {
    /// From when on a frame may be rendered.
    pub(super) fn next(&self) -> Timestamp {
        self.last.map_or_else(Timestamp::default, |last| last + self.gap)
    }

    /// A frame was rendered.
    pub(super) fn drawn(&mut self, now: Timestamp) {
        let quiet = self.last.is_none_or(|last| now >= last + 2 * FRAME_INTERVAL);
        self.gap = if quiet { FIRST_GAP } else { (2 * self.gap).min(FRAME_INTERVAL) };
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_slows_down_and_quiet_makes_it_quick_again() {
        let mut pace = Pace::default();
        assert_eq!(pace.next(), Timestamp::default());
        let mut now = Timestamp::from_millis(1_000);
        let mut gaps = Vec::new();
        for _ in 0..7 {
            pace.drawn(now);
            gaps.push(pace.next().since(now).as_millis());
            now = pace.next();
        }
        assert_eq!(gaps, [2, 4, 8, 16, 32, 33, 33]);
        now = now + Duration::from_millis(100);
        pace.drawn(now);
        assert_eq!(pace.next().since(now), FIRST_GAP);
    }
}
