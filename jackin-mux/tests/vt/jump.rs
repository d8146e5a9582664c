//! Rows that are kept out of the grid, and lines that are never drawn: that they are, and that nobody can tell.

use std::fmt::Write as _;

use jackin_core::Size;

use crate::shown::{assert_same, fed, history, lines, terminal};
use crate::streams::with_jump;

/// Fed to both, the steps must leave the same screen and history.
#[track_caller]
fn check_same(rows: u16, columns: u16, bytes: &[u8]) {
    let (mut jumping, mut drawing) = (with_jump((rows, columns), true), with_jump((rows, columns), false));
    for terminal in [&mut jumping, &mut drawing] {
        terminal.feed_all(bytes);
    }
    assert_same(&jumping, &drawing, "at once");
    for narrow in [columns / 2 + 1, columns] {
        for terminal in [&mut jumping, &mut drawing] {
            terminal.resize(Size::new(rows, narrow));
        }
        assert_same(&jumping, &drawing, "laid out anew");
    }
}

#[test]
fn columns_that_a_tab_passes_over_are_blank_and_no_spaces() {
    check_same(2, 19, b" \r\n\ta\tb\t\r\n");
    // What is erased leaves nothing behind that would wrap.
    check_same(3, 30, b"\x1b[3;1Hx\r\n\ta\tb\r\n\x1b[2;1H\x1b[9G\x1b[K\x1b[3;1H");
}

#[test]
fn a_blank_row_goes_on_with_the_one_above_that_wrapped() {
    check_same(2, 2, b"\x1b[1;1H00a\x1b[K\x1b[2;1H\x1b[KA\r\na\r\nA\r\nAa0\r\n0 A\r\n");
}

#[test]
fn a_row_that_moves_under_a_waiting_wrap_is_told_where_it_ends() {
    check_same(9, 2, b"[1;1[K\x1b[1;J\x1b[M3");
}

#[test]
fn what_a_wide_character_leaves_of_itself_looks_the_same_in_history() {
    check_same(
        4,
        14,
        "\x1b[4H\x1b[5Ga\x1b[4Hb\x1b[K\x1b[D\u{fffd}文\x1b[S\x1b8\t\t\x1b[1m\u{fffd}\n1\u{fe0f}\n\nAaa AaaA  aAa\n".as_bytes(),
    );
    check_same(
        1,
        18,
        "\x1b]8;;http://c.example\x07\x1b[1;1Hab\x1b[K\x1b[41m 中\x1b[1;8H\x1b[m\x1b[J\x1b[3Da \x1b[Sa"
            .as_bytes(),
    );
    check_same(2, 11, "\x1b[1;1Hab\x1b[44m\x1b[K\x1b[m\x1b[7C中\x1b[11GA\x1b[2;1H\n\n".as_bytes());
}

#[test]
fn blanks_at_the_end_of_a_row_that_wraps_are_part_of_its_line() {
    check_same(2, 10, "\x1b[5Ga\x1b[H    a\x1b[K  a中\x1b[10G文\n\n".as_bytes());
}

#[test]
fn a_coloured_erase_behind_a_lone_skin_tone_is_no_text() {
    let terminal = fed(2, 10, "\x1b[41m\u{1f3fd}\x1b[K\x1b[m\r\n\r\n".as_bytes());
    let row = &history(&terminal)[0];
    assert!(row.cells()[2..].iter().all(|cell| row.text(cell).is_empty()), "{row:?}");
}

/// What a program that ends its lines with CR LF sends through a terminal that adds a CR of its own.
#[test]
fn lines_with_one_carriage_return_too_many_are_jumped_over_all_the_same() {
    let mut lines = String::new();
    for n in 0..1_000 {
        write!(lines, "line {n} of a log, \u{1b}[3{}mcoloured\u{1b}[m\r\r\n", n % 8).unwrap();
    }
    let (mut jumping, mut drawing) = (with_jump((10, 60), true), with_jump((10, 60), false));
    drawing.feed_all(lines.as_bytes());
    // The budget is a fraction of what drawing every line would cost.
    assert_eq!(jumping.feed(lines.as_bytes(), lines.len() / 4), lines.len());
    assert_same(&jumping, &drawing, "jump");
}

/// What drawing them would cost is the cells of each row, erased; the budget has no room for that.
#[test]
fn rows_that_are_erased_and_written_cost_little_more_than_their_bytes() {
    let mut rows = String::new();
    for n in 0..1_000 {
        let (row, column) = (n * 3 % 40 + 1, n * 7 % 180 + 1);
        write!(rows, "\x1b[{row};{column}H\x1b[2K\x1b[3{}mstatus line {n}\x1b[0m", n % 8).unwrap();
    }
    let mut screen = terminal(50, 200);
    screen.feed_all(&rows.as_bytes().repeat(2));
    assert_eq!(screen.feed(rows.as_bytes(), rows.len() * 9 / 8), rows.len());
    assert_eq!(lines(&screen)[999 * 3 % 40].trim(), "status line 999");
    check_same(50, 200, rows.as_bytes());
}
