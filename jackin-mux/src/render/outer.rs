use crate::vt::CursorShape;

/// What the operator's terminal is switched to, beside what it shows: what the focused pane asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OuterModes {
    /// Where the cursor is shown; none hides it.
    pub(crate) cursor: Option<(u16, u16)>,
    pub(crate) cursor_shape: CursorShape,
    /// DECCKM: arrow keys as SS3.
    pub(crate) application_cursor: bool,
    /// DECKPAM: the keypad as sequences.
    pub(crate) application_keypad: bool,
    /// The kitty keyboard protocol's flags.
    pub(crate) keyboard_flags: u8,
    /// xterm's modifyOtherKeys.
    pub(crate) modify_other_keys: u8,
}
