use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What an agent declares with a tag.
///
/// ```
/// use jackin_core::TagKind;
///
/// assert_eq!(TagKind::from("pr"), TagKind::Pr);
/// assert_eq!(TagKind::from("branch"), TagKind::Other("branch".into()));
/// assert_eq!(serde_json::to_string(&TagKind::Issue)?, "\"issue\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(from = "String", into = "String")]
pub enum TagKind {
    /// The repository that the agent works on.
    Repo,
    /// The issue that it investigates.
    Issue,
    /// The pull request that it writes or reviews.
    Pr,
    /// Anything worth a click.
    Link,
    /// A few words for the operator about what it does.
    Status,
    /// A kind that nobody has given a meaning yet.
    Other(String),
}

impl TagKind {
    /// The kinds with a meaning, in the order in which they are shown.
    pub const KNOWN: [Self; 5] = [Self::Repo, Self::Issue, Self::Pr, Self::Link, Self::Status];

    /// The kind as it stands in a tag.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Repo => "repo",
            Self::Issue => "issue",
            Self::Pr => "pr",
            Self::Link => "link",
            Self::Status => "status",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for TagKind {
    fn from(text: &str) -> Self {
        Self::KNOWN
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .unwrap_or_else(|| Self::Other(text.to_owned()))
    }
}

impl From<String> for TagKind {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl FromStr for TagKind {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::from(text))
    }
}

impl From<TagKind> for String {
    fn from(kind: TagKind) -> Self {
        kind.as_str().to_owned()
    }
}

impl fmt::Display for TagKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One tag that an agent emitted: `<namespace:kind>value</namespace:kind>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentTag {
    /// Whose vocabulary it used: `jackin`, `multicode`, …
    pub namespace: String,
    /// What it declares.
    pub kind: TagKind,
    /// The value, trimmed and free of control characters.
    pub value: String,
}
