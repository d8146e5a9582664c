use jackin_core::Size;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::cell::Cell;
use crate::layout::Rect;
use crate::vt::{Pen, Row};

/// A screen of cells, composed of panes and chrome. Wide characters are whole or not there: whatever covers one half
/// blanks the other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grid {
    size: Size,
    cells: Vec<Cell>,
}

impl Grid {
    pub(crate) fn new(size: Size) -> Self {
        let cells = vec![Cell::blank(Pen::default()); usize::from(size.rows) * usize::from(size.cols)];
        Self { size, cells }
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    pub(crate) fn row(&self, row: u16) -> &[Cell] {
        let cols = usize::from(self.size.cols);
        let from = usize::from(row) * cols;
        self.cells.get(from..from + cols).unwrap_or_default()
    }

    pub(super) fn row_mut(&mut self, row: u16) -> &mut [Cell] {
        let cols = usize::from(self.size.cols);
        let from = usize::from(row) * cols;
        self.cells.get_mut(from..from + cols).unwrap_or_default()
    }

    /// Moves the rows `top..=bottom` up (down if negative); rows that come in are blank.
    pub(crate) fn scroll(&mut self, top: u16, bottom: u16, up: i32) {
        let cols = usize::from(self.size.cols);
        let by = up.unsigned_abs() as usize * cols;
        let Some(region) = self.cells.get_mut(usize::from(top) * cols..(usize::from(bottom) + 1) * cols)
        else {
            return;
        };
        let by = by.min(region.len());
        let blank = Cell::blank(Pen::default());
        if up > 0 {
            region.rotate_left(by);
            let from = region.len() - by;
            region[from..].fill(blank);
        } else {
            region.rotate_right(by);
            region[..by].fill(blank);
        }
    }

    /// Puts one grapheme at a cell; what does not fit into the row is left out.
    pub(crate) fn put(&mut self, row: u16, col: u16, cell: Cell) {
        let (col, width) = (usize::from(col), usize::from(cell.width));
        let cells = self.row_mut(row);
        if width == 0 || col + width > cells.len() {
            return;
        }
        break_wide(cells, col);
        break_wide(cells, col + width);
        if width == 2 {
            cells[col + 1] = Cell::right_half(cell.pen);
        }
        cells[col] = cell;
    }

    /// Blanks a rectangle.
    pub(crate) fn fill(&mut self, rect: Rect, pen: Pen) {
        for row in rect.row..rect.bottom().min(self.size.rows) {
            let right = usize::from(rect.right().min(self.size.cols));
            let cells = self.row_mut(row);
            let left = usize::from(rect.col).min(right);
            break_wide(cells, left);
            break_wide(cells, right);
            cells[left..right].fill(Cell::blank(pen));
        }
    }

    /// Writes text from a cell on, up to the column `end`, and returns the column after it. Control characters are
    /// left out: the text may be an agent's.
    pub(crate) fn write(&mut self, row: u16, col: u16, end: u16, text: &str, pen: Pen) -> u16 {
        let mut col = col;
        for (_, grapheme, width) in shown(text) {
            if col.saturating_add(width) > end.min(self.size.cols) {
                break;
            }
            self.put(row, col, Cell::new(grapheme, width as u8, pen));
            col += width;
        }
        col
    }

    /// The same, where a text that does not fit ends with a sign of it.
    pub(crate) fn write_cut(&mut self, row: u16, col: u16, end: u16, text: &str, pen: Pen) -> u16 {
        let fit = fit(text, end.min(self.size.cols).saturating_sub(col));
        let after = self.write(row, col, end, fit.text, pen);
        if fit.is_cut { self.write(row, after, end, "…", pen) } else { after }
    }

    /// Copies a pane's row into a rectangle, from its left edge on. `look` says how what looks so in the pane looks here.
    pub(crate) fn draw(&mut self, rect: Rect, line: u16, row: &Row, mut look: impl FnMut(Pen) -> Pen) {
        if line >= rect.rows {
            return;
        }
        let cells = self.row_mut(rect.row + line);
        let (left, right) = (usize::from(rect.col), usize::from(rect.right()).min(cells.len()));
        if left >= right {
            return;
        }
        // Only at its edges can the row meet what was there.
        break_wide(cells, left);
        break_wide(cells, right);
        let cells = &mut cells[left..right];
        let used = row.used().min(cells.len());
        for (at, from) in row.cells()[..used].iter().enumerate() {
            let pen = look(from.pen);
            cells[at] = match from.width() {
                0 => Cell::right_half(pen),
                width if at + usize::from(width) <= cells.len() => Cell::new(row.text(from), width, pen),
                // A wide character that the rectangle's edge would cut.
                _ => Cell::blank(pen),
            };
        }
        if used < cells.len() {
            cells[used..].fill(Cell::blank(look(Pen::default())));
        }
    }

    /// Copies a row of another grid to a place in this one.
    pub(crate) fn stamp(&mut self, row: u16, col: u16, from: &[Cell]) {
        for (offset, cell) in from.iter().enumerate().filter(|(_, cell)| cell.width > 0) {
            self.put(row, col + offset as u16, cell.clone());
        }
    }

    /// Takes over what another grid shows, from the top left corner on: what does not fit is left out, what is left
    /// over is blank.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        for row in 0..self.size.rows {
            let from = other.row(row);
            let cells = self.row_mut(row);
            let both = cells.len().min(from.len());
            cells[..both].clone_from_slice(&from[..both]);
            cells[both..].fill(Cell::blank(Pen::default()));
            // A wide character that the edge cuts.
            if from.get(both).is_some_and(|cell| cell.width == 0)
                && let Some(last) = both.checked_sub(1)
            {
                cells[last] = Cell::blank(cells[last].pen);
            }
        }
    }

    /// Changes how the cells of a rectangle look.
    pub(crate) fn restyle(&mut self, rect: Rect, change: impl Fn(Pen) -> Pen) {
        for row in rect.row..rect.bottom().min(self.size.rows) {
            let cells = self.row_mut(row);
            for cell in cells.iter_mut().take(usize::from(rect.right())).skip(usize::from(rect.col)) {
                cell.pen = change(cell.pen);
            }
        }
    }
}

/// The part of a text that fits into a number of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fit<'a> {
    pub(crate) text: &'a str,
    /// The columns that it takes, with the sign that something was left out.
    pub(crate) cols: u16,
    pub(crate) is_cut: bool,
}

/// As much of a text as fits, with a column kept for the sign that it is not all.
pub(crate) fn fit(text: &str, most: u16) -> Fit<'_> {
    let mut cols = 0u16;
    // Where a cut text ends: the last place that leaves a column free.
    let mut cut = (0, 0);
    for (at, grapheme, width) in shown(text) {
        if cols + width > most {
            let sign = most.min(1);
            return Fit { text: &text[..cut.0], cols: cut.1 + sign, is_cut: true };
        }
        cols += width;
        if cols < most {
            cut = (at + grapheme.len(), cols);
        }
    }
    Fit { text, cols, is_cut: false }
}

/// The graphemes of a text that are shown, each with its place in the text and its width.
fn shown(text: &str) -> impl Iterator<Item = (usize, &str, u16)> {
    let graphemes = text.grapheme_indices(true);
    let measured = graphemes.map(|(at, grapheme)| (at, grapheme, grapheme.width().min(2) as u16));
    measured.filter(|(_, grapheme, width)| *width > 0 && !grapheme.chars().any(char::is_control))
}

/// If a wide character stands across the line before `col`, blanks both of its halves.
fn break_wide(cells: &mut [Cell], col: usize) {
    if col > 0 && cells.get(col).is_some_and(|cell| cell.width == 0) {
        for cell in &mut cells[col - 1..=col] {
            *cell = Cell::blank(cell.pen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(grid: &Grid, row: u16) -> String {
        grid.row(row)
            .iter()
            .filter(|cell| cell.width > 0)
            .map(|cell| String::from_utf8_lossy(cell.bytes()).into_owned())
            .collect()
    }

    #[test]
    fn half_a_wide_character_is_never_left() {
        let mut grid = Grid::new(Size::new(1, 8));
        assert_eq!(grid.write(0, 0, 8, "日本語x", Pen::default()), 7);
        assert_eq!(text(&grid, 0), "日本語x ");
        grid.write(0, 1, 8, "a", Pen::default());
        assert_eq!(text(&grid, 0), " a本語x ");
        grid.fill(Rect { row: 0, col: 3, rows: 1, cols: 2 }, Pen::default());
        assert_eq!(text(&grid, 0), " a    x ");
        assert_eq!(grid.write(0, 7, 8, "日", Pen::default()), 7, "it does not fit");
        assert_eq!(text(&grid, 0), " a    x ");
    }

    #[test]
    fn a_text_that_does_not_fit_says_so() {
        let fitted = |text, most| {
            let fit = fit(text, most);
            (fit.text.to_owned(), fit.cols, fit.is_cut)
        };
        assert_eq!(fitted("abc", 3), ("abc".into(), 3, false));
        assert_eq!(fitted("abcd", 3), ("ab".into(), 3, true));
        assert_eq!(fitted("日本語", 5), ("日本".into(), 5, true));
        assert_eq!(fitted("日本語", 4), ("日".into(), 3, true), "half a character is left out");
        assert_eq!(fitted("abc", 0), (String::new(), 0, true));
        let mut grid = Grid::new(Size::new(1, 8));
        assert_eq!(grid.write_cut(0, 2, 7, "a long text", Pen::default()), 7);
        assert_eq!(text(&grid, 0), "  a lo… ");
    }

    #[test]
    fn text_of_strangers_is_written_without_its_controls() {
        let mut grid = Grid::new(Size::new(1, 12));
        grid.write(0, 0, 12, "a\x1b[31mb\u{9b}c\r\nd", Pen::default());
        assert_eq!(text(&grid, 0), "a[31mbcd    ");
    }
}
