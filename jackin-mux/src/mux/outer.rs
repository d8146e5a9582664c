//! What the operator's terminal is told beside what it shows: modes, cursor, title.

use jackin_core::Timestamp;
use unicode_width::UnicodeWidthStr;

use super::Mux;
use super::operator::Operator;
use crate::copy::CopyMode;
use crate::layout::Rect;
use crate::pane::Pane;
use crate::render::OuterModes;
use crate::vt::Mode;

/// The longest title, in characters.
const LONGEST_TITLE: usize = 256;

impl Mux {
    /// What the terminal is switched to: what the focused pane's program asked for. With a time, the cursor of a pane
    /// that holds its frame back stays where it was.
    pub(super) fn outer_modes(&self, operator: &Operator, holding: Option<Timestamp>) -> OuterModes {
        let cursor = self.cursor(operator.modes.cursor, holding);
        let Some(pane) = self.focused().and_then(|id| self.panes.get(&id)) else {
            return OuterModes { cursor, ..OuterModes::default() };
        };
        let modes = pane.terminal.modes();
        OuterModes {
            cursor,
            cursor_shape: pane.terminal.cursor().shape,
            application_cursor: modes.contains(Mode::ApplicationCursor),
            application_keypad: modes.contains(Mode::ApplicationKeypad),
            keyboard_flags: if operator.kitty == Some(true) { pane.terminal.keyboard_flags() } else { 0 },
            modify_other_keys: if operator.capabilities.links {
                pane.terminal.modify_other_keys()
            } else {
                0
            },
        }
    }

    /// Where the cursor is shown; `before` is where it was, and where it stays while its pane holds a frame back.
    pub(super) fn cursor(
        &self,
        before: Option<(u16, u16)>,
        holding: Option<Timestamp>,
    ) -> Option<(u16, u16)> {
        if let Some(panel) = &self.panel {
            return panel.cursor.map(|(row, col)| (panel.rect.row + row, panel.rect.col + col));
        }
        let pane = self.focused().and_then(|id| self.panes.get(&id))?;
        let rect = self.view.placement.rect(pane.id)?;
        match &pane.copy {
            Some(copy) => copy_cursor(pane, copy, rect),
            None if holding.is_some_and(|now| pane.is_held(now)) => before,
            None => pane.cursor_at(rect),
        }
    }

    /// The outer title: workspace, branch and pull request where they are known, else what the focused program says.
    pub(super) fn tell_title(&self, operator: &mut Operator) {
        if !operator.capabilities.links {
            return;
        }
        let context = &self.context;
        let parts = [&context.workspace, &context.branch, &context.pull_request];
        // A buffer of its own, so that a frame without news allocates nothing.
        let title = &mut operator.next_title;
        title.clear();
        for part in parts.into_iter().flatten() {
            if !title.is_empty() {
                title.push_str(" · ");
            }
            title.push_str(part);
        }
        if title.is_empty() {
            let focused = self.focused().and_then(|pane| self.panes.get(&pane));
            title.push_str(focused.map_or("jackin'", |pane| pane.title()));
        }
        if operator.title != *title {
            operator.title.clone_from(title);
            operator.before.extend_from_slice(b"\x1b]2;");
            let shown = title.chars().filter(|c| !c.is_control()).take(LONGEST_TITLE);
            shown.for_each(|c| operator.before.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()));
            operator.before.push(0x07);
        }
    }

    /// Asks the terminal to tell when it turns dark or light, while any program wants to know.
    pub(super) fn tell_scheme_events(&self, operator: &mut Operator) {
        let wanted = operator.capabilities.links
            && self.panes.values().any(|pane| pane.terminal.modes().contains(Mode::ColorSchemeEvents));
        if wanted != operator.scheme_events {
            operator.scheme_events = wanted;
            operator.before.extend_from_slice(if wanted { b"\x1b[?2031h" } else { b"\x1b[?2031l" });
        }
    }
}

fn copy_cursor(pane: &Pane, copy: &CopyMode, rect: Rect) -> Option<(u16, u16)> {
    if let Some(entry) = &copy.entry {
        let col = (entry.width() as u16).saturating_add(1).min(rect.cols.saturating_sub(1));
        return Some((rect.bottom().saturating_sub(1), rect.col + col));
    }
    let row = copy.cursor.line - pane.line_of(0);
    let inside = (0..i64::from(rect.rows)).contains(&row) && copy.cursor.col < rect.cols;
    inside.then(|| (rect.row + row as u16, rect.col + copy.cursor.col))
}
