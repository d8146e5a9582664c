use jackin_core::TagKind;
use jackin_core::protocol::control::{Provider, TagEntry};
use serde::Serialize;

use crate::index::{Declared, TagIndex};
use crate::overrides::{Override, OverrideAction, Overrides};

/// What an operator sees: what the agents declared, with the operator's own word on top.
///
/// ```
/// use jackin_core::{TagKind, Timestamp};
/// use jackin_tags::{Overrides, TagIndex, TagView};
///
/// let mut overrides = Overrides::new();
/// overrides.set(&TagKind::Pr, "https://github.com/a/b/pull/7", Timestamp::from_millis(0), None)?;
/// let view = TagView::new(&TagIndex::new(), &overrides);
/// assert_eq!(view.latest(&TagKind::Pr).unwrap().value, "https://github.com/a/b/pull/7");
/// # Ok::<(), jackin_tags::OverrideError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TagView {
    shown: Vec<ViewedTag>,
    hidden: Vec<ViewedTag>,
}

/// A value and everyone who provided it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ViewedTag {
    /// Which kind.
    pub kind: TagKind,
    /// The value.
    pub value: String,
    /// The agent's declaration, where an agent made one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Declared<()>>,
    /// What the operator did about it, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<Override>,
}

impl TagView {
    /// Lays the overrides over the index.
    pub fn new(index: &TagIndex, overrides: &Overrides) -> Self {
        let mut view = Self::default();
        for kind in TagKind::KNOWN {
            view.add_kind(&kind, index, overrides);
        }
        view
    }

    /// Everything that is shown, kind by kind, the top of each kind last.
    pub fn shown(&self) -> &[ViewedTag] {
        &self.shown
    }

    /// What agents said and the operator hid.
    pub fn hidden(&self) -> &[ViewedTag] {
        &self.hidden
    }

    /// The values of a kind, its top last.
    pub fn values<'a>(&'a self, kind: &TagKind) -> impl DoubleEndedIterator<Item = &'a ViewedTag> {
        self.shown.iter().filter(move |tag| tag.kind == *kind)
    }

    /// The value that stands for its kind: the operator's last, else the agents' last.
    pub fn latest(&self, kind: &TagKind) -> Option<&ViewedTag> {
        self.values(kind).next_back()
    }

    /// The same as the control protocol carries it.
    pub fn to_entries(&self) -> Vec<TagEntry> {
        let entry = |tag: &ViewedTag| TagEntry {
            kind: tag.kind.clone(),
            value: tag.value.clone(),
            provider: tag.provider(),
        };
        self.shown.iter().map(entry).collect()
    }

    fn add_kind(&mut self, kind: &TagKind, index: &TagIndex, overrides: &Overrides) {
        let declared = index.values(kind);
        for said in &declared {
            let operator = overrides.get(kind, said.value).cloned();
            let tag = |operator| ViewedTag {
                kind: kind.clone(),
                value: said.value.to_owned(),
                agent: Some(unvalued(said)),
                operator,
            };
            match operator.as_ref().map(|entry| entry.action) {
                None => self.shown.push(tag(None)),
                Some(OverrideAction::Unset) => self.hidden.push(tag(operator)),
                // Comes below, in the operator's order.
                Some(OverrideAction::Set) => {}
            }
        }
        let set = |entry: &&Override| entry.kind == *kind && entry.action == OverrideAction::Set;
        for entry in overrides.entries().iter().filter(set) {
            if *kind == TagKind::Status {
                // One status at a time: the agent's gives way.
                self.shown.retain(|tag| tag.kind != TagKind::Status);
            }
            let agent = declared.iter().find(|said| said.value == entry.value).map(unvalued);
            self.shown.push(ViewedTag {
                kind: kind.clone(),
                value: entry.value.clone(),
                agent,
                operator: Some(entry.clone()),
            });
        }
    }
}

impl ViewedTag {
    /// Who it is attributed to: the operator, where the operator set it.
    pub fn provider(&self) -> Provider {
        match &self.operator {
            Some(entry) if entry.action == OverrideAction::Set => Provider::Operator,
            _ => Provider::Agent,
        }
    }
}

fn unvalued(said: &Declared<&str>) -> Declared<()> {
    Declared { value: (), namespace: said.namespace.clone(), session: said.session, at: said.at }
}

#[cfg(test)]
mod tests {
    use jackin_core::{AgentTag, SessionId, Timestamp};

    use super::*;
    use crate::event::{AgentTagEvent, TagSource};

    const AT: Timestamp = Timestamp::from_millis(9);

    fn say(index: &mut TagIndex, kind: &str, value: &str) {
        index.record(&AgentTagEvent {
            instance: "demo".parse().unwrap(),
            session: SessionId::new(3).unwrap(),
            tag: AgentTag { namespace: "multicode".into(), kind: kind.into(), value: value.into() },
            at: Timestamp::from_millis(1),
            source: TagSource::Structured,
        });
    }

    fn texts(view: &TagView, kind: &TagKind) -> Vec<(String, Provider)> {
        view.values(kind).map(|tag| (tag.value.clone(), tag.provider())).collect()
    }

    #[test]
    fn the_operator_stands_on_top_and_agents_keep_their_word() {
        let (mut index, mut overrides) = (TagIndex::new(), Overrides::new());
        say(&mut index, "link", "https://a/");
        say(&mut index, "link", "https://b/");
        overrides.set(&TagKind::Link, "https://a/", AT, None).unwrap();
        overrides.set(&TagKind::Link, "https://mine/", AT, Some("ada")).unwrap();
        let before = index.clone();
        say(&mut index, "link", "https://c/");
        let view = TagView::new(&index, &overrides);
        let expected = [
            ("https://b/", Provider::Agent),
            ("https://c/", Provider::Agent),
            ("https://a/", Provider::Operator),
            ("https://mine/", Provider::Operator),
        ];
        assert_eq!(texts(&view, &TagKind::Link), expected.map(|(value, who)| (value.to_owned(), who)));
        let both = view.values(&TagKind::Link).nth(2).unwrap();
        assert_eq!(both.agent.as_ref().unwrap().namespace, "multicode");
        assert_eq!(
            view.latest(&TagKind::Link).unwrap().operator.as_ref().unwrap().by.as_deref(),
            Some("ada")
        );
        assert_eq!(index.links()[..2], *before.links());
    }

    #[test]
    fn what_is_hidden_stays_hidden_until_it_is_set() {
        let (mut index, mut overrides) = (TagIndex::new(), Overrides::new());
        say(&mut index, "issue", "https://h/a/b/issues/1");
        overrides.unset(&TagKind::Issue, "https://h/a/b/issues/1", AT, None).unwrap();
        say(&mut index, "issue", "https://h/a/b/issues/1");
        let view = TagView::new(&index, &overrides);
        assert_eq!(view.latest(&TagKind::Issue), None);
        assert_eq!(view.hidden().len(), 1);
        overrides.set(&TagKind::Issue, "https://h/a/b/issues/1", AT, None).unwrap();
        assert!(TagView::new(&index, &overrides).latest(&TagKind::Issue).is_some());
    }

    #[test]
    fn there_is_one_status() {
        let (mut index, mut overrides) = (TagIndex::new(), Overrides::new());
        say(&mut index, "status", "agent's");
        overrides.set(&TagKind::Status, "first", AT, None).unwrap();
        overrides.set(&TagKind::Status, "second", AT, None).unwrap();
        let status = |overrides: &Overrides| {
            let view = TagView::new(&index, overrides);
            assert!(view.values(&TagKind::Status).count() <= 1);
            view.latest(&TagKind::Status).map(|tag| tag.value.clone())
        };
        assert_eq!(status(&overrides).as_deref(), Some("second"));
        overrides.unset(&TagKind::Status, "second", AT, None).unwrap();
        assert_eq!(status(&overrides).as_deref(), Some("agent's"));
        overrides.unset(&TagKind::Status, "agent's", AT, None).unwrap();
        assert_eq!(status(&overrides), None);
    }

    #[test]
    fn on_the_wire_the_latest_of_a_kind_is_last() {
        let (mut index, mut overrides) = (TagIndex::new(), Overrides::new());
        overrides.set(&TagKind::Repo, "/mine", AT, None).unwrap();
        say(&mut index, "repo", "/theirs");
        let entries = TagView::new(&index, &overrides).to_entries();
        assert_eq!(
            entries.iter().map(|entry| entry.value.as_str()).collect::<Vec<_>>(),
            ["/theirs", "/mine"]
        );
        assert_eq!(entries[1].provider, Provider::Operator);
    }
}
