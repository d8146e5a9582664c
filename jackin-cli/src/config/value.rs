//! Values that are written as short texts.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A text that does not read as what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ValueError(String);

macro_rules! written_as_text {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = ValueError;

            fn try_from(text: String) -> Result<Self, ValueError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}

/// Something of this machine that appears in an instance: `source:destination[:ro]`.
///
/// ```
/// use jackin_cli::config::Mount;
///
/// let mount: Mount = "~/src/lib:/lib:ro".parse()?;
/// assert_eq!((mount.source.as_str(), mount.destination.as_str(), mount.read_only), ("~/src/lib", "/lib", true));
/// assert!("~/src/lib".parse::<Mount>().is_err());
/// # Ok::<(), jackin_cli::config::ValueError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mount {
    /// A path, which may begin with `~/`, or a volume's name.
    pub source: String,
    /// An absolute path in the instance.
    pub destination: String,
    /// Whether it cannot be written.
    pub read_only: bool,
}

impl FromStr for Mount {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let bad = || {
            ValueError(format!("{text:?} is no mount: write source:/destination or source:/destination:ro"))
        };
        let (rest, read_only) = match text.strip_suffix(":ro") {
            Some(rest) => (rest, true),
            None => (text.strip_suffix(":rw").unwrap_or(text), false),
        };
        let (source, destination) = rest.rsplit_once(':').ok_or_else(bad)?;
        if source.is_empty() || !destination.starts_with('/') || text.contains(['\n', '\0']) {
            return Err(bad());
        }
        Ok(Self { source: source.to_owned(), destination: destination.to_owned(), read_only })
    }
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}{}", self.source, self.destination, if self.read_only { ":ro" } else { "" })
    }
}

written_as_text!(Mount);

/// An amount of memory: a number of bytes, or one with `k`, `m` or `g`.
///
/// ```
/// use jackin_cli::config::Bytes;
///
/// assert_eq!("512m".parse::<Bytes>()?, Bytes(512 << 20));
/// assert_eq!("1.5g".parse::<Bytes>()?.to_string(), "1536m");
/// # Ok::<(), jackin_cli::config::ValueError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bytes(pub u64);

const UNITS: [(char, u64); 3] = [('k', 1 << 10), ('m', 1 << 20), ('g', 1 << 30)];

impl FromStr for Bytes {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let bad = || ValueError(format!("{text:?} is no amount of memory: write \"512m\" or \"4g\""));
        let lower = text.trim().to_ascii_lowercase();
        let number = lower.strip_suffix('b').unwrap_or(&lower);
        let unit = UNITS.iter().find(|(letter, _)| number.ends_with(*letter));
        let number = unit.map_or(number, |(letter, _)| number.trim_end_matches(*letter));
        let number: f64 = number.trim().parse().map_err(|_| bad())?;
        let bytes = number * unit.map_or(1.0, |(_, size)| *size as f64);
        if !(1.0..=(1u64 << 60) as f64).contains(&bytes) {
            return Err(bad());
        }
        Ok(Self(bytes as u64))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().rev().find(|(_, size)| self.0.is_multiple_of(*size) && self.0 > 0) {
            Some((letter, size)) => write!(f, "{}{letter}", self.0 / size),
            None => write!(f, "{}", self.0),
        }
    }
}

written_as_text!(Bytes);

/// A time: a number of seconds, or numbers with `s`, `m`, `h` or `d`.
///
/// ```
/// use jackin_cli::config::Seconds;
/// use std::time::Duration;
///
/// assert_eq!("1h30m".parse::<Seconds>()?.duration(), Duration::from_secs(5_400));
/// assert_eq!("90".parse::<Seconds>()?.to_string(), "90s");
/// assert!("soon".parse::<Seconds>().is_err());
/// # Ok::<(), jackin_cli::config::ValueError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Seconds(pub u64);

/// No limit is longer than a year.
const LONGEST: u64 = 365 * 86_400;

impl Seconds {
    /// The same as a `Duration`.
    pub const fn duration(self) -> Duration {
        Duration::from_secs(self.0)
    }
}

impl FromStr for Seconds {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let bad = || ValueError(format!("{text:?} is no time: write \"90s\", \"30m\" or \"1h30m\""));
        let mut rest = text.trim();
        let mut total = 0u64;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (number, after) = rest.split_at(digits);
            let letters = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
            let (unit, after) = after.split_at(letters);
            let factor = match unit {
                "" | "s" => 1,
                "m" => 60,
                "h" => 3_600,
                "d" => 86_400,
                _ => return Err(bad()),
            };
            let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
            total = seconds.and_then(|seconds| total.checked_add(seconds)).ok_or_else(bad)?;
            rest = after;
        }
        match total {
            0 => Err(bad()),
            1..=LONGEST => Ok(Self(total)),
            _ => {
                Err(ValueError(format!("{text:?} is more than a year: write \"90s\", \"30m\" or \"1h30m\"")))
            }
        }
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.0)
    }
}

written_as_text!(Seconds);

/// Where a Docker engine answers.
///
/// ```
/// use jackin_cli::config::Endpoint;
///
/// assert!("ssh://me@build.example".parse::<Endpoint>().is_ok());
/// let error = "build.example".parse::<Endpoint>().unwrap_err();
/// assert!(error.to_string().contains("ssh://"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Endpoint(String);

impl Endpoint {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Endpoint {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let known = ["ssh://", "tcp://", "http://", "https://", "unix://", "context:"];
        let rest = known.iter().find_map(|scheme| text.strip_prefix(scheme));
        match rest {
            Some(rest) if !rest.is_empty() && !rest.contains(|c: char| c.is_control() || c == ' ') => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(ValueError(format!(
                "{text:?} is no Docker engine: write ssh://user@host, tcp://host:port, https://host:port, \
                 unix:///path or context:NAME"
            ))),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

written_as_text!(Endpoint);

/// A part of the day, in minutes after midnight; it may go over midnight.
///
/// ```
/// use jackin_cli::config::QuietTime;
///
/// let night: QuietTime = "22:00-07:30".parse()?;
/// assert!(night.contains(23 * 60) && night.contains(0) && !night.contains(12 * 60));
/// # Ok::<(), jackin_cli::config::ValueError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct QuietTime {
    from: u16,
    until: u16,
}

impl QuietTime {
    /// Whether a minute of the day is in it.
    pub const fn contains(self, minute: u16) -> bool {
        if self.from <= self.until {
            self.from <= minute && minute < self.until
        } else {
            self.from <= minute || minute < self.until
        }
    }
}

impl FromStr for QuietTime {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let minute = |text: &str| {
            let (hours, minutes) = text.trim().split_once(':')?;
            let (hours, minutes): (u16, u16) = (hours.parse().ok()?, minutes.parse().ok()?);
            (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
        };
        let read = text.split_once('-').and_then(|(from, until)| Some((minute(from)?, minute(until)?)));
        let (from, until) =
            read.ok_or_else(|| ValueError(format!("{text:?} is no part of the day: write \"22:00-07:30\"")))?;
        Ok(Self { from, until })
    }
}

impl fmt::Display for QuietTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, until } = self;
        write!(f, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, until / 60, until % 60)
    }
}

written_as_text!(QuietTime);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back_as_written() {
        for text in ["a:/b", "~/a:/b:ro", "C:/x:/y"] {
            assert_eq!(text.parse::<Mount>().unwrap().to_string(), text);
        }
        for text in ["512m", "4g", "1000", "3k"] {
            assert_eq!(text.parse::<Bytes>().unwrap().to_string(), text);
        }
        assert_eq!("22:05-07:30".parse::<QuietTime>().unwrap().to_string(), "22:05-07:30");
        for (text, seconds) in [("90", 90), ("90s", 90), (" 30m ", 1_800), ("1h30m", 5_400), ("2d", 172_800)]
        {
            let time = text.parse::<Seconds>().unwrap();
            assert_eq!(time, Seconds(seconds), "{text}");
            assert_eq!(time.to_string().parse(), Ok(time));
        }
    }

    #[test]
    fn what_is_none_is_refused_with_an_example() {
        for text in ["", "a", ":/b", "a:b", "a:/b\n:ro"] {
            assert!(
                text.parse::<Mount>().unwrap_err().to_string().contains("source:/destination"),
                "{text:?}"
            );
        }
        for text in ["", "g", "-1g", "0", "1e99g", "NaN", "4t"] {
            assert!(text.parse::<Bytes>().unwrap_err().to_string().contains("\"4g\""), "{text:?}");
        }
        let hostile = ["99999999999999999999h", "18446744073709551615d", "18446744073709551615s1s"];
        for text in ["", " ", "0", "m", "-5m", "5x", "1.5h", "1h m", "ä", "366d"].into_iter().chain(hostile)
        {
            assert!(text.parse::<Seconds>().unwrap_err().to_string().contains("\"1h30m\""), "{text:?}");
        }
        for text in ["", "25:00-01:00", "1-2", "10:00"] {
            assert!(text.parse::<QuietTime>().is_err(), "{text:?}");
        }
    }
}
