//! Names that people type and ids that we hand out. A value of one of these types is always valid.

use std::borrow::Borrow;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a name was refused. The message repeats the name and says what would be accepted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name is empty.
    #[error("{what} is empty: write {expected}")]
    Empty {
        /// Which kind of name.
        what: &'static str,
        /// What would be accepted.
        expected: &'static str,
    },
    /// The name is longer than allowed.
    #[error("{what} is {len} characters long: at most {max} are allowed")]
    TooLong {
        /// Which kind of name.
        what: &'static str,
        /// Its length.
        len: usize,
        /// The longest allowed.
        max: usize,
    },
    /// The name has a character, or an order of characters, that is not allowed.
    #[error("{what} {given:?} has {found:?} at character {at}: write {expected}")]
    Malformed {
        /// Which kind of name.
        what: &'static str,
        /// The name as given, cut if it is long.
        given: String,
        /// The offending character.
        found: char,
        /// Its position, counted from 1.
        at: usize,
        /// What would be accepted.
        expected: &'static str,
    },
    /// The text is not an id of this kind.
    #[error("{what} {given:?} is not valid: write {expected}")]
    NotAnId {
        /// Which kind of id.
        what: &'static str,
        /// The text as given, cut if it is long.
        given: String,
        /// What would be accepted.
        expected: &'static str,
    },
}

/// A validated text: construction by `new` or `FromStr`, reading by `as_str`, serde as a plain string.
macro_rules! text_newtype {
    ($type:ident) => {
        impl $type {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl FromStr for $type {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $type {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> Self {
                name.0
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

pub(crate) use text_newtype;

/// The name of one running capsule: lower-case letters, digits and inner hyphens, at most 56 characters, so that
/// `jackin-<name>` is a legal container and host name.
///
/// ```
/// use jackin_core::InstanceName;
///
/// let name: InstanceName = "api-fix-2".parse()?;
/// assert_eq!(name.container_name(), "jackin-api-fix-2");
/// assert!(InstanceName::new("Api_Fix").unwrap_err().to_string().contains("'A' at character 1"));
/// # Ok::<(), jackin_core::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct InstanceName(String);

text_newtype!(InstanceName);

impl InstanceName {
    /// The longest name; with the prefix `jackin-` it fills a host name's 63 characters.
    pub const MAX_LEN: usize = 56;

    /// Checks and takes a name.
    pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
        let name = name.into();
        check_label("instance name", &name, Self::MAX_LEN)?;
        Ok(Self(name))
    }

    /// The name of the instance's container.
    pub fn container_name(&self) -> String {
        format!("{CONTAINER_PREFIX}{}", self.0)
    }

    /// Reads either form that commands accept: the instance's name or its container's.
    pub fn from_either(text: &str) -> Result<Self, NameError> {
        Self::new(text.strip_prefix(CONTAINER_PREFIX).unwrap_or(text))
    }
}

const CONTAINER_PREFIX: &str = "jackin-";

/// The name of a role: `name` or `namespace/name`, each of lower-case letters, digits and hyphens.
///
/// ```
/// use jackin_core::RoleName;
///
/// let role = RoleName::new("acme/the-architect")?;
/// assert_eq!((role.namespace(), role.name()), (Some("acme"), "the-architect"));
/// # Ok::<(), jackin_core::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct RoleName(String);

text_newtype!(RoleName);

impl RoleName {
    /// The longest namespace and the longest name.
    pub const MAX_LEN: usize = 64;

    /// Checks and takes a name.
    pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
        let name = name.into();
        if let Some((namespace, own)) = name.split_once('/') {
            check_part("role namespace", namespace, Self::MAX_LEN)?;
            check_part("role name", own, Self::MAX_LEN)?;
        } else {
            check_part("role name", &name, Self::MAX_LEN)?;
        }
        Ok(Self(name))
    }

    /// The part before the slash, where there is one.
    pub fn namespace(&self) -> Option<&str> {
        self.0.split_once('/').map(|(namespace, _)| namespace)
    }

    /// The part after the slash, or all of it.
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(_, name)| name)
    }
}

/// Which roles something applies to: `name`, `namespace/name`, or `namespace/*`.
///
/// ```
/// use jackin_core::{RoleName, RoleSelector};
///
/// let all_of_acme: RoleSelector = "acme/*".parse()?;
/// assert!(all_of_acme.matches(&RoleName::new("acme/builder")?));
/// assert!(!all_of_acme.matches(&RoleName::new("builder")?));
/// # Ok::<(), jackin_core::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RoleSelector {
    /// Exactly this role.
    Role(RoleName),
    /// Every role of this namespace.
    Namespace(String),
}

impl RoleSelector {
    /// Reads a selector.
    pub fn new(text: &str) -> Result<Self, NameError> {
        match text.strip_suffix("/*") {
            Some(namespace) => {
                check_part("role namespace", namespace, RoleName::MAX_LEN)?;
                Ok(Self::Namespace(namespace.to_owned()))
            }
            None => RoleName::new(text).map(Self::Role),
        }
    }

    /// Whether the selector covers `role`.
    pub fn matches(&self, role: &RoleName) -> bool {
        match self {
            Self::Role(own) => own == role,
            Self::Namespace(namespace) => role.namespace() == Some(namespace),
        }
    }
}

impl fmt::Display for RoleSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Role(role) => role.fmt(f),
            Self::Namespace(namespace) => write!(f, "{namespace}/*"),
        }
    }
}

impl FromStr for RoleSelector {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl TryFrom<String> for RoleSelector {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Self::new(&text)
    }
}

impl From<RoleSelector> for String {
    fn from(selector: RoleSelector) -> Self {
        selector.to_string()
    }
}

/// A number that we hand out, counted from 1 and never reused while the daemon lives.
macro_rules! number_newtype {
    ($(#[$doc:meta])* $type:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $type(NonZeroU32);

        impl $type {
            /// The id with this number; none for 0.
            pub const fn new(number: u32) -> Option<Self> {
                match NonZeroU32::new(number) {
                    Some(number) => Some(Self(number)),
                    None => None,
                }
            }

            /// The number.
            pub const fn get(self) -> u32 {
                self.0.get()
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $type {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                text.parse().map(Self).map_err(|_| NameError::NotAnId {
                    what: $what,
                    given: cut(text),
                    expected: "a number from 1 on, as `status` lists them",
                })
            }
        }
    };
}

number_newtype!(
    /// One process in one pane of an instance; counted from 1, never reused while the daemon lives.
    SessionId,
    "session id"
);
number_newtype!(
    /// One pane of a multiplexer; counted from 1, never reused while it lives.
    PaneId,
    "pane id"
);

/// Refuses what is not `[a-z0-9-]+` of at most `max` characters.
pub(crate) fn check_part(what: &'static str, text: &str, max: usize) -> Result<(), NameError> {
    const EXPECTED: &str = "lower-case letters, digits and hyphens, such as `the-architect`";
    check(what, text, max, EXPECTED, |_| false)
}

/// As [`check_part`], and neither the first nor the last character is a hyphen: DNS and Docker refuse that.
fn check_label(what: &'static str, text: &str, max: usize) -> Result<(), NameError> {
    const EXPECTED: &str = "lower-case letters, digits and inner hyphens, such as `api-fix-2`";
    let last = text.len().saturating_sub(1);
    check(what, text, max, EXPECTED, |at| at == 0 || at == last)
}

fn check(
    what: &'static str,
    text: &str,
    max: usize,
    expected: &'static str,
    no_hyphen_at: impl Fn(usize) -> bool,
) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty { what, expected });
    }
    let bad = text.char_indices().enumerate().find(|&(_, (byte, c))| match c {
        'a'..='z' | '0'..='9' => false,
        '-' => no_hyphen_at(byte),
        _ => true,
    });
    if let Some((at, (_, found))) = bad {
        return Err(NameError::Malformed { what, given: cut(text), found, at: at + 1, expected });
    }
    if text.len() > max {
        return Err(NameError::TooLong { what, len: text.len(), max });
    }
    Ok(())
}

/// A refused text as an error message may repeat it: short, whatever it was.
pub(crate) fn cut(text: &str) -> String {
    const SHOWN: usize = 64;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instance_names() {
        for good in ["a", "7", "api-fix-2", &"x".repeat(56)] {
            assert_eq!(InstanceName::new(good).unwrap().as_str(), good);
        }
        for (bad, message) in [
            ("", "instance name is empty"),
            ("-a", "'-' at character 1"),
            ("a-", "'-' at character 2"),
            ("a/b", "'/' at character 2"),
            ("äb", "'ä' at character 1"),
            ("a\u{1b}[2J", "'\\u{1b}' at character 2"),
            (&"x".repeat(57), "57 characters long: at most 56"),
        ] {
            let error = InstanceName::new(bad).unwrap_err().to_string();
            assert!(error.contains(message), "{bad:?}: {error}");
        }
    }

    #[test]
    fn both_forms_of_an_instance_name_mean_the_same() {
        let name = InstanceName::new("demo").unwrap();
        assert_eq!(InstanceName::from_either("jackin-demo").unwrap(), name);
        assert_eq!(InstanceName::from_either("demo").unwrap(), name);
    }

    #[test]
    fn role_names_and_selectors() {
        for bad in ["", "/", "a/", "/a", "a/b/c", "A", "a b", "a/*"] {
            assert!(RoleName::new(bad).is_err(), "{bad:?}");
        }
        for bad in ["", "*", "/*", "a/b*", "a/*/*", "A/*"] {
            assert!(RoleSelector::new(bad).is_err(), "{bad:?}");
        }
        let plain = RoleSelector::new("builder").unwrap();
        assert!(plain.matches(&RoleName::new("builder").unwrap()));
        assert!(!plain.matches(&RoleName::new("acme/builder").unwrap()));
        for text in ["builder", "acme/builder", "acme/*"] {
            assert_eq!(RoleSelector::new(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn serde_checks_what_it_reads() {
        let name: InstanceName = serde_json::from_str("\"demo\"").unwrap();
        assert_eq!(serde_json::to_string(&name).unwrap(), "\"demo\"");
        assert!(serde_json::from_str::<InstanceName>("\"De mo\"").unwrap_err().to_string().contains("'D'"));
        assert!(serde_json::from_str::<SessionId>("0").is_err());
        assert_eq!(serde_json::from_str::<SessionId>("12").unwrap().get(), 12);
    }

    #[test]
    fn ids_say_what_they_expect() {
        assert_eq!("3".parse::<SessionId>().unwrap().to_string(), "3");
        for bad in ["", "0", "-1", "x", "4294967296"] {
            let error = bad.parse::<PaneId>().unwrap_err().to_string();
            assert!(error.contains("a number from 1 on"), "{error}");
        }
    }

    #[test]
    fn a_long_name_is_repeated_in_short() {
        let error = RoleName::new("É".repeat(5_000)).unwrap_err().to_string();
        assert!(error.len() < 400, "{error}");
    }
}
