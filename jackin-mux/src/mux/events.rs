//! What programs print, and what they say beside it.

use jackin_core::{PaneId, Size, Timestamp};

use super::Mux;
use crate::output::Output;
use crate::pane::Fed;
use crate::route::Asked;
use crate::vt::{Event, Passthrough, Query, QueryKind, SequenceKind};

impl Mux {
    pub(super) fn printed(&mut self, id: PaneId, bytes: &[u8], now: Timestamp) {
        let mut events = Vec::new();
        let frame_due = self.is_visible(id) && self.next_frame().is_some_and(|due| due <= now);
        let Some(pane) = self.panes.get_mut(&id) else { return };
        let fed = pane.feed(bytes, now, frame_due, |terminal| {
            events.extend(std::iter::from_fn(|| terminal.poll_event()));
        });
        self.after_feeding(id, fed, events, now);
    }

    /// Output that waited gets its turn.
    pub(super) fn catch_up(&mut self, now: Timestamp) {
        let waiting: Vec<PaneId> =
            self.panes.values().filter(|pane| pane.backlog() > 0).map(|pane| pane.id).collect();
        for id in waiting {
            let mut events = Vec::new();
            let Some(pane) = self.panes.get_mut(&id) else { continue };
            let fed = pane.catch_up(now, |terminal| {
                events.extend(std::iter::from_fn(|| terminal.poll_event()));
            });
            self.after_feeding(id, fed, events, now);
        }
    }

    fn after_feeding(&mut self, id: PaneId, fed: Fed, events: Vec<Event>, now: Timestamp) {
        if fed == Fed::Replaced {
            let size = self.size(id).unwrap_or_default();
            let other = Size { rows: if size.rows > 1 { size.rows - 1 } else { 2 }, ..size };
            // A change of size and back makes programs draw again.
            self.outputs.extend([other, size].map(|size| Output::ResizePty { pane: id, size }));
            self.mark_pane(id);
        }
        for event in events {
            self.heard(id, event, now);
        }
        if !self.is_visible(id) && self.focused() != Some(id) {
            return;
        }
        self.revision.any += 1;
        if let Some(operator) = &mut self.operator {
            operator.stale.touch(id);
            if operator.hurry == Some(id) {
                operator.hurry = None;
                operator.answered = Some(id);
            }
        }
    }

    fn heard(&mut self, pane: PaneId, event: Event, now: Timestamp) {
        match event {
            Event::Reply(bytes) => self.write_pty(pane, &bytes),
            Event::Bell => self.outputs.push_back(Output::Bell { pane }),
            Event::Title => {
                let title = self.panes.get(&pane).map(|pane| pane.terminal.title().to_owned());
                self.outputs.extend(title.map(|title| Output::Title { pane, title }));
                self.mark_chrome();
            }
            Event::Directory(url) => self.outputs.push_back(Output::Directory { pane, url }),
            Event::Prompt(mark) => self.outputs.push_back(Output::Prompt { pane, mark }),
            Event::Progress(progress) => self.outputs.push_back(Output::Progress { pane, progress }),
            // The operator's window is not a program's to resize.
            Event::ResizeRequest(..) => {}
            Event::Query(query) => self.asked(pane, &query, now),
            Event::Passthrough(piece) => self.pass(pane, piece),
        }
    }

    /// A question that only the operator's terminal can answer.
    fn asked(&mut self, pane: PaneId, query: &Query, now: Timestamp) {
        if query.kind == QueryKind::Clipboard && !self.settings.forward.clipboard_read {
            return;
        }
        if self.operator.as_ref().is_some_and(|operator| operator.capabilities.links) {
            self.queries.ask(pane, query, now);
            self.tell_client(&query.bytes);
            self.give_up_queries(Some(now));
        } else {
            let answer = self.queries.answer_unasked(query);
            self.write_pty(pane, &answer);
        }
    }

    /// Nobody will answer, or nobody has in time; programs that wait get what is known. Without a time, all of them.
    pub(super) fn give_up_queries(&mut self, now: Option<Timestamp>) {
        while let Some((pane, asked)) = self.queries.give_up(now) {
            if asked != Asked::Clipboard {
                let answer = self.queries.known_or_usual(asked);
                self.write_pty(pane, &answer);
            }
        }
    }

    /// A sequence for the operator's terminal: only from the pane that the operator looks at.
    fn pass(&mut self, pane: PaneId, piece: Passthrough) {
        let Some(sequence) = self.gate.accept(pane, piece) else { return };
        if self.focused() != Some(pane) || !sequence.is_allowed(self.settings.forward) {
            return;
        }
        if !sequence.is_image() {
            self.tell_client(&sequence.bytes);
            return;
        }
        if self.gate.is_dropped(pane, &sequence) {
            return;
        }
        let Some(rect) = self.view.placement.rect(pane) else { return };
        let inside = sequence.row < rect.rows && sequence.col < rect.cols;
        let fits = inside && sequence.fits(rect.rows, rect.cols, self.cell_pixels, &self.gate.images);
        if !fits || self.dialog.is_some() {
            self.gate.drop_image(pane, &sequence);
            return;
        }
        if sequence.kind == SequenceKind::Apc {
            self.graphics_by = Some(pane);
        }
        if let Some(operator) = &mut self.operator {
            /// What may wait for a terminal that does not take frames.
            const MOST_WAITING: usize = 8 << 20;
            let waiting: usize = operator.images.iter().map(|(.., bytes)| bytes.len()).sum();
            if waiting + sequence.bytes.len() > MOST_WAITING {
                self.gate.drop_image(pane, &sequence);
                return;
            }
            self.gate.images.note(&sequence);
            operator.images.push((rect.row + sequence.row, rect.col + sequence.col, sequence.bytes));
            operator.stale.mark_rest();
        }
    }
}
