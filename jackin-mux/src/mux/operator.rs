use jackin_core::{PaneId, Size, Timestamp};

use super::pace::Pace;
use super::stale::Stale;
use super::{FullRedrawReason, Mux};
use crate::input::Client;
use crate::render::{Capabilities, Grid, LinkTable, OuterModes, Screen};
use crate::vt::Row;

/// What we want of any terminal: all mouse events as SGR, the wheel as such, focus events, marked pastes.
const GREETING: &[u8] = b"\x1b[?1003h\x1b[?1006h\x1b[?1007l\x1b[?1004h\x1b[?2004h";
/// Whether it has synchronized output and the kitty keyboard, and how large a cell is; every terminal answers the last
/// question.
const QUESTIONS: &[u8] = b"\x1b[?2026$p\x1b[?u\x1b[16t\x1b[c";

/// What may wait for a terminal that does not take frames; a clipboard fits.
const MOST_BEFORE: usize = 4 << 20;

/// What brings an operator's terminal back from everything that frames may have switched on. To be sent when a client
/// has been detached, after leaving nothing else to draw.
pub const RESTORE: &str = "\x1b[<99u\x1b[=0;1u\x1b[>4;0m\x1b[?1l\x1b>\x1b[?1003l\x1b[?1006l\x1b[?1007h\x1b[?1004l\
    \x1b[?2004l\x1b[?2031l\x1b[r\x1b]8;;\x1b\\\x1b[m\x1b[0 q\x1b[?25h";

/// The attached terminal: what it shows, and what it has yet to be told.
#[derive(Debug)]
pub(super) struct Operator {
    pub(super) screen: Screen,
    pub(super) grid: Grid,
    pub(super) links: LinkTable,
    pub(super) stale: Stale,
    pub(super) modes: OuterModes,
    pub(super) capabilities: Capabilities,
    /// It has the kitty keyboard protocol; none before it said so or not.
    pub(super) kitty: Option<bool>,
    pub(super) focused: bool,
    pub(super) pace: Pace,
    /// The pane that a key was sent to: its answer is drawn without waiting.
    pub(super) hurry: Option<PaneId>,
    /// The pane that answered a key: the next frame is due at once, and is its own.
    pub(super) answered: Option<PaneId>,
    /// Bytes that go out before the next frame.
    pub(super) before: Vec<u8>,
    /// Images, with the cell that each starts at.
    pub(super) images: Vec<(u16, u16, Vec<u8>)>,
    pub(super) title: String,
    /// What the title may have to become.
    pub(super) next_title: String,
    pub(super) scheme_events: bool,
    pub(super) scratch: Row,
}

impl Operator {
    fn new(client: Client<'_>) -> Self {
        let size = client.size.clamped();
        let capabilities = Capabilities::from_environment(client.term, client.colorterm);
        let mut before = Vec::new();
        if capabilities.links {
            before.extend_from_slice(GREETING);
            before.extend_from_slice(QUESTIONS);
        }
        let mut stale = Stale::default();
        stale.mark_all(FullRedrawReason::Attach);
        Self {
            screen: Screen::new(size, capabilities),
            grid: Grid::new(size),
            links: LinkTable::default(),
            stale,
            modes: OuterModes::default(),
            capabilities,
            kitty: None,
            focused: true,
            pace: Pace::default(),
            hurry: None,
            answered: None,
            before,
            images: Vec::new(),
            title: String::new(),
            next_title: String::new(),
            scheme_events: false,
            scratch: Row::new(),
        }
    }

    pub(super) fn resize(&mut self, size: Size) {
        // Terminals differ in what they keep of a screen whose size changes.
        self.screen.forget();
        self.grid = Grid::new(size);
    }
}

impl Mux {
    pub(super) fn attach(&mut self, client: Client<'_>) {
        self.decoder = crate::client::Decoder::new(self.settings.escape_time);
        self.prefixed = false;
        self.give_up_queries(None);
        self.operator = Some(Operator::new(client));
        self.resize(client.size);
        let nothing_runs = self.tabs.active().is_none();
        if nothing_runs && !self.settings.agents.is_empty() && self.dialog.is_none() {
            self.open_picker(None);
        }
    }

    pub(super) fn detach(&mut self) {
        self.operator = None;
        self.close_dialog();
        self.pointer = super::pointer::Pointer::default();
        self.give_up_queries(None);
    }

    pub(super) fn focus_client(&mut self, focused: bool) {
        if let Some(operator) = &mut self.operator {
            operator.focused = focused;
        }
    }

    /// Tells programs that asked for it when they get and lose the focus, as a person would see it.
    pub(super) fn settle_focus(&mut self, now: Timestamp) {
        let looked_at =
            self.operator.as_ref().filter(|operator| operator.focused).and_then(|_| self.focused());
        if looked_at == self.focus_told {
            return;
        }
        let before = std::mem::replace(&mut self.focus_told, looked_at);
        for (pane, report) in [(before, b"\x1b[O"), (looked_at, b"\x1b[I")] {
            let Some(pane) = pane else { continue };
            let wants = |mux: &Self| {
                let modes = mux.panes.get(&pane).map(|pane| pane.terminal.modes());
                modes.is_some_and(|modes| modes.contains(crate::vt::Mode::FocusEvents))
            };
            if wants(self) {
                self.write_pty(pane, report);
            }
        }
        self.dwelling = looked_at.map(|pane| (pane, now));
    }

    pub(super) fn mark_all(&mut self, reason: FullRedrawReason) {
        self.revision.any += 1;
        self.revision.all += 1;
        if let Some(operator) = &mut self.operator {
            operator.stale.mark_all(reason);
        }
    }

    /// The bar, the borders and the context row may have changed.
    pub(super) fn mark_chrome(&mut self) {
        self.revision.any += 1;
        let Some(operator) = &mut self.operator else { return };
        operator.stale.mark_rest();
        let view = &self.view;
        let rows = [view.bar, view.header, view.context].into_iter().flatten();
        let headings = view.placement.panes.iter().filter(|(_, rect)| rect.row > view.area.row);
        for row in rows.chain(headings.map(|(_, rect)| rect.row - 1)) {
            operator.stale.mark(row);
        }
    }

    /// Every row of a pane may have changed.
    pub(super) fn mark_pane(&mut self, pane: PaneId) {
        self.revision.any += 1;
        let Some(rect) = self.view.placement.rect(pane) else { return };
        if let Some(pane) = self.panes.get_mut(&pane) {
            // What it looks like when it is drawn is not known before.
            pane.drawn = None;
        }
        let Some(operator) = &mut self.operator else { return };
        // With the heading, which tells the scroll position.
        for row in rect.row.saturating_sub(1)..rect.bottom() {
            operator.stale.mark(row);
        }
    }

    /// Sends bytes to the operator's terminal with the next frame.
    pub(super) fn tell_client(&mut self, bytes: &[u8]) {
        if let Some(operator) = &mut self.operator {
            if operator.before.len() + bytes.len() > MOST_BEFORE {
                self.gate.dropped += 1;
                return;
            }
            operator.before.extend_from_slice(bytes);
            operator.stale.mark_rest();
        }
    }
}
