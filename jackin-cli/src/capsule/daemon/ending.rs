//! What is kept of a session that ended, and of all of them.

use std::process::ExitStatus;

use jackin_core::{AgentStatus, SessionId};

use super::super::endings::{EndRecord, EndedSession};
use super::Daemon;

impl Daemon {
    pub(super) fn remember_end(&mut self, id: SessionId, status: AgentStatus, wait_status: ExitStatus) {
        let Some(session) = self.sessions.get(&id).filter(|_| self.places.state.is_some()) else { return };
        let ended = EndedSession {
            id,
            title: session.title.clone(),
            agent: session.observed.agent().map(ToOwned::to_owned),
            status,
            exit_code: None,
            signal: None,
            on_purpose: session.stopped_on_purpose,
            at: self.clock.now(),
            screen: self.mux.text(session.pane, 0).unwrap_or_default(),
            tags: self.tags.declared_by(id),
        };
        self.endings.add(ended.with_wait_status(wait_status));
    }

    /// Tells whoever comes later how everything ended.
    pub(super) fn write_record(&mut self) {
        let Some(directory) = self.places.state.clone() else { return };
        let record = EndRecord {
            version: 1,
            instance: self.instance.clone(),
            at: self.clock.now(),
            exit_code: self.exit_code,
            stopped: self.stopping,
            signalled: self.signalled,
            sessions: self.endings.take(),
            tags: self.tags.entries(),
            tag_overrides: self.tags.overrides(),
        };
        if let Err(error) = record.write(&directory) {
            tracing::error!("cannot write how the sessions ended to {}: {error}", directory.display());
        }
    }
}
