//! What programs, and broken or hostile ones, may send to a terminal.

use jackin_core::Size;
use proptest::prelude::*;

/// Text with everything that is hard about text.
pub(crate) fn text() -> impl Strategy<Value = Vec<u8>> {
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

pub(crate) fn sgr() -> impl Strategy<Value = Vec<u8>> {
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
pub(crate) fn burst() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => text(),
        2 => (sgr(), text()).prop_map(|(a, b)| [a, b].concat()),
        1 => (text(), sgr(), text(), Just(b"\x1b[0m".to_vec())).prop_map(|(a, b, c, d)| [a, b, c, d].concat()),
        1 => Just(b"\ta\tb\t".to_vec()),
        1 => (text(), sgr(), text()).prop_map(|(a, b, c)| [b"\t".as_slice(), &a, b"\t\t", &b, b"\t", &c, b"\t"].concat()),
        1 => Just(Vec::new()),
    ];
    prop::collection::vec(line, 1..60)
        .prop_map(|lines| lines.into_iter().flat_map(|line| [line, b"\r\n".to_vec()].concat()).collect())
}

/// A program that redraws rows, some of them as they were.
pub(crate) fn frames() -> impl Strategy<Value = Vec<u8>> {
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

/// A program that erases a row and writes in it from where it likes, often twice in the same row, left to right or not.
fn rows_erased() -> impl Strategy<Value = Vec<u8>> {
    let erase = prop::sample::select(vec![
        "\x1b[2K",
        "\x1b[2K",
        "\x1b[2K",
        "\r\x1b[K",
        "\x1b[2K\r",
        "\x1b[1K\x1b[K",
        "\x1b[44m\x1b[2K",
        "\x1b[44m\x1b[2K\x1b[m",
        "\x1b[m\x1b[2K",
        "\x1b[2J",
        "\x1b[m\x1b[J",
        "",
        // A row that is drawn whole, with and without the gap that another may have there.
        "\x1b[ROW;1H\x1b[mab\x1b[K",
        "\x1b[ROW;1H\x1b[mab\x1b[44m\x1b[K\x1b[m",
        "\x1b[ROW;1H\x1b[m    a\x1b[K",
        "\x1b[ROW;1H\x1b[m\x1b[2K\x1b[5Ga",
        "\x1b[ROW;1H\x1b[m\x1b[2K\x1b[5Ga\x1b[ROW;1H    a\x1b[K",
    ]);
    // How the cursor gets to where the next text goes.
    let motion = prop_oneof![
        4 => Just(String::new()),
        2 => (1u8..8).prop_map(|n| format!("\x1b[{n}C")),
        1 => (1u8..5).prop_map(|n| format!("\x1b[{n}D")),
        1 => (1u8..30).prop_map(|n| format!("\x1b[{n}G")),
        1 => Just("\t".to_owned()),
        1 => Just("\x1b7".to_owned()),
        1 => Just("\x1b8".to_owned()),
    ];
    let text = prop_oneof![
        3 => "[ a-z]{1,6}".prop_map(String::into_bytes),
        1 => "[ a-z]{1,3}中?é?".prop_map(String::into_bytes),
        1 => "(a?[中文]){1,5}".prop_map(String::into_bytes),
        1 => prop::sample::select(vec!["\u{301}", "\u{fe0f}", "e\u{301}", "👍🏽", "🇩🇪", "中"]).prop_map(|s| s.as_bytes().to_vec()),
        1 => text(),
    ];
    let look = prop_oneof![
        3 => Just(Vec::new()),
        2 => prop::sample::select(vec!["\x1b[m", "\x1b[32m", "\x1b[4:3m", "\x1b[41m", "\x1b[58;5;2m", "\x1b]8;;http://c.example\x07", "\x1b]8;;\x07"])
            .prop_map(|s| s.as_bytes().to_vec()),
        1 => sgr(),
    ];
    let then = prop_oneof![
        6 => Just(""),
        3 => prop::sample::select(vec![
            "\x1b[K", "\x1b[1K", "\x1b[2X", "\x1b[3P", "\x1b[2@", "\x1b[2b", "\x1b[L", "\x1b[M", "\x1b[S", "\x1b[T", "\r\n", "\n",
            "\x1bM", "\x1b]133;A\x07", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?7l", "\x1b[?7h", "\x1b[4h", "\x1b[4l", "\x1b[2;4r", "\x1b[r",
            "\x1b[m\r\n\r\n\r\n\r\n\r\n\r\n\r\n", "\x1b[2J",
        ]),
    ];
    let write = (motion, look, text, then).prop_map(|(motion, look, text, then)| {
        [motion.into_bytes(), look, text, then.as_bytes().to_vec()].concat()
    });
    let row = (1u16..8, 1u16..30, erase, prop::collection::vec(write, 0..4)).prop_map(
        |(row, column, erase, writes)| {
            let erase = erase.replace("ROW", &row.to_string());
            [format!("\x1b[{row};{column}H{erase}").into_bytes(), writes.concat()].concat()
        },
    );
    prop::collection::vec(row, 1..8).prop_map(|rows| rows.concat())
}

pub(crate) fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => text(),
        2 => sgr(),
        4 => sequence(),
        1 => string(),
        2 => control(),
        1 => burst(),
        2 => frames(),
        2 => rows_erased(),
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
pub(crate) enum Step {
    Feed(Bytes),
    Resize(u16, u16),
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let resize = size().prop_map(|(rows, columns)| Step::Resize(rows, columns));
    prop::collection::vec(prop_oneof![4 => stream().prop_map(Step::Feed), 2 => resize], 1..8)
}

/// Output that rows are kept out of the grid for, and what may go wrong with them.
pub(crate) fn jumps() -> impl Strategy<Value = Vec<Step>> {
    let output =
        prop_oneof![4 => burst(), 2 => frames(), 4 => rows_erased(), 1 => stream().prop_map(|bytes| bytes.0)];
    let resize = (1u16..12, 1u16..40).prop_map(|(rows, columns)| Step::Resize(rows, columns));
    prop::collection::vec(
        prop_oneof![8 => output.prop_map(|bytes| Step::Feed(Bytes(bytes))), 2 => resize],
        1..8,
    )
}

/// From one cell to a million; the large ones are rare, because each takes as long as thousands of small ones.
pub(crate) fn size() -> impl Strategy<Value = (u16, u16)> {
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
