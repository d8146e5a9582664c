//! Rows that are drawn whole, again and again, by programs that redraw their screen.
//!
//! "Go to the first column, write text in colours, erase the rest" leaves a row that owes nothing to what was there. Its line replaces the
//! row without touching the grid; if it is the line that the row has already, nothing changed at all.

use super::bulk;
use super::canvas::Content;
use super::line::{Extent, LineWriter};
use super::link::LinkId;
use super::modes::Mode;
use super::pen::{Color, Pen};
use super::scan::{clean_csi, text_len};
use super::screen::Screen;
use super::sgr;

/// The line that is being read.
#[derive(Debug, Default)]
pub(super) struct Overdraw {
    writer: LineWriter,
    line: Vec<u8>,
}

/// What drawing a row does.
struct Drawing {
    /// Bytes that it takes.
    len: usize,
    extent: Extent,
    filled: bool,
    pen: Pen,
    last_char: Option<char>,
}

impl Overdraw {
    /// After a cursor motion: takes the drawing of a whole row at the start of `bytes`, if there is one, and returns its length.
    pub(super) fn take(&mut self, screen: &mut Screen, bytes: &[u8]) -> usize {
        let cursor = screen.canvas.cursor;
        if cursor.column != 0
            || !screen.modes.contains(Mode::Autowrap)
            || screen.modes.contains(Mode::Insert)
            || !screen.charsets.is_plain()
            || !screen.settings.jump_scroll
        {
            return 0;
        }
        let link = screen.canvas.past().styles.links.key(screen.pen.link);
        let Some(drawing) = self.read(bytes, screen.pen, link, screen.canvas.columns()) else { return 0 };
        let Drawing { extent, filled, .. } = drawing;
        // Behind a coloured erase nothing can be appended.
        let end = self.writer.end().filter(|_| !filled);
        screen.canvas.put_line(cursor.row, Content { line: &self.line, extent, gaps: &[], end, filled });
        screen.pen = drawing.pen;
        screen.canvas.cursor.column = drawing.extent.cells() as u16;
        screen.canvas.work += drawing.len;
        if drawing.last_char.is_some() {
            screen.last_char = drawing.last_char;
        }
        drawing.len
    }

    /// Reads text and SGR up to an erase-to-the-end; `None` if anything else comes first, or if the text does not fit in a row.
    fn read(&mut self, bytes: &[u8], mut pen: Pen, link: Option<&str>, columns: u16) -> Option<Drawing> {
        self.line.clear();
        self.writer.start();
        let mut at = 0;
        let mut cells = 0;
        let mut wide = false;
        let mut last_char = None;
        loop {
            let rest = &bytes[at..];
            let (len, ascii) = text_len(rest);
            if len > 0 {
                let text = &rest[..len];
                if ascii {
                    cells += len;
                    last_char = Some(char::from(text[len - 1]));
                } else {
                    let text = std::str::from_utf8(text).ok()?;
                    let columns = bulk::simple_columns(text)? as usize;
                    wide |= columns != text.chars().count();
                    cells += columns;
                    last_char = text.chars().next_back();
                }
                if cells >= usize::from(columns) {
                    return None;
                }
                self.writer.set(&mut self.line, &Pen { link: LinkId::NONE, ..pen.seen() }, link);
                self.line.extend_from_slice(text);
                at += len;
                continue;
            }
            let len = clean_csi(rest)?;
            at += len;
            match &rest[2..len] {
                [params @ .., b'm'] if params.iter().all(|b| matches!(b, 0x30..=0x3b)) => {
                    sgr::apply(&mut pen, params);
                }
                b"K" | b"0K" => break,
                _ => return None,
            }
        }
        let filled = pen.background != Color::Default;
        if filled {
            self.writer.fill(&mut self.line, &pen.erase());
        }
        Some(Drawing { len: at, extent: Extent::new(cells as u32, wide), filled, pen, last_char })
    }
}
