use unicode_width::UnicodeWidthStr;

use super::theme::Theme;
use crate::layout::Rect;
use crate::render::Grid;
use crate::vt::{Color, Pen};

/// What a pane's border tells of it.
#[derive(Clone, Debug)]
pub(crate) struct Heading<'a> {
    pub(crate) title: &'a str,
    pub(crate) glyph: &'static str,
    pub(crate) colour: Color,
    pub(crate) focused: bool,
    /// Copy mode, and how far it is scrolled back.
    pub(crate) position: Option<String>,
}

/// Writes the heading into the border row above the pane.
pub(crate) fn draw_heading(heading: &Heading<'_>, rect: Rect, grid: &mut Grid, row: u16) {
    if rect.cols < 8 {
        return;
    }
    let pen = if heading.focused { Theme::BORDER_FOCUSED } else { Theme::BORDER };
    let mut end = rect.right() - 1;
    if let Some(text) = &heading.position {
        end -= text.width() as u16;
        grid.write(row, end, rect.right(), text, Theme::INDICATOR);
    }
    let from = rect.col + 1;
    let mut col = grid.write(row, from, end, " ", pen);
    col = grid.write(row, col, end, heading.glyph, Pen { foreground: heading.colour, ..pen });
    col = grid.write(row, col, end, " ", pen);
    col = grid.write_cut(row, col, end.saturating_sub(1), heading.title, pen);
    grid.write(row, col, end, " ", pen);
}
