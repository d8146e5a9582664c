//! Text out of the screen and history: for copying, for reading a pane from outside, for snapshots.

use super::link::LinkId;
use super::pen::Pen;
use super::row::Row;
use super::sgr::write_sgr;
use super::terminal::Terminal;

/// A cell: its row as [`Terminal::read_row`] counts them, and its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// 0 and up on the screen, negative in history.
    pub row: isize,
    /// Column, from 0.
    pub column: u16,
}

/// A line as the program wrote it, over all the rows that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogicalLine {
    /// Its text, without trailing blanks.
    pub text: String,
    /// Its first row.
    pub first: isize,
    /// Its last row.
    pub last: isize,
}

impl Terminal {
    /// The screen as text: rows that wrap are joined, trailing blanks and blank rows at the end are left out.
    pub fn screen_text(&self) -> String {
        let last = self.size().rows as isize - 1;
        let mut text = self.text_between(Point { row: 0, column: 0 }, Point { row: last, column: u16::MAX });
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    /// The screen as text with SGR and hyperlinks, row by row, each ending with the default look.
    pub fn screen_sgr(&self) -> String {
        let mut out = Vec::new();
        let mut row = Row::new();
        for at in 0..self.size().rows {
            self.read_row(at as isize, &mut row);
            row.write_sgr(&mut out);
            out.push(b'\n');
        }
        String::from_utf8(out).unwrap_or_default()
    }

    /// What lies between two cells, both included, as it would be copied: rows that wrap are joined, trailing blanks are left out.
    pub fn text_between(&self, from: Point, to: Point) -> String {
        let (from, to) = if from <= to { (from, to) } else { (to, from) };
        let first = from.row.max(-(self.history_rows() as isize));
        let last = to.row.min(self.size().rows as isize - 1);
        let mut out = String::new();
        let mut row = Row::new();
        let mut line = 0;
        for at in first..=last {
            self.read_row(at, &mut row);
            let columns = row.cells().len();
            let start = if at == from.row { usize::from(from.column).min(columns) } else { 0 };
            let end = if at == to.row { (usize::from(to.column) + 1).min(columns) } else { columns };
            row.push_text(&mut out, start, end);
            if row.is_wrapped() && at < last {
                continue;
            }
            let trimmed = out[line..].trim_end_matches(' ').len();
            out.truncate(line + trimmed);
            if at < last {
                out.push('\n');
            }
            line = out.len();
        }
        out
    }

    /// A block of cells, row by row, trailing blanks left out: rows and columns from `from` to `to`, both included.
    pub fn text_in_rectangle(&self, from: Point, to: Point) -> String {
        let (top, bottom) = (from.row.min(to.row), from.row.max(to.row));
        let (left, right) = (from.column.min(to.column), from.column.max(to.column));
        let mut out = String::new();
        let mut row = Row::new();
        let first = top.max(-(self.history_rows() as isize));
        let last = bottom.min(self.size().rows as isize - 1);
        for at in first..=last {
            self.read_row(at, &mut row);
            let before = out.len();
            row.push_text(&mut out, usize::from(left), usize::from(right) + 1);
            let trimmed = out[before..].trim_end_matches(' ').len();
            out.truncate(before + trimmed);
            if at < last {
                out.push('\n');
            }
        }
        out
    }

    /// The line that a row belongs to. A line that wraps over more than 1,000 rows is told only that far in each direction.
    pub fn logical_line(&self, row: isize) -> LogicalLine {
        let oldest = -(self.history_rows() as isize);
        let newest = self.size().rows as isize - 1;
        let row = row.clamp(oldest, newest);
        let mut buffer = Row::new();
        let mut wraps = |at: isize| self.read_row(at, &mut buffer) && buffer.is_wrapped();
        let mut first = row;
        while first > oldest && row - first < MOST_ROWS && wraps(first - 1) {
            first -= 1;
        }
        let mut last = row;
        while last < newest && last - row < MOST_ROWS && wraps(last) {
            last += 1;
        }
        let text = self.text_between(Point { row: first, column: 0 }, Point { row: last, column: u16::MAX });
        LogicalLine { text, first, last }
    }
}

/// How far [`Terminal::logical_line`] follows a line that wraps on and on.
const MOST_ROWS: isize = 1000;

impl Row {
    /// Appends the row's used cells as text with SGR and OSC 8, starting from and ending with the default look.
    pub fn write_sgr(&self, out: &mut Vec<u8>) {
        let mut pen = Pen::default();
        let mut link = LinkId::NONE;
        for cell in &self.cells()[..self.used()] {
            if cell.width() == 0 || cell.is_spacer() {
                continue;
            }
            if cell.pen.link != link {
                link = cell.pen.link;
                let target = self.link(link);
                out.extend_from_slice(b"\x1b]8;");
                if let Some(id) = target.map(|target| target.id).filter(|id| !id.is_empty()) {
                    out.extend_from_slice(b"id=");
                    out.extend_from_slice(id.as_bytes());
                }
                out.push(b';');
                out.extend_from_slice(target.map_or("", |target| target.uri).as_bytes());
                out.extend_from_slice(b"\x1b\\");
            }
            write_sgr(out, &pen, &cell.pen);
            pen = cell.pen;
            let text = self.text(cell);
            out.extend_from_slice(if text.is_empty() { b" " } else { text.as_bytes() });
        }
        write_sgr(out, &pen, &Pen::default());
        if !link.is_none() {
            out.extend_from_slice(b"\x1b]8;;\x1b\\");
        }
    }
}
