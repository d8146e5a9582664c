//! The grid: the only place that talks to the vt100 crate.
//!
//! Cursor and pen are ours; vt100's follow lazily, so that a motion or an SGR that nothing was drawn with costs nothing. Bytes for
//! vt100 are gathered in `out` and processed together. Rule: whoever reads vt100's screen calls [`Canvas::flush`] first.

mod cells;
mod edit;
mod grids;
mod loose;
mod marks;

pub(super) use loose::{Content, Gap, Span};

use std::num::NonZeroU16;

use jackin_core::Size;

use super::damage::Damage;
use super::history::History;
use super::link::LinkId;
use super::number::push_number;
use super::past::Past;
use super::pen::{Color, Pen};
use super::prompt::Marks;
use super::style::{self, MARKER, NARROW_STAND_IN, RawPen, SPACER};

use cells::color;
use grids::Hidden;
use loose::Loose;

/// Bytes gathered before vt100 gets them.
const BATCH: usize = 4096;

/// The row may have blanks with the default look before something else: passed over, or left of a wide character that lost a half.
const GAPS: u8 = 1;
/// The row has cells with a background.
const COLORED: u8 = 2;

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
    /// For each row, [`GAPS`] and [`COLORED`].
    looks: Vec<u8>,
    /// For each row, its line if the grid does not have it; empty until there is one.
    loose: Vec<Loose>,
    /// Whether rows may be loose at all.
    loosens: bool,
    /// The shell-integration marks of each row; empty until there is one.
    marks: Vec<Marks>,
    hidden: Hidden,
    /// Cost of what was done, in units of about one drawn character.
    pub(super) work: usize,
    /// Links that pens outside the grid still use.
    pub(super) held_links: [LinkId; 5],
}

impl Canvas {
    /// An empty grid; with `loosens`, rows are kept out of it where that will do.
    pub(super) fn new(size: Size, history: History, loosens: bool) -> Self {
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
            looks: vec![0; usize::from(size.rows)],
            loose: Vec::new(),
            loosens,
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
        self.note_look(self.cursor.row, self.cursor.column, raw.background != Color::Default);
        if text.len() != usize::from(width) {
            self.looks[usize::from(self.cursor.row)] |= GAPS;
        }
        self.cursor.column += width;
        self.at = self.cursor;
        self.damage.mark(self.cursor.row);
        let used = &mut self.used[usize::from(self.cursor.row)];
        *used = (*used).max(self.cursor.column);
        if self.out.len() > BATCH {
            self.flush();
        }
    }

    /// Notes that a row gets something, with a background or not, at `column`.
    #[inline]
    fn note_look(&mut self, row: u16, column: u16, colored: bool) {
        let row = usize::from(row);
        let gap = if column > self.used[row] { GAPS } else { 0 };
        self.looks[row] |= gap | if colored { COLORED } else { 0 };
    }

    /// Adds a mark of no width to the cell before the cursor.
    pub(super) fn mark(&mut self, text: &[u8]) {
        self.sync(self.raw);
        self.out.extend_from_slice(text);
        self.damage.mark(self.cursor.row);
        // vt100 turns a blank cell that gets a mark into a space.
        self.note_look(self.cursor.row, self.cursor.column.saturating_sub(1), false);
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
            raw.write(&mut self.out, self.raw);
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
}

impl std::fmt::Debug for Canvas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Canvas")
            .field("size", &self.size)
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}

fn parser(size: Size, mut past: Past) -> vt100::Parser<Past> {
    past.columns = size.cols;
    let nonzero = |n| NonZeroU16::new(n).unwrap_or(NonZeroU16::MIN);
    vt100::Parser::new_with_callbacks(nonzero(size.rows), nonzero(size.cols), 0, past)
}
