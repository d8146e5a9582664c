//! What each row of the operator's terminal is to show.

use jackin_core::{Attention, Timestamp};

use super::Mux;
use super::pointer::Hover;
use crate::chrome::{Bar, Heading, TabEntry, Theme, draw_context, draw_empty, draw_heading};
use crate::command::Command;
use crate::layout::Rect;
use crate::pane::Pane;
use crate::render::{Grid, LinkTable};
use crate::tabs::Tab;
use crate::vt::{LinkId, Mode, Pen, Row};

impl Mux {
    /// Composes one row of the terminal, whatever it showed before. With a time, panes that hold their frame back keep
    /// what they showed.
    pub(super) fn compose_row(
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
            let key = self.settings.keymap.keys(Command::NewTab).next();
            // A dialog that is open says more than how to open one.
            let keys = self.settings.prefix.zip(key).filter(|_| self.panel.is_none());
            draw_empty(grid, view.area, row, keys.map(|(prefix, key)| (prefix.to_string(), key.to_string())));
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
            let heading = Heading {
                title: pane.title(),
                glyph: Theme::glyph(pane.attention, Some(&pane.status)),
                colour: Theme::state(pane.attention, Some(&pane.status)),
                focused: focus == Some(id),
                position: position(pane, rect.cols.saturating_sub(8)),
            };
            draw_heading(&heading, rect, grid, row);
        }
    }

    /// The top row with its tabs, as it is drawn and clicked.
    pub(super) fn bar<'a>(&'a self) -> Bar<impl Fn(usize) -> TabEntry<'a>> {
        let tabs = self.tabs.list();
        let entry = |at: usize| {
            let tab = &tabs[at];
            let urgent = self.most_urgent(tab);
            let attention = urgent.map_or_else(Attention::default, |pane| pane.attention);
            TabEntry {
                label: self.label(tab),
                glyph: Theme::glyph(attention, urgent.map(|pane| &pane.status)),
                colour: Theme::state(attention, urgent.map(|pane| &pane.status)),
                zoomed: tab.layout.is_zoomed(),
            }
        };
        Bar::new(tabs.len(), self.tabs.active_index(), self.size.cols, entry)
    }

    /// The pane of a tab that needs the operator most.
    pub(super) fn most_urgent(&self, tab: &Tab) -> Option<&Pane> {
        let mut most: Option<&Pane> = None;
        tab.layout.each(|id| {
            let pane = self.panes.get(&id);
            if pane.is_some_and(|pane| most.is_none_or(|most| pane.attention > most.attention)) {
                most = pane;
            }
        });
        most
    }

    /// What a tab is called: as the operator says, else as the program of its first pane is called, else its title.
    pub(super) fn label<'a>(&'a self, tab: &'a Tab) -> &'a str {
        if let Some(label) = &tab.label {
            return label;
        }
        let first = self.panes.get(&tab.layout.first());
        first.map_or("", |pane| if pane.name.is_empty() { pane.title() } else { &pane.name })
    }
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
    if pane.terminal.view() > 0 && rect.cols > 2 {
        compose_scrollbar(pane, rect, line, grid);
    }
    if line == 0
        && !has_heading
        && let Some(text) = position(pane, rect.cols.saturating_sub(3))
    {
        let from = rect.right() - 1 - text.len() as u16;
        grid.write(at, from, rect.right() - 1, &text, Theme::INDICATOR);
    }
    if line + 1 == rect.rows
        && let Some(prompt) = pane.copy.as_ref().and_then(crate::copy::CopyMode::prompt)
    {
        grid.fill(Rect { row: at, rows: 1, ..rect }, Theme::INDICATOR);
        grid.write(at, rect.col, rect.right(), &prompt, Theme::INDICATOR);
    }
}

/// What tells that a pane does not show its present: copy mode, and how far it is scrolled back through how much, as far
/// as there is room.
fn position(pane: &Pane, cols: u16) -> Option<String> {
    let back = pane.terminal.view();
    let mode = pane.copy.as_ref().map(|_| " copy ".to_owned());
    let far = (back > 0).then(|| format!("{back}/{} ", pane.terminal.history_rows()));
    let both = match (&mode, far) {
        (Some(mode), Some(far)) => Some(format!("{mode}{far}")),
        (None, Some(far)) => Some(format!(" {far}")),
        (_, None) => None,
    };
    both.into_iter().chain(mode).find(|text| text.len() <= usize::from(cols))
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
