use jackin_core::Size;

use super::stage::Stage;
use super::{FullRedrawReason, Place};
use crate::output::{Launch, Output};
use crate::settings::{Agent, Settings};

fn stage() -> Stage {
    Stage::plain(Size::new(24, 80))
}

#[test]
fn a_lone_prefix_is_consumed() {
    let mut stage = stage();
    stage.types("\x02");
    assert_eq!(stage.outputs(), []);
}

#[test]
fn a_prefix_pressed_twice_is_one_for_the_program_in_every_encoding() {
    for prefix in ["\x02", "\x1b[98;5u", "\x1b[27;5;98~"] {
        let mut stage = stage();
        stage.types(prefix);
        assert_eq!(stage.outputs(), []);
        stage.types(prefix);
        let pane = stage.focused();
        let written = Output::WritePty { pane, bytes: prefix.as_bytes().to_vec() };
        assert_eq!(stage.outputs(), [Output::Typed { pane }, written]);
    }
}

#[test]
fn a_command_key_is_consumed_and_obeyed() {
    let mut stage = stage();
    stage.types("\x02c");
    let pane = stage.focused();
    assert_eq!(stage.outputs(), [Output::Spawn { pane, launch: Launch::Shell, size: Size::new(24, 80) }]);
    stage.types("\x02d");
    assert_eq!(stage.outputs(), [Output::Detach]);
}

#[test]
fn line_feeds_and_form_feeds_go_to_the_program() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.types("a\nb\x0c\r");
    assert_eq!(stage.written(pane), "a\\nb\\x0c\\r");
}

#[test]
fn prefix_ctrl_l_clears_the_pane() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.print(&"line\r\n".repeat(50));
    assert!(stage.mux.text(pane, 100).unwrap().lines().count() > 30);
    stage.types("\x02\x0c");
    assert_eq!(stage.written(pane), "\\x0c");
    assert_eq!(stage.mux.text(pane, 100).unwrap().lines().count(), 24);
}

#[test]
fn without_a_prefix_every_key_is_the_programs() {
    let mut stage =
        Stage::new(Size::new(24, 80), Settings { prefix: None, chrome: false, ..Settings::default() });
    let pane = stage.focused();
    stage.types("\x02d");
    assert_eq!(stage.written(pane), "\\x02d");
}

#[test]
fn a_prefix_inside_a_paste_or_a_sequence_is_text() {
    let mut stage = stage();
    let pane = stage.focused();
    for piece in ["\x1b[20", "0~a\x02", "db\x1b[2", "01~"] {
        stage.types(piece);
    }
    assert_eq!(stage.written(pane), "a\\x02db");
}

#[test]
fn the_release_of_a_consumed_key_is_consumed_too() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.types("\x1b[98;5u\x1b[98;5:3u\x1b[122u\x1b[122;1:3u");
    assert_eq!(stage.written(pane), "");
    stage.types("\x1b[97u\x1b[97;1:3u");
    assert_eq!(stage.written(pane), "\\x1b[97u\\x1b[97;1:3u");
}

#[test]
fn killing_asks_and_no_is_the_default() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.types("\x02x\r");
    assert_eq!(stage.outputs(), []);
    stage.types("\x02xy");
    assert_eq!(stage.outputs(), [Output::Kill { pane }]);
    let other = stage.open(Place::Right(pane));
    stage.types("\x02&\x1b[C\r");
    assert_eq!(stage.outputs(), [Output::Kill { pane }, Output::Kill { pane: other }]);
}

#[test]
fn the_picker_offers_the_agents_and_a_shell() {
    let agents = ["claude", "codex"].map(|id| Agent { id: id.into(), display: id.to_uppercase() });
    let mut stage =
        Stage::new(Size::new(24, 80), Settings { agents: agents.to_vec(), ..Settings::default() });
    stage.types("\x02%");
    assert_eq!(stage.outputs(), []);
    stage.draw();
    let shown = stage.shown();
    assert!(shown.contains("CLAUDE") && shown.contains("CODEX") && shown.contains("Shell"), "{shown}");
    stage.types("cod\r");
    let outputs = stage.outputs();
    let spawned = outputs
        .iter()
        .any(|output| matches!(output, Output::Spawn { launch: Launch::Agent(id), .. } if id == "codex"));
    assert!(spawned, "{outputs:?}");
}

#[test]
fn the_palette_runs_what_is_chosen() {
    let mut stage = stage();
    stage.types("\x02 detach\r");
    assert_eq!(stage.outputs(), [Output::Detach]);
}

#[test]
fn a_tab_is_renamed_and_its_label_wins() {
    let mut stage = Stage::new(Size::new(24, 80), Settings::default());
    stage.types("\x02,\x15my tab\r");
    stage.draw();
    assert!(stage.shown().lines().next().unwrap().contains("my tab"));
}

#[test]
fn full_frames_say_why() {
    let mut stage = Stage::new(Size::new(24, 80), Settings::default());
    assert_eq!(stage.mux.frames().last_reason, Some(FullRedrawReason::Attach));
    stage.types("\x02?");
    stage.draw();
    assert_eq!(stage.mux.frames().last_reason, Some(FullRedrawReason::Dialog));
    let full = stage.mux.frames().full;
    stage.types("q");
    stage.draw();
    stage.print("x");
    stage.draw();
    assert_eq!(stage.mux.frames().full, full + 1, "output needs none");
    assert_eq!(stage.mux.frames().rows, 1);
}

#[test]
fn restart_and_record_say_which_pane() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.types("\x02e\x02R");
    assert_eq!(stage.outputs(), [Output::Restart { pane: Some(pane) }, Output::Record { pane }]);
    stage.input(crate::Input::PaneClosed { pane });
    stage.types("\x02e\x02R");
    assert_eq!(stage.outputs(), [Output::Restart { pane: None }]);
}

fn with_agents() -> Settings {
    let agents = ["claude", "codex"].map(|id| Agent { id: id.into(), display: id.to_uppercase() });
    Settings { agents: agents.to_vec(), ..Settings::default() }
}

#[test]
fn where_nothing_runs_the_picker_is_open_and_a_click_chooses() {
    let size = Size::new(24, 80);
    let mut stage = Stage::empty(size, with_agents());
    stage.attach(crate::Client::modern(size));
    let shown = stage.shown();
    let row = shown.lines().position(|line| line.contains("CODEX")).expect(&shown) + 1;
    stage.types(&format!("\x1b[<0;20;{row}M\x1b[<0;20;{row}m"));
    let outputs = stage.outputs();
    let pane = stage.focused();
    let size = stage.mux.size(pane).unwrap();
    assert_eq!(outputs, [Output::Spawn { pane, launch: Launch::Agent("codex".into()), size }]);
    // The last one ends: it is open again. Closed, it leaves a hint, and the keys open it once more.
    stage.input(crate::Input::PaneClosed { pane });
    stage.draw();
    assert!(stage.shown().contains("CLAUDE"), "{}", stage.shown());
    stage.types("\x1b");
    stage.wait(25);
    stage.draw();
    assert!(stage.shown().contains("Press ctrl+b and then c to start something"), "{}", stage.shown());
    stage.types("\x02c");
    stage.draw();
    assert!(stage.shown().contains("CLAUDE"), "{}", stage.shown());
}

#[test]
fn the_hint_names_the_key_that_starts_something() {
    let size = Size::new(24, 80);
    let mut settings = Settings::default();
    settings.keymap.bind("c", "none").unwrap();
    settings.keymap.bind("t", "new-tab").unwrap();
    let mut stage = Stage::empty(size, settings);
    stage.attach(crate::Client::modern(size));
    assert!(stage.shown().contains("Press ctrl+b and then t to"), "{}", stage.shown());
}
