//! When a frame is due, and the bytes that make the operator's terminal show what is true.

use jackin_core::Timestamp;

use super::operator::Operator;
use super::{FullRedrawReason, Mux};
#[cfg(test)]
use crate::render::Grid;
use crate::render::LinkTable;
#[cfg(test)]
use crate::vt::Row;
use crate::vt::Scroll;

impl Mux {
    /// When a frame is to be rendered; none while the client shows what is true.
    pub fn frame_due(&self) -> Option<Timestamp> {
        let next = self.next_frame()?;
        let operator = self.operator.as_ref()?;
        if !operator.stale.is_empty() {
            return Some(next);
        }
        let touched = operator.stale.touched().iter().filter_map(|id| self.panes.get(id));
        touched.map(|pane| pane.held_until().map_or(next, |until| until.max(next))).min()
    }

    /// When the next frame may be rendered, if there is anything to draw and anyone to see it.
    pub(super) fn next_frame(&self) -> Option<Timestamp> {
        let operator = self.operator.as_ref()?;
        Some(if operator.answered.is_some() { Timestamp::default() } else { operator.pace.next() })
    }

    /// Appends the bytes that bring the client's terminal from what it shows to what is true.
    pub fn render(&mut self, now: Timestamp, out: &mut Vec<u8>) {
        let Some(mut operator) = self.operator.take() else { return };
        if !operator.stale.is_empty() || !operator.stale.touched().is_empty() {
            self.render_to(&mut operator, now, out);
        }
        self.operator = Some(operator);
    }

    fn render_to(&mut self, operator: &mut Operator, now: Timestamp, out: &mut Vec<u8>) {
        let is_early = now < operator.pace.next();
        if let Some(answered) = operator.answered.take().filter(|_| is_early) {
            // What others print does not make the answer to a key wait: their frame is not due yet.
            for id in operator.stale.touched().iter().filter(|id| **id != answered) {
                if let Some(pane) = self.panes.get_mut(id) {
                    pane.waits = true;
                }
            }
        } else {
            operator.pace.drawn(now);
        }
        if operator.links.is_full() {
            operator.links = LinkTable::default();
            operator.screen.forget();
            operator.stale.mark_all(FullRedrawReason::Links);
        }
        let scroll = self.take_damage(operator, now);
        let full = operator.stale.take_full();
        let Operator { stale, grid, links, scratch, .. } = operator;
        let mut rows = 0;
        if let Some(reason) = full {
            self.frames.full += 1;
            self.frames.last_reason = Some(reason);
            for (id, _) in &self.view.placement.panes {
                if let Some(pane) = self.panes.get_mut(id) {
                    pane.drawn = Some(pane.looks());
                    pane.was_drawn();
                }
            }
            for row in 0..grid.size().rows {
                stale.mark(row);
                rows += 1;
                self.compose_row(row, grid, links, scratch, None);
            }
        } else {
            self.frames.partial += 1;
            for row in stale.rows().take_while(|row| *row < self.size.rows) {
                rows += 1;
                self.compose_row(row, grid, links, scratch, Some(now));
            }
        }
        self.frames.rows = rows;
        self.tell_title(operator);
        self.tell_scheme_events(operator);
        out.append(&mut operator.before);
        operator.modes = self.outer_modes(operator, full.is_none().then_some(now));
        let (grid, links, stale) = (&operator.grid, &operator.links, &operator.stale);
        operator.screen.draw(grid, operator.modes, scroll, stale.rows(), links, out);
        place_images(operator, out);
        operator.stale.clear();
        // Of all: one that has no room any more is not among those that printed.
        self.panes.values_mut().for_each(|pane| pane.waits = false);
    }

    /// Marks the rows that panes changed. A pane of the terminal's whole width that scrolled is scrolled there.
    fn take_damage(&mut self, operator: &mut Operator, now: Timestamp) -> Option<Scroll> {
        let mut scrolled = None;
        let mut at = 0;
        while let Some(&id) = operator.stale.touched().get(at) {
            let rect = self.view.placement.rect(id);
            let Some((pane, rect)) = self.panes.get_mut(&id).zip(rect) else {
                // The focused pane may have no room; its modes count all the same.
                operator.stale.untouch(id);
                operator.stale.mark_rest();
                continue;
            };
            if pane.is_held(now) {
                at += 1;
                continue;
            }
            operator.stale.untouch(id);
            operator.stale.mark_rest();
            let looks = pane.looks();
            let plain = pane.copy.is_none() && pane.selection.is_none() && looks.0 == 0;
            if Some(looks) != pane.drawn || !plain {
                pane.drawn = Some(looks);
                (rect.row.saturating_sub(1)..rect.bottom()).for_each(|row| operator.stale.mark(row));
                pane.was_drawn();
                continue;
            }
            if let Some(scroll) = pane.terminal.damage().scroll() {
                let region =
                    Scroll { top: rect.row + scroll.top, bottom: rect.row + scroll.bottom, up: scroll.up };
                let whole_width = rect.cols == operator.grid.size().cols && region.bottom < rect.bottom();
                if whole_width && scrolled.is_none() && self.dialog.is_none() {
                    operator.grid.scroll(region.top, region.bottom, region.up);
                    scrolled = Some(region);
                } else {
                    (region.top..=region.bottom.min(rect.bottom() - 1))
                        .for_each(|row| operator.stale.mark(row));
                }
            }
            for row in pane.terminal.damage().rows().filter(|row| *row < rect.rows) {
                operator.stale.mark(rect.row + row);
            }
            pane.was_drawn();
        }
        self.put_off(operator, now);
        scrolled
    }

    /// Rows that are drawn without the pane that holds its frame back are true without it: what else changed in it, by
    /// the operator's doing, is drawn when it does not.
    fn put_off(&mut self, operator: &mut Operator, now: Timestamp) {
        for &(id, rect) in &self.view.placement.panes {
            let Some(pane) = self.panes.get_mut(&id).filter(|pane| pane.is_held(now)) else { continue };
            if operator.stale.rows().any(|row| (rect.row..rect.bottom()).contains(&row)) {
                pane.drawn = None;
                operator.stale.touch(id);
            }
        }
    }

    /// Whether a pane holds its frame back: what it shows is not what is true.
    #[cfg(test)]
    pub(super) fn is_any_held(&self, now: Timestamp) -> bool {
        let put_off = self.operator.as_ref().is_some_and(|operator| !operator.stale.touched().is_empty());
        put_off || self.panes.values().any(|pane| pane.is_held(now))
    }

    /// Everything composed from scratch: what the terminal must show after a frame.
    #[cfg(test)]
    pub(super) fn composed(&self) -> (Grid, LinkTable) {
        let (mut grid, mut links) = (Grid::new(self.size), LinkTable::default());
        for row in 0..self.size.rows {
            self.compose_row(row, &mut grid, &mut links, &mut Row::new(), None);
        }
        (grid, links)
    }
}

/// Images go where the program's cursor was; afterwards the cursor is anywhere.
fn place_images(operator: &mut Operator, out: &mut Vec<u8>) {
    if operator.images.is_empty() {
        return;
    }
    for (row, col, bytes) in operator.images.drain(..) {
        out.extend_from_slice(format!("\x1b[{};{}H", row + 1, col + 1).as_bytes());
        out.extend_from_slice(&bytes);
    }
    operator.screen.lose_cursor();
    operator.screen.draw(&operator.grid, operator.modes, None, [], &operator.links, out);
}
