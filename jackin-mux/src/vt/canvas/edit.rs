//! Rows and cells moved and blanked.

use crate::vt::canvas::{BATCH, COLORED, Canvas, GAPS, Place};
use crate::vt::pen::{Color, Pen};
use crate::vt::prompt::Marks;

impl Canvas {
    /// Moves `top..=bottom` up by `count` rows, filling with the pen's background.
    pub(in crate::vt) fn scroll_up(&mut self, count: u16, pen: &Pen) {
        let count = count.min(self.bottom - self.top + 1);
        if count == 0 {
            return;
        }
        if self.all_loose(self.top, self.bottom) {
            self.scroll_loose(self.top, self.bottom, count);
            self.fill(self.bottom + 1 - count, self.bottom + 1, pen);
            return;
        }
        self.leave(count);
        if count == 1 && self.at.row == self.bottom {
            self.out.push(b'\n');
        } else {
            self.csi(&[u32::from(count)], b'S');
        }
        self.end_wrap();
        self.moved(self.top, self.bottom, i32::from(count));
        self.fill(self.bottom + 1 - count, self.bottom + 1, pen);
    }

    /// Moves `top..=bottom` down by `count` rows.
    pub(in crate::vt) fn scroll_down(&mut self, count: u16, pen: &Pen) {
        let count = count.min(self.bottom - self.top + 1);
        if count == 0 {
            return;
        }
        self.csi(&[u32::from(count)], b'T');
        self.end_wrap();
        self.moved(self.top, self.bottom, -i32::from(count));
        self.fill(self.top, self.top + count, pen);
        if self.top == 0 {
            self.top_is_new();
        }
    }

    /// Inserts (or, with `delete`, removes) rows at the cursor, within the margins.
    pub(in crate::vt) fn shift_lines(&mut self, count: u16, delete: bool, pen: &Pen) {
        let row = self.cursor.row;
        if row < self.top || row > self.bottom || count == 0 {
            return;
        }
        let count = count.min(self.bottom - row + 1);
        if self.at.row != row {
            self.go(Place { row, column: 0 });
        }
        self.csi(&[u32::from(count)], if delete { b'M' } else { b'L' });
        self.end_wrap();
        if delete {
            self.moved(row, self.bottom, i32::from(count));
            self.fill(self.bottom + 1 - count, self.bottom + 1, pen);
        } else {
            self.moved(row, self.bottom, -i32::from(count));
            self.fill(row, row + count, pen);
        }
        if row == 0 {
            self.top_is_new();
        }
    }

    /// Inserts blanks at the cursor; what leaves the row on the right is gone.
    pub(in crate::vt) fn insert_cells(&mut self, count: u16, pen: &Pen) {
        let Place { row, column } = self.cursor;
        let count = count.min(self.columns().saturating_sub(column));
        if count == 0 {
            return;
        }
        self.sync(self.raw);
        self.csi(&[u32::from(count)], b'@');
        self.damage.mark(row);
        let columns = self.columns();
        let used = &mut self.used[usize::from(row)];
        if *used > column {
            *used = (*used + count).min(columns);
            self.looks[usize::from(row)] |= GAPS;
        }
        self.work += usize::from(columns) / 8;
        if pen.background != Color::Default {
            self.erase(row, column, column + count, pen);
        }
    }

    /// Removes cells at the cursor; blanks come in on the right.
    pub(in crate::vt) fn delete_cells(&mut self, count: u16, pen: &Pen) {
        let Place { row, column } = self.cursor;
        let columns = self.columns();
        let count = count.min(columns.saturating_sub(column));
        if count == 0 {
            return;
        }
        self.sync(self.raw);
        self.csi(&[u32::from(count)], b'P');
        self.damage.mark(row);
        let used = &mut self.used[usize::from(row)];
        if *used > column {
            *used = (*used - count.min(*used - column)).max(column);
        }
        self.work += usize::from(columns) / 8;
        if pen.background != Color::Default {
            self.erase(row, columns - count, columns, pen);
        }
    }

    /// Blanks `from..to` of a row with the pen's background.
    pub(in crate::vt) fn erase(&mut self, row: u16, from: u16, to: u16, pen: &Pen) {
        let columns = self.columns();
        let plain = pen.background == Color::Default;
        let used = self.used(row);
        // Beyond `used` there is nothing to blank.
        let end = if plain { to.min(used) } else { to };
        if from >= end {
            return;
        }
        if from == 0 && to == columns {
            if plain && self.loosens {
                return self.blank_line(row);
            }
            self.forget_line(row);
        } else {
            self.settle(row);
        }
        self.erase_cells(row, from, to, pen);
    }

    /// Blanks `from..to` of a row that the grid has.
    pub(super) fn erase_cells(&mut self, row: u16, from: u16, to: u16, pen: &Pen) {
        let columns = self.columns();
        let plain = pen.background == Color::Default;
        let end = if plain { to.min(self.used(row)) } else { to };
        let raw = self.raw(&pen.erase());
        if (self.at.row, self.at.column) != (row, from) {
            self.go(Place { row, column: from });
        }
        self.set_raw(raw);
        if from == 0 && end == columns {
            self.out.extend_from_slice(b"\x1b[2K");
        } else if end == columns {
            self.out.extend_from_slice(b"\x1b[K");
        } else {
            self.csi(&[u32::from(end - from)], b'X');
        }
        self.damage.mark(row);
        self.work += usize::from(end - from) / 4;
        self.note_look(row, from, !plain);
        let used = &mut self.used[usize::from(row)];
        if !plain {
            *used = (*used).max(to);
        } else if to >= *used {
            *used = from;
            if from == 0 {
                self.looks[usize::from(row)] = 0;
            }
        } else {
            self.looks[usize::from(row)] |= GAPS;
        }
        if self.out.len() > BATCH {
            self.flush();
        }
    }

    /// Blanks the rows `from..to`.
    pub(in crate::vt) fn erase_rows(&mut self, from: u16, to: u16, pen: &Pen) {
        for row in from..to {
            self.erase(row, 0, self.columns(), pen);
            self.set_marks(row, Marks::NONE);
        }
        if from == 0 && to > 0 {
            self.top_is_new();
        }
    }

    /// The first row is no longer the continuation of the line that left before it.
    pub(in crate::vt) fn top_is_new(&mut self) {
        if !self.alternate {
            self.flush();
            self.past_mut().history.close();
        }
    }

    /// Sets the margins, `top < bottom`.
    pub(in crate::vt) fn set_margins(&mut self, top: u16, bottom: u16) {
        if (self.top, self.bottom) == (top, bottom) {
            return;
        }
        self.csi(&[u32::from(top) + 1, u32::from(bottom) + 1], b'r');
        self.at = Place { row: top, column: 0 };
        (self.top, self.bottom) = (top, bottom);
    }

    /// Before `count` rows scroll off the top of the margins: what the grid does not know of them goes along.
    #[inline]
    pub(super) fn leave(&mut self, count: u16) {
        let is_known = |looks: &u8| *looks != GAPS | COLORED;
        if self.top == 0
            && !self.alternate
            && !(self.marks.is_empty()
                && self.loose.is_empty()
                && self.looks.iter().take(usize::from(count)).all(is_known))
        {
            self.hand_over(count);
        }
    }

    pub(super) fn hand_over(&mut self, count: u16) {
        if (0..count).all(|row| self.marks(row).is_empty() && !self.is_loose(row) && !self.is_mixed(row)) {
            return;
        }
        // Rows that are still to leave by what was gathered must not take these.
        self.flush();
        for row in 0..usize::from(count) {
            let leaving = self.leaving(row);
            self.past_mut().leaving.push_back(leaving);
        }
    }

    /// Notes that rows moved: damage and what is known about blanks.
    pub(in crate::vt) fn moved(&mut self, top: u16, bottom: u16, up: i32) {
        self.damage.scrolled(top, bottom, up);
        if up > 0 && top == 0 && !self.alternate {
            // Each cell of a row that goes to history is looked at.
            let leaving = self.used.iter().take(up as usize);
            self.work += leaving.map(|used| usize::from(*used)).sum::<usize>() / 2;
        }
        let region = &mut self.used[usize::from(top)..=usize::from(bottom)];
        let by = (up.unsigned_abs() as usize).min(region.len());
        shift(region, up);
        shift(&mut self.looks[usize::from(top)..=usize::from(bottom)], up);
        if !self.loose.is_empty() {
            let region = &mut self.loose[usize::from(top)..=usize::from(bottom)];
            let came_in = if up > 0 {
                region.rotate_left(by);
                region.len() - by..region.len()
            } else {
                region.rotate_right(by);
                0..by
            };
            for loose in &mut region[came_in] {
                loose.live = false;
            }
        }
        if !self.marks.is_empty() {
            shift(&mut self.marks[usize::from(top)..=usize::from(bottom)], up);
        }
        self.work += usize::from(self.columns()) / 8 * by + region_cost(top, bottom);
    }

    /// vt100's cursor no longer waits behind the last column: another row is there now. If ours does, that row gets its wrap armed anew.
    fn end_wrap(&mut self) {
        if self.at.column >= self.columns() {
            self.go(Place { row: self.at.row, column: 0 });
        }
    }

    pub(super) fn fill(&mut self, from: u16, to: u16, pen: &Pen) {
        if pen.background != Color::Default {
            for row in from..to {
                self.erase(row, 0, self.columns(), pen);
            }
        }
    }
}

/// Moves what is known of rows up (down if negative); the rows that come in have nothing.
fn shift<T: Copy + Default>(region: &mut [T], up: i32) {
    let by = (up.unsigned_abs() as usize).min(region.len());
    if up > 0 {
        region.rotate_left(by);
        let start = region.len() - by;
        region[start..].fill(T::default());
    } else {
        region.rotate_right(by);
        region[..by].fill(T::default());
    }
}

/// A region's rows are rotated in place: a few words each.
fn region_cost(top: u16, bottom: u16) -> usize {
    usize::from(bottom - top) / 16
}
