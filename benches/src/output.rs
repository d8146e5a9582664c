//! What programs write to a terminal, in a few kinds, the same on every run.

use std::fmt::Write as _;

/// A kind of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Log lines of 60 to 120 characters.
    LogLines,
    /// The same with the level in colour.
    ColoredLogLines,
    /// Lines of exactly 200 characters.
    WideLines,
    /// Each word in another 24-bit colour.
    TruecolorWords,
    /// Accents, Cyrillic, CJK, emoji.
    Unicode,
    /// `y` and a line end, for ever.
    Yes,
    /// A full-screen program that draws 50 rows of 200 columns again and again, inside synchronized updates.
    TuiRedraw,
    /// A program that redraws some rows: each is erased, then written from somewhere in its middle, inside synchronized updates.
    TuiStatus,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::LogLines,
        Self::ColoredLogLines,
        Self::WideLines,
        Self::TruecolorWords,
        Self::Unicode,
        Self::Yes,
        Self::TuiRedraw,
        Self::TuiStatus,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::LogLines => "log lines",
            Self::ColoredLogLines => "coloured log lines",
            Self::WideLines => "200-column lines",
            Self::TruecolorWords => "truecolor words",
            Self::Unicode => "unicode",
            Self::Yes => "y\\r\\n",
            Self::TuiRedraw => "TUI redraw",
            Self::TuiStatus => "TUI status rows",
        }
    }

    /// About `size` bytes of it.
    pub fn make(self, size: usize) -> Vec<u8> {
        let mut random = Random(42);
        let mut out = String::with_capacity(size + 65536);
        let mut at = 0;
        while out.len() < size {
            match self {
                Self::LogLines => log_line(&mut out, at, &mut random, false),
                Self::ColoredLogLines => log_line(&mut out, at, &mut random, true),
                Self::WideLines => {
                    for _ in 0..200 {
                        out.push(char::from(b'!' + random.below(90) as u8));
                    }
                    out.push_str("\r\n");
                }
                Self::TruecolorWords => truecolor_line(&mut out, &mut random),
                Self::Unicode => unicode_line(&mut out, &mut random),
                Self::Yes => out.push_str("y\r\n"),
                Self::TuiRedraw => tui_frame(&mut out, at, &mut random),
                Self::TuiStatus => status_rows(&mut out, &mut random),
            }
            at += 1;
        }
        out.into_bytes()
    }
}

const WORDS: [&str; 16] = [
    "request", "served", "in", "cache", "miss", "for", "key", "user", "session", "expired", "retrying",
    "with", "backoff", "upstream", "timeout", "ok",
];

fn log_line(out: &mut String, at: usize, random: &mut Random, colored: bool) {
    let level = ["INFO ", "DEBUG", "WARN ", "ERROR"][random.below(4) as usize];
    let _ = write!(out, "2026-11-16T02:{:02}:{:02}.{:06}Z ", at / 60 % 60, at % 60, random.below(1_000_000));
    if colored {
        let _ = write!(out, "\x1b[3{}m{level}\x1b[0m ", 1 + random.below(6));
    } else {
        out.push_str(level);
        out.push(' ');
    }
    for _ in 0..4 + random.below(9) {
        out.push_str(WORDS[random.below(16) as usize]);
        out.push(' ');
    }
    let _ = write!(out, "id={}\r\n", random.below(100_000));
}

fn truecolor_line(out: &mut String, random: &mut Random) {
    for _ in 0..16 {
        let (r, g, b) = (random.below(256), random.below(256), random.below(256));
        let _ = write!(out, "\x1b[38;2;{r};{g};{b}m{}\x1b[0m ", WORDS[random.below(16) as usize]);
    }
    out.push_str("\r\n");
}

fn unicode_line(out: &mut String, random: &mut Random) {
    const PARTS: [&str; 8] = [
        "naïve café ",
        "Привет мир ",
        "日本語テキスト ",
        "한국어 ",
        "→ ✓ … ",
        "🚀 ",
        "plain words ",
        "Ελληνικά ",
    ];
    for _ in 0..9 {
        out.push_str(PARTS[random.below(8) as usize]);
    }
    out.push_str("\r\n");
}

fn tui_frame(out: &mut String, at: usize, random: &mut Random) {
    out.push_str("\x1b[?2026h\x1b[?25l");
    for row in 1..=50 {
        let _ = write!(out, "\x1b[{row};1H\x1b[0m");
        let _ = write!(out, "\x1b[38;5;{}m{:>4} \x1b[0m\x1b[1m", 30 + row, row);
        let columns = 8 + random.below(5);
        for column in 0..columns {
            if column % 3 == 0 {
                let _ = write!(out, "\x1b[0;38;2;{};{};200m", 40 + column * 9, (at * 3 + row) % 256);
            }
            out.push_str(WORDS[random.below(16) as usize]);
            out.push(' ');
        }
        out.push_str("\x1b[0m\x1b[K");
    }
    let _ = write!(out, "\x1b[{};{}H\x1b[?25h\x1b[?2026l", 1 + random.below(50), 1 + random.below(200));
}

fn status_rows(out: &mut String, random: &mut Random) {
    out.push_str("\x1b[?2026h");
    for row in (1..40).step_by(3) {
        let (column, color) = (1 + random.below(39), 31 + random.below(6));
        let _ = write!(
            out,
            "\x1b[{row};{column}H\x1b[2K\x1b[{color}mstatus line {}\x1b[0m",
            random.below(1_000_000)
        );
    }
    out.push_str("\x1b[?2026l");
}

/// A small generator of the same numbers on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }
}
