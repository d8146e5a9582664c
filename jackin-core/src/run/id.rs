use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::name::{NameError, cut};
use crate::time::Civil;

/// The id of a headless run: `YYYYMMDD-HHMMSSMMMM-<pid>-<seq>`, UTC, four digits below the second.
///
/// The process id and the counter make it unique; the time makes it sort.
///
/// ```
/// use jackin_core::{RunId, Timestamp};
///
/// let id = RunId::new(Timestamp::from_millis(1_763_251_200_123), 4711, 2);
/// assert_eq!(id.as_str(), "20251116-0000001230-4711-2");
/// assert_eq!(id.as_str().parse(), Ok(id));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    /// The id of the `seq`th run that process `pid` started, begun at `start`.
    pub fn new(start: Timestamp, pid: u32, seq: u32) -> Self {
        let Civil { year, month, day, hour, minute, second, milli } = start.civil();
        // The format has four digits below the second; ours come from a clock of milliseconds.
        let below_second = milli * 10;
        Self(format!(
            "{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}{below_second:04}-{pid}-{seq}"
        ))
    }

    /// The id as text; safe as the name of a directory.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if is_run_id(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NameError::NotAnId {
                what: "run id",
                given: cut(text),
                expected: "YYYYMMDD-HHMMSSMMMM-<pid>-<seq>, as `jackin runs list` prints it",
            })
        }
    }
}

/// Whether the text has the form; a directory name made of it can then hold no separator and no dots.
fn is_run_id(text: &str) -> bool {
    let digits = |part: &str, len: std::ops::RangeInclusive<usize>| {
        len.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
    };
    let parts: Vec<&str> = text.splitn(5, '-').collect();
    matches!(parts[..], [date, time, pid, seq]
        if digits(date, 8..=8) && digits(time, 10..=10) && digits(pid, 1..=10) && digits(seq, 1..=10))
}

impl TryFrom<String> for RunId {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_form_is_an_id() {
        for good in ["20260223-1530221234-991-1", "20260223-1530221234-4294967295-0"] {
            assert_eq!(good.parse::<RunId>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            "20260223-1530221234-991",
            "20260223-1530221234-991-1-2",
            "2026022-1530221234-991-1",
            "20260223-153022123-991-1",
            "20260223-1530221234--1",
            "20260223-1530221234-991-../x",
            "20260223-1530221234-991-١",
        ] {
            assert!(bad.parse::<RunId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn ids_sort_by_their_start() {
        let at = |ms| RunId::new(Timestamp::from_millis(ms), 7, 1);
        assert!(at(999) < at(1_000));
        assert!(at(1_763_251_200_123) < at(1_763_251_200_124));
    }
}
