//! How large an image is that a program sends: in cells where it says so, else in pixels.

use super::kitty::{Kitty, StoredImages};
use super::passthrough::Sequence;
use crate::vt::SequenceKind;

/// What a sequence would draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) width: Length,
    pub(crate) height: Length,
}

/// One side of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Length {
    /// It does not say, or draws nothing.
    #[default]
    Unknown,
    Cells(u32),
    Pixels(u32),
}

impl Length {
    /// In cells, of which each has so many pixels; rounded up.
    fn cells(self, pixels: u16) -> Option<u32> {
        match self {
            Self::Unknown => None,
            Self::Cells(cells) => Some(cells),
            Self::Pixels(length) => Some(length.div_ceil(pixels.max(1).into())),
        }
    }
}

impl Sequence {
    /// Whether the image stays inside a pane of this size, on a terminal whose cells have these pixels. One whose size
    /// nobody can tell does; `stored` tells it of those that were sent before.
    pub(crate) fn fits(&self, rows: u16, cols: u16, cell_pixels: (u16, u16), stored: &StoredImages) -> bool {
        let Extent { width, height } = self.extent(cell_pixels, stored);
        let inside = |from: u16, length: Option<u32>, end: u16| {
            length.is_none_or(|cells| u32::from(from).saturating_add(cells) <= u32::from(end))
        };
        inside(self.col, width.cells(cell_pixels.0), cols)
            && inside(self.row, height.cells(cell_pixels.1), rows)
    }

    fn extent(&self, cell_pixels: (u16, u16), stored: &StoredImages) -> Extent {
        match self.kind {
            SequenceKind::Apc => Kitty::of(self).map(|image| image.extent(cell_pixels, stored)),
            SequenceKind::Dcs => self.bytes.strip_prefix(b"\x1bP").and_then(sixel),
            SequenceKind::Osc(1337) => self.bytes.strip_prefix(b"\x1b]1337;File=").map(iterm),
            SequenceKind::Osc(_) | SequenceKind::Other => None,
        }
        .unwrap_or_default()
    }

    /// Whether it is a piece of an image whose first piece said everything, and whether more follow.
    pub(crate) fn continues(&self) -> Option<bool> {
        let image = Kitty::of(self)?;
        image.says_nothing().then(|| image.has_more())
    }

    /// Whether pieces of the same image follow.
    pub(crate) fn is_first_of_several(&self) -> bool {
        Kitty::of(self).is_some_and(|image| image.has_more())
    }
}

pub(super) fn pairs(text: &[u8], separator: u8) -> impl Iterator<Item = (&[u8], &[u8])> {
    text.split(move |byte| *byte == separator).map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
        (&pair[..at], pair.get(at + 1..).unwrap_or_default())
    })
}

pub(super) fn number(text: &[u8]) -> Option<u32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// iTerm's files: `width=10;height=20px;inline=1:` and the file.
fn iterm(body: &[u8]) -> Extent {
    let end = body.iter().position(|byte| matches!(byte, b':' | 0x07 | 0x1b)).unwrap_or(body.len());
    let value = |key: &[u8]| pairs(&body[..end], b';').find(|(own, _)| *own == key).map(|(_, value)| value);
    if value(b"inline") != Some(b"1") {
        return Extent::default();
    }
    let length = |key| match value(key) {
        Some(text) => match text.strip_suffix(b"px") {
            Some(pixels) => number(pixels).map(Length::Pixels),
            None => number(text).map(Length::Cells),
        },
        None => None,
    };
    let file = body.get(end + 1..).and_then(png_size);
    Extent {
        width: length(b"width").or(file.map(|(width, _)| Length::Pixels(width))).unwrap_or_default(),
        height: length(b"height").or(file.map(|(_, height)| Length::Pixels(height))).unwrap_or_default(),
    }
}

/// Sixels: what the raster attributes say, or else as far as they are drawn.
fn sixel(body: &[u8]) -> Option<Extent> {
    let start = body.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';'))?;
    let data = body[start..].strip_prefix(b"q")?;
    if let Some(raster) = data.strip_prefix(b"\"") {
        let end = raster.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';')).unwrap_or(raster.len());
        let mut numbers = raster[..end].split(|byte| *byte == b';').skip(2).map(number);
        if let (Some(Some(width)), Some(Some(height))) = (numbers.next(), numbers.next()) {
            return Some(Extent { width: Length::Pixels(width), height: Length::Pixels(height) });
        }
    }
    let (mut width, mut col, mut bands) = (0u32, 0u32, 0u32);
    let (mut count, mut in_count, mut drawn) = (1u32, false, false);
    for &byte in data {
        match byte {
            0x1b => break,
            b'!' => (in_count, count) = (true, 0),
            b'0'..=b'9' if in_count => {
                count = count.saturating_mul(10).saturating_add(u32::from(byte - b'0'));
            }
            b'?'..=b'~' => {
                col = col.saturating_add(count);
                width = width.max(col);
                (in_count, count, drawn) = (false, 1, true);
            }
            b'$' => col = 0,
            b'-' => {
                col = 0;
                bands = bands.saturating_add(1);
                drawn = false;
            }
            _ => {}
        }
    }
    let height = bands.saturating_add(u32::from(drawn)).saturating_mul(6);
    Some(Extent { width: Length::Pixels(width), height: Length::Pixels(height) })
}

/// The size of a PNG whose file stands here as base64: its first chunk tells it.
pub(super) fn png_size(base64: &[u8]) -> Option<(u32, u32)> {
    let base64 = base64.get(..32)?;
    let mut bytes = [0; 24];
    for (digits, into) in base64.chunks_exact(4).zip(bytes.chunks_exact_mut(3)) {
        let mut bits = 0;
        for &digit in digits {
            bits = bits << 6 | base64_value(digit)?;
        }
        into.copy_from_slice(&bits.to_be_bytes()[1..]);
    }
    let side = |at: usize| <[u8; 4]>::try_from(&bytes[at..at + 4]).ok().map(u32::from_be_bytes);
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") { side(16).zip(side(20)) } else { None }
}

fn base64_value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn sequence(kind: SequenceKind, bytes: &str) -> Sequence {
        Sequence { kind, bytes: bytes.as_bytes().to_vec(), row: 2, col: 10 }
    }

    pub(crate) fn kitty(control: &str, payload: &str) -> Sequence {
        sequence(SequenceKind::Apc, &format!("\x1b_G{control};{payload}\x1b\\"))
    }

    /// The first bytes of a PNG of 40 by 33 pixels.
    pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAACgAAAAhCAYAAAAA";

    #[test]
    fn a_size_in_cells_counts_before_one_in_pixels() {
        let fits = |control: &str| kitty(control, "AAAA").fits(5, 20, (8, 16), &StoredImages::default());
        assert!(fits("a=T,c=10,r=3") && !fits("a=T,c=11,r=3") && !fits("a=T,c=1,r=4"));
        assert!(!fits("a=T,c=4294967295"));
        assert!(fits("a=T,s=80,v=48") && !fits("a=T,s=81,v=48") && !fits("a=T,s=80,v=49"));
        assert!(fits("a=T,s=9999,v=9999,c=1,r=1"));
        assert!(fits("a=p,i=1,w=80,h=48") && !fits("a=p,i=1,w=81,h=48"));
    }

    #[test]
    fn what_draws_nothing_needs_no_room() {
        let fits = |control: &str| kitty(control, "AAAA").fits(5, 20, (8, 16), &StoredImages::default());
        assert!(fits("a=t,s=9999,v=9999") && fits("a=q,s=9999,v=9999") && fits("s=9999,v=9999"));
        assert!(fits("a=T,U=1,s=9999,v=9999"), "placed later, by characters");
        let file = sequence(SequenceKind::Osc(1337), "\x1b]1337;File=width=99:AAAA\x07");
        assert!(file.fits(5, 20, (8, 16), &StoredImages::default()), "a download");
    }

    #[test]
    fn a_png_tells_its_own_size() {
        let image = kitty("a=T,f=100", PNG);
        let size = Extent { width: Length::Pixels(40), height: Length::Pixels(33) };
        assert_eq!(image.extent((8, 16), &StoredImages::default()), size);
        let fits = |width, height| image.fits(5, 20, (width, height), &StoredImages::default());
        assert!(fits(4, 11) && !fits(4, 10) && !fits(3, 11));
        assert_eq!(
            kitty("a=T,f=100", "AAAA").extent((8, 16), &StoredImages::default()),
            Extent::default(),
            "it is cut off"
        );
        let file = format!("\x1b]1337;File=name=eA==;inline=1:{PNG}\x07");
        assert_eq!(sequence(SequenceKind::Osc(1337), &file).extent((8, 16), &StoredImages::default()), size);
        let file = format!("\x1b]1337;File=inline=1;width=3;height=9px:{PNG}\x07");
        let said = Extent { width: Length::Cells(3), height: Length::Pixels(9) };
        assert_eq!(sequence(SequenceKind::Osc(1337), &file).extent((8, 16), &StoredImages::default()), said);
    }

    #[test]
    fn sixels_are_measured() {
        let extent = |data: &str| {
            sequence(SequenceKind::Dcs, &format!("\x1bP0;1q{data}\x1b\\"))
                .extent((8, 16), &StoredImages::default())
        };
        let pixels = |w, h| Extent { width: Length::Pixels(w), height: Length::Pixels(h) };
        assert_eq!(extent("\"1;1;120;48#0~"), pixels(120, 48));
        assert_eq!(extent("#0;2;0;0;0#0~~@@$vv!10?-~"), pixels(12, 12));
        assert_eq!(extent("!99999999999~-"), pixels(u32::MAX, 6));
        assert_eq!(
            sequence(SequenceKind::Dcs, "\x1bPtmux;x\x1b\\").extent((8, 16), &StoredImages::default()),
            Extent::default()
        );
    }

    #[test]
    fn pieces_of_one_image_are_known() {
        assert_eq!(kitty("m=1", "AAAA").continues(), Some(true));
        assert_eq!(kitty("m=0,q=2", "AAAA").continues(), Some(false));
        assert_eq!(kitty("a=T,m=1", "AAAA").continues(), None);
        assert!(
            kitty("a=T,m=1", "AAAA").is_first_of_several() && !kitty("a=T", "AAAA").is_first_of_several()
        );
    }
}
