use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment: milliseconds since the Unix epoch, UTC.
///
/// Nothing in this crate can produce "now"; the caller supplies it, which is what lets statuses travel over the wire
/// and lets a test run an hour in a millisecond.
///
/// ```
/// use jackin_core::Timestamp;
/// use std::time::Duration;
///
/// let start = Timestamp::from_millis(1_763_251_200_000);
/// assert_eq!(start.to_string(), "2025-11-16T00:00:00.000Z");
/// assert_eq!((start + Duration::from_secs(20)).since(start), Duration::from_secs(20));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The moment `millis` milliseconds after the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// How much later this is than `earlier`; zero when it is not later (clocks of two machines may disagree).
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The calendar date and time of day in UTC.
    pub(crate) const fn civil(self) -> Civil {
        let (days, millis_of_day) = (self.0 / MILLIS_PER_DAY, self.0 % MILLIS_PER_DAY);
        // Days are counted from 0000-03-01, so that the leap day is the last of its year.
        let days = days + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let seconds = millis_of_day / 1_000;
        Civil {
            year: era * 400 + year_of_era + if month <= 2 { 1 } else { 0 },
            month,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            hour: seconds / 3_600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            milli: millis_of_day % 1_000,
        }
    }
}

const MILLIS_PER_DAY: u64 = 86_400_000;

/// A [`Timestamp`] in the Gregorian calendar, UTC.
pub(crate) struct Civil {
    pub(crate) year: u64,
    pub(crate) month: u64,
    pub(crate) day: u64,
    pub(crate) hour: u64,
    pub(crate) minute: u64,
    pub(crate) second: u64,
    pub(crate) milli: u64,
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Self;

    /// Saturates at the end of time.
    fn add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 with milliseconds, UTC.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, hour, minute, second, milli } = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_dates_around_leap_days() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_001, "2024-02-29T23:59:59.001Z"),
            (1_709_251_200_000, "2024-03-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
        }
    }

    #[test]
    fn the_end_of_time_does_not_overflow() {
        let end = Timestamp::from_millis(u64::MAX);
        assert_eq!(end + Duration::from_secs(1), end);
        assert_eq!(Timestamp::default().since(end), Duration::ZERO);
        assert!(!end.to_string().is_empty());
    }
}
