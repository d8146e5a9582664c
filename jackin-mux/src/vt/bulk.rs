//! Jump-scroll: lines that would be drawn and scrolled off within one buffer go straight to history.
//!
//! Only lines of text, tabs and SGR that end in CR LF qualify, and only while the cursor waits at the start of a blank last row of the
//! whole main screen. The last screenful of such lines is always really drawn. A line that does not qualify ends the jump before it;
//! everything is then as if each line had been drawn.

use memchr::memchr;

use super::canvas::Place;
use super::glyph::{Class, Grapheme, class};
use super::line::{Extent, LineWriter};
use super::link::LinkId;
use super::modes::Mode;
use super::pen::{Color, Pen};
use super::scan::{clean_csi, text_len};
use super::screen::Screen;
use super::sgr;
use super::tabs::Tabs;

/// The buffers of the jump. They are empty between calls: a pane at rest keeps none of them.
#[derive(Debug, Default)]
pub(super) struct Jump {
    writer: LineWriter,
    /// Lines as history keeps them, one after the other.
    encoded: Vec<u8>,
    lines: Vec<Line>,
}

/// A line that was read but is neither in history nor drawn yet.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// Where it starts in the input, and the pen there.
    start: usize,
    pen: Pen,
    /// Where it ends in `encoded`.
    end: usize,
    extent: Extent,
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
}

/// Lines gathered, beyond those that will be drawn, before they go to history.
const BATCH: usize = 512;

impl Jump {
    /// Jumped bytes cost this much less than drawn ones.
    pub(super) const CHEAPNESS: usize = 8;

    /// Takes as many lines as possible from `bytes`. [`Screen::can_jump`] must hold.
    pub(super) fn run(&mut self, screen: &mut Screen, bytes: &[u8]) -> Jumped {
        let rows = usize::from(screen.canvas.rows());
        let columns = u32::from(screen.canvas.columns());
        let link = screen.canvas.past().styles.links.key(screen.pen.link).map(str::to_owned);
        let mut pen = screen.pen;
        let mut at = 0;
        let mut begun = false;
        let mut retry = bytes.len();
        while let Some(len) = memchr(b'\n', &bytes[at..]) {
            let before = pen;
            let from = self.encoded.len();
            let Some(measured) =
                self.encode(&bytes[at..at + len], &mut pen, link.as_deref(), &screen.tabs, columns)
            else {
                self.encoded.truncate(from);
                retry = at + len + 1;
                break;
            };
            let extent = Extent::new(measured.cells, measured.wide);
            self.lines.push(Line { start: at, pen: before, end: self.encoded.len(), extent });
            at += len + 1;
            if self.lines.len() == rows + BATCH {
                self.store(screen, BATCH, &mut begun);
            }
        }
        // With few lines beyond a screenful, emptying the screen first would cost more than drawing them.
        let enough = begun || self.lines.len() >= 2 * rows;
        let taken = if enough {
            self.store(screen, self.lines.len().saturating_sub(rows), &mut begun);
            let first = self.lines.first().map_or(at, |line| line.start);
            screen.pen = self.lines.first().map_or(pen, |line| line.pen);
            screen.end_grapheme();
            first
        } else {
            0
        };
        self.lines = Vec::new();
        self.encoded = Vec::new();
        Jumped { taken, retry: retry - taken }
    }

    /// Moves the first `count` lines to history; the first time, what is on the screen goes before them.
    fn store(&mut self, screen: &mut Screen, count: usize, begun: &mut bool) {
        if !std::mem::replace(begun, true) {
            // Its last row is blank.
            let rows = screen.canvas.rows();
            screen.canvas.scroll_up(rows - 1, &Pen::default());
            screen.canvas.flush();
            screen.canvas.past_mut().history.close();
            screen.canvas.cursor = Place::default();
        }
        let columns = screen.canvas.columns();
        let past = screen.canvas.past_mut();
        let mut start = 0;
        for line in &self.lines[..count] {
            past.history.push(&self.encoded[start..line.end], line.extent, false);
            past.pushed += past.history.last_rows(columns);
            start = line.end;
        }
        past.history.trim();
        self.lines.drain(..count);
        self.encoded.drain(..start);
        for line in &mut self.lines {
            line.end -= start;
        }
    }

    /// Appends a line, given without its LF, to `self.encoded`. `None` if it is not a line that can be jumped over.
    #[inline]
    fn encode(
        &mut self,
        line: &[u8],
        pen: &mut Pen,
        link: Option<&str>,
        tabs: &Tabs,
        columns: u32,
    ) -> Option<Measured> {
        let mut text = line.strip_suffix(b"\r")?;
        // A program that ends its lines with CR LF gets another CR from its terminal; they mean the same.
        while let Some(shorter) = text.strip_suffix(b"\r") {
            text = shorter;
        }
        let (len, ascii) = text_len(text);
        if len == text.len() && ascii && *pen == Pen::default() {
            self.encoded.extend_from_slice(text);
            return Some(Measured { cells: len as u32, wide: false });
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
        self.writer.start();
        let mut rest = text;
        let mut measured = Measured { cells: 0, wide: false };
        let mut complex = false;
        let mut colored = false;
        // Columns passed over by tabs: blanks, but only if something follows.
        let mut skipped = 0;
        loop {
            let (len, ascii) = text_len(rest);
            if len > 0 {
                if skipped > 0 {
                    self.writer.set(&mut self.encoded, &Pen::default(), None);
                    self.encoded.resize(self.encoded.len() + skipped as usize, b' ');
                    measured.cells += std::mem::take(&mut skipped);
                }
                colored |= pen.background != Color::Default;
                let look = Pen { link: LinkId::NONE, ..pen.seen() };
                self.writer.set(&mut self.encoded, &look, link);
                self.encoded.extend_from_slice(&rest[..len]);
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
            && self.canvas.marks(cursor.row).is_empty()
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
    let mut complex = false;
    let mut cells = 0;
    let mut wide = false;
    let mut chars = text.char_indices();
    let mut start = 0;
    while let Some((at, c)) = chars.next() {
        match class(c) {
            Class::Narrow => {
                cells += 1;
                start = at;
            }
            Class::Wide => {
                cells += 2;
                wide = true;
                start = at;
            }
            _ => {
                // The grapheme that began before this character, with all that follows and joins it.
                let joined = joined(&text[start..], at - start)?;
                cells += joined.wider;
                complex = true;
                for _ in 0..joined.chars - 1 {
                    chars.next();
                }
            }
        }
    }
    measured.cells += cells;
    measured.wide |= wide || complex;
    Some(complex)
}

/// The columns of text in which each character stands for itself.
pub(super) fn simple_columns(text: &str) -> Option<u32> {
    text.chars().try_fold(0, |columns, c| match class(c) {
        Class::Narrow => Some(columns + 1),
        Class::Wide => Some(columns + 2),
        _ => None,
    })
}

struct Joined {
    /// Characters that joined.
    chars: usize,
    /// Columns that the grapheme became wider.
    wider: u32,
}

/// What joins the first character (of `base` bytes) of `text`. `None` if something would not be drawn as it is, or the whole is longer
/// than the screen keeps.
fn joined(text: &str, base: usize) -> Option<Joined> {
    let mut rest = text.chars();
    let first = rest.next().filter(|c| c.len_utf8() == base)?;
    let mut grapheme = Grapheme::of(first);
    let mut wider = 0;
    let mut chars = 0;
    for c in rest {
        match class(c) {
            Class::Mark => {
                if !grapheme.push(c) {
                    return None;
                }
            }
            Class::Narrow | Class::Wide if !grapheme.wants_more() => break,
            _ => {
                let before = grapheme.columns();
                grapheme = grapheme.joined(c)?;
                wider += u32::from(grapheme.columns().max(before) - before);
            }
        }
        chars += 1;
    }
    Some(Joined { chars, wider })
}
