use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A key with its modifiers, whichever of the many encodings the operator's terminal used for it.
///
/// ```
/// use jackin_mux::{Key, KeyCode};
///
/// let key: Key = "ctrl+b".parse()?;
/// assert_eq!(key, Key::ctrl('b'));
/// assert_eq!(key.to_string(), "ctrl+b");
/// assert_eq!("alt+Left".parse::<Key>()?.code, KeyCode::Left);
/// # Ok::<(), jackin_mux::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which key.
    pub code: KeyCode,
    /// What was held.
    pub mods: Mods,
}

/// Which key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyCode {
    /// A character, as the layout gives it without Ctrl and Alt. Shift is in the character.
    Char(char),
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Escape.
    Escape,
    /// Arrow.
    Up,
    /// Arrow.
    Down,
    /// Arrow.
    Left,
    /// Arrow.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Insert.
    Insert,
    /// Delete.
    Delete,
    /// F1 and up.
    F(u8),
    /// A key that has no name here; it is passed on as it came.
    Other(u32),
}

/// Modifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mods {
    /// Shift, where it is not in the character.
    pub shift: bool,
    /// Alt.
    pub alt: bool,
    /// Ctrl.
    pub ctrl: bool,
    /// Super, hyper or meta: none of our bindings uses them.
    pub other: bool,
}

impl Mods {
    /// From the parameter of CSI sequences: one more than a bit set. The lock keys do not count.
    pub(crate) const fn from_parameter(parameter: u32) -> Self {
        let bits = parameter.saturating_sub(1);
        Self { shift: bits & 1 != 0, alt: bits & 2 != 0, ctrl: bits & 4 != 0, other: bits & 0x38 != 0 }
    }
}

impl Key {
    /// A key without modifiers.
    pub const fn plain(code: KeyCode) -> Self {
        Self { code, mods: Mods { shift: false, alt: false, ctrl: false, other: false } }
    }

    /// A character without modifiers.
    pub const fn char(c: char) -> Self {
        Self::plain(KeyCode::Char(c))
    }

    /// A character with Ctrl.
    pub const fn ctrl(c: char) -> Self {
        Self { code: KeyCode::Char(c), mods: Mods { shift: false, alt: false, ctrl: true, other: false } }
    }

    /// The same with Alt.
    pub const fn with_alt(self) -> Self {
        Self { code: self.code, mods: Mods { alt: true, ..self.mods } }
    }

    /// The bytes that a terminal without any keyboard protocol sends for it; none where it has no such encoding.
    pub fn legacy_bytes(self) -> Option<Vec<u8>> {
        let Mods { alt, ctrl, shift, other } = self.mods;
        let byte = match self.code {
            KeyCode::Char(c) if ctrl && !shift => ctrl_byte(c)?,
            KeyCode::Char(c) if !ctrl => {
                let mut bytes = if alt { vec![0x1b] } else { Vec::new() };
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return (!other).then_some(bytes);
            }
            KeyCode::Enter if !ctrl && !shift => b'\r',
            KeyCode::Tab if !ctrl && !shift => b'\t',
            KeyCode::Backspace if !ctrl && !shift => 0x7f,
            KeyCode::Escape if !ctrl && !shift => 0x1b,
            _ => return None,
        };
        (!other).then(|| if alt { vec![0x1b, byte] } else { vec![byte] })
    }
}

/// The control character for a letter or sign.
const fn ctrl_byte(c: char) -> Option<u8> {
    match c {
        'a'..='z' => Some(c as u8 - b'a' + 1),
        ' ' | '@' => Some(0),
        '[' => Some(0x1b),
        '\\' => Some(0x1c),
        ']' => Some(0x1d),
        '^' => Some(0x1e),
        '_' | '/' => Some(0x1f),
        _ => None,
    }
}

/// What a control character stands for.
pub(crate) const fn from_control(byte: u8) -> Key {
    match byte {
        b'\r' => Key::plain(KeyCode::Enter),
        b'\t' => Key::plain(KeyCode::Tab),
        0x1b => Key::plain(KeyCode::Escape),
        0x7f => Key::plain(KeyCode::Backspace),
        0 => Key::ctrl(' '),
        1..=26 => Key::ctrl((b'a' + byte - 1) as char),
        0x1c => Key::ctrl('\\'),
        0x1d => Key::ctrl(']'),
        0x1e => Key::ctrl('^'),
        _ => Key::ctrl('_'),
    }
}

const NAMED: [(&str, KeyCode); 16] = [
    ("enter", KeyCode::Enter),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("escape", KeyCode::Escape),
    ("esc", KeyCode::Escape),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("insert", KeyCode::Insert),
    ("delete", KeyCode::Delete),
    ("space", KeyCode::Char(' ')),
];

/// The text names no key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0:?} is not a key: write a character, a name such as `enter`, `left` or `f5`, and before it `ctrl+`, `alt+` or `shift+`"
)]
pub struct KeyError(String);

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let error = || KeyError(text.chars().take(40).collect());
        let mut mods = Mods::default();
        let mut rest = text;
        // A lone `+` is a key.
        while let Some((before, after)) =
            rest.split_once('+').filter(|(before, after)| !before.is_empty() && !after.is_empty())
        {
            match before.to_ascii_lowercase().as_str() {
                "ctrl" => mods.ctrl = true,
                "alt" => mods.alt = true,
                "shift" => mods.shift = true,
                _ => return Err(error()),
            }
            rest = after;
        }
        let lower = rest.to_ascii_lowercase();
        let mut chars = rest.chars();
        let code = match (chars.next(), chars.next()) {
            (Some(c), None) if !c.is_control() => {
                KeyCode::Char(if mods.ctrl { c.to_ascii_lowercase() } else { c })
            }
            _ => {
                if let Some((_, code)) = NAMED.into_iter().find(|(name, _)| *name == lower) {
                    code
                } else {
                    let number = lower.strip_prefix('f').and_then(|number| number.parse().ok());
                    KeyCode::F(number.filter(|number| (1..=35).contains(number)).ok_or_else(error)?)
                }
            }
        };
        Ok(Self { code, mods })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [(self.mods.ctrl, "ctrl+"), (self.mods.alt, "alt+"), (self.mods.shift, "shift+")]
        {
            if held {
                f.write_str(name)?;
            }
        }
        match self.code {
            KeyCode::Char(' ') => f.write_str("space"),
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(number) => write!(f, "f{number}"),
            KeyCode::Other(code) => write!(f, "key {code}"),
            code => {
                let name = NAMED.iter().find(|(_, named)| *named == code).map_or("?", |(name, _)| name);
                f.write_str(name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for text in [
            "a",
            "Z",
            "+",
            "ctrl+b",
            "ctrl++",
            "alt+shift+left",
            "f12",
            "space",
            "ctrl+alt+delete",
            "é",
            "ctrl+space",
        ] {
            assert_eq!(text.parse::<Key>().unwrap().to_string(), text);
        }
        assert_eq!("Ctrl+B".parse::<Key>().unwrap(), Key::ctrl('b'));
        assert_eq!("ESC".parse::<Key>().unwrap().code, KeyCode::Escape);
        for bad in ["", "ctrl+", "hyper+x", "f0", "f99", "enterr", "\u{1b}", "ctrl+ab"] {
            assert!(bad.parse::<Key>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn legacy_bytes_mean_the_same_key() {
        for byte in 0..=0x7f_u8 {
            let key = if byte < 0x20 || byte == 0x7f { from_control(byte) } else { Key::char(byte.into()) };
            assert_eq!(key.legacy_bytes(), Some(vec![byte]), "{key}");
        }
        assert_eq!("alt+x".parse::<Key>().unwrap().legacy_bytes(), Some(b"\x1bx".to_vec()));
        assert_eq!("ctrl+shift+x".parse::<Key>().unwrap().legacy_bytes(), None);
        assert_eq!("f5".parse::<Key>().unwrap().legacy_bytes(), None);
    }
}
