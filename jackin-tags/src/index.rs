use jackin_core::{SessionId, TagKind, Timestamp};
use serde::{Deserialize, Serialize};

use crate::event::AgentTagEvent;
use crate::snapshot::TagSnapshot;
use crate::value::{IssueUrl, Link, PrUrl, RepoRef, StatusHint, TagValue};

/// So many values of a kind are kept; the oldest goes first. An agent that declares more is not declaring.
pub const VALUES_MAX: usize = 256;

/// What the agents of one instance have declared: per kind the distinct values in the order in which they first came,
/// of `status` the latest.
///
/// Saying the same again changes nothing, the order included. Kinds without a meaning are not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TagIndex {
    repo: Vec<Declared<RepoRef>>,
    issue: Vec<Declared<IssueUrl>>,
    pr: Vec<Declared<PrUrl>>,
    link: Vec<Declared<Link>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Declared<StatusHint>>,
}

/// A value, and where it came from first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Declared<T> {
    /// The value.
    pub value: T,
    /// The namespace that it was written in.
    pub namespace: String,
    /// The session that said it.
    pub session: SessionId,
    /// When.
    pub at: Timestamp,
}

impl TagIndex {
    /// An index of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in an event. Returns whether the index changed.
    pub fn record(&mut self, event: &AgentTagEvent) -> bool {
        match event.value() {
            Some(TagValue::Repo(value)) => add(&mut self.repo, value, event),
            Some(TagValue::Issue(value)) => add(&mut self.issue, value, event),
            Some(TagValue::Pr(value)) => add(&mut self.pr, value, event),
            Some(TagValue::Link(value)) => add(&mut self.link, value, event),
            Some(TagValue::Status(value)) => {
                let changed = self.status.as_ref().is_none_or(|current| current.value != value);
                if changed {
                    self.status = Some(Declared::from(value, event));
                }
                changed
            }
            Some(TagValue::Other(_)) | None => false,
        }
    }

    /// Repositories, oldest first.
    pub fn repos(&self) -> &[Declared<RepoRef>] {
        &self.repo
    }

    /// Issues, oldest first.
    pub fn issues(&self) -> &[Declared<IssueUrl>] {
        &self.issue
    }

    /// Pull requests, oldest first.
    pub fn prs(&self) -> &[Declared<PrUrl>] {
        &self.pr
    }

    /// Links, oldest first.
    pub fn links(&self) -> &[Declared<Link>] {
        &self.link
    }

    /// The latest status hint.
    pub fn status(&self) -> Option<&Declared<StatusHint>> {
        self.status.as_ref()
    }

    /// The value of a kind that was new last. After A, B, A that is B.
    pub fn latest(&self, kind: &TagKind) -> Option<&str> {
        match kind {
            TagKind::Repo => self.repo.last().map(|declared| declared.value.as_str()),
            TagKind::Issue => self.issue.last().map(|declared| declared.value.as_str()),
            TagKind::Pr => self.pr.last().map(|declared| declared.value.as_str()),
            TagKind::Link => self.link.last().map(|declared| declared.value.as_str()),
            TagKind::Status => self.status.as_ref().map(|declared| declared.value.as_str()),
            TagKind::Other(_) => None,
        }
    }

    /// The values of a kind as texts, oldest first, each with where it came from.
    pub fn values(&self, kind: &TagKind) -> Vec<Declared<&str>> {
        fn texts<'a, T>(
            declared: &'a [Declared<T>],
            text: impl Fn(&'a T) -> &'a str,
        ) -> Vec<Declared<&'a str>> {
            declared.iter().map(|declared| declared.map(&text)).collect()
        }
        match kind {
            TagKind::Repo => texts(&self.repo, RepoRef::as_str),
            TagKind::Issue => texts(&self.issue, IssueUrl::as_str),
            TagKind::Pr => texts(&self.pr, PrUrl::as_str),
            TagKind::Link => texts(&self.link, Link::as_str),
            TagKind::Status => texts(self.status.as_slice(), StatusHint::as_str),
            TagKind::Other(_) => Vec::new(),
        }
    }

    /// The bare values, to keep, to show or to compare.
    pub fn snapshot(&self) -> TagSnapshot {
        let texts = |kind| self.values(kind).into_iter().map(|declared| declared.value.to_owned()).collect();
        TagSnapshot {
            repo: texts(&TagKind::Repo),
            issue: texts(&TagKind::Issue),
            pr: texts(&TagKind::Pr),
            link: texts(&TagKind::Link),
            status: self.latest(&TagKind::Status).map(str::to_owned),
        }
    }
}

impl<T> Declared<T> {
    fn from(value: T, event: &AgentTagEvent) -> Self {
        Self { value, namespace: event.tag.namespace.clone(), session: event.session, at: event.at }
    }

    fn map<'a, U>(&'a self, to: impl Fn(&'a T) -> U) -> Declared<U> {
        Declared {
            value: to(&self.value),
            namespace: self.namespace.clone(),
            session: self.session,
            at: self.at,
        }
    }
}

fn add<T: PartialEq>(values: &mut Vec<Declared<T>>, value: T, event: &AgentTagEvent) -> bool {
    if values.iter().any(|declared| declared.value == value) {
        return false;
    }
    if values.len() >= VALUES_MAX {
        values.remove(0);
    }
    values.push(Declared::from(value, event));
    true
}

#[cfg(test)]
mod tests {
    use jackin_core::AgentTag;

    use super::*;
    use crate::event::TagSource;

    fn event(kind: &str, value: &str, at: u64) -> AgentTagEvent {
        AgentTagEvent {
            instance: "demo".parse().unwrap(),
            session: SessionId::new(1).unwrap(),
            tag: AgentTag { namespace: "jackin".into(), kind: kind.into(), value: value.into() },
            at: Timestamp::from_millis(at),
            source: TagSource::Structured,
        }
    }

    #[test]
    fn saying_it_again_changes_nothing() {
        let mut index = TagIndex::new();
        assert!(index.record(&event("link", "https://a/", 1)));
        assert!(index.record(&event("link", "https://b/", 2)));
        let before = index.clone();
        assert!(!index.record(&event("link", "https://a/", 3)));
        assert_eq!(index, before);
        assert_eq!(index.latest(&TagKind::Link), Some("https://b/"));
        assert_eq!(index.links()[0].at, Timestamp::from_millis(1));
    }

    #[test]
    fn of_status_only_the_latest_is_kept() {
        let mut index = TagIndex::new();
        for (status, changes) in [("one", true), ("one", false), ("two", true), ("one", true)] {
            assert_eq!(index.record(&event("status", status, 0)), changes, "{status}");
            assert_eq!(index.latest(&TagKind::Status), Some(status));
        }
        assert_eq!(index.values(&TagKind::Status).len(), 1);
    }

    #[test]
    fn unknown_kinds_and_bad_values_stay_out() {
        let mut index = TagIndex::new();
        for (kind, value) in [("branch", "x"), ("pr", "x"), ("status", "a\u{1b}b"), ("repo", "relative")] {
            assert!(!index.record(&event(kind, value, 0)), "{kind}");
        }
        assert_eq!(index, TagIndex::default());
        assert_eq!(index.latest(&TagKind::Other("branch".into())), None);
    }

    #[test]
    fn an_agent_cannot_fill_the_memory() {
        let mut index = TagIndex::new();
        for number in 1..=1000 {
            index.record(&event("pr", &format!("https://h/a/b/pull/{number}"), number));
        }
        assert_eq!(index.prs().len(), VALUES_MAX);
        assert_eq!(index.prs()[0].value.number(), 1000 - VALUES_MAX as u64 + 1);
        assert_eq!(index.latest(&TagKind::Pr), Some("https://h/a/b/pull/1000"));
    }

    #[test]
    fn it_survives_a_file() {
        let mut index = TagIndex::new();
        index.record(&event("repo", "/w", 1));
        index.record(&event("issue", "https://h/a/b/issues/1", 2));
        index.record(&event("status", "busy", 3));
        let json = serde_json::to_string(&index).unwrap();
        assert_eq!(serde_json::from_str::<TagIndex>(&json).unwrap(), index);
        assert_eq!(serde_json::from_str::<TagIndex>("{}").unwrap(), TagIndex::new());
        let forged = json.replace("/w", "relative");
        assert!(serde_json::from_str::<TagIndex>(&forged).unwrap_err().to_string().contains("absolute path"));
    }
}
