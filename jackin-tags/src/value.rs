//! What may stand in a tag, per kind. A value of one of these types is always valid, and prints back what was given.

mod forge;
mod link;
mod repo;
mod status;

use std::fmt;

use jackin_core::TagKind;
use thiserror::Error;

pub use forge::{IssueUrl, PrUrl};
pub use link::Link;
pub use repo::RepoRef;
pub use status::{STATUS_COLUMNS, StatusHint};

/// The longest value that is taken, in bytes after trimming.
pub const VALUE_MAX: usize = 4096;

/// A tag's value, understood by its kind.
///
/// ```
/// use jackin_core::TagKind;
/// use jackin_tags::TagValue;
///
/// let value = TagValue::parse(&TagKind::Pr, " https://github.com/a/b/pull/7 ")?;
/// let TagValue::Pr(pr) = &value else { panic!() };
/// assert_eq!((pr.owner(), pr.repo(), pr.number()), ("a", "b", 7));
/// assert_eq!(value.to_string(), "https://github.com/a/b/pull/7");
/// # Ok::<(), jackin_tags::ValueError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TagValue {
    /// Of a `repo` tag.
    Repo(RepoRef),
    /// Of an `issue` tag.
    Issue(IssueUrl),
    /// Of a `pr` tag.
    Pr(PrUrl),
    /// Of a `link` tag.
    Link(Link),
    /// Of a `status` tag.
    Status(StatusHint),
    /// Of a kind without a meaning: any text.
    Other(String),
}

impl TagValue {
    /// Understands `text`, trimmed, as a value of `kind`.
    pub fn parse(kind: &TagKind, text: &str) -> Result<Self, ValueError> {
        Ok(match kind {
            TagKind::Repo => Self::Repo(text.parse()?),
            TagKind::Issue => Self::Issue(text.parse()?),
            TagKind::Pr => Self::Pr(text.parse()?),
            TagKind::Link => Self::Link(text.parse()?),
            TagKind::Status => Self::Status(text.parse()?),
            TagKind::Other(_) => Self::Other(clean(text)?.to_owned()),
        })
    }

    /// The value as it was given.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Repo(repo) => repo.as_str(),
            Self::Issue(issue) => issue.as_str(),
            Self::Pr(pr) => pr.as_str(),
            Self::Link(link) => link.as_str(),
            Self::Status(status) => status.as_str(),
            Self::Other(text) => text,
        }
    }

    /// Whether a character must not reach an operator's terminal: controls, line separators, and the marks that
    /// reorder the text around them.
    pub(crate) fn is_hostile(c: char) -> bool {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    }
}

impl fmt::Display for TagValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a text is not a value of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum ValueError {
    /// Nothing is left after trimming.
    #[error("the value is empty")]
    Empty,
    /// The value is longer than [`VALUE_MAX`].
    #[error("the value is longer than {VALUE_MAX} bytes")]
    TooLong,
    /// The value has a character that would act on a terminal instead of being shown.
    #[error("the value has a control character; a tag belongs on one line")]
    ControlCharacter,
    /// The value is not a URL, or not an absolute one.
    #[error("the value is not a URL: write it whole, beginning with https://")]
    NotUrl,
    /// The URL's scheme is not `http` or `https`.
    #[error("the URL is not http or https")]
    NotHttp,
    /// The URL has a user name or password before its host.
    #[error("the URL names a user before its host; leave that out")]
    UserInfo,
    /// The URL is not that of an issue.
    #[error("the URL is not that of an issue: https://HOST/OWNER/REPO/issues/NUMBER")]
    NotIssue,
    /// The URL is not that of a pull request.
    #[error("the URL is not that of a pull request: https://HOST/OWNER/REPO/pull/NUMBER")]
    NotPr,
    /// The value is neither an absolute path nor a URL.
    #[error("the value is neither an absolute path nor an http or https URL")]
    NotRepo,
}

/// Trims, and refuses what no kind takes.
fn clean(text: &str) -> Result<&str, ValueError> {
    let text = text.trim();
    if text.is_empty() {
        Err(ValueError::Empty)
    } else if text.len() > VALUE_MAX {
        Err(ValueError::TooLong)
    } else if text.chars().any(TagValue::is_hostile) {
        Err(ValueError::ControlCharacter)
    } else {
        Ok(text)
    }
}

/// `FromStr` is written by hand; the rest of a type that is one validated text is here.
macro_rules! text_value {
    ($type:ident) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
use text_value;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_on_a_terminal_gets_through() {
        for hostile in ["a\u{1b}[2Jb", "a\nb", "a\0b", "a\u{7f}b", "a\u{9b}31mb", "a\u{202e}b", "a\u{2028}b"]
        {
            for kind in TagKind::KNOWN.into_iter().chain([TagKind::Other("x".into())]) {
                assert_eq!(
                    TagValue::parse(&kind, hostile),
                    Err(ValueError::ControlCharacter),
                    "{kind} {hostile:?}"
                );
            }
        }
    }

    #[test]
    fn white_space_round_a_value_goes_and_an_empty_one_is_none() {
        let kind = TagKind::Status;
        assert_eq!(TagValue::parse(&kind, " \r\n\u{a0}x y\u{3000}\n").unwrap().as_str(), "x y");
        assert_eq!(TagValue::parse(&kind, " \u{2003}\n"), Err(ValueError::Empty));
    }

    #[test]
    fn the_longest_value_is_taken_and_one_byte_more_is_not() {
        let kind = TagKind::Status;
        assert!(TagValue::parse(&kind, &"x".repeat(VALUE_MAX)).is_ok());
        assert_eq!(TagValue::parse(&kind, &"x".repeat(VALUE_MAX + 1)), Err(ValueError::TooLong));
    }
}
