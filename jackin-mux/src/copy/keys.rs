use crate::client::{Key, KeyCode};
use crate::settings::CopyKeys;

use super::selection::Shape;

/// What a key does in copy mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Left,
    Right,
    Up,
    Down,
    WordForward,
    WordBack,
    WordEnd,
    LineStart,
    LineEnd,
    FirstText,
    Top,
    Bottom,
    ViewTop,
    ViewMiddle,
    ViewBottom,
    HalfUp,
    HalfDown,
    PageUp,
    PageDown,
    Select(Shape),
    /// Copies what is marked and leaves.
    Copy,
    Search {
        backward: bool,
    },
    Again {
        reverse: bool,
    },
    /// Ends the selection, or else the mode.
    Cancel,
    Leave,
}

pub(super) fn action(key: Key, keys: CopyKeys) -> Option<Action> {
    shared(key).or_else(|| match keys {
        CopyKeys::Vi => vi(key),
        CopyKeys::Emacs => emacs(key),
    })
}

/// What everybody's fingers know.
fn shared(key: Key) -> Option<Action> {
    if key.mods.ctrl || key.mods.alt {
        return None;
    }
    Some(match key.code {
        KeyCode::Left => Action::Left,
        KeyCode::Right => Action::Right,
        KeyCode::Up => Action::Up,
        KeyCode::Down => Action::Down,
        KeyCode::Home => Action::LineStart,
        KeyCode::End => Action::LineEnd,
        KeyCode::PageUp => Action::PageUp,
        KeyCode::PageDown => Action::PageDown,
        KeyCode::Enter => Action::Copy,
        KeyCode::Escape => Action::Cancel,
        _ => return None,
    })
}

fn vi(key: Key) -> Option<Action> {
    let KeyCode::Char(c) = key.code else { return None };
    if key.mods.alt {
        return None;
    }
    Some(match (key.mods.ctrl, c) {
        (true, 'u') => Action::HalfUp,
        (true, 'd') => Action::HalfDown,
        (true, 'b') => Action::PageUp,
        (true, 'f') => Action::PageDown,
        (true, 'v') => Action::Select(Shape::Block),
        (true, 'c') => Action::Leave,
        (true, _) => return None,
        (_, 'h') => Action::Left,
        (_, 'j') => Action::Down,
        (_, 'k') => Action::Up,
        (_, 'l') => Action::Right,
        (_, 'w') => Action::WordForward,
        (_, 'b') => Action::WordBack,
        (_, 'e') => Action::WordEnd,
        (_, '0') => Action::LineStart,
        (_, '^') => Action::FirstText,
        (_, '$') => Action::LineEnd,
        (_, 'g') => Action::Top,
        (_, 'G') => Action::Bottom,
        (_, 'H') => Action::ViewTop,
        (_, 'M') => Action::ViewMiddle,
        (_, 'L') => Action::ViewBottom,
        (_, 'v' | ' ') => Action::Select(Shape::Characters),
        (_, 'V') => Action::Select(Shape::Lines),
        (_, 'y') => Action::Copy,
        (_, '/') => Action::Search { backward: false },
        (_, '?') => Action::Search { backward: true },
        (_, 'n') => Action::Again { reverse: false },
        (_, 'N') => Action::Again { reverse: true },
        (_, 'q') => Action::Leave,
        _ => return None,
    })
}

fn emacs(key: Key) -> Option<Action> {
    let KeyCode::Char(c) = key.code else { return None };
    Some(match (key.mods.ctrl, key.mods.alt, c) {
        (true, false, 'b') => Action::Left,
        (true, false, 'f') => Action::Right,
        (true, false, 'p') => Action::Up,
        (true, false, 'n') => Action::Down,
        (true, false, 'a') => Action::LineStart,
        (true, false, 'e') => Action::LineEnd,
        (true, false, 'v') => Action::PageDown,
        (true, false, ' ' | '@') => Action::Select(Shape::Characters),
        (true, false, 'w') => Action::Copy,
        (true, false, 's') => Action::Search { backward: false },
        (true, false, 'r') => Action::Search { backward: true },
        (true, false, 'g') => Action::Cancel,
        (true, false, 'c') => Action::Leave,
        (false, true, 'f') => Action::WordEnd,
        (false, true, 'b') => Action::WordBack,
        (false, true, 'm') => Action::FirstText,
        (false, true, 'v') => Action::PageUp,
        (false, true, '<') => Action::Top,
        (false, true, '>') => Action::Bottom,
        (false, true, 'w') => Action::Copy,
        (false, true, 'r') => Action::ViewMiddle,
        (false, false, 'n') => Action::Again { reverse: false },
        (false, false, 'N') => Action::Again { reverse: true },
        (false, false, 'q') => Action::Leave,
        _ => return None,
    })
}
