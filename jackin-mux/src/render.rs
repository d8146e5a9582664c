//! What the operator's terminal shows: a [`Grid`] is composed, and a [`Screen`] draws what differs from what the
//! terminal shows already.
//!
//! The law: after the emitted bytes the terminal shows the grid, cell for cell, with cursor and modes.

mod cell;
mod colours;
mod grid;
mod links;
mod outer;
mod screen;

pub(crate) use colours::{Capabilities, rgb_of as palette_colour};
pub(crate) use grid::{Grid, fit};
pub(crate) use links::LinkTable;
pub(crate) use outer::OuterModes;
pub(crate) use screen::Screen;
