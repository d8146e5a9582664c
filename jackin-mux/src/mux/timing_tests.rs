use jackin_core::{Size, Timestamp};

use super::Place;
use super::stage::Stage;
use crate::input::Input;

fn at(ms: u64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn stage() -> Stage {
    Stage::plain(Size::new(24, 80))
}

#[test]
fn the_first_change_is_drawn_at_once_and_a_burst_at_the_frame_pace() {
    let mut stage = stage();
    assert_eq!(stage.mux.frame_due(), None, "nothing changed, nothing to draw");
    stage.now = 2_000;
    stage.print("a");
    assert!(stage.mux.frame_due().unwrap() <= at(2_000));
    stage.draw();
    stage.print("b");
    stage.print("c");
    assert_eq!(stage.mux.frame_due(), Some(at(2_002)));
    stage.input(Input::Detached);
    assert_eq!(stage.mux.frame_due(), None);
}

#[test]
fn the_echo_of_a_key_does_not_wait_for_the_interval() {
    let mut stage = stage();
    stage.now = 2_000;
    stage.print("flood");
    stage.draw();
    stage.types("x");
    stage.print("x");
    assert!(stage.mux.frame_due().unwrap() <= at(2_000));
    stage.draw();
    stage.print("more");
    assert_eq!(stage.mux.frame_due(), Some(at(2_002)), "one key hurries one frame");
}

#[test]
fn the_answer_to_a_key_is_drawn_without_what_a_neighbour_prints() {
    let mut stage = stage();
    let neighbour = stage.focused();
    stage.open(Place::Right(neighbour));
    stage.now = 2_000;
    stage.draw();
    stage.types("x");
    stage.print_in(neighbour, "flood");
    stage.print("answer");
    assert!(stage.mux.frame_due().unwrap() <= at(2_000));
    stage.draw();
    assert!(stage.shown().contains("answer") && !stage.shown().contains("flood"));
    assert_eq!(stage.mux.frame_due(), Some(at(2_002)), "keys do not put the neighbour's frame off");
    stage.now = 2_002;
    stage.draw();
    assert!(stage.shown().contains("flood"));
    stage.check();
}

#[test]
fn a_pane_that_was_hidden_while_it_waited_is_drawn_again() {
    let mut stage = stage();
    let first = stage.focused();
    stage.now = 2_000;
    stage.draw();
    stage.print("first");
    stage.draw();
    stage.print("touched");
    stage.open(Place::Tab);
    stage.types("x");
    stage.print("answer");
    stage.draw();
    let now = stage.at();
    stage.mux.focus(first, now);
    stage.now = 2_100;
    stage.draw();
    stage.print("later");
    stage.now = 2_200;
    assert!(stage.draw().contains("later"));
}

#[test]
fn a_hidden_pane_costs_no_rendering() {
    let mut stage = stage();
    let hidden = stage.focused();
    stage.open(Place::Tab);
    stage.draw();
    stage.print_in(hidden, "nobody sees this");
    assert_eq!(stage.mux.frame_due(), None);
    assert_eq!(stage.draw(), "");
}

#[test]
fn motion_over_nothing_costs_nothing() {
    let mut stage = Stage::new(Size::new(24, 80), crate::Settings::default());
    stage.types("\x1b[<35;10;10M\x1b[<35;11;10M\x1b[<35;70;1M");
    assert_eq!((stage.mux.frame_due(), stage.outputs()), (None, vec![]));
    stage.types("\x1b[<35;12;1M");
    assert!(stage.mux.frame_due().is_some(), "a tab lights up");
}

#[test]
fn a_bare_escape_waits_and_a_whole_sequence_does_not() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.types("\x1b[A");
    assert_eq!(stage.written(pane), "\\x1b[A");
    stage.types("\x1b");
    assert_eq!((stage.written(pane), stage.mux.poll_timeout()), (String::new(), Some(at(1_025))));
    stage.wait(24);
    assert_eq!(stage.written(pane), "");
    stage.wait(1);
    assert_eq!((stage.written(pane), stage.mux.poll_timeout()), ("\\x1b".into(), None));
}

#[test]
fn a_synchronized_frame_is_drawn_when_it_ends() {
    let mut stage = stage();
    stage.now = 2_000;
    stage.print("\x1b[?2026hhalf");
    assert_eq!(stage.mux.frame_due(), Some(at(2_150)));
    assert_eq!(stage.draw(), "", "it is not shown");
    stage.print(" and whole\x1b[?2026l");
    assert!(stage.mux.frame_due().unwrap() <= at(2_002));
    assert!(stage.draw().contains("half and whole"));
}

#[test]
fn a_synchronized_frame_is_drawn_although_the_next_one_has_begun() {
    let mut stage = stage();
    stage.now = 2_000;
    stage.print("\x1b[?2026hone\x1b[?2026l\x1b[?2026h\rtwo");
    assert!(stage.mux.frame_due().unwrap() <= at(2_000));
    assert!(stage.draw().contains("one"));
    assert_eq!(stage.mux.poll_timeout(), Some(at(0)), "the rest gets its turn");
    stage.wait(0);
    assert_eq!((stage.draw().as_str(), stage.mux.frame_due()), ("", Some(at(2_150))));
    // Before the interval is over, frames are not waited for, only the last one's end.
    stage.now = 2_001;
    stage.print("\x1b[?2026l\x1b[?2026h\rthree\x1b[?2026l\x1b[?2026h\rfour");
    assert_eq!((stage.mux.poll_timeout(), stage.mux.frame_due()), (None, Some(at(2_151))));
    stage.now = 2_040;
    stage.print("\x1b[?2026l\x1b[?2026h\rfive");
    assert!(stage.draw().contains("four"), "it ended, and a frame was due");
}

#[test]
fn a_frame_that_nobody_takes_keeps_its_program_waiting_for_a_moment_only() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.now = 2_000;
    stage.print("\x1b[?2026hone\x1b[?2026l\x1b[?2026h\rtwo\x1b[?2026l\x1b[?2026h\rthree");
    assert_eq!((stage.mux.poll_timeout(), stage.mux.backlog(pane)), (Some(at(2_005)), 14));
    stage.print("\x1b[?2026l\x1b[?2026h");
    stage.wait(4);
    assert!(stage.mux.text(pane, 0).unwrap().starts_with("two"));
    stage.wait(1);
    assert_eq!((stage.mux.backlog(pane), stage.mux.poll_timeout()), (0, None));
    stage.print("\rfour\x1b[?2026l\x1b[?2026h");
    assert_eq!(stage.mux.backlog(pane), 0, "it waits once for a frame");
    stage.print("\x1b[?2026l");
    assert!(stage.draw().contains("four"));
}

#[test]
fn a_synchronized_frame_that_does_not_end_is_drawn_after_the_limit() {
    let mut stage = stage();
    stage.now = 2_000;
    stage.print("\x1b[?2026hstuck");
    stage.wait(149);
    assert_eq!(stage.draw(), "");
    stage.wait(1);
    assert!(stage.draw().contains("stuck"));
}

#[test]
fn one_panes_frame_does_not_hold_back_another() {
    let mut stage = stage();
    let left = stage.focused();
    let right = stage.open(Place::Right(left));
    stage.draw();
    stage.print_in(left, "\x1b[?2026hsecret");
    stage.print_in(right, "plain");
    let frame = stage.draw();
    assert!(frame.contains("plain") && !frame.contains("secret"), "{frame}");
}

#[test]
fn input_never_waits_for_output() {
    let mut stage = stage();
    let flooding = stage.focused();
    let typing = stage.open(Place::Right(flooding));
    for _ in 0..50 {
        stage.print_in(flooding, &"flood ".repeat(1_000));
    }
    stage.types("k");
    assert_eq!(stage.written(typing), "k");
}

#[test]
fn nothing_changed_is_nothing_sent() {
    let mut stage = stage();
    stage.print("text");
    stage.draw();
    assert_eq!(stage.draw(), "");
    stage.print("\x1b[m\x1b[1;5H");
    assert_eq!(stage.draw(), "", "the cursor is where it was");
}
