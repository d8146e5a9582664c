//! What a multiplexer writes to the operator's terminal, taken apart: the text that is seen, and the questions that a
//! terminal answers.

/// So much of the text is kept; a marker is looked for in what came last.
const KEPT: usize = 64 * 1024;

/// Reads a terminal's bytes, however they are cut.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    state: State,
    /// The sequence that has begun.
    sequence: Vec<u8>,
    seen: Vec<u8>,
    /// How much of `seen` was already there before the last bytes.
    before: usize,
    answers: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Escape,
    /// `ESC (` and the like: one more byte.
    Charset,
    Csi,
    /// OSC, DCS and the like, until ST or BEL.
    String,
    StringEscape,
}

impl Reader {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        if self.seen.len() > 2 * KEPT {
            self.seen.drain(..self.seen.len() - KEPT);
        }
        self.before = self.seen.len();
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.state == State::Text {
                let end = memchr::memchr(0x1b, rest).unwrap_or(rest.len());
                self.seen.extend(rest[..end].iter().filter(|&&byte| byte >= 0x20));
                rest = &rest[end..];
                if rest.is_empty() {
                    return;
                }
            }
            self.step(rest[0]);
            rest = &rest[1..];
        }
    }

    /// Whether this text came with the last bytes, or ended with them.
    pub(crate) fn just_saw(&self, text: &[u8]) -> bool {
        let from = self.before.saturating_sub(text.len().saturating_sub(1));
        memchr::memmem::find(&self.seen[from..], text).is_some()
    }

    /// The text that was seen last, for messages.
    pub(crate) fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen[self.seen.len().saturating_sub(600)..]).into_owned()
    }

    /// What a terminal answers to what it was asked.
    pub(crate) fn take_answers(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.answers)
    }

    fn step(&mut self, byte: u8) {
        self.state = match self.state {
            State::Text | State::Escape if byte == 0x1b => State::Escape,
            State::Text => State::Text,
            State::Escape => match byte {
                b'[' => self.begin(State::Csi),
                b']' | b'P' | b'_' | b'^' | b'X' => self.begin(State::String),
                b'(' | b')' | b'*' | b'+' | b'#' | b' ' => State::Charset,
                _ => State::Text,
            },
            State::Charset => State::Text,
            State::Csi if (0x40..=0x7e).contains(&byte) => {
                self.sequence.push(byte);
                self.answer_csi();
                State::Text
            }
            State::Csi => {
                self.sequence.push(byte);
                State::Csi
            }
            State::String if byte == 0x07 => self.end_string(),
            State::String if byte == 0x1b => State::StringEscape,
            State::String => {
                self.sequence.push(byte);
                State::String
            }
            State::StringEscape => self.end_string(),
        };
    }

    fn begin(&mut self, state: State) -> State {
        self.sequence.clear();
        state
    }

    fn end_string(&mut self) -> State {
        match &self.sequence[..] {
            b"10;?" => self.answers.extend(b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
            b"11;?" => self.answers.extend(b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
            _ => {}
        }
        State::Text
    }

    /// A program that is not answered waits, and what it waits for would be measured.
    fn answer_csi(&mut self) {
        let answer: &[u8] = match &self.sequence[..] {
            b"c" | b"0c" => b"\x1b[?62;22c",
            b">c" | b">0c" => b"\x1b[>1;10;0c",
            b"5n" => b"\x1b[0n",
            b"6n" => b"\x1b[1;1R",
            b"14t" => b"\x1b[4;1000;1600t",
            b"16t" => b"\x1b[6;20;10t",
            b"?u" => b"\x1b[?0u",
            b"?2026$p" => b"\x1b[?2026;2$y",
            _ => return,
        };
        self.answers.extend(answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: &[u8] =
        b"\x1b]0;READY in a title\x07\x1b[1;31mRE\x1b[0mAD\x1b(BY\x1b[6n\x1b]11;?\x1b\\\r\nnext";

    #[test]
    fn text_without_sequences_and_answers_to_questions() {
        let mut reader = Reader::default();
        reader.feed(BYTES);
        assert_eq!(reader.seen(), "READYnext");
        assert!(reader.just_saw(b"READY") && !reader.just_saw(b"title"));
        assert_eq!(reader.take_answers(), b"\x1b[1;1R\x1b]11;rgb:0000/0000/0000\x1b\\");
        assert!(reader.take_answers().is_empty());
    }

    #[test]
    fn every_cut_gives_the_same() {
        for cut in 0..BYTES.len() {
            let mut reader = Reader::default();
            reader.feed(&BYTES[..cut]);
            let mut found = reader.just_saw(b"READY");
            reader.feed(&BYTES[cut..]);
            found |= reader.just_saw(b"READY");
            assert!(found, "cut at {cut}");
            assert_eq!(reader.seen(), "READYnext", "cut at {cut}");
        }
    }

    #[test]
    fn what_was_seen_earlier_is_not_news() {
        let mut reader = Reader::default();
        reader.feed(b"Q");
        reader.feed(b"other");
        assert!(reader.just_saw(b"other"));
        assert!(!reader.just_saw(b"Q"), "a key's echo is looked for in what came after it");
        for _ in 0..20 {
            reader.feed(&vec![b'x'; KEPT / 2]);
        }
        assert!(reader.seen.len() <= 3 * KEPT, "bounded");
    }
}
