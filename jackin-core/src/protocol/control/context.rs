use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// What only the host knows of an instance, for the operator's bottom row, title and usage overlay. A capsule never asks
/// for any of it itself.
///
/// ```
/// use jackin_core::protocol::control::{Checks, HostContext, PullRequest};
///
/// let pull_request = PullRequest {
///     number: 7,
///     url: Some("https://github.com/acme/api/pull/7".into()),
///     title: None,
///     state: None,
///     checks: Some(Checks { passed: 3, failed: 1, pending: 0 }),
/// };
/// let context = HostContext { pull_request: Some(pull_request), ..HostContext::default() };
/// assert_eq!(context.pull_request.unwrap().to_string(), "#7 ✗ 1 of 4");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostContext {
    /// The branch that this was true of: the pull request is hidden while another one is checked out. Where the capsule
    /// cannot see the branch for itself, this one is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The branch that is not worth showing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<String>,
    /// The branch's pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequest>,
    /// What is left at the agents' providers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<Quota>,
    /// Providers that would tell if somebody logged in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs_login: Vec<String>,
}

/// A pull request and what became of its checks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// Its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its state, such as `draft` or `merged`; an open one needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Its checks, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<Checks>,
}

impl std::fmt::Display for PullRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}", self.number)?;
        if let Some(state) = &self.state {
            write!(f, " {state}")?;
        }
        self.checks.map_or(Ok(()), |checks| write!(f, " {checks}"))
    }
}

/// How many checks came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checks {
    /// Went well, or were not needed.
    #[serde(default)]
    pub passed: u32,
    /// Failed.
    #[serde(default)]
    pub failed: u32,
    /// Have not come out yet.
    #[serde(default)]
    pub pending: u32,
}

impl std::fmt::Display for Checks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { passed, failed, pending } = *self;
        let all = passed.saturating_add(failed).saturating_add(pending);
        match (failed, pending) {
            (0, 0) => write!(f, "✓ {passed}"),
            (0, _) => write!(f, "… {passed} of {all}"),
            _ => write!(f, "✗ {failed} of {all}"),
        }
    }
}

/// What a provider says, or is thought, to have left in one window of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quota {
    /// Whose it is, such as `claude`.
    pub provider: String,
    /// The window, such as `5h` or `week`.
    pub window: String,
    /// What is left, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_percent: Option<f64>,
    /// When the window begins anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<Timestamp>,
    /// How sure the figure is.
    #[serde(default)]
    pub confidence: Confidence,
    /// When it was true.
    pub as_of: Timestamp,
}

/// How sure a figure is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The provider said so.
    Reported,
    /// Worked out from something else.
    #[default]
    Estimated,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_tell_the_worst_first() {
        let told = |passed, failed, pending| Checks { passed, failed, pending }.to_string();
        assert_eq!(told(3, 0, 0), "✓ 3");
        assert_eq!(told(1, 0, 2), "… 1 of 3");
        assert_eq!(told(1, 1, 2), "✗ 1 of 4");
        assert_eq!(told(u32::MAX, 1, 1), format!("✗ 1 of {}", u32::MAX));
    }

    #[test]
    fn what_is_left_out_is_not_known() {
        let context: HostContext = serde_json::from_str("{}").unwrap();
        assert_eq!(context, HostContext::default());
        assert_eq!(serde_json::to_string(&context).unwrap(), "{}");
    }
}
