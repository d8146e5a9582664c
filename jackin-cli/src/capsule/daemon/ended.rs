//! Sessions that ended badly: what stood on their screens, and how to start them again.

use std::collections::BTreeMap;

use jackin_core::protocol::control::{
    ControlError, Created, Done, ErrorCode, Explanation, ReadText, SessionInfo, TextFormat,
};
use jackin_core::{Attention, SessionId, Size};
use jackin_mux::Place;

use super::{Daemon, Start};

/// How many ended sessions are kept; then the oldest goes.
const MOST_ENDED: usize = 16;

/// How much history is kept of each, beside its screen.
const KEPT_ROWS: usize = 1_000;

/// A text that is kept of an ended session.
const LONGEST_TEXT: usize = 512 * 1024;

/// The sessions that ended badly and nobody has acknowledged, oldest first.
pub(super) type EndedSessions = BTreeMap<SessionId, Ended>;

/// What is left of a session.
#[derive(Debug)]
pub(super) struct Ended {
    info: SessionInfo,
    explanation: Explanation,
    text: String,
    styled: String,
    origin: Origin,
}

/// What a session was started with, to start it again as it was.
#[derive(Clone, Debug, Default)]
pub(in crate::capsule) struct Origin {
    pub(in crate::capsule) start: Start,
    /// The label of its tab.
    pub(in crate::capsule) name: Option<String>,
}

impl Daemon {
    /// Keeps what a session leaves behind; its pane must still be there.
    pub(super) fn keep(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Ok(explanation) = self.explain(id) else { return };
        let mut info = self.session_info(session);
        (info.pane, info.tab, info.recording) = (None, None, None);
        let text = self.mux.text(session.pane, KEPT_ROWS).unwrap_or_default();
        let styled = self.mux.styled_text(session.pane, KEPT_ROWS).unwrap_or_default();
        let ended = Ended {
            info,
            explanation,
            text: last_rows(text, LONGEST_TEXT),
            styled: last_rows(styled, LONGEST_TEXT),
            origin: session.origin.clone(),
        };
        self.ended.insert(id, ended);
        while self.ended.len() > MOST_ENDED {
            self.ended.pop_first();
        }
    }

    pub(super) fn ended_infos(&self) -> impl Iterator<Item = SessionInfo> {
        self.ended.values().map(|ended| ended.info.clone())
    }

    /// What ended badly waits for the operator.
    pub(in crate::capsule) fn ended_attention(&self) -> impl Iterator<Item = Attention> {
        self.ended.values().map(|ended| ended.info.attention)
    }

    pub(in crate::capsule) fn has_ended(&self, id: SessionId) -> bool {
        self.ended.contains_key(&id)
    }

    /// The operator has seen how a session ended.
    pub(in crate::capsule) fn forget_ended(&mut self, id: SessionId) -> bool {
        self.ended.remove(&id).is_some()
    }

    pub(in crate::capsule) fn explain_ended(&self, id: SessionId) -> Option<Explanation> {
        self.ended.get(&id).map(|ended| ended.explanation.clone())
    }

    pub(in crate::capsule) fn read_ended(
        &self,
        id: SessionId,
        format: TextFormat,
        history: u32,
    ) -> Option<ReadText> {
        let ended = self.ended.get(&id)?;
        let text = match format {
            TextFormat::Sgr => &ended.styled,
            TextFormat::Text => &ended.text,
        };
        Some(read_rows(text, ended.info.size, history))
    }

    /// Starts a session again as it was started before.
    pub(in crate::capsule) fn restart(&mut self, id: SessionId) -> Result<Created, ControlError> {
        let Some(ended) = self.ended.get(&id) else {
            self.find(id)?;
            return Err(ControlError::new(
                ErrorCode::Refused,
                format!("session {id} runs: `kill` ends it, and only one that ended badly can be restarted"),
            ));
        };
        let Origin { start, name } = ended.origin.clone();
        match self.open(Place::Tab, name.as_deref(), true, start) {
            Ok(session_id) => {
                self.ended.remove(&id);
                Ok(Created { session_id })
            }
            Err(error) => Err(ControlError::new(ErrorCode::Failed, format!("{error:#}"))),
        }
    }

    /// Starts the session again that ended last; where that cannot be done, the bell rings.
    pub(super) fn restart_last(&mut self) {
        let restarted = self.ended.keys().next_back().copied().map(|id| self.restart(id));
        if let Some(Err(error)) = &restarted {
            tracing::warn!("{error}");
        }
        if !matches!(restarted, Some(Ok(_))) {
            self.ring();
        }
    }

    pub(in crate::capsule) fn acknowledge_any(&mut self, id: SessionId) -> Result<Done, ControlError> {
        if !self.forget_ended(id) {
            self.find(id)?;
            self.acknowledge(id);
        }
        Ok(Done {})
    }
}

/// The last rows of a text that fit.
fn last_rows(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let from = text.len() - limit;
    // A newline is never part of another character.
    let row =
        text.as_bytes()[from..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| from + at + 1);
    text[row..].to_owned()
}

/// A screen with so many rows of history out of a text that may hold more.
fn read_rows(text: &str, size: Size, history: u32) -> ReadText {
    let wanted = usize::from(size.rows).saturating_add(history as usize);
    let skipped = text.lines().count().saturating_sub(wanted);
    let text: String = text.split_inclusive('\n').skip(skipped).collect();
    let rows = text.lines().count();
    ReadText { text, size, history: rows.saturating_sub(size.rows.into()) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_rows_are_kept() {
        assert_eq!(last_rows("a\nbb\n".to_owned(), 6), "a\nbb\n");
        assert_eq!(last_rows("äää\nbb\n".to_owned(), 6), "bb\n");
        assert_eq!(last_rows("no row fits".to_owned(), 3), "");
    }

    #[test]
    fn history_is_read_as_far_as_it_is_wanted() {
        let read = |history| read_rows("1\n2\n3\n4\n", Size::new(2, 80), history);
        assert_eq!((read(0).text.as_str(), read(0).history), ("3\n4\n", 0));
        assert_eq!((read(1).text.as_str(), read(1).history), ("2\n3\n4\n", 1));
        assert_eq!((read(99).text.as_str(), read(99).history), ("1\n2\n3\n4\n", 2));
    }
}
