use std::collections::BTreeMap;

use jackin_core::protocol::control::{ControlError, Done, ErrorCode, TagEntry};
use jackin_core::{EventKind, InstanceName, RuntimeEvent, SessionId, TagKind, Timestamp};
use jackin_tags::{AgentTagEvent, OverrideError, Overrides, TagExtractor, TagIndex, TagView};

/// What the instance's agents declared and what the operator made of it.
#[derive(Debug)]
pub(super) struct InstanceTags {
    instance: InstanceName,
    /// One for each session that has said something.
    extractors: BTreeMap<SessionId, TagExtractor>,
    index: TagIndex,
    overrides: Overrides,
}

impl InstanceTags {
    pub(super) fn new(instance: InstanceName) -> Self {
        Self { instance, extractors: BTreeMap::new(), index: TagIndex::new(), overrides: Overrides::new() }
    }

    /// Reads an agent's words. Returns what is new; a value that was declared before is no news.
    pub(super) fn observe(
        &mut self,
        session: SessionId,
        event: &RuntimeEvent,
        now: Timestamp,
    ) -> Vec<EventKind> {
        let mut news = Vec::new();
        let instance = &self.instance;
        let extractor =
            self.extractors.entry(session).or_insert_with(|| TagExtractor::new(instance.clone(), session));
        for found in extractor.handle(event, now) {
            // A kind that nobody knows is told, but not kept.
            if self.index.record(&found) || matches!(found.tag.kind, TagKind::Other(_)) {
                news.push(found.to_kind());
            }
        }
        news
    }

    /// Takes what was read off a program's plain output. Returns what is new.
    pub(super) fn record(&mut self, found: &[AgentTagEvent]) -> Vec<EventKind> {
        let is_new =
            |found: &&AgentTagEvent| self.index.record(found) || matches!(found.tag.kind, TagKind::Other(_));
        found.iter().filter(is_new).map(AgentTagEvent::to_kind).collect()
    }

    /// A session has ended; what it declared stays.
    pub(super) fn forget(&mut self, session: SessionId) {
        self.extractors.remove(&session);
    }

    pub(super) fn entries(&self) -> Vec<TagEntry> {
        TagView::new(&self.index, &self.overrides).to_entries()
    }

    pub(super) fn set(&mut self, kind: &TagKind, value: &str, now: Timestamp) -> Result<Done, ControlError> {
        self.overrides.set(kind, value, now, None).map_err(|error| refused(&error))?;
        Ok(Done {})
    }

    pub(super) fn unset(
        &mut self,
        kind: &TagKind,
        value: &str,
        now: Timestamp,
    ) -> Result<Done, ControlError> {
        self.overrides.unset(kind, value, now, None).map_err(|error| refused(&error))?;
        Ok(Done {})
    }
}

fn refused(error: &OverrideError) -> ControlError {
    ControlError::new(ErrorCode::BadRequest, error.to_string())
}
