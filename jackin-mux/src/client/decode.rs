//! The operator's bytes, cut anywhere, into events.
//!
//! The rule: `feed` what arrived; when `poll_timeout` is due, `expire`. Only then is an ESC that nothing followed the
//! Escape key. Whatever is fed, the raw bytes of the events joined are the bytes that were fed, except for mouse,
//! focus, paste markers and replies, which are for us.

use std::time::Duration;

use jackin_core::Timestamp;
use memchr::memmem;

use super::csi;
use super::event::{ClientEvent, Reply};
use super::key::{Key, KeyCode, Mods, from_control};

/// How long the rest of a sequence that has begun beyond doubt may take: a slow link may cut it anywhere.
const SEQUENCE_TIME: Duration = Duration::from_secs(1);

/// The longest CSI sequence and the longest string that are waited for; more is no terminal's answer.
const MAX_CSI: usize = 256;
const MAX_STRING: usize = 1 << 20;

const PASTE_END: &[u8] = b"\x1b[201~";

/// Reads what an operator's terminal sends.
///
/// ```
/// use std::time::Duration;
/// use jackin_core::Timestamp;
/// use jackin_mux::client::{ClientEvent, Decoder};
///
/// let mut decoder = Decoder::new(Duration::from_millis(25));
/// let (mut keys, now) = (Vec::new(), Timestamp::from_millis(0));
/// let mut note = |event: ClientEvent<'_>| {
///     if let ClientEvent::Key { key, .. } = event {
///         keys.push(key.to_string());
///     }
/// };
/// decoder.feed(b"a\x02\x1b[1;5", now, &mut note);
/// decoder.feed(b"C\x1b", now, &mut note);
/// // Nothing followed the last byte.
/// decoder.expire(decoder.poll_timeout().unwrap(), &mut note);
/// assert_eq!(keys, ["a", "ctrl+b", "ctrl+right", "escape"]);
/// ```
#[derive(Debug)]
pub struct Decoder {
    /// The beginning of something whose end has not arrived.
    held: Vec<u8>,
    held_since: Option<Timestamp>,
    /// How far `held` was searched for a string's end, so that no byte is searched twice.
    searched: usize,
    in_paste: bool,
    escape_time: Duration,
}

/// What stands at the beginning of the bytes.
enum Step<'a> {
    /// An event of so many bytes.
    Event(usize, ClientEvent<'a>),
    /// The bytes may be the beginning of more.
    Wait,
}

impl Decoder {
    /// One that takes an ESC which nothing follows for so long for the Escape key.
    pub fn new(escape_time: Duration) -> Self {
        Self { held: Vec::new(), held_since: None, searched: 0, in_paste: false, escape_time }
    }

    /// Takes what arrived and hands out what it means.
    pub fn feed(&mut self, bytes: &[u8], now: Timestamp, mut each: impl FnMut(ClientEvent<'_>)) {
        if self.held.is_empty() {
            let used = self.decode(bytes, &mut each);
            self.held.extend_from_slice(&bytes[used..]);
        } else {
            let mut all = std::mem::take(&mut self.held);
            all.extend_from_slice(bytes);
            let used = self.decode(&all, &mut each);
            all.drain(..used);
            self.held = all;
        }
        self.held_since = (!self.held.is_empty()).then_some(now);
    }

    /// When what is held will not be waited for any longer.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let patience = if self.held.len() <= 2 { self.escape_time } else { SEQUENCE_TIME };
        // A paste has no end but its marker.
        self.held_since.filter(|_| !self.in_paste).map(|since| since + patience)
    }

    /// Hands out what is held as it is, if its time is over.
    pub fn expire(&mut self, now: Timestamp, mut each: impl FnMut(ClientEvent<'_>)) {
        if self.poll_timeout().is_none_or(|at| now < at) {
            return;
        }
        let held = std::mem::take(&mut self.held);
        self.held_since = None;
        self.searched = 0;
        match held[..] {
            [0x1b] => each(ClientEvent::Key { key: Key::plain(KeyCode::Escape), raw: &held }),
            [0x1b, byte] if byte.is_ascii_graphic() => {
                each(ClientEvent::Key { key: Key::char(byte.into()).with_alt(), raw: &held });
            }
            _ => each(ClientEvent::Raw(&held)),
        }
    }

    fn decode(&mut self, bytes: &[u8], each: &mut impl FnMut(ClientEvent<'_>)) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            match self.step(&bytes[at..]) {
                Step::Wait => break,
                Step::Event(used, event) => {
                    match event {
                        ClientEvent::PasteStart => self.in_paste = true,
                        ClientEvent::PasteEnd => self.in_paste = false,
                        _ => {}
                    }
                    each(event);
                    at += used;
                    self.searched = 0;
                }
            }
        }
        at
    }

    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        if self.in_paste {
            return paste(bytes);
        }
        match bytes[0] {
            0x1b => self.escape(bytes),
            byte @ (..0x20 | 0x7f) => {
                Step::Event(1, ClientEvent::Key { key: from_control(byte), raw: &bytes[..1] })
            }
            _ => character(bytes, 0),
        }
    }

    fn escape<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        match bytes.get(1) {
            None => Step::Wait,
            Some(b'[') => sequence(bytes),
            Some(b'O') => match bytes.get(2) {
                None => Step::Wait,
                Some(_) => ss3(&bytes[..3]),
            },
            Some(b']' | b'P' | b'_' | b'^' | b'X') => self.string(bytes),
            // ESC ESC: the first one is the key, the second one begins something.
            Some(0x1b) => {
                Step::Event(1, ClientEvent::Key { key: Key::plain(KeyCode::Escape), raw: &bytes[..1] })
            }
            Some(&byte @ (..0x20 | 0x7f)) => {
                Step::Event(2, ClientEvent::Key { key: from_control(byte).with_alt(), raw: &bytes[..2] })
            }
            Some(_) => character(bytes, 1),
        }
    }

    /// OSC, DCS, APC, PM, SOS, up to BEL or ST.
    fn string<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        let mut at = self.searched.max(2);
        loop {
            let Some(found) = memchr::memchr2(0x07, 0x1b, &bytes[at..]).map(|offset| at + offset) else {
                if bytes.len() > MAX_STRING {
                    return Step::Event(bytes.len(), ClientEvent::Raw(bytes));
                }
                self.searched = bytes.len();
                return Step::Wait;
            };
            match (bytes[found], bytes.get(found + 1)) {
                (0x1b, None) => {
                    self.searched = found;
                    return Step::Wait;
                }
                (0x1b, Some(b'\\')) => return Step::Event(found + 2, string_event(&bytes[..found + 2])),
                // Any other ESC cuts the string off.
                (0x1b, Some(_)) => return Step::Event(found, ClientEvent::Raw(&bytes[..found])),
                // Only an OSC may end with BEL.
                (_, _) if bytes[1] == b']' => return Step::Event(found + 1, string_event(&bytes[..=found])),
                (_, _) => at = found + 1,
            }
        }
    }
}

fn string_event(raw: &[u8]) -> ClientEvent<'_> {
    ClientEvent::Reply(match raw[1] {
        b']' => {
            let digits = raw[2..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = std::str::from_utf8(&raw[2..2 + digits]).ok().and_then(|text| text.parse().ok());
            match number {
                Some(number) => Reply::Osc { number, raw },
                None => return ClientEvent::Raw(raw),
            }
        }
        b'P' => Reply::Dcs(raw),
        b'_' => Reply::Apc(raw),
        _ => return ClientEvent::Raw(raw),
    })
}

fn paste(bytes: &[u8]) -> Step<'_> {
    if bytes.starts_with(PASTE_END) {
        return Step::Event(PASTE_END.len(), ClientEvent::PasteEnd);
    }
    let text = match memmem::find(bytes, PASTE_END) {
        Some(end) => end,
        // The end of the bytes may be the beginning of the marker.
        None => (1..PASTE_END.len())
            .rev()
            .find(|&len| bytes.ends_with(&PASTE_END[..len]))
            .map_or(bytes.len(), |len| bytes.len() - len),
    };
    if text == 0 { Step::Wait } else { Step::Event(text, ClientEvent::Paste(&bytes[..text])) }
}

/// A character, after `skip` bytes of ESC that make it Alt.
fn character(bytes: &[u8], skip: usize) -> Step<'_> {
    let text = &bytes[skip..];
    let len = match text[0] {
        ..0x80 => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Step::Event(skip + 1, ClientEvent::Raw(&bytes[..=skip])),
    };
    match std::str::from_utf8(&text[..len.min(text.len())]) {
        Ok(decoded) => {
            let key = decoded.chars().next().map_or(Key::char(' '), Key::char);
            let key = if skip > 0 { key.with_alt() } else { key };
            Step::Event(skip + len, ClientEvent::Key { key, raw: &bytes[..skip + len] })
        }
        Err(error) if error.error_len().is_none() => Step::Wait,
        Err(_) => Step::Event(skip + 1, ClientEvent::Raw(&bytes[..=skip])),
    }
}

/// A CSI sequence, up to its final byte.
fn sequence(bytes: &[u8]) -> Step<'_> {
    match bytes[2..] {
        // The old mouse encoding has three raw bytes behind the sequence.
        [b'M', ..] => {
            return match bytes[3..] {
                [a, b, c, ..] => {
                    let mouse = csi::x10_mouse([a, b, c]);
                    Step::Event(6, mouse.map_or(ClientEvent::Raw(&bytes[..6]), ClientEvent::Mouse))
                }
                _ => Step::Wait,
            };
        }
        // F1 to F5 of the Linux console.
        [b'[', letter, ..] => {
            let event = match letter {
                b'A'..=b'E' => {
                    ClientEvent::Key { key: Key::plain(KeyCode::F(letter - b'A' + 1)), raw: &bytes[..4] }
                }
                _ => ClientEvent::Raw(&bytes[..4]),
            };
            return Step::Event(4, event);
        }
        [b'['] => return Step::Wait,
        _ => {}
    }
    let end = bytes[2..].iter().position(|byte| !(0x20..=0x3f).contains(byte)).map(|offset| offset + 2);
    match end {
        None if bytes.len() > MAX_CSI => Step::Event(bytes.len(), ClientEvent::Raw(bytes)),
        None => Step::Wait,
        Some(end) if (0x40..=0x7e).contains(&bytes[end]) => {
            Step::Event(end + 1, csi::interpret(&bytes[..=end]))
        }
        // Something that cannot stand in a sequence: what came before it is no sequence.
        Some(end) => Step::Event(end, ClientEvent::Raw(&bytes[..end])),
    }
}

fn ss3(raw: &[u8]) -> Step<'_> {
    let code = match raw[2] {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'M' => KeyCode::Enter,
        letter @ b'P'..=b'S' => KeyCode::F(letter - b'P' + 1),
        _ => {
            // Alt+Shift+O, typed quickly before something else.
            let key = Key { code: KeyCode::Char('O'), mods: Mods { alt: true, ..Mods::default() } };
            return Step::Event(2, ClientEvent::Key { key, raw: &raw[..2] });
        }
    };
    Step::Event(3, ClientEvent::Key { key: Key::plain(code), raw })
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
