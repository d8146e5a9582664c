use std::time::Duration;

use jackin_core::{RoleName, RoleSelector};

use crate::key::Key;
use crate::template::Template;

/// One of the team's own actions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tool {
    /// The key that fires it.
    pub key: Key,
    /// Its name for people.
    pub name: String,
    /// The question that it asks first; its answer is `{input}`. None if it runs at once.
    pub prompt: Option<String>,
    /// What it runs.
    pub command: Template,
    /// The roles that it is for; none means all, and instances without a role.
    pub scope: Option<RoleSelector>,
    /// How long the command may take.
    pub timeout: Duration,
    /// The line of the configuration that begins it.
    pub line: usize,
}

impl Tool {
    /// How long a command may take unless the tool says otherwise.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

    /// How long a prompt waits for its answer.
    pub const PROMPT_TIMEOUT: Duration = Duration::from_secs(300);

    /// Whether it is offered for an instance of this role, or for one without a role.
    pub fn is_visible_to(&self, role: Option<&RoleName>) -> bool {
        match (&self.scope, role) {
            (None, _) => true,
            (Some(scope), Some(role)) => scope.matches(role),
            (Some(_), None) => false,
        }
    }

    /// Whether some role would see both.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        match (&self.scope, &other.scope) {
            (None, _) | (_, None) => true,
            (Some(RoleSelector::Role(role)), Some(scope)) | (Some(scope), Some(RoleSelector::Role(role))) => {
                scope.matches(role)
            }
            (Some(RoleSelector::Namespace(one)), Some(RoleSelector::Namespace(other))) => one == other,
        }
    }
}
