use crate::vt::Pen;

/// What stands in one column of the operator's terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    text: Text,
    /// 1, 2, or 0 for the right half of a wide character.
    pub(super) width: u8,
    pub(super) pen: Pen,
}

/// One grapheme. Nearly all fit beside their length; a long one costs an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Text {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Box<str>),
}

const SHORT: usize = 14;

impl Cell {
    pub(crate) const fn blank(pen: Pen) -> Self {
        Self { text: Text::Short { len: 0, bytes: [0; SHORT] }, width: 1, pen }
    }

    pub(crate) fn new(text: &str, width: u8, pen: Pen) -> Self {
        // A space and a blank look the same; one of them is enough to compare.
        let text = if text == " " { "" } else { text };
        let text = if text.len() <= SHORT {
            let mut bytes = [0; SHORT];
            bytes[..text.len()].copy_from_slice(text.as_bytes());
            Text::Short { len: text.len() as u8, bytes }
        } else {
            Text::Long(text.into())
        };
        Self { text, width, pen }
    }

    /// The right half of a wide character.
    pub(super) const fn right_half(pen: Pen) -> Self {
        Self { text: Text::Short { len: 0, bytes: [0; SHORT] }, width: 0, pen }
    }

    /// The bytes to print for it.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.text {
            Text::Short { len: 0, .. } => b" ",
            Text::Short { len, bytes } => &bytes[..usize::from(*len)],
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
        self.width == 1 && matches!(self.text, Text::Short { len: 0, .. }) && self.pen == Pen::default()
    }
}
