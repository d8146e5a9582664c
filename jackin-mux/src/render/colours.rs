use crate::vt::{Attributes, Color, Pen, Underline};

/// What the operator's terminal can show, as far as its environment and its answers tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pub(crate) colours: ColourDepth,
    /// Synchronized output (mode 2026).
    pub(crate) synchronized: bool,
    /// Underlines with shape and colour.
    pub(crate) underlines: bool,
    /// OSC 8.
    pub(crate) links: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ColourDepth {
    /// None at all.
    Monochrome,
    /// The 16 named ones.
    Named,
    /// The palette of 256.
    Indexed,
    /// 24 bits.
    True,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self { colours: ColourDepth::True, synchronized: true, underlines: true, links: true }
    }
}

impl Capabilities {
    /// What the variables `TERM` and `COLORTERM` promise. Synchronized output is only ever known by asking.
    pub(crate) fn from_environment(term: Option<&str>, colorterm: Option<&str>) -> Self {
        let term = term.unwrap_or_default();
        let direct = matches!(colorterm, Some("truecolor" | "24bit"))
            || term.ends_with("-direct")
            || ["kitty", "ghostty", "alacritty", "wezterm", "foot"].iter().any(|name| term.contains(name));
        let colours = if direct {
            ColourDepth::True
        } else if term.contains("256color") {
            ColourDepth::Indexed
        } else if matches!(term, "dumb" | "vt100" | "vt102" | "vt220" | "") {
            ColourDepth::Monochrome
        } else {
            ColourDepth::Named
        };
        // The Linux console prints what it does not know.
        let modern = !matches!(term, "linux" | "dumb" | "vt100" | "vt102" | "vt220" | "");
        Self { colours, synchronized: false, underlines: modern, links: modern }
    }

    /// The pen as this terminal can show it.
    pub(crate) fn reduce(self, pen: Pen) -> Pen {
        let mut pen = pen;
        if self.colours < ColourDepth::True {
            pen.foreground = self.reduce_colour(pen.foreground);
            pen.background = self.reduce_colour(pen.background);
            pen.underline_color = self.reduce_colour(pen.underline_color);
        }
        if !self.underlines {
            pen.underline_color = Color::Default;
            pen.attributes = pen.attributes.without(Attributes::OVERLINE);
            if pen.underline != Underline::None {
                pen.underline = Underline::Single;
            }
        }
        pen
    }

    fn reduce_colour(self, colour: Color) -> Color {
        match (self.colours, colour) {
            (ColourDepth::Monochrome, _) => Color::Default,
            (ColourDepth::Indexed, Color::Rgb(r, g, b)) => Color::Indexed(nearest_of_256(r, g, b)),
            (ColourDepth::Named, Color::Rgb(r, g, b)) => Color::Indexed(nearest_of_16(r, g, b)),
            (ColourDepth::Named, Color::Indexed(index @ 16..)) => {
                let (r, g, b) = rgb_of(index);
                Color::Indexed(nearest_of_16(r, g, b))
            }
            (_, colour) => colour,
        }
    }
}

/// The levels of the palette's colour cube.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// What the named colours usually look like; the operator may have chosen others.
const NAMED: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

/// What a palette entry usually looks like.
pub(crate) fn rgb_of(index: u8) -> (u8, u8, u8) {
    match index {
        ..16 => NAMED[usize::from(index)],
        16..232 => {
            let index = index - 16;
            let level = |n: u8| CUBE[usize::from(n % 6)];
            (level(index / 36), level(index / 6), level(index))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    }
}

/// Of the cube's and the grey ramp's nearest entries, the nearer one.
fn nearest_of_256(r: u8, g: u8, b: u8) -> u8 {
    let nearest = |value: u8| (0..6u8).min_by_key(|&n| value.abs_diff(CUBE[usize::from(n)])).unwrap_or(0);
    let cube = 16 + 36 * nearest(r) + 6 * nearest(g) + nearest(b);
    let average = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let grey = 232 + (average.saturating_sub(3) / 10).min(23) as u8;
    if distance((r, g, b), rgb_of(grey)) < distance((r, g, b), rgb_of(cube)) { grey } else { cube }
}

fn nearest_of_16(r: u8, g: u8, b: u8) -> u8 {
    (0..16u8).min_by_key(|&n| distance((r, g, b), NAMED[usize::from(n)])).unwrap_or(7)
}

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    [(a.0, b.0), (a.1, b.1), (a.2, b.2)].iter().map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_palette_colours_are_kept() {
        for index in 16..=255u8 {
            let (r, g, b) = rgb_of(index);
            assert_eq!(rgb_of(nearest_of_256(r, g, b)), (r, g, b), "{index}");
        }
        for (index, &(r, g, b)) in NAMED.iter().enumerate() {
            assert_eq!(usize::from(nearest_of_16(r, g, b)), index);
        }
    }

    #[test]
    fn the_environment_promises() {
        let colours = |term, colorterm| Capabilities::from_environment(term, colorterm).colours;
        assert_eq!(colours(Some("xterm-256color"), Some("truecolor")), ColourDepth::True);
        assert_eq!(colours(Some("xterm-ghostty"), None), ColourDepth::True);
        assert_eq!(colours(Some("screen-256color"), None), ColourDepth::Indexed);
        assert_eq!(colours(Some("xterm"), None), ColourDepth::Named);
        assert_eq!(colours(Some("dumb"), None), ColourDepth::Monochrome);
        assert!(!Capabilities::from_environment(Some("linux"), None).links);
    }

    #[test]
    fn a_pen_loses_only_what_cannot_be_shown() {
        let pen = Pen {
            foreground: Color::Rgb(255, 0, 0),
            background: Color::Indexed(21),
            underline: Underline::Curly,
            underline_color: Color::Rgb(0, 0, 255),
            attributes: Attributes::BOLD,
            ..Pen::default()
        };
        assert_eq!(Capabilities::default().reduce(pen), pen);
        let plain = Capabilities::from_environment(Some("linux"), None).reduce(pen);
        assert_eq!((plain.foreground, plain.background), (Color::Indexed(9), Color::Indexed(4)));
        assert_eq!((plain.underline, plain.underline_color), (Underline::Single, Color::Default));
        assert!(plain.attributes.contains(Attributes::BOLD));
    }
}
