//! What the operator's terminal is to show, row by row, and the bytes that make it so.

use std::time::Duration;

use jackin_core::{Attention, Timestamp};

use super::operator::Operator;
use super::pointer::Hover;
use super::{FullRedrawReason, Mux};
use crate::chrome::{Bar, Heading, TabEntry, Theme, draw_context, draw_empty, draw_heading};
use crate::layout::Rect;
use crate::pane::Pane;
use crate::render::{Grid, LinkTable, OuterModes};
use crate::tabs::Tab;
use crate::vt::{LinkId, Mode, Pen, Row, Scroll};

/// The shortest time between two frames of a burst.
const FRAME_INTERVAL: Duration = Duration::from_millis(33);

impl Mux {
    /// When a frame is to be rendered; none while the client shows what is true.
    pub fn frame_due(&self) -> Option<Timestamp> {
        let operator = self.operator.as_ref()?;
        let next = match operator.last_frame {
            Some(_) if operator.drawn_now => Timestamp::default(),
            Some(last) => last + FRAME_INTERVAL,
            None => Timestamp::default(),
        };
        if !operator.stale.is_empty() {
            return Some(next);
        }
        let touched = operator.stale.touched().iter().filter_map(|id| self.panes.get(id));
        touched.map(|pane| pane.held_until().map_or(next, |until| until.max(next))).min()
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
                    pane.drawn = pane.looks();
                    pane.terminal.clear_damage();
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
        operator.last_frame = Some(now);
        operator.drawn_now = false;
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
            if looks != pane.drawn || !plain {
                pane.drawn = looks;
                (rect.row.saturating_sub(1)..rect.bottom()).for_each(|row| operator.stale.mark(row));
                pane.terminal.clear_damage();
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
            pane.terminal.clear_damage();
        }
        scrolled
    }

    /// Composes one row of the terminal, whatever it showed before. With a time, panes that hold their frame back keep
    /// what they showed.
    fn compose_row(
        &self,
        row: u16,
        grid: &mut Grid,
        links: &mut LinkTable,
        scratch: &mut Row,
        holding: Option<Timestamp>,
    ) {
        let view = &self.view;
        if view.bar == Some(row) {
            let hover = match self.pointer.hover() {
                Some(Hover::Tab(tab)) => Some(tab),
                _ => None,
            };
            self.bar().draw(grid, row, hover);
        } else if view.context == Some(row) {
            draw_context(&self.context, grid, row, self.pointer.hover() == Some(Hover::Context));
        } else if self.tabs.active().is_none() {
            let prefix = self.settings.prefix.map(|key| key.to_string());
            draw_empty(grid, view.area, row, prefix.as_deref());
        } else {
            self.compose_borders(row, grid);
            for &(id, rect) in &view.placement.panes {
                let Some(pane) = self.panes.get(&id).filter(|_| (rect.row..rect.bottom()).contains(&row))
                else {
                    continue;
                };
                let held = holding.is_some_and(|now| pane.is_held(now));
                if !held || self.panel.is_some() {
                    compose_pane(pane, rect, row - rect.row, grid, links, scratch, view.header.is_some());
                }
            }
        }
        if let Some(panel) = &self.panel {
            grid.restyle(Rect { row, col: 0, rows: 1, cols: grid.size().cols }, Theme::dimmed);
            if (panel.rect.row..panel.rect.bottom()).contains(&row) {
                grid.stamp(row, panel.rect.col, panel.cells.row(row - panel.rect.row));
            }
        }
    }

    fn compose_borders(&self, row: u16, grid: &mut Grid) {
        let view = &self.view;
        let focus = self.focused();
        let focused = focus.and_then(|pane| view.placement.rect(pane)).unwrap_or_default();
        for (col, stroke) in view.line(row) {
            let beside = row + 1 >= focused.row
                && row <= focused.bottom()
                && col + 1 >= focused.col
                && col <= focused.right();
            let pen = if beside { Theme::BORDER_FOCUSED } else { Theme::BORDER };
            grid.write(row, col, col + 1, stroke, pen);
        }
        if !self.settings.chrome {
            return;
        }
        for (id, rect) in view.headed(row) {
            let Some(pane) = self.panes.get(&id) else { continue };
            let back = pane.terminal.view();
            let heading = Heading {
                title: pane.title(),
                glyph: Theme::glyph(pane.attention),
                colour: Theme::state(pane.attention, Some(&pane.status)),
                focused: focus == Some(id),
                scrolled: (back > 0).then(|| (back, pane.terminal.history_rows())),
            };
            draw_heading(&heading, rect, grid, row);
        }
    }

    /// The top row with its tabs, as it is drawn and clicked.
    pub(super) fn bar(&self) -> Bar {
        let entry = |tab: &Tab| {
            let attention = self.tab_attention(tab);
            let panes = tab.layout.panes();
            let urgent =
                panes.iter().filter_map(|pane| self.panes.get(pane)).find(|pane| pane.attention == attention);
            TabEntry {
                label: self.label(tab).to_owned(),
                glyph: Theme::glyph(attention),
                colour: Theme::state(attention, urgent.map(|pane| &pane.status)),
                zoomed: tab.layout.is_zoomed(),
            }
        };
        let entries = self.tabs.list().iter().map(entry).collect();
        Bar::new(entries, self.tabs.active_index(), self.size.cols)
    }

    pub(super) fn tab_attention(&self, tab: &Tab) -> Attention {
        let panes = tab.layout.panes();
        Attention::roll_up(panes.iter().filter_map(|pane| self.panes.get(pane)).map(|pane| pane.attention))
    }

    /// What a tab is called: as the operator says, else as the program of its first pane is called, else its title.
    pub(super) fn label<'a>(&'a self, tab: &'a Tab) -> &'a str {
        if let Some(label) = &tab.label {
            return label;
        }
        let first = tab.layout.panes().first().and_then(|pane| self.panes.get(pane));
        first.map_or("", |pane| if pane.name.is_empty() { pane.title() } else { &pane.name })
    }

    fn tell_title(&self, operator: &mut Operator) {
        if !operator.capabilities.links {
            return;
        }
        let context = &self.context;
        let parts: Vec<&str> = [&context.workspace, &context.branch, &context.pull_request]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        // Allocates only when there is more than one part, which changes rarely.
        let title: std::borrow::Cow<'_, str> = match parts[..] {
            [] => self
                .focused()
                .and_then(|pane| self.panes.get(&pane))
                .map_or("jackin'", |pane| pane.title())
                .into(),
            [part] => part.into(),
            _ => parts.join(" · ").into(),
        };
        if operator.title != *title {
            operator.title = title.chars().filter(|c| !c.is_control()).take(256).collect();
            let sequence = format!("\x1b]2;{}\x07", operator.title);
            operator.before.extend_from_slice(sequence.as_bytes());
            operator.title = title.into_owned();
        }
    }

    /// Asks the terminal to tell when it turns dark or light, while any program wants to know.
    fn tell_scheme_events(&self, operator: &mut Operator) {
        let wanted = operator.capabilities.links
            && self.panes.values().any(|pane| pane.terminal.modes().contains(Mode::ColorSchemeEvents));
        if wanted != operator.scheme_events {
            operator.scheme_events = wanted;
            operator.before.extend_from_slice(if wanted { b"\x1b[?2031h" } else { b"\x1b[?2031l" });
        }
    }

    /// What the terminal is switched to: what the focused pane's program asked for. With a time, the cursor of a pane
    /// that holds its frame back stays where it was.
    fn outer_modes(&self, operator: &Operator, holding: Option<Timestamp>) -> OuterModes {
        let focus = self.focused();
        let Some(pane) = focus.and_then(|id| self.panes.get(&id)) else {
            let cursor = self.panel.as_ref().and_then(|panel| panel_cursor(panel.rect, panel.cursor));
            return OuterModes { cursor, ..OuterModes::default() };
        };
        let rect = self.view.placement.rect(pane.id).unwrap_or_default();
        let modes = pane.terminal.modes();
        let cursor = match (&self.panel, &pane.copy) {
            (Some(panel), _) => panel_cursor(panel.rect, panel.cursor),
            (None, Some(copy)) => copy_cursor(pane, copy, rect),
            (None, None) if holding.is_some_and(|now| pane.is_held(now)) => operator.modes.cursor,
            (None, None) => pane.cursor_at(rect),
        };
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

    /// Whether a pane holds its frame back: what it shows is not what is true.
    #[cfg(test)]
    pub(super) fn is_any_held(&self, now: Timestamp) -> bool {
        self.panes.values().any(|pane| pane.is_held(now))
    }

    /// Everything composed from scratch: what the terminal must show after a frame.
    #[cfg(test)]
    pub(super) fn composed(&mut self) -> (Grid, OuterModes, Operator) {
        let mut operator = self.operator.take().expect("a client is attached");
        let mut grid = Grid::new(self.size);
        for row in 0..self.size.rows {
            self.compose_row(row, &mut grid, &mut operator.links, &mut Row::new(), None);
        }
        let modes = self.outer_modes(&operator, None);
        (grid, modes, operator)
    }

    #[cfg(test)]
    pub(super) fn put_back(&mut self, operator: Operator) {
        self.operator = Some(operator);
    }
}

fn panel_cursor(rect: Rect, cursor: Option<(u16, u16)>) -> Option<(u16, u16)> {
    cursor.map(|(row, col)| (rect.row + row, rect.col + col))
}

fn copy_cursor(pane: &Pane, copy: &crate::copy::CopyMode, rect: Rect) -> Option<(u16, u16)> {
    if let Some(entry) = &copy.entry {
        let col = (entry.chars().count() as u16 + 1).min(rect.cols.saturating_sub(1));
        return Some((rect.bottom().saturating_sub(1), rect.col + col));
    }
    let row = copy.cursor.line - pane.line_of(0);
    let inside = (0..i64::from(rect.rows)).contains(&row) && copy.cursor.col < rect.cols;
    inside.then(|| (rect.row + row as u16, rect.col + copy.cursor.col))
}

/// Draws a pane's row with what lies over it: marked text, the scroll position, the search.
fn compose_pane(
    pane: &Pane,
    rect: Rect,
    line: u16,
    grid: &mut Grid,
    links: &mut LinkTable,
    scratch: &mut Row,
    has_heading: bool,
) {
    pane.terminal.read_view_row(line, scratch);
    let inverse = pane.terminal.modes().contains(Mode::ReverseVideo);
    let mut last = (LinkId::NONE, LinkId::NONE);
    let row: &Row = scratch;
    grid.draw(rect, line, row, |mut pen: Pen| {
        if !pen.link.is_none() {
            if pen.link != last.0 {
                last = (pen.link, row.link_key(pen.link).map_or(LinkId::NONE, |key| links.intern(key)));
            }
            pen.link = last.1;
        }
        if inverse { Theme::selected(pen) } else { pen }
    });
    let at = rect.row + line;
    if let Some(selection) = &pane.selection
        && let Some((from, to)) = selection.columns(pane.line_of(line), rect.cols)
    {
        let marked = Rect { row: at, col: rect.col + from, rows: 1, cols: to.saturating_sub(from) };
        grid.restyle(marked, Theme::selected);
    }
    let back = pane.terminal.view();
    if back > 0 && rect.cols > 2 {
        compose_scrollbar(pane, rect, line, grid);
    }
    if line == 0 && (back > 0 || pane.copy.is_some()) && !has_heading {
        let text = format!(" {back}/{} ", pane.terminal.history_rows());
        let width = text.len() as u16;
        if width + 2 < rect.cols {
            grid.write(at, rect.right() - width - 1, rect.right() - 1, &text, Theme::INDICATOR);
        }
    }
    if line + 1 == rect.rows
        && let Some(prompt) = pane.copy.as_ref().and_then(crate::copy::CopyMode::prompt)
    {
        grid.fill(Rect { row: at, rows: 1, ..rect }, Theme::INDICATOR);
        grid.write(at, rect.col, rect.right(), &prompt, Theme::INDICATOR);
    }
}

fn compose_scrollbar(pane: &Pane, rect: Rect, line: u16, grid: &mut Grid) {
    let history = pane.terminal.history_rows();
    let rows = usize::from(rect.rows);
    let total = history + rows;
    let top = (history - pane.terminal.view()) * rows / total;
    let size = (rows * rows / total).max(1);
    let thumb = (top..top + size).contains(&usize::from(line));
    let (text, pen) = if thumb { ("█", Theme::SCROLLBAR_THUMB) } else { ("│", Theme::SCROLLBAR) };
    grid.write(rect.row + line, rect.right() - 1, rect.right(), text, pen);
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
