use jackin_core::TagKind;
use serde::{Deserialize, Serialize};

/// The bare values of an index at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TagSnapshot {
    /// Repositories, oldest first.
    pub repo: Vec<String>,
    /// Issues, oldest first.
    pub issue: Vec<String>,
    /// Pull requests, oldest first.
    pub pr: Vec<String>,
    /// Links, oldest first.
    pub link: Vec<String>,
    /// The status hint.
    pub status: Option<String>,
}

/// What changed between two snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TagDiff {
    /// Values that are new, oldest first within their kind. A changed status hint is here too.
    pub added: Vec<(TagKind, String)>,
    /// Values that are gone. A changed status hint is here too.
    pub removed: Vec<(TagKind, String)>,
}

impl TagSnapshot {
    /// What leads from this snapshot to a later one of the same index.
    pub fn diff(&self, later: &Self) -> TagDiff {
        let mut diff = TagDiff::default();
        for kind in TagKind::KNOWN {
            let (before, after) = (self.values(&kind), later.values(&kind));
            let missing = |from: &[String], in_: &[String]| -> Vec<(TagKind, String)> {
                let gone = from.iter().filter(|value| !in_.contains(value));
                gone.map(|value| (kind.clone(), value.clone())).collect()
            };
            diff.added.extend(missing(after, before));
            diff.removed.extend(missing(before, after));
        }
        diff
    }

    /// Brings this snapshot to the later one that the difference was taken from.
    pub fn apply(&mut self, diff: &TagDiff) {
        for (kind, value) in &diff.removed {
            match self.set_mut(kind) {
                Some(set) => set.retain(|other| other != value),
                None if *kind == TagKind::Status => self.status = None,
                None => {}
            }
        }
        for (kind, value) in &diff.added {
            match self.set_mut(kind) {
                Some(set) => set.push(value.clone()),
                None if *kind == TagKind::Status => self.status = Some(value.clone()),
                None => {}
            }
        }
    }

    /// The values of a kind, oldest first.
    pub fn values(&self, kind: &TagKind) -> &[String] {
        match kind {
            TagKind::Repo => &self.repo,
            TagKind::Issue => &self.issue,
            TagKind::Pr => &self.pr,
            TagKind::Link => &self.link,
            TagKind::Status => self.status.as_slice(),
            TagKind::Other(_) => &[],
        }
    }

    fn set_mut(&mut self, kind: &TagKind) -> Option<&mut Vec<String>> {
        match kind {
            TagKind::Repo => Some(&mut self.repo),
            TagKind::Issue => Some(&mut self.issue),
            TagKind::Pr => Some(&mut self.pr),
            TagKind::Link => Some(&mut self.link),
            TagKind::Status | TagKind::Other(_) => None,
        }
    }
}

impl TagDiff {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_leads_from_one_to_the_other() {
        let before = TagSnapshot {
            link: vec!["a".into(), "b".into()],
            status: Some("one".into()),
            ..TagSnapshot::default()
        };
        let after = TagSnapshot {
            link: vec!["b".into(), "c".into(), "d".into()],
            pr: vec!["p".into()],
            status: Some("two".into()),
            ..TagSnapshot::default()
        };
        let diff = before.diff(&after);
        let mut walked = before.clone();
        walked.apply(&diff);
        assert_eq!(walked, after);
        assert_eq!(diff.removed, [(TagKind::Link, "a".into()), (TagKind::Status, "one".into())]);
        assert!(after.diff(&after).is_empty());
    }
}
