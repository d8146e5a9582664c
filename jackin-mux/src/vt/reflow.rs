//! A new size: lines are laid out again, the cursor stays with its text.
//!
//! The screen's rows go to history as logical lines, the grid starts over at the new size, and the last rows' worth of lines comes
//! back. The alternate screen is cut and padded: its program draws it anew.

use jackin_core::Size;

use super::canvas::Place;
use super::glyph::{Class, Graphemes, class, columns};
use super::line::{Extent, Layout, LineWriter, Pieces};
use super::link::LinkId;
use super::pen::Pen;
use super::row::{Cell, Row};
use super::screen::Screen;
use super::style::{NARROW_STAND_IN, WIDE_STAND_IN, plain};
use super::terminal::Terminal;

/// Bytes that a vt100 cell holds for sure.
const PLAIN_CELL: usize = 18;

/// A cell of history: a line, counted from the oldest, and columns into it.
#[derive(Debug, Clone, Copy)]
struct Spot {
    line: usize,
    cell: u32,
}

impl Terminal {
    /// Changes the size to the nearest that can be drawn ([`Size::clamped`]). Lines of the main screen and of history are laid out at the new width.
    pub fn resize(&mut self, size: Size) {
        let size = size.clamped();
        if size == self.size() {
            return;
        }
        let view = self.view_spot();
        self.screen.resize(size);
        self.reflows += 1;
        self.restore_view(view);
    }

    /// The line at the top of the viewport, if it is scrolled back.
    fn view_spot(&self) -> Option<u64> {
        let back = self.view();
        let history = &self.screen.canvas.past().history;
        let columns = self.size().cols;
        let row = history.rows(columns).checked_sub(back).filter(|_| back > 0)?;
        history.locate(row, columns).map(|(line, _)| history.evicted() + line as u64)
    }

    fn restore_view(&mut self, line: Option<u64>) {
        let Some(line) = line else { return };
        let history = &self.screen.canvas.past().history;
        let columns = self.size().cols;
        let before = history.rows_before(line.saturating_sub(history.evicted()) as usize, columns);
        let back = history.rows(columns).saturating_sub(before);
        self.set_view(back);
    }
}

impl Screen {
    fn resize(&mut self, size: Size) {
        self.canvas.flush();
        self.end_grapheme();
        let alternate = self.canvas.is_alternate();
        let mut hidden = Vec::new();
        let shown_cursor = self.canvas.cursor;
        if alternate {
            hidden = self.copy_rows();
            self.canvas.switch(false);
            self.canvas.flush();
            self.canvas.cursor = self.saved[0].place;
        }
        self.reflow(size);
        if alternate {
            self.saved[0].place = self.canvas.cursor;
            self.canvas.switch(true);
            for (at, row) in hidden.iter_mut().enumerate().take(usize::from(size.rows)) {
                row.pad(usize::from(size.cols));
                self.draw_row(at as u16, row, false);
            }
            self.canvas.cursor = Place {
                row: shown_cursor.row.min(size.rows - 1),
                column: shown_cursor.column.min(size.cols - 1),
            };
        }
        for saved in &mut self.saved {
            saved.place.row = saved.place.row.min(size.rows - 1);
            saved.place.column = saved.place.column.min(size.cols);
        }
        self.canvas.flush();
        self.report_size();
    }

    fn copy_rows(&self) -> Vec<Row> {
        (0..self.canvas.rows())
            .map(|row| {
                let mut copy = Row::new();
                self.canvas.read_row(row, &mut copy);
                copy
            })
            .collect()
    }

    /// Lays the main screen out at a new size.
    fn reflow(&mut self, size: Size) {
        let rows = self.copy_rows();
        let old_cursor = self.canvas.cursor;
        let used = rows.iter().rposition(|row| row.used() > 0).map_or(0, |row| row + 1);
        let kept = used.max(usize::from(old_cursor.row.min(self.canvas.rows() - 1)) + 1);
        let blank = rows.len() - kept;
        let (top, cursor) = self.push_rows(&rows[..kept], old_cursor);
        self.canvas.reset(size);

        let columns = size.cols;
        let height = usize::from(size.rows);
        let history = &self.canvas.past().history;
        let total = history.rows(columns);
        let top_row = self.row_of(top, columns).0;
        let (cursor_row, cursor_column) = self.row_of(cursor, columns);
        let mut start = total.saturating_sub(height);
        if blank > 0 && total - top_row <= height {
            // Room is left below: the text stays at the top.
            start = top_row;
        }
        let start = start.min(cursor_row);
        self.pull_rows(start, height);
        let column = if old_cursor.column > 0 && cursor_column == 0 && cursor_row == total {
            columns
        } else {
            cursor_column
        };
        self.canvas.cursor = Place { row: (cursor_row.min(start + height - 1) - start) as u16, column };
        // What a narrow screen pushed to history may come back to a wide one: limits are for new output to enforce.
    }

    /// Puts rows at the end of history, unlimited for now; returns where the first of them and the cursor are.
    fn push_rows(&mut self, rows: &[Row], cursor: Place) -> (Spot, Spot) {
        let mut writer = LineWriter::default();
        let mut bytes = Vec::new();
        let mut top = None;
        let mut at_cursor = Spot { line: 0, cell: 0 };
        for (at, row) in rows.iter().enumerate() {
            let wrapped = row.is_wrapped() && at + 1 < rows.len();
            bytes.clear();
            writer.row(&mut bytes, row, wrapped);
            let history = &mut self.canvas.past_mut().history;
            let lines_before = history.lines();
            let before = if history.is_open() { history.last_cells() } else { 0 };
            history.push(&bytes, Extent::of(&bytes), wrapped);
            // A line that became too long was broken: the row starts a line after all.
            let before = if history.lines() > lines_before { 0 } else { before };
            let line = history.lines() - 1;
            top.get_or_insert(Spot { line, cell: before });
            if at == usize::from(cursor.row) {
                at_cursor = Spot { line, cell: before + u32::from(cursor.column) };
            }
        }
        self.canvas.past_mut().history.close();
        (top.unwrap_or(at_cursor), at_cursor)
    }

    /// The row, counted from the oldest, and the column of a spot; behind its line's end it stays in the line's last row.
    fn row_of(&self, spot: Spot, columns: u16) -> (usize, u16) {
        let history = &self.canvas.past().history;
        let before = history.rows_before(spot.line, columns);
        let Some(line) = history.line(spot.line) else { return (before, 0) };
        let columns = usize::from(columns);
        let mut layout = Layout::new(columns);
        let mut cell = 0u32;
        for piece in Pieces::new(line) {
            for (_, width) in Graphemes::new(piece.text) {
                let column = layout.place(width);
                if cell >= spot.cell {
                    return (before + layout.row, column as u16);
                }
                cell += layout.width(width) as u32;
            }
        }
        // Behind the text, or within its last character if that is wide.
        let column = (layout.column + spot.cell as usize).saturating_sub(cell as usize).min(columns);
        (before + layout.row, column as u16)
    }

    /// Takes the rows from `start` on out of history and draws up to `height` of them.
    fn pull_rows(&mut self, start: usize, height: usize) {
        let columns = self.canvas.columns();
        let Some((first, skip)) = self.canvas.past().history.locate(start, columns) else { return };
        let mut lines = Vec::new();
        while self.canvas.past().history.lines() > first {
            let mut line = Vec::new();
            self.canvas.past_mut().history.pop(&mut line);
            lines.push(line);
        }
        if skip > 0
            && let Some(line) = lines.last()
        {
            self.canvas.past_mut().history.keep_rows(line, skip, columns);
        }
        let mut row = Row::new();
        let mut drawn = 0;
        let mut continues = false;
        for (at, line) in lines.iter().rev().enumerate() {
            let mut within = if at == 0 { skip } else { 0 };
            while drawn < height && row.read_line(Pieces::new(line), usize::from(columns), within) {
                self.draw_row(drawn as u16, &row, continues);
                continues = row.is_wrapped();
                within += 1;
                drawn += 1;
            }
            continues = false;
        }
    }

    /// Draws a row; `continues` says that the row before it, just drawn to its end, goes on in it.
    fn draw_row(&mut self, at: u16, row: &Row, continues: bool) {
        // A row that goes on is drawn to its end, and one that another goes on in has at least one cell: drawing is what tells vt100.
        let used = match (row.is_wrapped(), continues) {
            (true, _) => row.cells().len(),
            (false, true) => row.used().max(1),
            (false, false) => row.used(),
        };
        self.canvas.set_marks(at, row.marks());
        let mut solid = row.is_wrapped() || continues;
        let mut wraps = continues;
        if !continues {
            self.canvas.cursor = Place { row: at, column: 0 };
        }
        for cell in &row.cells()[..used] {
            if cell.width() == 0 {
                continue;
            }
            self.draw_cell(row, cell, std::mem::take(&mut wraps), solid);
            solid = row.is_wrapped();
        }
    }

    fn draw_cell(&mut self, row: &Row, cell: &Cell, wraps: bool, solid: bool) {
        let mut pen = Pen { link: LinkId::NONE, ..cell.pen };
        if let Some(key) = row.link_key(cell.pen.link) {
            pen.link = self.canvas.past_mut().styles.links.intern(key).unwrap_or_default();
        }
        if cell.is_spacer() {
            self.canvas.spacer(&pen);
            return;
        }
        let width = u16::from(cell.width());
        let text = row.text(cell);
        if text.is_empty() && !solid {
            let here = self.canvas.cursor;
            self.canvas.erase(here.row, here.column, here.column + 1, &pen);
            if pen == pen.erase() {
                self.canvas.cursor.column += 1;
                return;
            }
        }
        let text = if text.is_empty() { " " } else { text };
        let stand_in = if width == 2 { WIDE_STAND_IN } else { NARROW_STAND_IN };
        let mut buffer = [0; 4];
        let (bytes, raw) = if is_plain(text, width) {
            (text.as_bytes(), self.canvas.raw(&pen))
        } else {
            let raw = self.canvas.raw_with_text(&pen, text).unwrap_or_else(|| plain(&pen));
            (stand_in.encode_utf8(&mut buffer).as_bytes(), raw)
        };
        if wraps {
            self.canvas.wrap();
        }
        self.canvas.text(bytes, width, raw);
    }
}

/// Whether vt100 can hold the text of a cell itself, in as many columns. (A wide character in a screen of one column has no room.)
fn is_plain(text: &str, width: u16) -> bool {
    text.len() <= PLAIN_CELL
        && text.chars().enumerate().all(|(at, c)| match class(c) {
            class @ (Class::Narrow | Class::Wide) => at == 0 && columns(class) == width,
            Class::Mark => at > 0,
            Class::Joiner | Class::Nothing | Class::Replacement => false,
        })
}
