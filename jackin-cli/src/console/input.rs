//! What the operator's terminal sends, read by the multiplexer's own decoder.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::{Context, Result};
use crossterm::event::{
    Event, KeyCode as Code, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use jackin_mux::client::{Button, ClientEvent, Decoder, Mouse, MouseAction, Reply, Wheel};
use jackin_mux::{Key, KeyCode, Mods};

use super::background::is_light;
use crate::capsule::{Device, now, open_terminal};

/// An ESC that nothing follows for so long is the Escape key: long enough for a slow link, short for a finger.
const ESCAPE_TIME: Duration = Duration::from_millis(25);

const READ_SIZE: usize = 4 * 1024;

/// More of a paste than this is left out: no field of the console is that long.
const MAX_PASTE: usize = 1 << 20;

/// What the terminal sends.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// What the operator does.
    Event(Event),
    /// What the terminal says when it is asked: whether it is light.
    Light(bool),
}

/// The terminal's events, for as long as the terminal is the console's.
pub(super) struct Input {
    device: Device,
    decoder: Decoder,
    heard: Heard,
    buf: Vec<u8>,
}

/// What was read and not taken yet.
#[derive(Default)]
struct Heard {
    events: VecDeque<Incoming>,
    paste: Vec<u8>,
}

impl Input {
    /// Begins to read.
    pub(super) fn begin() -> Result<Self> {
        let device = open_terminal().and_then(Device::watch).context("cannot read the terminal")?;
        let (decoder, buf) = (Decoder::new(ESCAPE_TIME), vec![0; READ_SIZE]);
        Ok(Self { device, decoder, heard: Heard::default(), buf })
    }

    /// The next event; none when the terminal is gone. Nothing is lost when it is not waited for to the end.
    pub(super) async fn next(&mut self) -> Option<Incoming> {
        loop {
            if let Some(event) = self.heard.events.pop_front() {
                return Some(event);
            }
            let heard = &mut self.heard;
            let patience = self.decoder.poll_timeout().map(|at| at.since(now()));
            tokio::select! {
                read = self.device.read(&mut self.buf) => match read {
                    Ok(len @ 1..) => self.decoder.feed(&self.buf[..len], now(), |event| heard.take(&event)),
                    _ => return None,
                },
                () = tokio::time::sleep(patience.unwrap_or_default()), if patience.is_some() => {
                    self.decoder.expire(now(), |event| heard.take(&event));
                }
            }
        }
    }
}

impl Heard {
    fn take(&mut self, event: &ClientEvent<'_>) {
        let event = match *event {
            ClientEvent::Key { key, .. } => key_event(key).map(Event::Key),
            ClientEvent::Mouse(mouse) => mouse_event(mouse).map(Event::Mouse),
            ClientEvent::Focus(true) => Some(Event::FocusGained),
            ClientEvent::Focus(false) => Some(Event::FocusLost),
            ClientEvent::Paste(piece) => {
                let room = MAX_PASTE - self.paste.len();
                self.paste.extend_from_slice(&piece[..piece.len().min(room)]);
                None
            }
            ClientEvent::PasteEnd => {
                let paste = std::mem::take(&mut self.paste);
                Some(Event::Paste(String::from_utf8_lossy(&paste).into_owned()))
            }
            ClientEvent::Reply(Reply::Osc { number: 11, raw }) => {
                self.events.extend(is_light(raw).map(Incoming::Light));
                None
            }
            _ => None,
        };
        self.events.extend(event.map(Incoming::Event));
    }
}

fn key_event(Key { code, mods }: Key) -> Option<KeyEvent> {
    let mut modifiers = modifiers(mods);
    let code = match code {
        KeyCode::Char(c) => {
            modifiers.set(KeyModifiers::SHIFT, mods.shift || c.is_uppercase());
            Code::Char(c)
        }
        KeyCode::Enter => Code::Enter,
        KeyCode::Tab if mods.shift => Code::BackTab,
        KeyCode::Tab => Code::Tab,
        KeyCode::Backspace => Code::Backspace,
        KeyCode::Escape => Code::Esc,
        KeyCode::Up => Code::Up,
        KeyCode::Down => Code::Down,
        KeyCode::Left => Code::Left,
        KeyCode::Right => Code::Right,
        KeyCode::Home => Code::Home,
        KeyCode::End => Code::End,
        KeyCode::PageUp => Code::PageUp,
        KeyCode::PageDown => Code::PageDown,
        KeyCode::Insert => Code::Insert,
        KeyCode::Delete => Code::Delete,
        KeyCode::F(number) => Code::F(number),
        _ => return None,
    };
    Some(KeyEvent::new(code, modifiers))
}

fn modifiers(mods: Mods) -> KeyModifiers {
    let mut modifiers = KeyModifiers::NONE;
    modifiers.set(KeyModifiers::SHIFT, mods.shift);
    modifiers.set(KeyModifiers::ALT, mods.alt);
    modifiers.set(KeyModifiers::CONTROL, mods.ctrl);
    modifiers.set(KeyModifiers::SUPER, mods.other);
    modifiers
}

fn mouse_event(Mouse { action, row, col, shift, alt, ctrl }: Mouse) -> Option<MouseEvent> {
    let kind = match action {
        MouseAction::Press(button) => MouseEventKind::Down(mouse_button(button)?),
        MouseAction::Release(button) => MouseEventKind::Up(mouse_button(button)?),
        MouseAction::Move(Some(button)) => MouseEventKind::Drag(mouse_button(button)?),
        MouseAction::Move(None) => MouseEventKind::Moved,
        MouseAction::Wheel(Wheel::Up) => MouseEventKind::ScrollUp,
        MouseAction::Wheel(Wheel::Down) => MouseEventKind::ScrollDown,
        MouseAction::Wheel(Wheel::Left) => MouseEventKind::ScrollLeft,
        MouseAction::Wheel(Wheel::Right) => MouseEventKind::ScrollRight,
    };
    let modifiers = modifiers(Mods { shift, alt, ctrl, other: false });
    Some(MouseEvent { kind, column: col, row, modifiers })
}

fn mouse_button(button: Button) -> Option<MouseButton> {
    match button {
        Button::Left => Some(MouseButton::Left),
        Button::Middle => Some(MouseButton::Middle),
        Button::Right => Some(MouseButton::Right),
        Button::Extra(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(bytes: &[u8]) -> Vec<Incoming> {
        let (mut decoder, mut heard) = (Decoder::new(ESCAPE_TIME), Heard::default());
        decoder.feed(bytes, now(), |event| heard.take(&event));
        if let Some(due) = decoder.poll_timeout() {
            decoder.expire(due, |event| heard.take(&event));
        }
        heard.events.into()
    }

    fn key(code: Code, modifiers: KeyModifiers) -> Incoming {
        Incoming::Event(Event::Key(KeyEvent::new(code, modifiers)))
    }

    #[test]
    fn keys_mean_what_the_console_binds() {
        let none = KeyModifiers::NONE;
        for (bytes, code, modifiers) in [
            (&b"l"[..], Code::Char('l'), none),
            (b"G", Code::Char('G'), KeyModifiers::SHIFT),
            (b"?", Code::Char('?'), none),
            (b"\x1b", Code::Esc, none),
            (b"\r", Code::Enter, none),
            (b"\x7f", Code::Backspace, none),
            (b"\x1b[Z", Code::BackTab, KeyModifiers::SHIFT),
            (b"\x1b[A", Code::Up, none),
            (b"\x1bOB", Code::Down, none),
            (b"\x1b[6~", Code::PageDown, none),
            (b"\x03", Code::Char('c'), KeyModifiers::CONTROL),
            (b"\x1bx", Code::Char('x'), KeyModifiers::ALT),
            ("é".as_bytes(), Code::Char('é'), none),
        ] {
            assert_eq!(heard(bytes), [key(code, modifiers)], "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn a_paste_is_one_event_of_bounded_length_and_answers_are_none() {
        let paste = Incoming::Event(Event::Paste("a\x1b[Ab".to_owned()));
        assert_eq!(heard(b"\x1b[200~a\x1b[Ab\x1b[201~"), [paste]);
        let long = [b"\x1b[200~", &vec![b'x'; 2 * MAX_PASTE][..], b"\x1b[201~q"].concat();
        let events = heard(&long);
        assert_eq!(events.len(), 2);
        assert!(matches!(&events[0], Incoming::Event(Event::Paste(text)) if text.len() == MAX_PASTE));
        assert_eq!(
            heard(b"\x1b[?62;4c\x1b]11;rgb:ff/ff/ff\x1b\\\x1b]4;1;rgb:0/0/0\x07\x1b[I"),
            [Incoming::Light(true), Incoming::Event(Event::FocusGained)]
        );
    }

    #[test]
    fn a_click_is_where_it_was() {
        let click = |kind| MouseEvent { kind, column: 4, row: 9, modifiers: KeyModifiers::NONE };
        let (down, up) = (MouseEventKind::Down(MouseButton::Left), MouseEventKind::Up(MouseButton::Left));
        let expected =
            [down, up, MouseEventKind::ScrollDown].map(|kind| Incoming::Event(Event::Mouse(click(kind))));
        assert_eq!(heard(b"\x1b[<0;5;10M\x1b[<0;5;10m\x1b[<65;5;10M"), expected);
    }
}
