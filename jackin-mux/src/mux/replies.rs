//! What the operator's terminal answers: to us, or to the program that asked through us.

use super::Mux;
use crate::client::Reply;
use crate::route::Asked;
use crate::vt::Mode;
use crate::vt::number::read_number;

/// Mode 2026.
const SYNCHRONIZED: u16 = 2026;

impl Mux {
    pub(super) fn replied(&mut self, reply: Reply<'_>) {
        match reply {
            Reply::Mode { mode: SYNCHRONIZED, state } => {
                // 0 is a mode that it does not know, 4 one that it never sets.
                if let Some(operator) = &mut self.operator {
                    operator.screen.set_synchronized(matches!(state, 1..=3));
                }
            }
            Reply::Keyboard { .. } => self.settle_keyboard(true),
            // The answer to the last of our questions: what was not answered before is not there.
            Reply::Attributes(_) => {
                if self.operator.as_ref().is_some_and(|operator| operator.kitty.is_none()) {
                    self.settle_keyboard(false);
                }
            }
            Reply::ColourScheme { dark } => {
                let raw: &[u8] = if dark { b"\x1b[?997;1n" } else { b"\x1b[?997;2n" };
                let asker = self.queries.answered(Asked::Scheme, raw);
                let subscribed =
                    |pane: &crate::pane::Pane| pane.terminal.modes().contains(Mode::ColorSchemeEvents);
                let told: Vec<_> = self
                    .panes
                    .values()
                    .filter(|pane| Some(pane.id) == asker || subscribed(pane))
                    .map(|pane| pane.id)
                    .collect();
                for pane in told {
                    self.write_pty(pane, raw);
                }
            }
            Reply::Osc { number, raw } => {
                let asked = match number {
                    4 => match read_number(raw.get(4..).unwrap_or_default()).0 {
                        index @ 0..=255 => Asked::Palette(index),
                        // No palette is larger, and answers are remembered.
                        _ => return,
                    },
                    10..=19 => Asked::Color(number.into()),
                    52 => Asked::Clipboard,
                    _ => return,
                };
                if let Some(pane) = self.queries.answered(asked, raw) {
                    self.write_pty(pane, raw);
                }
            }
            Reply::Apc(raw) => {
                if let Some(pane) = self.graphics_by {
                    self.write_pty(pane, raw);
                }
            }
            Reply::CellPixels { width, height } => {
                self.cell_pixels = (width, height);
                self.panes.values_mut().for_each(|pane| pane.terminal.set_cell_pixels(width, height));
            }
            // Programs are answered by us; nobody asked the terminal for these.
            Reply::Mode { .. } | Reply::Cursor(_) | Reply::Window(_) | Reply::Dcs(_) => {}
        }
    }

    fn settle_keyboard(&mut self, kitty: bool) {
        let Some(operator) = &mut self.operator else { return };
        operator.kitty = Some(kitty);
        operator.stale.mark_rest();
        self.kitty_keyboard = kitty;
        for pane in self.panes.values_mut() {
            pane.terminal.set_kitty_keyboard(kitty);
        }
    }
}
