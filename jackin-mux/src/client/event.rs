use super::key::Key;

/// One thing that the operator's terminal said. `raw` is what it sent, for whoever passes it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClientEvent<'a> {
    /// A key was pressed or repeats.
    Key { key: Key, raw: &'a [u8] },
    /// A key was let go. Only programs that asked for it care.
    KeyUp { raw: &'a [u8] },
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
pub(crate) struct Mouse {
    pub(crate) action: MouseAction,
    /// From 0.
    pub(crate) row: u16,
    /// From 0.
    pub(crate) col: u16,
    pub(crate) shift: bool,
    pub(crate) alt: bool,
    pub(crate) ctrl: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MouseAction {
    Press(Button),
    Release(Button),
    /// Moved, with a button held or none.
    Move(Option<Button>),
    Wheel(Wheel),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Button {
    Left,
    Middle,
    Right,
    /// The extra buttons, 8 to 11.
    Extra(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wheel {
    Up,
    Down,
    Left,
    Right,
}

/// An answer of the operator's terminal, whole and raw, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply<'a> {
    /// `CSI ? … c`
    Attributes(&'a [u8]),
    /// `CSI ? mode ; state $ y`
    Mode { mode: u16, state: u8 },
    /// `CSI ? flags u`
    Keyboard { flags: u8 },
    /// `CSI row ; column R`. F3 with modifiers looks the same; a reply is expected only after a question.
    Cursor(&'a [u8]),
    /// `CSI 6 ; height ; width t`
    CellPixels { width: u16, height: u16 },
    /// `CSI 4 ; … t` and its kin.
    Window(&'a [u8]),
    /// `CSI ? 997 ; 1|2 n`: dark or light.
    ColourScheme { dark: bool },
    /// OSC, with the number that it begins with.
    Osc { number: u16, raw: &'a [u8] },
    /// DCS: XTVERSION, DECRQSS, XTGETTCAP.
    Dcs(&'a [u8]),
    /// APC: kitty graphics.
    Apc(&'a [u8]),
}
