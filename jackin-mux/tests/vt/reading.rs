//! History, viewport, search, text.

use jackin_core::Size;
use jackin_mux::vt::{Direction, Point, Row, Search, Settings, Terminal};

use crate::shown::{fed, history_text, lines};

fn numbered(count: usize) -> Vec<u8> {
    (0..count).flat_map(|n| format!("line {n}\r\n").into_bytes()).collect()
}

#[test]
fn the_viewport_stays_with_its_text() {
    let mut terminal = fed(4, 20, &numbered(20));
    terminal.set_view(5);
    let mut row = Row::new();
    terminal.read_view_row(0, &mut row);
    let top = row.to_text();
    for _ in 0..3 {
        terminal.feed_all(&numbered(7));
        terminal.read_view_row(0, &mut row);
        assert_eq!(row.to_text(), top);
    }
    terminal.feed_all(&numbered(500));
    terminal.read_view_row(0, &mut row);
    assert_eq!(row.to_text(), top, "also when lines are jumped over");
    terminal.resize(Size::new(4, 3));
    terminal.read_view_row(0, &mut row);
    assert_eq!(row.to_text(), top[..3].trim_end(), "also when lines are laid out anew");
    terminal.set_view(0);
    terminal.read_view_row(3, &mut row);
    assert_eq!(row.to_text(), "");
}

#[test]
fn clearing_keeps_what_was_on_the_screen_and_3j_drops_it() {
    let mut terminal = fed(3, 10, b"a\r\nb\x1b[2J\x1b[Hc");
    assert_eq!(history_text(&terminal), ["a", "b"]);
    assert_eq!(lines(&terminal), ["c", "", ""]);
    terminal.feed_all(b"\x1b[3J");
    assert_eq!(terminal.history_rows(), 0);
    terminal.feed_all(b"\x1b[?1049h\x1b[Hxyz\x1b[2J\x1b[?1049l");
    assert_eq!(terminal.history_rows(), 0, "the alternate screen leaves nothing");
}

#[test]
fn an_inline_program_that_clears_and_redraws_keeps_what_scrolled_off() {
    let mut terminal = fed(4, 20, b"");
    for frame in 0..10 {
        terminal.feed_all(format!("output {frame}\r\nspinner\r\nprompt").as_bytes());
        terminal.feed_all(b"\x1b[2K\x1b[1A\x1b[2K\r");
    }
    let mut all = history_text(&terminal);
    all.extend(lines(&terminal));
    let kept: Vec<_> = all.iter().filter(|line| line.starts_with("output")).cloned().collect();
    assert_eq!(kept, (0..10).map(|n| format!("output {n}")).collect::<Vec<_>>());
}

#[test]
fn search_goes_both_ways_across_wrapped_lines() {
    let mut bytes = numbered(30);
    bytes.extend_from_slice("a long line with a needle in it 中文\r\nshort\r\nNEEDLE".as_bytes());
    let terminal = fed(4, 10, &bytes);
    let needle = Search::literal("needle").unwrap();
    let bottom = Point { row: 3, column: 9 };
    let last = terminal.find(&needle, bottom, Direction::Backward).unwrap();
    assert_eq!((last.start, last.end), (Point { row: 3, column: 0 }, Point { row: 3, column: 5 }));
    let first = terminal.find(&needle, last.start, Direction::Backward).unwrap();
    assert_eq!(terminal.text_between(first.start, first.end), "needle", "{first:?}");
    assert!(
        first.start.row < 0 && first.start.row < first.end.row,
        "found over two rows, in history: {first:?}"
    );
    assert_eq!(terminal.find(&needle, first.start, Direction::Backward), None);
    assert_eq!(terminal.find(&needle, first.start, Direction::Forward), Some(last));
    let wide = terminal.find(&Search::regex("文$").unwrap(), bottom, Direction::Backward).unwrap();
    assert_eq!(terminal.text_between(wide.start, wide.end), "文");
    assert_eq!(
        terminal.find(&Search::literal("Needle").unwrap(), bottom, Direction::Backward),
        None,
        "smart case"
    );
    let oldest = terminal.find(&Search::regex(r"line \d+").unwrap(), bottom, Direction::Backward).unwrap();
    assert_eq!(terminal.text_between(oldest.start, oldest.end), "line 29");
    assert!(Search::regex("(").is_err());
}

#[test]
fn a_line_on_both_sides_of_the_edge_is_one() {
    let terminal = fed(2, 5, b"abcdefghijklmno");
    assert_eq!(history_text(&terminal), ["abcde"]);
    let line = terminal.logical_line(1);
    assert_eq!((line.text.as_str(), line.first, line.last), ("abcdefghijklmno", -1, 1));
    let found = terminal
        .find(&Search::literal("efgh").unwrap(), Point { row: 1, column: 4 }, Direction::Backward)
        .unwrap();
    assert_eq!((found.start, found.end), (Point { row: -1, column: 4 }, Point { row: 0, column: 2 }));
}

#[test]
fn text_comes_in_several_shapes() {
    let terminal = fed(3, 10, b"\x1b[1mab\x1b[m cd  \r\nlong line that wraps\x1b[3;1H");
    assert_eq!(terminal.screen_text(), "ab cd\nlong line that wraps");
    let (from, to) = (Point { row: 0, column: 1 }, Point { row: 2, column: 3 });
    assert_eq!(terminal.text_in_rectangle(from, to), "b c\nong\nhat");
    assert_eq!(terminal.text_between(from, Point { row: 1, column: 3 }), "b cd\nlong");
    let linked = fed(1, 20, b"\x1b]8;id=i;http://x\x07\x1b[4:3mL\x1b]8;;\x07");
    assert_eq!(linked.screen_sgr(), "\x1b]8;id=i;http://x\x1b\\\x1b[4:3mL\x1b[m\x1b]8;;\x1b\\\n");
}

#[test]
fn narrowing_and_widening_back_restores_the_text() {
    let mut bytes = numbered(40);
    bytes.extend_from_slice("\x1b[31mred and \x1b[44mblue\x1b[m 日本語テキスト👨‍👩‍👧‍👦 ".repeat(5).as_bytes());
    bytes.extend_from_slice(b"\r\nlast");
    let mut terminal = fed(10, 80, &bytes);
    let all = |t: &jackin_mux::vt::Terminal| {
        let mut rows = crate::shown::history(t);
        rows.extend(crate::shown::rows(t));
        rows
    };
    let (before, cursor) = (all(&terminal), terminal.cursor());
    for (rows, columns) in [(10, 7), (3, 33), (10, 2), (30, 200), (10, 80)] {
        terminal.resize(Size::new(rows, columns));
    }
    let after = all(&terminal);
    assert_eq!(after.len(), before.len());
    assert!(after == before);
    assert_eq!(terminal.cursor(), cursor);
}

#[test]
fn narrowing_evicts_nothing() {
    let mut terminal = fed(5, 100, &numbered(20_000));
    let rows = terminal.history_rows();
    assert_eq!(rows, 10_000);
    terminal.resize(Size::new(5, 3));
    assert!(terminal.history_rows() > 2 * rows);
    terminal.resize(Size::new(5, 100));
    assert_eq!(terminal.history_rows(), rows);
}

#[test]
fn the_cursor_stays_with_its_text() {
    let mut terminal = fed(5, 20, b"one\r\nprompt$ command here");
    terminal.resize(Size::new(5, 10));
    assert_eq!(lines(&terminal), ["one", "prompt$ co", "mmand here", "", ""]);
    assert_eq!((terminal.cursor().row, terminal.cursor().column), (2, 9));
    terminal.resize(Size::new(5, 20));
    terminal.feed_all(b"!");
    assert_eq!(lines(&terminal)[1..3], ["prompt$ command here", "!"], "the pending wrap is kept too");
}

#[test]
fn the_alternate_screen_is_cut_and_the_main_screen_behind_it_reflows() {
    let mut terminal = fed(3, 10, b"abcdefgh\x1b[?1049h\x1b[Hfull width\x1b[2;1Hx");
    terminal.resize(Size::new(3, 4));
    assert_eq!(lines(&terminal), ["full", "x", ""]);
    terminal.feed_all(b"\x1b[?1049l");
    assert_eq!(lines(&terminal), ["abcd", "efgh", ""]);
}

#[test]
fn a_cursor_in_the_middle_of_a_wide_character_survives_a_new_size() {
    let mut terminal = fed(6, 20, "中\x1b[1;2H".as_bytes());
    terminal.resize(Size::new(6, 10));
    assert_eq!((terminal.cursor().row, terminal.cursor().column), (0, 1));
}

/// The rows of the screen pass through history, which may be full, or keep nothing at all.
#[test]
fn a_resize_keeps_a_screen_that_history_has_no_room_for() {
    for history_lines in [0, 10, 100] {
        let settings = Settings { history_lines, ..Settings::default() };
        let mut terminal = Terminal::new(Size::new(100, 400), settings);
        for line in 0..300 {
            terminal.feed_all(format!("\r\nline {line} {}", "x".repeat(350)).as_bytes());
        }
        terminal.feed_all(b"\x1b[10;1H");
        let before = terminal.screen_text();
        terminal.resize(Size::new(100, 399));
        assert_eq!(terminal.screen_text(), before, "{history_lines} lines of history");
        assert_eq!(terminal.cursor().row, 9);
        terminal.feed_all(b"here");
        assert!(terminal.screen_text().lines().nth(9).unwrap().starts_with("here 2"));
    }
}
