//! The mouse: what is ours, what is a program's, and marking text.

use super::Place;
use super::routing_tests::{SIZE, stage};
use super::stage::Stage;
use crate::input::Input;
use crate::settings::Settings;

#[test]
fn the_mouse_is_told_relative_to_the_pane() {
    let mut stage = Stage::new(SIZE, Settings::default());
    let first = stage.focused();
    let second = stage.open(Place::Right(first));
    stage.print_in(second, "\x1b[?1000h\x1b[?1006h");
    stage.types("\x1b[<0;25;6M");
    // The bar and the header take two rows, the first pane and the border twenty columns and one.
    assert_eq!(stage.written(second), "\\x1b[<0;4;4M");
}

#[test]
fn a_press_in_the_top_row_belongs_to_the_tabs() {
    let mut stage = Stage::new(SIZE, Settings::default());
    let first = stage.focused();
    stage.open(Place::Tab);
    stage.print("\x1b[?1003h\x1b[?1006h");
    stage.types("\x1b[<0;12;1M\x1b[<0;12;1m");
    assert_eq!(stage.mux.focused(), Some(first));
    assert_eq!(stage.written(first), "");
}

#[test]
fn a_press_gives_a_pane_the_focus() {
    let mut stage = stage();
    let first = stage.focused();
    stage.open(Place::Right(first));
    stage.types("\x1b[<0;3;3M\x1b[<0;3;3m");
    assert_eq!(stage.mux.focused(), Some(first));
}

#[test]
fn a_border_is_dragged() {
    let mut stage = stage();
    let first = stage.focused();
    stage.open(Place::Right(first));
    let cols = |stage: &Stage| stage.mux.size(first).unwrap().cols;
    let border = cols(&stage) + 1;
    stage.types(&format!("\x1b[<0;{border};3M\x1b[<32;31;3M\x1b[<32;11;3M\x1b[<0;11;3m"));
    assert_eq!(cols(&stage), 10);
    stage.types("\x1b[<32;20;3M");
    assert_eq!(cols(&stage), 10, "the button is up");
    stage.draw();
    stage.check();
}

#[test]
fn a_program_that_did_not_ask_for_the_mouse_is_not_told() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.types("\x1b[<0;3;3M\x1b[<32;9;3M\x1b[<0;9;3m\x1b[<2;3;3M\x1b[<2;3;3m");
    assert_eq!(stage.written(pane), "");
}

#[test]
fn the_wheel_scrolls_history_and_typing_returns() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.print(&crate::copy::numbered_lines(30));
    stage.types("\x1b[<64;3;3M");
    stage.draw();
    stage.check();
    assert!(stage.shown().starts_with("line 18"), "{}", stage.shown());
    stage.types("x");
    stage.draw();
    assert!(stage.shown().starts_with("line 21"), "{}", stage.shown());
    assert_eq!(stage.written(pane), "x");
}

#[test]
fn the_wheel_over_a_pane_without_history_does_nothing() {
    let mut stage = stage();
    stage.types("\x1b[<64;3;3M");
    assert_eq!((stage.draw().as_str(), stage.outputs()), ("", vec![]));
}

#[test]
fn the_wheel_is_cursor_keys_on_the_alternate_screen() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.print("\x1b[?1049h");
    stage.types("\x1b[<64;3;3M");
    assert_eq!(stage.written(pane), "\\x1b[A".repeat(3));
    stage.print("\x1b[?1h");
    stage.types("\x1b[<65;3;3M");
    assert_eq!(stage.written(pane), "\\x1bOB".repeat(3));
    stage.print("\x1b[?1000h\x1b[?1006h");
    stage.types("\x1b[<65;3;3M");
    assert_eq!(stage.written(pane), "\\x1b[<65;3;3M");
}

#[test]
fn text_is_marked_by_the_mouse_and_copied() {
    let mut stage = stage();
    stage.print("see https://example.org/x. and\r\nmore");
    stage.draw();
    stage.types("\x1b[<0;5;1M\x1b[<32;7;1M\x1b[<0;7;1m");
    stage.check_copied("htt");
    stage.types("\x1b[<0;9;1M\x1b[<0;9;1m\x1b[<0;9;1M\x1b[<0;9;1m");
    stage.check_copied("https://example.org/x");
    stage.types("\x1b[<0;9;1M\x1b[<0;9;1m");
    stage.check_copied("see https://example.org/x. and\n");
}

#[test]
fn marking_beyond_the_edge_scrolls() {
    let mut stage = Stage::new(SIZE, Settings::default());
    stage.print(&crate::copy::numbered_lines(30));
    stage.types("\x1b[<0;8;2M");
    for _ in 0..3 {
        stage.types("\x1b[<32;1;1M");
    }
    stage.draw();
    stage.check();
    assert!(stage.shown().contains("\nline 19"), "{}", stage.shown());
    stage.types("\x1b[<0;1;1m");
    stage.check_copied("line 19\nline 20\nline 21\nline 22");
}

#[test]
fn a_click_on_the_context_row_tells_more() {
    let mut stage = Stage::new(SIZE, Settings::default());
    let context = crate::Context { branch: Some("fix/login".into()), ..crate::Context::default() };
    stage.input(Input::Context(&context));
    stage.types("\x1b[<0;3;10M\x1b[<0;3;10m");
    stage.draw();
    assert!(stage.shown().contains("─ Details ─"), "{}", stage.shown());
}

#[test]
fn what_a_program_cleared_can_be_scrolled_back_to() {
    let mut stage = stage();
    stage.print("before the clear\r\n\x1b[H\x1b[2Jafter");
    stage.types("\x1b[<64;3;3M");
    stage.draw();
    assert!(stage.shown().contains("before the clear"), "{}", stage.shown());
}
