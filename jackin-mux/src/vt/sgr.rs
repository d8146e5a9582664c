//! SGR: the parameters of `CSI … m`, read into a pen and written from one.

use super::number::{push_number, read_number};
use super::pen::{Attributes, Color, Pen, Underline};

/// Applies the parameter bytes of `CSI … m` (digits, `;` and `:` only) to `pen`. The link is no part of SGR and stays.
///
/// Reads the bytes once, however long the list is; what is not understood is skipped.
pub fn apply(pen: &mut Pen, params: &[u8]) {
    let mut rest = Params { bytes: params, done: false };
    while let Some(param) = rest.next() {
        match param.value {
            0 => *pen = Pen { link: pen.link, ..Pen::default() },
            1 => pen.attributes |= Attributes::BOLD,
            2 => pen.attributes |= Attributes::DIM,
            3 => pen.attributes |= Attributes::ITALIC,
            4 => pen.underline = underline(param),
            5 | 6 => pen.attributes |= Attributes::BLINK,
            7 => pen.attributes |= Attributes::INVERSE,
            8 => pen.attributes |= Attributes::HIDDEN,
            9 => pen.attributes |= Attributes::STRIKE,
            21 => pen.underline = Underline::Double,
            22 => pen.attributes = pen.attributes.without(Attributes::BOLD | Attributes::DIM),
            23 => pen.attributes = pen.attributes.without(Attributes::ITALIC),
            24 => pen.underline = Underline::None,
            25 => pen.attributes = pen.attributes.without(Attributes::BLINK),
            27 => pen.attributes = pen.attributes.without(Attributes::INVERSE),
            28 => pen.attributes = pen.attributes.without(Attributes::HIDDEN),
            29 => pen.attributes = pen.attributes.without(Attributes::STRIKE),
            n @ 30..=37 => pen.foreground = Color::Indexed((n - 30) as u8),
            38 => set_color(&mut pen.foreground, param, &mut rest),
            39 => pen.foreground = Color::Default,
            n @ 40..=47 => pen.background = Color::Indexed((n - 40) as u8),
            48 => set_color(&mut pen.background, param, &mut rest),
            49 => pen.background = Color::Default,
            53 => pen.attributes |= Attributes::OVERLINE,
            55 => pen.attributes = pen.attributes.without(Attributes::OVERLINE),
            58 => set_color(&mut pen.underline_color, param, &mut rest),
            59 => pen.underline_color = Color::Default,
            n @ 90..=97 => pen.foreground = Color::Indexed((n - 82) as u8),
            n @ 100..=107 => pen.background = Color::Indexed((n - 92) as u8),
            _ => {}
        }
    }
}

/// Appends the SGR that turns `from` into `to`; nothing if they look the same. Links are not SGR and are ignored.
pub fn write_sgr(out: &mut Vec<u8>, from: &Pen, to: &Pen) {
    let plain = Pen { link: from.link, ..Pen::default() };
    let to = &Pen { link: from.link, ..*to };
    if from == to {
        return;
    }
    if *to == plain {
        out.extend_from_slice(b"\x1b[m");
        return;
    }
    out.extend_from_slice(b"\x1b[");
    let start = out.len();
    let dropped = from.attributes.without(to.attributes);
    // Bold and dim share one reset, so a change of either re-sends the other.
    let mut have = from.attributes;
    if !(dropped & (Attributes::BOLD | Attributes::DIM)).is_empty() {
        out.extend_from_slice(b"22;");
        have = have.without(Attributes::BOLD | Attributes::DIM);
    }
    for (attribute, on, off) in ATTRIBUTES {
        if to.attributes.contains(attribute) && !have.contains(attribute) {
            out.extend_from_slice(on);
        } else if dropped.contains(attribute) {
            out.extend_from_slice(off);
        }
    }
    if from.underline != to.underline {
        out.extend_from_slice(match to.underline {
            Underline::None => b"24;" as &[u8],
            Underline::Single => b"4;",
            Underline::Double => b"4:2;",
            Underline::Curly => b"4:3;",
            Underline::Dotted => b"4:4;",
            Underline::Dashed => b"4:5;",
        });
    }
    if from.foreground != to.foreground {
        push_color(out, to.foreground, 30);
    }
    if from.background != to.background {
        push_color(out, to.background, 40);
    }
    if from.underline_color != to.underline_color {
        match to.underline_color {
            Color::Default => out.extend_from_slice(b"59;"),
            // Colons: a terminal that does not know 58 then skips one parameter instead of reading five.
            Color::Indexed(n) => {
                out.extend_from_slice(b"58:5:");
                push_number(out, u32::from(n));
                out.push(b';');
            }
            Color::Rgb(r, g, b) => {
                out.extend_from_slice(b"58:2:");
                for part in [r, g, b] {
                    out.push(b':');
                    push_number(out, u32::from(part));
                }
                out.push(b';');
            }
        }
    }
    debug_assert!(out.len() > start, "different pens differ in something that SGR can say");
    out.pop();
    out.push(b'm');
}

const ATTRIBUTES: [(Attributes, &[u8], &[u8]); 8] = [
    (Attributes::BOLD, b"1;", b""),
    (Attributes::DIM, b"2;", b""),
    (Attributes::ITALIC, b"3;", b"23;"),
    (Attributes::BLINK, b"5;", b"25;"),
    (Attributes::INVERSE, b"7;", b"27;"),
    (Attributes::HIDDEN, b"8;", b"28;"),
    (Attributes::STRIKE, b"9;", b"29;"),
    (Attributes::OVERLINE, b"53;", b"55;"),
];

/// `base` is 30 for the foreground, 40 for the background.
pub(super) fn push_color(out: &mut Vec<u8>, color: Color, base: u32) {
    match color {
        Color::Default => push_number(out, base + 9),
        Color::Indexed(n @ 0..=7) => push_number(out, base + u32::from(n)),
        Color::Indexed(n @ 8..=15) => push_number(out, base + 52 + u32::from(n)),
        Color::Indexed(n) => {
            push_number(out, base + 8);
            out.extend_from_slice(b";5;");
            push_number(out, u32::from(n));
        }
        Color::Rgb(r, g, b) => {
            push_number(out, base + 8);
            out.extend_from_slice(b";2");
            for part in [r, g, b] {
                out.push(b';');
                push_number(out, u32::from(part));
            }
        }
    }
    out.push(b';');
}

/// One parameter: its number and, behind a colon, its sub-parameters as bytes.
#[derive(Clone, Copy)]
struct Param<'a> {
    value: u32,
    sub: Option<&'a [u8]>,
}

struct Params<'a> {
    bytes: &'a [u8],
    done: bool,
}

impl<'a> Params<'a> {
    #[inline]
    fn next(&mut self) -> Option<Param<'a>> {
        if self.done {
            return None;
        }
        let (value, used) = read_number(self.bytes);
        let (sub, end) = match self.bytes.get(used) {
            Some(b':') => {
                let after = &self.bytes[used + 1..];
                let len = after.iter().position(|&b| b == b';').unwrap_or(after.len());
                (Some(&after[..len]), used + 1 + len)
            }
            _ => (None, used),
        };
        match self.bytes.get(end) {
            Some(_) => self.bytes = &self.bytes[end + 1..],
            None => self.done = true,
        }
        Some(Param { value, sub })
    }
}

fn underline(param: Param<'_>) -> Underline {
    match param.sub.map(|sub| read_number(sub).0) {
        None | Some(1) => Underline::Single,
        Some(0) => Underline::None,
        Some(2) => Underline::Double,
        Some(3) => Underline::Curly,
        Some(4) => Underline::Dotted,
        Some(5) => Underline::Dashed,
        Some(_) => Underline::Single,
    }
}

/// Reads the colour behind 38, 48 or 58 in its `;` and `:` forms.
fn set_color(color: &mut Color, param: Param<'_>, rest: &mut Params<'_>) {
    let found = match param.sub {
        Some(sub) => colon_color(sub),
        None => match rest.next().map(|p| p.value) {
            Some(2) => {
                let mut part = || rest.next().map_or(0, |p| p.value);
                rgb(part(), part(), part())
            }
            Some(5) => rest.next().and_then(|p| u8::try_from(p.value).ok()).map(Color::Indexed),
            _ => None,
        },
    };
    if let Some(found) = found {
        *color = found;
    }
}

/// `2:r:g:b`, `2:colourspace:r:g:b` (with more behind it) or `5:n`.
fn colon_color(sub: &[u8]) -> Option<Color> {
    let mut parts = [0u32; 5];
    let mut count = 0;
    for (slot, part) in parts.iter_mut().zip(sub.split(|&b| b == b':')) {
        *slot = read_number(part).0;
        count += 1;
    }
    match (parts[0], count) {
        (2, 4) => rgb(parts[1], parts[2], parts[3]),
        (2, 5) => rgb(parts[2], parts[3], parts[4]),
        (5, 2..) => u8::try_from(parts[1]).ok().map(Color::Indexed),
        _ => None,
    }
}

fn rgb(r: u32, g: u32, b: u32) -> Option<Color> {
    Some(Color::Rgb(u8::try_from(r).ok()?, u8::try_from(g).ok()?, u8::try_from(b).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(params: &str) -> Pen {
        let mut pen = Pen::default();
        apply(&mut pen, params.as_bytes());
        pen
    }

    #[test]
    fn every_form_of_a_colour_is_read() {
        for form in ["38;2;1;2;3", "38:2:1:2:3", "38:2::1:2:3", "38:2:0:1:2:3:0:0"] {
            assert_eq!(after(form).foreground, Color::Rgb(1, 2, 3), "{form}");
        }
        assert_eq!(after("48:5:200").background, Color::Indexed(200));
        assert_eq!(after("58;5;1").underline_color, Color::Indexed(1));
        assert_eq!(after("58;5;1").attributes, Attributes::NONE, "the palette index is not read as bold");
        assert_eq!(after("38;2;300;0;0;1"), Pen { attributes: Attributes::BOLD, ..Pen::default() });
        assert_eq!(after("97;101").foreground, Color::Indexed(15));
    }

    #[test]
    fn underlines_have_shapes() {
        assert_eq!(after("4:3").underline, Underline::Curly);
        assert_eq!(after("21").underline, Underline::Double);
        assert_eq!(after("4;4:0").underline, Underline::None);
    }

    #[test]
    fn an_empty_parameter_is_zero() {
        assert_eq!(after("1;"), Pen::default());
        assert_eq!(after("1;;3").attributes, Attributes::ITALIC);
    }

    #[test]
    fn bold_and_dim_are_independent() {
        assert_eq!(after("1;2").attributes, Attributes::BOLD | Attributes::DIM);
        assert_eq!(after("1;2;22").attributes, Attributes::NONE);
    }

    #[test]
    fn what_is_written_reads_back() {
        let pens = [
            after("1;2;3;5;7;8;9;53;4:3;58;2;9;8;7;38;5;99;48;2;1;2;3"),
            after("2;21;90;107"),
            after("1;31"),
            after(""),
            after("58:5:3;4:5"),
        ];
        for from in pens {
            for to in pens {
                let mut out = Vec::new();
                write_sgr(&mut out, &from, &to);
                let mut pen = from;
                if !out.is_empty() {
                    apply(&mut pen, &out[2..out.len() - 1]);
                }
                assert_eq!(pen, to, "{from:?} -> {to:?} by {:?}", String::from_utf8_lossy(&out));
            }
        }
    }
}
