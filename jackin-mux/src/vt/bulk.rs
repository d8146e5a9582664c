//! Jump-scroll: lines go straight to history, or to the screen as they will be in history, without being drawn.
//!
//! Only lines of text, tabs and SGR that end in CR LF qualify, and only while the cursor waits at the start of a blank last row of the
//! whole main screen. The last screenful stays on the screen as loose rows; where it has lines that take several rows or graphemes of
//! several characters, it is really drawn. A line that does not qualify ends the jump before it; everything is then as if each line had
//! been drawn.

use memchr::memchr;

use super::canvas::{Gap, Place, Span};
use super::glyph::{Class, Grapheme, Graphemes, class};
use super::line::{Extent, LineWriter, Pieces};
use super::link::LinkId;
use super::modes::Mode;
use super::pen::{Color, Pen};
use super::scan::{clean_csi, text_len};
use super::screen::Screen;
use super::sgr;
use super::tabs::Tabs;

/// The buffers of the jump, empty between calls.
#[derive(Debug, Default)]
pub(super) struct Jump {
    writer: LineWriter,
    /// Lines as history keeps them, one after the other.
    encoded: Vec<u8>,
    /// Their gaps.
    gaps: Vec<Gap>,
    lines: Vec<Line>,
}

/// A line that was read but is neither in history nor drawn yet.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// Where it starts in the input, and the pen there.
    start: usize,
    pen: Pen,
    /// Where it ends in `encoded`, and how much room it takes.
    span: Span,
    /// Whether it can be a loose row.
    simple: bool,
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
    /// Whether it has graphemes of several characters.
    joined: bool,
}

/// Lines gathered, beyond those that will be drawn, before they go to history. Few enough that they are still in the
/// processor's cache then.
const BATCH: usize = 512;
/// Their text goes to history before it is much longer than this,
const BATCH_BYTES: usize = 32 * 1024;
/// and this is what a pane keeps of each buffer for the next time. Asking for them every time would cost more than the jump.
const KEPT_BYTES: usize = 2 * BATCH_BYTES;

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
        let mut taken = 0;
        let mut begun = false;
        let mut retry = bytes.len();
        while let Some(len) = memchr(b'\n', &bytes[at..]) {
            let before = pen;
            let (from, gaps_from) = (self.encoded.len(), self.gaps.len());
            let Some(measured) =
                self.encode(&bytes[at..at + len], &mut pen, link.as_deref(), &screen.tabs, columns)
            else {
                self.encoded.truncate(from);
                self.gaps.truncate(gaps_from);
                pen = before;
                retry = at + len + 1;
                break;
            };
            let extent = Extent::new(measured.cells, measured.wide);
            let span = Span { end: self.encoded.len(), gaps_end: self.gaps.len(), extent };
            let simple = !measured.joined && measured.cells <= columns;
            self.lines.push(Line { start: at, pen: before, span, simple });
            at += len + 1;
            let gathered = self.lines.len();
            if gathered >= rows + BATCH || (gathered > 2 * rows && self.encoded.len() >= BATCH_BYTES) {
                if !begun && self.can_roll(rows) {
                    self.roll(screen, gathered);
                    (taken, screen.pen) = (at, pen);
                } else {
                    self.store(screen, gathered - rows, &mut begun);
                }
            }
        }
        let count = self.lines.len();
        if begun || (count >= 2 * rows && !self.can_roll(rows)) {
            // With fewer lines, emptying the screen first would cost more than drawing them.
            self.store(screen, count.saturating_sub(rows), &mut begun);
            taken = self.lines.first().map_or(at, |line| line.start);
            screen.pen = self.lines.first().map_or(pen, |line| line.pen);
            screen.end_grapheme();
        } else if count > 0 {
            let simple = self.lines.iter().position(|line| !line.simple).unwrap_or(count);
            let rolled = if self.can_roll(rows) { count } else { simple };
            self.roll(screen, rolled);
            if let Some(line) = self.lines.first() {
                (taken, screen.pen) = (line.start, line.pen);
                retry = self.lines.get(1).map_or(at, |line| line.start);
            } else {
                (taken, screen.pen) = (at, pen);
            }
        }
        empty(&mut self.lines);
        empty(&mut self.encoded);
        empty(&mut self.gaps);
        Jumped { taken, retry: retry - taken }
    }

    /// Whether the last screenful of lines can be loose rows.
    fn can_roll(&self, rows: usize) -> bool {
        self.lines.iter().rev().take(rows - 1).all(|line| line.simple)
    }

    /// Moves the first `count` lines to the screen, and what they push off it to history.
    fn roll(&mut self, screen: &mut Screen, count: usize) {
        if count == 0 {
            return;
        }
        let lines = &self.lines[..count];
        screen.canvas.roll(lines.iter().map(|line| line.span), &self.encoded, &self.gaps);
        screen.end_grapheme();
        if let Some(c) = last_char(&self.encoded, lines) {
            screen.last_char = Some(c);
        }
        self.forget(count);
    }

    /// Moves the first `count` lines to history; the first time, what is on the screen goes before them.
    fn store(&mut self, screen: &mut Screen, count: usize, begun: &mut bool) {
        if !std::mem::replace(begun, true) {
            // Its last row is blank: the first line stands in its place, and goes on with the row before if that one wrapped.
            let rows = screen.canvas.rows();
            screen.canvas.scroll_up(rows - 1, &Pen::default());
            screen.canvas.flush();
            screen.canvas.cursor = Place::default();
        }
        let past = screen.canvas.past_mut();
        let mut start = 0;
        for line in &self.lines[..count] {
            past.push_line(&self.encoded[start..line.span.end], line.span.extent, false);
            start = line.span.end;
        }
        past.history.trim();
        self.forget(count);
    }

    fn forget(&mut self, count: usize) {
        let Some(last) = count.checked_sub(1) else { return };
        let Span { end, gaps_end, .. } = self.lines[last].span;
        self.lines.drain(..count);
        self.encoded.drain(..end);
        self.gaps.drain(..gaps_end);
        for line in &mut self.lines {
            line.span.end -= end;
            line.span.gaps_end -= gaps_end;
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
            return Some(Measured { cells: len as u32, wide: false, joined: false });
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
        let mut measured = Measured { cells: 0, wide: false, joined: false };
        let mut tabs_used = false;
        let mut colored = false;
        // Columns passed over by tabs: blanks, but only if something follows.
        let mut skipped = 0;
        loop {
            let (len, ascii) = text_len(rest);
            if len > 0 {
                if skipped > 0 {
                    self.writer.set(&mut self.encoded, &Pen::default(), None);
                    self.encoded.resize(self.encoded.len() + skipped as usize, b' ');
                    let from = measured.cells;
                    measured.cells += std::mem::take(&mut skipped);
                    self.gaps.push(Gap { from: from as u16, to: measured.cells as u16 });
                }
                colored |= pen.background != Color::Default;
                let look = Pen { link: LinkId::NONE, ..pen.seen() };
                self.writer.set(&mut self.encoded, &look, link);
                self.encoded.extend_from_slice(&rest[..len]);
                if ascii {
                    measured.cells += len as u32;
                } else {
                    measure(std::str::from_utf8(&rest[..len]).ok()?, &mut measured)?;
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
                    tabs_used = true;
                    rest = &rest[1..];
                }
                Some(_) => return None,
            }
        }
        // A coloured background fills the row that a line feed or a wrap brings in; tabs and joined characters depend on the edge.
        let wraps = measured.cells > columns;
        // A wide character has no room in a screen of one column.
        let fits = columns > 1 || !measured.wide;
        let qualifies =
            fits && pen.background == Color::Default && !(wraps && (measured.joined || tabs_used || colored));
        qualifies.then_some(measured)
    }
}

/// Empties a buffer, and keeps it if it is small.
fn empty<T>(buffer: &mut Vec<T>) {
    buffer.clear();
    buffer.shrink_to(KEPT_BYTES / size_of::<T>());
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

/// Adds the columns of text that is not all ASCII; `None` if drawing it would not simply be its text.
fn measure(text: &str, measured: &mut Measured) -> Option<()> {
    let mut chars = text.char_indices();
    let mut start = 0;
    while let Some((at, c)) = chars.next() {
        match class(c) {
            Class::Narrow => {
                measured.cells += 1;
                start = at;
            }
            Class::Wide => {
                measured.cells += 2;
                measured.wide = true;
                start = at;
            }
            _ => {
                // The grapheme that began before this character, with all that follows and joins it.
                let joined = joined(&text[start..], at - start)?;
                measured.cells += joined.wider;
                measured.wide = true;
                measured.joined = true;
                for _ in 0..joined.chars - 1 {
                    chars.next();
                }
            }
        }
    }
    Some(())
}

/// The character that a repetition would repeat after these lines.
fn last_char(text: &[u8], lines: &[Line]) -> Option<char> {
    (0..lines.len()).rev().find_map(|at| {
        let start = at.checked_sub(1).map_or(0, |before| lines[before].span.end);
        let last = Pieces::new(&text[start..lines[at].span.end]).last()?;
        Graphemes::new(last.text).last()?.0.chars().next()
    })
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
