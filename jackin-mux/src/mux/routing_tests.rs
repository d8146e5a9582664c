//! One test for each promise about what passes between programs and the operator's terminal.

use jackin_core::Size;

use super::Place;
use super::stage::Stage;
use crate::input::{Client, Input};
use crate::output::Output;
use crate::settings::{Forward, Settings};

pub(super) const SIZE: Size = Size { rows: 10, cols: 40 };

pub(super) fn stage() -> Stage {
    Stage::plain(SIZE)
}

/// With a terminal that said what it can do.
pub(super) fn ghostty() -> Stage {
    let mut stage = stage();
    stage.types("\x1b[?2026;2$y\x1b[?0u\x1b[?62;22c");
    stage.draw();
    stage.outputs();
    stage
}

pub(super) fn contains(frame: &str, bytes: &str) -> bool {
    frame.contains(&bytes.as_bytes().escape_ascii().to_string())
}

/// What the focused pane prints reaches the terminal byte for byte.
#[track_caller]
pub(super) fn assert_passes(sequence: &str) {
    let mut stage = ghostty();
    stage.print(sequence);
    assert!(contains(&stage.draw(), sequence), "{:?}", stage.frame.escape_ascii());
    let hidden = stage.focused();
    stage.open(Place::Right(hidden));
    stage.draw();
    stage.print_in(hidden, sequence);
    assert!(!contains(&stage.draw(), sequence), "an unfocused pane's must not");
}

#[test]
fn shift_enter_goes_through_unchanged() {
    let mut stage = ghostty();
    let pane = stage.focused();
    stage.types("\x1b[13;2u");
    assert_eq!(stage.written(pane), "\\x1b[13;2u");
}

#[test]
fn keys_that_no_old_terminal_can_send_go_through_unchanged() {
    let mut stage = ghostty();
    let pane = stage.focused();
    for keys in ["\x1b[9;6u", "\x1b[47;3u", "\x1b[27;6;9~", "\x1b[97;;98u", "\x1b[57358u", "\x1b[1;5P"] {
        stage.types(keys);
        assert_eq!(stage.written(pane), keys.as_bytes().escape_ascii().to_string());
    }
}

#[test]
fn a_sequence_cut_at_any_byte_arrives_whole() {
    let keys = "\x1b[13;2u日\x1b[27;5;98~";
    for cut in 1..keys.len() {
        let mut stage = ghostty();
        let pane = stage.focused();
        let (first, second) = keys.as_bytes().split_at(cut);
        stage.input(Input::Client(first));
        stage.input(Input::Client(second));
        let sent = stage.written(pane);
        assert_eq!(sent, "\x1b[13;2u日".as_bytes().escape_ascii().to_string(), "cut at {cut}");
    }
}

#[test]
fn the_terminal_is_switched_to_the_keyboard_that_the_focused_pane_asked_for() {
    let mut stage = ghostty();
    let first = stage.focused();
    stage.print("\x1b[>1u");
    assert!(contains(&stage.draw(), "\x1b[=1;1u"));
    stage.print("\x1b[>31u");
    assert!(contains(&stage.draw(), "\x1b[=31;1u"));
    stage.open(Place::Right(first));
    assert!(contains(&stage.draw(), "\x1b[=0;1u"), "the other pane asked for none");
    stage.types("\x02h");
    assert!(contains(&stage.draw(), "\x1b[=31;1u"));
    stage.print("\x1b[<2u");
    assert!(contains(&stage.draw(), "\x1b[=0;1u"));
    stage.check();
}

#[test]
fn modify_other_keys_follows_the_focused_pane() {
    let mut stage = ghostty();
    let first = stage.focused();
    stage.print("\x1b[>4;2m");
    assert!(contains(&stage.draw(), "\x1b[>4;2m"));
    stage.open(Place::Tab);
    assert!(contains(&stage.draw(), "\x1b[>4;0m"));
    let at = stage.at();
    stage.mux.focus(first, at);
    assert!(contains(&stage.draw(), "\x1b[>4;2m"));
}

#[test]
fn the_keyboard_query_tells_the_panes_own_flags() {
    let mut stage = ghostty();
    let pane = stage.focused();
    stage.print("\x1b[>5u\x1b[?u");
    assert_eq!(stage.written(pane), "\\x1b[?5u");
}

#[test]
fn the_keyboard_query_is_not_answered_when_the_terminal_has_no_such_protocol() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.types("\x1b[?62;22c");
    stage.print("\x1b[>1u\x1b[?u\x1b[c");
    let written = stage.written(pane);
    assert!(!written.contains('u') && written.contains("\\x1b[?"), "{written}");
    stage.draw();
    assert!(!contains(&stage.frame.escape_ascii().to_string(), "\x1b[=1;1u"));
}

#[test]
fn focus_events_reach_the_focused_pane_only() {
    let mut stage = stage();
    let first = stage.focused();
    let second = stage.open(Place::Right(first));
    for pane in [first, second] {
        stage.print_in(pane, "\x1b[?1004h");
    }
    stage.types("\x1b[O");
    assert_eq!(stage.outputs(), [Output::WritePty { pane: second, bytes: b"\x1b[O".to_vec() }]);
    stage.types("\x1b[I");
    assert_eq!(stage.outputs(), [Output::WritePty { pane: second, bytes: b"\x1b[I".to_vec() }]);
}

#[test]
fn focus_events_are_made_when_the_operator_switches_panes_and_tabs() {
    let mut stage = stage();
    let first = stage.focused();
    let second = stage.open(Place::Right(first));
    for pane in [first, second] {
        stage.print_in(pane, "\x1b[?1004h");
    }
    let swap = |from, to| {
        [
            Output::WritePty { pane: from, bytes: b"\x1b[O".to_vec() },
            Output::WritePty { pane: to, bytes: b"\x1b[I".to_vec() },
        ]
    };
    stage.types("\x02h");
    assert_eq!(stage.outputs(), swap(second, first));
    let third = stage.mux.open(Place::Tab, "", true, stage.at()).unwrap();
    assert_eq!(stage.outputs(), swap(first, third)[..1], "the new one has not asked for it");
    stage.types("\x02p");
    assert_eq!(stage.outputs(), swap(third, first)[1..]);
}

#[test]
fn a_program_that_did_not_ask_gets_no_focus_events() {
    let mut stage = stage();
    stage.types("\x1b[O\x1b[I");
    assert_eq!(stage.outputs(), []);
}

#[test]
fn the_client_is_asked_for_focus_mouse_and_paste_and_not_for_scrolling_by_keys() {
    let mut stage = Stage::empty(SIZE, Settings::default());
    stage.attach(Client::modern(SIZE));
    let frame = stage.frame.escape_ascii().to_string();
    for mode in ["\x1b[?1003h", "\x1b[?1006h", "\x1b[?1004h", "\x1b[?2004h", "\x1b[?1007l"] {
        assert!(contains(&frame, mode), "{mode:?}");
        let off = mode.replace('h', "#").replace('l', "h").replace('#', "l");
        assert!(crate::RESTORE.contains(&off), "{off:?} is not in what restores the terminal");
    }
}

#[test]
fn notifications_pass_for_the_focused_pane() {
    assert_passes("\x1b]9;build finished\x07");
    assert_passes("\x1b]99;i=1:d=0;hello\x1b\\");
    assert_passes("\x1b]777;notify;title;body\x07");
}

#[test]
fn progress_passes_for_the_focused_pane() {
    assert_passes("\x1b]9;4;1;50\x07");
}

#[test]
fn clipboard_writes_pass_for_the_focused_pane() {
    assert_passes("\x1b]52;c;aGVsbG8=\x07");
    assert_passes("\x1b]52;p;aGVsbG8=\x1b\\");
}

#[test]
fn unknown_oscs_pass_unchanged() {
    assert_passes("\x1b]31337;whatever;it is\x07");
}

#[test]
fn each_kind_can_be_switched_off() {
    let none = Forward {
        notifications: false,
        progress: false,
        clipboard: false,
        clipboard_read: false,
        graphics: false,
        other: false,
    };
    let mut stage = Stage::new(SIZE, Settings { forward: none, chrome: false, ..Settings::default() });
    stage.print("\x1b]9;a\x07\x1b]9;4;1;5\x07\x1b]52;c;YQ==\x07\x1b]99;b\x07\x1b]4242;c\x07\x1b_Gq\x1b\\\x1bPqx\x1b\\");
    assert_eq!(stage.draw(), "");
}

#[test]
fn titles_are_captured_and_the_outer_title_is_ours() {
    let mut stage = ghostty();
    let pane = stage.focused();
    stage.print("\x1b]0;agent\x07");
    assert_eq!(stage.outputs(), [Output::Title { pane, title: "agent".into() }]);
    assert!(contains(&stage.draw(), "\x1b]2;agent\x07"));
    let context = crate::Context {
        workspace: Some("web".into()),
        branch: Some("fix/login".into()),
        pull_request: Some("#12".into()),
        ..crate::Context::default()
    };
    stage.input(Input::Context(&context));
    assert!(stage.draw().contains("]2;web \\xc2\\xb7 fix/login \\xc2\\xb7 #12\\x07"));
    stage.print("\x1b]2;mine\x07");
    assert!(!contains(&stage.draw(), "mine"));
}

#[test]
fn hyperlinks_are_kept_with_the_text() {
    let mut stage = ghostty();
    stage.print("\x1b]8;id=1;https://example.org/\x1b\\here\x1b]8;;\x1b\\");
    assert!(contains(&stage.draw(), "\x1b]8;id=1;https://example.org/\x1b\\here"));
    stage.check();
    stage.types("\x02r");
    assert!(contains(&stage.draw(), "\x1b]8;id=1;https://example.org/\x1b\\here"), "again on redraw");
}

#[test]
fn our_frames_are_synchronized_when_the_terminal_can() {
    let mut stage = ghostty();
    stage.print("x");
    let frame = stage.draw();
    assert!(frame.starts_with("\\x1b[?2026h") && frame.ends_with("\\x1b[?2026l"), "{frame}");
    let mut old = self::stage();
    old.types("\x1b[?2026;0$y");
    old.print("x");
    assert!(!contains(&old.draw(), "2026"));
}

#[test]
fn true_colour_survives_a_tab_switch() {
    let mut stage = ghostty();
    let first = stage.focused();
    stage.print("\x1b[38;2;1;2;3;4:3mcurly");
    stage.open(Place::Tab);
    stage.draw();
    let at = stage.at();
    stage.mux.focus(first, at);
    assert!(contains(&stage.draw(), "38;2;1;2;3"));
    stage.check();
}

#[test]
fn colours_are_reduced_to_what_the_terminal_has() {
    let mut stage = stage();
    stage.print("\x1b[38;2;255;0;0mred");
    stage.attach(Client { size: SIZE, term: Some("xterm-256color"), colorterm: None });
    assert!(contains(&stage.frame.escape_ascii().to_string(), "38;5;196m"), "{}", stage.frame.escape_ascii());
    stage.attach(Client { size: SIZE, term: Some("linux"), colorterm: None });
    stage.check();
    assert!(
        contains(&stage.frame.escape_ascii().to_string(), "\x1b[91mred"),
        "{}",
        stage.frame.escape_ascii()
    );
}

#[test]
fn a_paste_is_wrapped_when_the_program_asked_for_it_however_it_is_cut() {
    let paste = "\x1b[200~one\r\ntwo\x1b[201~";
    for cut in 1..paste.len() {
        for wrapped in [true, false] {
            let mut stage = stage();
            let pane = stage.focused();
            if wrapped {
                stage.print("\x1b[?2004h");
            }
            let (first, second) = paste.split_at(cut);
            stage.types(first);
            stage.types(second);
            let wanted = if wrapped { paste } else { "one\r\ntwo" };
            assert_eq!(stage.written(pane), wanted.as_bytes().escape_ascii().to_string(), "cut at {cut}");
        }
    }
}

#[test]
fn alternate_screen_and_back_shows_what_was_there() {
    let mut stage = ghostty();
    stage.print("before\r\n$ ");
    stage.draw();
    let before = stage.shown();
    stage.print("\x1b[?1049h\x1b[?2004h\x1b[?1h\x1b[2J\x1b[Hfull screen");
    stage.draw();
    stage.check();
    stage.print("\x1b[?1049l\x1b[?2004l\x1b[?1l");
    stage.draw();
    stage.check();
    assert_eq!(stage.shown(), before);
}

#[test]
fn a_client_that_comes_back_gets_the_screen_with_its_modes() {
    let mut stage = ghostty();
    stage.print("\x1b[?1h\x1b=\x1b[6 q\x1b[1;31mred");
    stage.draw();
    let shown = stage.shown();
    stage.input(Input::Detached);
    stage.print("\x1b[2;1Hmore");
    stage.attach(Client::modern(SIZE));
    assert_eq!(stage.shown(), shown.replacen("\n\n", "\nmore\n", 1));
    stage.check();
}

#[test]
fn a_resize_reaches_every_pane_and_redraws() {
    let mut stage = Stage::new(SIZE, Settings::default());
    let first = stage.focused();
    stage.open(Place::Right(first));
    stage.open(Place::Tab);
    stage.resize(Size::new(20, 60));
    let resized = stage.outputs();
    assert_eq!(resized.len(), 3, "{resized:?}");
    stage.draw();
    stage.check();
}

#[test]
fn what_panics_the_emulator_costs_only_its_screen() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.mux.panes.get_mut(&pane).unwrap().fail_next = true;
    stage.print("boom");
    let jiggle = [Size::new(9, 40), SIZE].map(|size| Output::ResizePty { pane, size });
    assert_eq!(stage.outputs(), jiggle, "the program is made to redraw");
    stage.print("alive");
    stage.draw();
    stage.check();
    assert!(stage.shown().starts_with("alive\n"));
}

#[test]
fn an_agents_frame_survives_a_switch_and_a_new_client() {
    let mut stage = ghostty();
    let pane = stage.focused();
    stage.print("\x1b[?1049h\x1b[?2004h\x1b[?1h\x1b[?25l\x1b[>1u\x1b[2J\x1b[3;4H\x1b[1;38;2;200;100;50m✻ Working\x1b[m\x1b[8;3H\x1b[?25h");
    stage.draw();
    stage.check();
    let shown = stage.shown();
    stage.open(Place::Tab);
    stage.draw();
    let at = stage.at();
    stage.mux.focus(pane, at);
    stage.draw();
    stage.check();
    assert_eq!(stage.shown(), shown);
    stage.attach(Client::modern(SIZE));
    stage.types("\x1b[?0u\x1b[?62c");
    stage.draw();
    stage.check();
    assert_eq!(stage.shown(), shown);
    stage.outputs();
    stage.types("\x1b[200~text\x1b[201~");
    assert_eq!(stage.written(pane), "\\x1b[200~text\\x1b[201~");
}

#[test]
fn a_program_that_ended_takes_its_pane_and_no_other() {
    let mut stage = stage();
    let first = stage.focused();
    let second = stage.open(Place::Right(first));
    stage.print_in(first, "still here");
    stage.input(Input::PaneClosed { pane: second });
    assert_eq!(stage.mux.panes().collect::<Vec<_>>(), [first]);
    assert_eq!(stage.outputs(), [Output::ResizePty { pane: first, size: SIZE }]);
    stage.draw();
    stage.check();
    assert!(stage.shown().starts_with("still here"));
}

#[test]
fn a_resize_tells_every_program_its_own_size() {
    let mut stage = stage();
    let left = stage.focused();
    let right = stage.open(Place::Right(left));
    let hidden = stage.open(Place::Tab);
    stage.resize(Size::new(20, 61));
    let resized: Vec<_> = stage
        .outputs()
        .into_iter()
        .map(|output| match output {
            Output::ResizePty { pane, size } => (pane, size.rows, size.cols),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(resized, [(left, 20, 30), (right, 20, 30), (hidden, 20, 61)]);
}

#[test]
fn the_focused_pane_always_has_room() {
    let mut stage = stage();
    let first = stage.focused();
    let second = stage.open(Place::Down(first));
    stage.print_in(first, "\x1b[Hone");
    stage.print_in(second, "\x1b[Htwo");
    stage.resize(Size::new(2, 10));
    stage.draw();
    stage.check();
    assert!(stage.shown().contains("two"), "{}", stage.shown());
    assert_eq!(stage.mux.size(second), Some(Size::new(2, 10)));
    stage.types("\x02k");
    stage.draw();
    stage.check();
    assert_eq!(stage.mux.focused(), Some(first));
    assert!(stage.shown().contains("one"), "{}", stage.shown());
}
