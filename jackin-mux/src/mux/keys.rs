//! What the operator types: to the dialog, the prefix machine, copy mode or the focused pane, in this order.

use jackin_core::{PaneId, Timestamp};

use super::{FullRedrawReason, Mux};
use crate::client::{ClientEvent, Decoder, Key};
use crate::copy::{Outcome, clipboard_sequence};
use crate::dialog::{Answer, Dialog, Verdict};
use crate::output::Output;
use crate::vt::Mode;

impl Mux {
    /// The operator's terminal said something.
    pub(super) fn said(&mut self, bytes: &[u8], now: Timestamp) {
        let mut decoder = self.take_decoder();
        decoder.feed(bytes, now, |event| self.client_event(&event, now));
        self.decoder = decoder;
    }

    /// An ESC that nothing followed in time is the Escape key.
    pub(super) fn expire(&mut self, now: Timestamp) {
        let mut decoder = self.take_decoder();
        decoder.expire(now, |event| self.client_event(&event, now));
        self.decoder = decoder;
    }

    fn take_decoder(&mut self) -> Decoder {
        std::mem::replace(&mut self.decoder, Decoder::new(self.settings.escape_time))
    }

    fn client_event(&mut self, event: &ClientEvent<'_>, now: Timestamp) {
        match *event {
            ClientEvent::Key { key, raw } => self.key(key, raw, now),
            ClientEvent::KeyUp { raw } => {
                if !self.swallow_release && self.dialog.is_none() && !self.is_copying() {
                    self.type_in(raw);
                }
            }
            ClientEvent::Mouse(mouse) => self.mouse(mouse, now),
            ClientEvent::Focus(focused) => {
                self.focus_client(focused);
                self.settle_focus(now);
            }
            ClientEvent::PasteStart => self.paste_edge(true),
            ClientEvent::Paste(text) => self.paste(text),
            ClientEvent::PasteEnd => self.paste_edge(false),
            ClientEvent::Reply(reply) => self.replied(reply),
            ClientEvent::Raw(raw) => {
                if self.dialog.is_none() && !self.is_copying() {
                    self.type_in(raw);
                }
            }
        }
    }

    fn key(&mut self, key: Key, raw: &[u8], now: Timestamp) {
        self.swallow_release = true;
        if let Some(mut dialog) = self.dialog.take() {
            let answer = dialog.key(key);
            self.dialog = Some(dialog);
            self.answered(answer, now);
            return;
        }
        if std::mem::take(&mut self.prefixed) {
            if Some(key) == self.settings.prefix {
                self.swallow_release = false;
                self.type_in(raw);
            } else if let Some(command) = self.settings.keymap.command(key) {
                self.run(command, now);
            }
            return;
        }
        if Some(key) == self.settings.prefix {
            self.prefixed = true;
            return;
        }
        if let Some(pane) = self.focused().filter(|_| self.is_copying()) {
            self.copy_key(pane, key);
            return;
        }
        self.swallow_release = false;
        self.type_in(raw);
    }

    /// Sends keys to the focused pane, which then shows its present.
    fn type_in(&mut self, raw: &[u8]) {
        let Some(pane) = self.focused_pane() else { return };
        let id = pane.id;
        let was_back = pane.terminal.view() > 0 || pane.selection.is_some();
        if was_back {
            pane.terminal.set_view(0);
            pane.selection = None;
            self.mark_pane(id);
        }
        let typed = Output::Typed { pane: id };
        // Whoever types more before this was taken only types more.
        if !self.outputs.contains(&typed) {
            self.outputs.push_back(typed);
        }
        self.write_pty(id, raw);
        self.see(id);
        if let Some(operator) = &mut self.operator {
            operator.hurry = Some(id);
        }
    }

    fn is_copying(&self) -> bool {
        let focus = self.focused().and_then(|pane| self.panes.get(&pane));
        focus.is_some_and(|pane| pane.copy.is_some())
    }

    fn copy_key(&mut self, id: PaneId, key: Key) {
        let keys = self.settings.copy_keys;
        let Some(pane) = self.panes.get_mut(&id) else { return };
        if let Outcome::Copy(text) = pane.copy_key(key, keys) {
            self.tell_client(&clipboard_sequence(&text));
        }
        self.mark_pane(id);
    }

    /// A paste is wrapped in markers exactly where the program asked for them.
    fn paste_edge(&mut self, begins: bool) {
        if self.dialog.is_some() || self.is_copying() {
            return;
        }
        let Some(pane) = self.focused_pane() else { return };
        let (id, marked) = (pane.id, pane.terminal.modes().contains(Mode::BracketedPaste));
        if marked {
            self.write_pty(id, if begins { b"\x1b[200~" } else { b"\x1b[201~" });
        }
    }

    fn paste(&mut self, text: &[u8]) {
        if let Some(dialog) = &mut self.dialog {
            let answer = dialog.paste(&String::from_utf8_lossy(text));
            if answer == Answer::Changed {
                self.redraw_dialog();
            }
        } else if self.is_copying() {
            if let Some(pane) = self.focused_pane() {
                pane.copy_paste(&String::from_utf8_lossy(text));
                let id = pane.id;
                self.mark_pane(id);
            }
        } else {
            self.type_in(text);
        }
    }

    pub(super) fn show_dialog(&mut self, dialog: Dialog) {
        self.dialog = Some(dialog);
        self.redraw_dialog();
        self.mark_all(FullRedrawReason::Dialog);
    }

    pub(super) fn close_dialog(&mut self) {
        self.dialog = None;
        self.panel = None;
        self.mark_all(FullRedrawReason::Dialog);
    }

    /// The dialog looks different, or stands elsewhere.
    pub(super) fn redraw_dialog(&mut self) {
        self.revision.any += 1;
        let before = self.panel.as_ref().map(|panel| panel.rect);
        let size = self.size;
        self.panel = self.dialog.as_mut().map(|dialog| dialog.draw(size));
        let after = self.panel.as_ref().map(|panel| panel.rect);
        let Some(operator) = &mut self.operator else { return };
        for rect in [before, after].into_iter().flatten() {
            for row in rect.row..rect.bottom() {
                operator.stale.mark(row);
            }
        }
    }

    pub(super) fn answered(&mut self, answer: Answer, now: Timestamp) {
        match answer {
            Answer::Ignored => {}
            Answer::Changed => self.redraw_dialog(),
            Answer::Closed(verdict) => {
                self.close_dialog();
                if let Some(verdict) = verdict {
                    self.obey(verdict, now);
                }
            }
        }
    }

    fn obey(&mut self, verdict: Verdict, now: Timestamp) {
        match verdict {
            Verdict::Run(command) => self.run(command, now),
            Verdict::Open { beside, launch } => self.launch(beside, launch, now),
            Verdict::Show { tab } => {
                let at = self.tabs.list().iter().position(|known| known.id == tab);
                if at.is_some_and(|at| self.tabs.select(at)) {
                    self.arrange(FullRedrawReason::Tab);
                }
            }
            Verdict::Rename { tab, label } => {
                self.tabs.rename(tab, label);
                self.mark_chrome();
            }
            Verdict::Kill(panes) => {
                let alive = panes.into_iter().filter(|pane| self.panes.contains_key(pane));
                self.outputs.extend(alive.map(|pane| Output::Kill { pane }));
            }
        }
    }
}
