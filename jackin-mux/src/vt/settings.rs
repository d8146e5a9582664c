//! What a terminal is made with: its limits.

/// Limits and switches of a [`Terminal`](super::Terminal).
#[derive(Debug, Clone)]
pub struct Settings {
    /// Logical lines kept in history; 0 keeps none.
    pub history_lines: usize,
    /// Bytes that history takes, looks and links included, whatever the number of lines.
    pub history_bytes: usize,
    /// Whether lines that scroll off within one [`feed`](super::Terminal::feed) go straight to history, and rows that are written whole
    /// are drawn only when something needs their cells. What is seen is the same either way; tests compare the two.
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
