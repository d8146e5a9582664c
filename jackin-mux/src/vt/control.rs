//! C0 controls and escape sequences without parameters.

use super::canvas::Place;
use super::event::Event;
use super::modes::Mode;
use super::pen::Pen;
use super::screen::Screen;

impl Screen {
    /// Obeys a C0 control.
    pub(super) fn control(&mut self, byte: u8) {
        match byte {
            0x07 if !self.events.ends_with_bell() => self.events.push(Event::Bell),
            0x08 => {
                self.settle();
                self.canvas.cursor.column = self.canvas.cursor.column.saturating_sub(1);
            }
            0x09 => self.tab(1),
            0x0a..=0x0c => {
                self.index();
                if self.modes.contains(Mode::NewLine) {
                    self.canvas.cursor.column = 0;
                }
            }
            0x0d => self.canvas.cursor.column = 0,
            0x0e => self.charsets.shift(1),
            0x0f => self.charsets.shift(0),
            _ => {}
        }
    }

    /// Obeys `ESC` with intermediates and a final byte.
    pub(super) fn escape(&mut self, sequence: &[u8]) {
        match *sequence {
            [b'7'] => self.save_cursor(),
            [b'8'] => self.restore_cursor(),
            [b'D'] => self.index(),
            [b'E'] => {
                self.canvas.cursor.column = 0;
                self.index();
            }
            [b'H'] => self.tabs.set(self.canvas.cursor.column.min(self.canvas.columns() - 1)),
            [b'M'] => self.reverse_index(),
            [b'N'] => self.charsets.single_shift(2),
            [b'O'] => self.charsets.single_shift(3),
            [b'Z'] => self.device_attributes(0),
            [b'c'] => self.reset(),
            [b'n'] => self.charsets.shift(2),
            [b'o'] => self.charsets.shift(3),
            [b'='] => self.modes.set(Mode::ApplicationKeypad, true),
            [b'>'] => self.modes.set(Mode::ApplicationKeypad, false),
            [b'#', b'8'] => self.alignment_pattern(),
            [slot @ b'('..=b'+', set] => self.charsets.designate(slot, set),
            _ => {}
        }
    }

    /// One row down, scrolling at the bottom margin (IND, LF).
    #[inline]
    pub(super) fn index(&mut self) {
        let row = self.canvas.cursor.row;
        if row == self.canvas.margins().1 {
            let pen = self.pen;
            self.canvas.scroll_up(1, &pen);
        } else if row + 1 < self.canvas.rows() {
            self.canvas.cursor.row += 1;
        }
    }

    /// One row up, scrolling at the top margin (RI).
    fn reverse_index(&mut self) {
        if self.canvas.cursor.row == self.canvas.margins().0 {
            let pen = self.pen;
            self.canvas.scroll_down(1, &pen);
        } else {
            self.canvas.cursor.row = self.canvas.cursor.row.saturating_sub(1);
        }
    }

    /// Forwards by tab stops.
    pub(super) fn tab(&mut self, count: u32) {
        let columns = self.canvas.columns();
        for _ in 0..count.min(u32::from(columns)) {
            if self.canvas.cursor.column + 1 >= columns {
                break;
            }
            self.canvas.cursor.column = self.tabs.next(self.canvas.cursor.column, columns);
        }
    }

    /// Backwards by tab stops.
    pub(super) fn back_tab(&mut self, count: u32) {
        self.settle();
        for _ in 0..count.min(u32::from(self.canvas.columns())) {
            self.canvas.cursor.column = self.tabs.previous(self.canvas.cursor.column);
        }
    }

    /// DECALN: the whole screen full of `E`.
    fn alignment_pattern(&mut self) {
        let (rows, columns) = (self.canvas.rows(), self.canvas.columns());
        self.canvas.set_margins(0, rows - 1);
        self.modes.set(Mode::Origin, false);
        let pattern = vec![b'E'; usize::from(columns)];
        let raw = self.canvas.raw(&Pen::default());
        for row in 0..rows {
            // Cleared first, so that no row is left marked as going on in the next.
            self.canvas.erase(row, 0, columns, &Pen::default());
            self.canvas.cursor = Place { row, column: 0 };
            self.canvas.text(&pattern, columns, raw);
        }
        self.canvas.top_is_new();
        self.canvas.work += usize::from(rows) * usize::from(columns);
        self.canvas.cursor = Place::default();
    }
}
