//! Jump-scroll: lines that would be drawn and scrolled off within one buffer go straight to history.
//!
//! Only lines of text, tabs and SGR that end in CR LF qualify, and only while the cursor waits at the start of a blank last row of the
//! whole main screen. The last screenful of such lines is always really drawn. A line that does not qualify ends the jump before it;
//! everything is then as if each line had been drawn.

use std::collections::VecDeque;

use memchr::memchr;

use super::canvas::Place;
use super::glyph::{Class, Grapheme, class, columns};
use super::line::LineWriter;
use super::link::LinkId;
use super::modes::Mode;
use super::pen::{Color, Pen};
use super::scan::{clean_csi, text_len};
use super::screen::Screen;
use super::sgr;
use super::tabs::Tabs;

/// The buffers of the jump.
#[derive(Debug, Default)]
pub(super) struct Jump {
    writer: LineWriter,
    line: Vec<u8>,
    /// The lines that were taken last: they will be drawn.
    recent: VecDeque<Recent>,
}

#[derive(Debug, Clone, Copy)]
struct Recent {
    start: usize,
    pen: Pen,
    rows: u64,
}

/// What a jump did.
pub(super) struct Jumped {
    /// Bytes that need no drawing any more.
    pub(super) taken: usize,
    /// How far behind them another attempt is pointless.
    pub(super) retry: usize,
}

/// What a line does to the screen.
struct Measured {
    cells: u32,
    wide: bool,
    /// The line's own bytes are what history keeps; otherwise they are in `Jump::line`.
    as_is: bool,
}

impl Jump {
    /// Jumped bytes cost this much less than drawn ones.
    pub(super) const CHEAPNESS: usize = 8;

    /// Takes as many lines as possible from `bytes`. [`Screen::can_jump`] must hold.
    pub(super) fn run(&mut self, screen: &mut Screen, bytes: &[u8]) -> Jumped {
        let rows = usize::from(screen.canvas.rows());
        if let Err(retry) = self.look_ahead(screen, bytes, rows) {
            return Jumped { taken: 0, retry };
        }
        // The lines on the screen leave first; its last row is blank.
        screen.canvas.scroll_up(rows as u16 - 1, &Pen::default());
        screen.canvas.flush();
        screen.canvas.past_mut().history.close();
        screen.canvas.cursor = Place::default();
        self.recent.clear();
        let columns = u32::from(screen.canvas.columns());
        let link = screen.canvas.past().styles.links.key(screen.pen.link).map(str::to_owned);
        let mut pen = screen.pen;
        let mut at = 0;
        let mut pushed = 0;
        while let Some(len) = memchr(b'\n', &bytes[at..]) {
            let before = pen;
            let line = &bytes[at..at + len];
            let Some(measured) = self.encode(line, &mut pen, link.as_deref(), &screen.tabs, columns) else {
                pen = before;
                break;
            };
            let past = screen.canvas.past_mut();
            let stored = if measured.as_is { &line[..len - 1] } else { &self.line };
            past.history.push(stored, measured.cells, measured.wide, false);
            past.history.trim_to_spare(rows);
            if self.recent.len() == rows {
                pushed += self.recent.pop_front().map_or(0, |line| line.rows);
            }
            self.recent.push_back(Recent {
                start: at,
                pen: before,
                rows: past.history.last_rows(columns as u16),
            });
            at += len + 1;
        }
        let (start, first_pen) = self.recent.front().map_or((0, pen), |line| (line.start, line.pen));
        let past = screen.canvas.past_mut();
        for _ in 0..self.recent.len() {
            past.history.pop(&mut self.line);
        }
        past.history.trim();
        past.pushed += pushed;
        screen.pen = first_pen;
        screen.end_grapheme();
        Jumped { taken: start, retry: at - start }
    }

    /// Whether enough good lines follow to be worth it; if not, how far looking again is pointless.
    fn look_ahead(&mut self, screen: &Screen, bytes: &[u8], rows: usize) -> Result<(), usize> {
        let columns = u32::from(screen.canvas.columns());
        let mut pen = screen.pen;
        let mut at = 0;
        for _ in 0..2 * rows {
            let Some(len) = memchr(b'\n', &bytes[at..]) else { return Err(bytes.len()) };
            if self.encode(&bytes[at..at + len], &mut pen, None, &screen.tabs, columns).is_none() {
                return Err(at + len + 1);
            }
            at += len + 1;
        }
        Ok(())
    }

    /// Reads a line, without its LF, into `self.line`, unless it can be stored as it is. `None` if it is not a line that can be jumped
    /// over.
    #[inline]
    fn encode(
        &mut self,
        line: &[u8],
        pen: &mut Pen,
        link: Option<&str>,
        tabs: &Tabs,
        columns: u32,
    ) -> Option<Measured> {
        let text = line.strip_suffix(b"\r")?;
        let (len, ascii) = text_len(text);
        if len == text.len() && ascii && *pen == Pen::default() {
            return Some(Measured { cells: len as u32, wide: false, as_is: true });
        }
        self.encode_styled(text, pen, link, tabs, columns)
    }

    fn encode_styled(
        &mut self,
        text: &[u8],
        pen: &mut Pen,
        link: Option<&str>,
        tabs: &Tabs,
        columns: u32,
    ) -> Option<Measured> {
        self.line.clear();
        self.writer.start();
        let mut rest = text;
        let mut measured = Measured { cells: 0, wide: false, as_is: false };
        let mut complex = false;
        let mut colored = false;
        // Columns passed over by tabs: blanks, but only if something follows.
        let mut skipped = 0;
        loop {
            let (len, ascii) = text_len(rest);
            if len > 0 {
                if skipped > 0 {
                    self.writer.set(&mut self.line, &Pen::default(), None);
                    self.line.resize(self.line.len() + skipped as usize, b' ');
                    measured.cells += std::mem::take(&mut skipped);
                }
                colored |= pen.background != Color::Default;
                let look = Pen { link: LinkId::NONE, ..pen.seen() };
                self.writer.set(&mut self.line, &look, link);
                self.line.extend_from_slice(&rest[..len]);
                if ascii {
                    measured.cells += len as u32;
                } else {
                    complex |= measure(std::str::from_utf8(&rest[..len]).ok()?, &mut measured)?;
                }
                rest = &rest[len..];
            }
            match rest.first() {
                None => break,
                Some(0x1b) => {
                    let len = clean_csi(rest)?;
                    let (&end, params) = rest[2..len].split_last()?;
                    if end != b'm' || params.iter().any(|b| !matches!(b, 0x30..=0x3b)) {
                        return None;
                    }
                    sgr::apply(pen, params);
                    rest = &rest[len..];
                }
                Some(0x09) => {
                    let column = measured.cells + skipped;
                    if column + 1 >= columns {
                        return None;
                    }
                    skipped = u32::from(tabs.next(column as u16, columns as u16)) - measured.cells;
                    complex = true;
                    rest = &rest[1..];
                }
                Some(_) => return None,
            }
        }
        // A coloured background fills the row that a line feed or a wrap brings in; tabs and joined characters depend on the edge.
        let wraps = measured.cells > columns;
        let qualifies = pen.background == Color::Default && !(wraps && (complex || colored));
        qualifies.then_some(measured)
    }
}

impl Screen {
    /// Whether lines may be jumped over from here.
    #[inline]
    pub(super) fn can_jump(&self) -> bool {
        let cursor = self.canvas.cursor;
        cursor.column == 0
            && cursor.row + 1 == self.canvas.rows()
            && self.settings.jump_scroll
            && self.canvas.rows() > 1
            && self.canvas.margins() == (0, cursor.row)
            && !self.canvas.is_alternate()
            && self.canvas.used(cursor.row) == 0
            && self.pen.background == Color::Default
            && self.modes.contains(Mode::Autowrap)
            && !self.modes.contains(Mode::Insert)
            && !self.modes.contains(Mode::NewLine)
            && self.charsets.is_plain()
            && self.canvas.past().history.is_kept()
    }
}

/// Adds the columns of text that is not all ASCII. True if it has graphemes of several characters; `None` if drawing them would not
/// simply be their text.
fn measure(text: &str, measured: &mut Measured) -> Option<bool> {
    let mut last = Grapheme::EMPTY;
    let mut complex = false;
    for c in text.chars() {
        let class = class(c);
        match class {
            Class::Narrow | Class::Wide if !last.wants_more() => {
                measured.cells += u32::from(columns(class));
                measured.wide |= class == Class::Wide;
                last = Grapheme::of(c);
            }
            Class::Mark if !last.is_empty() && last.as_str().len() < 16 => {
                last.push(c);
                measured.wide = true;
                complex = true;
            }
            _ => {
                let before = u32::from(last.columns());
                last = last.joined(c)?;
                measured.cells += u32::from(last.columns()).max(before) - before;
                measured.wide = true;
                complex = true;
            }
        }
    }
    Some(complex)
}
