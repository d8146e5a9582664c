use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::name::{NameError, cut, text_newtype};
use crate::time::Civil;

/// The longest id of a project or task; file names end at 255 bytes everywhere.
const MAX_LEN: usize = 100;

/// How long the words are that a task's name gets from its prompt.
const SLUG_LEN: usize = 40;

/// The id of a project, which is the name of its directory: letters, digits, `.`, `_` and `-`, the first one a letter
/// or digit.
///
/// ```
/// use jackin_core::run::ProjectId;
///
/// assert_eq!(ProjectId::from_directory("My Project (2)").as_str(), "My-Project-2");
/// assert!(ProjectId::new("../etc").is_err());
/// # Ok::<(), jackin_core::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProjectId(String);

text_newtype!(ProjectId);

impl ProjectId {
    /// Checks and takes an id.
    pub fn new(id: impl Into<String>) -> Result<Self, NameError> {
        checked("project id", id.into()).map(Self)
    }

    /// The id for a directory: its name, with what an id cannot have replaced.
    pub fn from_directory(name: &str) -> Self {
        let id = joined(name, MAX_LEN, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'));
        Self(if id.is_empty() { "project".to_owned() } else { id })
    }
}

/// The id of a task, which is the name of its directory; the same characters as a [`ProjectId`].
///
/// ```
/// use jackin_core::Timestamp;
/// use jackin_core::run::TaskId;
///
/// let start = Timestamp::from_millis(1_763_251_200_000);
/// assert_eq!(TaskId::named_after(start, "Fix the *login* form!").as_str(), "task-20251116-000000-fix-the-login-form");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(String);

text_newtype!(TaskId);

impl TaskId {
    /// Checks and takes an id.
    pub fn new(id: impl Into<String>) -> Result<Self, NameError> {
        checked("task id", id.into()).map(Self)
    }

    /// An id for a task that nobody named: when it began, and the first words of its prompt.
    pub fn named_after(start: Timestamp, prompt: &str) -> Self {
        let Civil { year, month, day, hour, minute, second, .. } = start.civil();
        let words = joined(&prompt.to_ascii_lowercase(), SLUG_LEN, |c| c.is_ascii_alphanumeric());
        let words = if words.is_empty() { "run" } else { &words };
        Self(format!("task-{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}-{words}"))
    }
}

/// The runs of kept characters, joined with hyphens; beginning and ending with a letter or digit.
fn joined(text: &str, max: usize, keep: impl Fn(char) -> bool) -> String {
    let mut id = String::new();
    let mut gap = false;
    for c in text.chars() {
        if !keep(c) || (id.is_empty() && !c.is_ascii_alphanumeric()) {
            gap = !id.is_empty();
        } else if id.len() + 1 + usize::from(gap) > max {
            break;
        } else {
            if std::mem::take(&mut gap) {
                id.push('-');
            }
            id.push(c);
        }
    }
    id.truncate(id.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len());
    id
}

fn checked(what: &'static str, id: String) -> Result<String, NameError> {
    const EXPECTED: &str = "letters, digits, `.`, `_` and `-`, beginning with a letter or digit";
    if id.is_empty() {
        return Err(NameError::Empty { what, expected: EXPECTED });
    }
    let good = |(at, c): (usize, char)| c.is_ascii_alphanumeric() || (at > 0 && matches!(c, '.' | '_' | '-'));
    if let Some((at, found)) = id.chars().enumerate().find(|c| !good(*c)) {
        return Err(NameError::Malformed { what, given: cut(&id), found, at: at + 1, expected: EXPECTED });
    }
    if id.len() > MAX_LEN {
        return Err(NameError::TooLong { what, len: id.len(), max: MAX_LEN });
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_is_one_directory() {
        for good in ["a", "9", "api", "task-20260131-205800-planning", "My.Project_2"] {
            assert_eq!(TaskId::new(good).unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", ".git", "-x", "a/b", "a b", "a\0", "ä", &"x".repeat(101)] {
            assert!(ProjectId::new(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_it_is_made_from_it_is_an_id(text in ".{0,200}", millis in 0..4_000_000_000_000u64) {
            let project = ProjectId::from_directory(&text);
            prop_assert_eq!(ProjectId::new(project.as_str()), Ok(project.clone()));
            let task = TaskId::named_after(Timestamp::from_millis(millis), &text);
            prop_assert_eq!(TaskId::new(task.as_str()), Ok(task.clone()));
        }
    }
}
