use jackin_core::{Size, Timestamp};

use super::Place;
use super::stage::Stage;
use crate::input::{Client, Input};

const SIZE: Size = Size { rows: 10, cols: 40 };

/// With someone who looks on, at the same size.
fn stage() -> Stage {
    let mut stage = Stage::plain(SIZE);
    stage.view(Client::modern(SIZE));
    stage.draw_viewer();
    stage
}

#[test]
fn a_viewer_sees_what_the_operator_sees() {
    let mut stage = stage();
    stage.print("\x1b[1;31mred\x1b[m text");
    stage.draw();
    stage.draw_viewer();
    stage.check_viewer();
    assert_eq!(stage.shown_to_viewer(), stage.shown());
    let first = stage.focused();
    stage.open(Place::Right(first));
    stage.types("\x02?");
    stage.draw();
    stage.draw_viewer();
    stage.check_viewer();
    assert_eq!(stage.shown_to_viewer(), stage.shown());
}

#[test]
fn a_smaller_viewer_sees_the_top_left_and_a_larger_one_blanks() {
    let mut stage = stage();
    stage.print("0123456789日本\r\nsecond\r\nthird");
    stage.resize_viewer(Size::new(2, 11));
    stage.draw_viewer();
    stage.check_viewer();
    assert_eq!(stage.shown_to_viewer(), "0123456789\nsecond\n", "no half character at the edge");
    stage.resize_viewer(Size::new(12, 60));
    stage.draw_viewer();
    stage.check_viewer();
    assert!(stage.shown_to_viewer().starts_with("0123456789日本\nsecond\nthird\n"));
}

#[test]
fn a_viewer_gets_what_changed_at_the_frame_pace() {
    let mut stage = stage();
    assert_eq!(stage.viewer_due(), None);
    stage.print("x");
    assert_eq!(stage.viewer_due(), Some(Timestamp::from_millis(stage.now + 2)));
    stage.now += 2;
    assert_eq!(stage.draw_viewer(), "\\x1b[?25lx\\x1b[?25h");
    assert_eq!((stage.viewer_due(), stage.draw_viewer().as_str()), (None, ""));
}

#[test]
fn a_viewer_is_sent_nothing_but_what_is_seen() {
    let mut stage = stage();
    stage.print("\x1b]52;c;aGVsbG8=\x07\x1b]9;note\x07\x1b_Ga=T;AAAA\x1b\\\x1b[?1h\x1b[>1u");
    stage.now += 100;
    assert_eq!(stage.draw_viewer(), "");
    stage.check_viewer();
}

#[test]
fn a_viewer_does_not_see_half_a_frame_either() {
    let mut stage = stage();
    stage.now = 2_000;
    stage.print("\x1b[?2026hhalf");
    assert_eq!(stage.draw_viewer(), "");
    assert_eq!(stage.viewer_due(), Some(Timestamp::from_millis(2_150)));
    stage.print(" and whole\x1b[?2026l");
    stage.wait(40);
    assert!(stage.draw_viewer().contains("half and whole"));
    stage.print("\x1b[?2026hstuck");
    stage.wait(150);
    assert!(stage.draw_viewer().contains("stuck"));
    assert_eq!(stage.viewer_due(), None);
}

#[test]
fn without_an_operator_a_viewer_still_sees() {
    let mut stage = stage();
    stage.types("\x02?");
    stage.input(Input::Detached);
    stage.print("alone");
    stage.draw_viewer();
    stage.check_viewer();
    assert!(stage.shown_to_viewer().starts_with("alone\n"), "the dialog went with the operator");
}

#[test]
fn what_a_hidden_pane_prints_is_nothing_to_a_viewer() {
    let mut stage = stage();
    let hidden = stage.focused();
    stage.open(Place::Tab);
    stage.draw_viewer();
    stage.print_in(hidden, "nobody sees this");
    assert_eq!(stage.viewer_due(), None);
}
