//! What keeps all hooks of an agent from running.

use std::path::Path;

use serde_json::Value;

use super::Agent;

/// A setting that switches hooks off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::host) struct Switch {
    /// Where it stands.
    pub(in crate::host) key: &'static str,
    /// What it has to be.
    on: &'static str,
}

impl Switch {
    /// What it does, and what to do about it.
    pub(in crate::host) fn remark(self, file: &Path) -> String {
        let Self { key, on } = self;
        format!("{key} in {} keeps every hook from running: set it to {on}, or remove it", file.display())
    }
}

/// What switches hooks off in these settings.
pub(super) fn off(agent: Agent, text: &str) -> Option<Switch> {
    // Each with the value that means off.
    let switches: &[(Switch, bool)] = match agent {
        Agent::Claude => &[(Switch { key: "disableAllHooks", on: "false" }, true)],
        Agent::Codex => &[
            (Switch { key: "features.hooks", on: "true" }, false),
            (Switch { key: "features.codex_hooks", on: "true" }, false),
        ],
        Agent::Gemini => &[
            (Switch { key: "tools.enableHooks", on: "true" }, false),
            (Switch { key: "hooksConfig.enabled", on: "true" }, false),
        ],
    };
    let settings: Value = match agent {
        Agent::Codex => toml::from_str(text).ok()?,
        Agent::Claude | Agent::Gemini => serde_json::from_str(text).ok()?,
    };
    let is = |key: &str, value: bool| {
        key.split('.').try_fold(&settings, |at, part| at.get(part)).is_some_and(|found| *found == value)
    };
    switches.iter().find(|(switch, value)| is(switch.key, *value)).map(|(switch, _)| *switch)
}
