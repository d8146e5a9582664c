use std::collections::BTreeMap;

use jackin_core::protocol::control::{ControlError, ErrorCode, OverrideAction, TagEntry, TagOverride};
use jackin_core::{AgentTag, EventKind, InstanceName, RuntimeEvent, SessionId, TagKind, Timestamp};
use jackin_tags::{AgentTagEvent, OverrideError, Overrides, TagExtractor, TagIndex, TagView};

/// How many overrides are kept.
const MOST_OVERRIDES: usize = 1_024;

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

    /// What one session declared, in the order of the kinds.
    pub(super) fn declared_by(&self, session: SessionId) -> Vec<AgentTag> {
        let kinds = TagKind::KNOWN.into_iter();
        let own = kinds.flat_map(|kind| {
            let declared =
                self.index.values(&kind).into_iter().filter(|declared| declared.session == session);
            let tags = declared.map(|declared| AgentTag {
                namespace: declared.namespace.clone(),
                kind: kind.clone(),
                value: declared.value.to_owned(),
            });
            tags.collect::<Vec<_>>()
        });
        own.collect()
    }

    /// Puts a value on top of its kind, or hides it. Returns what was done, as it is kept.
    pub(super) fn put(&mut self, tag: &TagOverride) -> Result<TagOverride, ControlError> {
        let TagOverride { kind, value, action, at } = tag;
        if self.overrides.entries().len() >= MOST_OVERRIDES
            && self.overrides.get(kind, value.trim()).is_none()
        {
            let message = format!("{MOST_OVERRIDES} values were set or hidden already: take some back first");
            return Err(ControlError::new(ErrorCode::LimitReached, message));
        }
        match action {
            OverrideAction::Set => self.overrides.set(kind, value, *at, None),
            OverrideAction::Unset => self.overrides.unset(kind, value, *at, None),
        }
        .map_err(|error| refused(&error))?;
        Ok(self.overrides().pop().unwrap_or_else(|| tag.clone()))
    }

    /// What the operator set and hid, latest last.
    pub(super) fn overrides(&self) -> Vec<TagOverride> {
        let entries = self.overrides.entries().iter();
        let entries = entries.map(|entry| TagOverride {
            kind: entry.kind.clone(),
            value: entry.value.clone(),
            action: match entry.action {
                jackin_tags::OverrideAction::Set => OverrideAction::Set,
                jackin_tags::OverrideAction::Unset => OverrideAction::Unset,
            },
            at: entry.at,
        });
        entries.collect()
    }

    /// Replaces what the operator set and hid. Nothing is replaced if anything of it is no tag.
    pub(super) fn restore(&mut self, overrides: &[TagOverride]) -> Result<(), ControlError> {
        let before = std::mem::take(&mut self.overrides);
        for tag in overrides {
            if let Err(error) = self.put(tag) {
                self.overrides = before;
                return Err(error);
            }
        }
        Ok(())
    }
}

fn refused(error: &OverrideError) -> ControlError {
    ControlError::new(ErrorCode::BadRequest, error.to_string())
}
