//! Where the panes of a tab are: a binary tree of splits, and the rectangles that follow from it.
//!
//! The rules, checked by generated sequences in `tests`: every pane stands in the tree once; the visible rectangles
//! and the borders between them tile the area exactly; a pane is at least [`MIN_ROWS`] by [`MIN_COLS`] where the area
//! allows that, and hidden where it does not.

mod place;
mod rect;
mod tree;

pub(crate) use place::{Border, Orientation, Placement};
pub(crate) use rect::Rect;
pub(crate) use tree::{Direction, Layout, Side};

/// The smallest pane worth showing.
pub(crate) const MIN_ROWS: u16 = 1;
/// The smallest pane worth showing.
pub(crate) const MIN_COLS: u16 = 2;

#[cfg(test)]
mod tests;
