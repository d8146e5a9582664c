//! Which of the operator's bytes are for the program and which are for us. Only whole keys are looked at: a prefix
//! byte inside an escape sequence or a paste is not the prefix.

/// Ctrl+B.
const PREFIX: u8 = 0x02;
const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// What the operator pressed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pressed<'a> {
    /// For the program.
    Plain(&'a [u8]),
    /// The key after the prefix.
    Command(u8),
}

/// Where in the operator's stream we are. It survives any cut between two reads.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    state: State,
    /// The end of what was passed on, as far as it may be the beginning of a paste marker.
    tail: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// The prefix was pressed.
    Prefix,
    /// After ESC.
    Escape,
    /// Inside a CSI or SS3 sequence.
    Sequence,
    /// Between the markers of a paste.
    Paste,
}

impl Keys {
    /// Takes what the operator's terminal sent, in pieces cut anywhere.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut pressed: impl FnMut(Pressed<'_>)) {
        let mut plain_from = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            match self.state {
                // After a lone ESC too: whoever presses Escape and then the prefix means both.
                State::Ground | State::Escape if byte == PREFIX => {
                    if plain_from < at {
                        pressed(Pressed::Plain(&bytes[plain_from..at]));
                    }
                    self.state = State::Prefix;
                    self.tail.clear();
                }
                State::Prefix => {
                    self.state = State::Ground;
                    plain_from = at + 1;
                    if byte == PREFIX {
                        pressed(Pressed::Plain(&[PREFIX]));
                    } else {
                        pressed(Pressed::Command(byte));
                    }
                }
                _ => self.advance(byte),
            }
        }
        if self.state != State::Prefix && plain_from < bytes.len() {
            pressed(Pressed::Plain(&bytes[plain_from..]));
        }
    }

    fn advance(&mut self, byte: u8) {
        if byte == 0x1b {
            self.tail.clear();
        }
        if self.tail.len() < PASTE_END.len() {
            self.tail.push(byte);
        }
        self.state = match self.state {
            State::Paste if self.tail == PASTE_END => State::Ground,
            State::Paste => State::Paste,
            State::Sequence if self.tail == PASTE_BEGIN => State::Paste,
            State::Sequence if (0x40..=0x7e).contains(&byte) => State::Ground,
            State::Escape if matches!(byte, b'[' | b'O') => State::Sequence,
            State::Escape if byte != 0x1b => State::Ground,
            State::Ground if byte != 0x1b => State::Ground,
            State::Sequence if byte != 0x1b => State::Sequence,
            _ => State::Escape,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything for the program joined, and the commands between.
    fn fed(pieces: &[&[u8]]) -> (Vec<u8>, Vec<u8>) {
        let mut keys = Keys::default();
        let (mut plain, mut commands) = (Vec::new(), Vec::new());
        for piece in pieces {
            keys.feed(piece, |pressed| match pressed {
                Pressed::Plain(bytes) => plain.extend_from_slice(bytes),
                Pressed::Command(key) => commands.push(key),
            });
        }
        (plain, commands)
    }

    #[test]
    fn the_prefix_is_seen_at_key_boundaries_only_however_the_bytes_are_cut() {
        for (bytes, plain, commands) in [
            (&b"ls\r\x0c\n"[..], &b"ls\r\x0c\n"[..], &b""[..]),
            (b"a\x02db", b"ab", b"d"),
            (b"\x02\x02", b"\x02", b""),
            (b"\x02\x02\x02d", b"\x02", b"d"),
            (b"\x1b[13;2u\x02d", b"\x1b[13;2u", b"d"),
            (b"\x1bx\x02d", b"\x1bx", b"d"),
            (b"\x1b\x02d", b"\x1b", b"d"),
            (b"\x1b\x1b[A\x02d", b"\x1b\x1b[A", b"d"),
            (b"\x1b[200~x\x02dy\x1b[Az\x1b[201~\x02d", b"\x1b[200~x\x02dy\x1b[Az\x1b[201~", b"d"),
            ("é\u{2028}\x02d€".as_bytes(), "é\u{2028}€".as_bytes(), b"d"),
        ] {
            assert_eq!(fed(&[bytes]), (plain.to_vec(), commands.to_vec()), "{bytes:?}");
            for cut in 0..=bytes.len() {
                let (before, after) = bytes.split_at(cut);
                assert_eq!(
                    fed(&[before, after]),
                    (plain.to_vec(), commands.to_vec()),
                    "{bytes:?} cut at {cut}"
                );
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(fed(&single), (plain.to_vec(), commands.to_vec()), "{bytes:?} byte by byte");
        }
    }
}
