use jackin_core::{PaneId, Size};

use super::stage::Stage;
use crate::output::Output;
use crate::settings::Settings;

fn stage() -> Stage {
    Stage::new(Size::new(24, 80), Settings::default())
}

#[test]
fn what_the_operator_types_is_told_apart_from_what_we_answer() {
    let mut stage = stage();
    let pane = stage.focused();
    stage.types("a");
    stage.types("b");
    let typed = Output::WritePty { pane, bytes: b"ab".to_vec() };
    assert_eq!(stage.outputs(), [Output::Typed { pane }, typed], "and only once before it was taken");
    stage.print("\x1b[6n");
    assert!(matches!(&stage.outputs()[..], [Output::WritePty { .. }]));
    stage.types("c");
    assert_eq!(stage.outputs()[0], Output::Typed { pane });
}

#[test]
fn a_text_is_given_as_a_paste_where_the_program_knows_pastes() {
    let mut stage = stage();
    let pane = stage.focused();
    let given = |stage: &Stage, text| stage.mux.as_paste(pane, text).unwrap().escape_ascii().to_string();
    assert_eq!(given(&stage, "one\r\ntwo\nthree"), r"one\rtwo\rthree");
    stage.print("\x1b[?2004h");
    assert_eq!(given(&stage, "one\ntwo"), r"\x1b[200~one\rtwo\x1b[201~");
    let hostile = "a\x1b[20\x1b[201~1~rm -rf";
    assert_eq!(given(&stage, hostile), r"\x1b[200~arm -rf\x1b[201~", "no marker survives inside");
    assert_eq!(stage.mux.as_paste(PaneId::new(99).unwrap(), "x"), None);
}
