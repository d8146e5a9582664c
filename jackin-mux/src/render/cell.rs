use crate::vt::Pen;

/// What stands in one column of the operator's terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    text: Text,
    /// 1, 2, or 0 for the right half of a wide character.
    pub(super) width: u8,
    pub(super) pen: Pen,
}

/// One grapheme. Nearly all fit beside their length, which stands in the last byte; a long one costs an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Text {
    Short([u8; SHORT + 1]),
    Long(Box<str>),
}

const SHORT: usize = 14;
const NOTHING: Text = Text::Short([0; SHORT + 1]);

impl Cell {
    pub(crate) const fn blank(pen: Pen) -> Self {
        Self { text: NOTHING, width: 1, pen }
    }

    pub(crate) fn new(text: &str, width: u8, pen: Pen) -> Self {
        let mut bytes = [0; SHORT + 1];
        let text = match text.as_bytes() {
            // A space and a blank look the same; one of them is enough to compare.
            [] | [b' '] => NOTHING,
            &[byte] => {
                (bytes[0], bytes[SHORT]) = (byte, 1);
                Text::Short(bytes)
            }
            short if short.len() <= SHORT => {
                bytes[..short.len()].copy_from_slice(short);
                bytes[SHORT] = short.len() as u8;
                Text::Short(bytes)
            }
            _ => Text::Long(text.into()),
        };
        Self { text, width, pen }
    }

    /// The right half of a wide character.
    pub(super) const fn right_half(pen: Pen) -> Self {
        Self { text: NOTHING, width: 0, pen }
    }

    /// The bytes to print for it.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.text {
            Text::Short(bytes) if bytes[SHORT] == 0 => b" ",
            Text::Short(bytes) => &bytes[..usize::from(bytes[SHORT]).min(SHORT)],
            Text::Long(text) => text.as_bytes(),
        }
    }

    #[cfg(test)]
    pub(crate) fn width(&self) -> u8 {
        self.width
    }

    #[cfg(test)]
    pub(crate) fn pen(&self) -> Pen {
        self.pen
    }

    /// Whether it shows nothing at all, in the terminal's own colours.
    pub(super) fn is_empty(&self) -> bool {
        self.width == 1
            && matches!(self.text, Text::Short(bytes) if bytes[SHORT] == 0)
            && self.pen == Pen::default()
    }
}
