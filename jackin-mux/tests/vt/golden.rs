//! Recordings of real programs give the screens that tmux gives.
//!
//! `tests/golden/make RECORDING` makes a golden from a recording with tmux: one file is one case.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "the recordings and their goldens are files"
)]

use std::path::{Path, PathBuf};

use jackin_core::Size;
use jackin_mux::vt::{Row, Settings, Terminal};

use crate::shown::{rows, show};

const RECORDINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus/casts");
const GOLDENS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

#[test]
fn recordings_give_the_screens_of_tmux() {
    if !Path::new(RECORDINGS).exists() {
        println!("skipped: corpus missing");
        return;
    }
    let goldens: Vec<PathBuf> = std::fs::read_dir(GOLDENS)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "golden"))
        .collect();
    assert!(goldens.len() >= 5, "the goldens are there");
    for golden in goldens {
        let name = golden.file_stem().unwrap().to_str().unwrap();
        let recording = Path::new(RECORDINGS).join(name);
        check(name, &std::fs::read(&golden).unwrap(), &output(&recording));
    }
}

fn check(name: &str, golden: &[u8], output: &[u8]) {
    let end = golden.iter().position(|b| *b == b'\n').unwrap();
    let (header, screen) = golden.split_at(end);
    let numbers: Vec<u16> =
        std::str::from_utf8(header).unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
    let [row_count, columns, cursor_row, cursor_column] = numbers[..] else { panic!("{name}: header") };
    let size = Size::new(row_count, columns);

    let mut played = Terminal::new(size, Settings::default());
    for read in output.chunks(4096) {
        played.feed_all(read);
        while played.poll_event().is_some() {}
    }
    // tmux tells line drawing by shifting to the second character set.
    let mut expected = Terminal::new(size, Settings::default());
    expected.feed_all(b"\x1b)0");
    for (at, line) in screen[1..].split(|b| *b == b'\n').take(usize::from(row_count)).enumerate() {
        expected.feed_all(format!("\x1b[{};1H", at + 1).as_bytes());
        expected.feed_all(line);
    }
    for (at, (found, expected)) in rows(&played).iter().zip(rows(&expected)).enumerate() {
        // tmux does not tell the colour of what was erased behind a row's last character.
        let told = expected.used();
        let same = found.cells().iter().zip(expected.cells()).enumerate().all(|(column, (ours, theirs))| {
            let text = |row: &Row, cell| {
                Some(row.text(cell)).filter(|text| !text.is_empty()).unwrap_or(" ").to_owned()
            };
            text(found, ours) == text(&expected, theirs) && (ours.pen == theirs.pen || column >= told)
        });
        assert!(same, "{name}: row {at}\n  ours {}\n  tmux {}", show(found), show(&expected));
    }
    let cursor = played.cursor();
    let column = if cursor.wraps { columns } else { cursor.column };
    assert_eq!((cursor.row, column), (cursor_row, cursor_column), "{name}: cursor");
}

/// What the program wrote: the recording itself, or the output events of an asciicast.
fn output(recording: &Path) -> Vec<u8> {
    let bytes = std::fs::read(recording).unwrap();
    if recording.extension().is_none_or(|end| end != "cast") {
        return bytes;
    }
    let text = String::from_utf8(bytes).unwrap();
    text.lines()
        .skip(1)
        .map(|line| serde_json::from_str::<(f64, String, String)>(line).unwrap())
        .filter(|(_, kind, _)| kind == "o")
        .flat_map(|(_, _, data)| data.into_bytes())
        .collect()
}
