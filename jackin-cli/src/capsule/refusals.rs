//! Log lines about what was refused. Whoever is refused can try again as often as it likes, so the lines are few.

use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::connection::{Caller, Door};

/// How many lines are written in an interval,
const MOST: u32 = 100;
/// of this length.
const INTERVAL: Duration = Duration::from_secs(60);

static PACE: Mutex<Pace> = Mutex::new(Pace { since: None, count: 0 });

#[derive(Debug)]
struct Pace {
    since: Option<Instant>,
    count: u32,
}

impl Pace {
    /// Whether a further line may be written, and how many were left out before it.
    fn next(&mut self, now: Instant) -> Option<u32> {
        let is_over = self.since.is_none_or(|since| now.saturating_duration_since(since) >= INTERVAL);
        let left_out = if is_over { self.count.saturating_sub(MOST) } else { 0 };
        if is_over {
            (self.since, self.count) = (Some(now), 0);
        }
        self.count = self.count.saturating_add(1);
        (self.count <= MOST).then_some(left_out)
    }
}

/// Logs a refusal.
pub(super) fn log(what: impl FnOnce() -> String) {
    let next = PACE.lock().ok().and_then(|mut pace| pace.next(Instant::now()));
    match next {
        Some(0) => tracing::warn!("{}", what()),
        Some(left_out) => tracing::warn!("{} ({left_out} refusals before it were not logged)", what()),
        None => {}
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Operator(_) => "the operator's socket",
            Self::Agents(_) => "the agents' socket",
        })
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator => f.write_str("the operator"),
            Self::Agent(Some(pid)) => write!(f, "an agent's process {pid}"),
            Self::Agent(None) => f.write_str("an agent"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refusals_is_told_in_few_lines() {
        let (mut pace, start) = (Pace { since: None, count: 0 }, Instant::now());
        let told = (0..1_000).filter(|_| pace.next(start).is_some()).count();
        assert_eq!(told, MOST as usize);
        assert_eq!(pace.next(start + INTERVAL), Some(900));
        assert_eq!(pace.next(start + INTERVAL), Some(0));
    }
}
