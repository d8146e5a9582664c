use jackin_core::Size;
use unicode_width::UnicodeWidthStr;

use crate::chrome::Theme;
use crate::layout::Rect;
use crate::render::Grid;

/// A box of cells over the panes.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// Where it is on the operator's terminal.
    pub(crate) rect: Rect,
    pub(crate) cells: Grid,
    /// Where the cursor is shown, counted from the panel's corner.
    pub(crate) cursor: Option<(u16, u16)>,
    framed: bool,
}

impl Panel {
    /// An empty box with a title, for so many rows and columns inside, as far as the terminal has them.
    pub(crate) fn new(size: Size, rows: u16, cols: u16, title: &str) -> Self {
        let framed = is_framed(size);
        let (edge_rows, edge_cols) = if framed { (2, 4) } else { (0, 0) };
        let cols = cols.max(title.width() as u16 + 2).saturating_add(edge_cols).min(size.cols);
        let rows = rows.saturating_add(edge_rows).min(size.rows);
        let rect = Rect { row: (size.rows - rows) / 3, col: (size.cols - cols) / 2, rows, cols };
        let mut cells = Grid::new(Size::new(rows.max(1), cols.max(1)));
        cells.fill(Rect { row: 0, col: 0, rows, cols }, Theme::PANEL);
        if framed {
            for row in 0..rows {
                let (left, fill, right) = match row {
                    0 => ("┌", "─", "┐"),
                    row if row + 1 == rows => ("└", "─", "┘"),
                    _ => ("│", " ", "│"),
                };
                let mut col = cells.write(row, 0, cols, left, Theme::PANEL_QUIET);
                while col + 1 < cols {
                    col = cells.write(row, col, cols, fill, Theme::PANEL_QUIET);
                }
                cells.write(row, col, cols, right, Theme::PANEL_QUIET);
            }
            let end = cells.write(0, 2, cols - 1, " ", Theme::PANEL_TITLE);
            let end = cells.write(0, end, cols - 1, title, Theme::PANEL_TITLE);
            cells.write(0, end, cols - 1, " ", Theme::PANEL_TITLE);
        }
        Self { rect, cells, cursor: None, framed }
    }

    /// The columns that can be written to, of so many that are wanted.
    pub(crate) fn room(size: Size, cols: u16) -> u16 {
        cols.min(if is_framed(size) { size.cols - 4 } else { size.cols })
    }

    /// What can be written to.
    pub(crate) fn inside(&self) -> Rect {
        let Rect { rows, cols, .. } = self.rect;
        if self.framed {
            Rect { row: 1, col: 2, rows: rows.saturating_sub(2), cols: cols.saturating_sub(4) }
        } else {
            Rect { row: 0, col: 0, rows, cols }
        }
    }

    /// Tells in the lower edge which of many lines are shown, if not all are.
    pub(crate) fn tell_part(&mut self, from: usize, shown: usize, of: usize) {
        let Rect { rows, cols, .. } = self.rect;
        if !self.framed || shown >= of {
            return;
        }
        let text = format!(" {}-{} of {of} ", from + 1, (from + shown).min(of));
        let col = cols.saturating_sub(text.len() as u16 + 2).max(1);
        self.cells.write(rows - 1, col, cols - 1, &text, Theme::PANEL_QUIET);
    }
}

/// Whether there is room for a frame around the lines.
fn is_framed(size: Size) -> bool {
    size.rows >= 5 && size.cols >= 12
}
