use jackin_core::{AgentStatus, Attention, PaneId, Size};

use super::Place;
use super::stage::Stage;
use crate::input::Input;
use crate::output::Output;
use crate::settings::Settings;

fn stage() -> Stage {
    Stage::new(Size::new(24, 80), Settings::default())
}

fn report(stage: &mut Stage, pane: PaneId, attention: Attention) {
    stage.input(Input::Status { pane, status: &AgentStatus::idle(), attention });
}

fn bar(stage: &mut Stage) -> String {
    stage.draw();
    stage.shown().lines().next().unwrap().to_owned()
}

#[test]
fn done_is_seen_by_typing() {
    let mut stage = stage();
    let pane = stage.focused();
    report(&mut stage, pane, Attention::Done);
    assert!(bar(&mut stage).contains("shell ✓"));
    stage.types("x");
    assert!(stage.outputs().contains(&Output::Seen { pane }));
    assert!(bar(&mut stage).contains("shell ○"));
}

#[test]
fn done_is_seen_by_staying_for_two_seconds_and_not_before() {
    let mut stage = stage();
    let first = stage.focused();
    let second = stage.open(Place::Tab);
    report(&mut stage, first, Attention::Done);
    stage.wait(10_000);
    assert_eq!(stage.outputs(), [], "nobody looks at it");
    stage.types("\x02p");
    stage.outputs();
    stage.wait(1_999);
    assert_eq!(stage.outputs(), []);
    assert_eq!(stage.mux.poll_timeout().map(jackin_core::Timestamp::as_millis), Some(stage.now + 1));
    stage.wait(1);
    assert_eq!(stage.outputs(), [Output::Seen { pane: first }]);
    report(&mut stage, second, Attention::Done);
    stage.wait(60_000);
    assert_eq!(stage.outputs(), []);
}

#[test]
fn what_finishes_before_the_operators_eyes_is_seen_after_the_dwell() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.wait(60_000);
    report(&mut stage, pane, Attention::Done);
    assert_eq!(stage.outputs(), []);
    stage.wait(2_000);
    assert_eq!(stage.outputs(), [Output::Seen { pane }]);
}

#[test]
fn an_operator_who_looks_elsewhere_sees_nothing() {
    let mut stage = stage();
    let pane = stage.focused();
    report(&mut stage, pane, Attention::Done);
    stage.types("\x1b[O");
    stage.wait(60_000);
    assert_eq!(stage.outputs(), []);
    stage.types("\x1b[I");
    stage.wait(2_000);
    assert_eq!(stage.outputs(), [Output::Seen { pane }]);
}

#[test]
fn blocked_stays_whatever_is_printed_or_typed() {
    let mut stage = stage();
    let pane = stage.focused();
    report(&mut stage, pane, Attention::Blocked);
    stage.print("output\r\n");
    stage.types("y");
    stage.wait(60_000);
    assert!(!stage.outputs().contains(&Output::Seen { pane }));
    assert!(bar(&mut stage).contains("shell ?"));
    report(&mut stage, pane, Attention::Working);
    assert!(bar(&mut stage).contains("shell ●"));
}

#[test]
fn a_tab_shows_the_most_urgent_of_its_panes() {
    let mut stage = stage();
    let first = stage.focused();
    let second = stage.open(Place::Right(first));
    report(&mut stage, first, Attention::Working);
    report(&mut stage, second, Attention::Idle);
    assert!(bar(&mut stage).contains("shell ●"));
    report(&mut stage, second, Attention::Blocked);
    assert!(bar(&mut stage).contains("shell ?"));
}
