//! What is asked of the operator, over the panes: lists, a line of text, yes or no, and pages to read.

mod confirm;
mod line;
mod list;
mod page;
mod panel;

pub(crate) use confirm::Confirm;
pub(crate) use line::Line;
pub use list::score as fuzzy_score;
pub(crate) use list::{Choice, List};
pub(crate) use page::Page;
pub(crate) use panel::Panel;

use jackin_core::{PaneId, Size};

use crate::client::Key;
use crate::command::Command;
use crate::layout::Side;
use crate::output::Launch;

/// The dialog that is open.
#[derive(Clone, Debug)]
pub(crate) enum Dialog {
    /// The palette, the picker, the tab list.
    List(List),
    /// A new label for a tab.
    Rename {
        tab: u32,
        line: Line,
    },
    Confirm(Confirm),
    /// Help, usage, details.
    Page(Page),
}

/// What a dialog was told to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Run(Command),
    Open { beside: Option<(PaneId, Side)>, launch: Launch },
    Show { tab: u32 },
    Rename { tab: u32, label: String },
    Kill(Vec<PaneId>),
}

/// What came of a key or click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing changed.
    Ignored,
    /// It looks different now.
    Changed,
    /// It is over, with or without a verdict.
    Closed(Option<Verdict>),
}

impl Dialog {
    pub(crate) fn key(&mut self, key: Key) -> Answer {
        match self {
            Self::List(list) => list.key(key),
            Self::Rename { tab, line } => line.key(key, *tab),
            Self::Confirm(confirm) => confirm.key(key),
            Self::Page(page) => page.key(key),
        }
    }

    /// Text that was pasted into it.
    pub(crate) fn paste(&mut self, text: &str) -> Answer {
        match self {
            Self::List(list) => list.paste(text),
            Self::Rename { line, .. } => line.paste(text),
            Self::Confirm(_) | Self::Page(_) => Answer::Ignored,
        }
    }

    /// A click at a row of the panel's inside, counted from its top.
    pub(crate) fn click(&mut self, row: u16, col: u16) -> Answer {
        match self {
            Self::List(list) => list.click(row),
            Self::Confirm(confirm) => confirm.click(row, col),
            Self::Rename { .. } | Self::Page(_) => Answer::Ignored,
        }
    }

    pub(crate) fn wheel(&mut self, up: bool) -> Answer {
        match self {
            Self::List(list) => list.step(!up, 3),
            Self::Page(page) => page.scroll(up, 3),
            Self::Rename { .. } | Self::Confirm(_) => Answer::Ignored,
        }
    }

    /// What it looks like on a terminal of this size.
    pub(crate) fn draw(&mut self, size: Size) -> Panel {
        match self {
            Self::List(list) => list.draw(size),
            Self::Rename { line, .. } => line.draw(size),
            Self::Confirm(confirm) => confirm.draw(size),
            Self::Page(page) => page.draw(size),
        }
    }
}
