use std::time::Duration;

use crate::client::Key;
use crate::command::Keymap;
use crate::vt;

/// What a multiplexer is made with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The key before every command; none leaves all keys to the programs.
    pub prefix: Option<Key>,
    /// What the keys after it mean.
    pub keymap: Keymap,
    /// How long an ESC waits for the rest of a sequence until it is the Escape key.
    pub escape_time: Duration,
    /// Whether there is a bar with tabs, a context row and borders with titles. Without, a lone pane has the whole
    /// terminal.
    pub chrome: bool,
    /// What the picker offers beside a shell.
    pub agents: Vec<Agent>,
    /// Which sequences of the focused pane's program reach the operator's terminal.
    pub forward: Forward,
    /// The keys of copy mode.
    pub copy_keys: CopyKeys,
    /// History and other limits of each pane.
    pub terminal: vt::Settings,
}

/// An agent that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// What the embedder knows it by.
    pub id: String,
    /// Its name for people.
    pub display: String,
}

/// Which kinds of sequences the focused pane's program may send to the operator's terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forward {
    /// Desktop notifications: OSC 9, 99 and 777.
    pub notifications: bool,
    /// Progress: OSC 9;4.
    pub progress: bool,
    /// Writing the clipboard: OSC 52.
    pub clipboard: bool,
    /// Reading the clipboard, which tells a program what the operator copied elsewhere.
    pub clipboard_read: bool,
    /// Images: APC, DCS and OSC 1337.
    pub graphics: bool,
    /// Every other OSC that we do not know.
    pub other: bool,
}

impl Default for Forward {
    fn default() -> Self {
        Self {
            notifications: true,
            progress: true,
            clipboard: true,
            clipboard_read: false,
            graphics: true,
            other: true,
        }
    }
}

/// Whose keys copy mode follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyKeys {
    /// Those of vi.
    #[default]
    Vi,
    /// Those of Emacs.
    Emacs,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            prefix: Some(Key::ctrl('b')),
            keymap: Keymap::default(),
            escape_time: Duration::from_millis(25),
            chrome: true,
            agents: Vec::new(),
            forward: Forward::default(),
            copy_keys: CopyKeys::default(),
            terminal: vt::Settings::default(),
        }
    }
}
