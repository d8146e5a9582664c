//! Rows that are on the screen but not in the grid: kept as lines of history until something needs their cells.
//!
//! Most rows are written whole, shown, and scrolled off or written anew. For such a row the grid's cells are a detour: its line is read
//! when it is shown and moved to history when it leaves. The cells that vt100 has in its place mean nothing. Rule: whoever draws in a row
//! or reads its cells settles it first, which draws the line.

use crate::vt::canvas::{COLORED, Canvas, GAPS, Place};
use crate::vt::line::{Extent, LineWriter, Pieces};
use crate::vt::link::LinkId;
use crate::vt::past::Leaving;
use crate::vt::pen::Pen;
use crate::vt::prompt::Marks;
use crate::vt::row::Row;

/// A row's line; not `live` if the grid has the row.
#[derive(Debug, Default)]
pub(in crate::vt) struct Loose {
    pub(in crate::vt) line: Vec<u8>,
    pub(in crate::vt) extent: Extent,
    pub(in crate::vt) live: bool,
}

/// Lines to be written, one after the other, in one buffer.
#[derive(Debug, Clone, Copy)]
pub(in crate::vt) struct Span {
    /// Where it ends in the buffer; it starts where the one before it ends.
    pub(in crate::vt) end: usize,
    pub(in crate::vt) extent: Extent,
}

impl Canvas {
    /// Whether a row is not in the grid.
    #[inline]
    pub(in crate::vt) fn is_loose(&self, row: u16) -> bool {
        self.loose.get(usize::from(row)).is_some_and(|loose| loose.live)
    }

    /// Makes a line the content of a row, in place of what was there. It has no more cells than the row, and each of its characters
    /// stands for itself; `filled` says that it ends with a coloured erase.
    pub(in crate::vt) fn put_line(&mut self, row: u16, line: &[u8], extent: Extent, filled: bool) {
        self.work += line.len() / 8;
        if self.loose.is_empty() {
            self.loose.resize_with(usize::from(self.rows()), Loose::default);
        }
        let loose = &mut self.loose[usize::from(row)];
        if loose.live && loose.line == line {
            return;
        }
        loose.line.clear();
        loose.line.extend_from_slice(line);
        loose.extent = extent;
        loose.live = true;
        self.damage_mut().mark(row);
        self.used[usize::from(row)] = if filled { self.columns() } else { extent.cells() as u16 };
        self.looks[usize::from(row)] = 0;
    }

    /// Writes lines at the bottom of the whole main screen, whose last row is blank and stays so, and scrolls what was there. The last
    /// screenful of lines must be such as [`Self::put_line`] takes.
    pub(in crate::vt) fn roll(&mut self, mut lines: impl ExactSizeIterator<Item = Span>, text: &[u8]) {
        let height = self.rows() - 1;
        let kept = lines.len().min(usize::from(height));
        self.scroll_up(kept as u16, &Pen::default());
        let mut start = 0;
        let passing = lines.len() - kept;
        if passing > 0 {
            self.flush();
            let past = self.past_mut();
            for line in lines.by_ref().take(passing) {
                past.push_line(&text[start..line.end], line.extent, false);
                start = line.end;
            }
            past.history.trim();
        }
        for (row, line) in (height - kept as u16..).zip(lines) {
            self.put_line(row, &text[start..line.end], line.extent, false);
            start = line.end;
        }
        // With the blank row too, the next lines need no grid to scroll.
        self.put_line(height, b"", Extent::default(), false);
    }

    /// Puts a row in the grid.
    #[inline]
    pub(in crate::vt) fn settle(&mut self, row: u16) {
        if self.is_loose(row) {
            self.settle_loose(row);
        }
    }

    #[cold]
    fn settle_loose(&mut self, row: u16) {
        let line = self.unloose(row);
        let cursor = self.cursor;
        let columns = self.columns();
        self.cursor = Place { row, column: 0 };
        let mut pieces = Pieces::new(&line);
        for piece in pieces.by_ref() {
            let mut pen = Pen { link: LinkId::NONE, ..piece.pen };
            if let Some(key) = piece.link {
                pen.link = self.past_mut().styles.links.intern(key).unwrap_or_default();
            }
            let raw = self.raw(&pen);
            self.text(piece.text.as_bytes(), Extent::of_text(piece.text) as u16, raw);
        }
        let fill = pieces.fill();
        if fill != Pen::default() {
            self.erase(row, self.cursor.column, columns, &fill);
        }
        self.cursor = cursor;
        // The buffer is used again.
        self.loose[usize::from(row)].line = line;
    }

    /// Blanks a row in the grid, where it will be drawn anew, and returns the line that stood for it.
    pub(in crate::vt) fn unloose(&mut self, row: u16) -> Vec<u8> {
        let loose = &mut self.loose[usize::from(row)];
        loose.live = false;
        let line = std::mem::take(&mut loose.line);
        self.used[usize::from(row)] = self.columns();
        self.erase(row, 0, self.columns(), &Pen::default());
        line
    }

    /// Whether the grid has none of the rows.
    pub(in crate::vt) fn all_loose(&self, top: u16, bottom: u16) -> bool {
        self.loose
            .get(usize::from(top)..=usize::from(bottom))
            .is_some_and(|rows| rows.iter().all(|row| row.live))
    }

    /// Scrolls rows that are all loose, without the grid: those that leave the main screen go to history.
    pub(in crate::vt) fn scroll_loose(&mut self, top: u16, bottom: u16, count: u16) {
        if top == 0 && !self.is_alternate() {
            self.flush();
            for row in 0..usize::from(count) {
                let leaving = self.leaving(row);
                self.past_mut().push_leaving(&leaving);
                if let Some((line, _)) = leaving.line {
                    self.loose[row].line = line;
                }
            }
            self.past_mut().history.trim();
        }
        self.moved(top, bottom, i32::from(count));
        for row in bottom + 1 - count..=bottom {
            let loose = &mut self.loose[usize::from(row)];
            loose.line.clear();
            loose.extent = Extent::default();
            loose.live = true;
        }
    }

    /// Whether a row has blanks of both kinds, with a background and without: vt100 does not tell them apart when the row leaves.
    pub(super) fn is_mixed(&self, row: u16) -> bool {
        self.looks[usize::from(row)] == GAPS | COLORED
    }

    /// What vt100 cannot tell of a row that is about to leave. [`Self::flush`] must have been called.
    pub(super) fn leaving(&mut self, row: usize) -> Leaving {
        let marks = self.marks(row as u16);
        if let Some(loose) = self.loose.get_mut(row).filter(|loose| loose.live) {
            let line = Some((std::mem::take(&mut loose.line), loose.extent));
            return Leaving { marks, line, wrapped: false };
        }
        if !self.is_mixed(row as u16) {
            return Leaving { marks, line: None, wrapped: false };
        }
        let mut cells = Row::new();
        self.read_row(row as u16, &mut cells);
        cells.marks = Marks::NONE;
        let wrapped = cells.is_wrapped();
        let mut line = Vec::new();
        LineWriter::default().row(&mut line, &cells, wrapped);
        let extent = Extent::of(&line);
        Leaving { marks, line: Some((line, extent)), wrapped }
    }
}
