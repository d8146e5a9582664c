//! The operator's terminal as far as it was told: what it shows, where its cursor is, which pen it holds.

use jackin_core::Size;

use super::cell::Cell;
use super::colours::Capabilities;
use super::grid::Grid;
use super::links::LinkTable;
use super::outer::OuterModes;
use crate::vt::number::push_number;
use crate::vt::{LinkId, Pen, Scroll, write_sgr};

const BEGIN_UPDATE: &[u8] = b"\x1b[?2026h";
const END_UPDATE: &[u8] = b"\x1b[?2026l";
const HIDE_CURSOR: &[u8] = b"\x1b[?25l";
const SHOW_CURSOR: &[u8] = b"\x1b[?25h";

/// Up to this many unchanged cells between two changed ones are printed again: moving the cursor costs as much.
const WORTH_A_MOVE: usize = 5;

/// From this many cells on, erasing to the end of the row is shorter than printing blanks.
const WORTH_AN_ERASE: usize = 4;

#[derive(Debug)]
pub(crate) struct Screen {
    capabilities: Capabilities,
    shown: Grid,
    modes: OuterModes,
    cursor_visible: bool,
    /// Where the next character would go; none when that is not certain.
    at: Option<(u16, u16)>,
    pen: Pen,
    link: LinkId,
    /// The pen that the two were taken from, before it was reduced to what the terminal can show.
    taken: Option<Pen>,
    /// Whether anything above is true. A terminal that was just attached shows something of its own.
    known: bool,
}

impl Screen {
    /// A terminal of which nothing is known but its size and abilities.
    pub(crate) fn new(size: Size, capabilities: Capabilities) -> Self {
        Self {
            capabilities,
            shown: Grid::new(size),
            modes: OuterModes::default(),
            cursor_visible: true,
            at: None,
            pen: Pen::default(),
            link: LinkId::NONE,
            taken: None,
            known: false,
        }
    }

    /// The next frame draws everything.
    pub(crate) fn forget(&mut self) {
        self.known = false;
    }

    /// The terminal was sent something of a program's: where its cursor is now, nobody knows.
    pub(crate) fn lose_cursor(&mut self) {
        self.at = None;
    }

    /// What the terminal turned out to be able to do.
    pub(crate) fn set_synchronized(&mut self, synchronized: bool) {
        self.capabilities.synchronized = synchronized;
    }

    fn size(&self) -> Size {
        self.shown.size()
    }

    /// Appends the bytes after which the terminal shows `grid` in the given rows, with these modes. Nothing to change
    /// is nothing to send.
    pub(crate) fn draw(
        &mut self,
        grid: &Grid,
        modes: OuterModes,
        scroll: Option<Scroll>,
        rows: impl IntoIterator<Item = u16>,
        links: &LinkTable,
        out: &mut Vec<u8>,
    ) {
        let begin = out.len();
        if self.capabilities.synchronized {
            out.extend_from_slice(BEGIN_UPDATE);
        } else if self.cursor_visible {
            out.extend_from_slice(HIDE_CURSOR);
        }
        let opened = out.len();
        if self.known && self.shown.size() == grid.size() {
            if let Some(scroll) = scroll {
                self.scroll(scroll, links, out);
            }
            for row in rows {
                self.draw_row(row, grid, links, out);
            }
        } else {
            self.draw_all(grid, links, out);
        }
        self.switch(modes, out);
        if out.len() == opened && self.is_cursor_right(modes) {
            out.truncate(begin);
            return;
        }
        if !self.capabilities.synchronized {
            self.cursor_visible = false;
        }
        self.place_cursor(modes, out);
        if self.capabilities.synchronized {
            out.extend_from_slice(END_UPDATE);
        }
    }

    fn draw_all(&mut self, grid: &Grid, links: &LinkTable, out: &mut Vec<u8>) {
        // Whatever it was switched to before we came.
        if self.capabilities.links {
            out.extend_from_slice(b"\x1b]8;;\x1b\\");
        }
        out.extend_from_slice(b"\x1b[r\x1b[m\x1b[H\x1b[2J\x1b[?1l\x1b>\x1b[0 q\x1b[=0;1u\x1b[>4;0m");
        *self = Self { cursor_visible: self.cursor_visible, ..Self::new(grid.size(), self.capabilities) };
        self.known = true;
        self.at = Some((0, 0));
        for row in 0..grid.size().rows {
            self.draw_row(row, grid, links, out);
        }
    }

    fn draw_row(&mut self, row: u16, grid: &Grid, links: &LinkTable, out: &mut Vec<u8>) {
        let new = grid.row(row);
        let tail = new.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        let mut col = 0;
        while let Some(offset) = self.differs(row, new, col) {
            col = offset;
            if col >= tail && new.len() - col >= WORTH_AN_ERASE {
                self.move_to(row, col as u16, out);
                self.take_pen(Pen::default(), links, out);
                out.extend_from_slice(b"\x1b[K");
                self.shown.row_mut(row)[col..].fill(Cell::blank(Pen::default()));
                return;
            }
            self.move_to(row, col as u16, out);
            col = self.draw_run(row, new, col, tail, links, out);
        }
    }

    /// The next column in which the terminal shows something else. The right half of a wide character goes with its
    /// left one.
    fn differs(&self, row: u16, new: &[Cell], from: usize) -> Option<usize> {
        let old = self.shown.row(row);
        let at = (from..new.len().min(old.len())).find(|&col| new[col] != old[col])?;
        Some(if new[at].width == 0 { at.saturating_sub(1) } else { at })
    }

    /// Prints changed cells, and short stretches of unchanged ones between them. Returns the column after the last.
    fn draw_run(
        &mut self,
        row: u16,
        new: &[Cell],
        from: usize,
        tail: usize,
        links: &LinkTable,
        out: &mut Vec<u8>,
    ) -> usize {
        let mut col = from;
        loop {
            let cell = &new[col];
            let width = usize::from(cell.width.max(1));
            self.take_pen(cell.pen, links, out);
            out.extend_from_slice(cell.bytes());
            self.shown.row_mut(row)[col..col + width].clone_from_slice(&new[col..col + width]);
            col += width;
            // After the last column, and after text that terminals measure differently, nobody knows where it is.
            let certain = col < new.len() && (cell.bytes().len() == 1 || is_certain(cell.bytes()));
            self.at = certain.then_some((row, col as u16));
            match self.differs(row, new, col) {
                Some(next) if certain && next - col <= WORTH_A_MOVE && !(next >= tail && col >= tail) => {}
                _ => return col,
            }
            if col >= tail && new.len() - col >= WORTH_AN_ERASE {
                return col;
            }
        }
    }

    /// Rows that moved as a whole are moved by the terminal, if they span its width.
    fn scroll(&mut self, Scroll { top, bottom, up }: Scroll, links: &LinkTable, out: &mut Vec<u8>) {
        let height = usize::from(bottom - top) + 1;
        let by = up.unsigned_abs() as usize;
        if up == 0 || by >= height {
            return;
        }
        // Rows that come in are blank in the pen's background.
        self.take_pen(Pen::default(), links, out);
        let whole = top == 0 && bottom + 1 == self.size().rows;
        if !whole {
            out.extend_from_slice(b"\x1b[");
            push_number(out, u32::from(top) + 1);
            out.push(b';');
            push_number(out, u32::from(bottom) + 1);
            out.push(b'r');
        }
        out.extend_from_slice(b"\x1b[");
        if by > 1 {
            push_number(out, by as u32);
        }
        out.push(if up > 0 { b'S' } else { b'T' });
        if !whole {
            out.extend_from_slice(b"\x1b[r");
        }
        self.at = None;
        self.shown.scroll(top, bottom, up);
    }

    fn move_to(&mut self, row: u16, col: u16, out: &mut Vec<u8>) {
        match self.at {
            Some(at) if at == (row, col) => return,
            // A few columns back, or to the beginning of the next row.
            Some((r, c)) if r == row && c > col && c - col <= 3 => {
                out.extend(std::iter::repeat_n(b'\x08', usize::from(c - col)));
            }
            Some((r, _)) if r == row && col == 0 => out.push(b'\r'),
            Some((r, _)) if r + 1 == row && col == 0 => out.extend_from_slice(b"\r\n"),
            Some((r, c)) if r == row && c < col => {
                out.extend_from_slice(b"\x1b[");
                if col - c > 1 {
                    push_number(out, u32::from(col - c));
                }
                out.push(b'C');
            }
            _ => {
                out.extend_from_slice(b"\x1b[");
                if (row, col) != (0, 0) {
                    push_number(out, u32::from(row) + 1);
                    if col > 0 {
                        out.push(b';');
                        push_number(out, u32::from(col) + 1);
                    }
                }
                out.push(b'H');
            }
        }
        self.at = Some((row, col));
    }

    fn take_pen(&mut self, pen: Pen, links: &LinkTable, out: &mut Vec<u8>) {
        if self.taken == Some(pen) {
            return;
        }
        self.taken = Some(pen);
        if pen.link != self.link && self.capabilities.links {
            out.extend_from_slice(b"\x1b]8;");
            match links.key(pen.link) {
                Some(key) => {
                    let (id, uri) = key.split_once(';').unwrap_or(("", key));
                    if !id.is_empty() {
                        out.extend_from_slice(b"id=");
                        out.extend_from_slice(id.as_bytes());
                    }
                    out.push(b';');
                    out.extend_from_slice(uri.as_bytes());
                }
                None => out.push(b';'),
            }
            out.extend_from_slice(b"\x1b\\");
            self.link = pen.link;
        }
        let pen = self.capabilities.reduce(Pen { link: LinkId::NONE, ..pen });
        write_sgr(out, &self.pen, &pen);
        self.pen = pen;
    }

    fn switch(&mut self, modes: OuterModes, out: &mut Vec<u8>) {
        if modes.application_cursor != self.modes.application_cursor {
            out.extend_from_slice(if modes.application_cursor { b"\x1b[?1h" } else { b"\x1b[?1l" });
        }
        if modes.application_keypad != self.modes.application_keypad {
            out.extend_from_slice(if modes.application_keypad { b"\x1b=" } else { b"\x1b>" });
        }
        if modes.keyboard_flags != self.modes.keyboard_flags {
            out.extend_from_slice(b"\x1b[=");
            push_number(out, u32::from(modes.keyboard_flags));
            out.extend_from_slice(b";1u");
        }
        if modes.modify_other_keys != self.modes.modify_other_keys {
            out.extend_from_slice(b"\x1b[>4;");
            push_number(out, u32::from(modes.modify_other_keys));
            out.push(b'm');
        }
        if modes.cursor_shape != self.modes.cursor_shape {
            out.extend_from_slice(b"\x1b[");
            push_number(out, u32::from(modes.cursor_shape.number()));
            out.extend_from_slice(b" q");
        }
        self.modes = modes;
    }

    fn is_cursor_right(&self, modes: OuterModes) -> bool {
        match modes.cursor {
            Some(cursor) => self.cursor_visible && self.at == Some(cursor),
            None => !self.cursor_visible,
        }
    }

    fn place_cursor(&mut self, modes: OuterModes, out: &mut Vec<u8>) {
        if let Some((row, col)) = modes.cursor {
            self.move_to(row, col, out);
        }
        if modes.cursor.is_some() != self.cursor_visible {
            self.cursor_visible = modes.cursor.is_some();
            out.extend_from_slice(if self.cursor_visible { SHOW_CURSOR } else { HIDE_CURSOR });
        }
    }
}

/// Whether every terminal gives the text the width that we do: no joiners, no variation selectors, no marks.
fn is_certain(bytes: &[u8]) -> bool {
    let mut chars = std::str::from_utf8(bytes).unwrap_or_default().chars();
    chars.next().is_some_and(|c| !matches!(c, '\u{1f000}'..='\u{1ffff}' | '\u{2600}'..='\u{27bf}'))
        && chars.next().is_none()
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
