//! Bytes to tokens: text, controls, escape sequences, strings.
//!
//! A token is cut from the input where it lies whole in it, and gathered in a bounded buffer where it does not; both ways give the
//! same tokens, so how a stream is cut never matters. String data streams through without being gathered.

/// What was found in the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Printable ASCII.
    Ascii(&'a [u8]),
    /// Printable text, no controls.
    Text(&'a str),
    /// Bytes that are not UTF-8, once for each stretch that a replacement character stands for.
    Invalid,
    /// A C0 control, other than ESC.
    Control(u8),
    /// `ESC`, intermediates and a final byte.
    Escape(&'a [u8]),
    /// What follows `CSI`, up to and with the final byte.
    Csi(&'a [u8]),
    /// A string begins.
    Start(StringKind),
    /// A piece of the string.
    Data(&'a [u8]),
    /// The string ends.
    End(Terminator),
    /// Input was taken, with nothing to show yet.
    Nothing,
}

/// Which introducer began a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringKind {
    Osc,
    Dcs,
    Apc,
    Pm,
    Sos,
}

/// What ended a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Terminator {
    Bell,
    St,
    /// CAN, SUB or the start of another sequence.
    Aborted,
}

/// Longest escape or control sequence; a longer one is ignored.
const LONGEST_SEQUENCE: usize = 4096;

const SHORT_TEXT: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Scanner {
    state: State,
    /// A sequence that was cut or is not clean.
    sequence: Vec<u8>,
    /// The start of a character whose end is still to come.
    partial: [u8; 4],
    partial_len: u8,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Csi,
    CsiIgnore,
    String(StringKind),
    /// ESC inside a string: `\` ends it, anything else breaks it off.
    StringEscape,
}

impl Scanner {
    /// Whether the next byte starts something new.
    pub(super) fn is_ground(&self) -> bool {
        self.state == State::Ground && self.partial_len == 0
    }

    /// The next token and the bytes that it took, at least one. `bytes` must not be empty.
    #[inline]
    pub(super) fn next<'a>(&'a mut self, bytes: &'a [u8]) -> (Token<'a>, usize) {
        match self.state {
            State::Ground if self.partial_len > 0 => self.complete(bytes),
            State::Ground => self.ground(bytes),
            State::Escape => self.escape(bytes[0]),
            State::Csi => self.csi(bytes[0]),
            State::CsiIgnore => self.csi_ignore(bytes),
            State::String(kind) => self.string(kind, bytes),
            State::StringEscape => self.string_escape(bytes[0]),
        }
    }

    #[inline]
    fn ground<'a>(&'a mut self, bytes: &'a [u8]) -> (Token<'a>, usize) {
        match bytes[0] {
            0x1b => {
                if let Some(len) = clean_csi(bytes) {
                    return (Token::Csi(&bytes[2..len]), len);
                }
                self.state = State::Escape;
                self.sequence.clear();
                (Token::Nothing, 1)
            }
            0x7f => (Token::Nothing, 1),
            control @ ..0x20 => (Token::Control(control), 1),
            first => {
                // Text that starts beyond ASCII is taken in short pieces: it may be garbage, and then each bad byte looks at all
                // that was taken.
                let limit = if first < 0x80 { bytes.len() } else { bytes.len().min(SHORT_TEXT) };
                match text_len(&bytes[..limit]) {
                    (len, true) => (Token::Ascii(&bytes[..len]), len),
                    (len, false) => self.text(bytes, len),
                }
            }
        }
    }

    fn text<'a>(&mut self, bytes: &'a [u8], len: usize) -> (Token<'a>, usize) {
        let run = &bytes[..len];
        let error = match std::str::from_utf8(run) {
            Ok(text) => return (Token::Text(text), len),
            Err(error) => error,
        };
        let valid = error.valid_up_to();
        if valid > 0 {
            return (Token::Text(std::str::from_utf8(&run[..valid]).unwrap_or_default()), valid);
        }
        match error.error_len() {
            Some(bad) => (Token::Invalid, bad),
            // The run ends within a character: at a control it is broken, at the end of the input the rest may come. (A run that was
            // taken short is longer than a character, so its start is valid.)
            None if len < bytes.len() => (Token::Invalid, len),
            None => {
                self.partial[..len].copy_from_slice(run);
                self.partial_len = len as u8;
                (Token::Nothing, len)
            }
        }
    }

    /// Goes on with a character that was cut.
    fn complete<'a>(&'a mut self, bytes: &[u8]) -> (Token<'a>, usize) {
        let len = usize::from(self.partial_len);
        self.partial[len] = bytes[0];
        match std::str::from_utf8(&self.partial[..=len]) {
            Ok(_) => {
                self.partial_len = 0;
                (Token::Text(std::str::from_utf8(&self.partial[..=len]).unwrap_or_default()), 1)
            }
            Err(error) if error.error_len().is_none() => {
                self.partial_len += 1;
                (Token::Nothing, 1)
            }
            // The new byte does not belong to it and is looked at again.
            Err(_) => {
                self.partial_len = 0;
                (Token::Invalid, 0)
            }
        }
    }

    fn escape(&mut self, byte: u8) -> (Token<'_>, usize) {
        let token = match byte {
            0x1b => {
                self.sequence.clear();
                Token::Nothing
            }
            0x18 | 0x1a => self.leave(Token::Nothing),
            0..=0x1f => Token::Control(byte),
            0x20..=0x2f => {
                self.gather(byte);
                Token::Nothing
            }
            b'[' if self.sequence.is_empty() => self.enter(State::Csi, Token::Nothing),
            b']' if self.sequence.is_empty() => self.start(StringKind::Osc),
            b'P' if self.sequence.is_empty() => self.start(StringKind::Dcs),
            b'_' if self.sequence.is_empty() => self.start(StringKind::Apc),
            b'^' if self.sequence.is_empty() => self.start(StringKind::Pm),
            b'X' if self.sequence.is_empty() => self.start(StringKind::Sos),
            0x30..=0x7e => {
                self.state = State::Ground;
                self.gather(byte);
                return (Token::Escape(&self.sequence), 1);
            }
            _ => Token::Nothing,
        };
        (token, 1)
    }

    fn csi(&mut self, byte: u8) -> (Token<'_>, usize) {
        let token = match byte {
            0x1b => self.enter(State::Escape, Token::Nothing),
            0x18 | 0x1a => self.leave(Token::Nothing),
            0..=0x1f => Token::Control(byte),
            0x20..=0x3f => {
                let out_of_order = match byte {
                    0x3c..=0x3f => !self.sequence.is_empty(),
                    0x30..=0x3b => self.sequence.last().is_some_and(|b| *b < 0x30),
                    _ => false,
                };
                if out_of_order || !self.gather(byte) {
                    self.state = State::CsiIgnore;
                }
                Token::Nothing
            }
            0x40..=0x7e => {
                self.state = State::Ground;
                if self.gather(byte) {
                    return (Token::Csi(&self.sequence), 1);
                }
                Token::Nothing
            }
            _ => Token::Nothing,
        };
        (token, 1)
    }

    fn csi_ignore(&mut self, bytes: &[u8]) -> (Token<'_>, usize) {
        let ignored = bytes.iter().take_while(|b| matches!(b, 0x20..=0x3f | 0x7f..)).count();
        if ignored > 0 {
            return (Token::Nothing, ignored);
        }
        let token = match bytes[0] {
            0x1b => self.enter(State::Escape, Token::Nothing),
            0x18 | 0x1a | 0x20.. => self.leave(Token::Nothing),
            control => Token::Control(control),
        };
        (token, 1)
    }

    fn string<'a>(&mut self, kind: StringKind, bytes: &'a [u8]) -> (Token<'a>, usize) {
        let bell_ends = kind == StringKind::Osc;
        let len = bytes
            .iter()
            .position(|&b| matches!(b, 0x18 | 0x1a | 0x1b) || (b == 0x07 && bell_ends))
            .unwrap_or(bytes.len());
        if len > 0 {
            return (Token::Data(&bytes[..len]), len);
        }
        let token = match bytes[0] {
            0x1b => {
                self.state = State::StringEscape;
                Token::Nothing
            }
            0x07 => self.leave(Token::End(Terminator::Bell)),
            _ => self.leave(Token::End(Terminator::Aborted)),
        };
        (token, 1)
    }

    fn string_escape(&mut self, byte: u8) -> (Token<'_>, usize) {
        if byte == b'\\' {
            self.state = State::Ground;
            return (Token::End(Terminator::St), 1);
        }
        // The ESC was the start of another sequence; the byte is looked at again.
        self.sequence.clear();
        self.state = State::Escape;
        (Token::End(Terminator::Aborted), 0)
    }

    fn start<'a>(&mut self, kind: StringKind) -> Token<'a> {
        self.enter(State::String(kind), Token::Start(kind))
    }

    fn enter<'a>(&mut self, state: State, token: Token<'a>) -> Token<'a> {
        self.sequence.clear();
        self.state = state;
        token
    }

    fn leave<'a>(&mut self, token: Token<'a>) -> Token<'a> {
        self.enter(State::Ground, token)
    }

    fn gather(&mut self, byte: u8) -> bool {
        let room = self.sequence.len() < LONGEST_SEQUENCE;
        if room {
            self.sequence.push(byte);
        }
        room
    }
}

/// How many bytes at the start are text, and whether all of them are ASCII.
#[inline]
pub(super) fn text_len(bytes: &[u8]) -> (usize, bool) {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut ascii = true;
    let (chunks, tail) = bytes.as_chunks::<8>();
    let mut len = 0;
    for chunk in chunks {
        let word = u64::from_le_bytes(*chunk);
        // A byte below 0x20 borrows; 0x7f becomes zero when its bits are flipped. Bytes of 0x80 and above are text.
        let low = word.wrapping_sub(LOW * 0x20) & !word;
        let flipped = word ^ (LOW * 0x7f);
        let del = flipped.wrapping_sub(LOW) & !flipped;
        let stop = (low | del) & HIGH;
        if stop != 0 {
            // What lies above the lowest one may be flagged by its borrow; the lowest one is right.
            let at = stop.trailing_zeros();
            let before = word & HIGH & ((stop & stop.wrapping_neg()) - 1);
            return (len + at as usize / 8, ascii && before == 0);
        }
        ascii &= word & HIGH == 0;
        len += 8;
    }
    for &b in tail {
        if b < 0x20 || b == 0x7f {
            break;
        }
        ascii &= b < 0x80;
        len += 1;
    }
    (len, ascii)
}

/// The length of a whole, well-formed control sequence at the start of `bytes`.
#[inline]
pub(super) fn clean_csi(bytes: &[u8]) -> Option<usize> {
    let rest = bytes.strip_prefix(b"\x1b[")?;
    let mut at = usize::from(matches!(rest.first()?, 0x3c..=0x3f));
    while matches!(rest.get(at)?, 0x30..=0x3b) {
        at += 1;
    }
    while matches!(rest.get(at)?, 0x20..=0x2f) {
        at += 1;
    }
    (matches!(rest[at], 0x40..=0x7e) && at < LONGEST_SEQUENCE).then_some(at + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens as text, with neighbouring text and data joined: what must not depend on cuts.
    fn tokens(pieces: &[&[u8]]) -> Vec<String> {
        let mut scanner = Scanner::default();
        let mut found: Vec<String> = Vec::new();
        for piece in pieces {
            let mut at = 0;
            while at < piece.len() {
                let (token, used) = scanner.next(&piece[at..]);
                let (shown, joins) = match token {
                    Token::Nothing => (String::new(), true),
                    Token::Ascii(text) => (format!("T{}", text.escape_ascii()), true),
                    Token::Text(text) => (format!("T{text}"), true),
                    Token::Data(data) => (format!("D{}", data.escape_ascii()), true),
                    other => (format!("{other:?}"), false),
                };
                at += used;
                match found.last_mut() {
                    _ if shown.is_empty() => {}
                    Some(last) if joins && last.starts_with(&shown[..1]) => last.push_str(&shown[1..]),
                    _ => found.push(shown),
                }
            }
        }
        found
    }

    const STREAM: &[u8] = b"ab\xc3\xa9\xff\xe4\xb8z\x1b[1;2:3mq\x1b[?25\x08hx\x1b]0;t\xc3\xa9\x07y\x1bPq#1\n\x1b\\\x1b(0\x1b_G\x18w\
        \x1b]8;;u\x1b[31mv\x1b[1\x1b[2Jr\x1b[1?2hs\x1b \x7fFt\xf0\x9f\x98\x80";

    #[test]
    fn any_cut_gives_the_same_tokens() {
        let whole = tokens(&[STREAM]);
        for at in 0..=STREAM.len() {
            assert_eq!(tokens(&[&STREAM[..at], &STREAM[at..]]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = STREAM.chunks(1).collect();
        assert_eq!(tokens(&bytes), whole);
    }

    #[test]
    fn broken_sequences_do_not_swallow_what_follows() {
        let found = tokens(&[STREAM]);
        assert!(found.contains(&"Control(8)".to_owned()), "a control inside a sequence is obeyed");
        assert!(found.contains(&"Tv".to_owned()), "a sequence that breaks a string off is obeyed");
        assert!(found.contains(&"Trs".to_owned()));
        assert_eq!(found.last().unwrap(), "Tt😀");
    }

    #[test]
    fn text_ends_at_each_control() {
        for at in 0..20 {
            for control in [0u8, 0x1b, 0x1f, 0x7f] {
                let mut bytes = [b'~'; 24];
                bytes[at] = control;
                assert_eq!(text_len(&bytes), (at, true), "{control:#x} at {at}");
                bytes[at] = 0xff;
                assert_eq!(text_len(&bytes), (24, false));
            }
        }
    }

    #[test]
    fn text_ends_where_a_look_at_each_byte_says() {
        let kinds = [0x00, 0x1f, 0x20, 0x7e, 0x7f, 0x80, 0x9f, 0xff];
        let mut seed = 1u32;
        for _ in 0..20_000 {
            let bytes: [u8; 19] = std::array::from_fn(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Stops are rare, or nothing would come behind the first byte.
                let kind = kinds[(seed >> 24) as usize % kinds.len()];
                if matches!(kind, 0x00 | 0x1f | 0x7f) && seed & 0x3000 != 0 { b'a' } else { kind }
            });
            let len = bytes.iter().position(|b| *b < 0x20 || *b == 0x7f).unwrap_or(bytes.len());
            assert_eq!(text_len(&bytes), (len, bytes[..len].is_ascii()), "{bytes:x?}");
        }
    }

    #[test]
    fn a_sequence_without_end_is_bounded() {
        let mut scanner = Scanner::default();
        let long = [b"\x1b[".as_slice(), &vec![b';'; 100_000], b"mx"].concat();
        let mut at = 0;
        let mut last = String::new();
        while at < long.len() {
            let (token, used) = scanner.next(&long[at..]);
            last = format!("{token:?}");
            at += used;
        }
        assert_eq!(last, "Ascii([120])");
        assert!(scanner.sequence.capacity() <= 2 * LONGEST_SEQUENCE);
    }
}
