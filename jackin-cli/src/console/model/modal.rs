//! What lies over the list and asks for the operator's answer. The last one is on top and gets the keys.

use jackin_core::protocol::control::Explanation;
use jackin_core::{InstanceName, TagKind, Timestamp};
use jackin_tools::{ConsoleAction, Key};

use super::choose::Choose;
use super::form::Form;
use super::input::Input;
use super::rows::RowKey;
use super::runs::RunId;
use crate::console::update::Effect;

/// Something that is open.
#[derive(Clone, Debug)]
pub(crate) enum Modal {
    Help { scroll: usize },
    Choose { title: String, list: Choose<Pick> },
    Ask(Ask),
    Confirm(Confirm),
    NewAgent(Form),
    Output { run: RunId, scroll: Scroll },
    Tags { instance: InstanceName, at: usize },
    Explain { of: RowKey, told: Option<Result<Box<Explanation>, String>>, scroll: usize },
}

/// What can be chosen from a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    Do(ConsoleAction),
    Tool(Key),
    Open { instance: InstanceName, link: String },
    Copy(String),
    Kind { instance: InstanceName, kind: TagKind },
    Show(RunId),
    Outputs,
}

/// A text that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) title: String,
    /// What is asked, in full.
    pub(crate) question: String,
    pub(crate) input: Input,
    pub(crate) purpose: AskFor,
    /// When it closes by itself.
    pub(crate) until: Option<Timestamp>,
}

/// What the text is for.
#[derive(Clone, Debug)]
pub(crate) enum AskFor {
    Send(RowKey),
    /// Whether Enter follows; unless it was said, a single character is a key and anything else a line.
    Answer {
        to: RowKey,
        enter: Option<bool>,
    },
    Tool {
        key: Key,
        of: Option<RowKey>,
    },
    /// A value in place of another one, or a new one.
    Tag {
        instance: InstanceName,
        kind: TagKind,
        instead: Option<String>,
    },
}

/// Yes or no.
#[derive(Clone, Debug)]
pub(crate) struct Confirm {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) yes: Effect,
    /// What is being done then, in words for people.
    pub(crate) then: String,
}

/// Where a text that grows is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scroll {
    /// Its end, wherever that goes.
    #[default]
    End,
    /// This line.
    At(usize),
}

impl Ask {
    /// Whether Enter follows what is typed.
    pub(crate) fn submits(&self) -> bool {
        match &self.purpose {
            AskFor::Answer { enter, .. } => enter.unwrap_or_else(|| self.input.text().chars().count() != 1),
            _ => true,
        }
    }
}

impl Scroll {
    /// The first line that is shown, of so many with so much room.
    pub(crate) fn first(self, lines: usize, room: usize) -> usize {
        let last = lines.saturating_sub(room);
        match self {
            Self::End => last,
            Self::At(line) => line.min(last),
        }
    }

    /// Moves; at the end it sticks to the end.
    pub(crate) fn by(self, by: isize, lines: usize, room: usize) -> Self {
        let first = self.first(lines, room).saturating_add_signed(by);
        if first >= lines.saturating_sub(room) { Self::End } else { Self::At(first) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_grows_is_followed_until_somebody_scrolls_up() {
        let scroll = Scroll::default();
        assert_eq!((scroll.first(5, 10), scroll.first(50, 10)), (0, 40));
        let up = scroll.by(-3, 50, 10);
        assert_eq!((up, up.first(60, 10)), (Scroll::At(37), 37));
        assert_eq!(up.by(99, 60, 10), Scroll::End);
        assert_eq!(scroll.by(-99, 60, 10), Scroll::At(0));
    }
}
