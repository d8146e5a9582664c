//! Control sequences.

use super::canvas::Place;
use super::event::Event;
use super::modes::{Mode, Modes};
use super::number::read_number;
use super::pen::Pen;
use super::prompt::Marks;
use super::screen::{CursorShape, Screen};
use super::sgr;

/// Most parameters read of a sequence other than SGR, as in other terminals.
const MOST_PARAMS: usize = 32;

/// A control sequence taken apart.
pub(super) struct Csi<'a> {
    /// `<`, `=`, `>`, `?` or 0.
    lead: u8,
    params: &'a [u8],
    intermediates: &'a [u8],
    end: u8,
}

impl<'a> Csi<'a> {
    fn parse(body: &'a [u8]) -> Option<Self> {
        let (&end, rest) = body.split_last()?;
        let (lead, rest) = match rest.split_first() {
            Some((&lead @ 0x3c..=0x3f, rest)) => (lead, rest),
            _ => (0, rest),
        };
        // The scanner lets no parameter stand behind an intermediate.
        let split = rest.iter().rposition(|b| *b >= 0x30).map_or(0, |last| last + 1);
        let (params, intermediates) = rest.split_at(split);
        Some(Self { lead, params, intermediates, end })
    }

    /// Every parameter; an empty one is 0. Sub-parameters are left out.
    fn numbers(&self) -> impl Iterator<Item = u32> + 'a {
        self.params.split(|b| *b == b';').take(MOST_PARAMS).map(|param| read_number(param).0)
    }

    /// Parameter `at`, or `default` where it is missing or 0.
    fn or(&self, at: usize, default: u32) -> u32 {
        self.numbers().nth(at).filter(|n| *n != 0).unwrap_or(default)
    }

    /// The first two parameters, each at least 1.
    fn place(&self) -> (u32, u32) {
        let (first, used) = read_number(self.params);
        let second = match self.params.get(used) {
            None => 1,
            Some(b';') => read_number(&self.params[used + 1..]).0,
            Some(_) => self.or(1, 1),
        };
        (first.max(1), second.max(1))
    }

    /// The first parameter as a count of at least 1.
    fn count(&self) -> u32 {
        read_number(self.params).0.max(1)
    }
}

impl Screen {
    /// Obeys what stands behind `CSI`, final byte included.
    pub(super) fn csi(&mut self, body: &[u8]) {
        let Some(csi) = Csi::parse(body) else { return };
        match (csi.lead, csi.intermediates, csi.end) {
            (0, b"", b'm') => sgr::apply(&mut self.pen, csi.params),
            (0, b"", b'A'..=b'H' | b'`' | b'a' | b'd' | b'e' | b'f' | b'j' | b'k' | b'I' | b'Z') => {
                self.motion(&csi);
            }
            (0, b"", b'J' | b'K' | b'X' | b'@' | b'P' | b'L' | b'M' | b'S' | b'T') => self.edit(&csi),
            (b'?', b"", b'J') => self.erase_display(csi.or(0, 0)),
            (b'?', b"", b'K') => self.erase_line(csi.or(0, 0)),
            (0, b"", b'b') => self.repeat(csi.count()),
            (0, b"", b'g') => self.clear_tabs(csi.or(0, 0)),
            (0, b"", b'r') => self.set_margins(&csi),
            (0, b"", b's') => self.save_cursor(),
            (0, b"", b'u') => self.restore_cursor(),
            (0, b"", b'h' | b'l') => {
                for mode in csi.numbers().filter_map(Modes::ansi) {
                    self.modes.set(mode, csi.end == b'h');
                }
            }
            (b'?', b"", b'h' | b'l') => {
                for number in csi.numbers() {
                    self.set_private_mode(number, csi.end == b'h');
                }
            }
            (0, b"", b't') => self.window(&csi),
            (0, b" ", b'q') => {
                if let Some(shape) = CursorShape::from_number(csi.or(0, 0)) {
                    self.cursor_shape = shape;
                }
            }
            (0, b"!", b'p') => self.soft_reset(),
            (b'>', b"", b'u') => self.keyboard_mut().push(csi.or(0, 0)),
            (b'<', b"", b'u') => self.keyboard_mut().pop(csi.count()),
            (b'=', b"", b'u') => self.keyboard_mut().set(csi.or(0, 0), csi.or(1, 1)),
            (b'>', b"", b'm') if csi.or(0, 0) == 4 => self.modify_other_keys = csi.or(1, 0).min(3) as u8,
            (b'>', b"", b'n') if csi.or(0, 0) == 4 => self.modify_other_keys = 0,
            _ => self.query(csi.lead, csi.intermediates, csi.end, csi.params),
        }
    }

    fn motion(&mut self, csi: &Csi<'_>) {
        let (count, second) = csi.place();
        if !matches!(csi.end, b'I') {
            self.settle();
        }
        let column = self.canvas.cursor.column;
        let last_column = u32::from(self.canvas.columns()) - 1;
        match csi.end {
            b'A' | b'k' => self.up(count),
            b'B' => self.down(count),
            b'e' => self.down(count),
            b'C' | b'a' => self.canvas.cursor.column = (u32::from(column) + count).min(last_column) as u16,
            b'D' | b'j' => self.canvas.cursor.column = u32::from(column).saturating_sub(count) as u16,
            b'E' => {
                self.down(count);
                self.canvas.cursor.column = 0;
            }
            b'F' => {
                self.up(count);
                self.canvas.cursor.column = 0;
            }
            b'G' | b'`' => self.canvas.cursor.column = (count - 1).min(last_column) as u16,
            b'H' | b'f' => self.go_to(count - 1, second - 1),
            b'd' => self.go_to(count - 1, u32::from(column)),
            b'I' => self.tab(count),
            _ => self.back_tab(count),
        }
    }

    /// Up, not beyond the top margin if the cursor is below it.
    fn up(&mut self, count: u32) {
        let row = self.canvas.cursor.row;
        let top = self.canvas.margins().0;
        let limit = if row >= top { top } else { 0 };
        self.canvas.cursor.row = u32::from(row).saturating_sub(count).max(u32::from(limit)) as u16;
    }

    fn down(&mut self, count: u32) {
        let row = self.canvas.cursor.row;
        let bottom = self.canvas.margins().1;
        let limit = if row <= bottom { bottom } else { self.canvas.rows() - 1 };
        self.canvas.cursor.row = (u32::from(row) + count).min(u32::from(limit)) as u16;
    }

    fn edit(&mut self, csi: &Csi<'_>) {
        let pen = self.pen;
        let count = csi.count().min(u32::from(u16::MAX)) as u16;
        match csi.end {
            b'J' => self.erase_display(csi.or(0, 0)),
            b'K' => self.erase_line(csi.or(0, 0)),
            b'X' => {
                let Place { row, column } = self.canvas.cursor;
                let end = column.saturating_add(count).min(self.canvas.columns());
                self.canvas.erase(row, column, end, &pen);
            }
            b'@' => self.canvas.insert_cells(count, &pen),
            b'P' => self.canvas.delete_cells(count, &pen),
            b'L' => self.canvas.shift_lines(count, false, &pen),
            b'M' => self.canvas.shift_lines(count, true, &pen),
            b'S' => self.canvas.scroll_up(count, &pen),
            // With more parameters it is highlight tracking, which nobody uses.
            _ if csi.numbers().count() == 1 => self.canvas.scroll_down(count, &pen),
            _ => {}
        }
    }

    fn erase_line(&mut self, what: u32) {
        let Place { row, column } = self.canvas.cursor;
        let (columns, pen) = (self.canvas.columns(), self.pen);
        match what {
            0 => self.canvas.erase(row, column, columns, &pen),
            1 => self.canvas.erase(row, 0, (column + 1).min(columns), &pen),
            2 => self.canvas.erase(row, 0, columns, &pen),
            _ => {}
        }
    }

    fn erase_display(&mut self, what: u32) {
        let Place { row, column } = self.canvas.cursor;
        let (rows, pen) = (self.canvas.rows(), self.pen);
        match what {
            0 if (row, column) == (0, 0) => {
                // A mark in a blank row is that of a prompt which is about to be written.
                let blank = self.canvas.used(0) == 0;
                let marks = if blank { self.canvas.take_marks(0) } else { Marks::NONE };
                self.clear_screen();
                self.canvas.set_marks(0, marks);
            }
            0 => {
                self.erase_line(0);
                self.canvas.erase_rows(row + 1, rows, &pen);
            }
            1 => {
                self.canvas.erase_rows(0, row, &pen);
                self.erase_line(1);
            }
            2 => self.clear_screen(),
            3 => {
                self.canvas.flush();
                self.canvas.past_mut().history.clear();
            }
            _ => {}
        }
    }

    /// Clears everything; what was on the main screen goes to history.
    fn clear_screen(&mut self) {
        let (rows, pen) = (self.canvas.rows(), self.pen);
        if self.settings.scroll_on_clear && !self.canvas.is_alternate() && self.settings.history_lines > 0 {
            let used = (0..rows).rev().find(|row| self.canvas.used(*row) > 0).map_or(0, |row| row + 1);
            let (top, bottom) = self.canvas.margins();
            self.canvas.set_margins(0, rows - 1);
            self.canvas.scroll_up(used, &Pen::default());
            self.canvas.set_margins(top, bottom);
        }
        self.canvas.erase_rows(0, rows, &pen);
    }

    /// REP: at most as often as there are cells.
    fn repeat(&mut self, count: u32) {
        let Some(c) = self.last_char else { return };
        let cells = u32::from(self.canvas.rows()) * u32::from(self.canvas.columns());
        let count = count.min(cells);
        if c.is_ascii() && !c.is_ascii_control() {
            let run = [c as u8; 256];
            let mut left = count as usize;
            while left > 0 {
                let take = left.min(run.len());
                self.print_ascii(&run[..take]);
                left -= take;
            }
        } else {
            for _ in 0..count {
                self.print_char(c);
            }
        }
        self.canvas.work += count as usize;
        self.end_grapheme();
    }

    fn clear_tabs(&mut self, what: u32) {
        match what {
            0 => self.tabs.clear(self.canvas.cursor.column.min(self.canvas.columns() - 1)),
            3 => self.tabs.clear_all(),
            _ => {}
        }
    }

    fn set_margins(&mut self, csi: &Csi<'_>) {
        let rows = u32::from(self.canvas.rows());
        let top = csi.or(0, 1).min(rows) - 1;
        let bottom = csi.or(1, rows).min(rows) - 1;
        if top < bottom {
            self.canvas.set_margins(top as u16, bottom as u16);
            self.go_to(0, 0);
        }
    }

    fn set_private_mode(&mut self, number: u32, on: bool) {
        if let Some(mode) = Modes::private(number) {
            if mode == Mode::Synchronized && !on {
                self.end_frame();
            }
            self.modes.set(mode, on);
            match mode {
                Mode::Origin => self.go_to(0, 0),
                Mode::ResizeEvents if on => self.report_size(),
                _ => {}
            }
            return;
        }
        if self.modes.set_mouse(number, on) {
            return;
        }
        let alternate = self.canvas.is_alternate();
        match number {
            47 => self.switch_screen(on),
            1047 => {
                if !on && alternate {
                    self.clear_alternate();
                }
                self.switch_screen(on);
            }
            1048 if on => self.save_cursor(),
            1048 => self.restore_cursor(),
            1049 if on && !alternate => {
                self.save_cursor();
                self.switch_screen(true);
                self.clear_alternate();
            }
            1049 if !on && alternate => {
                self.switch_screen(false);
                self.restore_cursor();
            }
            _ => {}
        }
    }

    fn clear_alternate(&mut self) {
        let (rows, pen) = (self.canvas.rows(), self.pen);
        self.canvas.erase_rows(0, rows, &pen);
    }

    fn window(&mut self, csi: &Csi<'_>) {
        match csi.or(0, 0) {
            8 => {
                let part = |at| csi.or(at, 0).min(u32::from(u16::MAX)) as u16;
                self.events.push(Event::ResizeRequest(part(1), part(2)));
            }
            22 => self.titles.push(),
            23 => {
                if self.titles.pop() && !self.events.ends_with_title() {
                    self.events.push(Event::Title);
                }
            }
            what => self.report_window(what),
        }
    }

    fn keyboard_mut(&mut self) -> &mut super::keyboard::KeyboardStack {
        &mut self.keyboard[usize::from(self.canvas.is_alternate())]
    }
}
