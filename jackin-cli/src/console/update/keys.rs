//! Which key does what: the console's own from the one table, then the team's tools.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jackin_tools::{Key, NamedKey, reserved};

use super::{Effect, act, tools};
use crate::console::model::Model;

/// A key of the terminal as the table and the configuration name it.
pub(crate) fn key_of(key: KeyEvent) -> Option<Key> {
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    Some(match key.code {
        KeyCode::Char(' ') if !ctrl && !alt => Key::Named(NamedKey::Space),
        KeyCode::Char(c) if ctrl => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) if alt => Key::Alt(c),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::F(number @ 1..=12) => Key::F(number),
        KeyCode::Enter => Key::Named(NamedKey::Enter),
        KeyCode::Esc => Key::Named(NamedKey::Escape),
        KeyCode::Tab if key.modifiers.contains(KeyModifiers::SHIFT) => Key::Named(NamedKey::BackTab),
        KeyCode::Tab => Key::Named(NamedKey::Tab),
        KeyCode::BackTab => Key::Named(NamedKey::BackTab),
        KeyCode::Backspace => Key::Named(NamedKey::Backspace),
        KeyCode::Insert => Key::Named(NamedKey::Insert),
        KeyCode::Delete => Key::Named(NamedKey::Delete),
        KeyCode::Up => Key::Named(NamedKey::Up),
        KeyCode::Down => Key::Named(NamedKey::Down),
        KeyCode::Left => Key::Named(NamedKey::Left),
        KeyCode::Right => Key::Named(NamedKey::Right),
        KeyCode::Home => Key::Named(NamedKey::Home),
        KeyCode::End => Key::Named(NamedKey::End),
        KeyCode::PageUp => Key::Named(NamedKey::PageUp),
        KeyCode::PageDown => Key::Named(NamedKey::PageDown),
        _ => return None,
    })
}

/// Takes a key while nothing lies over the list.
pub(super) fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let Some(key) = key_of(key) else { return };
    if let Some(action) = reserved(key) {
        act::act(model, action, effects);
    } else {
        tools::fire(model, key, effects);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackin_tools::RESERVED_KEYS;

    /// The event that a terminal sends for a key.
    fn event(key: Key) -> KeyEvent {
        let named = |named| match named {
            NamedKey::Enter => KeyCode::Enter,
            NamedKey::Escape => KeyCode::Esc,
            NamedKey::Tab => KeyCode::Tab,
            NamedKey::BackTab => KeyCode::BackTab,
            NamedKey::Space => KeyCode::Char(' '),
            NamedKey::Backspace => KeyCode::Backspace,
            NamedKey::Insert => KeyCode::Insert,
            NamedKey::Delete => KeyCode::Delete,
            NamedKey::Up => KeyCode::Up,
            NamedKey::Down => KeyCode::Down,
            NamedKey::Left => KeyCode::Left,
            NamedKey::Right => KeyCode::Right,
            NamedKey::Home => KeyCode::Home,
            NamedKey::End => KeyCode::End,
            NamedKey::PageUp => KeyCode::PageUp,
            NamedKey::PageDown => KeyCode::PageDown,
        };
        match key {
            Key::Char(c) => KeyCode::Char(c).into(),
            Key::Ctrl(c) => KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL),
            Key::Alt(c) => KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT),
            Key::F(number) => KeyCode::F(number).into(),
            Key::Named(key) => named(key).into(),
            _ => unreachable!("no other keys"),
        }
    }

    #[test]
    fn every_key_of_the_table_is_recognised() {
        for reserved in RESERVED_KEYS {
            assert_eq!(key_of(event(reserved.key)), Some(reserved.key), "{}", reserved.key);
        }
        for key in ["l", "L", "ü", "f12", "ctrl+t", "alt+T"] {
            let key: Key = key.parse().unwrap();
            assert_eq!(key_of(event(key)), Some(key));
        }
    }
}
