//! The rule: after any [`Mux::handle_input`] or [`Mux::open`], drain [`Mux::poll_output`]. When [`Mux::poll_timeout`]
//! is due, hand in [`Input::Tick`]. When [`Mux::frame_due`] is due and the client can take a frame, [`Mux::render`]. A
//! frame always brings the client from what it was last sent to what is true now, so one that is rendered late only
//! contains more.

mod commands;
mod compose;
mod events;
mod frame;
mod keys;
mod open;
mod operator;
mod outer;
mod pace;
mod pointer;
mod replies;
mod stale;
mod viewer;

pub use open::Place;
pub use operator::RESTORE;
pub use stale::FullRedrawReason;
pub use viewer::Viewer;

use std::collections::{BTreeMap, VecDeque};

use jackin_core::{Attention, PaneId, Size, Standing, Timestamp};

use crate::chrome::{View, has_context};
use crate::client::Decoder;
use crate::dialog::{Dialog, Panel};
use crate::input::{Context, Input};
use crate::layout::Rect;
use crate::output::Output;
use crate::pane::Pane;
use crate::route::{Gate, Queries};
use crate::settings::Settings;
use crate::tabs::Tabs;
use crate::vt;

use operator::Operator;
use pointer::Pointer;
use viewer::Revision;

const PASTE_START: &str = "\x1b[200~";
const PASTE_END: &str = "\x1b[201~";

/// The multiplexer.
#[derive(Debug)]
pub struct Mux {
    settings: Settings,
    decoder: Decoder,
    /// The prefix was pressed, and the next key is a command.
    prefixed: bool,
    /// The last key was ours, so its release is too.
    swallow_release: bool,
    panes: BTreeMap<PaneId, Pane>,
    opened: u32,
    tabs: Tabs,
    /// The size of the operator's terminal, or of the last one.
    size: Size,
    view: View,
    dialog: Option<Dialog>,
    panel: Option<Panel>,
    context: Context,
    operator: Option<Operator>,
    pointer: Pointer,
    /// The pane that was told that it has the focus.
    focus_told: Option<PaneId>,
    /// The pane that the operator looks at, and since when.
    dwelling: Option<(PaneId, Timestamp)>,
    gate: Gate,
    queries: Queries,
    /// The pane that last spoke to the operator's terminal by APC: replies are for it.
    graphics_by: Option<PaneId>,
    kitty_keyboard: bool,
    /// Width and height of a cell of the operator's terminal, or of the last one that told.
    cell_pixels: (u16, u16),
    outputs: VecDeque<Output>,
    frames: FrameCounts,
    revision: Revision,
}

/// How many frames were rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// Of changed rows only.
    pub partial: u64,
    /// Of everything.
    pub full: u64,
    /// Why the last full one was rendered.
    pub last_reason: Option<FullRedrawReason>,
    /// Rows composed for the last frame.
    pub rows: u16,
    /// Images and long sequences that could not be passed on.
    pub dropped_sequences: u64,
}

impl Mux {
    /// A multiplexer with no panes and no client.
    pub fn new(settings: Settings) -> Self {
        let size = Size::default();
        Self {
            decoder: Decoder::new(settings.escape_time),
            prefixed: false,
            swallow_release: false,
            panes: BTreeMap::new(),
            opened: 0,
            tabs: Tabs::default(),
            size,
            view: View::new(size, settings.chrome, false, None),
            dialog: None,
            panel: None,
            context: Context::default(),
            operator: None,
            pointer: Pointer::default(),
            focus_told: None,
            dwelling: None,
            gate: Gate::default(),
            queries: Queries::default(),
            graphics_by: None,
            kitty_keyboard: settings.terminal.kitty_keyboard,
            cell_pixels: settings.terminal.cell_pixels,
            outputs: VecDeque::new(),
            frames: FrameCounts::default(),
            revision: Revision::default(),
            settings,
        }
    }

    /// Takes in what happened. Poll outputs and the timeouts afterwards.
    pub fn handle_input(&mut self, input: Input<'_>, now: Timestamp) {
        match input {
            Input::Pty { pane, bytes } => self.printed(pane, bytes, now),
            Input::Client(bytes) => self.said(bytes, now),
            Input::PaneClosed { pane } => self.close(pane),
            Input::Attached(client) => self.attach(client),
            Input::Resized(size) => self.resize(size),
            Input::Focus(focused) => self.focus_client(focused),
            Input::Detached => self.detach(),
            Input::Status { pane, status, attention } => {
                if let Some(known) = self.panes.get_mut(&pane) {
                    known.status.clone_from(status);
                    if known.attention != attention {
                        known.attention = attention;
                        // Being looked at counts from when there is something to see.
                        if self.dwelling.is_some_and(|(looked_at, _)| looked_at == pane) {
                            self.dwelling = Some((pane, now));
                        }
                    }
                    self.mark_chrome();
                }
            }
            Input::Context(context) => {
                let had = has_context(&self.context);
                self.context.clone_from(context);
                if has_context(context) == had {
                    self.mark_chrome();
                } else {
                    self.arrange(FullRedrawReason::Layout);
                }
            }
            Input::Tick => {
                self.expire(now);
                self.give_up_queries(Some(now));
                self.catch_up(now);
            }
        }
        self.settle_focus(now);
        self.notice_dwell(now);
    }

    /// The next thing to do, after any call that changes something.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to hand in [`Input::Tick`], if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let backlog = self.panes.values().filter_map(Pane::poll_timeout).min();
        let dwell = self.dwelling.and_then(|(pane, since)| {
            let done = self.panes.get(&pane).is_some_and(|pane| pane.attention == Attention::Done);
            done.then(|| since + Standing::DWELL)
        });
        [self.decoder.poll_timeout(), self.queries.poll_timeout(), backlog, dwell].into_iter().flatten().min()
    }

    /// How much of a pane's output waits for its turn. An embedder that stops reading while this is not 0 keeps memory
    /// bounded.
    pub fn backlog(&self, pane: PaneId) -> usize {
        self.panes.get(&pane).map_or(0, Pane::backlog)
    }

    /// The panes, in the order in which they were opened.
    pub fn panes(&self) -> impl Iterator<Item = PaneId> {
        self.panes.keys().copied()
    }

    /// The pane that keys go to.
    pub fn focused(&self) -> Option<PaneId> {
        self.tabs.active().map(|tab| tab.layout.focus())
    }

    /// The size of a pane.
    pub fn size(&self, pane: PaneId) -> Option<Size> {
        self.panes.get(&pane).map(Pane::size)
    }

    /// The position of the tab that a pane is in, from 0.
    pub fn tab(&self, pane: PaneId) -> Option<usize> {
        self.tabs.position(pane)
    }

    /// A pane's screen as text, with so many rows of history before it. Each row ends with a newline, blanks at the
    /// ends of rows are left out.
    pub fn text(&self, pane: PaneId, history: usize) -> Option<String> {
        self.panes.get(&pane).map(|pane| pane.text(history))
    }

    /// As [`Mux::text`], with colours and attributes.
    pub fn styled_text(&self, pane: PaneId, history: usize) -> Option<String> {
        self.panes.get(&pane).map(|pane| pane.styled(history))
    }

    /// The bytes that bring a fresh terminal of a pane's size to what the pane shows, so that what its program prints next
    /// makes the same of both ([`vt::Terminal::repaint`]). None when there is no such pane, when output waits for its
    /// turn, and in the middle of a sequence.
    pub fn repaint(&self, pane: PaneId) -> Option<Vec<u8>> {
        self.panes.get(&pane).filter(|pane| pane.backlog() == 0)?.terminal.repaint()
    }

    /// A text as a pane's program wants to be given it at once: between the markers of a paste where the program asked
    /// for them, and otherwise with the line ends of the Enter key. None when there is no such pane.
    pub fn as_paste(&self, pane: PaneId, text: &str) -> Option<Vec<u8>> {
        let pane = self.panes.get(&pane)?;
        let text = text.replace("\r\n", "\r").replace('\n', "\r");
        if !pane.terminal.modes().contains(vt::Mode::BracketedPaste) {
            return Some(text.into_bytes());
        }
        // A marker in the text would end the paste, and what follows it would be keys.
        let mut text = text;
        while text.contains(PASTE_END) {
            text = text.replace(PASTE_END, "");
        }
        Some(format!("{PASTE_START}{text}{PASTE_END}").into_bytes())
    }

    /// Shows a pane and gives it the focus; false when there is none.
    pub fn focus(&mut self, pane: PaneId, now: Timestamp) -> bool {
        let Some(tab) = self.tabs.position(pane) else { return false };
        self.tabs.select(tab);
        if let Some(tab) = self.tabs.active_mut() {
            tab.layout.set_focus(pane);
        }
        self.arrange(FullRedrawReason::Focus);
        self.settle_focus(now);
        true
    }

    /// Frames so far.
    pub fn frames(&self) -> FrameCounts {
        FrameCounts { dropped_sequences: self.gate.dropped, ..self.frames }
    }

    fn close(&mut self, pane: PaneId) {
        if self.panes.remove(&pane).is_none() {
            return;
        }
        self.queries.forget_pane(pane);
        self.tabs.remove_pane(pane);
        self.pointer.forget(pane);
        if self.graphics_by == Some(pane) {
            self.graphics_by = None;
        }
        self.arrange(FullRedrawReason::Close);
        if self.tabs.active().is_none() && !self.settings.agents.is_empty() && self.dialog.is_none() {
            self.open_picker(None);
        }
    }

    fn resize(&mut self, size: Size) {
        self.size = size.clamped();
        self.arrange(FullRedrawReason::Resize);
        if let Some(operator) = &mut self.operator {
            operator.resize(self.size);
        }
        self.redraw_dialog();
    }

    /// Where everything goes, after tabs, layouts or sizes have changed.
    fn arrange(&mut self, reason: FullRedrawReason) {
        let context = has_context(&self.context);
        let chrome = self.settings.chrome;
        let (panes, outputs) = (&mut self.panes, &mut self.outputs);
        for tab in self.tabs.list() {
            let view = View::new(self.size, chrome, context, Some(&tab.layout));
            for &(id, rect) in &view.placement.panes {
                let Some(pane) = panes.get_mut(&id).filter(|pane| pane.size() != rect.size()) else {
                    continue;
                };
                pane.resize(rect.size());
                outputs.push_back(Output::ResizePty { pane: id, size: pane.size() });
            }
        }
        let layout = self.tabs.active().map(|tab| &tab.layout);
        self.view = View::new(self.size, chrome, context, layout);
        self.pointer.end_drag();
        self.mark_all(reason);
    }

    fn area_of(&self, tab: usize) -> Rect {
        let layout = self.tabs.list().get(tab).map(|tab| &tab.layout);
        View::new(self.size, self.settings.chrome, has_context(&self.context), layout).area
    }

    fn focused_pane(&mut self) -> Option<&mut Pane> {
        let focus = self.focused()?;
        self.panes.get_mut(&focus)
    }

    /// Whether a pane is on the operator's terminal.
    fn is_visible(&self, pane: PaneId) -> bool {
        self.view.placement.panes.iter().any(|(visible, _)| *visible == pane)
    }

    fn write_pty(&mut self, pane: PaneId, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        match self.outputs.back_mut() {
            Some(Output::WritePty { pane: before, bytes: waiting }) if *before == pane => {
                waiting.extend_from_slice(bytes);
            }
            _ => self.outputs.push_back(Output::WritePty { pane, bytes: bytes.to_vec() }),
        }
    }

    /// The operator's attention is what clears "done".
    fn see(&mut self, pane: PaneId) {
        if let Some(seen) = self.panes.get_mut(&pane).filter(|pane| pane.attention == Attention::Done) {
            seen.attention = Attention::Idle;
            self.outputs.push_back(Output::Seen { pane });
            self.mark_chrome();
        }
    }

    fn notice_dwell(&mut self, now: Timestamp) {
        if let Some((pane, since)) = self.dwelling
            && now >= since + Standing::DWELL
        {
            self.see(pane);
        }
    }
}

#[cfg(test)]
mod attention_tests;
#[cfg(test)]
mod chrome_tests;
#[cfg(test)]
mod image_tests;
#[cfg(test)]
mod law_tests;
#[cfg(test)]
mod mouse_tests;
#[cfg(test)]
mod outside;
#[cfg(test)]
mod prefix_tests;
#[cfg(test)]
mod query_tests;
#[cfg(test)]
mod routing_tests;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod timing_tests;
#[cfg(test)]
mod typing_tests;
#[cfg(test)]
mod viewer_tests;
