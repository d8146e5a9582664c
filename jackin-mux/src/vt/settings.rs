//! What a terminal is made with: its size and its limits.

/// Rows and columns, each at least 1 and at most [`Size::MOST`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    rows: u16,
    columns: u16,
}

impl Size {
    /// The most rows and the most columns that a terminal has; more than any display shows, and little enough memory.
    pub const MOST: u16 = 1000;

    /// A size, brought within the limits.
    pub fn new(rows: u16, columns: u16) -> Self {
        Self { rows: rows.clamp(1, Self::MOST), columns: columns.clamp(1, Self::MOST) }
    }

    /// Rows.
    pub fn rows(self) -> u16 {
        self.rows
    }

    /// Columns.
    pub fn columns(self) -> u16 {
        self.columns
    }
}

impl Default for Size {
    /// The 24 rows of 80 columns that programs expect when told nothing.
    fn default() -> Self {
        Self { rows: 24, columns: 80 }
    }
}

/// Limits and switches of a [`Terminal`](super::Terminal).
#[derive(Debug, Clone)]
pub struct Settings {
    /// Logical lines kept in history; 0 keeps none.
    pub history_lines: usize,
    /// Bytes of history, whatever the number of lines.
    pub history_bytes: usize,
    /// Whether lines that would be drawn and scrolled off within one [`feed`](super::Terminal::feed) may go straight to history.
    pub jump_scroll: bool,
    /// Whether clearing the whole screen moves what was on it to history.
    pub scroll_on_clear: bool,
    /// Whether `CSI ? u` is answered: whether the operator's terminal has the kitty keyboard protocol.
    pub kitty_keyboard: bool,
    /// What XTVERSION answers.
    pub name: String,
    /// Width and height of a cell in pixels, for those who ask.
    pub cell_pixels: (u16, u16),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            history_lines: 10_000,
            history_bytes: 16 << 20,
            jump_scroll: true,
            scroll_on_clear: true,
            kitty_keyboard: true,
            name: concat!("jackin ", env!("CARGO_PKG_VERSION")).to_owned(),
            cell_pixels: (8, 16),
        }
    }
}
