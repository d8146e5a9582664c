//! Reads recordings: asciicast, version 2 and 3, a line at a time.

use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use jackin_core::Size;
use serde::Deserialize;
use serde_json::Value;

/// The longest line that is read.
const LONGEST: u64 = 16 << 20;

/// The largest screen that is played.
const LARGEST: u64 = 1_000;

/// Something that happened in a recording.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    /// When, from its beginning.
    pub(super) at: Duration,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// The program printed.
    Output(String),
    /// The terminal got another size.
    Resize(Size),
}

#[derive(Deserialize)]
struct Header {
    version: u64,
    /// Version 2.
    width: Option<u64>,
    height: Option<u64>,
    /// Version 3.
    term: Option<Term>,
    idle_time_limit: Option<f64>,
}

#[derive(Deserialize)]
struct Term {
    cols: u64,
    rows: u64,
}

/// A recording that is being read.
pub(super) struct Reader<R> {
    lines: BufReader<R>,
    number: u64,
    size: Size,
    /// Whether times count from the step before.
    relative: bool,
    idle: Option<Duration>,
    /// When the last step was, as it is written and as it is played.
    last: Duration,
    at: Duration,
}

impl<R: Read> Reader<R> {
    /// Reads the first line. The error is for people.
    pub(super) fn open(input: R, idle: Option<Duration>) -> Result<Self, String> {
        let mut reader = Self {
            lines: BufReader::new(input),
            number: 0,
            size: Size::default(),
            relative: false,
            idle,
            last: Duration::ZERO,
            at: Duration::ZERO,
        };
        let none =
            || "it is no recording: the first line of an asciicast says which version it is".to_owned();
        let line = reader.line()?.ok_or_else(none)?;
        let header: Header = serde_json::from_str(&line.text).map_err(|_| none())?;
        let size = match (header.version, header.term) {
            (2, _) => header.width.zip(header.height),
            (3, term) => term.map(|term| (term.cols, term.rows)),
            (version, _) => {
                return Err(format!("version {version} of asciicast cannot be played: 2 and 3 can"));
            }
        };
        let size = size.and_then(|(cols, rows)| screen(cols, rows));
        reader.size = size.ok_or("the first line does not say how large the screen is")?;
        reader.relative = header.version == 3;
        let limit = header.idle_time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok());
        reader.idle = reader.idle.or(limit);
        Ok(reader)
    }

    /// The size that the screen begins with.
    pub(super) const fn size(&self) -> Size {
        self.size
    }

    /// The next step; what is wrong with the recording is for people, and the end of it.
    pub(super) fn next_step(&mut self) -> Option<Result<Step, String>> {
        loop {
            let line = match self.line() {
                Ok(Some(line)) => line,
                Ok(None) => return None,
                Err(why) => return Some(Err(why)),
            };
            // Version 3 has comments.
            if line.text.is_empty() || line.text.starts_with('#') {
                continue;
            }
            return match self.read(&line.text) {
                Some(Some(step)) => Some(Ok(step)),
                Some(None) => continue,
                // A recorder that was killed leaves half a line.
                None if !line.complete => None,
                None => Some(Err(format!("line {} is not understood: the rest was not played", self.number))),
            };
        }
    }

    /// A step, nothing worth playing, or what is not understood.
    #[expect(clippy::option_option, reason = "a line that means nothing here is not a bad one")]
    fn read(&mut self, line: &str) -> Option<Option<Step>> {
        let (time, kind, data): (f64, String, Value) = serde_json::from_str(line).ok()?;
        let time = Duration::try_from_secs_f64(time).ok()?;
        let pause = if self.relative { time } else { time.saturating_sub(self.last) };
        self.last = self.last.checked_add(pause)?;
        let what = match kind.as_str() {
            "o" => What::Output(data.as_str()?.to_owned()),
            "r" => {
                let (cols, rows) = data.as_str()?.split_once('x')?;
                What::Resize(screen(cols.parse().ok()?, rows.parse().ok()?)?)
            }
            // Keys, marks, and what is yet to come; their time counts.
            _ => {
                self.at += self.idle.map_or(pause, |idle| pause.min(idle));
                return Some(None);
            }
        };
        self.at += self.idle.map_or(pause, |idle| pause.min(idle));
        Some(Some(Step { at: self.at, what }))
    }

    fn line(&mut self) -> Result<Option<Line>, String> {
        self.number += 1;
        let mut bytes = Vec::new();
        let read = self.lines.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
        read.map_err(|error| format!("cannot be read: {error}"))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let complete = bytes.ends_with(b"\n");
        if !complete && bytes.len() as u64 >= LONGEST {
            return Err(format!("line {} is too long: is this a recording?", self.number));
        }
        let text = String::from_utf8(bytes).map_err(|_| format!("line {} is no text", self.number))?;
        Ok(Some(Line { text: text.trim().to_owned(), complete }))
    }
}

struct Line {
    text: String,
    complete: bool,
}

fn screen(cols: u64, rows: u64) -> Option<Size> {
    let fits = |number: u64| (1..=LARGEST).contains(&number);
    (fits(cols) && fits(rows)).then(|| Size::new(rows as u16, cols as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str, idle: Option<Duration>) -> (Vec<Step>, Option<String>) {
        let mut reader = Reader::open(text.as_bytes(), idle).unwrap();
        let mut steps = Vec::new();
        loop {
            match reader.next_step() {
                Some(Ok(step)) => steps.push(step),
                Some(Err(why)) => return (steps, Some(why)),
                None => return (steps, None),
            }
        }
    }

    fn output(at: f64, text: &str) -> Step {
        Step { at: Duration::from_secs_f64(at), what: What::Output(text.into()) }
    }

    #[test]
    fn both_versions_are_read() {
        let two = "{\"version\": 2, \"width\": 80, \"height\": 24}\n[0.5, \"o\", \"a\\u001b[m\"]\n[0.75, \"i\", \"k\"]\n[10.5, \"r\", \"100x30\"]\n[11.0, \"o\", \"b\"]\n";
        let resize =
            |at: f64| Step { at: Duration::from_secs_f64(at), what: What::Resize(Size::new(30, 100)) };
        assert_eq!(steps(two, None), (vec![output(0.5, "a\x1b[m"), resize(10.5), output(11.0, "b")], None));
        let (quick, _) = steps(two, Some(Duration::from_secs(1)));
        assert_eq!(quick, [output(0.5, "a\x1b[m"), resize(1.75), output(2.25, "b")]);
        let three = "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24},\"idle_time_limit\":2}\n# a comment\n[0.5,\"o\",\"a\"]\n[9,\"o\",\"b\"]\n";
        assert_eq!(steps(three, None).0, [output(0.5, "a"), output(2.5, "b")]);
    }

    #[test]
    fn what_is_damaged_is_played_as_far_as_it_goes() {
        let head = "{\"version\": 2, \"width\": 80, \"height\": 24}\n";
        let cut = format!("{head}[0, \"o\", \"a\"]\n[1, \"o\", \"b");
        assert_eq!(steps(&cut, None), (vec![output(0.0, "a")], None), "a recorder that was killed");
        for bad in [
            "[1]",
            "[\"x\",\"o\",\"b\"]",
            "[-1,\"o\",\"b\"]",
            "[1e300,\"o\",\"b\"]",
            "[1,\"r\",\"0x0\"]",
            "{}",
        ] {
            let (found, why) = steps(&format!("{head}[0, \"o\", \"a\"]\n{bad}\n[2, \"o\", \"c\"]\n"), None);
            assert_eq!((found.len(), why.is_some_and(|why| why.contains("line 3"))), (1, true), "{bad}");
        }
        // Time does not go back.
        let back = format!("{head}[5, \"o\", \"a\"]\n[1, \"o\", \"b\"]\n");
        assert_eq!(steps(&back, None).0, [output(5.0, "a"), output(5.0, "b")]);
    }

    #[test]
    fn what_is_no_recording_is_told() {
        for (text, told) in [
            ("", "no recording"),
            ("hello\n", "no recording"),
            ("{\"version\":1,\"width\":80}\n", "version 1"),
            ("{\"version\":2}\n", "how large"),
            ("{\"version\":2,\"width\":99999,\"height\":2}\n", "how large"),
            ("{\"version\":3}\n", "how large"),
        ] {
            let why = Reader::open(text.as_bytes(), None).err().unwrap();
            assert!(why.contains(told), "{why}");
        }
    }
}
