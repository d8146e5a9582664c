//! Search over history and screen, line by line as the program wrote them.

use regex::{Regex, RegexBuilder};

use super::glyph::Graphemes;
use super::line::{Layout, Pieces};
use super::row::Row;
use super::terminal::Terminal;
use super::text::Point;

/// Something to look for.
#[derive(Debug, Clone)]
pub struct Search {
    regex: Regex,
}

/// Why a pattern cannot be searched for.
#[derive(Debug, thiserror::Error)]
#[error("this pattern cannot be searched for: {0}")]
pub struct SearchError(#[from] regex::Error);

/// Which way to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards newer output.
    Forward,
    /// Towards older output.
    Backward,
}

/// Where something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Match {
    /// Its first cell.
    pub start: Point,
    /// Its last cell.
    pub end: Point,
}

/// A pattern may not grow beyond this when it is compiled.
const LARGEST_PATTERN: usize = 1 << 20;

impl Search {
    /// Text as it stands; upper and lower case are the same unless the text has an upper-case letter.
    pub fn literal(text: &str) -> Result<Self, SearchError> {
        Self::build(&regex::escape(text), !text.chars().any(char::is_uppercase))
    }

    /// A regular expression, with case as in [`Search::literal`].
    pub fn regex(pattern: &str) -> Result<Self, SearchError> {
        Self::build(pattern, !pattern.chars().any(char::is_uppercase))
    }

    fn build(pattern: &str, fold_case: bool) -> Result<Self, SearchError> {
        let regex =
            RegexBuilder::new(pattern).case_insensitive(fold_case).size_limit(LARGEST_PATTERN).build()?;
        Ok(Self { regex })
    }
}

impl Terminal {
    /// The next match that starts after `from` (or, backwards, before it). Lines that wrap are searched as one.
    pub fn find(&self, search: &Search, from: Point, direction: Direction) -> Option<Match> {
        let lines = Lines::new(self);
        let here = lines.of(from.row);
        let mut text = String::new();
        let found = |line: usize, text: &mut String| {
            lines.read(line, text);
            let mut last = None;
            for found in search.regex.find_iter(text).filter(|found| !found.is_empty()) {
                let start = lines.point(line, found.start());
                match direction {
                    Direction::Forward if line > here || start > from => {
                        return Some(lines.matched(line, start, text, found.range()));
                    }
                    Direction::Backward if line < here || start < from => last = Some((start, found.range())),
                    Direction::Forward | Direction::Backward => {}
                }
            }
            last.map(|(start, range)| lines.matched(line, start, text, range))
        };
        match direction {
            Direction::Forward => (here..lines.count()).find_map(|line| found(line, &mut text)),
            Direction::Backward => (0..=here).rev().find_map(|line| found(line, &mut text)),
        }
    }
}

/// The logical lines of history and screen, oldest first.
struct Lines<'a> {
    terminal: &'a Terminal,
    stored: usize,
    history_rows: usize,
    /// The rows of each line on the screen; the first may belong to the last line of history.
    shown: Vec<(u16, u16)>,
    joined: bool,
}

impl<'a> Lines<'a> {
    fn new(terminal: &'a Terminal) -> Self {
        let history = &terminal.screen.canvas.past().history;
        let mut shown = Vec::new();
        let mut row = Row::new();
        let mut first = 0;
        let rows = terminal.size().rows;
        for at in 0..rows {
            terminal.read_row(at as isize, &mut row);
            if !row.is_wrapped() || at + 1 == rows {
                shown.push((first, at));
                first = at + 1;
            }
        }
        Self {
            terminal,
            stored: history.lines(),
            history_rows: terminal.history_rows(),
            shown,
            joined: history.is_open() && !terminal.is_alternate(),
        }
    }

    fn count(&self) -> usize {
        self.stored + self.shown.len() - usize::from(self.joined)
    }

    /// The rows of a line that are on the screen.
    fn shown(&self, line: usize) -> Option<(u16, u16)> {
        let before = self.stored - usize::from(self.joined);
        self.shown.get(line.checked_sub(before)?).copied()
    }

    /// The line of a row.
    fn of(&self, row: isize) -> usize {
        if row < 0 {
            let row = (row + self.history_rows as isize).max(0) as usize;
            let history = &self.terminal.screen.canvas.past().history;
            return history.locate(row, self.terminal.size().cols).map_or(0, |(line, _)| line);
        }
        let at =
            self.shown.iter().position(|(_, last)| *last as isize >= row).unwrap_or(self.shown.len() - 1);
        self.stored - usize::from(self.joined) + at
    }

    fn read(&self, line: usize, text: &mut String) {
        text.clear();
        if line < self.stored
            && let Some(bytes) = self.terminal.screen.canvas.past().history.line(line)
        {
            text.extend(Pieces::new(bytes).map(|piece| piece.text));
        }
        if let Some((first, last)) = self.shown(line) {
            let mut row = Row::new();
            for at in first..=last {
                self.terminal.read_row(at as isize, &mut row);
                let end = if row.is_wrapped() { row.cells().len() } else { row.used() };
                row.push_text(text, 0, end);
            }
        }
    }

    fn matched(&self, line: usize, start: Point, text: &str, range: std::ops::Range<usize>) -> Match {
        let last =
            text[range.clone()].char_indices().next_back().map_or(range.start, |(at, _)| range.start + at);
        Match { start, end: self.point(line, last) }
    }

    /// The cell of a byte of a line's text.
    fn point(&self, line: usize, byte: usize) -> Point {
        let columns = usize::from(self.terminal.size().cols);
        let mut left = byte;
        if line < self.stored {
            let history = &self.terminal.screen.canvas.past().history;
            let before = history.rows_before(line, columns as u16);
            let mut layout = Layout::new(columns);
            for piece in history.line(line).into_iter().flat_map(Pieces::new) {
                for (text, width) in Graphemes::new(piece.text) {
                    let column = layout.place(width);
                    if left < text.len() {
                        let row = (before + layout.row) as isize - self.history_rows as isize;
                        return Point { row, column: column as u16 };
                    }
                    left -= text.len();
                }
            }
        }
        let mut row = Row::new();
        let (first, last) = self.shown(line).unwrap_or((0, 0));
        for at in first..=last {
            self.terminal.read_row(at as isize, &mut row);
            for (column, cell) in row.cells().iter().enumerate() {
                let len = match row.text(cell).len() {
                    0 if cell.width() == 0 || cell.is_spacer() => continue,
                    0 => 1,
                    len => len,
                };
                if left < len {
                    return Point { row: at as isize, column: column as u16 };
                }
                left -= len;
            }
        }
        Point { row: last as isize, column: columns as u16 - 1 }
    }
}
