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
pub(super) struct Loose {
    pub(super) line: Vec<u8>,
    pub(super) extent: Extent,
    pub(super) gaps: Vec<Gap>,
    /// The look at its end, if text can be appended there.
    end: Option<Pen>,
    pub(super) live: bool,
}

/// Columns `from..to` of a line in which nothing was written: spaces to history, blanks to the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vt) struct Gap {
    pub(in crate::vt) from: u16,
    pub(in crate::vt) to: u16,
}

/// What a row becomes.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::vt) struct Content<'a> {
    pub(in crate::vt) line: &'a [u8],
    pub(in crate::vt) extent: Extent,
    pub(in crate::vt) gaps: &'a [Gap],
    /// The look at its end, if text can be appended there.
    pub(in crate::vt) end: Option<Pen>,
    /// Whether it ends with a coloured erase.
    pub(in crate::vt) filled: bool,
}

impl Content<'_> {
    fn blank() -> Self {
        Self { end: Some(Pen::default()), ..Self::default() }
    }
}

/// Lines to be written, one after the other, in one buffer, and their gaps in another.
#[derive(Debug, Clone, Copy)]
pub(in crate::vt) struct Span {
    /// Where it ends in the buffer; it starts where the one before it ends.
    pub(in crate::vt) end: usize,
    /// The same for its gaps.
    pub(in crate::vt) gaps_end: usize,
    pub(in crate::vt) extent: Extent,
}

impl Canvas {
    /// Whether a row is not in the grid.
    #[inline]
    pub(in crate::vt) fn is_loose(&self, row: u16) -> bool {
        self.loose.get(usize::from(row)).is_some_and(|loose| loose.live)
    }

    /// Makes a line the content of a row, in place of what was there. It has no more cells than the row, and each of its characters
    /// stands for itself.
    pub(in crate::vt) fn put_line(&mut self, row: u16, content: Content<'_>) {
        self.work += content.line.len() / 8;
        if self.loose.is_empty() {
            self.loose.resize_with(usize::from(self.rows()), Loose::default);
        }
        let loose = &mut self.loose[usize::from(row)];
        if loose.live && loose.line == content.line && loose.gaps == content.gaps {
            return;
        }
        loose.line.clear();
        loose.line.extend_from_slice(content.line);
        loose.gaps.clear();
        loose.gaps.extend_from_slice(content.gaps);
        loose.extent = content.extent;
        loose.end = content.end;
        loose.live = true;
        self.damage_mut().mark(row);
        let used = if content.filled { self.columns() } else { content.extent.cells() as u16 };
        self.used[usize::from(row)] = used;
        self.looks[usize::from(row)] = 0;
    }

    /// Makes a row blank, with the default look.
    pub(super) fn blank_line(&mut self, row: u16) {
        self.work += 2;
        self.put_line(row, Content::blank());
    }

    /// Writes text of `width` columns at the cursor, if its row is loose and only has to get longer for it. Each character stands for
    /// itself; `wide` says that some have two columns. False, and nothing happened, if the grid is needed.
    #[inline]
    pub(in crate::vt) fn append(&mut self, text: &[u8], width: u16, wide: bool, pen: &Pen) -> bool {
        let Place { row, column } = self.cursor;
        let columns = self.size.cols;
        let Some(loose) = self.loose.get_mut(usize::from(row)).filter(|loose| loose.live) else {
            return false;
        };
        let Some(end) = loose.end else { return false };
        let cells = loose.extent.cells() as u16;
        // A row that is full may go on in the next one, which only the grid can do.
        if column < cells || columns.saturating_sub(column) <= width || !pen.link.is_none() {
            return false;
        }
        let mut writer = LineWriter::resume(end);
        if column > cells {
            writer.set(&mut loose.line, &Pen::default(), None);
            loose.line.resize(loose.line.len() + usize::from(column - cells), b' ');
            loose.gaps.push(Gap { from: cells, to: column });
        }
        let look = pen.seen();
        writer.set(&mut loose.line, &look, None);
        loose.line.extend_from_slice(text);
        loose.end = Some(look);
        self.cursor.column = column + width;
        loose.extent = loose.extent.with(Extent::new(u32::from(self.cursor.column - cells), wide));
        self.used[usize::from(row)] = self.cursor.column;
        self.damage.mark(row);
        true
    }

    /// Writes lines at the bottom of the whole main screen, whose last row is blank and stays so, and scrolls what was there. The last
    /// screenful of lines must be such as [`Self::put_line`] takes.
    pub(in crate::vt) fn roll(
        &mut self,
        mut lines: impl ExactSizeIterator<Item = Span>,
        text: &[u8],
        gaps: &[Gap],
    ) {
        let height = self.rows() - 1;
        let kept = lines.len().min(usize::from(height));
        self.scroll_up(kept as u16, &Pen::default());
        let (mut start, mut gaps_start) = (0, 0);
        let passing = lines.len() - kept;
        if passing > 0 {
            self.flush();
            let past = self.past_mut();
            for line in lines.by_ref().take(passing) {
                past.push_line(&text[start..line.end], line.extent, false);
                (start, gaps_start) = (line.end, line.gaps_end);
            }
            past.history.trim();
        }
        for (row, span) in (height - kept as u16..).zip(lines) {
            let (line, gaps) = (&text[start..span.end], &gaps[gaps_start..span.gaps_end]);
            self.put_line(row, Content { line, extent: span.extent, gaps, ..Content::default() });
            (start, gaps_start) = (span.end, span.gaps_end);
        }
        // With the blank row too, the next lines need no grid to scroll.
        self.put_line(height, Content::blank());
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
        let gaps = std::mem::take(&mut self.loose[usize::from(row)].gaps);
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
            self.erase_cells(row, self.cursor.column, columns, &fill);
        }
        for gap in &gaps {
            self.erase_cells(row, gap.from, gap.to, &Pen::default());
        }
        self.cursor = cursor;
        // The buffers are used again.
        let loose = &mut self.loose[usize::from(row)];
        (loose.line, loose.gaps) = (line, gaps);
    }

    /// Blanks a row in the grid, where it will be drawn anew, and returns the line that stood for it.
    pub(in crate::vt) fn unloose(&mut self, row: u16) -> Vec<u8> {
        self.forget_line(row);
        let line = std::mem::take(&mut self.loose[usize::from(row)].line);
        self.erase_cells(row, 0, self.columns(), &Pen::default());
        line
    }

    /// The grid has the row from now on, with anything in its cells.
    pub(super) fn forget_line(&mut self, row: u16) {
        if self.is_loose(row) {
            self.loose[usize::from(row)].live = false;
            self.used[usize::from(row)] = self.columns();
        }
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
            self.blank_line(row);
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
