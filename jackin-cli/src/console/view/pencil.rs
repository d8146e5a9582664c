//! Writes into a frame. Every text goes through here, and with that through [`clean`](super::text::clean).

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::text::{cut, width};

/// A place in a line, up to which something is written from left to right.
pub(crate) struct Pencil<'a> {
    pub(crate) buffer: &'a mut Buffer,
    x: u16,
    y: u16,
    end: u16,
}

impl<'a> Pencil<'a> {
    /// At the beginning of an area's line.
    pub(crate) fn new(buffer: &'a mut Buffer, area: Rect, line: u16) -> Self {
        let y = area.y + line;
        // A line below the area has no room.
        let end = if line < area.height { area.right() } else { area.x };
        Self { buffer, x: area.x, y, end }
    }

    pub(crate) fn room(&self) -> usize {
        usize::from(self.end.saturating_sub(self.x))
    }

    /// Writes as much of a text as there is room for; the cells that it took.
    pub(crate) fn write(&mut self, text: &str, style: Style) -> Rect {
        self.write_within(text, self.room(), style)
    }

    /// Writes a text within so many columns.
    pub(crate) fn write_within(&mut self, text: &str, columns: usize, style: Style) -> Rect {
        let columns = columns.min(self.room());
        let shown = cut(text, columns);
        let used = width(&shown) as u16;
        let area = Rect { x: self.x, y: self.y, width: used, height: 1 };
        // What was there before leaves no trace of its colours.
        self.buffer.set_style(area, Style::reset());
        self.buffer.set_stringn(self.x, self.y, &shown, columns, style);
        self.x += used;
        area
    }

    /// Writes a text into a column of this width, at its left or right.
    pub(crate) fn column(&mut self, text: &str, columns: usize, right: bool, style: Style) -> Rect {
        let columns = columns.min(self.room());
        let start = self.x;
        if right {
            let shown = width(&cut(text, columns));
            self.x += columns.saturating_sub(shown) as u16;
        }
        let area = self.write_within(text, columns, style);
        self.x = start + columns as u16;
        area
    }

    pub(crate) fn skip(&mut self, columns: usize) {
        self.x = (self.x + columns as u16).min(self.end);
    }
}

/// Gives cells a look, without touching what they say.
pub(crate) fn tint(buffer: &mut Buffer, area: Rect, style: Style) {
    buffer.set_style(area, style);
}
