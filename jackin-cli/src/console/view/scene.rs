//! What the last frame has where: for the mouse, for links, and for what follows from how much was shown.

use std::time::Duration;

use crossterm::event::KeyCode;
use jackin_core::Timestamp;
use jackin_tools::{ConsoleAction, Key};
use ratatui::layout::{Position, Rect};

use crate::console::model::age;

/// A frame as it was drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    pub(crate) list: Rect,
    pub(crate) detail: Rect,
    /// The first row of the list that is shown.
    pub(crate) first: usize,
    /// What can be clicked; of two that overlap, the later.
    pub(crate) targets: Vec<(Rect, Target)>,
    pub(crate) links: Vec<Link>,
    /// How many lines of what is open are shown, and how many there are.
    pub(crate) modal_rows: u16,
    pub(crate) modal_lines: usize,
    /// Where text is typed.
    pub(crate) cursor: Option<Position>,
    /// When something in it changes by itself.
    pub(crate) next_change: Option<Timestamp>,
}

/// Something that can be clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Row(usize),
    Tag(usize),
    Preview,
    Link(String),
    Tool(Key),
    Action(ConsoleAction),
    /// A line of what is open.
    Choice(usize),
    /// A key of what is open.
    Press(KeyCode),
    /// Somewhere in what is open.
    Inside,
    /// Anywhere else while something is open.
    Outside,
}

/// Cells that lead somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) area: Rect,
    pub(crate) url: String,
}

impl Scene {
    /// What stands at a place.
    pub(crate) fn target(&self, at: Position) -> Option<Target> {
        self.targets.iter().rev().find(|(area, _)| area.contains(at)).map(|(_, target)| target.clone())
    }

    /// Something in the frame shows its age. Ages change together, at most once a second, and those of minutes and
    /// hours once in ten seconds: fifty agents do not mean fifty frames.
    pub(crate) fn ages(&mut self, since: Timestamp, now: Timestamp) {
        let exact = age::next_change(since, now).as_millis();
        let grid = if now.since(since) < Duration::from_secs(60) { 1_000 } else { 10_000 };
        let at = Timestamp::from_millis(exact.div_ceil(grid).saturating_mul(grid));
        self.next_change = Some(self.next_change.map_or(at, |next| next.min(at)));
    }

    /// Makes cells lead somewhere.
    pub(crate) fn link(&mut self, area: Rect, url: &str) {
        if area.width > 0 && (url.starts_with("http://") || url.starts_with("https://")) {
            self.links.push(Link { area, url: url.to_owned() });
            self.targets.push((area, Target::Link(url.to_owned())));
        }
    }
}
