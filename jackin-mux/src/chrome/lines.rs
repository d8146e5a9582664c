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
    /// How far it is scrolled back, and through how much.
    pub(crate) scrolled: Option<(usize, usize)>,
}

/// Writes the heading into the border row above the pane.
pub(crate) fn draw_heading(heading: &Heading<'_>, rect: Rect, grid: &mut Grid, row: u16) {
    if rect.cols < 8 {
        return;
    }
    let pen = if heading.focused { Theme::BORDER_FOCUSED } else { Theme::BORDER };
    let mut end = rect.right() - 1;
    if let Some((back, of)) = heading.scrolled {
        let text = format!(" {back}/{of} ");
        let width = text.width() as u16;
        if width + 8 < rect.cols {
            end -= width;
            grid.write(row, end, rect.right(), &text, pen);
        }
    }
    let from = rect.col + 1;
    let mut col = grid.write(row, from, end, " ", pen);
    col = grid.write(row, col, end, heading.glyph, Pen { foreground: heading.colour, ..pen });
    col = grid.write(row, col, end, " ", pen);
    col = grid.write(row, col, end.saturating_sub(1), heading.title, pen);
    grid.write(row, col, end, " ", pen);
}
