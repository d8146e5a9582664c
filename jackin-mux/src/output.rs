use jackin_core::{PaneId, Size};

use crate::vt::{Progress, PromptMark};

/// Something for the embedder to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Write to a pane's program.
    WritePty {
        /// Which pane.
        pane: PaneId,
        /// What to write.
        bytes: Vec<u8>,
    },
    /// Tell a pane's program the size of its terminal.
    ResizePty {
        /// Which pane.
        pane: PaneId,
        /// The size.
        size: Size,
    },
    /// The operator opened a pane: start something in it. If that fails, hand in
    /// [`Input::PaneClosed`](crate::Input::PaneClosed).
    Spawn {
        /// Which pane.
        pane: PaneId,
        /// What to start.
        launch: Launch,
        /// The size of its terminal.
        size: Size,
    },
    /// The operator wants a pane's program to end.
    Kill {
        /// Which pane.
        pane: PaneId,
    },
    /// The operator wants a session that has ended to be started again.
    Restart {
        /// The pane that the operator looks at; none when nothing runs.
        pane: Option<PaneId>,
    },
    /// The operator wants a pane recorded, or no longer.
    Record {
        /// Which pane.
        pane: PaneId,
    },
    /// A pane's program set its title.
    Title {
        /// Which pane.
        pane: PaneId,
        /// The title, free of control characters.
        title: String,
    },
    /// A pane's program told its working directory: a URL, as it was sent.
    Directory {
        /// Which pane.
        pane: PaneId,
        /// The address.
        url: String,
    },
    /// A pane's shell marked a prompt, a command or its end.
    Prompt {
        /// Which pane.
        pane: PaneId,
        /// What it marked.
        mark: PromptMark,
    },
    /// A pane's program told how far it is.
    Progress {
        /// Which pane.
        pane: PaneId,
        /// How far.
        progress: Progress,
    },
    /// A pane's program rang the bell.
    Bell {
        /// Which pane.
        pane: PaneId,
    },
    /// The operator types or pastes into a pane: what is written to it next is theirs, not the multiplexer's answer to a
    /// question of the program's.
    Typed {
        /// Which pane.
        pane: PaneId,
    },
    /// The operator typed into a pane, or stayed on it: what it had finished was seen.
    Seen {
        /// Which pane.
        pane: PaneId,
    },
    /// The operator asked to leave.
    Detach,
}

/// What to start in a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// The user's shell.
    Shell,
    /// The agent with this id.
    Agent(String),
}
