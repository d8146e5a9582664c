//! The pane's terminal: any bytes at any size, resized and read at any time.
//!
//! The first two bytes are the size. 0xff, which is never text, is followed by a new size; everything else is output. Two terminals are
//! fed, one in whole pieces with jump-scroll, one in small pieces without: they must agree.
#![no_main]

use std::sync::LazyLock;

use jackin_core::Size;
use jackin_mux::vt::{Direction, Point, Row, Search, Settings, Terminal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [rows, columns, rest @ ..] = data else { return };
    let size = small(*rows, *columns);
    let terminal = |jump_scroll| {
        Terminal::new(size, Settings { jump_scroll, history_lines: 200, ..Settings::default() })
    };
    let (mut whole, mut pieces) = (terminal(true), terminal(false));
    let mut rest = rest;
    while !rest.is_empty() {
        let end = rest.iter().position(|b| *b == 0xff).unwrap_or(rest.len());
        let (output, after) = rest.split_at(end);
        whole.feed_all(output);
        for piece in output.chunks(usize::from(*columns) % 7 + 1) {
            pieces.feed_all(piece);
        }
        rest = match after {
            [_, rows, columns, rest @ ..] => {
                compare(&whole, &pieces);
                let size = small(*rows, *columns);
                whole.resize(size);
                pieces.resize(size);
                rest
            }
            _ => break,
        };
        for terminal in [&mut whole, &mut pieces] {
            while terminal.poll_event().is_some() {}
        }
    }
    compare(&whole, &pieces);
    if let Some(search) = &*SEARCH {
        whole.find(search, Point { row: 0, column: 0 }, Direction::Backward);
        whole.find(search, Point { row: -1, column: 0 }, Direction::Forward);
    }
    whole.screen_sgr();
    whole.screen_text();
    whole.logical_line(0);
    let mut at = isize::MIN;
    while let Some((row, marks)) = whole.find_marks(at, Direction::Forward) {
        assert!(row > at && !marks.is_empty());
        at = row;
    }
    whole.last_exit_code();
});

static SEARCH: LazyLock<Option<Search>> = LazyLock::new(|| Search::literal("a").ok());

/// Small screens: comparing their cells is what takes the time, and the edges are nearer.
fn small(rows: u8, columns: u8) -> Size {
    Size::new(u16::from(rows % 16), u16::from(columns % 48))
}

fn compare(a: &Terminal, b: &Terminal) {
    assert_eq!(a.cursor(), b.cursor());
    assert_eq!(a.modes(), b.modes());
    let history = a.history_rows() as isize;
    assert_eq!(history, b.history_rows() as isize);
    let (mut row_a, mut row_b) = (Row::new(), Row::new());
    // A long line has many rows on a narrow screen, and each is found from the line's start.
    for row in -history.min(30)..isize::from(a.size().rows as i16) {
        a.read_row(row, &mut row_a);
        b.read_row(row, &mut row_b);
        assert!(row_a == row_b, "row {row}: {row_a:?} {row_b:?}");
        assert_eq!(row_a.marks(), row_b.marks(), "row {row}");
        let blanks = |row: &Row| row.cells().iter().map(|cell| row.text(cell).is_empty()).collect::<Vec<_>>();
        assert_eq!(blanks(&row_a), blanks(&row_b), "row {row}");
    }
}
