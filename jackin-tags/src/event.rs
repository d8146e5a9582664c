use jackin_core::{AgentTag, EventBus, EventKind, InstanceName, SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::value::TagValue;

/// An agent declared something.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AgentTagEvent {
    /// Where it runs.
    pub instance: InstanceName,
    /// Which session said it.
    pub session: SessionId,
    /// Namespace, kind and value.
    #[serde(flatten)]
    pub tag: AgentTag,
    /// When it was read.
    pub at: Timestamp,
    /// What it was read from.
    #[serde(default)]
    pub source: TagSource,
}

/// What a tag was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TagSource {
    /// The runtime's own account of the assistant's text.
    #[default]
    Structured,
    /// Lines on the screen of an agent that has no such account. They may be anybody's words.
    Plain,
}

/// The bus of tags, apart from that of statuses.
///
/// ```
/// use jackin_core::{AgentTag, Received, SessionId, TagKind, Timestamp};
/// use jackin_tags::{AgentTagEvent, TagBus, TagSource};
///
/// let bus = TagBus::new(16);
/// let mut links = bus.subscribe();
/// bus.publish(AgentTagEvent {
///     instance: "api-fix".parse()?,
///     session: SessionId::new(1).unwrap(),
///     tag: AgentTag { namespace: "jackin".into(), kind: TagKind::Link, value: "https://example.com".into() },
///     at: Timestamp::from_millis(0),
///     source: TagSource::Structured,
/// });
/// assert!(matches!(links.try_next(), Some(Received::Value(event)) if event.tag.kind == TagKind::Link));
/// # Ok::<(), jackin_core::NameError>(())
/// ```
pub type TagBus = EventBus<AgentTagEvent>;

impl AgentTagEvent {
    /// The value, understood; `None` if the event was not made by this crate and its value is no good.
    pub fn value(&self) -> Option<TagValue> {
        TagValue::parse(&self.tag.kind, &self.tag.value).ok()
    }

    /// The same as subscribers of an instance's event stream receive it.
    pub fn to_kind(&self) -> EventKind {
        EventKind::TagObserved {
            session_id: self.session,
            tag: self.tag.clone(),
            plain: self.source == TagSource::Plain,
        }
    }
}
