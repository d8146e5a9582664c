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

    /// Reads an RFC 3339 time, such as `2026-02-23T12:19:42.561Z` or one with an offset; what is finer than a
    /// millisecond is cut. Anything else, and anything before 1970, is no time.
    ///
    /// ```
    /// use jackin_core::Timestamp;
    ///
    /// let time = Timestamp::from_millis(1_763_251_200_123);
    /// assert_eq!(Timestamp::from_rfc3339(&time.to_string()), Some(time));
    /// assert_eq!(Timestamp::from_rfc3339("2025-11-16T01:00:00.123456+01:00"), Some(time));
    /// assert_eq!(Timestamp::from_rfc3339("yesterday"), None);
    /// ```
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let (date, rest) = text.split_once('T')?;
        let [year, month, day] = fields(date, '-')?;
        let offset_at = rest.find(['Z', '+', '-'])?;
        let (time, offset) = rest.split_at(offset_at);
        let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
        let [hour, minute, second] = fields(time, ':')?;
        let in_range = (1970..10_000).contains(&year)
            && (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && hour < 24
            && minute < 60
            && second <= 60;
        if !in_range || !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let millis = fraction.bytes().chain(*b"000").take(3).fold(0, |sum, b| sum * 10 + u64::from(b - b'0'));
        // Years are counted from March, so that the leap day is the last of its year.
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let days =
            year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
        let local = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + millis;
        local.checked_add_signed(-offset_millis(offset)?).map(Self)
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

/// Three numbers of at most four digits.
fn fields(text: &str, separator: char) -> Option<[u64; 3]> {
    let mut parts = text.split(separator);
    let mut next = || {
        let part = parts.next()?;
        (part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse().ok())?
    };
    let all = [next()?, next()?, next()?];
    parts.next().is_none().then_some(all)
}

/// `Z`, `+01:00`, `-05:30`.
fn offset_millis(text: &str) -> Option<i64> {
    let sign = match text.as_bytes().first()? {
        b'Z' => return (text.len() == 1).then_some(0),
        b'+' => 1,
        _ => -1,
    };
    let (hours, minutes) = text[1..].split_once(':')?;
    let number = |part: &str| -> Option<i64> {
        (part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse().ok())?
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60_000)
}

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
    fn what_is_printed_is_read_back() {
        for millis in
            [0, 951_782_399_999, 951_782_400_000, 1_709_251_199_001, 4_107_542_400_000, 1_771_849_182_561]
        {
            let time = Timestamp::from_millis(millis);
            assert_eq!(Timestamp::from_rfc3339(&time.to_string()), Some(time));
        }
        let read = Timestamp::from_rfc3339;
        assert_eq!(read("2026-01-15T10:00:01Z"), read("2026-01-15T10:00:01.000Z"));
        assert_eq!(read("2026-01-15T10:00:01Z"), read("2026-01-15T04:30:01-05:30"));
    }

    #[test]
    fn anything_else_is_no_time() {
        for text in [
            "",
            "Z",
            "<TIMESTAMP>",
            "2026-02-23",
            "2026-13-01T00:00:00Z",
            "1969-01-01T00:00:00Z",
            "1970-01-01T00:00:00+01:00",
            "0001-01-01T00:00:00Z",
            "2026-02-23T12:19:42.5x1Z",
            "2026-02-23T12:19Z",
            "2026-02-23T12:19:42",
            "2026-02-23T12:19:42Zulu",
            "2026-02-23T12:19:42+1:00",
            "2026-02-23T12:19:42+é:00",
            "99999-01-01T00:00:00Z",
        ] {
            assert_eq!(Timestamp::from_rfc3339(text), None, "{text}");
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
