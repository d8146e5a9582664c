//! Settings in TOML.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail, ensure};

use crate::capsule::HookSet;

const BEGIN: &str = "# >>> jackin hooks: added by `jackin hooks install codex`, taken out by `uninstall`\n";
const END: &str = "# <<< jackin hooks\n";

pub(super) fn with(text: &str, hooks: &HookSet, install: bool) -> Result<String> {
    let mut without = text.to_owned();
    if let Some(begin) = text.find(BEGIN) {
        let end =
            text[begin..].find(END).context("the end of our block is missing: remove the block by hand")?;
        without.replace_range(begin..begin + end + END.len(), "");
    }
    if !install {
        return Ok(without);
    }
    let entry = hooks.entry();
    let command = entry["hooks"][0]["command"].as_str().unwrap_or_default();
    let mut new = without;
    if !new.is_empty() && !new.ends_with('\n') {
        new.push('\n');
    }
    new.push_str(BEGIN);
    for event in &hooks.events {
        let command = toml::Value::String(command.to_owned());
        let _ = write!(
            new,
            "[[hooks.{event}]]
[[hooks.{event}.hooks]]
type = \"command\"
command = {command}
timeout = {}
",
            hooks.limit
        );
    }
    new.push_str(END);
    let parsed = toml::from_str::<toml::Table>(&new);
    ensure!(
        text.trim().is_empty() || toml::from_str::<toml::Table>(text).is_ok(),
        "the settings are not TOML: mend them first"
    );
    if let Err(error) = parsed {
        bail!("the settings define `hooks` in another way ({}): add ours by hand", error.message());
    }
    Ok(new)
}
