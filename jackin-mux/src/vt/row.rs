//! One row of cells, copied out of the screen or out of history into a buffer that is used again.

use super::canvas::Gap;
use super::glyph::Graphemes;
use super::line::{Layout, Pieces};
use super::link::{Link, LinkId};
use super::pen::Pen;
use super::prompt::Marks;

/// A row of cells, one for each column. Reading a row into it allocates nothing once it has grown.
#[derive(Debug, Clone, Default)]
pub struct Row {
    text: String,
    cells: Vec<Cell>,
    links: Vec<(u32, u32)>,
    pub(super) wrapped: bool,
    pub(super) marks: Marks,
    /// Columns that a stored line's text takes in its last row.
    taken: usize,
}

/// One column of a [`Row`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cell {
    start: u32,
    len: u16,
    width: u8,
    spacer: bool,
    /// How the cell looks. Its link is a number of this row: see [`Row::link`].
    pub pen: Pen,
}

impl Cell {
    /// Columns that the cell's text takes: 1, 2, or 0 for the right half of a wide character.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// Whether the cell was left empty because a wide character did not fit in the last column.
    pub fn is_spacer(&self) -> bool {
        self.spacer
    }
}

impl Row {
    /// An empty row; fill it with [`Terminal::read_row`](super::Terminal::read_row).
    pub fn new() -> Self {
        Self::default()
    }

    /// The cells, left to right, one for each column.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The text of a cell: one grapheme, or nothing for a blank cell and for the right half of a wide character.
    pub fn text(&self, cell: &Cell) -> &str {
        let start = cell.start as usize;
        self.text.get(start..start + usize::from(cell.len)).unwrap_or_default()
    }

    /// What a link of this row points at.
    pub fn link(&self, id: LinkId) -> Option<Link<'_>> {
        self.link_key(id).map(Link::from_key)
    }

    /// Whether the row goes on in the next one: the line was too long for the screen.
    pub fn is_wrapped(&self) -> bool {
        self.wrapped
    }

    /// The columns up to the last cell that shows anything (text or a look of its own).
    pub fn used(&self) -> usize {
        self.cells
            .iter()
            .rposition(|cell| cell.width == 0 || cell.len > 0 || cell.pen != Pen::default())
            .map_or(0, |at| at + 1)
    }

    /// Where a coloured erase begins that reaches the row's end, and its look; such cells are no text.
    pub(super) fn fill(&self) -> Option<(usize, Pen)> {
        let pen = self.cells.last()?.pen;
        let blank = |cell: &Cell| cell.width == 1 && cell.len == 0 && !cell.spacer && cell.pen == pen;
        let start = self.cells.iter().rposition(|cell| !blank(cell)).map_or(0, |at| at + 1);
        (start < self.cells.len() && pen != Pen::default() && pen == pen.erase()).then_some((start, pen))
    }

    /// Appends the text of the columns `from..to`, blanks as spaces.
    pub fn push_text(&self, out: &mut String, from: usize, to: usize) {
        for cell in self.cells.iter().take(to).skip(from) {
            if cell.len > 0 {
                out.push_str(self.text(cell));
            } else if cell.width > 0 && !cell.spacer {
                out.push(' ');
            }
        }
    }

    /// The row's text without trailing blanks.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.push_text(&mut out, 0, self.cells.len());
        out.truncate(out.trim_end_matches(' ').len());
        out
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.cells.clear();
        self.links.clear();
        self.wrapped = false;
        self.marks = Marks::NONE;
    }

    pub(super) fn push(&mut self, text: &str, width: u16, pen: Pen) {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        self.cells.push(Cell { start, len: text.len() as u16, width: width as u8, spacer: false, pen });
        if width == 2 {
            self.cells.push(Cell { start, pen, ..Cell::default() });
        }
    }

    /// Appends to the text of the last cell.
    pub(super) fn extend_last(&mut self, text: &str) {
        if let Some(cell) = self.cells.last_mut() {
            self.text.push_str(text);
            cell.len += text.len() as u16;
        }
    }

    /// A wide cell whose text comes in two parts.
    pub(super) fn push_wide_with(&mut self, text: &str, marks: &str, pen: Pen) {
        self.push(text, 1, pen);
        self.extend_last(marks);
        let start = self.text.len() as u32;
        if let Some(cell) = self.cells.last_mut() {
            cell.width = 2;
        }
        self.cells.push(Cell { start, pen, ..Cell::default() });
    }

    pub(super) fn push_spacer(&mut self, pen: Pen) {
        self.cells.push(Cell { width: 1, spacer: true, pen, ..Cell::default() });
    }

    /// The line goes on in another place: a column left free is one in which a wide character did not fit.
    pub(super) fn goes_on(&mut self) {
        self.wrapped = true;
        let columns = self.cells.len();
        if let Some(cell) = self.cells.last_mut() {
            cell.spacer |= self.taken < columns;
        }
    }

    pub(super) fn push_link(&mut self, key: &str) -> LinkId {
        // Neighbours mostly share their link.
        let last = LinkId(self.links.len() as u16);
        if self.link_key(last) == Some(key) {
            return last;
        }
        let start = self.text.len() as u32;
        self.text.push_str(key);
        self.links.push((start, key.len() as u32));
        LinkId(self.links.len() as u16)
    }

    pub(crate) fn link_key(&self, id: LinkId) -> Option<&str> {
        let &(start, len) = self.links.get(usize::from(id.0).checked_sub(1)?)?;
        self.text.get(start as usize..(start + len) as usize)
    }

    /// Fills up with blanks, or cuts, to `columns`.
    pub(super) fn pad(&mut self, columns: usize) {
        let split_wide = self.cells.len() > columns && self.cells[columns].width == 0;
        self.cells.resize(columns, Cell { width: 1, ..Cell::default() });
        if split_wide && let Some(last) = self.cells.last_mut() {
            *last = Cell { width: 1, pen: last.pen, ..Cell::default() };
        }
    }

    /// Fills the row with the part of a stored line that starts at `skip` rows of `columns`; false if the line has fewer rows.
    pub(super) fn read_line(&mut self, pieces: Pieces<'_>, columns: usize, skip: usize) -> bool {
        self.read(pieces, columns, skip, "")
    }

    /// Fills the row with a line that takes one row and was written as it stands: its spaces are text, but for the gaps.
    pub(super) fn read_loose(&mut self, pieces: Pieces<'_>, columns: usize, gaps: &[Gap]) {
        self.read(pieces, columns, 0, " ");
        for gap in gaps {
            for cell in &mut self.cells[usize::from(gap.from)..usize::from(gap.to)] {
                cell.len = 0;
            }
        }
    }

    fn read(&mut self, mut pieces: Pieces<'_>, columns: usize, skip: usize, space: &str) -> bool {
        self.clear();
        let mut layout = Layout::new(columns);
        for piece in pieces.by_ref() {
            let mut link = None;
            let mut marks = piece.marks;
            for (text, width) in Graphemes::new(piece.text) {
                if layout.row == skip && !layout.fits(width) {
                    if layout.column < columns {
                        self.push_spacer(piece.pen.erase());
                    }
                    self.wrapped = true;
                    self.pad(columns);
                    return true;
                }
                layout.place(width);
                if layout.row == skip {
                    let mut pen = piece.pen;
                    if let Some(key) = piece.link {
                        pen.link = *link.get_or_insert_with(|| self.push_link(key));
                    }
                    self.push(
                        if text == " " && pen == Pen::default() { space } else { text },
                        layout.width(width) as u16,
                        pen,
                    );
                    self.marks.merge(marks);
                }
                marks = Marks::NONE;
            }
        }
        self.taken = layout.column;
        if layout.row == skip {
            self.marks.merge(pieces.marks());
            self.cells.resize(
                columns.max(self.cells.len()),
                Cell { width: 1, pen: pieces.fill(), ..Cell::default() },
            );
        }
        self.pad(columns);
        layout.row == skip
    }
}

/// Rows are equal when they look the same, wherever their text lies in the buffer.
impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.cells.len() == other.cells.len()
            && self.cells.iter().zip(&other.cells).all(|(a, b)| {
                a.width == b.width
                    && blank_as_space(self.text(a)) == blank_as_space(other.text(b))
                    && Pen { link: LinkId::NONE, ..a.pen } == Pen { link: LinkId::NONE, ..b.pen }
                    && self.link_key(a.pen.link) == other.link_key(b.pen.link)
            })
    }
}

fn blank_as_space(text: &str) -> &str {
    if text.is_empty() { " " } else { text }
}
