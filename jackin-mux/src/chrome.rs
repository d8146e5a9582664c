//! What is drawn around the panes.

mod bar;
mod context;
mod empty;
mod lines;
mod theme;
mod view;

pub(crate) use bar::{Bar, TabEntry};
pub(crate) use context::{draw_context, has_context};
pub(crate) use empty::draw_empty;
pub(crate) use lines::{Heading, draw_heading};
pub(crate) use theme::Theme;
pub(crate) use view::View;
