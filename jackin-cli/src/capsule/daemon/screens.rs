//! Screens for previews: however many look at one, it is written out once, and at most ten times a second.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jackin_core::protocol::control::{ControlError, TextFormat};
use jackin_core::{SessionId, Size};
use tokio::sync::watch;

use super::Daemon;

/// How often a screen is written out while it changes.
const INTERVAL: Duration = Duration::from_millis(100);

/// What stands on a session's screen, row by row, as SGR text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::capsule) struct Shown {
    pub(in crate::capsule) size: Size,
    pub(in crate::capsule) rows: Vec<String>,
}

/// The screens that somebody looks at.
pub(super) type Previews = BTreeMap<SessionId, Preview>;

#[derive(Debug)]
pub(super) struct Preview {
    latest: watch::Sender<Arc<Shown>>,
    drawn: Instant,
    /// It has changed since, and is written out then.
    due: Option<Instant>,
}

impl Daemon {
    /// A session's screen, now and whenever it changes. That of a session that ended badly changes no more.
    pub(in crate::capsule) fn watch_screen(
        &mut self,
        id: SessionId,
    ) -> Result<watch::Receiver<Arc<Shown>>, ControlError> {
        if let Some(read) = self.read_ended(id, TextFormat::Sgr, 0) {
            let shown = Shown { size: read.size, rows: read.text.lines().map(str::to_owned).collect() };
            return Ok(watch::channel(Arc::new(shown)).1);
        }
        self.find(id)?;
        if let Some(preview) = self.previews.get(&id) {
            return Ok(preview.latest.subscribe());
        }
        let (latest, receiver) = watch::channel(Arc::new(self.shown(id)));
        self.previews.insert(id, Preview { latest, drawn: Instant::now(), due: None });
        Ok(receiver)
    }

    /// A session's screen is not what it was.
    pub(super) fn screen_changed(&mut self, id: SessionId) {
        if let Some(preview) = self.previews.get_mut(&id) {
            preview.due.get_or_insert(preview.drawn + INTERVAL);
        }
    }

    /// When the next screen is to be written out.
    pub(super) fn next_preview(&self) -> Option<Instant> {
        self.previews.values().filter_map(|preview| preview.due).min()
    }

    /// Writes out what is due. Screens that nobody looks at any more are forgotten.
    pub(super) fn draw_previews(&mut self) {
        let now = Instant::now();
        let due = self.previews.iter().filter(|(_, preview)| preview.due.is_some_and(|due| due <= now));
        let due: Vec<SessionId> = due.map(|(id, _)| *id).collect();
        for id in due {
            let shown = self.shown(id);
            let Some(preview) = self.previews.get_mut(&id) else { continue };
            (preview.drawn, preview.due) = (now, None);
            if preview.latest.send(Arc::new(shown)).is_err() {
                self.previews.remove(&id);
            }
        }
    }

    /// Shows a session's last screen; nothing comes after it.
    pub(super) fn end_preview(&mut self, id: SessionId) {
        if let Some(preview) = self.previews.remove(&id) {
            // Nobody may look any more.
            let _ = preview.latest.send(Arc::new(self.shown(id)));
        }
    }

    fn shown(&self, id: SessionId) -> Shown {
        let Some(session) = self.sessions.get(&id) else { return Shown::default() };
        let text = self.mux.styled_text(session.pane, 0).unwrap_or_default();
        let size = self.mux.size(session.pane).unwrap_or_default();
        Shown { size, rows: text.lines().map(str::to_owned).collect() }
    }
}
