//! Character sets: what SO, SI and `ESC ( 0` do.

/// The four designated sets and the one in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Charsets {
    sets: [Charset; 4],
    active: u8,
    /// For one character only (SS2, SS3).
    single: Option<u8>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Charset {
    #[default]
    Ascii,
    /// DEC special graphics: the line drawing of ncurses programs.
    Graphics,
    /// ASCII with £ for #.
    British,
}

impl Charsets {
    /// Whether text can be drawn as it is.
    #[inline]
    pub(super) fn is_plain(self) -> bool {
        self.single.is_none() && self.sets[usize::from(self.active)] == Charset::Ascii
    }

    /// Obeys `ESC` + one of `( ) * +` + the set's final byte.
    pub(super) fn designate(&mut self, slot: u8, set: u8) {
        let set = match set {
            b'0' => Charset::Graphics,
            b'A' => Charset::British,
            _ => Charset::Ascii,
        };
        if let Some(at) = slot.checked_sub(b'(')
            && let Some(place) = self.sets.get_mut(usize::from(at))
        {
            *place = set;
        }
    }

    /// Appends what brings a terminal to these sets.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        for (slot, set) in (b'('..).zip(self.sets) {
            let set = match set {
                Charset::Ascii => b'B',
                Charset::Graphics => b'0',
                Charset::British => b'A',
            };
            out.extend_from_slice(&[0x1b, slot, set]);
        }
        match self.active {
            0 => out.push(0x0f),
            1 => out.push(0x0e),
            2 => out.extend_from_slice(b"\x1bn"),
            _ => out.extend_from_slice(b"\x1bo"),
        }
        match self.single {
            Some(2) => out.extend_from_slice(b"\x1bN"),
            Some(3) => out.extend_from_slice(b"\x1bO"),
            _ => {}
        }
    }

    /// Uses set 0 to 3 from now on.
    pub(super) fn shift(&mut self, to: u8) {
        self.active = to & 3;
    }

    /// Uses a set for the next character.
    pub(super) fn single_shift(&mut self, to: u8) {
        self.single = Some(to & 3);
    }

    /// The character that is drawn for `c`.
    pub(super) fn map(&mut self, c: char) -> char {
        let at = self.single.take().unwrap_or(self.active);
        match self.sets[usize::from(at)] {
            Charset::Ascii => c,
            Charset::British if c == '#' => '£',
            Charset::British => c,
            Charset::Graphics => match c {
                '_'..='~' => GRAPHICS[c as usize - '_' as usize],
                _ => c,
            },
        }
    }
}

/// From `_` to `~`.
const GRAPHICS: [char; 32] = [
    ' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼', '⎽',
    '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];
