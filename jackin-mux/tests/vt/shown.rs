//! A terminal's state in a form that can be compared and read.

use std::fmt::Write as _;

use jackin_core::Size;
use jackin_mux::vt::{Row, Settings, Terminal};

pub(crate) fn terminal(rows: u16, columns: u16) -> Terminal {
    Terminal::new(Size::new(rows, columns), Settings::default())
}

pub(crate) fn fed(rows: u16, columns: u16, bytes: &[u8]) -> Terminal {
    let mut terminal = terminal(rows, columns);
    terminal.feed_all(bytes);
    terminal
}

/// The screen's rows as text, without trailing blanks.
pub(crate) fn lines(terminal: &Terminal) -> Vec<String> {
    let mut row = Row::new();
    (0..terminal.size().rows)
        .map(|at| {
            terminal.read_row(at as isize, &mut row);
            row.to_text()
        })
        .collect()
}

/// All rows of history, oldest first.
pub(crate) fn history(terminal: &Terminal) -> Vec<Row> {
    (1..=terminal.history_rows() as isize)
        .rev()
        .map(|back| {
            let mut row = Row::new();
            assert!(terminal.read_row(-back, &mut row));
            row
        })
        .collect()
}

pub(crate) fn history_text(terminal: &Terminal) -> Vec<String> {
    history(terminal).iter().map(Row::to_text).collect()
}

/// The screen's rows with everything that a cell has.
pub(crate) fn rows(terminal: &Terminal) -> Vec<Row> {
    (0..terminal.size().rows)
        .map(|at| {
            let mut row = Row::new();
            terminal.read_row(at as isize, &mut row);
            row
        })
        .collect()
}

/// A row as text in which each cell's look can be read: for failure messages.
pub(crate) fn show(row: &Row) -> String {
    let mut out = String::new();
    let mut last = None;
    for cell in &row.cells()[..row.used()] {
        if cell.width() == 0 {
            continue;
        }
        if last != Some(cell.pen) {
            let _ = write!(out, "<{:?}>", cell.pen);
            last = Some(cell.pen);
        }
        out += if row.text(cell).is_empty() { "·" } else { row.text(cell) };
    }
    out
}

#[track_caller]
pub(crate) fn assert_same(a: &Terminal, b: &Terminal, what: &str) {
    assert_eq!(a.cursor(), b.cursor(), "{what}: cursor");
    assert_eq!(a.modes(), b.modes(), "{what}: modes");
    assert_eq!(a.is_alternate(), b.is_alternate(), "{what}: screen");
    assert_eq!(a.title(), b.title(), "{what}: title");
    assert_eq!(a.pen().foreground, b.pen().foreground, "{what}: pen");
    for (name, a, b) in [("screen", rows(a), rows(b)), ("history", history(a), history(b))] {
        assert_eq!(a.len(), b.len(), "{what}: {name} rows");
        for (at, (a, b)) in a.iter().zip(&b).enumerate() {
            assert!(a == b, "{what}: {name} row {at}\n  {}\n  {}", show(a), show(b));
            // To the eye a blank is a space; to what is erased, copied or laid out later it is not.
            let blanks =
                |row: &Row| row.cells().iter().map(|cell| row.text(cell).is_empty()).collect::<Vec<_>>();
            assert_eq!(blanks(a), blanks(b), "{what}: {name} row {at} blanks\n  {}\n  {}", show(a), show(b));
            assert_eq!(a.is_wrapped(), b.is_wrapped(), "{what}: {name} row {at} wraps\n {}", show(a));
            assert_eq!(a.marks(), b.marks(), "{what}: {name} row {at} marks\n {}", show(a));
        }
    }
}
