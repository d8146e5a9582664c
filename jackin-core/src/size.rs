use std::fmt;

use serde::{Deserialize, Serialize};

/// The size of a terminal or a pane, in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Size {
    /// Height.
    pub rows: u16,
    /// Width.
    pub cols: u16,
}

impl Size {
    /// The largest side that is worth believing; what a peer sends beyond it is a mistake or an attack.
    pub const MAX_SIDE: u16 = 1_000;

    /// A size of `rows` by `cols`.
    pub const fn new(rows: u16, cols: u16) -> Self {
        Self { rows, cols }
    }

    /// The nearest size that can be drawn: each side at least 1 and at most [`Size::MAX_SIDE`].
    pub fn clamped(self) -> Self {
        Self { rows: self.rows.clamp(1, Self::MAX_SIDE), cols: self.cols.clamp(1, Self::MAX_SIDE) }
    }
}

impl Default for Size {
    /// What a terminal has when nobody says otherwise: 24 rows of 80 columns.
    fn default() -> Self {
        Self::new(24, 80)
    }
}

impl fmt::Display for Size {
    /// Columns first, as people say it: `80x24`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.cols, self.rows)
    }
}
