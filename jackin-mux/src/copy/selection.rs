use super::word;
use crate::pane::Pane;
use crate::vt::Row;

/// A cell of a pane's text: it stays with the text while the screen scrolls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    /// Counted from the first row that was ever printed.
    pub(crate) line: i64,
    pub(crate) col: u16,
}

/// What a selection takes in at its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Characters,
    /// Whole words, addresses and paths.
    Words,
    /// Whole rows.
    Lines,
    /// A rectangle.
    Block,
}

/// Text that is marked, from where it was begun to where the mouse or cursor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    shape: Shape,
    /// What was marked at first: more than a cell for words.
    origin: (Point, Point),
    head: (Point, Point),
}

impl Selection {
    pub(crate) fn new(at: Point, shape: Shape, pane: &Pane) -> Self {
        let origin = around(at, shape, pane);
        Self { shape, origin, head: origin }
    }

    pub(crate) fn extend(&mut self, to: Point, pane: &Pane) {
        self.head = around(to, self.shape, pane);
    }

    /// The first and the last cell.
    pub(crate) fn ends(&self) -> (Point, Point) {
        (self.origin.0.min(self.head.0), self.origin.1.max(self.head.1))
    }

    /// The selected columns of a line, from and to (not included).
    pub(crate) fn columns(&self, line: i64, cols: u16) -> Option<(u16, u16)> {
        let (from, to) = self.ends();
        if line < from.line || line > to.line {
            return None;
        }
        Some(match self.shape {
            Shape::Lines => (0, cols),
            Shape::Block => {
                let (a, b) = (self.origin.0.col, self.head.0.col);
                (a.min(b), (a.max(b) + 1).min(cols))
            }
            Shape::Characters | Shape::Words => {
                let left = if line == from.line { from.col } else { 0 };
                let right = if line == to.line { (to.col + 1).min(cols) } else { cols };
                (left, right)
            }
        })
    }

    /// What is marked, rows of one line joined and blanks at the ends of lines left out.
    pub(crate) fn text(&self, pane: &Pane) -> String {
        let (first, last) = pane.lines();
        let (from, to) = self.ends();
        let cols = pane.size().cols;
        let mut text = String::new();
        let mut row = Row::new();
        for line in from.line.max(first)..=to.line.min(last) {
            let Some((left, right)) = self.columns(line, cols) else { continue };
            pane.read_line(line, &mut row);
            let start = text.len();
            row.push_text(&mut text, usize::from(left), usize::from(right));
            let joined = row.is_wrapped() && self.shape != Shape::Block && line < to.line;
            if !joined {
                let kept = text[start..].trim_end_matches(' ').len();
                text.truncate(start + kept);
                if line < to.line || self.shape == Shape::Lines {
                    text.push('\n');
                }
            }
        }
        text
    }
}

fn around(at: Point, shape: Shape, pane: &Pane) -> (Point, Point) {
    if shape != Shape::Words {
        return (at, at);
    }
    let mut row = Row::new();
    pane.read_line(at.line, &mut row);
    let (from, to) = word::around(&row, at.col);
    (Point { col: from, ..at }, Point { col: to, ..at })
}
