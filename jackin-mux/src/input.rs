use jackin_core::{AgentStatus, Attention, PaneId, Size};

/// Something that happened.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Input<'a> {
    /// A pane's program printed something.
    Pty {
        /// Which pane.
        pane: PaneId,
        /// What it printed.
        bytes: &'a [u8],
    },
    /// The operator's terminal sent something.
    Client(&'a [u8]),
    /// A pane's program has ended and all of its output was handed in: the pane goes.
    PaneClosed {
        /// Which pane.
        pane: PaneId,
    },
    /// An operator's terminal was attached; it shows nothing of ours yet.
    Attached(Client<'a>),
    /// It has another size now.
    Resized(Size),
    /// Its window got or lost the focus, where that is not said by its own bytes.
    Focus(bool),
    /// It is gone.
    Detached,
    /// What a pane's agent is doing.
    Status {
        /// Which pane.
        pane: PaneId,
        /// What it does.
        status: &'a AgentStatus,
        /// What that means for the operator.
        attention: Attention,
    },
    /// What is shown beside the panes.
    Context(&'a Context),
    /// Time has passed: the time that [`Mux::poll_timeout`](crate::Mux::poll_timeout) told, or more.
    Tick,
}

/// An operator's terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Client<'a> {
    /// Its size.
    pub size: Size,
    /// Its `TERM`.
    pub term: Option<&'a str>,
    /// Its `COLORTERM`.
    pub colorterm: Option<&'a str>,
}

impl Client<'_> {
    /// A terminal of this size that can do what terminals of today can.
    pub fn modern(size: Size) -> Self {
        Self { size, term: Some("xterm-256color"), colorterm: Some("truecolor") }
    }
}

/// What surrounds the panes: shown in the bottom row, in the outer title, and in the details and usage dialogs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The workspace.
    pub workspace: Option<String>,
    /// The branch, where it is worth telling.
    pub branch: Option<String>,
    /// The pull request with its checks.
    pub pull_request: Option<String>,
    /// The instance or container.
    pub instance: Option<String>,
    /// The focused agent's usage in a few words.
    pub usage: Option<String>,
    /// The rows of the details dialog: what, and its value.
    pub details: Vec<(String, String)>,
    /// The rows of the usage dialog; none when the host is not connected.
    pub usage_details: Vec<(String, String)>,
}
