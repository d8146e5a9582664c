//! Text onto the screen: wrapping, inserting, graphemes.

use super::canvas::Place;
use super::glyph::{Class, Grapheme, alone, class, columns};
use super::modes::Mode;
use super::pen::Color;
use super::screen::Screen;
use super::style::{NARROW_STAND_IN, WIDE_STAND_IN};

/// The grapheme drawn last, for marks and joiners that follow it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Last {
    grapheme: Grapheme,
    width: u16,
    /// Its column.
    start: u16,
    /// The cursor behind it; anything that moves the cursor ends the grapheme.
    end: Place,
    /// Bytes in vt100's cell.
    held: u8,
}

/// vt100 appends nothing to a cell that holds this many bytes.
const FULL_CELL: u8 = 18;

impl Last {
    pub(super) const NONE: Self =
        Self { grapheme: Grapheme::EMPTY, width: 0, start: 0, end: Place { row: 0, column: 0 }, held: 0 };
}

impl Screen {
    /// Whether characters are drawn one after the other, as they are.
    #[inline]
    fn prints_plainly(&self) -> bool {
        self.charsets.is_plain() && !self.modes.contains(Mode::Insert) && self.modes.contains(Mode::Autowrap)
    }

    /// Draws ASCII that has no controls in it.
    #[inline]
    pub(super) fn print_ascii(&mut self, text: &[u8]) {
        if self.prints_plainly() {
            self.print_run(text);
        } else {
            self.print_each(text.iter().copied().map(char::from));
        }
    }

    fn print_each(&mut self, text: impl Iterator<Item = char>) {
        for c in text {
            let c = self.charsets.map(c);
            self.print_char(c);
        }
    }

    /// Draws text that has no controls in it.
    pub(super) fn print(&mut self, text: &str) {
        if !self.prints_plainly() {
            self.print_each(text.chars());
            return;
        }
        let mut rest = text;
        while !rest.is_empty() {
            let ascii = rest.bytes().position(|b| b >= 0x80).unwrap_or(rest.len());
            if ascii > 0 {
                self.print_run(&rest.as_bytes()[..ascii]);
            }
            rest = self.print_simple(&rest[ascii..]);
        }
    }

    /// A replacement character for bytes that are not UTF-8.
    pub(super) fn print_invalid(&mut self) {
        self.print_char(char::REPLACEMENT_CHARACTER);
    }

    /// Forgets the last grapheme: what follows cannot join it.
    #[inline]
    pub(super) fn end_grapheme(&mut self) {
        self.last.grapheme.clear();
    }

    fn print_run(&mut self, text: &[u8]) {
        let width = self.canvas.columns();
        let colored = self.pen.background != Color::Default;
        let mut rest = text;
        if text.len() < usize::from(width) && self.canvas.append(text, text.len() as u16, false, &self.pen) {
            rest = b"";
        }
        while !rest.is_empty() {
            let raw = self.canvas.raw(&self.pen);
            let scrolled = self.canvas.cursor.column == width && self.canvas.wrap();
            let room = usize::from(width - self.canvas.cursor.column);
            let take = if scrolled && colored { 1 } else { room.min(rest.len()) };
            self.canvas.text(&rest[..take], take as u16, raw);
            if scrolled && colored {
                self.color_row_behind_cursor();
            }
            rest = &rest[take..];
        }
        if let Some(&last) = text.last() {
            self.remember(Grapheme::of(char::from(last)), 1, 1);
            self.last_char = Some(char::from(last));
        }
    }

    /// Draws characters that need no care up to the next ASCII or the edge, one with care if it comes first; returns the rest.
    fn print_simple<'a>(&mut self, text: &'a str) -> &'a str {
        let room = self.canvas.columns().saturating_sub(self.canvas.cursor.column);
        let mut width = 0;
        let mut wide = false;
        let mut end = 0;
        let mut last = None;
        if !self.last.grapheme.wants_more() {
            for (at, c) in text.char_indices() {
                let class = class(c);
                if !matches!(class, Class::Narrow | Class::Wide)
                    || width + columns(class) > room
                    || c.is_ascii()
                {
                    break;
                }
                width += columns(class);
                wide |= class == Class::Wide;
                end = at + c.len_utf8();
                last = Some((c, columns(class)));
            }
        }
        if let Some((c, columns)) = last {
            let drawn = &text.as_bytes()[..end];
            if !self.canvas.append(drawn, width, wide, &self.pen) {
                let raw = self.canvas.raw(&self.pen);
                self.canvas.text(drawn, width, raw);
            }
            self.remember(Grapheme::of(c), columns, c.len_utf8() as u8);
            self.last_char = Some(c);
            return &text[end..];
        }
        let mut chars = text.chars();
        if let Some(c) = chars.next() {
            self.print_char(c);
        }
        chars.as_str()
    }

    /// Draws one character in any mode.
    pub(super) fn print_char(&mut self, c: char) {
        match class(c) {
            Class::Nothing => {}
            Class::Mark => self.print_mark(c),
            Class::Joiner => {
                if !self.join(c) {
                    match alone(c) {
                        Class::Nothing => {}
                        class => self.place(c, columns(class)),
                    }
                }
            }
            Class::Replacement => self.place(c, 1),
            class => {
                if !(self.last.grapheme.wants_more() && self.join(c)) {
                    self.place(c, columns(class));
                }
            }
        }
    }

    /// Draws a character in a cell of its own.
    fn place(&mut self, c: char, width: u16) {
        let columns = self.canvas.columns();
        if width > columns {
            return;
        }
        let beyond = self.canvas.cursor.column + width > columns;
        if !self.modes.contains(Mode::Autowrap) {
            if beyond {
                if width == 2 {
                    return;
                }
                self.canvas.cursor.column = columns - 1;
            }
            self.place_here(c, width);
            // Without wrapping the cursor stays in the last column.
            self.settle();
            self.last.end = self.canvas.cursor;
            return;
        }
        if !beyond {
            self.place_here(c, width);
            return;
        }
        if self.canvas.cursor.column < columns {
            let pen = self.pen;
            self.canvas.spacer(&pen);
        }
        if self.modes.contains(Mode::Insert) {
            self.insert_in_next_row(width);
        }
        let (raw, held) = self.raw_of(c);
        let scrolled = self.canvas.wrap();
        self.draw(c, width, raw, held);
        if scrolled && self.pen.background != Color::Default {
            self.color_row_behind_cursor();
        }
    }

    fn place_here(&mut self, c: char, width: u16) {
        if self.modes.contains(Mode::Insert) {
            self.canvas.insert_cells(width, &super::pen::Pen::default());
        }
        let (raw, held) = self.raw_of(c);
        self.draw(c, width, raw, held);
    }

    /// Makes room in the row to which the next character wraps.
    fn insert_in_next_row(&mut self, width: u16) {
        let here = self.canvas.cursor;
        if here.row == self.canvas.margins().1 {
            return;
        }
        let row = (here.row + 1).min(self.canvas.rows() - 1);
        self.canvas.cursor = Place { row, column: 0 };
        self.canvas.insert_cells(width, &super::pen::Pen::default());
        self.canvas.cursor = here;
    }

    /// The raw pen for a character, and whether it needs a stand-in.
    fn raw_of(&mut self, c: char) -> (super::style::RawPen, bool) {
        let pen = self.pen;
        if c == char::REPLACEMENT_CHARACTER {
            self.canvas.work += 8;
            match self.canvas.raw_with_text(&pen, "\u{fffd}") {
                Some(raw) => return (raw, true),
                None => return (super::style::plain(&pen), true),
            }
        }
        (self.canvas.raw(&pen), false)
    }

    fn draw(&mut self, c: char, width: u16, raw: super::style::RawPen, stand_in: bool) {
        let drawn = if stand_in { NARROW_STAND_IN } else { c };
        self.canvas.text(drawn.encode_utf8(&mut [0; 4]).as_bytes(), width, raw);
        self.remember(Grapheme::of(c), width, drawn.len_utf8() as u8);
        self.last_char = Some(c);
    }

    #[inline]
    fn remember(&mut self, grapheme: Grapheme, width: u16, held: u8) {
        let end = self.canvas.cursor;
        self.last = Last { grapheme, width, start: end.column.saturating_sub(width), end, held };
    }

    /// After a wrap that scrolled: the new row has the background behind the character too.
    fn color_row_behind_cursor(&mut self) {
        let Place { row, column } = self.canvas.cursor;
        let (columns, pen) = (self.canvas.columns(), self.pen);
        self.canvas.erase(row, column, columns, &pen);
    }

    fn print_mark(&mut self, c: char) {
        if self.last.grapheme.is_empty() || self.last.end != self.canvas.cursor {
            self.canvas.mark(c.encode_utf8(&mut [0; 4]).as_bytes());
            return;
        }
        let mut grapheme = self.last.grapheme;
        if !grapheme.push(c) {
            return;
        }
        if self.last.held >= FULL_CELL {
            self.redraw(grapheme, self.last.width);
            return;
        }
        self.last.grapheme = grapheme;
        self.last.held += c.len_utf8() as u8;
        // Without autowrap the cursor may stand on the cell itself.
        self.canvas.cursor.column = self.last.start + self.last.width;
        self.canvas.mark(c.encode_utf8(&mut [0; 4]).as_bytes());
        self.canvas.cursor = self.last.end;
    }

    /// Joins `c` to the grapheme before it, if it belongs there.
    fn join(&mut self, c: char) -> bool {
        if self.last.grapheme.is_empty() || self.last.end != self.canvas.cursor {
            return false;
        }
        let Some(joined) = self.last.grapheme.joined(c) else { return false };
        let width = joined.columns().max(self.last.width);
        let columns = self.canvas.columns();
        if self.last.start + width > columns {
            // No room to grow: the selector is ignored, a second flag letter starts anew.
            return alone(c) == Class::Nothing;
        }
        self.redraw(joined, width);
        true
    }

    /// Draws a stand-in for a grapheme over the cell drawn last.
    fn redraw(&mut self, grapheme: Grapheme, width: u16) {
        let pen = self.pen;
        // Looking the grapheme up and drawing it again costs many times a plain character.
        self.canvas.work += 64;
        let Some(raw) = self.canvas.raw_with_text(&pen, grapheme.as_str()) else { return };
        let start = self.last.start;
        if self.modes.contains(Mode::Insert) && width > self.last.width {
            let grown = width - self.last.width;
            self.canvas.insert_cells(grown, &super::pen::Pen::default());
        }
        self.canvas.cursor.column = start;
        let stand_in = if width == 2 { WIDE_STAND_IN } else { NARROW_STAND_IN };
        self.canvas.text(stand_in.encode_utf8(&mut [0; 4]).as_bytes(), width, raw);
        self.remember(grapheme, width, stand_in.len_utf8() as u8);
        if !self.modes.contains(Mode::Autowrap) {
            self.settle();
            self.last.end = self.canvas.cursor;
        }
    }
}
