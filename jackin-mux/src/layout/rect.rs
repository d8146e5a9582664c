use jackin_core::Size;

/// A rectangle of cells on the operator's terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Rect {
    /// The top row, from 0.
    pub(crate) row: u16,
    /// The left column, from 0.
    pub(crate) col: u16,
    /// Height.
    pub(crate) rows: u16,
    /// Width.
    pub(crate) cols: u16,
}

impl Rect {
    /// The whole of a terminal.
    pub(crate) const fn of(size: Size) -> Self {
        Self { row: 0, col: 0, rows: size.rows, cols: size.cols }
    }

    /// Its size.
    pub(crate) const fn size(self) -> Size {
        Size { rows: self.rows, cols: self.cols }
    }

    /// The row below the last one.
    pub(crate) const fn bottom(self) -> u16 {
        self.row + self.rows
    }

    /// The column after the last one.
    pub(crate) const fn right(self) -> u16 {
        self.col + self.cols
    }

    /// Whether a cell is inside.
    pub(crate) const fn contains(self, row: u16, col: u16) -> bool {
        row >= self.row && row < self.bottom() && col >= self.col && col < self.right()
    }

    /// Whether there is no cell inside.
    pub(crate) const fn is_empty(self) -> bool {
        self.rows == 0 || self.cols == 0
    }
}
