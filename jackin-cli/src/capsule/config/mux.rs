use std::time::Duration;

use anyhow::{Context, Result, bail};
use jackin_core::{AgentEntry, ForwardEntry, MuxEntry};
use jackin_mux::{Agent, CopyKeys, Forward, Key, Settings};

/// The longest that an ESC may wait: longer, and the Escape key seems broken.
const LONGEST_ESCAPE: u64 = 5_000;

/// The multiplexer's settings: those of the file, and above them those of the environment.
pub(in crate::capsule) fn mux_settings(
    entry: &MuxEntry,
    agents: &[AgentEntry],
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Settings> {
    let mut settings = Settings {
        agents: agents
            .iter()
            .map(|agent| Agent { id: agent.id.clone(), display: agent.name().to_owned() })
            .collect(),
        forward: forward(entry.forward),
        ..Settings::default()
    };
    if let Some(key) = &entry.keys.prefix {
        settings.prefix = prefix(key)?;
    }
    if let Some(name) = &entry.keys.copy {
        settings.copy_keys = copy_keys(name)?;
    }
    for (key, command) in &entry.keys.bind {
        settings.keymap.bind(key, command)?;
    }
    if let Some(ms) = entry.escape_time {
        settings.escape_time = escape_time(ms);
    }
    settings.chrome = entry.chrome.unwrap_or(settings.chrome);
    if let Some(lines) = entry.history_lines {
        settings.terminal.history_lines = lines as usize;
    }
    if let Some(bytes) = entry.history_bytes {
        settings.terminal.history_bytes = bytes as usize;
    }

    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let number = |name: &str, value: &str| {
        value.parse::<u32>().with_context(|| format!("{name} is {value:?}: write a whole number"))
    };
    if let Some(key) = set("JACKIN_PREFIX") {
        settings.prefix = prefix(&key).context("JACKIN_PREFIX")?;
    }
    if let Some(name) = set("JACKIN_COPY_KEYS") {
        settings.copy_keys = copy_keys(&name).context("JACKIN_COPY_KEYS")?;
    }
    if let Some(ms) = set("JACKIN_ESCAPE_TIME") {
        settings.escape_time = escape_time(number("JACKIN_ESCAPE_TIME", &ms)?.into());
    }
    if let Some(lines) = set("JACKIN_HISTORY_LINES") {
        settings.terminal.history_lines = number("JACKIN_HISTORY_LINES", &lines)? as usize;
    }
    if settings.prefix == Some(Key::ctrl('j')) {
        tracing::warn!("the prefix ctrl+j is what some terminals send for Enter");
    }
    Ok(settings)
}

/// A prefix key, or none of them.
pub(super) fn prefix(text: &str) -> Result<Option<Key>> {
    if text == "none" {
        return Ok(None);
    }
    Ok(Some(text.parse().context("write a key such as ctrl+b or f12, or none")?))
}

pub(super) fn copy_keys(name: &str) -> Result<CopyKeys> {
    match name {
        "vi" => Ok(CopyKeys::Vi),
        "emacs" => Ok(CopyKeys::Emacs),
        _ => bail!("{name:?} are no keys of copy mode: write vi or emacs"),
    }
}

fn escape_time(ms: u64) -> Duration {
    Duration::from_millis(ms.min(LONGEST_ESCAPE))
}

fn forward(entry: ForwardEntry) -> Forward {
    let usual = Forward::default();
    Forward {
        notifications: entry.notifications.unwrap_or(usual.notifications),
        progress: entry.progress.unwrap_or(usual.progress),
        clipboard: entry.clipboard.unwrap_or(usual.clipboard),
        clipboard_read: entry.clipboard_read.unwrap_or(usual.clipboard_read),
        graphics: entry.graphics.unwrap_or(usual.graphics),
        other: entry.other.unwrap_or(usual.other),
    }
}

#[cfg(test)]
mod tests {
    use jackin_core::KeysEntry;

    use super::*;

    #[test]
    fn the_environment_is_above_the_file_and_the_file_above_the_defaults() {
        let keys =
            KeysEntry { prefix: Some("ctrl+a".into()), copy: Some("emacs".into()), ..KeysEntry::default() };
        let forward = ForwardEntry { clipboard: Some(false), ..ForwardEntry::default() };
        let entry =
            MuxEntry { keys, escape_time: Some(7), history_lines: Some(5), forward, ..MuxEntry::default() };
        let agents = [AgentEntry { id: "x".into(), display: Some("Mx X".into()), ..AgentEntry::default() }];

        let settings = mux_settings(&entry, &agents, |_| None).unwrap();
        assert_eq!((settings.prefix, settings.copy_keys), (Some(Key::ctrl('a')), CopyKeys::Emacs));
        assert_eq!((settings.escape_time, settings.terminal.history_lines), (Duration::from_millis(7), 5));
        assert!(settings.chrome && !settings.forward.clipboard && settings.forward.progress);
        assert_eq!(settings.agents[0].display, "Mx X");

        let variable = |name: &str| {
            let value = match name {
                "JACKIN_PREFIX" => "none",
                "JACKIN_ESCAPE_TIME" => "50",
                "JACKIN_HISTORY_LINES" => "9",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let settings = mux_settings(&entry, &agents, variable).unwrap();
        assert_eq!((settings.prefix, settings.escape_time), (None, Duration::from_millis(50)));
        assert_eq!(settings.terminal.history_lines, 9);
    }

    #[test]
    fn a_bad_variable_is_named() {
        for (name, value) in
            [("JACKIN_PREFIX", "hyper+x"), ("JACKIN_ESCAPE_TIME", "soon"), ("JACKIN_COPY_KEYS", "x")]
        {
            let error =
                mux_settings(&MuxEntry::default(), &[], |asked| (asked == name).then(|| value.to_owned()));
            assert!(format!("{:#}", error.unwrap_err()).contains(name), "{name}");
        }
    }
}
