//! What sequences do, one by one.

use jackin_mux::vt::{Attributes, Color, Event, Row, Underline};

use crate::shown::{fed, history_text, lines, rows};

fn replies(bytes: &[u8]) -> String {
    let mut terminal = fed(24, 80, bytes);
    let mut out = String::new();
    while let Some(event) = terminal.poll_event() {
        if let Event::Reply(bytes) = event {
            out.push_str(&String::from_utf8(bytes).unwrap());
        }
    }
    out
}

#[test]
fn text_wraps_and_scrolls_to_history() {
    let terminal = fed(2, 5, b"abcdefgh\r\nx\r\ny");
    assert_eq!(lines(&terminal), ["x", "y"]);
    assert_eq!(history_text(&terminal), ["abcde", "fgh"]);
}

#[test]
fn questions_are_answered() {
    assert_eq!(replies(b"\x1b[c"), "\x1b[?62;22;52c");
    assert_eq!(replies(b"\x1b[5n\x1b[3;4H\x1b[6n"), "\x1b[0n\x1b[3;4R");
    assert_eq!(replies(b"\x1b[?2026$p"), "\x1b[?2026;2$y");
    assert_eq!(replies(b"\x1b[?9999$p"), "\x1b[?9999;0$y");
    assert_eq!(replies(b"\x1b[1;4:3;58:5:9m\x1bP$qm\x1b\\"), "\x1bP1$r0;1;4:3;58:5:9m\x1b\\");
    assert_eq!(replies(b"\x1b[>5u\x1b[?u"), "\x1b[?5u");
    assert_eq!(replies(b"\x1b[18t"), "\x1b[8;24;80t");
    assert_eq!(replies(b"\x1bP+q544e\x1b\\"), "\x1bP1+r544e=787465726D2D323536636F6C6F72\x1b\\");
}

#[test]
fn every_look_survives_in_the_cell() {
    let terminal =
        fed(3, 40, b"\x1b[1;2;9;4:3;58;2;1;2;3;53;38;5;9mX\x1b[m\x1b]8;id=a;http://x\x07L\x1b]8;;\x07 ");
    let row = &rows(&terminal)[0];
    let pen = row.cells()[0].pen;
    assert_eq!(
        pen.attributes,
        Attributes::BOLD | Attributes::DIM | Attributes::STRIKE | Attributes::OVERLINE
    );
    assert_eq!((pen.underline, pen.underline_color), (Underline::Curly, Color::Rgb(1, 2, 3)));
    assert_eq!(pen.foreground, Color::Indexed(9));
    let link = row.link(row.cells()[1].pen.link).unwrap();
    assert_eq!((link.id, link.uri), ("a", "http://x"));
    assert!(row.link(row.cells()[2].pen.link).is_none());
}

#[test]
fn looks_and_graphemes_survive_in_history() {
    let family = "👨‍👩‍👧‍👦";
    let terminal = fed(
        2,
        20,
        format!("\x1b[4:3m{family}\x1b]8;;http://x\x1b\\z\x1b]8;;\x1b\\\r\n1\r\n2\r\n3").as_bytes(),
    );
    let mut row = Row::new();
    assert!(terminal.read_row(-2, &mut row));
    assert_eq!(row.to_text(), format!("{family}z"));
    assert_eq!(row.cells()[0].width(), 2);
    assert_eq!(row.cells()[0].pen.underline, Underline::Curly);
    assert_eq!(row.link(row.cells()[2].pen.link).unwrap().uri, "http://x");
}

#[test]
fn line_drawing_is_drawn() {
    let terminal = fed(2, 20, b"\x1b(0lqk\x1b(Blqk\x0e\x1b)0x\x0fx");
    assert_eq!(lines(&terminal)[0], "┌─┐lqk│x");
}
