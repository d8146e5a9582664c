//! Settings in JSON.

use std::fmt;

use anyhow::{Context, Result};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use serde_json::value::RawValue;

use super::Agent;
use crate::capsule::HookSet;

/// An object whose members keep their order and their bytes.
#[derive(Default)]
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Members::default();
                while let Some(member) = map.next_entry()? {
                    members.0.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Members {
    fn get<T: for<'de> Deserialize<'de>>(&self, key: &str) -> Result<Option<T>, serde_json::Error> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| serde_json::from_str(value.get()))
            .transpose()
    }

    /// Puts a value in its place; none takes the member away.
    fn set(&mut self, key: &str, value: Option<&impl Serialize>) -> Result<()> {
        let Some(value) = value else {
            self.0.retain(|(name, _)| name != key);
            return Ok(());
        };
        let raw = serde_json::value::to_raw_value(value)?;
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, place)) => *place = raw,
            None => self.0.push((key.to_owned(), raw)),
        }
        Ok(())
    }
}

/// What our entries are known by: the command that they run.
fn is_ours(entry: &RawValue, agent: Agent) -> bool {
    let mark = format!(" report --runtime {}", agent.name());
    entry.get().contains(&mark) && entry.get().contains("jackin")
}

pub(super) fn with(agent: Agent, text: &str, hooks: &HookSet, install: bool) -> Result<String> {
    if text.trim().is_empty() && !install {
        return Ok(text.to_owned());
    }
    let plain = if text.trim().is_empty() { "{}" } else { text };
    let mut root: Members = serde_json::from_str(plain)
        .context("the settings are not plain JSON, so they cannot be changed without harm: mend them, or add the hooks by hand")?;
    let mut events: Members = root.get("hooks").context("`hooks` is no object")?.unwrap_or_default();
    let names: Vec<String> = events.0.iter().map(|(name, _)| name.clone()).collect();
    let wanted = hooks
        .events
        .iter()
        .map(|event| (*event).to_owned())
        .filter(|event| install && !names.contains(event));
    let Switched { by_us, mut changed } = switch(agent, &mut root, &events, install)?;
    let mut entry = hooks.entry();
    if by_us {
        entry["hooks"][0]["description"] = json!(SWITCHED);
    }
    let mut was_there = false;
    for event in names.iter().cloned().chain(wanted) {
        let before: Vec<Box<RawValue>> =
            events.get(&event).with_context(|| format!("`hooks.{event}` is no list"))?.unwrap_or_default();
        let mut after: Vec<Box<RawValue>> =
            before.iter().filter(|entry| !is_ours(entry, agent)).cloned().collect();
        if install && hooks.events.contains(&event.as_str()) {
            after.push(serde_json::value::to_raw_value(&entry)?);
        }
        was_there |= before.iter().any(|entry| is_ours(entry, agent));
        let same = before.len() == after.len() && before.iter().zip(&after).all(|(a, b)| same_json(a, b));
        if !same {
            changed = true;
            events.set(&event, Some(&after).filter(|after| !after.is_empty()))?;
        }
    }
    if !changed {
        return Ok(text.to_owned());
    }
    root.set("hooks", Some(&events).filter(|events| !events.0.is_empty()))?;
    let ends_open = text.trim().is_empty() || was_there && !text.ends_with('\n');
    if root.0.is_empty() {
        return Ok(if ends_open { "" } else { NOTHING }.to_owned());
    }
    let new = laid_out(&root, &events);
    Ok(if ends_open { new } else { new + "\n" })
}

/// Settings in which nothing is set.
pub(super) const NOTHING: &str = "{}\n";

/// What became of the switch for all hooks.
struct Switched {
    /// Whether it is on because of us.
    by_us: bool,
    changed: bool,
}

/// What tells that it was us who switched hooks on, so that they are switched off with our last one.
const SWITCHED: &str = "reports to jackin; tools.enableHooks was switched on for it";

/// Older versions of Gemini run no hook unless they are told to; newer ones do without it.
fn switch(agent: Agent, root: &mut Members, events: &Members, install: bool) -> Result<Switched> {
    let mut switched = Switched { by_us: false, changed: false };
    if agent != Agent::Gemini {
        return Ok(switched);
    }
    let mut tools: Members = root.get("tools").context("`tools` is no object")?.unwrap_or_default();
    let is_set = tools.0.iter().any(|(name, _)| name == "enableHooks");
    let is_on = matches!(tools.get::<bool>("enableHooks"), Ok(Some(true)));
    let was_us = events.0.iter().any(|(_, list)| list.get().contains(SWITCHED));
    if install && !is_set {
        tools.set("enableHooks", Some(&true))?;
        switched = Switched { by_us: true, changed: true };
    } else if install {
        switched.by_us = was_us;
    } else if was_us && is_on {
        tools.set("enableHooks", None::<&bool>)?;
        switched.changed = true;
    }
    if switched.changed {
        root.set("tools", Some(&tools).filter(|tools| !tools.0.is_empty()))?;
    }
    Ok(switched)
}

fn same_json(a: &RawValue, b: &RawValue) -> bool {
    let read = |raw: &RawValue| serde_json::from_str::<serde_json::Value>(raw.get()).ok();
    read(a) == read(b)
}

/// A member a line; the hooks, an event a line. Values that are not ours are as they were. What is made from nothing is
/// known by the newline that is missing at its end.
fn laid_out(root: &Members, events: &Members) -> String {
    let member = |(key, value): &(String, Box<RawValue>)| {
        let key_text = json!(key).to_string();
        if key != "hooks" {
            return format!("  {key_text}: {}", value.get());
        }
        let lines: Vec<String> =
            events.0.iter().map(|(event, value)| format!("    {}: {}", json!(event), value.get())).collect();
        format!("  {key_text}: {{\n{}\n  }}", lines.join(",\n"))
    };
    let lines: Vec<String> = root.0.iter().map(member).collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}
