//! What passes between a pane's program and the operator's terminal, beside text and keys.

mod image;
mod kitty;
mod mouse;
mod passthrough;
mod queries;

pub(crate) use mouse::encode_mouse;
pub(crate) use passthrough::Gate;
pub(crate) use queries::{Asked, Queries};
