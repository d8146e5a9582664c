//! The modes of a terminal: what is set, and what DECRQM says about it.

/// The modes that decide how input is encoded and how output is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    flags: u32,
    /// Which mouse events the program wants.
    pub mouse: MouseProtocol,
    /// How it wants them encoded.
    pub mouse_encoding: MouseEncoding,
}

/// One on-or-off mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// DECCKM (?1): cursor keys send `ESC O`.
    ApplicationCursor,
    /// DECSCNM (?5): the whole screen is inverse.
    ReverseVideo,
    /// DECOM (?6): rows count from the top margin.
    Origin,
    /// DECAWM (?7): text goes on in the next row at the right edge.
    Autowrap,
    /// ?12: the cursor blinks.
    CursorBlink,
    /// DECTCEM (?25).
    CursorVisible,
    /// DECNKM (?66) and ESC = / ESC >.
    ApplicationKeypad,
    /// ?1004: the program wants to know about focus.
    FocusEvents,
    /// ?1007: the wheel sends cursor keys on the alternate screen.
    AlternateScroll,
    /// ?2004.
    BracketedPaste,
    /// ?2026: a frame is being drawn, do not show it yet.
    Synchronized,
    /// ?2031: the program wants to know about changes between dark and light.
    ColorSchemeEvents,
    /// ?2048: the program wants to be told sizes in-band.
    ResizeEvents,
    /// IRM (4): text pushes what follows to the right.
    Insert,
    /// LNM (20): a line feed also returns.
    NewLine,
}

/// Which mouse events a program asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MouseProtocol {
    /// None.
    #[default]
    Off,
    /// Presses only (?9).
    X10,
    /// Presses and releases (?1000).
    Press,
    /// And motion while a button is held (?1002).
    Drag,
    /// And all motion (?1003).
    Motion,
}

/// How mouse events are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MouseEncoding {
    /// One byte for each coordinate.
    #[default]
    X10,
    /// UTF-8 coordinates (?1005).
    Utf8,
    /// `CSI < …` (?1006).
    Sgr,
    /// Decimal without the SGR mark (?1015).
    Urxvt,
    /// SGR in pixels (?1016).
    SgrPixels,
}

/// How a mode stands, in the words of DECRQM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Unknown = 0,
    Set = 1,
    Reset = 2,
    AlwaysSet = 3,
}

const PRIVATE: [(u32, Mode); 13] = [
    (1, Mode::ApplicationCursor),
    (5, Mode::ReverseVideo),
    (6, Mode::Origin),
    (7, Mode::Autowrap),
    (12, Mode::CursorBlink),
    (25, Mode::CursorVisible),
    (66, Mode::ApplicationKeypad),
    (1004, Mode::FocusEvents),
    (1007, Mode::AlternateScroll),
    (2004, Mode::BracketedPaste),
    (2026, Mode::Synchronized),
    (2031, Mode::ColorSchemeEvents),
    (2048, Mode::ResizeEvents),
];
const MICE: [(u32, MouseProtocol); 4] = [
    (9, MouseProtocol::X10),
    (1000, MouseProtocol::Press),
    (1002, MouseProtocol::Drag),
    (1003, MouseProtocol::Motion),
];
const MOUSE_ENCODINGS: [(u32, MouseEncoding); 4] = [
    (1005, MouseEncoding::Utf8),
    (1006, MouseEncoding::Sgr),
    (1015, MouseEncoding::Urxvt),
    (1016, MouseEncoding::SgrPixels),
];
/// Grapheme clusters are always measured as wholes.
const GRAPHEMES: u32 = 2027;

impl Modes {
    /// Whether a mode is set.
    pub const fn contains(self, mode: Mode) -> bool {
        self.flags >> mode as u32 & 1 == 1
    }

    pub(super) fn set(&mut self, mode: Mode, on: bool) {
        let bit = 1 << mode as u32;
        self.flags = if on { self.flags | bit } else { self.flags & !bit };
    }

    /// The on-or-off modes with their DEC numbers.
    pub(super) fn numbered() -> impl Iterator<Item = (u32, Mode)> {
        PRIVATE.into_iter()
    }

    /// The DEC numbers of the mouse modes that are set.
    pub(super) fn mouse_numbers(self) -> impl Iterator<Item = u32> {
        let protocol =
            MICE.into_iter().filter(move |(_, mode)| *mode == self.mouse).map(|(number, _)| number);
        let encoding = MOUSE_ENCODINGS.into_iter().filter(move |(_, mode)| *mode == self.mouse_encoding);
        protocol.chain(encoding.map(|(number, _)| number))
    }

    /// The on-or-off mode with a DEC number.
    pub(super) fn private(number: u32) -> Option<Mode> {
        PRIVATE.iter().find(|(n, _)| *n == number).map(|(_, mode)| *mode)
    }

    /// The on-or-off mode with an ANSI number.
    pub(super) fn ansi(number: u32) -> Option<Mode> {
        match number {
            4 => Some(Mode::Insert),
            20 => Some(Mode::NewLine),
            _ => None,
        }
    }

    /// Sets or resets a mouse mode; false if the number is none.
    pub(super) fn set_mouse(&mut self, number: u32, on: bool) -> bool {
        if let Some((_, protocol)) = MICE.iter().find(|(n, _)| *n == number) {
            // Resetting any of them turns reporting off.
            self.mouse = if on { *protocol } else { MouseProtocol::Off };
            return true;
        }
        if let Some((_, encoding)) = MOUSE_ENCODINGS.iter().find(|(n, _)| *n == number) {
            if on {
                self.mouse_encoding = *encoding;
            } else if self.mouse_encoding == *encoding {
                self.mouse_encoding = MouseEncoding::X10;
            }
            return true;
        }
        false
    }

    /// How a DEC mode stands; `alternate` is for the modes that switch screens.
    pub(super) fn standing(self, number: u32, alternate: bool) -> Standing {
        let set = if let Some(mode) = Self::private(number) {
            self.contains(mode)
        } else if let Some((_, protocol)) = MICE.iter().find(|(n, _)| *n == number) {
            self.mouse == *protocol
        } else if let Some((_, encoding)) = MOUSE_ENCODINGS.iter().find(|(n, _)| *n == number) {
            self.mouse_encoding == *encoding
        } else {
            match number {
                47 | 1047 | 1049 => alternate,
                1048 => false,
                GRAPHEMES => return Standing::AlwaysSet,
                _ => return Standing::Unknown,
            }
        };
        if set { Standing::Set } else { Standing::Reset }
    }
}

impl Default for Modes {
    fn default() -> Self {
        let mut modes = Self { flags: 0, mouse: MouseProtocol::Off, mouse_encoding: MouseEncoding::X10 };
        for mode in [Mode::Autowrap, Mode::CursorVisible, Mode::AlternateScroll] {
            modes.set(mode, true);
        }
        modes
    }
}
