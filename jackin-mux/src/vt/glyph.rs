//! Characters, their widths, and which of them make one grapheme.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How a character behaves in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Takes a cell of its own.
    Narrow,
    /// Takes two cells.
    Wide,
    /// Joins the cell before it without changing its width.
    Mark,
    /// May join the grapheme before it and change its width: variation selector 16, joiner, skin tone, flag letters.
    Joiner,
    /// Shows nothing and moves nothing (C1 controls, unassigned width).
    Nothing,
    /// Takes one cell, but vt100 would drop it.
    Replacement,
}

/// Longest grapheme kept; further marks are dropped.
pub(super) const LONGEST_GRAPHEME: usize = 64;

#[inline]
pub(super) fn class(c: char) -> Class {
    match c as u32 {
        0x20..=0x7e | 0xa0..=0xac | 0xae..=0x2ff => Class::Narrow,
        0..=0x1f | 0x7f..=0x9f => Class::Nothing,
        0x370..=0x482 | 0x2500..=0x259f => Class::Narrow,
        0x3041..=0x3096 | 0x30a1..=0x30fa | 0x4e00..=0x9fff | 0xac00..=0xd7a3 => Class::Wide,
        0xfe0f | 0x200d | 0x1f1e6..=0x1f1ff | 0x1f3fb..=0x1f3ff => Class::Joiner,
        0xfffd => Class::Replacement,
        _ => match c.width() {
            Some(0) => Class::Mark,
            Some(1) | None => Class::Narrow,
            Some(_) => Class::Wide,
        },
    }
}

/// Columns of a character that starts a cell: 1 or 2.
#[inline]
pub(super) fn columns(class: Class) -> u16 {
    if class == Class::Wide { 2 } else { 1 }
}

/// The class of a joiner that found nothing to join: a skin tone is an emoji, a flag letter a letter, the others nothing.
pub(super) fn alone(c: char) -> Class {
    match c as u32 {
        0x1f3fb..=0x1f3ff => Class::Wide,
        0x1f1e6..=0x1f1ff => Class::Narrow,
        _ => Class::Nothing,
    }
}

/// A grapheme being built: what the last cell shows, so that what follows can join it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grapheme {
    bytes: [u8; LONGEST_GRAPHEME],
    len: u8,
}

impl Grapheme {
    pub(super) const EMPTY: Self = Self { bytes: [0; LONGEST_GRAPHEME], len: 0 };

    pub(super) fn of(c: char) -> Self {
        let mut grapheme = Self::EMPTY;
        grapheme.push(c);
        grapheme
    }

    pub(super) fn as_str(&self) -> &str {
        // Only whole characters are ever appended.
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends `c`; false if there is no room.
    pub(super) fn push(&mut self, c: char) -> bool {
        let start = usize::from(self.len);
        let Some(room) = self.bytes.get_mut(start..start + c.len_utf8()) else { return false };
        c.encode_utf8(room);
        self.len += c.len_utf8() as u8;
        true
    }

    /// Whether the next character has to be asked whether it joins, even if it usually starts a cell.
    pub(super) fn wants_more(&self) -> bool {
        self.as_str().ends_with('\u{200d}')
    }

    /// This grapheme with `c`, if the two are one grapheme by the rules of Unicode.
    pub(super) fn joined(&self, c: char) -> Option<Self> {
        if self.is_empty() {
            return None;
        }
        let mut joined = *self;
        if !joined.push(c) || joined.as_str().graphemes(true).nth(1).is_some() {
            return None;
        }
        Some(joined)
    }

    /// Columns of the whole: 1 or 2.
    pub(super) fn columns(&self) -> u16 {
        if self.as_str().width() > 1 { 2 } else { 1 }
    }
}

/// Splits text into graphemes as they are drawn: the same rules as drawing character by character, for text that is already stored.
pub(super) struct Graphemes<'a> {
    rest: &'a str,
}

impl<'a> Graphemes<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }
}

impl<'a> Iterator for Graphemes<'a> {
    type Item = (&'a str, u16);

    #[inline]
    fn next(&mut self) -> Option<(&'a str, u16)> {
        let bytes = self.rest.as_bytes();
        let first = *bytes.first()?;
        // Two ASCII bytes in a row: the first stands alone.
        if first < 0x80 && bytes.get(1).is_none_or(|&b| b < 0x80) {
            let (head, tail) = self.rest.split_at(1);
            self.rest = tail;
            return Some((head, 1));
        }
        let mut chars = self.rest.char_indices();
        let (_, c) = chars.next()?;
        let class = match class(c) {
            Class::Joiner => alone(c),
            other => other,
        };
        let mut width = columns(class);
        let mut grapheme = Grapheme::of(c);
        let mut end = c.len_utf8();
        for (at, c) in chars {
            match self::class(c) {
                Class::Mark => {
                    grapheme.push(c);
                }
                Class::Joiner => match grapheme.joined(c) {
                    Some(joined) => {
                        grapheme = joined;
                        width = grapheme.columns();
                    }
                    None => break,
                },
                _ if grapheme.wants_more() => match grapheme.joined(c) {
                    Some(joined) => {
                        grapheme = joined;
                        width = grapheme.columns();
                    }
                    None => break,
                },
                _ => break,
            }
            end = at + c.len_utf8();
        }
        let (head, tail) = self.rest.split_at(end);
        self.rest = tail;
        Some((head, width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(&str, u16)> {
        Graphemes::new(text).collect()
    }

    #[test]
    fn emoji_sequences_are_one_cell_pair() {
        for emoji in ["👨‍👩‍👧‍👦", "👍🏽", "🇩🇪", "❤️", "1️⃣", "🏳️‍🌈"]
        {
            assert_eq!(split(emoji), [(emoji, 2)], "{emoji}");
        }
        assert_eq!(split("🇩🇪🇫🇷x"), [("🇩🇪", 2), ("🇫🇷", 2), ("x", 1)]);
    }

    #[test]
    fn marks_stay_with_their_letter() {
        assert_eq!(split("e\u{301}x中"), [("e\u{301}", 1), ("x", 1), ("中", 2)]);
    }

    #[test]
    fn the_short_cut_agrees_with_the_width_tables() {
        for c in ('\0'..=char::MAX).filter(|c| !matches!(class(*c), Class::Joiner | Class::Nothing)) {
            let expected = c.width().unwrap_or(1).min(2);
            let found = match class(c) {
                Class::Mark => 0,
                other => usize::from(columns(other)),
            };
            assert_eq!(found, expected, "{c:?}");
        }
    }
}
