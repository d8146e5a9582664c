//! Where rows go that vt100 pushes off the top: read out of its formatter, put in history.

use memchr::memchr;
use vt100::capture::{BasicFormattedCaptureState, RowContents};

use super::glyph::{Class, alone, class, columns as columns_of};
use std::collections::VecDeque;

use super::history::History;
use super::line::{Extent, LineWriter};
use super::link::LinkId;
use super::pen::{Attributes, Pen};
use super::prompt::Marks;
use super::sgr;
use super::style::{NARROW_STAND_IN, SPACER, Styles, WIDE_STAND_IN};

/// The pane's history and the tables that its cells refer to; vt100 calls it for each row that leaves.
#[derive(Debug)]
pub(super) struct Past {
    pub(super) history: History,
    pub(super) styles: Styles,
    writer: LineWriter,
    captured: Captured,
    line: Vec<u8>,
    /// The screen's width.
    pub(super) columns: u16,
    /// Rows that left the main screen.
    pub(super) pushed: u64,
    /// What the grid does not know of the rows that leave next; empty if it knows them all.
    pub(super) leaving: VecDeque<Leaving>,
}

/// What the grid does not know of a row that leaves it.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    pub(super) marks: Marks,
    /// Its line, if it is loose, or if vt100 cannot tell how it looks.
    pub(super) line: Option<(Vec<u8>, Extent)>,
    /// Whether that line goes on in the next row.
    pub(super) wrapped: bool,
}

impl Past {
    pub(super) fn new(history: History) -> Self {
        Self {
            history,
            styles: Styles::default(),
            writer: LineWriter::default(),
            captured: Captured::default(),
            line: Vec::new(),
            columns: 0,
            pushed: 0,
            leaving: VecDeque::new(),
        }
    }

    /// Adds a line that was never a row of the grid.
    pub(super) fn push_line(&mut self, line: &[u8], extent: Extent, wrapped: bool) {
        self.pushed += extent.rows(line, self.columns) as u64;
        if self.history.is_kept() {
            self.history.make_room(line);
            self.history.push(line, extent, wrapped);
        }
    }

    /// Adds a row whose line came along.
    pub(super) fn push_leaving(&mut self, leaving: &Leaving) {
        let Some((line, extent)) = &leaving.line else { return };
        if leaving.marks.is_empty() {
            self.push_line(line, *extent, leaving.wrapped);
            return;
        }
        let mut marked = std::mem::take(&mut self.line);
        marked.clear();
        LineWriter::marks(&mut marked, leaving.marks);
        marked.extend_from_slice(line);
        self.push_line(&marked, Extent::of(&marked), leaving.wrapped);
        self.line = marked;
    }

    /// Appends vt100's formatted row in `captured`, as history keeps it, to `line`.
    fn encode(&mut self, wrapped: bool) {
        let Self { styles, writer, captured, line, .. } = self;
        writer.start();
        // What vt100 thinks the pen is; marked pens are looked up.
        let mut raw = Pen::default();
        let mut rest = captured.text.as_str();
        let (body, filled) = split_fill(rest, self.columns, wrapped);
        rest = body;
        while !rest.is_empty() {
            if let Some(params) = rest.strip_prefix("\x1b[") {
                let end = params.find('m').unwrap_or(params.len());
                let before = raw.attributes;
                sgr::apply(&mut raw, &params.as_bytes()[..end]);
                if raw.attributes.contains(Attributes::BOLD | Attributes::DIM) {
                    // To vt100 they are two values of one attribute: what it wrote last replaces the other.
                    raw.attributes = raw.attributes.without(before & (Attributes::BOLD | Attributes::DIM));
                }
                rest = params.get(end + 1..).unwrap_or_default();
                continue;
            }
            let (text, after) = rest.split_at(memchr(0x1b, rest.as_bytes()).unwrap_or(rest.len()));
            rest = after;
            let style = styles.of(raw.foreground, raw.background);
            let pen = style.map_or(raw, |style| style.pen);
            let look = Pen { link: LinkId::NONE, ..pen };
            for (at, text) in text.split(BLANK).enumerate() {
                if at > 0 {
                    // vt100 does not tell the look of a blank; one between coloured blanks is taken for one of them.
                    let blank = if look == look.erase() { look } else { Pen::default() };
                    writer.set(line, &blank, None);
                    line.push(b' ');
                }
                match style {
                    _ if text.is_empty() => continue,
                    Some(style) if &*style.text == SPACER => continue,
                    _ => writer.set(line, &look, styles.links.key(pen.link)),
                }
                match style {
                    Some(style) if !style.text.is_empty() => push_stand_ins(line, text, &style.text),
                    _ => line.extend_from_slice(text.as_bytes()),
                }
            }
        }
        if filled {
            let look = styles.of(raw.foreground, raw.background).map_or(raw, |style| style.pen);
            if look == look.erase() {
                writer.fill(line, &look);
            }
        }
        if wrapped {
            // The next row of this line starts with the default look.
            writer.set(line, &Pen::default(), None);
        }
    }
}

impl vt100::Callbacks for Past {
    fn on_scroll(&mut self, row: RowContents<'_>, alternate_screen: bool) {
        if alternate_screen {
            return;
        }
        let leaving = self.leaving.pop_front().unwrap_or_default();
        if leaving.line.is_some() {
            self.push_leaving(&leaving);
            self.history.trim();
            return;
        }
        self.pushed += 1;
        if !self.history.is_kept() {
            return;
        }
        self.captured.text.clear();
        let mut state = BasicFormattedCaptureState::new();
        // Writing to a String does not fail.
        let _ = row.write_formatted_basic(&mut self.captured, &mut state);
        let mut first = FirstWrite::default();
        let _ = row.write_formatted_basic(&mut first, &mut state);
        let wrapped = !first.newline;
        self.line.clear();
        LineWriter::marks(&mut self.line, leaving.marks);
        if memchr(0x1b, self.captured.text.as_bytes()).is_none() {
            self.line.extend(self.captured.text.bytes().map(|b| if b == BLANK as u8 { b' ' } else { b }));
        } else {
            self.encode(wrapped);
        }
        self.history.push_row(&self.line, wrapped);
    }
}

/// Stands for a cell without text in what was captured.
const BLANK: char = '\0';

/// Gathers what vt100 writes, with blanks told from spaces: it writes a cell's text as a string and a blank as a character.
#[derive(Debug, Default)]
struct Captured {
    text: String,
}

impl std::fmt::Write for Captured {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.text.push_str(text);
        Ok(())
    }

    fn write_char(&mut self, c: char) -> std::fmt::Result {
        self.text.push(if c == ' ' { BLANK } else { c });
        Ok(())
    }
}

/// Cuts off the blanks at the end of a captured row if they are what a coloured erase left: no text, and up to the row's end.
fn split_fill(row: &str, columns: u16, wrapped: bool) -> (&str, bool) {
    let body = row.trim_end_matches(BLANK);
    // Only coloured blanks are captured at the end of a row; they reach its end if the row is full.
    let filled = !wrapped && body.len() < row.len() && captured_columns(row) == u32::from(columns);
    if filled { (body, true) } else { (row, false) }
}

fn captured_columns(row: &str) -> u32 {
    let mut columns = 0;
    let mut rest = row;
    while !rest.is_empty() {
        if let Some(params) = rest.strip_prefix("\x1b[") {
            rest = params.find('m').and_then(|end| params.get(end + 1..)).unwrap_or_default();
            continue;
        }
        let (text, after) = rest.split_at(memchr(0x1b, rest.as_bytes()).unwrap_or(rest.len()));
        columns += text
            .chars()
            .map(|c| match class(c) {
                _ if c == BLANK => 1,
                Class::Mark => 0,
                Class::Joiner => u32::from(columns_of(alone(c))),
                class => u32::from(columns_of(class)),
            })
            .sum::<u32>();
        rest = after;
    }
    columns
}

/// Copies text with the grapheme in place of its stand-ins.
fn push_stand_ins(line: &mut Vec<u8>, text: &str, grapheme: &str) {
    for c in text.chars() {
        if c == NARROW_STAND_IN || c == WIDE_STAND_IN {
            line.extend_from_slice(grapheme.as_bytes());
        } else {
            line.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

/// Fails on the first write and tells what it was: vt100 starts with a newline when the row before was not wrapped.
#[derive(Default)]
struct FirstWrite {
    newline: bool,
}

impl std::fmt::Write for FirstWrite {
    fn write_str(&mut self, _: &str) -> std::fmt::Result {
        Err(std::fmt::Error)
    }

    fn write_char(&mut self, c: char) -> std::fmt::Result {
        self.newline = c == '\n';
        Err(std::fmt::Error)
    }
}
