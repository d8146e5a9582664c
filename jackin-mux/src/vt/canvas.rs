//! The grid: the only place that talks to the vt100 crate.
//!
//! Cursor and pen are ours; vt100's follow lazily, so that a motion or an SGR that nothing was drawn with costs nothing. Bytes for
//! vt100 are gathered in `out` and processed together. Rule: whoever reads vt100's screen calls [`Canvas::flush`] first.

use std::collections::BTreeSet;
use std::num::NonZeroU16;

use jackin_core::Size;

use super::damage::Damage;
use super::history::History;
use super::line::Pieces;
use super::link::LinkId;
use super::loose::Loose;
use super::number::push_number;
use super::past::Past;
use super::pen::{Attributes, Color, Pen, Underline};
use super::prompt::{Marks, PromptMark};
use super::row::Row;
use super::sgr::push_color;
use super::style::{self, MARKER, NARROW_STAND_IN, RawPen, SPACER, WIDE_STAND_IN};

/// Bytes gathered before vt100 gets them.
const BATCH: usize = 4096;

/// A place on the screen; `column` equals the width when the next character will wrap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) row: u16,
    pub(super) column: u16,
}

pub(super) struct Canvas {
    parser: vt100::Parser<Past>,
    out: Vec<u8>,
    size: Size,
    /// Where the program's cursor is.
    pub(super) cursor: Place,
    /// Where vt100's cursor will be after `out`.
    at: Place,
    raw: RawPen,
    top: u16,
    bottom: u16,
    damage: Damage,
    alternate: bool,
    /// For each row, a column from which on all cells are blank with the default look.
    used: Vec<u16>,
    /// For each row, its line if the grid does not have it; empty until there is one.
    pub(super) loose: Vec<Loose>,
    /// The shell-integration marks of each row; empty until there is one.
    marks: Vec<Marks>,
    hidden: Hidden,
    /// Cost of what was done, in units of about one drawn character.
    pub(super) work: usize,
    /// Links that pens outside the grid still use.
    pub(super) held_links: [LinkId; 5],
}

/// What belongs to the grid that is not shown.
struct Hidden {
    at: Place,
    used: Vec<u16>,
    loose: Vec<Loose>,
    marks: Vec<Marks>,
    margins: (u16, u16),
    /// The alternate grid has memory only once it was shown.
    seen: bool,
}

impl Canvas {
    pub(super) fn new(size: Size, history: History) -> Self {
        Self {
            parser: parser(size, Past::new(history)),
            out: Vec::with_capacity(BATCH + 512),
            size,
            cursor: Place::default(),
            at: Place::default(),
            raw: RawPen::default(),
            top: 0,
            bottom: size.rows - 1,
            damage: Damage::all(size.rows),
            alternate: false,
            used: vec![0; usize::from(size.rows)],
            loose: Vec::new(),
            marks: Vec::new(),
            hidden: Hidden::new(size),
            work: 0,
            held_links: [LinkId::NONE; 5],
        }
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    pub(super) fn rows(&self) -> u16 {
        self.size.rows
    }

    pub(super) fn columns(&self) -> u16 {
        self.size.cols
    }

    pub(super) fn margins(&self) -> (u16, u16) {
        (self.top, self.bottom)
    }

    pub(super) fn is_alternate(&self) -> bool {
        self.alternate
    }

    /// From this column on the row is blank with the default look.
    pub(super) fn used(&self, row: u16) -> u16 {
        self.used.get(usize::from(row)).copied().unwrap_or(0)
    }

    pub(super) fn set_used(&mut self, row: u16, used: u16) {
        self.used[usize::from(row)] = used;
    }

    pub(super) fn past(&self) -> &Past {
        self.parser.callbacks()
    }

    pub(super) fn past_mut(&mut self) -> &mut Past {
        self.parser.callbacks_mut()
    }

    pub(super) fn damage(&self) -> &Damage {
        &self.damage
    }

    pub(super) fn damage_mut(&mut self) -> &mut Damage {
        &mut self.damage
    }

    /// The pen as vt100 gets it.
    #[inline]
    pub(super) fn raw(&mut self, pen: &Pen) -> RawPen {
        match self.past_mut().styles.raw(pen) {
            Ok(raw) => raw,
            Err(style::Full) => self.collect_and(pen, ""),
        }
    }

    /// The pen of a stand-in for `text`; without room, the plain pen.
    pub(super) fn raw_with_text(&mut self, pen: &Pen, text: &str) -> Option<RawPen> {
        if let Ok(raw) = self.past_mut().styles.intern(pen, text) {
            return Some(raw);
        }
        let raw = self.collect_and(pen, text);
        (raw.background == MARKER).then_some(raw)
    }

    fn collect_and(&mut self, pen: &Pen, text: &str) -> RawPen {
        if self.past_mut().styles.worth_collecting() {
            self.collect();
            if let Ok(raw) = self.past_mut().styles.intern(pen, text) {
                return raw;
            }
        }
        style::plain(pen)
    }

    /// Draws text of `width` columns that fits before the right edge, or that starts a row right after [`Self::wrap`].
    #[inline]
    pub(super) fn text(&mut self, text: &[u8], width: u16, raw: RawPen) {
        self.sync(raw);
        self.out.extend_from_slice(text);
        self.cursor.column += width;
        self.at = self.cursor;
        self.damage.mark(self.cursor.row);
        let used = &mut self.used[usize::from(self.cursor.row)];
        *used = (*used).max(self.cursor.column);
        if self.out.len() > BATCH {
            self.flush();
        }
    }

    /// Adds a mark of no width to the cell before the cursor.
    pub(super) fn mark(&mut self, text: &[u8]) {
        self.sync(self.raw);
        self.out.extend_from_slice(text);
        self.damage.mark(self.cursor.row);
        // vt100 turns a blank cell that gets a mark into a space.
        let used = &mut self.used[usize::from(self.cursor.row)];
        *used = (*used).max(self.cursor.column);
    }

    /// Makes the cursor, which must be behind the last column, go on in the next row when the next text is drawn. True if that
    /// scrolls.
    pub(super) fn wrap(&mut self) -> bool {
        if self.cursor.row != self.bottom && self.cursor.row + 1 < self.rows() {
            // Afterwards vt100's cursor must stay where it is until the text comes.
            self.settle(self.cursor.row + 1);
        }
        self.sync(self.raw);
        let scrolls = self.cursor.row == self.bottom;
        if scrolls {
            self.leave(1);
            self.moved(self.top, self.bottom, 1);
        } else if self.cursor.row + 1 < self.rows() {
            self.cursor.row += 1;
        }
        self.cursor.column = 0;
        self.at = self.cursor;
        scrolls
    }

    /// Fills the last column with a blank that only marks where a wide character did not fit.
    pub(super) fn spacer(&mut self, pen: &Pen) {
        let raw = self.raw_with_text(&pen.erase(), SPACER).unwrap_or_default();
        let c = if raw.background == MARKER { NARROW_STAND_IN } else { ' ' };
        self.text(c.encode_utf8(&mut [0; 4]).as_bytes(), 1, raw);
    }

    /// Moves `top..=bottom` up by `count` rows, filling with the pen's background.
    pub(super) fn scroll_up(&mut self, count: u16, pen: &Pen) {
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
        self.moved(self.top, self.bottom, i32::from(count));
        self.fill(self.bottom + 1 - count, self.bottom + 1, pen);
    }

    /// Moves `top..=bottom` down by `count` rows.
    pub(super) fn scroll_down(&mut self, count: u16, pen: &Pen) {
        let count = count.min(self.bottom - self.top + 1);
        if count == 0 {
            return;
        }
        self.csi(&[u32::from(count)], b'T');
        self.moved(self.top, self.bottom, -i32::from(count));
        self.fill(self.top, self.top + count, pen);
        if self.top == 0 {
            self.top_is_new();
        }
    }

    /// Inserts (or, with `delete`, removes) rows at the cursor, within the margins.
    pub(super) fn shift_lines(&mut self, count: u16, delete: bool, pen: &Pen) {
        let row = self.cursor.row;
        if row < self.top || row > self.bottom || count == 0 {
            return;
        }
        let count = count.min(self.bottom - row + 1);
        if self.at.row != row {
            self.go(Place { row, column: 0 });
        }
        self.csi(&[u32::from(count)], if delete { b'M' } else { b'L' });
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
    pub(super) fn insert_cells(&mut self, count: u16, pen: &Pen) {
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
        }
        self.work += usize::from(columns) / 8;
        if pen.background != Color::Default {
            self.erase(row, column, column + count, pen);
        }
    }

    /// Removes cells at the cursor; blanks come in on the right.
    pub(super) fn delete_cells(&mut self, count: u16, pen: &Pen) {
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
    pub(super) fn erase(&mut self, row: u16, from: u16, to: u16, pen: &Pen) {
        let columns = self.columns();
        let plain = pen.background == Color::Default;
        let used = self.used(row);
        // Beyond `used` there is nothing to blank.
        let end = if plain { to.min(used) } else { to };
        if from >= end {
            return;
        }
        if self.is_loose(row) {
            if from == 0 && to == columns {
                self.loose[usize::from(row)].live = false;
                self.used[usize::from(row)] = columns;
                return self.erase(row, from, to, pen);
            }
            self.settle(row);
        }
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
        let used = &mut self.used[usize::from(row)];
        if !plain {
            *used = (*used).max(to);
        } else if to >= *used {
            *used = from;
        }
        if self.out.len() > BATCH {
            self.flush();
        }
    }

    /// Blanks the rows `from..to`.
    pub(super) fn erase_rows(&mut self, from: u16, to: u16, pen: &Pen) {
        for row in from..to {
            self.erase(row, 0, self.columns(), pen);
            self.set_marks(row, Marks::NONE);
        }
        if from == 0 && to > 0 {
            self.top_is_new();
        }
    }

    /// The first row is no longer the continuation of the line that left before it.
    pub(super) fn top_is_new(&mut self) {
        if !self.alternate {
            self.flush();
            self.past_mut().history.close();
        }
    }

    /// Sets the margins, `top < bottom`.
    pub(super) fn set_margins(&mut self, top: u16, bottom: u16) {
        if (self.top, self.bottom) == (top, bottom) {
            return;
        }
        self.csi(&[u32::from(top) + 1, u32::from(bottom) + 1], b'r');
        self.at = Place { row: top, column: 0 };
        (self.top, self.bottom) = (top, bottom);
    }

    /// Shows the other grid. The cursor stays where it is on the screen.
    pub(super) fn switch(&mut self, alternate: bool) {
        if self.alternate == alternate {
            return;
        }
        let margins = (self.top, self.bottom);
        self.show(alternate);
        self.set_margins(margins.0, margins.1);
        self.damage.mark_range(0, self.rows());
        self.work += usize::from(self.rows());
    }

    fn show(&mut self, alternate: bool) {
        self.out.extend_from_slice(if alternate { b"\x1b[?47h" } else { b"\x1b[?47l" });
        self.alternate = alternate;
        self.hidden.seen = true;
        std::mem::swap(&mut self.at, &mut self.hidden.at);
        std::mem::swap(&mut self.used, &mut self.hidden.used);
        std::mem::swap(&mut self.loose, &mut self.hidden.loose);
        std::mem::swap(&mut self.marks, &mut self.hidden.marks);
        let margins = std::mem::replace(&mut self.hidden.margins, (self.top, self.bottom));
        (self.top, self.bottom) = margins;
    }

    /// Starts over with empty grids of a new size; history, styles and pens stay.
    pub(super) fn reset(&mut self, size: Size) {
        self.flush();
        let past = std::mem::replace(self.past_mut(), Past::new(History::new(0, 0)));
        self.parser = parser(size, past);
        self.size = size;
        self.cursor = Place::default();
        self.at = Place::default();
        self.raw = RawPen::default();
        (self.top, self.bottom) = (0, size.rows - 1);
        self.damage = Damage::all(size.rows);
        self.alternate = false;
        self.used = vec![0; usize::from(size.rows)];
        self.loose = Vec::new();
        self.marks = Vec::new();
        self.hidden = Hidden::new(size);
        self.work += usize::from(size.rows) * usize::from(size.cols) / 4;
    }

    /// Hands the gathered bytes to vt100.
    #[inline]
    pub(super) fn flush(&mut self) {
        if self.out.is_empty() {
            return;
        }
        self.parser.process(&self.out);
        self.out.clear();
        debug_assert_eq!(
            self.parser.screen().cursor_position(),
            (self.at.row, self.at.column),
            "cursors agree"
        );
    }

    /// Copies a row of the shown grid. [`Self::flush`] must have been called.
    pub(super) fn read_row(&self, row: u16, into: &mut Row) {
        debug_assert!(self.out.is_empty());
        if let Some(loose) = self.loose.get(usize::from(row)).filter(|loose| loose.live) {
            into.read_loose(Pieces::new(&loose.line), usize::from(self.columns()));
            into.marks = self.marks(row);
            return;
        }
        let screen = self.parser.screen();
        let styles = &self.past().styles;
        into.clear();
        into.marks = self.marks(row);
        into.wrapped = self.used(row) == self.columns() && screen.row_wrapped(row);
        let mut column = 0;
        let end = self.used(row);
        while column < end {
            let Some(cell) = screen.cell(row, column) else { break };
            let width = if cell.is_wide() { 2 } else { 1 };
            column += width;
            let (foreground, background) = (color(cell.fgcolor()), color(cell.bgcolor()));
            let Some(style) = styles.of(foreground, background) else {
                into.push(cell.contents(), width, plain_pen(cell, foreground, background));
                continue;
            };
            let mut pen = style.pen;
            if let Some(key) = styles.links.key(pen.link) {
                pen.link = into.push_link(key);
            }
            let own = cell.contents();
            if &*style.text == SPACER {
                into.push_spacer(pen);
            } else if style.text.is_empty() {
                into.push(own, width, pen);
            } else {
                let mut chars = own.chars();
                if matches!(chars.next(), Some(NARROW_STAND_IN | WIDE_STAND_IN)) {
                    if width == 2 {
                        into.push_wide_with(&style.text, chars.as_str(), pen);
                    } else {
                        into.push(&style.text, width, pen);
                        into.extend_last(chars.as_str());
                    }
                } else {
                    into.push(own, width, pen);
                }
            }
        }
        into.pad(usize::from(self.columns()));
    }

    /// The marks of a row.
    pub(super) fn marks(&self, row: u16) -> Marks {
        self.marks.get(usize::from(row)).copied().unwrap_or_default()
    }

    pub(super) fn set_marks(&mut self, row: u16, marks: Marks) {
        if self.marks.is_empty() {
            if marks.is_empty() {
                return;
            }
            self.marks = vec![Marks::NONE; usize::from(self.rows())];
        }
        self.marks[usize::from(row)] = marks;
    }

    pub(super) fn take_marks(&mut self, row: u16) -> Marks {
        let marks = self.marks(row);
        self.set_marks(row, Marks::NONE);
        marks
    }

    /// Marks the cursor's row.
    pub(super) fn add_mark(&mut self, mark: PromptMark) {
        let row = self.cursor.row;
        let mut marks = self.marks(row);
        marks.add(mark);
        self.set_marks(row, marks);
    }

    /// Before `count` rows scroll off the top of the margins: what the grid does not know of them goes along.
    #[inline]
    fn leave(&mut self, count: u16) {
        if self.top == 0 && !self.alternate && !(self.marks.is_empty() && self.loose.is_empty()) {
            self.hand_over(count);
        }
    }

    fn hand_over(&mut self, count: u16) {
        if (0..count).all(|row| self.marks(row).is_empty() && !self.is_loose(row)) {
            return;
        }
        // Rows that are still to leave by what was gathered must not take these.
        self.flush();
        for row in 0..usize::from(count) {
            let leaving = self.leaving(row);
            self.past_mut().leaving.push_back(leaving);
        }
    }

    /// Brings vt100's cursor and pen to ours.
    #[inline]
    fn sync(&mut self, raw: RawPen) {
        self.settle(self.cursor.row);
        if self.at != self.cursor {
            self.go(self.cursor);
        }
        self.set_raw(raw);
    }

    fn go(&mut self, to: Place) {
        if to.column >= self.columns() {
            self.arm_wrap(to.row);
            return;
        }
        let from = self.at;
        self.at = to;
        if from.row == to.row {
            if to.column == 0 {
                self.out.push(b'\r');
            } else {
                self.csi(&[u32::from(to.column) + 1], b'G');
            }
        } else if to.column == 0 && from.row + 1 == to.row && from.row != self.bottom {
            self.out.extend_from_slice(b"\r\n");
        } else {
            self.csi(&[u32::from(to.row) + 1, u32::from(to.column) + 1], b'H');
        }
    }

    /// Brings vt100's cursor behind the last column, which only drawing there can do: draws what is there.
    fn arm_wrap(&mut self, row: u16) {
        self.flush();
        let columns = self.columns();
        let screen = self.parser.screen();
        let last = columns - 1;
        let continuation = screen.cell(row, last).is_some_and(vt100::Cell::is_wide_continuation);
        let column = if continuation { last.saturating_sub(1) } else { last };
        let Some(cell) = screen.cell(row, column) else { return };
        let wrapped = screen.row_wrapped(row);
        let text = if cell.has_contents() { cell.contents().to_owned() } else { " ".to_owned() };
        let raw = RawPen {
            foreground: color(cell.fgcolor()),
            background: color(cell.bgcolor()),
            bold: cell.bold(),
            dim: cell.dim(),
            italic: cell.italic(),
            underline: cell.underline(),
            inverse: cell.inverse(),
        };
        debug_assert!(!wrapped || cell.has_contents() || continuation);
        self.csi(&[u32::from(row) + 1, u32::from(column) + 1], b'H');
        self.set_raw(raw);
        self.out.extend_from_slice(text.as_bytes());
        self.at = Place { row, column: columns };
        self.used[usize::from(row)] = columns;
    }

    #[inline]
    fn set_raw(&mut self, raw: RawPen) {
        if self.raw != raw {
            write_raw(&mut self.out, self.raw, raw);
            self.raw = raw;
        }
    }

    fn csi(&mut self, params: &[u32], end: u8) {
        self.out.extend_from_slice(b"\x1b[");
        for (at, &param) in params.iter().enumerate() {
            if at > 0 {
                self.out.push(b';');
            }
            push_number(&mut self.out, param);
        }
        self.out.push(end);
    }

    /// Notes that rows moved: damage and what is known about blanks.
    pub(super) fn moved(&mut self, top: u16, bottom: u16, up: i32) {
        self.damage.scrolled(top, bottom, up);
        if up > 0 && top == 0 && !self.alternate {
            // Each cell of a row that goes to history is looked at.
            let leaving = self.used.iter().take(up as usize);
            self.work += leaving.map(|used| usize::from(*used)).sum::<usize>() / 2;
        }
        let region = &mut self.used[usize::from(top)..=usize::from(bottom)];
        let by = (up.unsigned_abs() as usize).min(region.len());
        shift(region, up);
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

    fn fill(&mut self, from: u16, to: u16, pen: &Pen) {
        if pen.background != Color::Default {
            for row in from..to {
                self.erase(row, 0, self.columns(), pen);
            }
        }
    }

    /// Frees styles and links that no cell of either grid and no held pen uses.
    pub(super) fn collect(&mut self) {
        self.flush();
        let mut numbers = BTreeSet::new();
        self.used_numbers(&mut numbers);
        if self.hidden.seen {
            let shown = self.alternate;
            self.show(!shown);
            self.flush();
            self.used_numbers(&mut numbers);
            self.show(shown);
            self.flush();
        }
        let held = self.held_links;
        self.past_mut().styles.retain(&numbers, held);
        // The pen that vt100 has may have lost its number.
        self.out.extend_from_slice(b"\x1b[m");
        self.raw = RawPen::default();
        self.work += 2 * usize::from(self.rows()) * usize::from(self.columns());
    }

    fn used_numbers(&self, numbers: &mut BTreeSet<u32>) {
        let screen = self.parser.screen();
        for row in (0..self.rows()).filter(|row| !self.is_loose(*row)) {
            for column in 0..self.used(row) {
                if let Some(cell) = screen.cell(row, column)
                    && color(cell.bgcolor()) == MARKER
                {
                    numbers.extend(style::number(color(cell.fgcolor())));
                }
            }
        }
    }
}

impl Hidden {
    fn new(size: Size) -> Self {
        Self {
            at: Place::default(),
            used: vec![0; usize::from(size.rows)],
            loose: Vec::new(),
            marks: Vec::new(),
            margins: (0, size.rows - 1),
            seen: false,
        }
    }
}

impl std::fmt::Debug for Canvas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Canvas")
            .field("size", &self.size)
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
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

fn parser(size: Size, mut past: Past) -> vt100::Parser<Past> {
    past.columns = size.cols;
    let nonzero = |n| NonZeroU16::new(n).unwrap_or(NonZeroU16::MIN);
    vt100::Parser::new_with_callbacks(nonzero(size.rows), nonzero(size.cols), 0, past)
}

fn color(color: vt100::Color) -> Color {
    match color {
        vt100::Color::Default => Color::Default,
        vt100::Color::Idx(n) => Color::Indexed(n),
        vt100::Color::Rgb(r, g, b) => Color::Rgb(r, g, b),
    }
}

fn plain_pen(cell: &vt100::Cell, foreground: Color, background: Color) -> Pen {
    let mut attributes = Attributes::NONE;
    for (set, attribute) in [
        (cell.bold(), Attributes::BOLD),
        (cell.dim(), Attributes::DIM),
        (cell.italic(), Attributes::ITALIC),
        (cell.inverse(), Attributes::INVERSE),
    ] {
        if set {
            attributes |= attribute;
        }
    }
    let underline = if cell.underline() { Underline::Single } else { Underline::None };
    Pen { foreground, background, underline, attributes, ..Pen::default() }
}

fn write_raw(out: &mut Vec<u8>, from: RawPen, to: RawPen) {
    if to == RawPen::default() {
        out.extend_from_slice(b"\x1b[m");
        return;
    }
    out.extend_from_slice(b"\x1b[");
    if (from.bold, from.dim) != (to.bold, to.dim) {
        out.extend_from_slice(match (to.bold, to.dim) {
            (true, _) => b"1;" as &[u8],
            (_, true) => b"2;",
            _ => b"22;",
        });
    }
    let flags: [(bool, bool, &[u8], &[u8]); 3] = [
        (from.italic, to.italic, b"3;", b"23;"),
        (from.underline, to.underline, b"4;", b"24;"),
        (from.inverse, to.inverse, b"7;", b"27;"),
    ];
    for (from, to, on, off) in flags {
        if from != to {
            out.extend_from_slice(if to { on } else { off });
        }
    }
    if from.foreground != to.foreground {
        push_color(out, to.foreground, 30);
    }
    if from.background != to.background {
        push_color(out, to.background, 40);
    }
    out.pop();
    out.push(b'm');
}
