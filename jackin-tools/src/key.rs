use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A key of the console, as the configuration writes it: `l`, `f5`, `ctrl+t`, `alt+t`, `enter`.
///
/// Keys are ordered as they are shown: letters (`a A b B …`), digits, signs, `f1`–`f12`, `ctrl+…`, `alt+…`, and last the
/// named keys, which only the console itself uses.
///
/// ```
/// use jackin_tools::Key;
///
/// assert_eq!("Ctrl+T".parse::<Key>()?, Key::Ctrl('t'));
/// assert_eq!(Key::F(5).to_string(), "f5");
/// assert!("ctrl".parse::<Key>().unwrap_err().to_string().contains("one character"));
/// # Ok::<(), jackin_tools::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Key {
    /// A character that is typed without Ctrl or Alt; `l` and `L` are two keys.
    Char(char),
    /// A function key, 1 to 12.
    F(u8),
    /// A character with Ctrl, in lower case: terminals do not tell the cases apart.
    Ctrl(char),
    /// A character with Alt.
    Alt(char),
    /// A key with a name of its own.
    Named(NamedKey),
}

/// The keys that have names instead of characters. Tools cannot use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are those on the keyboard")]
pub enum NamedKey {
    Enter,
    Escape,
    Tab,
    BackTab,
    Space,
    Backspace,
    Insert,
    Delete,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
}

impl NamedKey {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Enter,
        Self::Escape,
        Self::Tab,
        Self::BackTab,
        Self::Space,
        Self::Backspace,
        Self::Insert,
        Self::Delete,
        Self::Up,
        Self::Down,
        Self::Left,
        Self::Right,
        Self::Home,
        Self::End,
        Self::PageUp,
        Self::PageDown,
    ];

    /// The key as the configuration would write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enter => "enter",
            Self::Escape => "esc",
            Self::Tab => "tab",
            Self::BackTab => "backtab",
            Self::Space => "space",
            Self::Backspace => "backspace",
            Self::Insert => "insert",
            Self::Delete => "delete",
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
            Self::Home => "home",
            Self::End => "end",
            Self::PageUp => "pageup",
            Self::PageDown => "pagedown",
        }
    }
}

/// A text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("write one character (`l`), `f1` to `f12`, `ctrl+` and a character, or `alt+` and a character")]
pub struct KeyError;

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        if let Some(c) = only_char(text) {
            return if c == ' ' { Ok(Self::Named(NamedKey::Space)) } else { typed(c).map(Self::Char) };
        }
        let lower = text.to_ascii_lowercase();
        if let Some(named) = NamedKey::ALL.into_iter().find(|named| named.as_str() == lower) {
            return Ok(Self::Named(named));
        }
        if let Some(number) = lower.strip_prefix('f') {
            let written_plainly = !number.starts_with(['0', '+']);
            return match number.parse() {
                Ok(number @ 1..=12) if written_plainly => Ok(Self::F(number)),
                _ => Err(KeyError),
            };
        }
        // `ctrl++` is Ctrl and the plus sign, so the modifier is cut off as a prefix and not split at a plus.
        let (modifier, rest) = lower.split_at_checked("ctrl+".len()).unwrap_or((&lower, ""));
        if modifier == "ctrl+" {
            let c = only_char(rest).ok_or(KeyError)?;
            return typed(c).map(Self::Ctrl);
        }
        if lower.starts_with("alt+") {
            // From the text as written: Alt and an upper-case letter is another key.
            let c = text.get("alt+".len()..).and_then(only_char).ok_or(KeyError)?;
            return typed(c).map(Self::Alt);
        }
        Err(KeyError)
    }
}

/// The character, if it can be typed and shown: no control character and no blank.
fn typed(c: char) -> Result<char, KeyError> {
    if c.is_control() || c.is_whitespace() { Err(KeyError) } else { Ok(c) }
}

fn only_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Char(c) => f.pad(c.encode_utf8(&mut [0; 4])),
            Self::F(number) => f.pad(&format!("f{number}")),
            Self::Ctrl(c) => f.pad(&format!("ctrl+{c}")),
            Self::Alt(c) => f.pad(&format!("alt+{c}")),
            Self::Named(named) => f.pad(named.as_str()),
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        rank(*self).cmp(&rank(*other))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Group, place within it, and what tells two keys of one place apart.
fn rank(key: Key) -> (u8, u32, u32) {
    match key {
        Key::Char(c) if c.is_alphabetic() => (0, c.to_lowercase().next().unwrap_or(c).into(), upper_last(c)),
        Key::Char(c) if c.is_ascii_digit() => (1, c.into(), 0),
        Key::Char(c) => (2, c.into(), 0),
        Key::F(number) => (3, number.into(), 0),
        Key::Ctrl(c) => (4, c.into(), 0),
        Key::Alt(c) => (5, c.to_lowercase().next().unwrap_or(c).into(), upper_last(c)),
        Key::Named(named) => (6, named as u32, 0),
    }
}

fn upper_last(c: char) -> u32 {
    if c.is_uppercase() { u32::from(c) + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_written() {
        for (text, key) in [
            ("l", Key::Char('l')),
            ("L", Key::Char('L')),
            ("é", Key::Char('é')),
            ("f", Key::Char('f')),
            ("+", Key::Char('+')),
            ("f1", Key::F(1)),
            ("f12", Key::F(12)),
            ("ctrl+x", Key::Ctrl('x')),
            ("ctrl++", Key::Ctrl('+')),
            ("alt+x", Key::Alt('x')),
            ("alt+X", Key::Alt('X')),
            ("enter", Key::Named(NamedKey::Enter)),
        ] {
            assert_eq!(text.parse(), Ok(key), "{text}");
            assert_eq!(key.to_string(), text);
        }
        assert_eq!("CTRL+X".parse(), Ok(Key::Ctrl('x')));
        assert_eq!("F5".parse(), Ok(Key::F(5)));
        assert_eq!(" ".parse(), Ok(Key::Named(NamedKey::Space)));
        for named in NamedKey::ALL {
            assert_eq!(named.as_str().parse(), Ok(Key::Named(named)));
        }
    }

    #[test]
    fn what_is_no_key() {
        for bad in [
            "",
            "ll",
            "f0",
            "f13",
            "f01",
            "f+1",
            "ctrl+",
            "ctrl+ab",
            "ctrl+ ",
            "alt+",
            "shift+x",
            "\n",
            "\u{a0}",
            "ctrl+é́",
        ] {
            assert_eq!(bad.parse::<Key>(), Err(KeyError), "{bad:?}");
        }
    }

    #[test]
    fn keys_are_ordered_as_they_are_shown() {
        let shown =
            ["a", "A", "b", "z", "1", "9", "!", "~", "f2", "f10", "ctrl+a", "alt+a", "alt+A", "enter"];
        let mut keys: Vec<Key> = shown.iter().map(|text| text.parse().unwrap()).collect();
        keys.reverse();
        keys.sort();
        assert_eq!(keys.iter().map(ToString::to_string).collect::<Vec<_>>(), shown);
    }
}
