//! How a cell looks: colours, attributes, underline, link.

use std::ops::{BitAnd, BitOr, BitOrAssign};

use super::link::LinkId;

/// Everything that decides how the next character will look, and how a drawn cell does look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pen {
    /// Colour of the text.
    pub foreground: Color,
    /// Colour behind the text.
    pub background: Color,
    /// Colour of the underline; `Default` follows the text.
    pub underline_color: Color,
    /// Shape of the underline.
    pub underline: Underline,
    /// Bold, dim, italic and the rest.
    pub attributes: Attributes,
    /// The hyperlink; what the id stands for is asked of the row or the terminal that the pen came from.
    pub link: LinkId,
}

impl Pen {
    /// The pen without what cannot be seen: the colour of no underline.
    #[inline]
    pub(super) fn seen(self) -> Self {
        if self.underline == Underline::None {
            Self { underline_color: Color::Default, ..self }
        } else {
            self
        }
    }

    /// The pen that erased cells get: the background alone (background-colour erase).
    pub fn erase(self) -> Self {
        Self { background: self.background, ..Self::default() }
    }
}

/// A colour as the program named it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Color {
    /// Whatever the terminal uses when nothing is set.
    #[default]
    Default,
    /// One of the 256 palette entries; 0 to 15 are the named colours.
    Indexed(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

/// The shape of an underline (SGR 4:0 to 4:5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Underline {
    /// No underline.
    #[default]
    None,
    /// One line.
    Single,
    /// Two lines.
    Double,
    /// A wave, as editors draw under mistakes.
    Curly,
    /// Dots.
    Dotted,
    /// Dashes.
    Dashed,
}

/// A set of on-or-off attributes.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attributes(u16);

impl Attributes {
    /// No attribute.
    pub const NONE: Self = Self(0);
    /// SGR 1.
    pub const BOLD: Self = Self(1);
    /// SGR 2.
    pub const DIM: Self = Self(1 << 1);
    /// SGR 3.
    pub const ITALIC: Self = Self(1 << 2);
    /// SGR 5 and 6.
    pub const BLINK: Self = Self(1 << 3);
    /// SGR 7.
    pub const INVERSE: Self = Self(1 << 4);
    /// SGR 8.
    pub const HIDDEN: Self = Self(1 << 5);
    /// SGR 9.
    pub const STRIKE: Self = Self(1 << 6);
    /// SGR 53.
    pub const OVERLINE: Self = Self(1 << 7);

    /// Whether every attribute of `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether no attribute is set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// This set without the attributes of `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) const fn from_bits(bits: u8) -> Self {
        Self(bits as u16)
    }

    pub(super) const fn bits(self) -> u16 {
        self.0
    }
}

impl BitOr for Attributes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Attributes {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl BitAnd for Attributes {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl std::fmt::Debug for Attributes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const NAMES: [(Attributes, &str); 8] = [
            (Attributes::BOLD, "bold"),
            (Attributes::DIM, "dim"),
            (Attributes::ITALIC, "italic"),
            (Attributes::BLINK, "blink"),
            (Attributes::INVERSE, "inverse"),
            (Attributes::HIDDEN, "hidden"),
            (Attributes::STRIKE, "strike"),
            (Attributes::OVERLINE, "overline"),
        ];
        f.debug_set()
            .entries(NAMES.iter().filter(|(bit, _)| self.contains(*bit)).map(|(_, name)| name))
            .finish()
    }
}
