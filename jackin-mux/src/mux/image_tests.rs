//! Images that programs send to the operator's terminal.

use super::Place;
use super::routing_tests::{SIZE, assert_passes, contains, ghostty};
use super::stage::Stage;
use crate::input::Client;
use crate::settings::Settings;

#[test]
fn kitty_graphics_pass_with_the_cursor_in_place_and_replies_return() {
    assert_passes("\x1b_Gi=1,a=q;AAAA\x1b\\");
    let mut stage = ghostty();
    let first = stage.focused();
    let second = stage.open(Place::Right(first));
    stage.draw();
    stage.print("\x1b[3;5H\x1b_Gi=1,a=T;AAAA\x1b\\");
    let frame = stage.draw();
    assert!(contains(&frame, "\x1b[3;26H\x1b_Gi=1,a=T;AAAA\x1b\\"), "{frame}");
    stage.check();
    stage.types("\x1b_Gi=1;OK\x1b\\");
    assert_eq!(stage.written(second), "\\x1b_Gi=1;OK\\x1b\\\\");
}

#[test]
fn an_image_across_the_panes_edge_is_dropped_and_counted() {
    let mut stage = ghostty();
    stage.print("\x1b_Gc=41,r=1,a=T;AAAA\x1b\\");
    assert!(!contains(&stage.draw(), "\x1b_G"));
    assert_eq!(stage.mux.frames().dropped_sequences, 1);
}

#[test]
fn sixel_graphics_pass() {
    assert_passes("\x1bPq#0;2;0;0;0#0~~@@vv@@~~\x1b\\");
}

#[test]
fn images_are_not_shown_again_on_a_tab_switch() {
    for image in ["\x1b_Ga=T,c=2,r=1;AAAA\x1b\\", "\x1bPq#0~~\x1b\\"] {
        let mut stage = ghostty();
        let first = stage.focused();
        stage.print(image);
        assert!(contains(&stage.draw(), image));
        stage.open(Place::Tab);
        stage.draw();
        let at = stage.at();
        stage.mux.focus(first, at);
        assert!(!contains(&stage.draw(), image));
    }
}

#[test]
fn an_image_is_measured_by_the_cells_of_the_terminal() {
    // 400 by 200 pixels: 50 by 13 cells of 8 by 16, and 20 by 5 of 20 by 40.
    for image in ["\x1b_Ga=T,s=400,v=200;AAAA\x1b\\", "\x1bPq\"1;1;400;200#0~\x1b\\"] {
        let mut stage = ghostty();
        stage.print(image);
        assert!(!contains(&stage.draw(), image));
        assert_eq!(stage.mux.frames().dropped_sequences, 1);
        stage.types("\x1b[6;40;20t");
        stage.print(image);
        assert!(contains(&stage.draw(), image));
    }
}

#[test]
fn the_terminal_is_asked_for_its_cells_and_programs_are_told() {
    let mut stage = Stage::empty(SIZE, Settings::default());
    stage.attach(Client::modern(SIZE));
    assert!(contains(&stage.frame.escape_ascii().to_string(), "\x1b[16t"));
    stage.types("\x1b[6;40;20t");
    let pane = stage.open(Place::Tab);
    stage.print("\x1b[16t");
    assert_eq!(stage.written(pane), "\\x1b[6;40;20t");
}

#[test]
fn all_pieces_of_an_image_that_does_not_fit_are_dropped() {
    let mut stage = ghostty();
    stage.print("\x1b_Ga=T,c=99,m=1;AAAA\x1b\\\x1b_Gm=1;BBBB\x1b\\\x1b_Gm=0;CCCC\x1b\\");
    assert!(!contains(&stage.draw(), "\x1b_G"));
    assert_eq!(stage.mux.frames().dropped_sequences, 1);
    stage.print("\x1b_Ga=T,c=9,m=1;AAAA\x1b\\\x1b_Gm=0;CCCC\x1b\\");
    let frame = stage.draw();
    assert!(contains(&frame, "AAAA") && contains(&frame, "CCCC"), "{frame}");
}

#[test]
fn a_placement_across_the_panes_edge_is_dropped_although_it_names_no_size() {
    let mut stage = ghostty();
    // 50 by 13 cells of 8 by 16 pixels, of which the pane has 40 by 9.
    stage.print("\x1b_Ga=t,i=4,s=400,v=200;AAAA\x1b\\\x1b_Ga=p,i=4;\x1b\\");
    let frame = stage.draw();
    assert!(contains(&frame, "a=t,i=4") && !contains(&frame, "a=p,i=4"), "{frame}");
    assert_eq!(stage.mux.frames().dropped_sequences, 1);
    stage.print("\x1b_Ga=p,i=4,c=20,r=5;\x1b\\");
    assert!(contains(&stage.draw(), "a=p,i=4"));
}
