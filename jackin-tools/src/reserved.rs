//! The console's own keys: one table, from which the console binds them, its help is written, and the configuration
//! is checked. A tool can have any key that does not stand here.

use crate::key::{Key, NamedKey};

/// One key that the console keeps for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedKey {
    /// The key.
    pub key: Key,
    /// What it stands for.
    pub action: ConsoleAction,
}

/// What the keys of the console do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "`does` says it for each, in the words that the operator reads")]
pub enum ConsoleAction {
    Up,
    Down,
    Collapse,
    Expand,
    First,
    Last,
    PageUp,
    PageDown,
    NextWaiting,
    PreviousWaiting,
    NextArea,
    PreviousArea,
    Attach,
    NewAgent,
    SplitRight,
    SplitDown,
    Send,
    Answer,
    Acknowledge,
    Restart,
    Eject,
    Exile,
    Record,
    Copy,
    OpenLink,
    RepairTags,
    Explain,
    TogglePreview,
    Mute,
    Filter,
    Sort,
    Group,
    Palette,
    Help,
    Redraw,
    Suspend,
    Back,
    Quit,
}

impl ConsoleAction {
    /// What it does, for help and messages: "this key …".
    pub const fn does(self) -> &'static str {
        match self {
            Self::Up => "moves the selection up",
            Self::Down => "moves the selection down",
            Self::Collapse => "closes a group",
            Self::Expand => "opens a group",
            Self::First => "selects the first row",
            Self::Last => "selects the last row",
            Self::PageUp => "moves a page up",
            Self::PageDown => "moves a page down",
            Self::NextWaiting => "goes to the next agent that needs you",
            Self::PreviousWaiting => "goes to the previous agent that needs you",
            Self::NextArea => "moves to the next area of the screen",
            Self::PreviousArea => "moves to the previous area of the screen",
            Self::Attach => "attaches to the selected session",
            Self::NewAgent => "starts a new agent",
            Self::SplitRight => "splits the session's pane to the right",
            Self::SplitDown => "splits the session's pane downwards",
            Self::Send => "sends a prompt to the agent",
            Self::Answer => "answers the agent's question",
            Self::Acknowledge => "marks a result as seen",
            Self::Restart => "restarts an ended session",
            Self::Eject => "ejects the selected instance",
            Self::Exile => "ejects every instance",
            Self::Record => "starts or ends a recording",
            Self::Copy => "copies the selected value",
            Self::OpenLink => "opens the selected link",
            Self::RepairTags => "repairs the agent's tags",
            Self::Explain => "explains the agent's status",
            Self::TogglePreview => "shows or hides the preview",
            Self::Mute => "mutes an agent's notifications",
            Self::Filter => "filters the list",
            Self::Sort => "changes the order of the list",
            Self::Group => "changes the grouping of the list",
            Self::Palette => "opens the command palette",
            Self::Help => "shows help",
            Self::Redraw => "redraws the screen",
            Self::Suspend => "suspends the console",
            Self::Back => "closes what is open, or clears the filter",
            Self::Quit => "quits the console",
        }
    }
}

/// Every key that the console keeps for itself.
///
/// Some are here because a terminal sends the same byte for two keys: `ctrl+i` is Tab, `ctrl+m` and `ctrl+j` are Enter,
/// `ctrl+h` is Backspace and `ctrl+[` is Escape.
pub const RESERVED_KEYS: &[ReservedKey] = &[
    named(NamedKey::Up, ConsoleAction::Up),
    named(NamedKey::Down, ConsoleAction::Down),
    named(NamedKey::Left, ConsoleAction::Collapse),
    named(NamedKey::Right, ConsoleAction::Expand),
    named(NamedKey::Home, ConsoleAction::First),
    named(NamedKey::End, ConsoleAction::Last),
    named(NamedKey::PageUp, ConsoleAction::PageUp),
    named(NamedKey::PageDown, ConsoleAction::PageDown),
    named(NamedKey::Tab, ConsoleAction::NextArea),
    named(NamedKey::BackTab, ConsoleAction::PreviousArea),
    named(NamedKey::Enter, ConsoleAction::Attach),
    named(NamedKey::Space, ConsoleAction::Acknowledge),
    named(NamedKey::Escape, ConsoleAction::Back),
    named(NamedKey::Backspace, ConsoleAction::Back),
    named(NamedKey::Insert, ConsoleAction::NewAgent),
    named(NamedKey::Delete, ConsoleAction::Eject),
    plain('a', ConsoleAction::Attach),
    plain('c', ConsoleAction::NewAgent),
    plain('|', ConsoleAction::SplitRight),
    plain('-', ConsoleAction::SplitDown),
    plain('s', ConsoleAction::Send),
    plain('r', ConsoleAction::Answer),
    plain('d', ConsoleAction::Acknowledge),
    plain('R', ConsoleAction::Restart),
    plain('e', ConsoleAction::Eject),
    plain('E', ConsoleAction::Exile),
    plain('w', ConsoleAction::Record),
    plain('y', ConsoleAction::Copy),
    plain('o', ConsoleAction::OpenLink),
    plain('t', ConsoleAction::RepairTags),
    plain('x', ConsoleAction::Explain),
    plain('p', ConsoleAction::TogglePreview),
    plain('m', ConsoleAction::Mute),
    plain('/', ConsoleAction::Filter),
    plain('S', ConsoleAction::Sort),
    plain('g', ConsoleAction::Group),
    plain(']', ConsoleAction::NextWaiting),
    plain('[', ConsoleAction::PreviousWaiting),
    plain(':', ConsoleAction::Palette),
    plain('?', ConsoleAction::Help),
    plain('q', ConsoleAction::Quit),
    ReservedKey { key: Key::F(1), action: ConsoleAction::Help },
    ctrl('n', ConsoleAction::Down),
    ctrl('p', ConsoleAction::Up),
    ctrl('d', ConsoleAction::PageDown),
    ctrl('u', ConsoleAction::PageUp),
    ctrl('i', ConsoleAction::NextArea),
    ctrl('j', ConsoleAction::Attach),
    ctrl('m', ConsoleAction::Attach),
    ctrl('h', ConsoleAction::Back),
    ctrl('[', ConsoleAction::Back),
    ctrl('l', ConsoleAction::Redraw),
    ctrl('z', ConsoleAction::Suspend),
    ctrl('c', ConsoleAction::Quit),
];

/// What the console does with this key; none if a tool may have it.
pub fn reserved(key: Key) -> Option<ConsoleAction> {
    RESERVED_KEYS.iter().find(|reserved| reserved.key == key).map(|reserved| reserved.action)
}

const fn plain(c: char, action: ConsoleAction) -> ReservedKey {
    ReservedKey { key: Key::Char(c), action }
}

const fn ctrl(c: char, action: ConsoleAction) -> ReservedKey {
    ReservedKey { key: Key::Ctrl(c), action }
}

const fn named(key: NamedKey, action: ConsoleAction) -> ReservedKey {
    ReservedKey { key: Key::Named(key), action }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_key_stands_once_and_is_written_as_it_is_read() {
        let mut seen = BTreeSet::new();
        for reserved in RESERVED_KEYS {
            assert!(seen.insert(reserved.key), "{} stands twice", reserved.key);
            assert_eq!(reserved.key.to_string().parse(), Ok(reserved.key));
        }
    }

    #[test]
    fn every_named_key_is_the_consoles() {
        for named in NamedKey::ALL {
            assert!(reserved(Key::Named(named)).is_some(), "{}", named.as_str());
        }
    }

    #[test]
    fn the_keys_of_common_tools_are_free() {
        for key in ["b", "i", "k", "l", "n", "1", "9", "f2", "f12", "ctrl+t", "alt+a"] {
            assert_eq!(reserved(key.parse().unwrap()), None, "{key}");
        }
    }
}
