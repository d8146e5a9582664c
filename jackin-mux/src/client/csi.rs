//! What a CSI sequence from the operator's terminal means.

use super::event::{Button, ClientEvent, Mouse, MouseAction, Reply, Wheel};
use super::key::{Key, KeyCode, Mods};

/// The numbers of a CSI sequence: up to four parameters with up to two sub-parameters each, which is all that keys,
/// the mouse and replies use. What is missing is `None`.
#[derive(Debug, Default)]
struct Params([[Option<u32>; 3]; 4]);

impl Params {
    fn parse(text: &[u8]) -> Self {
        let mut params = Self::default();
        for (param, text) in params.0.iter_mut().zip(text.split(|byte| *byte == b';')) {
            for (sub, text) in param.iter_mut().zip(text.split(|byte| *byte == b':')) {
                *sub = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            }
        }
        params
    }

    fn get(&self, param: usize, or: u32) -> u32 {
        self.0[param][0].unwrap_or(or)
    }

    /// The modifiers, which stand in the second parameter of every key.
    fn mods(&self) -> Mods {
        Mods::from_parameter(self.get(1, 1))
    }

    /// Whether the key was let go.
    fn is_release(&self) -> bool {
        self.0[1][1] == Some(3)
    }
}

/// Interprets a whole sequence; `raw` begins with `ESC [`.
pub(super) fn interpret(raw: &[u8]) -> ClientEvent<'_> {
    let Some((&last, body)) = raw[2..].split_last() else { return ClientEvent::Raw(raw) };
    match body.first() {
        Some(b'?') => private(last, &body[1..], raw),
        Some(b'<') => sgr_mouse(last, &body[1..]).map_or(ClientEvent::Raw(raw), ClientEvent::Mouse),
        Some(b'>') if last == b'c' => ClientEvent::Reply(Reply::Attributes(raw)),
        Some(b'=' | b'>') => ClientEvent::Raw(raw),
        _ => plain(last, body, raw),
    }
}

fn private<'a>(last: u8, body: &[u8], raw: &'a [u8]) -> ClientEvent<'a> {
    let text = body.strip_suffix(b"$").unwrap_or(body);
    let params = Params::parse(text);
    let (first, second) = (params.get(0, 0), params.get(1, 0));
    match last {
        b'c' => ClientEvent::Reply(Reply::Attributes(raw)),
        b'y' if text.len() < body.len() => match (u16::try_from(first), u8::try_from(second)) {
            (Ok(mode), Ok(state)) => ClientEvent::Reply(Reply::Mode { mode, state }),
            _ => ClientEvent::Raw(raw),
        },
        b'u' => ClientEvent::Reply(Reply::Keyboard { flags: (first & 0x1f) as u8 }),
        b'n' if first == 997 => ClientEvent::Reply(Reply::ColourScheme { dark: second == 1 }),
        _ => ClientEvent::Raw(raw),
    }
}

fn plain<'a>(last: u8, body: &[u8], raw: &'a [u8]) -> ClientEvent<'a> {
    let params = Params::parse(body);
    let code = match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'P' => KeyCode::F(1),
        b'Q' => KeyCode::F(2),
        b'S' => KeyCode::F(4),
        // The cursor's position is only ever asked for by programs, and answered by us; what looks like one in the
        // first row is F3 with modifiers.
        b'R' if params.get(0, 1) == 1 && params.get(1, 1) <= 256 => KeyCode::F(3),
        b'R' => return ClientEvent::Reply(Reply::Cursor(raw)),
        b'Z' => {
            return key(
                Key { code: KeyCode::Tab, mods: Mods { shift: true, ..params.mods() } },
                &params,
                raw,
            );
        }
        b'I' if body.is_empty() => return ClientEvent::Focus(true),
        b'O' if body.is_empty() => return ClientEvent::Focus(false),
        b't' => return ClientEvent::Reply(window(&params, raw)),
        b'~' => return tilde(&params, raw),
        b'u' => return key(unicode(&params), &params, raw),
        _ => return ClientEvent::Raw(raw),
    };
    key(Key { code, mods: params.mods() }, &params, raw)
}

fn window<'a>(params: &Params, raw: &'a [u8]) -> Reply<'a> {
    let side = |param| u16::try_from(params.get(param, 0)).ok().filter(|side| *side > 0);
    match (params.get(0, 0), side(1), side(2)) {
        (6, Some(height), Some(width)) => Reply::CellPixels { width, height },
        _ => Reply::Window(raw),
    }
}

fn key<'a>(key: Key, params: &Params, raw: &'a [u8]) -> ClientEvent<'a> {
    if params.is_release() { ClientEvent::KeyUp { raw } } else { ClientEvent::Key { key, raw } }
}

fn tilde<'a>(params: &Params, raw: &'a [u8]) -> ClientEvent<'a> {
    let code = match params.get(0, 0) {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        number @ 11..=15 => KeyCode::F((number - 10) as u8),
        number @ 17..=21 => KeyCode::F((number - 11) as u8),
        number @ 23..=26 => KeyCode::F((number - 12) as u8),
        // modifyOtherKeys: the key is the third parameter.
        27 => return key(character(params.get(2, 0), None, params.mods()), params, raw),
        200 => return ClientEvent::PasteStart,
        _ => return ClientEvent::Raw(raw),
    };
    key(Key { code, mods: params.mods() }, params, raw)
}

/// `CSI code:shifted:base ; modifiers:event ; text u`
fn unicode(params: &Params) -> Key {
    character(params.get(0, 0), params.0[0][1], params.mods())
}

/// A key by its code point. Without Ctrl, Shift goes into the character; with it, it stays apart, as bindings name it.
fn character(code: u32, shifted: Option<u32>, mods: Mods) -> Key {
    let code = match code {
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Escape,
        8 | 127 => KeyCode::Backspace,
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        number @ 57376..=57398 => KeyCode::F((number - 57376 + 13) as u8),
        digit @ 57399..=57408 => KeyCode::Char(char::from(b'0' + (digit - 57399) as u8)),
        code => {
            match char::from_u32(code).filter(|c| !c.is_control() && !(0xe000..=0xf8ff).contains(&code)) {
                Some(c) if mods.ctrl => KeyCode::Char(c.to_ascii_lowercase()),
                Some(c) if mods.shift => {
                    let c = shifted.and_then(char::from_u32).unwrap_or_else(|| c.to_ascii_uppercase());
                    return Key { code: KeyCode::Char(c), mods: Mods { shift: false, ..mods } };
                }
                Some(c) => KeyCode::Char(c),
                None => KeyCode::Other(code),
            }
        }
    };
    Key { code, mods }
}

fn sgr_mouse(last: u8, body: &[u8]) -> Option<Mouse> {
    let params = Params::parse(body);
    let (bits, col, row) = (params.0[0][0]?, params.0[1][0]?, params.0[2][0]?);
    mouse(bits, row, col, last == b'm')
}

/// `ESC [ M`, then three bytes.
pub(super) fn x10_mouse(bytes: [u8; 3]) -> Option<Mouse> {
    let [bits, col, row] = bytes.map(|byte| u32::from(byte).checked_sub(32));
    let bits = bits?;
    // There is one code for "a button was let go".
    let release = bits & 0b1100_0011 == 3;
    mouse(if release { bits & !3 } else { bits }, row?, col?, release)
}

fn mouse(bits: u32, row: u32, col: u32, release: bool) -> Option<Mouse> {
    let button = match (bits & 3, bits & 0b1100_0000) {
        (0, 0) => Some(Button::Left),
        (1, 0) => Some(Button::Middle),
        (2, 0) => Some(Button::Right),
        (3, 0) => None,
        (extra, 0b1000_0000) => Some(Button::Extra(8 + extra as u8)),
        (wheel, _) => {
            let wheel = [Wheel::Up, Wheel::Down, Wheel::Left, Wheel::Right][wheel as usize];
            return at(MouseAction::Wheel(wheel), bits, row, col);
        }
    };
    let action = match (button, release) {
        (button, false) if bits & 32 != 0 => MouseAction::Move(button),
        (Some(button), false) => MouseAction::Press(button),
        (Some(button), true) => MouseAction::Release(button),
        (None, _) => return None,
    };
    at(action, bits, row, col)
}

fn at(action: MouseAction, bits: u32, row: u32, col: u32) -> Option<Mouse> {
    Some(Mouse {
        action,
        row: u16::try_from(row.checked_sub(1)?).ok()?,
        col: u16::try_from(col.checked_sub(1)?).ok()?,
        shift: bits & 4 != 0,
        alt: bits & 8 != 0,
        ctrl: bits & 16 != 0,
    })
}
