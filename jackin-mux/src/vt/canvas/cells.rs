//! Reading the cells that the grid has.

use std::collections::BTreeSet;

use crate::vt::canvas::Canvas;
use crate::vt::line::Pieces;
use crate::vt::pen::{Attributes, Color, Pen, Underline};
use crate::vt::row::Row;
use crate::vt::style::{self, MARKER, NARROW_STAND_IN, RawPen, SPACER, WIDE_STAND_IN};

impl Canvas {
    /// Copies a row of the shown grid. [`Self::flush`] must have been called.
    pub(in crate::vt) fn read_row(&self, row: u16, into: &mut Row) {
        debug_assert!(self.out.is_empty());
        if let Some(loose) = self.loose.get(usize::from(row)).filter(|loose| loose.live) {
            into.read_loose(Pieces::new(&loose.line), usize::from(self.columns()), &loose.gaps);
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

    /// Frees styles and links that no cell of either grid and no held pen uses.
    pub(in crate::vt) fn collect(&mut self) {
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

    pub(super) fn used_numbers(&self, numbers: &mut BTreeSet<u32>) {
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

pub(super) fn color(color: vt100::Color) -> Color {
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
