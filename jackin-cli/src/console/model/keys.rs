//! The console's own keys as they are shown: what each action does, on which keys.

use jackin_tools::{ConsoleAction, Key, RESERVED_KEYS};

/// Every action once, with its keys. Those that only move about come last: whoever looks for them has found them.
pub(crate) fn actions() -> Vec<(ConsoleAction, String)> {
    let mut actions: Vec<(ConsoleAction, String)> = Vec::new();
    for reserved in RESERVED_KEYS.iter().filter(|reserved| !is_other_name(reserved.key)) {
        match actions.iter_mut().find(|(action, _)| *action == reserved.action) {
            Some((_, keys)) => *keys = format!("{keys} {}", reserved.key),
            None => actions.push((reserved.action, reserved.key.to_string())),
        }
    }
    actions.sort_by_key(|(action, _)| (*action < ConsoleAction::NextWaiting, *action));
    actions
}

/// The key that a hint names: the first of the table that is one character, else the first.
pub(crate) fn key_of(action: ConsoleAction) -> Option<String> {
    let keys =
        || RESERVED_KEYS.iter().filter(|reserved| reserved.action == action).map(|reserved| reserved.key);
    // Everybody presses Enter.
    let plain = keys().find(|key| matches!(key, Key::Char(_)) && action != ConsoleAction::Attach);
    plain.or_else(|| keys().next()).map(|key| key.to_string())
}

/// Whether a terminal sends the same byte for another key, which goes by its own name.
fn is_other_name(key: Key) -> bool {
    matches!(key, Key::Ctrl('i' | 'j' | 'm' | 'h' | '['))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_shown_once_and_can_be_pressed() {
        let actions = actions();
        for reserved in RESERVED_KEYS {
            let shown = actions.iter().filter(|(action, _)| *action == reserved.action);
            assert_eq!(shown.count(), 1, "{}", reserved.key);
        }
        assert!(actions.iter().all(|(_, keys)| keys.split(' ').all(|key| key.parse::<Key>().is_ok())));
        assert_eq!(key_of(ConsoleAction::Attach).as_deref(), Some("enter"));
        assert_eq!(key_of(ConsoleAction::Eject).as_deref(), Some("e"));
    }
}
