//! What a capsule may send to the operator's terminal.
//!
//! A capsule lives beside agents, and one may have taken it over. The attach client therefore passes on only what our
//! renderer emits and what the passthrough table lets a program say: text, drawing, the modes that leaving switches off
//! again, notifications, clipboard writes, images, and operating-system commands that ask for nothing and run nothing.
//! Everything else is left out, and what comes after it goes on.
//!
//! Bytes may be cut anywhere. At most [`LONGEST_HEAD`] of them are kept back until it is certain what they begin.

mod rules;

use rules::{csi_is_allowed, escape_is_allowed, string_is_allowed};

/// How much of a sequence is kept until it is decided on: longer than any that our renderer emits, images and clipboards
/// apart, whose first bytes decide.
const LONGEST_HEAD: usize = 256;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;
const DEL: u8 = 0x7f;
const STRING_END: &[u8] = b"\x1b\\";

/// The strings that end with ST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StringKind {
    Osc,
    Dcs,
    Apc,
    /// Kinds that nothing of ours uses.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    /// An escape sequence of more than one byte, which nothing of ours is.
    Intermediate,
    Csi,
    /// A string's first bytes, on which it is decided.
    Head(StringKind),
    /// The rest of a string that is passed on, or not.
    Body(StringKind, bool),
    /// An escape inside a string: its end, or the beginning of something else.
    Closing(StringKind, Option<bool>),
}

/// Passes on what is allowed.
#[derive(Debug)]
pub(super) struct Sieve {
    state: State,
    /// The sequence that is being looked at, without its introducer.
    head: Vec<u8>,
    /// The character that is not whole yet.
    character: Vec<u8>,
    clipboard_read: bool,
}

impl Sieve {
    /// With `clipboard_read` a capsule may ask for the clipboard, which the operator has to want.
    pub(super) fn new(clipboard_read: bool) -> Self {
        Self { state: State::Ground, head: Vec::new(), character: Vec::new(), clipboard_read }
    }

    /// Appends to `out` what of `bytes` the terminal may get.
    pub(super) fn pass(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            let is_text =
                matches!(self.state, State::Ground | State::Body(_, true)) && self.character.is_empty();
            if is_text && (b' '..DEL).contains(&byte) {
                let end = rest.iter().position(|byte| !(b' '..DEL).contains(byte)).unwrap_or(rest.len());
                out.extend_from_slice(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            self.step(byte, out);
            rest = after;
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.state {
            State::Ground => match byte {
                ESC => self.begin(State::Escape),
                b'\r' | b'\n' | b'\t' | 0x08 | BEL => {
                    self.character.clear();
                    out.push(byte);
                }
                _ => self.text(byte, out),
            },
            State::Escape => self.escape(byte, out),
            State::Intermediate => match byte {
                ESC => self.begin(State::Escape),
                b' '..=b'/' => {}
                _ => self.begin(State::Ground),
            },
            State::Csi => self.csi(byte, out),
            State::Head(kind) => self.head(kind, byte, out),
            State::Body(kind, passing) => self.body(kind, passing, byte, out),
            State::Closing(kind, passing) => {
                if byte == b'\\' {
                    self.end(kind, passing, STRING_END, out);
                } else {
                    // The string was broken off. A terminal that has not noticed yet must not take what follows for it.
                    if passing == Some(true) {
                        out.extend_from_slice(STRING_END);
                    }
                    self.begin(State::Escape);
                    self.escape(byte, out);
                }
            }
        }
    }

    fn begin(&mut self, state: State) {
        self.head.clear();
        self.character.clear();
        self.state = state;
    }

    fn escape(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.state = State::Ground;
        match byte {
            b'[' => self.state = State::Csi,
            b']' => self.state = State::Head(StringKind::Osc),
            b'P' => self.state = State::Head(StringKind::Dcs),
            b'_' => self.state = State::Head(StringKind::Apc),
            b'^' | b'X' | b'k' => self.state = State::Body(StringKind::Other, false),
            ESC => self.state = State::Escape,
            b' '..=b'/' => self.state = State::Intermediate,
            _ if escape_is_allowed(byte) => out.extend_from_slice(&[ESC, byte]),
            _ => {}
        }
    }

    fn csi(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            b' '..=b'?' if self.head.len() < LONGEST_HEAD => self.head.push(byte),
            b'@'..=b'~' => {
                self.head.push(byte);
                if self.head.len() < LONGEST_HEAD && csi_is_allowed(&self.head) {
                    out.extend_from_slice(b"\x1b[");
                    out.extend_from_slice(&self.head);
                }
                self.begin(State::Ground);
            }
            ESC => self.begin(State::Escape),
            CAN | SUB => self.begin(State::Ground),
            // Longer than anything of ours, or with controls in between: terminals differ in what they make of it.
            _ => {}
        }
    }

    fn head(&mut self, kind: StringKind, byte: u8, out: &mut Vec<u8>) {
        match byte {
            ESC => self.state = State::Closing(kind, None),
            BEL if kind == StringKind::Osc => self.end(kind, None, &[BEL], out),
            CAN | SUB => self.begin(State::Ground),
            _ => {
                self.head.push(byte);
                if self.head.len() == LONGEST_HEAD {
                    let passing = string_is_allowed(kind, &self.head, self.clipboard_read);
                    if passing {
                        self.open(kind, out);
                    }
                    self.state = State::Body(kind, passing);
                }
            }
        }
    }

    fn body(&mut self, kind: StringKind, passing: bool, byte: u8, out: &mut Vec<u8>) {
        match byte {
            ESC => {
                self.character.clear();
                self.state = State::Closing(kind, Some(passing));
            }
            BEL if kind == StringKind::Osc => self.end(kind, Some(passing), &[BEL], out),
            CAN | SUB => self.end(kind, Some(passing), STRING_END, out),
            _ if passing => self.string_text(kind, byte, out),
            _ => {}
        }
    }

    /// The introducer and what was kept of a string.
    fn open(&mut self, kind: StringKind, out: &mut Vec<u8>) {
        out.push(ESC);
        out.push(match kind {
            StringKind::Osc => b']',
            StringKind::Dcs => b'P',
            StringKind::Apc | StringKind::Other => b'_',
        });
        for byte in std::mem::take(&mut self.head) {
            self.string_text(kind, byte, out);
        }
    }

    /// A string has ended; where it was not decided on yet, it is now.
    fn end(&mut self, kind: StringKind, passing: Option<bool>, end: &[u8], out: &mut Vec<u8>) {
        let allowed = passing.unwrap_or_else(|| string_is_allowed(kind, &self.head, self.clipboard_read));
        if allowed {
            if passing.is_none() {
                self.open(kind, out);
            }
            out.extend_from_slice(end);
        }
        self.begin(State::Ground);
    }

    fn string_text(&mut self, kind: StringKind, byte: u8, out: &mut Vec<u8>) {
        // Pictures are wrapped into lines by some.
        if matches!(byte, b'\r' | b'\n' | b'\t') && kind != StringKind::Osc {
            out.push(byte);
        } else {
            self.text(byte, out);
        }
    }

    /// A byte of text. Only whole characters pass, and none that is a control.
    fn text(&mut self, byte: u8, out: &mut Vec<u8>) {
        if byte < 0x80 {
            self.character.clear();
            if (b' '..DEL).contains(&byte) {
                out.push(byte);
            }
            return;
        }
        if byte >= 0xc0 {
            self.character.clear();
        }
        self.character.push(byte);
        match std::str::from_utf8(&self.character) {
            Ok(text) => {
                if !text.chars().any(char::is_control) {
                    out.extend_from_slice(&self.character);
                }
                self.character.clear();
            }
            Err(error) if error.error_len().is_some() => self.character.clear(),
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
