use crate::client::{Key, KeyError};
use crate::layout::Direction;

use thiserror::Error;

/// Something that the operator can tell the multiplexer to do, by key, palette or mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Command {
    /// Choose what to start in a new tab.
    NewTab,
    /// Show the tab after this one.
    NextTab,
    /// Show the tab before this one.
    PreviousTab,
    /// Show the tab that was shown before.
    LastTab,
    /// Show the tab at a position, from 0.
    Tab(u8),
    /// List the tabs.
    TabList,
    /// Give the tab another label.
    RenameTab,
    /// Move the tab one place to the left.
    MoveTabLeft,
    /// Move the tab one place to the right.
    MoveTabRight,
    /// Start something below the focused pane.
    SplitDown,
    /// Start something at the right of the focused pane.
    SplitRight,
    /// Focus the pane at the left.
    FocusLeft,
    /// Focus the pane below.
    FocusDown,
    /// Focus the pane above.
    FocusUp,
    /// Focus the pane at the right.
    FocusRight,
    /// Move the pane's border to the left.
    ResizeLeft,
    /// Move the pane's border down.
    ResizeDown,
    /// Move the pane's border up.
    ResizeUp,
    /// Move the pane's border to the right.
    ResizeRight,
    /// Give all panes in a line the same size.
    Equalise,
    /// Exchange the pane with the one before it.
    SwapPrevious,
    /// Exchange the pane with the one after it.
    SwapNext,
    /// Show the focused pane alone, or all of them again.
    Zoom,
    /// Move the pane to a tab of its own.
    BreakPane,
    /// End the focused pane's program.
    KillPane,
    /// End all programs of the tab.
    KillTab,
    /// Start the pane's ended program again.
    Restart,
    /// Scroll, search and copy.
    CopyMode,
    /// Forget the pane's history and ask its program to draw again.
    ClearPane,
    /// Draw everything again.
    Redraw,
    /// Record the pane, or stop recording it.
    Record,
    /// What the agent has used.
    Usage,
    /// What is known of the workspace, the pull request and the container.
    Details,
    /// Everything that can be done, by name.
    Palette,
    /// The keys.
    Help,
    /// Leave; everything goes on running.
    Detach,
}

/// Every command with the name that configuration uses, what the palette and the help show, and its default keys.
const TABLE: &[(Command, &str, &str, &[&str])] = &[
    (Command::NewTab, "new-tab", "New tab", &["c"]),
    (Command::NextTab, "next-tab", "Next tab", &["n"]),
    (Command::PreviousTab, "previous-tab", "Previous tab", &["p"]),
    (Command::LastTab, "last-tab", "Last tab", &["tab"]),
    (Command::Tab(0), "tab-0", "Tab 0", &["0"]),
    (Command::Tab(1), "tab-1", "Tab 1", &["1"]),
    (Command::Tab(2), "tab-2", "Tab 2", &["2"]),
    (Command::Tab(3), "tab-3", "Tab 3", &["3"]),
    (Command::Tab(4), "tab-4", "Tab 4", &["4"]),
    (Command::Tab(5), "tab-5", "Tab 5", &["5"]),
    (Command::Tab(6), "tab-6", "Tab 6", &["6"]),
    (Command::Tab(7), "tab-7", "Tab 7", &["7"]),
    (Command::Tab(8), "tab-8", "Tab 8", &["8"]),
    (Command::Tab(9), "tab-9", "Tab 9", &["9"]),
    (Command::TabList, "tab-list", "List tabs", &["w"]),
    (Command::RenameTab, "rename-tab", "Rename tab", &[","]),
    (Command::MoveTabLeft, "move-tab-left", "Move tab left", &["<"]),
    (Command::MoveTabRight, "move-tab-right", "Move tab right", &[">"]),
    (Command::SplitDown, "split-down", "Split top and bottom", &["\""]),
    (Command::SplitRight, "split-right", "Split side by side", &["%"]),
    (Command::FocusLeft, "focus-left", "Focus left", &["h", "left"]),
    (Command::FocusDown, "focus-down", "Focus down", &["j", "down"]),
    (Command::FocusUp, "focus-up", "Focus up", &["k", "up"]),
    (Command::FocusRight, "focus-right", "Focus right", &["l", "right"]),
    (Command::ResizeLeft, "resize-left", "Move border left", &["ctrl+left", "alt+left"]),
    (Command::ResizeDown, "resize-down", "Move border down", &["ctrl+down", "alt+down"]),
    (Command::ResizeUp, "resize-up", "Move border up", &["ctrl+up", "alt+up"]),
    (Command::ResizeRight, "resize-right", "Move border right", &["ctrl+right", "alt+right"]),
    (Command::Equalise, "equalise", "Equal pane sizes", &["="]),
    (Command::SwapPrevious, "swap-previous", "Swap with previous pane", &["{"]),
    (Command::SwapNext, "swap-next", "Swap with next pane", &["}"]),
    (Command::Zoom, "zoom", "Zoom pane", &["z"]),
    (Command::BreakPane, "break-pane", "Move pane to its own tab", &["!"]),
    (Command::KillPane, "kill-pane", "Kill pane", &["x"]),
    (Command::KillTab, "kill-tab", "Kill tab", &["&"]),
    (Command::Restart, "restart", "Restart ended session", &["e"]),
    (Command::CopyMode, "copy-mode", "Scroll, search and copy", &["["]),
    (Command::ClearPane, "clear-pane", "Clear pane and its history", &["ctrl+l"]),
    (Command::Redraw, "redraw", "Redraw", &["r"]),
    (Command::Record, "record", "Record pane", &["R"]),
    (Command::Usage, "usage", "Usage", &["u"]),
    (Command::Details, "details", "Workspace and container", &["i"]),
    (Command::Palette, "palette", "Command palette", &["space", ":"]),
    (Command::Help, "help", "Keys", &["?"]),
    (Command::Detach, "detach", "Detach", &["d"]),
];

impl Command {
    /// Every command, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(command, ..)| *command)
    }

    /// The command's name in configuration.
    pub fn name(self) -> &'static str {
        self.entry().1
    }

    /// The command for people.
    pub fn title(self) -> &'static str {
        self.entry().2
    }

    /// The command with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|(_, own, ..)| *own == name).map(|(command, ..)| *command)
    }

    pub(crate) fn direction(self) -> Option<Direction> {
        match self {
            Self::FocusLeft | Self::ResizeLeft => Some(Direction::Left),
            Self::FocusDown | Self::ResizeDown => Some(Direction::Down),
            Self::FocusUp | Self::ResizeUp => Some(Direction::Up),
            Self::FocusRight | Self::ResizeRight => Some(Direction::Right),
            _ => None,
        }
    }

    fn entry(self) -> &'static (Self, &'static str, &'static str, &'static [&'static str]) {
        // A tab beyond the tenth has no key and no name of its own.
        TABLE.iter().find(|(command, ..)| *command == self).unwrap_or(&TABLE[0])
    }
}

/// Which key means what, after the prefix.
///
/// ```
/// use jackin_mux::{Command, Key, Keymap};
///
/// let mut keymap = Keymap::default();
/// assert_eq!(keymap.command("%".parse()?), Some(Command::SplitRight));
/// keymap.bind("|", "split-right")?;
/// keymap.bind("%", "none")?;
/// assert_eq!(keymap.command(Key::char('|')), Some(Command::SplitRight));
/// assert_eq!(keymap.command(Key::char('%')), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Keymap {
    bindings: Vec<(Key, Command)>,
}

/// Why a binding was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BindError {
    /// The key's name.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The command's name.
    #[error("{0:?} is not a command: write `none` or one of {names}", names = command_names())]
    Command(String),
}

fn command_names() -> String {
    Command::all().map(Command::name).collect::<Vec<_>>().join(", ")
}

impl Default for Keymap {
    fn default() -> Self {
        let mut bindings = Vec::new();
        for (command, _, _, keys) in TABLE {
            bindings.extend(keys.iter().filter_map(|key| Some((key.parse().ok()?, *command))));
        }
        Self { bindings }
    }
}

impl Keymap {
    /// Gives a key another meaning; the command `none` takes its meaning away.
    pub fn bind(&mut self, key: &str, command: &str) -> Result<(), BindError> {
        let key: Key = key.parse()?;
        let command = match command {
            "none" => None,
            name => Some(
                Command::by_name(name).ok_or_else(|| BindError::Command(name.chars().take(40).collect()))?,
            ),
        };
        self.bindings.retain(|(bound, _)| *bound != key);
        self.bindings.extend(command.map(|command| (key, command)));
        Ok(())
    }

    /// What a key means.
    pub fn command(&self, key: Key) -> Option<Command> {
        self.bindings.iter().find(|(bound, _)| *bound == key).map(|(_, command)| *command)
    }

    /// The keys of a command.
    pub fn keys(&self, command: Command) -> impl Iterator<Item = Key> {
        self.bindings.iter().filter(move |(_, bound)| *bound == command).map(|(key, _)| *key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        let keymap = Keymap::default();
        let keys: usize = TABLE.iter().map(|(.., keys)| keys.len()).sum();
        assert_eq!(keymap.bindings.len(), keys, "every default key can be read");
        for (at, (key, _)) in keymap.bindings.iter().enumerate() {
            assert!(keymap.bindings[..at].iter().all(|(before, _)| before != key), "{key} is bound twice");
        }
        for command in Command::all() {
            assert_eq!(Command::by_name(command.name()), Some(command));
            assert!(keymap.keys(command).next().is_some(), "{} has no key", command.name());
        }
    }

    /// To write the page anew, put what the assertion prints into it.
    #[test]
    fn the_documented_keys_are_those_of_the_table() {
        let mut page = String::from(
            "# Keys\n\nEach follows the prefix, `ctrl+b` unless configured otherwise. The prefix pressed twice sends it to the program.\n\n\
             | key | command | name in the configuration |\n|---|---|---|\n",
        );
        for (command, name, title, keys) in
            TABLE.iter().filter(|(command, ..)| !matches!(command, Command::Tab(1..)))
        {
            let (keys, title, name) = match command {
                Command::Tab(_) => ("`0` to `9`".to_owned(), "Tab 0 to 9", "tab-0` to `tab-9"),
                _ => (keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" "), *title, *name),
            };
            page.push_str("| ");
            page.push_str(&[&*keys, title, &format!("`{name}`")].join(" | "));
            page.push_str(" |\n");
        }
        assert_eq!(include_str!("../../docs/keys.md"), page, "docs/keys.md should be:\n{page}");
    }

    #[test]
    fn bad_bindings_say_what_to_write() {
        let mut keymap = Keymap::default();
        assert!(keymap.bind("hyper+x", "zoom").unwrap_err().to_string().contains("is not a key"));
        let error = keymap.bind("x", "explode").unwrap_err().to_string();
        assert!(error.contains("\"explode\" is not a command") && error.contains("split-right"), "{error}");
        assert_eq!(keymap, Keymap::default());
    }
}
