use std::io::{self, ErrorKind, Write};

use anyhow::Result;
use thiserror::Error;

/// Whoever read our output has seen enough, as in `jackin … | head`. Not a failure.
#[derive(Debug, Error)]
#[error("nobody reads the output any more")]
pub(crate) struct OutputClosed;

/// Prints a line to standard output.
pub(crate) fn print_line(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(OutputClosed.into()),
        done => Ok(done?),
    }
}

/// A text that may hold a stranger's words, safe for a terminal: control characters other than line ends become spaces.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}
