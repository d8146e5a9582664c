//! What sequences do, one by one.

use jackin_mux::vt::{
    Attributes, Color, Event, Mode, Part, Passthrough, Progress, PromptMark, Query, QueryKind, Row,
    SequenceKind, Underline,
};

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
fn a_terminal_says_what_it_is_and_how_it_stands() {
    assert_eq!(replies(b"\x1b[>c"), "\x1b[>1;100;0c");
    assert_eq!(replies(b"\x1b[=c"), "\x1bP!|00000000\x1b\\");
    assert!(replies(b"\x1b[>q").starts_with("\x1bP>|jackin"), "{}", replies(b"\x1b[>q"));
    assert_eq!(replies(b"\x1b[2;5r\x1b[?6h\x1b[2;3H\x1b[?6n\x1b[6n"), "\x1b[?2;3;1R\x1b[2;3R");
    assert_eq!(replies(b"\x1b[2;5r\x1bP$qr\x1b\\"), "\x1bP1$r2;5r\x1b\\");
    assert_eq!(replies(b"\x1b[5 q\x1bP$q q\x1b\\"), "\x1bP1$r5 q\x1b\\");
    assert_eq!(replies(b"\x1bP$qx\x1b\\"), "\x1bP0$r\x1b\\");
    assert_eq!(replies(b"\x1b[19t"), "\x1b[9;24;80t");
    let pixels = replies(b"\x1b[14t\x1b[16t");
    assert!(pixels.starts_with("\x1b[4;") && pixels.contains("\x1b[6;"), "{pixels:?}");
    assert_eq!(replies(b"\x1b[21t"), "", "a title is never told: it could be a command");
    assert_eq!(replies(b"\x1b[>4;2m\x1b[?4m"), "\x1b[>4;2m");
}

#[test]
fn every_mode_tells_whether_it_is_set() {
    let usual = [7, 25];
    for mode in
        [1, 5, 6, 7, 12, 25, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004, 2026, 2031, 2048]
    {
        let set = replies(format!("\x1b[?{mode}h\x1b[?{mode}$p").as_bytes());
        assert!(set.ends_with(&format!("\x1b[?{mode};1$y")), "{mode}: {set:?}");
        let reset = replies(format!("\x1b[?{mode}h\x1b[?{mode}l\x1b[?{mode}$p").as_bytes());
        assert!(reset.ends_with(&format!("\x1b[?{mode};2$y")), "{mode}: {reset:?}");
        if usual.contains(&mode) {
            assert_eq!(replies(format!("\x1b[?{mode}$p").as_bytes()), format!("\x1b[?{mode};1$y"));
        }
    }
    for screen in [47, 1047, 1049] {
        let there = replies(format!("\x1b[?{screen}h\x1b[?{screen}$p").as_bytes());
        assert_eq!(there, format!("\x1b[?{screen};1$y"));
    }
    for mode in [4, 20] {
        assert_eq!(
            replies(format!("\x1b[{mode}$p\x1b[{mode}h\x1b[{mode}$p").as_bytes()),
            format!("\x1b[{mode};2$y\x1b[{mode};1$y")
        );
    }
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
fn bold_after_dim_is_bold_alone_in_history() {
    let terminal = fed(2, 9, b"\x1b[2mA\x1b[0;1mB\x1b[0;2mC\x1b[m\r\n\r\n\r\n");
    let mut row = Row::new();
    assert!(terminal.read_row(-2, &mut row));
    assert_eq!(row.to_text(), "ABC");
    let attributes: Vec<_> = row.cells()[..3].iter().map(|cell| cell.pen.attributes).collect();
    assert_eq!(attributes, [Attributes::DIM, Attributes::BOLD, Attributes::DIM]);
}

#[test]
fn a_blank_between_coloured_letters_keeps_its_look_in_history() {
    let mut terminal = fed(2, 30, b"");
    for byte in b"\x1b[41m\ta\tb\x1b[m\r\n\r\n\r\n".chunks(1) {
        terminal.feed_all(byte);
    }
    let mut row = Row::new();
    assert!(terminal.read_row(-2, &mut row));
    let backgrounds: Vec<_> =
        [0, 8, 9, 15, 16, 17].into_iter().map(|column| row.cells()[column].pen.background).collect();
    let (none, red) = (Color::Default, Color::Indexed(1));
    assert_eq!(backgrounds, [none, red, none, none, red, none]);
}

#[test]
fn line_drawing_is_drawn() {
    let terminal = fed(2, 20, b"\x1b(0lqk\x1b(Blqk\x0e\x1b)0x\x0fx");
    assert_eq!(lines(&terminal)[0], "┌─┐lqk│x");
}

#[test]
fn erasing_scrolling_and_inserting_fill_with_the_background() {
    let blue = |row: &Row, column: usize| row.cells()[column].pen.background == Color::Indexed(4);
    for (what, row, column) in [
        ("\x1b[2J", 2, 9),
        ("\x1b[2;3H\x1b[K", 1, 9),
        ("\x1b[2;3H\x1b[X", 1, 2),
        ("\x1b[2;3H\x1b[@", 1, 2),
        ("\x1b[2;3H\x1b[P", 1, 9),
        ("\x1b[2;3H\x1b[L", 1, 5),
        ("\x1b[2;3H\x1b[M", 2, 5),
        ("\x1b[S", 2, 5),
        ("\x1b[T", 0, 5),
        ("\x1b[3;1H\n", 2, 5),
        ("\x1b[1;1H\x1bM", 0, 5),
        ("\x1b[3;10Hxy", 2, 5),
    ] {
        let terminal = fed(3, 10, format!("one\r\ntwo\r\nthree\x1b[1;7;4;44m{what}").as_bytes());
        let row = &rows(&terminal)[row];
        assert!(blue(row, column), "{what:?}");
        assert!(row.cells()[column].pen.attributes.is_empty(), "{what:?} fills with the background alone");
    }
}

#[test]
fn the_cursor_is_saved_with_everything() {
    let terminal =
        fed(4, 5, b"\x1b[2;4r\x1b[?6h\x1b[1;31m\x1b(0abcde\x1b7\x1b[?6l\x1b[m\x1b(B\x1b[1;1H\x1b8q");
    assert_eq!(
        lines(&terminal)[1..3],
        ["\u{2592}\u{2409}\u{240c}\u{240d}\u{240a}", "\u{2500}"],
        "charset and pending wrap"
    );
    let pen = rows(&terminal)[2].cells()[0].pen;
    assert_eq!((pen.foreground, pen.attributes), (Color::Indexed(1), Attributes::BOLD));
    let mut terminal = terminal;
    terminal.feed_all(b"\x1b[1;1H");
    assert_eq!(terminal.cursor().row, 1, "origin mode is back");
}

#[test]
fn a_cursor_restored_in_origin_mode_is_within_the_margins_as_in_xterm() {
    let terminal = fed(6, 10, b"\x1b[?6h\x1b7\x1b[2;4r\x1b8x");
    assert_eq!(lines(&terminal)[..2], ["", "x"]);
}

#[test]
fn the_alternate_screens_differ_in_what_they_save() {
    let terminal = fed(3, 10, b"main\x1b[?1049h\x1b[2;2Halt\x1b[?1049l!");
    assert_eq!(lines(&terminal), ["main!", "", ""]);
    let terminal = fed(3, 10, b"main\x1b[?47halt\x1b[?47l!");
    assert_eq!(lines(&terminal), ["main   !", "", ""], "47 keeps the cursor where it is");
    let terminal = fed(3, 10, b"\x1b[?1047halt\x1b[?1047l\x1b[?47h");
    assert_eq!(lines(&terminal)[0], "", "1047 clears on leaving");
    let terminal = fed(3, 10, b"\x1b[2;3H\x1b[?1048h\x1b[H\x1b[?1048lx");
    assert_eq!(lines(&terminal)[1], "  x");
}

#[test]
fn keyboard_flags_belong_to_each_screen() {
    let mut terminal = fed(3, 10, b"\x1b[>1u\x1b[?1049h\x1b[>3u");
    assert_eq!(terminal.keyboard_flags(), 3);
    terminal.feed_all(b"\x1b[?1049l");
    assert_eq!(terminal.keyboard_flags(), 1);
    terminal.set_kitty_keyboard(false);
    terminal.feed_all(b"\x1b[?u");
    assert_eq!(terminal.poll_event(), None, "no support is told where the operator's terminal has none");
}

#[test]
fn titles_nest() {
    let mut terminal = fed(3, 10, b"\x1b]2;one; two\x07\x1b[22t\x1b]0;three\x1b\\");
    assert_eq!(terminal.title(), "three");
    assert_eq!(terminal.poll_event(), Some(Event::Title));
    terminal.feed_all(b"\x1b[23t");
    assert_eq!(terminal.title(), "one; two", "a semicolon is part of the title");
}

fn passed(bytes: &[u8]) -> Vec<Passthrough> {
    let mut terminal = fed(3, 10, b"ab");
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        at += terminal.feed(&bytes[at..], 1 << 20);
        while let Some(event) = terminal.poll_event() {
            if let Event::Passthrough(pass) = event {
                found.push(pass);
            }
        }
    }
    found
}

#[test]
fn sequences_for_the_outer_terminal_pass_byte_for_byte() {
    for (kind, sequence) in [
        (SequenceKind::Osc(9), "\x1b]9;hello\x07"),
        (SequenceKind::Osc(777), "\x1b]777;notify;a;b\x1b\\"),
        (SequenceKind::Osc(52), "\x1b]52;c;aGk=\x07"),
        (SequenceKind::Osc(99), "\x1b]99;i=1;x\x1b\\"),
        (SequenceKind::Osc(1337), "\x1b]1337;SetMark\x07"),
        (SequenceKind::Apc, "\x1b_Ga=T,f=100;AAAA\x1b\\"),
        (SequenceKind::Dcs, "\x1bPq#0;2;0;0;0~-\n~\x1b\\"),
    ] {
        let found = passed(sequence.as_bytes());
        assert_eq!(found.len(), 1, "{sequence:?}");
        assert_eq!((found[0].kind, found[0].part), (kind, Part::Whole));
        assert_eq!(found[0].bytes, sequence.as_bytes());
        assert_eq!((found[0].row, found[0].column), (0, 2));
    }
}

#[test]
fn a_long_sequence_passes_in_pieces() {
    let image = [b"\x1bPq".as_slice(), &b"~".repeat(300_000), b"\x1b\\"].concat();
    let found = passed(&image);
    assert!(found.len() > 3);
    assert!(found.iter().all(|piece| piece.bytes.len() < 100_000));
    assert_eq!((found[0].part, found[found.len() - 1].part), (Part::First, Part::Last));
    assert_eq!(found.into_iter().flat_map(|piece| piece.bytes).collect::<Vec<_>>(), image);
    let broken = [b"\x1b_G".as_slice(), &b"A".repeat(300_000), b"\x18"].concat();
    assert_eq!(passed(&broken).last().map(|piece| piece.part), Some(Part::Aborted));
}

#[test]
fn questions_for_the_outer_terminal_are_handed_over() {
    for (kind, sequence) in [
        (QueryKind::Color(11), "\x1b]11;?\x1b\\"),
        (QueryKind::Palette, "\x1b]4;1;?\x07"),
        (QueryKind::Clipboard, "\x1b]52;c;?\x07"),
        (QueryKind::ColorScheme, "\x1b[?996n"),
    ] {
        let mut terminal = fed(3, 10, sequence.as_bytes());
        assert_eq!(terminal.poll_event(), Some(Event::Query(Query { kind, bytes: sequence.into() })));
    }
}

#[test]
fn shells_and_programs_tell_about_themselves() {
    let mut terminal =
        fed(3, 10, b"\x1b]7;file://host/tmp\x07\x1b]133;A\x07\x1b]133;D;2\x07\x1b]9;4;1;40\x07\x07\x07");
    let events: Vec<_> = std::iter::from_fn(|| terminal.poll_event()).collect();
    assert_eq!(events[0], Event::Directory("file://host/tmp".into()));
    assert_eq!(events[1], Event::Prompt(PromptMark::Prompt));
    assert_eq!(events[2], Event::Prompt(PromptMark::Done(Some(2))));
    assert_eq!(events[3], Event::Progress(Progress::Normal(40)));
    assert!(matches!(events[4], Event::Passthrough(_)));
    assert_eq!(events[5..], [Event::Bell], "bells in a row are one");
}

#[test]
fn output_stops_while_events_wait() {
    let mut terminal = fed(3, 10, b"");
    let questions = b"\x1b]11;?\x07".repeat(5000);
    let used = terminal.feed(&questions, usize::MAX);
    assert!(used < questions.len());
    while terminal.poll_event().is_some() {}
    assert!(terminal.feed(&questions[used..], usize::MAX) > 0);
}

#[test]
fn a_budget_ends_a_call_soon() {
    let mut terminal = fed(50, 200, b"");
    let bytes = b"x\x1b[65535b".repeat(1000);
    let used = terminal.feed(&bytes, 20_000);
    assert!((9..=60).contains(&used), "{used} bytes for a budget of two screens");
    let used = terminal.feed(&b"text ".repeat(10_000), 1000);
    assert!((1000..1100).contains(&used), "{used}");
}

#[test]
fn styles_and_links_have_a_limit_and_are_collected() {
    let mut terminal = fed(50, 200, b"");
    for n in 0..59_999 {
        let (r, g) = (n >> 8, n & 255);
        terminal.feed_all(format!("\x1b]8;;http://{n}\x07\x1b[4:3;38;2;{r};{g};1mx").as_bytes());
    }
    let row = &rows(&terminal)[49];
    let cell = row.cells()[terminal.cursor().column as usize - 1];
    assert_eq!(cell.pen.underline, Underline::Curly, "new styles find room when old ones are gone");
    assert_eq!(cell.pen.foreground, Color::Rgb(0xea, 0x5e, 1), "the last of them, 0xea5e");
}

#[test]
fn collecting_spares_the_hidden_screen_and_saved_pens() {
    let mut terminal = fed(5, 20, b"\x1b]8;;http://kept\x07\x1b[4:5mkept\x1b7\x1b[?1049h\x1b[m\x1b]8;;\x07");
    for n in 0..30_000 {
        terminal.feed_all(
            format!("\x1b[H\x1b]8;;http://{n}\x07\x1b[4:3;38;2;{};{};1mx", n >> 8, n & 255).as_bytes(),
        );
    }
    terminal.feed_all(b"\x1b[m\x1b]8;;\x07\x1b[?1049l\x1b8!");
    let row = &rows(&terminal)[0];
    for column in 0..5 {
        let pen = row.cells()[column].pen;
        assert_eq!(pen.underline, Underline::Dashed, "column {column}");
        assert_eq!(row.link(pen.link).map(|link| link.uri), Some("http://kept"), "column {column}");
    }
}

#[test]
fn graphemes_longer_than_a_cell_are_kept() {
    for text in [
        "👨‍👩‍👧‍👦",
        "e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a}\u{30b}\u{30c}",
        "\u{fffd}",
        "🏳️‍🌈",
    ] {
        let terminal = fed(3, 10, format!("{text}|").as_bytes());
        assert_eq!(lines(&terminal)[0], format!("{text}|"));
    }
}

#[test]
fn alignment_soft_reset_and_full_reset() {
    let terminal = fed(2, 3, b"\x1b#8");
    assert_eq!(lines(&terminal), ["EEE", "EEE"]);
    let terminal = fed(3, 5, b"ab\x1b[2;3r\x1b[?6h\x1b[4h\x1b[1m\x1b[!pc");
    assert_eq!(terminal.margins(), (0, 2));
    assert!(!terminal.modes().contains(Mode::Insert) && !terminal.modes().contains(Mode::Origin));
    let terminal = fed(3, 5, b"ab\x1b[?1049h\x1b[?2004h\x1b[5 q\x1bcx");
    assert_eq!(lines(&terminal), ["x", "", ""]);
    assert!(!terminal.is_alternate() && !terminal.modes().contains(Mode::BracketedPaste));
}

#[test]
fn a_selector_in_the_last_corner_does_no_harm() {
    let terminal = fed(24, 80, "\x1b[24;80H1\u{fe0f}\x1b[23;80Hx".as_bytes());
    assert_eq!(lines(&terminal)[22].trim(), "x");
}

#[test]
fn rows_drawn_as_they_were_are_no_damage() {
    let frame = b"\x1b[1;1H\x1b[31mred\x1b[m\x1b[K\x1b[2;1Hplain\x1b[K\x1b[3;1H";
    let mut terminal = fed(3, 20, frame);
    terminal.clear_damage();
    terminal.feed_all(frame);
    assert!(terminal.damage().is_empty());
    terminal.feed_all(b"\x1b[2;1Hchanged\x1b[K");
    assert_eq!(terminal.damage().rows().collect::<Vec<_>>(), [1]);
    assert_eq!(lines(&terminal)[..2], ["red", "changed"]);
}

#[test]
fn the_end_of_each_synchronized_update_is_told() {
    let mut terminal = fed(3, 20, b"");
    let bytes =
        b"\x1b[?2026h\x1b[1;1Hone\x1b[K\x1b[?2026l\x1b[?2026h\x1b[1;1Htwo\x1b[K\x1b[?2026l\x1b[?2026hthr";
    let mut at = 0;
    let mut seen = Vec::new();
    while at < bytes.len() {
        at += terminal.feed_frame(&bytes[at..], usize::MAX);
        seen.push((terminal.frames(), lines(&terminal)[0].clone()));
    }
    assert_eq!(seen, [(1, "one".to_owned()), (2, "two".to_owned()), (2, "twothr".to_owned())]);
    assert!(terminal.modes().contains(Mode::Synchronized));
    terminal.feed_all(b"\x1bc\x1b[?2026l");
    assert_eq!(terminal.frames(), 3, "a reset ends an update; the end of none is nothing");
}
