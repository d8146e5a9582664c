//! Ours against an independent emulator, on streams where both agree with xterm. Each thing that the generators leave out because the two
//! do not agree about it is a test below, named by what ours does and why.
//!
//! Forty thousand of each kind: `PROPTEST_CASES=40000 cargo test --profile checked -p jackin-mux --test vt differential`.

use proptest::prelude::*;

use crate::alacritty::{Alacritty, difference};
use crate::generate::Bytes;
use crate::shown::fed;

const ROWS: u16 = 6;
const COLUMNS: u16 = 20;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[ -~]{1,30}", 1 => "[a-z]{1,3}\u{301}", 1 => "[éжλ─│]{1,8}"]
}

fn sgr() -> impl Strategy<Value = String> {
    let code = prop::sample::select(vec![
        "0",
        "1",
        "2",
        "3",
        "4",
        "4:3",
        "4:4",
        "7",
        "8",
        "9",
        "22",
        "23",
        "24",
        "27",
        "28",
        "29",
        "31",
        "39",
        "42",
        "49",
        "95",
        "107",
        "38;5;200",
        "48;5;3",
        "38;2;1;2;3",
        "48;2;9;8;7",
        "38:2::4:5:6",
        "58;5;7",
        "59",
    ]);
    prop::collection::vec(code, 1..4).prop_map(|codes| format!("\x1b[{}m", codes.join(";")))
}

/// Anywhere on the screen, and a little beyond.
fn place() -> impl Strategy<Value = String> {
    (1..=ROWS + 1, 1..=COLUMNS + 1).prop_map(|(row, column)| format!("\x1b[{row};{column}H"))
}

/// Editing at a place, not with a wrap pending ([`explained_edits_with_a_wrap_pending_spare_the_last_column_as_in_tmux`]).
fn edit() -> impl Strategy<Value = String> {
    let op = prop_oneof![
        (0u16..25, prop::sample::select(vec!['@', 'X', 'L', 'M']))
            .prop_map(|(n, end)| format!("\x1b[{n}{end}")),
        (0u16..8, prop::sample::select(vec!['S', 'T'])).prop_map(|(n, end)| format!("\x1b[{n}{end}")),
        prop::sample::select(vec![
            "\x1b[J",
            "\x1b[?6l\x1b[4;9H\x1b[1J",
            "\x1b[2J",
            "\x1b[K",
            "\x1b[1K",
            "\x1b[2K"
        ])
        .prop_map(str::to_owned),
    ];
    // Not more than is left ([`explained_deleting_more_than_is_left_spares_the_cells_before_the_cursor`]).
    let delete = (1..=ROWS, 1..=COLUMNS - 8, 0u16..9)
        .prop_map(|(row, column, n)| format!("\x1b[{row};{column}H\x1b[{n}P"));
    prop_oneof![5 => (place(), op).prop_map(|(place, op)| place + &op), 1 => delete]
}

fn motion() -> impl Strategy<Value = String> {
    prop_oneof![
        place(),
        (1u16..25, prop::sample::select(vec!['C', 'D', 'a'])).prop_map(|(n, end)| format!("\x1b[{n}{end}")),
        prop::sample::select(vec![
            "\r",
            "\n",
            "\r\n",
            "\x08",
            "\r\t",
            "\x1bD",
            "\x1bE",
            "\x1bM",
            "\r\x1bH\x1b[9C\x1b[Z",
            "\r\x1b[2I"
        ])
        .prop_map(str::to_owned),
    ]
}

/// What depends on margins and origin elsewhere ([`explained_vertical_motions_stop_at_the_margins_as_in_xterm`] and those about the
/// origin): only without margins.
fn vertical() -> impl Strategy<Value = String> {
    let saving =
        prop::sample::select(vec!["\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\x1b[?1049h", "\x1b[?1049l"])
            .prop_map(str::to_owned);
    let moving = (1u16..8, prop::sample::select(vec!['A', 'B', 'E', 'F', 'd', 'e', 'G', '`']))
        .prop_map(|(n, end)| format!("\x1b[{n}{end}"));
    prop_oneof![1 => saving, 2 => moving]
}

fn mode() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "\x1b[?7l",
        "\x1b[?7h\r",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b(0",
        "\x1b(B",
        "x\x1b[3b",
        "\x1bH",
        "\x1b[g",
        "\x1bc",
        "\x1b[?25l",
    ])
    .prop_map(str::to_owned)
}

fn margins() -> impl Strategy<Value = String> {
    prop_oneof![
        (1..=ROWS, 1..=ROWS).prop_map(|(top, bottom)| format!("\x1b[{top};{bottom}r")),
        prop::sample::select(vec!["\x1b[r", "\x1b[?6h", "\x1b[?6l\x1b[H"]).prop_map(str::to_owned),
    ]
}

fn streams(with_margins: bool) -> impl Strategy<Value = Bytes> {
    let special = if with_margins { margins().boxed() } else { vertical().boxed() };
    let piece = prop_oneof![5 => text(), 3 => sgr(), 4 => motion(), 3 => edit(), 1 => mode(), 2 => special];
    prop::collection::vec(piece, 1..60)
        .prop_map(|pieces| Bytes(without_saved_wraps(pieces.concat()).into_bytes()))
}

/// A wrap that waits although wrapping is off is not saved
/// ([`explained_turning_autowrap_on_makes_no_wrap_pending_as_in_tmux`]).
fn without_saved_wraps(stream: String) -> String {
    if !stream.contains("\x1b[?7l") {
        return stream;
    }
    let saves = ["\x1b7", "\x1b[s", "\x1b[?1049h"];
    saves.into_iter().fold(stream, |stream, save| stream.replace(save, &format!("\x1b[?7h\r{save}")))
}

/// Wide characters, over each other's halves too. Not edited within ([`explained_a_wide_character_that_loses_a_half_is_gone_as_in_xterm`]).
fn wide() -> impl Strategy<Value = String> {
    let text = prop::sample::select(vec![
        "中",
        "文字",
        "a",
        "bc ",
        "한",
        "\r\n",
        "\r",
        "\n",
        "中\u{301}",
        "\x1b[2K",
        "\x1b[2J",
        "\x1bM",
        "\x1b[L",
        "\x1b[M",
        "\x1b[S",
    ])
    .prop_map(str::to_owned);
    prop_oneof![4 => text, 1 => place()]
}

fn compare(bytes: &[u8]) -> Option<String> {
    compare_at((ROWS, COLUMNS), bytes)
}

fn compare_at((rows, columns): (u16, u16), bytes: &[u8]) -> Option<String> {
    difference(&fed(rows, columns, bytes), &Alacritty::fed(rows, columns, bytes))
}

/// The streams are made for the smallest, where the edges are near; in the largest each takes as long as thousands of others.
fn size() -> impl Strategy<Value = (u16, u16)> {
    const MOST: u16 = jackin_core::Size::MAX_SIDE;
    prop_oneof![
        500 => Just((ROWS, COLUMNS)),
        50 => (ROWS..60, COLUMNS..200),
        2 => Just((ROWS, MOST)),
        2 => Just((MOST, COLUMNS)),
        1 => Just((MOST, MOST)),
    ]
}

fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig { failure_persistence: None, ..asked }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_whole_screen(size in size(), bytes in streams(false)) {
        prop_assert_eq!(compare_at(size, &bytes.0), None);
    }

    #[test]
    fn scrolling_regions(size in size(), bytes in streams(true)) {
        prop_assert_eq!(compare_at(size, &bytes.0), None);
    }

    #[test]
    fn wide_characters(size in size(), colored in prop::bool::ANY, pieces in prop::collection::vec(wide(), 1..80)) {
        let bytes = if colored { "\x1b[44m" } else { "" }.to_owned() + &pieces.concat();
        prop_assert_eq!(compare_at(size, bytes.as_bytes()), None);
    }
}

/// The screen's text as ours and as theirs.
#[track_caller]
fn differ(bytes: &str, ours: &[&str], theirs: &[&str]) {
    let text = |rows: Vec<String>| rows.into_iter().take(ours.len()).collect::<Vec<_>>();
    assert_eq!(text(crate::shown::lines(&fed(ROWS, COLUMNS, bytes.as_bytes()))), ours);
    assert_eq!(
        text(Alacritty::fed(ROWS, COLUMNS, bytes.as_bytes()).lines()),
        theirs,
        "the difference is still there"
    );
}

#[test]
fn explained_deleting_more_than_is_left_spares_the_cells_before_the_cursor() {
    differ("abcdef\x1b[1;4H\x1b[20P", &["abc"], &[""]);
}

#[test]
fn explained_erasing_above_from_the_second_row_erases_the_first() {
    differ("one\r\ntwo\x1b[1J", &["", ""], &["one", ""]);
}

#[test]
fn explained_vertical_motions_stop_at_the_margins_as_in_xterm() {
    differ("\x1b[3;5r\x1b[4;1H\x1b[9AX", &["", "", "X"], &["X", "", ""]);
    for (motion, row) in [("A", 1), ("F", 1), ("B", 3), ("E", 3), ("e", 3)] {
        let bytes = format!("\x1b[2;4r\x1b[3H\x1b[9{motion}");
        assert_eq!(fed(ROWS, COLUMNS, bytes.as_bytes()).cursor().row, row, "{motion}");
        assert_ne!(Alacritty::fed(ROWS, COLUMNS, bytes.as_bytes()).cursor().0, row, "{motion}");
    }
}

#[test]
fn explained_resetting_the_origin_homes_the_cursor_as_in_xterm() {
    differ("abc\x1b[?6lX", &["Xbc"], &["abcX"]);
}

#[test]
fn explained_saving_the_cursor_saves_the_origin_as_in_xterm() {
    differ("\x1b[3;5r\x1b[?6h\x1b7\x1b[?6l\x1b8\x1b[1;1HX", &["", "", "X"], &["X", "", ""]);
}

#[test]
fn explained_column_address_in_origin_mode_keeps_the_row() {
    differ("\x1b[2;5r\x1b[?6h\x1b[3GX", &["", "  X"], &["", ""]);
}

#[test]
fn explained_a_tab_at_the_right_edge_does_not_wrap_as_in_xterm() {
    let full = "x".repeat(usize::from(COLUMNS));
    differ(&format!("{full}\tY"), &[&full, "Y"], &[&full, "Y"]);
    let terminal = fed(ROWS, COLUMNS, format!("{full}\t").as_bytes());
    assert_eq!((terminal.cursor().row, terminal.cursor().column), (0, COLUMNS - 1));
    assert_eq!(Alacritty::fed(ROWS, COLUMNS, format!("{full}\t").as_bytes()).cursor().0, 1);
}

#[test]
fn explained_a_back_tab_without_stops_goes_to_the_first_column_as_in_xterm() {
    differ("\x1b[3gabc\x1b[ZX", &["Xbc"], &["abcX"]);
}

const FULL: &str = "abcdefghijklmnopqrst";

/// Ours, where theirs is another.
#[track_caller]
fn explained(bytes: &str, ours: &[&str]) {
    let lines = crate::shown::lines(&fed(ROWS, COLUMNS, bytes.as_bytes()));
    assert_eq!(lines[..ours.len()], *ours, "{bytes:?}");
    assert!(compare(bytes.as_bytes()).is_some(), "{bytes:?}: the difference is still there");
}

/// To tmux the cursor is then behind the last column, where there is nothing to edit; elsewhere it is in it for some of these.
#[test]
fn explained_edits_with_a_wrap_pending_spare_the_last_column_as_in_tmux() {
    for edit in ["J", "@", "X", "P"] {
        explained(&format!("{FULL}\x1b[{edit}"), &[FULL]);
    }
}

#[test]
fn explained_a_back_tab_ends_a_pending_wrap_as_in_xterm() {
    assert_eq!(compare(FULL.as_bytes()), None);
    explained(&format!("{FULL}\x1b[Zx"), &["abcdefghijklmnopxrst"]);
}

#[test]
fn explained_turning_autowrap_on_makes_no_wrap_pending_as_in_tmux() {
    explained(&format!("\x1b[?7l{FULL}zz\x1b[?7hx"), &["abcdefghijklmnopqrsx", ""]);
    explained(&format!("\x1b[?7l{FULL}\x1b7\x1b[?7h\x1b8x"), &["abcdefghijklmnopqrsx", ""]);
}

/// Elsewhere one half may stay behind.
#[test]
fn explained_a_wide_character_that_loses_a_half_is_gone_as_in_xterm() {
    explained("中文x\x1b[1;2H\x1b[P", &[" 文x"]);
    explained("中文x\x1b[1;2H\x1b[X", &["  文x"]);
    explained("中文x\x1b[1;2H\x1b[K", &[""]);
    explained("中文x\x1b[1;1H\x1b[1K", &["  文x"]);
    explained("中文\x1b[1;2H\x1b[4hA", &[" A 文"]);
    explained("中文字\x1b[1;1H\x1b[P", &[" 文字"]);
    explained("\x1b[1;19H中\x1b[1;1H\x1b[@", &[""]);
}

/// Elsewhere it has all of the pen: underlined, though nothing stands in it.
#[test]
fn explained_the_column_that_a_wide_character_leaves_free_has_the_background_alone() {
    explained("\x1b[1;20H\x1b[4m中", &["", "中"]);
}

/// Elsewhere it keeps the look of the character that was there.
#[test]
fn explained_the_half_left_of_an_overwritten_wide_character_has_the_look_of_what_was_written() {
    explained("\x1b[44m中\x1b[m\ra", &["a"]);
}

#[test]
fn explained_a_blank_inserted_within_a_wide_character_goes_behind_it() {
    explained("中文\x1b[1;2H\x1b[@", &["中 文"]);
}

#[test]
fn explained_a_mark_at_the_start_of_a_row_has_nothing_to_join() {
    explained("ab\r\u{301}", &["ab"]);
}

#[test]
fn explained_blink_and_overline_are_kept() {
    explained("\x1b[5mx", &["x"]);
    explained("\x1b[53mx", &["x"]);
}

/// Elsewhere what follows a colour that does not exist is read as attributes.
#[test]
fn explained_a_colour_beyond_the_range_is_skipped_whole_as_in_xterm() {
    explained("\x1b[38;2;300;1;1mx", &["x"]);
    assert_eq!(fed(ROWS, COLUMNS, b"\x1b[38;2;300;1;1m").pen(), jackin_mux::vt::Pen::default());
}

#[test]
fn explained_the_older_alternate_screens_and_1048_work_as_in_xterm() {
    explained("ab\x1b[?47hcd", &["  cd"]);
    explained("ab\x1b[?1047hcd", &["  cd"]);
    explained("ab\x1b[?1048h\x1b[H\x1b[?1048lx", &["abx"]);
}

#[test]
fn explained_the_soft_reset_resets_as_in_xterm() {
    explained("\x1b[1m\x1b[2;4r\x1b[!px", &["x"]);
}

/// Elsewhere the mode is known but a line feed alone does not return.
#[test]
fn explained_new_line_mode_returns_as_in_xterm() {
    explained("\x1b[20habc\nx", &["abc", "x"]);
}

#[test]
fn explained_single_shifts_and_the_british_set_work_as_in_xterm() {
    explained("\x1b*0\x1bNqq", &["─q"]);
    explained("\x1b(A#", &["£"]);
}

#[test]
fn explained_sgr_21_is_a_double_underline_as_in_xterm() {
    let bytes = b"\x1b[1;21mX";
    let found = compare(bytes).unwrap_or_default();
    assert!(found.contains("ours") && found.contains("underline: Double"), "{found}");
}

#[test]
fn explained_repeating_after_a_mark_repeats_the_letter() {
    differ("a\u{301}\x1b[2b", &["a\u{301}aa"], &["a\u{301}\u{301}\u{301}"]);
}

#[test]
fn explained_emoji_sequences_are_measured_as_one() {
    assert_eq!(fed(ROWS, COLUMNS, "👨‍👩‍👧x".as_bytes()).cursor().column, 3);
    assert_eq!(Alacritty::fed(ROWS, COLUMNS, "👨‍👩‍👧x".as_bytes()).cursor().1, 7);
}
