//! Shell-integration marks: where they stay, and how they are found.

use std::fmt::Write as _;

use jackin_core::Size;
use jackin_mux::vt::{Direction, Marks, PromptMark, Row, Terminal};

use crate::shown::fed;

/// A session of commands, each with so many lines of output and its number as exit code.
fn session(commands: usize, lines: usize) -> Vec<u8> {
    let mut out = String::new();
    for n in 0..commands {
        write!(out, "\x1b]133;A\x07$ \x1b]133;B\x07command {n}\r\n\x1b]133;C\x07").unwrap();
        for line in 0..lines {
            write!(out, "output {line} of command {n}, which is rather long\r\n").unwrap();
        }
        write!(out, "\x1b]133;D;{n}\x07").unwrap();
    }
    out.into_bytes()
}

/// Every marked row with its text, oldest first.
fn marked(terminal: &Terminal) -> Vec<(String, Vec<PromptMark>)> {
    let mut found = Vec::new();
    let mut row = Row::new();
    for at in -(terminal.history_rows() as isize)..terminal.size().rows as isize {
        terminal.read_row(at, &mut row);
        if !row.marks().is_empty() {
            found.push((row.to_text(), row.marks().iter().collect()));
        }
    }
    found
}

fn rows_by_search(terminal: &Terminal, direction: Direction) -> Vec<(isize, Marks)> {
    let mut at = match direction {
        Direction::Forward => isize::MIN,
        Direction::Backward => isize::MAX,
    };
    let mut found = Vec::new();
    while let Some((row, marks)) = terminal.find_marks(at, direction) {
        at = row;
        found.push((row, marks));
    }
    found
}

#[test]
fn marks_stay_with_their_rows_in_history() {
    use PromptMark::{Command, Done, Output, Prompt};
    let terminal = fed(5, 60, &session(3, 7));
    let expected = [
        ("$ command 0", vec![Prompt, Command]),
        ("output 0 of command 0, which is rather long", vec![Output]),
        ("$ command 1", vec![Done(Some(0)), Prompt, Command]),
        ("output 0 of command 1, which is rather long", vec![Output]),
        ("$ command 2", vec![Done(Some(1)), Prompt, Command]),
        ("output 0 of command 2, which is rather long", vec![Output]),
        ("", vec![Done(Some(2))]),
    ]
    .map(|(text, marks)| (text.to_owned(), marks));
    assert_eq!(marked(&terminal), expected);
}

#[test]
fn marks_stay_with_their_text_at_every_size() {
    let mut terminal = fed(5, 60, &session(3, 3));
    let before = marked(&terminal);
    for (rows, columns) in [(5, 9), (2, 30), (12, 11), (1, 1), (40, 200), (3, 7), (5, 60)] {
        terminal.resize(Size::new(rows, columns));
        let now = marked(&terminal);
        assert_eq!(now.len(), before.len(), "at {rows}x{columns}: {now:?}");
        for ((text, marks), (whole, expected)) in now.iter().zip(&before) {
            assert_eq!(marks, expected);
            assert!(whole.starts_with(text.as_str()), "{text:?} is the start of {whole:?}");
        }
    }
    assert_eq!(marked(&terminal), before);
}

#[test]
fn marked_rows_are_found_in_both_directions_at_every_width() {
    let mut terminal = fed(6, 40, &session(20, 5));
    for columns in [40, 13, 3, 80] {
        terminal.resize(Size::new(6, columns));
        let mut expected = Vec::new();
        let mut row = Row::new();
        for at in -(terminal.history_rows() as isize)..6 {
            terminal.read_row(at, &mut row);
            if !row.marks().is_empty() {
                expected.push((at, row.marks()));
            }
        }
        assert_eq!(rows_by_search(&terminal, Direction::Forward), expected, "{columns} columns");
        expected.reverse();
        assert_eq!(rows_by_search(&terminal, Direction::Backward), expected, "{columns} columns");
    }
}

#[test]
fn one_jumps_from_prompt_to_prompt() {
    let terminal = fed(5, 60, &session(4, 7));
    let mut row = Row::new();
    let mut at = 5;
    for n in (0..4).rev() {
        at = terminal.find_prompt(at, Direction::Backward).unwrap();
        terminal.read_row(at, &mut row);
        assert_eq!(row.to_text(), format!("$ command {n}"));
    }
    assert_eq!(terminal.find_prompt(at, Direction::Backward), None);
    let next = terminal.find_prompt(at, Direction::Forward).unwrap();
    terminal.read_row(next, &mut row);
    assert_eq!(row.to_text(), "$ command 1");
}

#[test]
fn the_last_exit_code_is_told() {
    let mut terminal = fed(4, 60, b"no shell integration\r\n");
    assert_eq!(terminal.last_exit_code(), None);
    terminal.feed_all(&session(3, 2));
    assert_eq!(terminal.last_exit_code(), Some(2));
    terminal.feed_all(b"\x1b]133;A\x07$ \x1b]133;B\x07false\r\n\x1b]133;C\x07\x1b]133;D;-1\x07");
    assert_eq!(terminal.last_exit_code(), Some(-1));
    terminal.feed_all(&b"a long text without marks\r\n".repeat(1000));
    assert_eq!(terminal.last_exit_code(), Some(-1), "far up in history");
    terminal.feed_all(b"\x1b]133;D\x07");
    assert_eq!(terminal.last_exit_code(), None, "the last one told none");
}

#[test]
fn clearing_drops_the_marks_of_what_is_cleared() {
    let mut terminal = fed(5, 60, b"\x1b]133;A\x07$ \r\nx\r\n\x1b]133;A\x07$ \x1b[H\x1b[J");
    assert_eq!(marked(&terminal).len(), 2, "the screen went to history");
    terminal.feed_all(b"\x1b]133;A\x07\x1b[J$ ");
    assert_eq!(marked(&terminal).len(), 3, "a shell that erases below its new prompt keeps it");
    terminal.feed_all(b"\x1b[3J\x1b[?1049h\x1b]133;A\x07\x1b[2J\x1b[?1049l");
    assert_eq!(marked(&terminal).len(), 1, "the alternate screen has its own");
    terminal.feed_all(b"\x1b[3;1H\x1b]133;A\x07\x1b[1;1H\x1b[2M\x1bM\x1b[2L");
    assert_eq!(
        terminal.find_prompt(9, Direction::Backward),
        Some(3),
        "marks move with inserted and deleted rows"
    );
    terminal.feed_all(b"\x1bc");
    assert_eq!(marked(&terminal), []);
}
