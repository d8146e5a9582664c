//! How long something has been so, in a few characters that change ever more seldom.

use std::time::Duration;

use jackin_core::Timestamp;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The time between two moments for people: `7s`, `12m`, `3h`, `2d`. Never more than four characters.
pub(crate) fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.since(since).as_secs();
    match seconds {
        0..MINUTE => format!("{seconds}s"),
        MINUTE..HOUR => format!("{}m", seconds / MINUTE),
        HOUR..DAY => format!("{}h", seconds / HOUR),
        _ => format!("{}d", (seconds / DAY).min(999)),
    }
}

/// When that text changes next.
pub(crate) fn next_change(since: Timestamp, now: Timestamp) -> Timestamp {
    // A clock that is behind the one that told `since` shows 0s until it has caught up.
    if since > now {
        return since + Duration::from_secs(1);
    }
    let seconds = now.since(since).as_secs();
    let unit = match seconds {
        0..MINUTE => 1,
        MINUTE..HOUR => MINUTE,
        HOUR..DAY => HOUR,
        _ => DAY,
    };
    since + Duration::from_secs((seconds / unit + 1) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_change_when_they_say_so_and_not_before() {
        let since = Timestamp::from_millis(1_000_500);
        let mut now = since;
        let mut looks = 0;
        while now.since(since) < Duration::from_secs(3 * DAY) {
            let next = next_change(since, now);
            assert!(next > now);
            let just_before = Timestamp::from_millis(next.as_millis() - 1);
            assert_eq!(age(since, now), age(since, just_before), "{now} {next}");
            assert_ne!(age(since, now), age(since, next));
            assert!(age(since, next).len() <= 4);
            now = next;
            looks += 1;
        }
        assert!(looks < 60 + 60 + 24 + 4, "{looks} looks in three days");
    }

    #[test]
    fn clocks_that_disagree_do_no_harm() {
        let late = Timestamp::from_millis(99_000);
        assert_eq!(age(late, Timestamp::default()), "0s");
        assert!(next_change(late, Timestamp::default()) > Timestamp::default());
        assert_eq!(age(Timestamp::default(), Timestamp::from_millis(u64::MAX)), "999d");
    }
}
