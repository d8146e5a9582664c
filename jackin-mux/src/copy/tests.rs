use jackin_core::{PaneId, Size, Timestamp};

use super::*;
use crate::client::Key;
use crate::pane::Pane;
use crate::settings::CopyKeys;
use crate::vt;

fn pane(text: &str) -> Pane {
    let id = PaneId::new(1).unwrap();
    let mut pane = Pane::new(id, "test".into(), Size::new(4, 20), vt::Settings::default());
    pane.feed(text.as_bytes(), Timestamp::default(), false, |_| {});
    pane
}

fn press(pane: &mut Pane, keys: &str, style: CopyKeys) -> Outcome {
    let mut outcome = Outcome::Stay;
    for key in keys.split(' ') {
        outcome = pane.copy_key(key.parse::<Key>().unwrap(), style);
    }
    outcome
}

#[test]
fn vi_keys_select_a_word_and_copy_it() {
    let mut pane = pane("one two-three four\r\nlast");
    pane.enter_copy_mode();
    assert_eq!(press(&mut pane, "g w v e y", CopyKeys::Vi), Outcome::Copy("two-three".into()));
    assert!(pane.copy.is_none() && pane.selection.is_none());
}

#[test]
fn emacs_keys_select_and_copy() {
    let mut pane = pane("one two three\r\nlast");
    pane.enter_copy_mode();
    let outcome = press(&mut pane, "alt+< ctrl+f ctrl+f ctrl+space ctrl+e alt+w", CopyKeys::Emacs);
    assert_eq!(outcome, Outcome::Copy("e two three".into()));
}

#[test]
fn whole_lines_and_blocks() {
    let mut lines = pane("abcd\r\nefgh\r\nijkl");
    lines.enter_copy_mode();
    assert_eq!(press(&mut lines, "g V j y", CopyKeys::Vi), Outcome::Copy("abcd\nefgh\n".into()));
    lines.enter_copy_mode();
    assert_eq!(press(&mut lines, "g l ctrl+v j j l y", CopyKeys::Vi), Outcome::Copy("bc\nfg\njk".into()));
}

#[test]
fn a_line_that_was_too_long_for_the_pane_is_copied_as_one() {
    let mut pane = pane("0123456789012345678901234\r\nnext");
    pane.enter_copy_mode();
    assert_eq!(
        press(&mut pane, "g v j j l y", CopyKeys::Vi),
        Outcome::Copy("0123456789012345678901234\nne".into())
    );
}

#[test]
fn a_search_goes_back_through_history_and_round() {
    let text: String = crate::copy::numbered_lines(30);
    let mut pane = pane(&text);
    pane.enter_copy_mode();
    press(&mut pane, "? L I N E space 7 enter", CopyKeys::Vi);
    assert!(pane.copy.as_ref().unwrap().missed, "capitals are meant");
    press(&mut pane, "? l i n e space 7 enter", CopyKeys::Vi);
    let copy = pane.copy.clone().unwrap();
    assert_eq!((copy.cursor, copy.missed), (Point { line: 7, col: 0 }, false));
    assert!(pane.terminal.view() > 0, "it is shown");
    press(&mut pane, "n", CopyKeys::Vi);
    assert_eq!(pane.copy.as_ref().unwrap().cursor.line, 7, "the only one is found again");
    press(&mut pane, "/ e space 1 enter", CopyKeys::Vi);
    assert_eq!(pane.copy.as_ref().unwrap().cursor.line, 10);
    press(&mut pane, "N", CopyKeys::Vi);
    assert_eq!(pane.copy.as_ref().unwrap().cursor.line, 1);
    assert_eq!(press(&mut pane, "q", CopyKeys::Vi), Outcome::Leave);
    assert_eq!(pane.terminal.view(), 0);
}

#[test]
fn wide_characters_are_found() {
    let mut pane = pane("first\r\nsome 日本語 text\r\nlast");
    pane.enter_copy_mode();
    press(&mut pane, "?", CopyKeys::Vi);
    pane.copy_paste("日本語 t");
    press(&mut pane, "enter", CopyKeys::Vi);
    let copy = pane.copy.clone().unwrap();
    assert_eq!((copy.cursor, copy.missed), (Point { line: 1, col: 5 }, false));
}

#[test]
fn what_is_pasted_into_a_search_has_a_limit() {
    let mut pane = pane("text");
    pane.enter_copy_mode();
    press(&mut pane, "/", CopyKeys::Vi);
    for _ in 0..10 {
        pane.copy_paste(&"x".repeat(100));
    }
    assert_eq!(pane.copy.as_ref().and_then(|copy| copy.entry.as_ref()).map(String::len), Some(256));
}

#[test]
fn output_does_not_move_what_is_looked_at() {
    let text: String = crate::copy::numbered_lines(30);
    let mut pane = pane(&text);
    pane.enter_copy_mode();
    press(&mut pane, "ctrl+b v", CopyKeys::Vi);
    let top = pane.line_of(0);
    let mut row = vt::Row::new();
    pane.terminal.read_view_row(0, &mut row);
    let before = row.to_text();
    pane.feed(b"more\r\nand more\r\n", Timestamp::default(), false, |_| {});
    pane.terminal.read_view_row(0, &mut row);
    assert_eq!((pane.line_of(0), row.to_text()), (top, before));
}

#[test]
fn a_double_click_takes_addresses_and_paths_whole() {
    let pane = pane("see src/main.rs, or a_b");
    let word = |col| Selection::new(Point { line: 0, col }, Shape::Words, &pane).text(&pane);
    assert_eq!(word(6), "src/main.rs");
    assert_eq!(word(1), "see");
    assert_eq!(word(3), "");
}
