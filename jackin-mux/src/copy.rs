//! Looking back, searching and copying: by keys (copy mode) and by mouse (selection).

mod clipboard;
mod keys;
mod mode;
mod selection;
mod word;

pub(crate) use clipboard::clipboard_sequence;
pub(crate) use mode::{CopyMode, Outcome};
pub(crate) use selection::{Point, Selection, Shape};

#[cfg(test)]
mod tests;
