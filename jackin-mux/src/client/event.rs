use super::key::Key;

/// One thing that the operator's terminal said. `raw` is what it sent, for whoever passes it on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientEvent<'a> {
    /// A key was pressed or repeats.
    Key {
        /// Which one.
        key: Key,
        /// What was sent for it.
        raw: &'a [u8],
    },
    /// A key was let go. Only programs that asked for it care.
    KeyUp {
        /// What was sent for it.
        raw: &'a [u8],
    },
    /// The mouse did something.
    Mouse(Mouse),
    /// The terminal's window got or lost the focus.
    Focus(bool),
    /// A paste begins.
    PasteStart,
    /// A piece of it.
    Paste(&'a [u8]),
    /// It is over.
    PasteEnd,
    /// The terminal answers a question that we or a program asked.
    Reply(Reply<'a>),
    /// A sequence with no meaning for us.
    Raw(&'a [u8]),
}

/// What the mouse did, where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// What.
    pub action: MouseAction,
    /// From 0.
    pub row: u16,
    /// From 0.
    pub col: u16,
    /// Whether Shift was held,
    pub shift: bool,
    /// or Alt,
    pub alt: bool,
    /// or Ctrl.
    pub ctrl: bool,
}

/// What a mouse does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseAction {
    /// A button was pressed,
    Press(Button),
    /// and let go.
    Release(Button),
    /// Moved, with a button held or none.
    Move(Option<Button>),
    /// The wheel was turned.
    Wheel(Wheel),
}

/// A button of a mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// The first.
    Left,
    /// The one between.
    Middle,
    /// The second.
    Right,
    /// The extra buttons, 8 to 11.
    Extra(u8),
}

/// Which way a wheel was turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wheel {
    /// Towards what stands above.
    Up,
    /// Towards what stands below.
    Down,
    /// Sideways.
    Left,
    /// Sideways.
    Right,
}

/// An answer of the operator's terminal, whole and raw, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply<'a> {
    /// `CSI ? … c`
    Attributes(&'a [u8]),
    /// `CSI ? mode ; state $ y`
    Mode {
        /// Which.
        mode: u16,
        /// As DECRPM numbers it: 1 is set, 2 is reset.
        state: u8,
    },
    /// `CSI ? flags u`
    Keyboard {
        /// The flags that are on.
        flags: u8,
    },
    /// `CSI row ; column R`. F3 with modifiers looks the same; a reply is expected only after a question.
    Cursor(&'a [u8]),
    /// `CSI 6 ; height ; width t`
    CellPixels {
        /// Of a cell.
        width: u16,
        /// Of a cell.
        height: u16,
    },
    /// `CSI 4 ; … t` and its kin.
    Window(&'a [u8]),
    /// `CSI ? 997 ; 1|2 n`: dark or light.
    ColourScheme {
        /// Whether it is the dark one.
        dark: bool,
    },
    /// OSC, with the number that it begins with.
    Osc {
        /// What it answers: 11 is the background's colour.
        number: u16,
        /// The whole sequence.
        raw: &'a [u8],
    },
    /// DCS: XTVERSION, DECRQSS, XTGETTCAP.
    Dcs(&'a [u8]),
    /// APC: kitty graphics.
    Apc(&'a [u8]),
}
