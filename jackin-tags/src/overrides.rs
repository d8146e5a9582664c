use jackin_core::{TagKind, Timestamp};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::value::{TagValue, ValueError};

/// What the operator has set right, kept apart from what the agents said.
///
/// The last word on a value counts: `set` after `unset` shows it again. What agents say later changes nothing here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Overrides {
    /// One entry a kind and value, latest last.
    entries: Vec<Override>,
}

/// One thing that the operator did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    /// Which kind.
    pub kind: TagKind,
    /// The value.
    pub value: String,
    /// What to do with it.
    pub action: OverrideAction,
    /// When.
    pub at: Timestamp,
    /// Who, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// What an [`Override`] does with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverrideAction {
    /// Shows it, on top of its kind.
    Set,
    /// Hides it, whoever says it.
    Unset,
}

/// Why an override was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OverrideError {
    /// The kind is not kept.
    #[error("there is no kind {0:?}: use repo, issue, pr, link or status")]
    Kind(String),
    /// The value is not one of its kind.
    #[error("not a value for {kind}: {error}")]
    Value {
        /// The kind.
        kind: TagKind,
        /// What is wrong.
        error: ValueError,
    },
}

impl Overrides {
    /// No overrides.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a value on top of its kind. A status replaces the one set before.
    pub fn set(
        &mut self,
        kind: &TagKind,
        value: &str,
        at: Timestamp,
        by: Option<&str>,
    ) -> Result<(), OverrideError> {
        let value = check(kind, value)?;
        if *kind == TagKind::Status {
            self.entries.retain(|entry| entry.kind != TagKind::Status || entry.action != OverrideAction::Set);
        }
        self.put(kind, value, OverrideAction::Set, at, by);
        Ok(())
    }

    /// Hides a value until it is set again.
    pub fn unset(
        &mut self,
        kind: &TagKind,
        value: &str,
        at: Timestamp,
        by: Option<&str>,
    ) -> Result<(), OverrideError> {
        let value = check(kind, value)?;
        self.put(kind, value, OverrideAction::Unset, at, by);
        Ok(())
    }

    /// Takes back what was done about a value: it is shown again if an agent said it. Returns whether there was
    /// anything to take back.
    pub fn forget(&mut self, kind: &TagKind, value: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| !entry.is_about(kind, value.trim()));
        self.entries.len() != before
    }

    /// Everything the operator did, latest last.
    pub fn entries(&self) -> &[Override] {
        &self.entries
    }

    /// What the operator did about a value.
    pub fn get(&self, kind: &TagKind, value: &str) -> Option<&Override> {
        self.entries.iter().find(|entry| entry.is_about(kind, value))
    }

    fn put(
        &mut self,
        kind: &TagKind,
        value: String,
        action: OverrideAction,
        at: Timestamp,
        by: Option<&str>,
    ) {
        self.forget(kind, &value);
        let by = by.map(str::to_owned);
        self.entries.push(Override { kind: kind.clone(), value, action, at, by });
    }
}

impl Override {
    fn is_about(&self, kind: &TagKind, value: &str) -> bool {
        self.kind == *kind && self.value == value
    }
}

fn check(kind: &TagKind, value: &str) -> Result<String, OverrideError> {
    if let TagKind::Other(name) = kind {
        return Err(OverrideError::Kind(name.clone()));
    }
    match TagValue::parse(kind, value) {
        Ok(value) => Ok(value.to_string()),
        Err(error) => Err(OverrideError::Value { kind: kind.clone(), error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(5);

    #[test]
    fn the_last_word_on_a_value_counts() {
        let mut overrides = Overrides::new();
        overrides.set(&TagKind::Link, " https://a/ ", AT, Some("ada")).unwrap();
        overrides.unset(&TagKind::Link, "https://a/", AT, None).unwrap();
        assert_eq!(overrides.entries().len(), 1);
        assert_eq!(overrides.get(&TagKind::Link, "https://a/").unwrap().action, OverrideAction::Unset);
        assert!(overrides.forget(&TagKind::Link, "https://a/"));
        assert!(!overrides.forget(&TagKind::Link, "https://a/"));
    }

    #[test]
    fn an_operator_is_told_what_to_write() {
        let mut overrides = Overrides::new();
        let message = overrides.set(&TagKind::Pr, "#7", AT, None).unwrap_err().to_string();
        assert_eq!(
            message,
            "not a value for pr: the value is not a URL: write it whole, beginning with https://"
        );
        let message = overrides.set(&TagKind::from("branch"), "x", AT, None).unwrap_err().to_string();
        assert_eq!(message, "there is no kind \"branch\": use repo, issue, pr, link or status");
        assert!(overrides.entries().is_empty());
    }

    #[test]
    fn they_survive_a_file() {
        let mut overrides = Overrides::new();
        overrides.set(&TagKind::Status, "mine", AT, Some("ada")).unwrap();
        overrides.unset(&TagKind::Repo, "/w", AT, None).unwrap();
        let json = serde_json::to_string(&overrides).unwrap();
        assert_eq!(
            json,
            r#"[{"kind":"status","value":"mine","action":"set","at":5,"by":"ada"},{"kind":"repo","value":"/w","action":"unset","at":5}]"#
        );
        assert_eq!(serde_json::from_str::<Overrides>(&json).unwrap(), overrides);
    }
}
