//! Looking back, searching and copying: by keys (copy mode) and by mouse (selection).

mod clipboard;
mod keys;
mod mode;
mod selection;
mod word;

pub(crate) use clipboard::clipboard_sequence;
pub(crate) use mode::{CopyMode, Outcome};
pub(crate) use selection::{Point, Selection, Shape};

/// `line 0`, `line 1` and so on, as a program prints them.
#[cfg(test)]
pub(crate) fn numbered_lines(count: usize) -> String {
    (0..count).fold(String::new(), |text, n| text + "line " + &n.to_string() + "\r\n")
}

#[cfg(test)]
mod tests;
