//! A line of history: text with looks between it, in as few bytes as will do.
//!
//! Text stands as UTF-8. Where the look changes, [`MARK`] and a field code follow, with the field's new value; a line starts
//! with the default look, so that each line stands alone. Looks as text (`CSI 38;2;…m`) would take three times the room.

use memchr::memchr;

use super::glyph::{Graphemes, class, columns};
use super::link::LinkId;
use super::pen::{Attributes, Color, Pen, Underline};
use super::prompt::Marks;
use super::row::Row;

/// Starts a change of look; printable text never has it.
pub(super) const MARK: u8 = 0x1b;
/// Back to the default look.
pub(super) const RESET_LOOK: [u8; 2] = [MARK, RESET];

const RESET: u8 = 0;
const FOREGROUND: u8 = 1;
const BACKGROUND: u8 = 4;
const UNDERLINE_COLOR: u8 = 7;
const ATTRIBUTES: u8 = 10;
const UNDERLINE: u8 = 11;
const LINK: u8 = 12;
/// The rest of the line's last row has the present look: what a coloured erase left, which is no text and must not wrap.
const FILL: u8 = 13;
/// Shell-integration marks of the row that starts here.
const PROMPT: u8 = 14;
/// A colour takes three codes: default, indexed, rgb.
const INDEXED: u8 = 1;
const RGB: u8 = 2;

/// Writes lines.
#[derive(Debug, Default)]
pub(super) struct LineWriter {
    pen: Pen,
    link: String,
}

impl LineWriter {
    /// Starts a new line.
    #[inline]
    pub(super) fn start(&mut self) {
        self.pen = Pen::default();
        self.link.clear();
    }

    /// Goes on with a line that ends with a look, and no link.
    #[inline]
    pub(super) fn resume(look: Pen) -> Self {
        Self { pen: look, link: String::new() }
    }

    /// The look at the line's end; none if that has a link.
    pub(super) fn end(&self) -> Option<Pen> {
        self.link.is_empty().then_some(self.pen)
    }

    /// Makes what follows look like `pen`; `link` is the key of its link.
    #[inline]
    pub(super) fn set(&mut self, out: &mut Vec<u8>, pen: &Pen, link: Option<&str>) {
        let link = link.unwrap_or_default();
        if *pen == self.pen && same(link, &self.link) {
            return;
        }
        self.change(out, pen, link);
    }

    /// Makes the rest of the line's last row look like `pen`. Nothing may follow on the line.
    pub(super) fn fill(&mut self, out: &mut Vec<u8>, pen: &Pen) {
        self.set(out, pen, None);
        out.extend_from_slice(&[MARK, FILL]);
    }

    /// Appends the cells of a row as a line, or part of one.
    pub(super) fn row(&mut self, out: &mut Vec<u8>, row: &Row, wrapped: bool) {
        self.start();
        Self::marks(out, row.marks());
        let fill = row.fill().filter(|_| !wrapped);
        let used = match fill {
            Some((start, _)) => start,
            // What goes on in the next row reaches this one's end, blanks included.
            None if wrapped => row.cells().len(),
            None => row.used(),
        };
        for cell in &row.cells()[..used] {
            if cell.width() == 0 || cell.is_spacer() {
                continue;
            }
            let text = row.text(cell);
            let look = Pen { link: LinkId::NONE, ..cell.pen };
            if text.is_empty() {
                // A blank has a background at most: what else it may have is left of a wide character that lost its other half.
                self.set(out, &if look == look.erase() { look } else { Pen::default() }, None);
                out.push(b' ');
                continue;
            }
            self.set(out, &look, row.link_key(cell.pen.link));
            out.extend_from_slice(text.as_bytes());
        }
        if let Some((_, pen)) = fill {
            self.fill(out, &pen);
        }
        if wrapped {
            self.set(out, &Pen::default(), None);
        }
    }

    /// Notes the marks of the row that starts here.
    pub(super) fn marks(out: &mut Vec<u8>, marks: Marks) {
        if !marks.is_empty() {
            out.extend_from_slice(&[MARK, PROMPT]);
            marks.write(out);
        }
    }

    fn change(&mut self, out: &mut Vec<u8>, pen: &Pen, link: &str) {
        let plain = Pen { link: pen.link, ..Pen::default() };
        if *pen == plain && link.is_empty() {
            out.extend_from_slice(&[MARK, RESET]);
        } else {
            write_color(out, FOREGROUND, self.pen.foreground, pen.foreground);
            write_color(out, BACKGROUND, self.pen.background, pen.background);
            write_color(out, UNDERLINE_COLOR, self.pen.underline_color, pen.underline_color);
            if self.pen.attributes != pen.attributes {
                out.extend_from_slice(&[MARK, ATTRIBUTES, pen.attributes.bits() as u8]);
            }
            if self.pen.underline != pen.underline {
                out.extend_from_slice(&[MARK, UNDERLINE, pen.underline as u8]);
            }
            if !same(&self.link, link) {
                out.extend_from_slice(&[MARK, LINK]);
                out.extend_from_slice(&(link.len() as u16).to_le_bytes());
                out.extend_from_slice(link.as_bytes());
            }
        }
        self.pen = *pen;
        self.link.clear();
        self.link.push_str(link);
    }
}

/// Whether two keys are equal. Most are empty: an empty `String` points nowhere, and the C library's comparison of no bytes at such an
/// address costs a hundred times what it costs elsewhere (masked loads that would fault).
#[inline]
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && (a.is_empty() || a == b)
}

fn write_color(out: &mut Vec<u8>, field: u8, from: Color, to: Color) {
    if from == to {
        return;
    }
    match to {
        Color::Default => out.extend_from_slice(&[MARK, field]),
        Color::Indexed(n) => out.extend_from_slice(&[MARK, field + INDEXED, n]),
        Color::Rgb(r, g, b) => out.extend_from_slice(&[MARK, field + RGB, r, g, b]),
    }
}

/// Text of one look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) pen: Pen,
    pub(super) link: Option<&'a str>,
    /// Marks of the row that its first character is in.
    pub(super) marks: Marks,
}

/// Reads a line back, piece by piece.
#[derive(Debug, Clone)]
pub(super) struct Pieces<'a> {
    bytes: &'a [u8],
    pen: Pen,
    link: Option<&'a str>,
    fill: Pen,
    marks: Marks,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, pen: Pen::default(), link: None, fill: Pen::default(), marks: Marks::NONE }
    }

    /// When all is read: the look of the rest of the last row.
    pub(super) fn fill(&self) -> Pen {
        self.fill
    }

    /// Marks that no text has followed yet: when all is read, those of the last row.
    pub(super) fn marks(&self) -> Marks {
        self.marks
    }

    /// Bytes not yet read: `len - rest()` is where the next piece starts.
    pub(super) fn rest(&self) -> usize {
        self.bytes.len()
    }

    /// Applies the change of look at the start of `bytes`; `None` if it is cut, which a writer never leaves.
    fn change(&mut self) -> Option<()> {
        let field = *self.bytes.get(1)?;
        let value = &self.bytes[2..];
        let used = match field {
            RESET => {
                self.pen = Pen::default();
                self.link = None;
                0
            }
            FOREGROUND..BACKGROUND => read_color(&mut self.pen.foreground, field - FOREGROUND, value)?,
            BACKGROUND..UNDERLINE_COLOR => read_color(&mut self.pen.background, field - BACKGROUND, value)?,
            UNDERLINE_COLOR..ATTRIBUTES => {
                read_color(&mut self.pen.underline_color, field - UNDERLINE_COLOR, value)?
            }
            ATTRIBUTES => {
                self.pen.attributes = Attributes::from_bits(*value.first()?);
                1
            }
            UNDERLINE => {
                self.pen.underline = match value.first()? {
                    1 => Underline::Single,
                    2 => Underline::Double,
                    3 => Underline::Curly,
                    4 => Underline::Dotted,
                    5 => Underline::Dashed,
                    _ => Underline::None,
                };
                1
            }
            LINK => {
                let len = usize::from(u16::from_le_bytes([*value.first()?, *value.get(1)?]));
                let key = std::str::from_utf8(value.get(2..2 + len)?).ok()?;
                self.link = (!key.is_empty()).then_some(key);
                2 + len
            }
            FILL => {
                self.fill = self.pen;
                0
            }
            PROMPT => {
                let (marks, used) = Marks::read(value)?;
                self.marks.merge(marks);
                used
            }
            _ => return None,
        };
        self.bytes = &value[used..];
        Some(())
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        while *self.bytes.first()? == MARK {
            self.change()?;
        }
        let len = memchr(MARK, self.bytes).unwrap_or(self.bytes.len());
        let (text, rest) = self.bytes.split_at(len);
        self.bytes = rest;
        let text = std::str::from_utf8(text).unwrap_or_default();
        Some(Piece { text, pen: self.pen, link: self.link, marks: std::mem::take(&mut self.marks) })
    }
}

fn read_color(color: &mut Color, form: u8, value: &[u8]) -> Option<usize> {
    let (read, used) = match form {
        0 => (Color::Default, 0),
        INDEXED => (Color::Indexed(*value.first()?), 1),
        _ => {
            let &[r, g, b, ..] = value else { return None };
            (Color::Rgb(r, g, b), 3)
        }
    };
    *color = read;
    Some(used)
}

/// Where the graphemes of a line fall when it is laid out at a width.
pub(super) struct Layout {
    columns: usize,
    /// The row of the last grapheme.
    pub(super) row: usize,
    /// The column behind it.
    pub(super) column: usize,
}

impl Layout {
    pub(super) fn new(columns: usize) -> Self {
        Self { columns, row: 0, column: 0 }
    }

    /// Whether a grapheme still fits in the row.
    #[inline]
    pub(super) fn fits(&self, width: u16) -> bool {
        self.column + self.width(width) <= self.columns
    }

    /// Places a grapheme and returns its column.
    #[inline]
    pub(super) fn place(&mut self, width: u16) -> usize {
        if !self.fits(width) {
            self.row += 1;
            self.column = 0;
        }
        let start = self.column;
        self.column += self.width(width);
        start
    }

    /// Columns that a grapheme takes: a wide one has no room in a screen of one column.
    #[inline]
    pub(super) fn width(&self, width: u16) -> usize {
        usize::from(width).min(self.columns)
    }
}

/// Rows that a line takes at a width; for lines with wide characters, whose breaks depend on where they fall.
fn measure_rows(line: &[u8], columns: usize) -> usize {
    let mut layout = Layout::new(columns);
    for piece in Pieces::new(line) {
        for (_, width) in Graphemes::new(piece.text) {
            layout.place(width);
        }
    }
    layout.row + 1
}

/// How much room a line takes, in one word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent(u32);

/// Not every character has one column.
const WIDE: u32 = 1 << 31;
/// The line has shell-integration marks.
const MARKED: u32 = 1 << 30;

impl Extent {
    pub(super) fn new(cells: u32, wide: bool) -> Self {
        Self(cells | if wide { WIDE } else { 0 })
    }

    /// The extent of a stored line.
    pub(super) fn of(line: &[u8]) -> Self {
        let mut cells = 0;
        let mut wide = false;
        let mut marked = false;
        let mut pieces = Pieces::new(line);
        for piece in pieces.by_ref() {
            marked |= !piece.marks.is_empty();
            if piece.text.is_ascii() {
                cells += piece.text.len() as u32;
            } else {
                for (_, width) in Graphemes::new(piece.text) {
                    cells += u32::from(width);
                    wide |= width != 1;
                }
            }
        }
        marked |= !pieces.marks().is_empty();
        Self(Self::new(cells, wide).0 | if marked { MARKED } else { 0 })
    }

    /// Columns of text in which each character stands for itself.
    pub(super) fn of_text(text: &str) -> usize {
        if text.is_ascii() { text.len() } else { text.chars().map(|c| usize::from(columns(class(c)))).sum() }
    }

    /// Columns of the line laid out without end.
    pub(super) fn cells(self) -> u32 {
        self.0 & !(WIDE | MARKED)
    }

    fn is_wide(self) -> bool {
        self.0 & WIDE != 0
    }

    /// Rows that the line takes at a width.
    #[inline]
    pub(super) fn rows(self, line: &[u8], columns: u16) -> usize {
        if self.cells() <= u32::from(columns) {
            return 1;
        }
        if self.is_wide() {
            return measure_rows(line, usize::from(columns));
        }
        (self.cells() as usize).div_ceil(usize::from(columns))
    }

    pub(super) fn is_marked(self) -> bool {
        self.0 & MARKED != 0
    }

    /// The extent of a line and what is appended to it.
    pub(super) fn with(self, more: Self) -> Self {
        Self((self.cells() + more.cells()) | ((self.0 | more.0) & (WIDE | MARKED)))
    }
}

/// Where the rows of a line before `skip` end: a byte offset with whole graphemes, looks and marks before it.
pub(super) fn split_at_row(line: &[u8], columns: usize, skip: usize) -> usize {
    let mut layout = Layout::new(columns);
    let mut pieces = Pieces::new(line);
    loop {
        // The looks and marks in front of a piece belong to it.
        let mut at = line.len() - pieces.rest();
        let Some(piece) = pieces.next() else { return line.len() };
        let mut next = line.len() - pieces.rest() - piece.text.len();
        for (text, width) in Graphemes::new(piece.text) {
            layout.place(width);
            if layout.row == skip {
                return at;
            }
            next += text.len();
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_back_as_they_went_in() {
        let red = Pen { foreground: Color::Rgb(27, 0, 27), ..Pen::default() };
        let odd = Pen {
            background: Color::Indexed(27),
            underline: Underline::Curly,
            underline_color: Color::Rgb(1, 2, 3),
            attributes: Attributes::STRIKE | Attributes::BOLD,
            ..red
        };
        let mut out = Vec::new();
        let mut writer = LineWriter::default();
        writer.start();
        let parts = [
            (red, "a", None),
            (odd, "中b", Some(";http://x")),
            (Pen::default(), "c", None),
            (odd, "d", None),
        ];
        for (pen, text, link) in parts {
            writer.set(&mut out, &pen, link);
            out.extend_from_slice(text.as_bytes());
        }
        let back: Vec<_> = Pieces::new(&out).map(|p| (p.pen, p.text, p.link)).collect();
        assert_eq!(back, parts);
        let extent = Extent::of(&out);
        assert_eq!((extent.cells(), extent.is_wide(), extent.is_marked()), (6, true, false));
        assert_eq!(
            measure_rows(&out, 2),
            4,
            "the wide character and its neighbours break to rows of their own"
        );
        let split = split_at_row(&out, 2, 1);
        assert_eq!(Extent::of(&out[..split]).cells(), 1);
        assert!(Pieces::new(&out[split..]).map(|p| p.text).eq(["中b", "c", "d"]));
    }

    #[test]
    fn a_cut_line_reads_as_far_as_it_goes() {
        let mut out = Vec::new();
        let mut writer = LineWriter::default();
        writer.set(&mut out, &Pen { foreground: Color::Rgb(1, 2, 3), ..Pen::default() }, Some("x;http://y"));
        out.push(b'z');
        for end in 0..out.len() {
            assert!(Pieces::new(&out[..end]).next().is_none());
        }
    }
}
