//! Generated streams: no panic, the same cells for every cut, jump-scroll or not, at any size.
//!
//! A run tries a few. Forty thousand of each kind, optimised but with every check on:
//!
//! ```text
//! PROPTEST_CASES=40000 cargo test --profile checked -p jackin-mux --test vt streams
//! ```

use std::fmt::Write as _;

use jackin_core::Size;
use jackin_mux::vt::{Damage, Point, Settings, Terminal};
use proptest::prelude::*;

use crate::shown::assert_same;

/// Text with everything that is hard about text.
fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[ -~]{1,30}".prop_map(String::into_bytes),
        1 => "[ -~]{60,200}".prop_map(String::into_bytes),
        2 => prop::collection::vec(
            prop::sample::select(vec![
                "中", "文", "é", "e\u{301}", "\u{301}", "\u{fe0f}", "1\u{fe0f}\u{20e3}", "❤\u{fe0f}", "👨\u{200d}👩\u{200d}👧\u{200d}👦",
                "👍🏽", "🇩", "🇩🇪", "\u{200d}", "🏽", "x", " ", "\u{fffd}", "\u{ad}", "\u{85}", "ｶ", "\u{1161}", "ㅎ", "a\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a}",
            ]),
            1..12,
        )
        .prop_map(|parts| parts.concat().into_bytes()),
    ]
}

fn sgr() -> impl Strategy<Value = Vec<u8>> {
    let code = prop::sample::select(vec![
        "",
        "0",
        "1",
        "2",
        "3",
        "4",
        "4:3",
        "5",
        "7",
        "8",
        "9",
        "21",
        "22",
        "24",
        "27",
        "29",
        "31",
        "39",
        "41",
        "44",
        "48;5;200",
        "49",
        "38;2;1;2;3",
        "38:2::9:8:7",
        "58;5;1",
        "58:2::1:2:3",
        "59",
        "53",
        "55",
        "97",
        "103",
        "48;2;11;173;29",
        "38;2;0;0;1",
    ]);
    prop::collection::vec(code, 1..4).prop_map(|codes| format!("\x1b[{}m", codes.join(";")).into_bytes())
}

fn sequence() -> impl Strategy<Value = Vec<u8>> {
    let number = || prop_oneof![4 => 0u32..12, 1 => 0u32..300, 1 => Just(65535)];
    prop_oneof![
        (number(), number(), prop::sample::select(b"ABCDEFGHIJKLMPSTXZ@`abdefgrstu".to_vec()))
            .prop_map(|(a, b, end)| format!("\x1b[{a};{b}{}", end as char).into_bytes()),
        (number(), prop::sample::select(b"ABCDEFGHIJKLMPSTXZ@`abdefg".to_vec()))
            .prop_map(|(a, end)| format!("\x1b[{a}{}", end as char).into_bytes()),
        prop::sample::select(b"HJKLMPrsu".to_vec())
            .prop_map(|end| format!("\x1b[{}", end as char).into_bytes()),
        (
            prop::sample::select(vec![1, 5, 6, 7, 25, 47, 1000, 1003, 1006, 1047, 1048, 1049, 2004, 2026]),
            prop::bool::ANY
        )
            .prop_map(|(mode, on)| format!("\x1b[?{mode}{}", if on { 'h' } else { 'l' }).into_bytes()),
        prop::sample::select(vec![
            "4h", "4l", "20h", "20l", "!p", "6n", "5 q", "?u", ">1u", "<u", "3J", "2J", "?6$p", "22t", "23t"
        ])
        .prop_map(|s| format!("\x1b[{s}").into_bytes()),
        prop::sample::select(vec![
            "7", "8", "D", "E", "M", "H", "c", "=", ">", "#8", "(0", "(B", ")0", "N", "\\"
        ])
        .prop_map(|s| format!("\x1b{s}").into_bytes()),
    ]
}

fn string() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(vec![
        "\x1b]0;a title\x07",
        "\x1b]8;id=x;http://a.example\x1b\\",
        "\x1b]8;;http://b.example\x07",
        "\x1b]8;;\x1b\\",
        "\x1b]133;A\x07",
        "\x1b]133;C\x07",
        "\x1b]133;D;7\x1b\\",
        "\x1b]52;c;?\x07",
        "\x1b]9;4;1;50\x07",
        "\x1bPq#0~\x1b\\",
        "\x1bP$qm\x1b\\",
        "\x1b_Gf=1;AAAA\x1b\\",
        "\x1b]11;?\x1b\\",
        "\x1b]2;cut \x18",
        "\x1b]2;broken\x1b[3m",
        "\x1bXsos\x1b\\",
    ])
    .prop_map(|s| s.as_bytes().to_vec())
}

fn control() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => Just(b"\r\n".to_vec()),
        1 => prop::sample::select(b"\r\n\t\x08\x07\x0b\x0c\x0e\x0f\0\x7f".to_vec()).prop_map(|b| vec![b]),
    ]
}

/// A burst of lines, for the jump to take.
fn burst() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => text(),
        2 => (sgr(), text()).prop_map(|(a, b)| [a, b].concat()),
        1 => (text(), sgr(), text(), Just(b"\x1b[0m".to_vec())).prop_map(|(a, b, c, d)| [a, b, c, d].concat()),
        1 => Just(b"\ta\tb\t".to_vec()),
        1 => Just(Vec::new()),
    ];
    prop::collection::vec(line, 1..60)
        .prop_map(|lines| lines.into_iter().flat_map(|line| [line, b"\r\n".to_vec()].concat()).collect())
}

/// A program that redraws rows, some of them as they were.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let row = (
        1u16..8,
        prop_oneof![3 => text(), 2 => sgr(), 1 => Just(Vec::new())],
        prop_oneof![1 => sgr(), 1 => Just(Vec::new())],
    );
    let end = prop::sample::select(vec![
        "\x1b[K",
        "\x1b[K",
        "\x1b[0K",
        "",
        "\x1b[5;3H",
        "\r\n",
        "\x1b[?25l",
        "\x1b[2;1H\x1b[L",
        "\x1b[?1049h",
    ]);
    let rows = prop::collection::vec((row, end), 1..8).prop_map(|rows| {
        rows.into_iter()
            .flat_map(|((row, text, sgr), end)| {
                [format!("\x1b[{row};1H").into_bytes(), sgr, text, end.as_bytes().to_vec()].concat()
            })
            .collect::<Vec<u8>>()
    });
    (rows, 1usize..3).prop_map(|(rows, times)| rows.repeat(times))
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => text(),
        2 => sgr(),
        4 => sequence(),
        1 => string(),
        2 => control(),
        1 => burst(),
        2 => frames(),
        1 => prop::collection::vec(any::<u8>(), 1..20),
    ]
}

/// Bytes that print as a byte string literal when a test fails.
#[derive(Clone)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// Well-formed output, or output that something befell on its way: selectors strewn over it, bytes lost or changed.
pub(crate) fn stream() -> impl Strategy<Value = Bytes> {
    let harm = prop_oneof![
        4 => Just(Harm::None),
        1 => prop::collection::vec(any::<prop::sample::Index>(), 1..40).prop_map(Harm::Selectors),
        1 => prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(any::<u8>())), 1..20)
            .prop_map(Harm::Broken),
    ];
    (prop::collection::vec(piece(), 1..40), harm)
        .prop_map(|(pieces, harm)| Bytes(harm.befall(pieces.concat())))
}

#[derive(Debug, Clone)]
enum Harm {
    None,
    /// U+FE0F in the middle of anything, sequences and characters included.
    Selectors(Vec<prop::sample::Index>),
    /// Bytes that are lost, or become others.
    Broken(Vec<(prop::sample::Index, Option<u8>)>),
}

impl Harm {
    fn befall(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        match self {
            Self::None => {}
            Self::Selectors(places) => {
                for place in places {
                    let at = place.index(bytes.len() + 1);
                    bytes.splice(at..at, "\u{fe0f}".bytes());
                }
            }
            Self::Broken(places) => {
                for (place, byte) in places {
                    if !bytes.is_empty() {
                        let at = place.index(bytes.len());
                        bytes.splice(at..=at, *byte);
                    }
                }
            }
        }
        bytes
    }
}

#[derive(Debug, Clone)]
enum Step {
    Feed(Bytes),
    Resize(u16, u16),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let resize = size().prop_map(|(rows, columns)| Step::Resize(rows, columns));
    prop::collection::vec(prop_oneof![4 => stream().prop_map(Step::Feed), 2 => resize], 1..8)
}

/// From one cell to a million; the large ones are rare, because each takes as long as thousands of small ones.
fn size() -> impl Strategy<Value = (u16, u16)> {
    const MOST: u16 = Size::MAX_SIDE;
    prop_oneof![
        240 => (1u16..12, 1u16..30),
        40 => (1u16..60, 1u16..200),
        30 => Just((1, 1)),
        6 => (1u16..5, 1..=MOST),
        6 => (1..=MOST, 1u16..5),
        1 => (1..=MOST, 1..=MOST),
        1 => Just((MOST, MOST)),
    ]
}

/// Few lines of history, so that some are evicted.
fn with_jump(size: (u16, u16), jump_scroll: bool) -> Terminal {
    let settings = Settings { jump_scroll, history_lines: 100, ..Settings::default() };
    Terminal::new(Size::new(size.0, size.1), settings)
}

fn drain(terminal: &mut Terminal) {
    while terminal.poll_event().is_some() {}
}

/// Few enough that the limit is met.
const HISTORY_BYTES: usize = 32 * 1024;

/// Bytes of text in history.
fn stored(terminal: &Terminal) -> usize {
    let oldest = Point { row: -(terminal.history_rows() as isize), column: 0 };
    terminal.text_between(oldest, Point { row: -1, column: u16::MAX }).len()
}

/// Few enough for every run; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = if asked.cases == 256 { 100 } else { asked.cases };
    ProptestConfig { cases, failure_persistence: None, ..asked }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn cuts_do_not_matter(
        size in size(),
        steps in steps(),
        cuts in prop::collection::vec(prop_oneof![1usize..4, 1usize..40, 1usize..2000], 1..6),
        jump in prop::bool::ANY,
    ) {
        let (mut whole, mut cut_up) = (with_jump(size, jump), with_jump(size, jump));
        let mut cuts = cuts.iter().copied().cycle();
        for step in steps {
            match step {
                Step::Feed(bytes) => {
                    whole.feed_all(&bytes.0);
                    let mut rest = bytes.0.as_slice();
                    while !rest.is_empty() {
                        let (piece, after) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
                        cut_up.feed_all(piece);
                        drain(&mut cut_up);
                        rest = after;
                    }
                }
                Step::Resize(rows, columns) => {
                    whole.resize(Size::new(rows, columns));
                    cut_up.resize(Size::new(rows, columns));
                }
            }
            drain(&mut whole);
        }
        assert_same(&whole, &cut_up, "cut");
    }

    #[test]
    fn budgets_do_not_matter(size in size(), bytes in stream(), budget in 1usize..500) {
        let mut whole = with_jump(size, true);
        whole.feed_all(&bytes.0);
        let mut slow = with_jump(size, true);
        let mut at = 0;
        while at < bytes.0.len() {
            at += slow.feed(&bytes.0[at..], budget);
            drain(&mut slow);
        }
        assert_same(&whole, &slow, "budget");
    }

    #[test]
    fn jumping_changes_nothing(size in size(), bursts in prop::collection::vec(prop_oneof![4 => burst().prop_map(Bytes), 2 => frames().prop_map(Bytes), 1 => stream()], 1..8)) {
        let mut jumping = with_jump(size, true);
        let mut drawing = with_jump(size, false);
        for burst in &bursts {
            jumping.feed_all(&burst.0);
            drawing.feed_all(&burst.0);
        }
        assert_same(&jumping, &drawing, "jump");
        prop_assert_eq!(jumping.scrolled_rows(), drawing.scrolled_rows());
    }

    #[test]
    fn anything_goes(first in size(), steps in steps()) {
        let settings = Settings { history_lines: 100, history_bytes: HISTORY_BYTES, ..Settings::default() };
        let mut terminal = Terminal::new(Size::new(first.0, first.1), settings);
        for step in steps {
            match step {
                Step::Feed(bytes) => terminal.feed_all(&bytes.0),
                Step::Resize(rows, columns) => terminal.resize(Size::new(rows, columns)),
            }
            drain(&mut terminal);
            crate::shown::rows(&terminal);
            crate::shown::history(&terminal);
            let (cursor, size) = (terminal.cursor(), terminal.size());
            prop_assert!(cursor.row < size.rows && cursor.column < size.cols);
            // A new size may put a screen in history that new output has yet to push out, and the last line always stays.
            let slack = 64 * 1024 + usize::from(size.rows) * usize::from(size.cols) * 64;
            prop_assert!(stored(&terminal) <= HISTORY_BYTES + slack, "history has an end");
        }
    }

    #[test]
    fn rows_outside_the_damage_did_not_change(size in size(), pieces in prop::collection::vec(piece().prop_map(Bytes), 1..30)) {
        let mut terminal = with_jump(size, true);
        let mut seen = crate::shown::rows(&terminal);
        let mut damage = Damage::default();
        terminal.clear_damage();
        for piece in pieces {
            terminal.feed_all(&piece.0);
            drain(&mut terminal);
            terminal.take_damage(&mut damage);
            if let Some(scroll) = damage.scroll() {
                let region = &mut seen[usize::from(scroll.top)..=usize::from(scroll.bottom)];
                match usize::try_from(scroll.up) {
                    Ok(up) => region.rotate_left(up),
                    Err(_) => region.rotate_right(scroll.up.unsigned_abs() as usize),
                }
            }
            for (at, row) in crate::shown::rows(&terminal).into_iter().enumerate() {
                if damage.contains(at as u16) {
                    seen[at] = row;
                } else {
                    prop_assert!(seen[at] == row, "row {} changed unseen: {} -> {}", at, crate::shown::show(&seen[at]), crate::shown::show(&row));
                }
            }
        }
    }

    #[test]
    fn a_new_size_loses_no_text(
        size in size(),
        lines in prop::collection::vec(prop_oneof![3 => text(), 1 => (sgr(), text()).prop_map(|(a, b)| [a, b].concat())].prop_map(Bytes), 1..30),
        sizes in prop::collection::vec((1u16..12, 2u16..40), 1..6),
    ) {
        let mut terminal = with_jump((size.0, size.1.max(2)), true);
        for line in &lines {
            terminal.feed_all(&line.0);
            terminal.feed_all(b"\r\n");
        }
        let text = |terminal: &Terminal| {
            let from = Point { row: -(terminal.history_rows() as isize), column: 0 };
            let text = terminal.text_between(from, Point { row: terminal.size().rows as isize - 1, column: u16::MAX });
            text.trim_end_matches('\n').to_owned()
        };
        let before = text(&terminal);
        for (rows, columns) in sizes {
            terminal.resize(Size::new(rows, columns));
            prop_assert_eq!(&text(&terminal), &before);
        }
    }
}

/// What a program that ends its lines with CR LF sends through a terminal that adds a CR of its own.
#[test]
fn lines_with_one_carriage_return_too_many_are_jumped_over_all_the_same() {
    let mut lines = String::new();
    for n in 0..1_000 {
        write!(lines, "line {n} of a log, \u{1b}[3{}mcoloured\u{1b}[m\r\r\n", n % 8).unwrap();
    }
    let (mut jumping, mut drawing) = (with_jump((10, 60), true), with_jump((10, 60), false));
    drawing.feed_all(lines.as_bytes());
    // The budget is a fraction of what drawing every line would cost.
    assert_eq!(jumping.feed(lines.as_bytes(), lines.len() / 4), lines.len());
    assert_same(&jumping, &drawing, "jump");
}
