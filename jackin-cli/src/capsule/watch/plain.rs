//! Tags in what an agent prints, for agents that have nothing better.

use jackin_core::{InstanceName, SessionId, Timestamp};
use jackin_tags::{AgentTagEvent, PlainExtractor};

/// The longest line that is kept; a tag's value is far shorter.
const LONGEST_LINE: usize = 16 << 10;

/// Reads a program's output and the operator's keys.
#[derive(Debug)]
pub(super) struct PlainOutput {
    extractor: PlainExtractor,
    printed: Text,
    typed: Text,
}

impl PlainOutput {
    pub(super) fn new(instance: InstanceName, session: SessionId) -> Self {
        Self {
            extractor: PlainExtractor::new(instance, session),
            printed: Text::default(),
            typed: Text::default(),
        }
    }

    /// The program printed something. Lines count once they are complete.
    pub(super) fn printed(&mut self, bytes: &[u8], now: Timestamp) -> Vec<AgentTagEvent> {
        let mut found = Vec::new();
        self.printed.feed(bytes, b"\n", |line| found.extend(self.extractor.line(line, now)));
        found
    }

    /// The operator typed something. It is known before the program can echo the end of its line.
    pub(super) fn typed(&mut self, bytes: &[u8]) {
        self.typed.feed(bytes, b"\r\n", |line| self.extractor.typed(line));
    }
}

/// Text in a stream of text and terminal sequences.
#[derive(Debug, Default)]
struct Text {
    line: Vec<u8>,
    state: State,
    /// The line is too long; the rest of it is skipped.
    skipping: bool,
    /// A carriage return came: what follows, unless it is the line's end, is written over what was there.
    returned: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Escape,
    /// In a control sequence, which ends with its final byte.
    Csi,
    /// In a string, which ends with BEL or ST.
    String,
    StringEscape,
}

impl Text {
    fn feed(&mut self, bytes: &[u8], ends: &[u8], mut each: impl FnMut(&str)) {
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (State::Text | State::Escape | State::Csi, 0x1b) => State::Escape,
                (State::Escape, b'[' | b'O') => State::Csi,
                (State::Escape, b']' | b'P' | b'_' | b'^' | b'X') => State::String,
                // Two-byte sequences; those with an intermediate byte have one more.
                (State::Escape, 0x20..=0x2f) => State::Escape,
                (State::Escape, _) => State::Text,
                (State::Csi, 0x40..=0x7e) => State::Text,
                (State::Csi, _) => State::Csi,
                (State::String, 0x07) => State::Text,
                (State::String, 0x1b) => State::StringEscape,
                (State::String, _) => State::String,
                (State::StringEscape, b'\\') => State::Text,
                (State::StringEscape, _) => State::String,
                (State::Text, byte) if ends.contains(&byte) => {
                    if !self.skipping {
                        each(&String::from_utf8_lossy(&self.line));
                    }
                    self.line.clear();
                    (self.skipping, self.returned) = (false, false);
                    State::Text
                }
                (State::Text, byte) => {
                    self.character(byte);
                    State::Text
                }
            };
        }
    }

    fn character(&mut self, byte: u8) {
        match byte {
            b'\r' => self.returned = true,
            0x08 | 0x7f => while self.line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            b'\t' | 0x20.. => {
                if std::mem::take(&mut self.returned) {
                    self.line.clear();
                    self.skipping = false;
                }
                if self.line.len() == LONGEST_LINE {
                    self.skipping = true;
                } else {
                    self.line.push(byte);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> PlainOutput {
        PlainOutput::new("demo".parse().unwrap(), SessionId::new(1).unwrap())
    }

    fn values(plain: &mut PlainOutput, bytes: &str) -> Vec<String> {
        let found = plain.printed(bytes.as_bytes(), Timestamp::from_millis(1));
        found.into_iter().map(|event| event.tag.value).collect()
    }

    #[test]
    fn colours_and_titles_are_no_part_of_a_line_and_cuts_do_not_matter() {
        let text = "\x1b]2;<jackin:repo>/title</jackin:repo>\x07\x1b[1;32m<jackin:repo>/a\x1b[m</jackin:repo>\r\n\x1b(B\x1bP<jackin:repo>/dcs</jackin:repo>\x1b\\x\n";
        assert_eq!(values(&mut plain(), text), ["/a"]);
        for cut in 0..text.len() {
            let mut plain = plain();
            let (head, tail) = text.split_at(cut);
            let found = [values(&mut plain, head), values(&mut plain, tail)].concat();
            assert_eq!(found, ["/a"], "cut at {cut}");
        }
    }

    #[test]
    fn only_completed_lines_count_and_what_was_overwritten_does_not() {
        let mut plain = plain();
        assert!(values(&mut plain, "<jackin:repo>/a</jackin:repo>").is_empty());
        assert!(values(&mut plain, "\rworking").is_empty());
        assert!(values(&mut plain, "\n").is_empty());
        assert_eq!(values(&mut plain, "<jackin:repo>/b</jackin:repo>\r\n"), ["/b"]);
    }

    #[test]
    fn what_the_operator_typed_is_not_the_agents_word() {
        let mut plain = plain();
        for key in "say <jackin:repo>/x</jackin:repo>!\x7f\r".bytes() {
            plain.typed(&[key]);
        }
        assert!(values(&mut plain, "> say <jackin:repo>/x</jackin:repo>\r\n").is_empty());
        assert_eq!(values(&mut plain, "<jackin:repo>/y</jackin:repo>\n"), ["/y"]);
    }

    #[test]
    fn a_line_without_end_costs_no_more_than_the_limit() {
        let mut plain = plain();
        for _ in 0..100 {
            plain.printed(&[b'x'; 4096], Timestamp::default());
            assert!(plain.printed.line.capacity() <= 2 * LONGEST_LINE);
        }
        assert_eq!(values(&mut plain, "<jackin:repo>/late</jackin:repo>\n").len(), 0);
        assert_eq!(values(&mut plain, "<jackin:repo>/next</jackin:repo>\n"), ["/next"]);
    }
}
