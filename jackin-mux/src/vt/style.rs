//! What vt100's cells cannot hold: pens with more than its attributes, and graphemes longer than its cells.
//!
//! A plain pen goes to vt100 as it is. Any other look, and any text that needs a stand-in, gets a number here; the cell in
//! vt100 then has [`MARKER`] as its background and the number as its foreground, and keeps both through every move of the grid.

use std::collections::{BTreeMap, BTreeSet};

use super::link::{LinkId, Links};
use super::pen::{Attributes, Color, Pen, Underline};
use super::sgr::push_color;

/// The background that says "the foreground is a style number". A pen that really uses it is interned.
pub(super) const MARKER: Color = Color::Rgb(0x0b, 0xad, 0x1d);
/// Drawn in place of a grapheme of one column.
pub(super) const NARROW_STAND_IN: char = '\u{e0a0}';
/// Drawn in place of a grapheme of two columns.
pub(super) const WIDE_STAND_IN: char = '\u{3000}';
/// The text of the style that fills the last column when a wide character did not fit there.
pub(super) const SPACER: &str = "\0";

/// Most styles that one pane keeps at a time; when they are used up, a pen loses what vt100 cannot hold.
const MOST_STYLES: usize = 8192;
/// After a collection that freed less than this, so many refusals pass before the next one: collecting stays linear.
const WORTH_COLLECTING: usize = MOST_STYLES / 8;

/// A pen as vt100 has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RawPen {
    pub(super) foreground: Color,
    pub(super) background: Color,
    pub(super) bold: bool,
    pub(super) dim: bool,
    pub(super) italic: bool,
    pub(super) underline: bool,
    pub(super) inverse: bool,
}

impl RawPen {
    /// Appends the SGR that turns `from` into this pen.
    pub(super) fn write(self, out: &mut Vec<u8>, from: Self) {
        let to = self;
        if to == RawPen::default() {
            out.extend_from_slice(b"\x1b[m");
            return;
        }
        out.extend_from_slice(b"\x1b[");
        if (from.bold, from.dim) != (to.bold, to.dim) {
            out.extend_from_slice(match (to.bold, to.dim) {
                (true, _) => b"1;" as &[u8],
                (_, true) => b"2;",
                _ => b"22;",
            });
        }
        let flags: [(bool, bool, &[u8], &[u8]); 3] = [
            (from.italic, to.italic, b"3;", b"23;"),
            (from.underline, to.underline, b"4;", b"24;"),
            (from.inverse, to.inverse, b"7;", b"27;"),
        ];
        for (from, to, on, off) in flags {
            if from != to {
                out.extend_from_slice(if to { on } else { off });
            }
        }
        if from.foreground != to.foreground {
            push_color(out, to.foreground, 30);
        }
        if from.background != to.background {
            push_color(out, to.background, 40);
        }
        out.pop();
        out.push(b'm');
    }
}

/// The styles and links alive in one pane.
#[derive(Debug, Default)]
pub(super) struct Styles {
    numbers: BTreeMap<Style, u32>,
    by_number: Vec<Option<Style>>,
    free: Vec<u32>,
    refusals_before_collecting: usize,
    /// The last answer: runs of equal pens ask again and again.
    last: Option<(Pen, RawPen)>,
    /// The same for stand-ins.
    last_text: Option<(Style, RawPen)>,
    pub(super) links: Links,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Style {
    pub(super) pen: Pen,
    /// The grapheme that the cell stands for; empty if the cell holds its own text.
    pub(super) text: Box<str>,
}

/// The table is full; see [`Styles::retain`].
#[derive(Debug)]
pub(super) struct Full;

impl Styles {
    /// The raw pen for `pen`, interning it if vt100 cannot hold it.
    #[inline]
    pub(super) fn raw(&mut self, pen: &Pen) -> Result<RawPen, Full> {
        if is_plain(pen) {
            return Ok(plain(pen));
        }
        let pen = &pen.seen();
        if let Some((last, raw)) = self.last
            && last == *pen
        {
            return Ok(raw);
        }
        let raw = self.intern(pen, "")?;
        self.last = Some((*pen, raw));
        Ok(raw)
    }

    /// The raw pen for a stand-in that carries `text`.
    pub(super) fn intern(&mut self, pen: &Pen, text: &str) -> Result<RawPen, Full> {
        let pen = pen.seen();
        if let Some((last, raw)) = &self.last_text
            && last.pen == pen
            && &*last.text == text
        {
            return Ok(*raw);
        }
        let style = Style { pen, text: text.into() };
        let number = self.number_of(&style)?;
        self.last_text = Some((style, numbered(number)));
        Ok(numbered(number))
    }

    fn number_of(&mut self, style: &Style) -> Result<u32, Full> {
        if let Some(&number) = self.numbers.get(style) {
            return Ok(number);
        }
        let number = match self.free.pop() {
            Some(number) => number,
            None if self.by_number.len() < MOST_STYLES => {
                self.by_number.push(None);
                self.by_number.len() as u32 - 1
            }
            None => return Err(Full),
        };
        self.by_number[number as usize] = Some(style.clone());
        self.numbers.insert(style.clone(), number);
        Ok(number)
    }

    /// Whether a refused pen should collect now, or do without.
    pub(super) fn worth_collecting(&mut self) -> bool {
        self.refusals_before_collecting = self.refusals_before_collecting.saturating_sub(1);
        self.refusals_before_collecting == 0
    }

    /// Keeps the styles of `used` and the links that they or `links_held` name.
    pub(super) fn retain(&mut self, used: &BTreeSet<u32>, links_held: impl IntoIterator<Item = LinkId>) {
        self.last = None;
        self.last_text = None;
        let mut links: BTreeSet<LinkId> = links_held.into_iter().collect();
        let mut freed = 0;
        for (number, slot) in self.by_number.iter_mut().enumerate() {
            if used.contains(&(number as u32)) {
                links.extend(slot.as_ref().map(|style| style.pen.link));
            } else if let Some(style) = slot.take() {
                self.numbers.remove(&style);
                self.free.push(number as u32);
                freed += 1;
            }
        }
        self.links.retain(&links);
        self.refusals_before_collecting = if freed < WORTH_COLLECTING { WORTH_COLLECTING } else { 0 };
    }

    /// The style of a cell, if it has a number.
    #[inline]
    pub(super) fn of(&self, foreground: Color, background: Color) -> Option<&Style> {
        if background != MARKER {
            return None;
        }
        self.by_number.get(number(foreground)? as usize)?.as_ref()
    }
}

/// The number that a marked cell's foreground says.
pub(super) fn number(foreground: Color) -> Option<u32> {
    match foreground {
        Color::Rgb(r, g, b) => Some(u32::from_be_bytes([0, r, g, b])),
        Color::Default | Color::Indexed(_) => None,
    }
}

fn numbered(number: u32) -> RawPen {
    let [_, r, g, b] = number.to_be_bytes();
    RawPen { foreground: Color::Rgb(r, g, b), background: MARKER, ..RawPen::default() }
}

#[inline]
fn is_plain(pen: &Pen) -> bool {
    const HELD: Attributes = Attributes::BOLD;
    let beyond = pen
        .attributes
        .without(HELD | Attributes::DIM)
        .without(Attributes::ITALIC)
        .without(Attributes::INVERSE);
    beyond.is_empty()
        && !pen.attributes.contains(Attributes::BOLD | Attributes::DIM)
        && matches!(pen.underline, Underline::None | Underline::Single)
        && (pen.underline == Underline::None || pen.underline_color == Color::Default)
        && pen.link.is_none()
        && pen.background != MARKER
}

/// The pen as far as vt100 can hold it.
#[inline]
pub(super) fn plain(pen: &Pen) -> RawPen {
    let bold = pen.attributes.contains(Attributes::BOLD);
    RawPen {
        foreground: pen.foreground,
        background: if pen.background == MARKER { Color::Default } else { pen.background },
        bold,
        dim: !bold && pen.attributes.contains(Attributes::DIM),
        italic: pen.attributes.contains(Attributes::ITALIC),
        underline: pen.underline != Underline::None,
        inverse: pen.attributes.contains(Attributes::INVERSE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_vt100_cannot_hold_is_numbered() {
        let mut styles = Styles::default();
        let bold = Pen { attributes: Attributes::BOLD, background: Color::Rgb(1, 2, 3), ..Pen::default() };
        assert!(styles.raw(&bold).unwrap().bold);
        assert!(styles.by_number.is_empty());
        for pen in [
            Pen { underline: Underline::Curly, ..bold },
            Pen { attributes: Attributes::BOLD | Attributes::DIM, ..bold },
            Pen { background: MARKER, ..bold },
            Pen { link: LinkId(3), ..bold },
        ] {
            let raw = styles.raw(&pen).unwrap();
            assert_eq!(styles.of(raw.foreground, raw.background).unwrap().pen, pen);
        }
    }

    #[test]
    fn a_full_table_refuses_until_it_is_collected() {
        let mut styles = Styles::default();
        for n in 0..MOST_STYLES {
            styles.intern(&Pen::default(), &n.to_string()).unwrap();
        }
        assert!(styles.intern(&Pen::default(), "more").is_err());
        assert!(styles.worth_collecting());
        styles.retain(&(1..MOST_STYLES as u32).collect(), []);
        assert!(styles.intern(&Pen::default(), "more").is_ok());
        assert!(styles.intern(&Pen::default(), "and more").is_err());
        assert!(!styles.worth_collecting(), "a collection that freed one style is not repeated at once");
    }
}
