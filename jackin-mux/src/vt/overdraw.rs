//! Rows that are drawn whole, again and again, by programs that redraw their screen.
//!
//! "Go to the first column, write text in colours, erase the rest" leaves a row that owes nothing to what was there. Such a row is not
//! drawn at once: if the same buffer draws it again, only the last drawing counts; and if it is drawn exactly as it was drawn before, and
//! nothing touched it since, there is nothing to draw. Whatever else would read or change cells draws what is waiting first.

use super::bulk;
use super::canvas::Place;
use super::modes::Mode;
use super::number::read_number;
use super::pen::{Color, Pen};
use super::scan::{Scanner, Token, clean_csi, text_len};
use super::screen::Screen;
use super::sgr;

/// Rows waiting to be drawn, as places in the buffer that is being fed.
#[derive(Debug, Default)]
pub(super) struct Overdraw {
    waiting: Vec<(u16, Waiting)>,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    start: usize,
    end: usize,
    pen: Pen,
    signature: u64,
}

impl Overdraw {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// After a cursor motion: takes the drawing of a whole row that starts at `at`, if there is one, and returns its length.
    pub(super) fn take(&mut self, screen: &mut Screen, bytes: &[u8], at: usize) -> usize {
        let cursor = screen.canvas.cursor;
        if cursor.column != 0
            || !screen.modes.contains(Mode::Autowrap)
            || screen.modes.contains(Mode::Insert)
            || !screen.charsets.is_plain()
            || !screen.settings.jump_scroll
        {
            return 0;
        }
        let start_pen = screen.pen;
        let Some(drawing) = read_row(&bytes[at..], start_pen, screen.canvas.columns()) else { return 0 };
        let waiting = Waiting {
            start: at,
            end: at + drawing.len,
            pen: start_pen,
            signature: signature(&bytes[at..at + drawing.len], &start_pen),
        };
        match self.waiting.binary_search_by_key(&cursor.row, |(row, _)| *row) {
            Ok(found) => self.waiting[found].1 = waiting,
            Err(free) => self.waiting.insert(free, (cursor.row, waiting)),
        }
        screen.pen = drawing.pen;
        screen.canvas.cursor.column = drawing.columns;
        screen.canvas.work += drawing.len;
        if drawing.last_char.is_some() {
            screen.last_char = drawing.last_char;
        }
        drawing.len
    }

    /// Draws what waits.
    pub(super) fn draw(&mut self, screen: &mut Screen, bytes: &[u8]) {
        if self.waiting.is_empty() {
            return;
        }
        let before = (screen.canvas.cursor, screen.pen, screen.last_char);
        for (row, waiting) in self.waiting.drain(..) {
            if screen.canvas.signature(row) == waiting.signature {
                continue;
            }
            screen.canvas.cursor = Place { row, column: 0 };
            screen.pen = waiting.pen;
            replay(screen, &bytes[waiting.start..waiting.end]);
            screen.canvas.sign(row, waiting.signature);
        }
        (screen.canvas.cursor, screen.pen, screen.last_char) = before;
        screen.end_grapheme();
    }
}

/// Whether a token neither reads nor changes cells: it can pass while rows wait.
pub(super) fn is_harmless(token: &Token<'_>) -> bool {
    let Token::Csi(body) = token else { return matches!(token, Token::Nothing) };
    let Some((&end, params)) = body.split_last() else { return false };
    match (params.first(), end) {
        (Some(b'?'), b'h' | b'l') => {
            params[1..].split(|b| *b == b';').all(|n| !matches!(read_number(n).0, 47 | 1047..=1049 | 2048))
        }
        (lead, b'm' | b'H' | b'f' | b'A'..=b'D' | b'G' | b'd') => {
            lead.is_none_or(|b| matches!(b, 0x30..=0x3b))
        }
        _ => false,
    }
}

struct Drawing {
    len: usize,
    columns: u16,
    pen: Pen,
    last_char: Option<char>,
}

/// Reads text and SGR up to an erase-to-the-end; `None` if anything else comes first, or if the text does not fit in a row.
fn read_row(bytes: &[u8], mut pen: Pen, columns: u16) -> Option<Drawing> {
    let mut at = 0;
    let mut width = 0;
    let mut last_char = None;
    loop {
        let rest = &bytes[at..];
        let (len, ascii) = text_len(rest);
        if len > 0 {
            if ascii {
                width += len;
                last_char = Some(char::from(rest[len - 1]));
            } else {
                let text = std::str::from_utf8(&rest[..len]).ok()?;
                width += bulk::simple_columns(text)? as usize;
                last_char = text.chars().next_back();
            }
            if width >= usize::from(columns) {
                return None;
            }
            at += len;
            continue;
        }
        let len = clean_csi(rest)?;
        match &rest[2..len] {
            [params @ .., b'm'] if params.iter().all(|b| matches!(b, 0x30..=0x3b)) => {
                sgr::apply(&mut pen, params);
            }
            b"K" | b"0K" => return Some(Drawing { len: at + len, columns: width as u16, pen, last_char }),
            _ => return None,
        }
        at += len;
    }
}

/// Draws a row that [`read_row`] understood.
fn replay(screen: &mut Screen, bytes: &[u8]) {
    let mut scanner = Scanner::default();
    let mut at = 0;
    while at < bytes.len() {
        let (token, used) = scanner.next(&bytes[at..]);
        at += used;
        match token {
            Token::Text(text) => screen.print(text),
            Token::Csi(body) => {
                screen.end_grapheme();
                screen.csi(body);
            }
            _ => {}
        }
    }
}

/// A number that stands for a drawing: never 0, which stands for none.
fn signature(bytes: &[u8], pen: &Pen) -> u64 {
    const KEY: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| {
        let wide = u128::from(hash ^ word) * u128::from(KEY | 1);
        (wide as u64) ^ (wide >> 64) as u64 ^ hash.rotate_left(23)
    };
    let color = |color: Color| match color {
        Color::Default => 0,
        Color::Indexed(n) => 1 << 24 | u64::from(n),
        Color::Rgb(r, g, b) => 2 << 24 | u64::from(r) << 16 | u64::from(g) << 8 | u64::from(b),
    };
    let mut hash = KEY ^ bytes.len() as u64;
    hash = mix(hash, color(pen.foreground) << 32 | color(pen.background));
    let rest =
        u64::from(pen.attributes.bits()) << 24 | u64::from(pen.underline as u8) << 16 | u64::from(pen.link.0);
    hash = mix(hash, color(pen.underline_color) << 32 | rest);
    let (words, tail) = bytes.as_chunks::<8>();
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    mix(hash, u64::from_le_bytes(last)).max(1)
}
