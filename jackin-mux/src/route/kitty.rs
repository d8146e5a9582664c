//! kitty's graphics: what a command says, and the images that the operator's terminal keeps.

use std::collections::VecDeque;

use super::image::{Extent, Length, number, pairs, png_size};
use super::passthrough::Sequence;

/// A graphics command: keys with values, and what follows them.
pub(super) struct Kitty<'a> {
    control: &'a [u8],
    payload: &'a [u8],
}

/// How a program names an image: by a number of the terminal's, or by one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Id(u32),
    Number(u32),
}

impl<'a> Kitty<'a> {
    pub(super) fn of(sequence: &'a Sequence) -> Option<Self> {
        let body = sequence.bytes.strip_prefix(b"\x1b_G")?;
        let end = body.iter().position(|byte| matches!(byte, b';' | 0x1b)).unwrap_or(body.len());
        Some(Self { control: &body[..end], payload: body.get(end + 1..).unwrap_or_default() })
    }

    fn value(&self, key: u8) -> Option<&'a [u8]> {
        pairs(self.control, b',').find(|(own, _)| *own == [key]).map(|(_, value)| value)
    }

    /// A number above 0.
    fn number(&self, key: u8) -> Option<u32> {
        self.value(key).and_then(number).filter(|n| *n > 0)
    }

    /// Whether pieces of the same image follow.
    pub(super) fn has_more(&self) -> bool {
        self.value(b'm') == Some(b"1")
    }

    /// Whether it is only one more piece.
    pub(super) fn says_nothing(&self) -> bool {
        pairs(self.control, b',').all(|(key, _)| matches!(key, b"m" | b"q"))
    }

    fn name(&self) -> Option<Name> {
        self.number(b'i').map(Name::Id).or_else(|| self.number(b'I').map(Name::Number))
    }

    /// What it sends, in pixels; a PNG tells its own size.
    fn sent(&self) -> Option<(u32, u32)> {
        match (self.number(b's'), self.number(b'v')) {
            (Some(width), Some(height)) => Some((width, height)),
            _ if self.value(b'f') == Some(b"100") => png_size(self.payload),
            _ => None,
        }
    }

    /// What it draws, on a terminal whose cells have these pixels.
    pub(super) fn extent(&self, cell: (u16, u16), stored: &StoredImages) -> Extent {
        let places = self.value(b'a') == Some(b"p");
        let draws = places || self.value(b'a') == Some(b"T");
        // With `U=1` it is placed later, by characters.
        if !draws || self.value(b'U') == Some(b"1") {
            return Extent::default();
        }
        let whole = if places { self.name().and_then(|name| stored.size(name)) } else { self.sent() };
        let part = |length: u8, from: u8, whole: Option<u32>| {
            let left = || whole.map(|whole| whole.saturating_sub(self.number(from).unwrap_or(0)));
            self.number(length).or_else(left)
        };
        let width = part(b'w', b'x', whole.map(|(width, _)| width));
        let height = part(b'h', b'y', whole.map(|(_, height)| height));
        let pixels = |length: Option<u32>| length.map(Length::Pixels).unwrap_or_default();
        match (self.number(b'c'), self.number(b'r')) {
            (Some(cols), Some(rows)) => Extent { width: Length::Cells(cols), height: Length::Cells(rows) },
            // The other side follows, so that the image keeps its shape.
            (Some(cols), None) => {
                Extent { width: Length::Cells(cols), height: pixels(scaled(cols, cell.0, height, width)) }
            }
            (None, Some(rows)) => {
                Extent { width: pixels(scaled(rows, cell.1, width, height)), height: Length::Cells(rows) }
            }
            (None, None) => Extent { width: pixels(width), height: pixels(height) },
        }
    }
}

/// How long a side becomes whose neighbour, `from` pixels long, is drawn on so many cells.
fn scaled(cells: u32, pixels: u16, side: Option<u32>, from: Option<u32>) -> Option<u32> {
    let (side, from) = (u64::from(side?), u64::from(from?.max(1)));
    let drawn = u64::from(cells) * u64::from(pixels);
    Some(u32::try_from(drawn.saturating_mul(side).div_ceil(from)).unwrap_or(u32::MAX))
}

/// The sizes of images that were sent and may be placed later, by name. A terminal has one set of names for all panes.
#[derive(Debug, Default)]
pub(crate) struct StoredImages {
    sizes: VecDeque<(Name, (u32, u32))>,
}

/// Images whose sizes are remembered; of the others, and of those that only the terminal has seen, nobody knows.
const MOST_IMAGES: usize = 512;

impl StoredImages {
    /// Notes an image that is passed on.
    pub(crate) fn note(&mut self, sequence: &Sequence) {
        let Some(image) = Kitty::of(sequence) else { return };
        // Without an action, it is sent to be placed later.
        let sends = matches!(image.value(b'a'), None | Some(b"t" | b"T"));
        let Some(name) = image.name().filter(|_| sends) else { return };
        self.sizes.retain(|(known, _)| *known != name);
        if let Some(size) = image.sent() {
            if self.sizes.len() == MOST_IMAGES {
                self.sizes.pop_front();
            }
            self.sizes.push_back((name, size));
        }
    }

    fn size(&self, name: Name) -> Option<(u32, u32)> {
        self.sizes.iter().find(|(known, _)| *known == name).map(|(_, size)| *size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::image::tests::{PNG, kitty};

    fn fits(stored: &StoredImages, control: &str) -> bool {
        // At column 10 of 20 and row 2 of 5.
        kitty(control, "AAAA").fits(5, 20, (8, 16), stored)
    }

    #[test]
    fn a_placement_is_as_large_as_the_image_that_it_names() {
        let mut stored = StoredImages::default();
        assert!(fits(&stored, "a=p,i=7"), "nobody knows");
        stored.note(&kitty("a=t,i=7,s=81,v=48", "AAAA"));
        stored.note(&kitty("i=8,s=80,v=48", "AAAA"));
        stored.note(&kitty("I=7,f=100", PNG));
        assert!(!fits(&stored, "a=p,i=7") && fits(&stored, "a=p,i=8") && fits(&stored, "a=p,I=7"));
        assert!(
            fits(&stored, "a=p,i=7,x=1") && fits(&stored, "a=p,i=7,w=80") && fits(&stored, "a=p,i=7,c=1")
        );
        stored.note(&kitty("a=t,i=7,s=80,v=48", "AAAA"));
        assert!(fits(&stored, "a=p,i=7"), "another image by the same name");
        stored.note(&kitty("a=t,i=7,t=f", "L3RtcC94"));
        assert!(fits(&stored, "a=p,i=7"), "nobody knows any more");
    }

    #[test]
    fn an_image_keeps_its_shape_when_one_side_is_given() {
        let mut stored = StoredImages::default();
        stored.note(&kitty("a=t,i=1,s=10,v=60", "AAAA"));
        // A column of 8 pixels is 48 pixels high, three rows of 16; two columns are six.
        assert!(fits(&stored, "a=p,i=1,c=1") && !fits(&stored, "a=p,i=1,c=2"));
        stored.note(&kitty("a=t,i=1,s=400,v=10", "AAAA"));
        assert!(!fits(&stored, "a=p,i=1,r=1") && fits(&stored, "a=p,i=1,c=10"));
        assert!(!fits(&stored, "a=p,i=1,r=4294967295"));
    }

    #[test]
    fn the_oldest_image_is_forgotten() {
        let mut stored = StoredImages::default();
        for id in 1..=MOST_IMAGES as u32 + 1 {
            stored.note(&kitty(&format!("a=t,i={id},s=999,v=999"), "AAAA"));
        }
        assert!(fits(&stored, "a=p,i=1") && !fits(&stored, "a=p,i=2"));
        assert_eq!(stored.sizes.len(), MOST_IMAGES);
    }
}
