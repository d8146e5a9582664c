use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result};

/// How much is read at once.
const PIECE: usize = 64 * 1024;

/// Hands out a file, or standard input for `-` and none, piece by piece.
pub(super) fn read_pieces(file: Option<&Path>, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut input: Box<dyn Read> = match file {
        Some(path) if path.as_os_str() != "-" => {
            Box::new(File::open(path).with_context(|| format!("cannot open {}", path.display()))?)
        }
        _ => Box::new(io::stdin()),
    };
    let mut buf = vec![0; PIECE];
    loop {
        match input.read(&mut buf).context("cannot read the input")? {
            0 => return Ok(()),
            len => each(&buf[..len])?,
        }
    }
}
