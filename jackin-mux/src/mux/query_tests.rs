//! Questions of programs that only the operator's terminal can answer.

use super::Place;
use super::routing_tests::{SIZE, contains, ghostty};
use super::stage::Stage;
use crate::input::Input;
use crate::output::Output;
use crate::settings::{Forward, Settings};

#[test]
fn clipboard_reads_are_refused_unless_allowed() {
    let mut stage = ghostty();
    let pane = stage.focused();
    stage.print("\x1b]52;c;?\x07");
    assert_eq!((stage.draw().as_str(), stage.written(pane).as_str()), ("", ""));
    let forward = Forward { clipboard_read: true, ..Forward::default() };
    let mut stage = Stage::new(SIZE, Settings { forward, chrome: false, ..Settings::default() });
    let pane = stage.focused();
    stage.print("\x1b]52;c;?\x07");
    assert!(contains(&stage.draw(), "\x1b]52;c;?\x07"));
    stage.types("\x1b]52;c;aGk=\x07");
    assert_eq!(stage.written(pane), "\\x1b]52;c;aGk=\\x07");
}

#[test]
fn colour_queries_go_out_and_answers_return_to_who_asked() {
    let mut stage = ghostty();
    let first = stage.focused();
    let second = stage.open(Place::Right(first));
    stage.draw();
    stage.print_in(first, "\x1b]11;?\x07");
    assert!(contains(&stage.draw(), "\x1b]11;?\x07"), "a pane that is not focused may ask too");
    stage.types("\x1b]11;rgb:1111/1111/1111\x07");
    assert_eq!(
        stage.outputs(),
        [Output::WritePty { pane: first, bytes: b"\x1b]11;rgb:1111/1111/1111\x07".to_vec() }]
    );
    stage.print_in(second, "\x1b]4;3;?\x1b\\");
    assert!(contains(&stage.draw(), "\x1b]4;3;?\x1b\\"));
    stage.types("\x1b]4;3;rgb:cdcd/cdcd/0000\x1b\\");
    assert_eq!(stage.written(second), "\\x1b]4;3;rgb:cdcd/cdcd/0000\\x1b\\\\");
}

#[test]
fn without_a_terminal_colours_are_what_the_last_one_said() {
    let mut stage = ghostty();
    let pane = stage.focused();
    stage.print("\x1b]10;?\x07");
    stage.draw();
    stage.types("\x1b]10;rgb:aaaa/bbbb/cccc\x07");
    stage.outputs();
    stage.input(Input::Detached);
    stage.outputs();
    stage.print("\x1b]10;?\x07\x1b]11;?\x07");
    assert_eq!(stage.written(pane), "\\x1b]10;rgb:aaaa/bbbb/cccc\\x07\\x1b]11;rgb:0000/0000/0000\\x1b\\\\");
}

#[test]
fn a_terminal_that_leaves_without_answering_leaves_nobody_waiting() {
    let mut stage = ghostty();
    let pane = stage.focused();
    stage.print("\x1b]11;?\x07");
    assert_eq!(stage.written(pane), "");
    stage.input(Input::Detached);
    assert_eq!(stage.written(pane), "\\x1b]11;rgb:0000/0000/0000\\x1b\\\\");
}

#[test]
fn dark_and_light_are_told_to_who_subscribed() {
    let mut stage = ghostty();
    let pane = stage.focused();
    stage.print("\x1b[?2031h");
    assert!(contains(&stage.draw(), "\x1b[?2031h"));
    stage.types("\x1b[?997;2n");
    assert_eq!(stage.written(pane), "\\x1b[?997;2n");
    stage.print("\x1b[?2031l");
    assert!(contains(&stage.draw(), "\x1b[?2031l"));
}

#[test]
fn a_question_that_nobody_answers_in_time_is_answered_with_what_is_known() {
    let mut stage = ghostty();
    let pane = stage.focused();
    stage.print("\x1b]11;?\x07");
    stage.wait(499);
    assert_eq!(stage.written(pane), "");
    assert_eq!(stage.mux.poll_timeout().map(jackin_core::Timestamp::as_millis), Some(stage.now + 1));
    stage.wait(1);
    assert_eq!(stage.written(pane), "\\x1b]11;rgb:0000/0000/0000\\x1b\\\\");
    stage.types("\x1b]11;rgb:1111/1111/1111\x07");
    assert_eq!(stage.written(pane), "", "nobody waits for it any more");
    stage.print("\x1b]11;?\x07");
    stage.wait(500);
    assert_eq!(stage.written(pane), "\\x1b]11;rgb:1111/1111/1111\\x07", "but it is known now");
    assert_eq!(stage.mux.poll_timeout(), None);
}

#[test]
fn more_questions_than_anyone_asks_are_all_answered() {
    let mut stage = ghostty();
    let pane = stage.focused();
    stage.print(&"\x1b]4;1;?\x07".repeat(1_000));
    stage.wait(500);
    assert_eq!(stage.written(pane).matches("]4;1;rgb:").count(), 1_000);
}
