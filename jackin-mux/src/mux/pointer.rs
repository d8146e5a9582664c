//! The mouse: first what is ours (dialogs, bar, context row, borders), then the pane under it.

use std::time::Duration;

use jackin_core::{PaneId, Timestamp};

use super::{FullRedrawReason, Mux};
use crate::client::{Button, Mouse, MouseAction, Wheel};
use crate::command::Command;
use crate::copy::{Point, Selection, Shape, clipboard_sequence};
use crate::dialog::Answer;
use crate::layout::{Border, Orientation, Rect};
use crate::route::encode_mouse;
use crate::vt::{Mode, MouseProtocol};

/// How fast clicks follow each other that count as one.
const CLICK_TIME: Duration = Duration::from_millis(400);
/// What one notch of the wheel scrolls.
const WHEEL_ROWS: usize = 3;

/// What the mouse is about.
#[derive(Debug, Default)]
pub(super) struct Pointer {
    drag: Option<Drag>,
    /// The last click: when, where, and how many in a row.
    click: Option<(Timestamp, u16, u16, u8)>,
    hover: Option<Hover>,
}

#[derive(Clone, Debug, PartialEq)]
enum Drag {
    Border(Border),
    /// Marking text in a pane.
    Text(PaneId),
    /// The button went down over a program that follows the mouse; it also gets what follows.
    Program(PaneId),
}

/// What lies under the mouse and lights up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hover {
    Tab(usize),
    Context,
}

impl Pointer {
    pub(super) fn end_drag(&mut self) {
        self.drag = None;
    }

    pub(super) fn forget(&mut self, pane: PaneId) {
        if matches!(self.drag, Some(Drag::Text(id) | Drag::Program(id)) if id == pane) {
            self.drag = None;
        }
    }

    pub(super) fn hover(&self) -> Option<Hover> {
        self.hover
    }
}

impl Mux {
    pub(super) fn mouse(&mut self, mouse: Mouse, now: Timestamp) {
        if self.dialog.is_some() {
            self.mouse_in_dialog(mouse, now);
            return;
        }
        if let Some(drag) = self.pointer.drag.clone() {
            self.drag(&drag, mouse);
            return;
        }
        self.hover_over(mouse);
        let left = mouse.action == MouseAction::Press(Button::Left);
        if self.view.bar == Some(mouse.row) {
            match mouse.action {
                MouseAction::Press(Button::Left) => {
                    let hit = self.bar().hit(mouse.col);
                    if hit.is_some_and(|tab| self.tabs.select(tab)) {
                        self.arrange(FullRedrawReason::Tab);
                    }
                }
                MouseAction::Wheel(Wheel::Up) => self.run(Command::PreviousTab, now),
                MouseAction::Wheel(Wheel::Down) => self.run(Command::NextTab, now),
                _ => {}
            }
        } else if self.view.context == Some(mouse.row) {
            if left {
                self.run(Command::Details, now);
            }
        } else if let Some(border) = self.view.placement.border_at(mouse.row, mouse.col) {
            if left {
                self.pointer.drag = Some(Drag::Border(border.clone()));
            }
        } else if let Some((pane, rect)) = self.view.placement.pane_at(mouse.row, mouse.col) {
            self.mouse_in_pane(pane, rect, mouse, now);
        }
        self.settle_focus(now);
    }

    fn mouse_in_dialog(&mut self, mouse: Mouse, now: Timestamp) {
        let Some(rect) = self.panel.as_ref().map(|panel| panel.rect) else { return };
        let inside = self.panel.as_ref().map(crate::dialog::Panel::inside).unwrap_or_default();
        let Some(mut dialog) = self.dialog.take() else { return };
        let answer = match mouse.action {
            MouseAction::Press(Button::Left) if !rect.contains(mouse.row, mouse.col) => Answer::Closed(None),
            MouseAction::Press(Button::Left) => {
                let row = mouse.row.checked_sub(rect.row + inside.row);
                let col = mouse.col.checked_sub(rect.col + inside.col);
                match (row, col) {
                    (Some(row), Some(col)) if row < inside.rows && col < inside.cols => {
                        dialog.click(row, col)
                    }
                    _ => Answer::Ignored,
                }
            }
            MouseAction::Wheel(Wheel::Up) => dialog.wheel(true),
            MouseAction::Wheel(Wheel::Down) => dialog.wheel(false),
            _ => Answer::Ignored,
        };
        self.dialog = Some(dialog);
        self.answered(answer, now);
    }

    /// Motion over nothing costs nothing: only a change of what lights up is drawn.
    fn hover_over(&mut self, mouse: Mouse) {
        let hover = if self.view.bar == Some(mouse.row) {
            self.bar().hit(mouse.col).map(Hover::Tab)
        } else {
            (self.view.context == Some(mouse.row)).then_some(Hover::Context)
        };
        if hover != self.pointer.hover {
            self.pointer.hover = hover;
            self.revision.any += 1;
            let rows = [self.view.bar, self.view.context];
            if let Some(operator) = &mut self.operator {
                rows.into_iter().flatten().for_each(|row| operator.stale.mark(row));
            }
        }
    }

    fn mouse_in_pane(&mut self, id: PaneId, rect: Rect, mouse: Mouse, now: Timestamp) {
        let pressed = matches!(mouse.action, MouseAction::Press(_));
        if pressed {
            self.give_focus(id);
        }
        let Some(pane) = self.panes.get_mut(&id) else { return };
        let modes = pane.terminal.modes();
        let at = (mouse.row - rect.row, mouse.col - rect.col);
        let ours = mouse.shift || pane.copy.is_some() || pane.terminal.view() > 0;
        if modes.mouse != MouseProtocol::Off && !ours {
            if pressed {
                self.pointer.drag = Some(Drag::Program(id));
            }
            self.tell_mouse(id, mouse, at);
            return;
        }
        match mouse.action {
            MouseAction::Wheel(wheel @ (Wheel::Up | Wheel::Down)) => self.wheel(id, wheel == Wheel::Up),
            MouseAction::Press(Button::Left) => self.begin_selection(id, mouse, at, now),
            _ => {}
        }
    }

    fn tell_mouse(&mut self, id: PaneId, mouse: Mouse, at: (u16, u16)) {
        let Some(pane) = self.panes.get(&id) else { return };
        let modes = pane.terminal.modes();
        if let Some(bytes) = encode_mouse(mouse, at, modes.mouse, modes.mouse_encoding, self.cell_pixels) {
            self.write_pty(id, &bytes);
            if let Some(operator) = &mut self.operator {
                operator.hurry = Some(id);
            }
        }
    }

    /// Over a program that did not ask for the mouse: history, or cursor keys where the program has the whole screen.
    fn wheel(&mut self, id: PaneId, up: bool) {
        let Some(pane) = self.panes.get_mut(&id) else { return };
        let modes = pane.terminal.modes();
        if pane.terminal.is_alternate() && pane.copy.is_none() {
            if modes.contains(Mode::AlternateScroll) {
                let key: &[u8] = match (modes.contains(Mode::ApplicationCursor), up) {
                    (false, true) => b"\x1b[A",
                    (false, false) => b"\x1b[B",
                    (true, true) => b"\x1bOA",
                    (true, false) => b"\x1bOB",
                };
                self.write_pty(id, &key.repeat(WHEEL_ROWS));
            }
            return;
        }
        let mut moved = pane.scroll(up, WHEEL_ROWS);
        let (top, rows) = (pane.line_of(0), i64::from(pane.size().rows));
        if let Some(copy) = &mut pane.copy {
            let before = copy.cursor.line;
            copy.top = top;
            copy.cursor.line = before.clamp(top, top + rows - 1);
            moved |= copy.cursor.line != before;
        }
        if moved {
            self.mark_pane(id);
        }
    }

    fn begin_selection(&mut self, id: PaneId, mouse: Mouse, (row, col): (u16, u16), now: Timestamp) {
        let clicks = match self.pointer.click {
            Some((at, row, col, count))
                if (row, col) == (mouse.row, mouse.col) && now.since(at) <= CLICK_TIME =>
            {
                count % 3 + 1
            }
            _ => 1,
        };
        self.pointer.click = Some((now, mouse.row, mouse.col, clicks));
        let Some(pane) = self.panes.get_mut(&id) else { return };
        let point = Point { line: pane.line_of(row), col };
        let had = pane.selection.take().is_some();
        let shape = match clicks {
            1 if mouse.alt => Shape::Block,
            1 => Shape::Characters,
            2 => Shape::Words,
            _ => Shape::Lines,
        };
        // One click marks nothing until the mouse moves.
        let selection = Selection::new(point, shape, pane);
        self.pointer.drag = Some(Drag::Text(id));
        pane.pressed = Some(selection);
        if clicks > 1 {
            pane.selection = Some(selection);
        }
        if had || clicks > 1 {
            self.mark_pane(id);
        }
    }

    fn drag(&mut self, drag: &Drag, mouse: Mouse) {
        let over = matches!(mouse.action, MouseAction::Release(_));
        if over {
            self.pointer.drag = None;
        }
        match drag {
            Drag::Border(border) => {
                let position = match border.orientation {
                    Orientation::SideBySide => mouse.col,
                    Orientation::Stacked => mouse.row,
                };
                let area = self.view.area;
                let moved = self.tabs.active_mut().is_some_and(|tab| tab.layout.drag(border, position, area));
                if moved {
                    self.arrange(FullRedrawReason::Layout);
                    if !over {
                        self.pointer.drag = Some(Drag::Border(border.clone()));
                    }
                }
            }
            Drag::Program(id) => {
                let Some(rect) = self.view.placement.rect(*id) else { return };
                let at = (
                    mouse.row.saturating_sub(rect.row).min(rect.rows - 1),
                    mouse.col.saturating_sub(rect.col).min(rect.cols - 1),
                );
                self.tell_mouse(*id, mouse, at);
            }
            Drag::Text(id) => self.drag_text(*id, mouse, over),
        }
    }

    /// Above and below the pane, marking scrolls it.
    fn drag_text(&mut self, id: PaneId, mouse: Mouse, over: bool) {
        let Some(rect) = self.view.placement.rect(id) else { return };
        let Some(pane) = self.panes.get_mut(&id) else { return };
        if matches!(mouse.action, MouseAction::Move(_)) {
            if mouse.row < rect.row {
                pane.scroll(true, 1);
            } else if mouse.row >= rect.bottom() {
                pane.scroll(false, 1);
            }
            if let Some(copy) = pane.copy.as_mut() {
                copy.top = pane.terminal.scrolled_rows() as i64 - pane.terminal.view() as i64;
            }
            let row = mouse.row.clamp(rect.row, rect.bottom() - 1) - rect.row;
            let col = mouse.col.clamp(rect.col, rect.right() - 1) - rect.col;
            let point = Point { line: pane.line_of(row), col };
            if let Some(mut selection) = pane.selection.or(pane.pressed) {
                selection.extend(point, pane);
                pane.selection = Some(selection);
                self.mark_pane(id);
            }
        } else if over {
            pane.pressed = None;
            let text = pane.selection.map(|selection| selection.text(pane));
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                self.tell_client(&clipboard_sequence(&text));
            }
        }
    }
}
