//! Ours against an independent emulator, on streams where both agree with xterm. Where they do not agree, a test says why.

use proptest::prelude::*;

use crate::alacritty::{Alacritty, difference};
use crate::shown::fed;
use crate::streams::Bytes;

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

/// Editing at a place: with a wrap pending, terminals disagree about the last column.
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
    // Deleting more than is left of the row blanks cells before the cursor elsewhere.
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

/// Motions in one direction: elsewhere they ignore the margins, or add the origin twice. Saving does not save the origin there.
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
    prop::collection::vec(piece, 1..60).prop_map(|pieces| Bytes(pieces.concat().into_bytes()))
}

fn compare(bytes: &[u8]) -> Option<String> {
    difference(&fed(ROWS, COLUMNS, bytes), &Alacritty::fed(ROWS, COLUMNS, bytes))
}

fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig { failure_persistence: None, ..asked }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_whole_screen(bytes in streams(false)) {
        prop_assert_eq!(compare(&bytes.0), None);
    }

    #[test]
    fn scrolling_regions(bytes in streams(true)) {
        prop_assert_eq!(compare(&bytes.0), None);
    }

    #[test]
    fn wide_characters(pieces in prop::collection::vec(prop::sample::select(vec!["中", "文字", "a", "bc ", "한", "\r\n", "\r", "\n"]), 1..80)) {
        prop_assert_eq!(compare(pieces.concat().as_bytes()), None);
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
fn explained_cursor_up_stops_at_the_margin_as_in_xterm() {
    differ("\x1b[3;5r\x1b[4;1H\x1b[9AX", &["", "", "X"], &["X", "", ""]);
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
