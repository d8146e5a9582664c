use jackin_core::protocol::control::{ControlError, Done, ErrorCode, TagEntry};
use jackin_core::{EventKind, InstanceName, RuntimeEvent, SessionId, TagKind, Timestamp};
use jackin_tags::{OverrideError, Overrides, TagExtractor, TagIndex, TagView};

/// What the instance's agents declared and what the operator made of it.
#[derive(Debug)]
pub(super) struct InstanceTags {
    extractor: TagExtractor,
    index: TagIndex,
    overrides: Overrides,
}

impl InstanceTags {
    pub(super) fn new(instance: InstanceName, session: SessionId) -> Self {
        Self {
            extractor: TagExtractor::new(instance, session),
            index: TagIndex::new(),
            overrides: Overrides::new(),
        }
    }

    /// Reads an agent's words. Returns what is new; a value that was declared before is no news.
    pub(super) fn observe(&mut self, event: &RuntimeEvent, now: Timestamp) -> Vec<EventKind> {
        let mut news = Vec::new();
        for found in self.extractor.handle(event, now) {
            // A kind that nobody knows is told, but not kept.
            if self.index.record(&found) || matches!(found.tag.kind, TagKind::Other(_)) {
                news.push(found.to_kind());
            }
        }
        news
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
