//! `jackin hooks`: puts our hooks into an agent's own settings, beside whatever is there, and takes them out again.
//!
//! What is not ours keeps its bytes: of JSON only the lists that hold our entries are written anew, of TOML only a block
//! between two marks is added.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use serde_json::value::RawValue;

use super::manifest::write_atomically;
use crate::capsule::{self, HookSet, print_line};

/// `jackin hooks`
#[derive(Debug, Args)]
pub(super) struct HooksArgs {
    #[command(subcommand)]
    command: HooksCommand,
}

#[derive(Debug, Subcommand)]
enum HooksCommand {
    /// Add our hooks to an agent's settings, so that every session of it reports what it does
    Install {
        /// The agent
        agent: Agent,
    },
    /// Take our hooks out of an agent's settings
    Uninstall {
        /// The agent
        agent: Agent,
    },
    /// Say whether our hooks are installed
    Status {
        /// The agent [default: all]
        agent: Option<Agent>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// An agent whose settings have hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Agent {
    Claude,
    Codex,
    Gemini,
}

impl Agent {
    pub(super) const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The file that its settings are in.
    pub(super) fn file(self) -> Result<PathBuf> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = || set("HOME").context("HOME is not set, so nobody knows where the settings are");
        Ok(match self {
            Self::Claude => set("CLAUDE_CONFIG_DIR")
                .map_or_else(|| home().map(|home| home.join(".claude")), Ok)?
                .join("settings.json"),
            Self::Codex => set("CODEX_HOME")
                .map_or_else(|| home().map(|home| home.join(".codex")), Ok)?
                .join("config.toml"),
            Self::Gemini => home()?.join(".gemini/settings.json"),
        })
    }
}

/// What stands in an agent's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Installed,
    /// Hooks of another version or place of this program.
    Outdated,
    Absent,
}

impl State {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Outdated => "outdated",
            Self::Absent => "not installed",
        }
    }
}

pub(super) fn run(args: &HooksArgs) -> Result<u8> {
    match args.command {
        HooksCommand::Install { agent } => {
            let file = change(agent, true)?;
            print_line(&format!(
                "our hooks are in {}; new sessions of {} report what they do",
                file.display(),
                agent.name()
            ))?;
        }
        HooksCommand::Uninstall { agent } => {
            let file = change(agent, false)?;
            print_line(&format!("our hooks are no longer in {}", file.display()))?;
        }
        HooksCommand::Status { agent, json } => {
            let agents = agent.map_or_else(|| Agent::ALL.to_vec(), |agent| vec![agent]);
            for agent in agents {
                let (state, file) = (state(agent)?, agent.file()?);
                print_line(&if json {
                    json!({ "agent": agent.name(), "state": state.word(), "file": file }).to_string()
                } else {
                    format!("{:<7} {:<14} {}", agent.name(), state.word(), file.display())
                })?;
            }
        }
    }
    Ok(0)
}

/// Whether our hooks are in an agent's settings.
pub(super) fn state(agent: Agent) -> Result<State> {
    let text = read(&agent.file()?)?;
    if text == with(agent, &text, true)? {
        return Ok(State::Installed);
    }
    Ok(if text == with(agent, &text, false)? { State::Absent } else { State::Outdated })
}

fn change(agent: Agent, install: bool) -> Result<PathBuf> {
    let file = agent.file()?;
    let text = read(&file)?;
    let new = with(agent, &text, install).with_context(|| format!("{} is left as it is", file.display()))?;
    if new != text {
        if let Some(dir) = file.parent() {
            std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        }
        // A link stays a link.
        let target = file.canonicalize().unwrap_or_else(|_| file.clone());
        write_atomically(&target, new.as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(file)
}

fn read(file: &Path) -> Result<String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// The settings with our hooks, or without them.
fn with(agent: Agent, text: &str, install: bool) -> Result<String> {
    let hooks = capsule::hook_set(agent.name()).context("it has no hooks")?;
    match agent {
        Agent::Codex => toml_with(text, &hooks, install),
        Agent::Claude | Agent::Gemini => json_with(agent, text, &hooks, install),
    }
}

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

fn json_with(agent: Agent, text: &str, hooks: &HookSet, install: bool) -> Result<String> {
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
    let mut changed = false;
    for event in names.iter().cloned().chain(wanted) {
        let before: Vec<Box<RawValue>> =
            events.get(&event).with_context(|| format!("`hooks.{event}` is no list"))?.unwrap_or_default();
        let mut after: Vec<Box<RawValue>> =
            before.iter().filter(|entry| !is_ours(entry, agent)).cloned().collect();
        if install && hooks.events.contains(&event.as_str()) {
            after.push(serde_json::value::to_raw_value(&hooks.entry())?);
        }
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
    if root.0.is_empty() {
        return Ok(String::new());
    }
    Ok(laid_out(&root, &events))
}

fn same_json(a: &RawValue, b: &RawValue) -> bool {
    let read = |raw: &RawValue| serde_json::from_str::<serde_json::Value>(raw.get()).ok();
    read(a) == read(b)
}

/// A member a line; the hooks, an event a line. Values that are not ours are as they were.
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
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

const BEGIN: &str = "# >>> jackin hooks: added by `jackin hooks install codex`, taken out by `uninstall`\n";
const END: &str = "# <<< jackin hooks\n";

fn toml_with(text: &str, hooks: &HookSet, install: bool) -> Result<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const THEIRS: &str = "{\n  \"theme\": \"dark\",\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [ {\"type\":\"command\", \"command\":\"say done\"} ] }]\n  },\n  \"model\": { \"b\": 1,   \"a\": 2.50 }\n}\n";

    #[test]
    fn hooks_come_beside_others_and_go_without_a_trace() {
        for agent in [Agent::Claude, Agent::Gemini] {
            let installed = with(agent, THEIRS, true).unwrap();
            let json: serde_json::Value = serde_json::from_str(&installed).unwrap();
            assert!(
                installed.contains("{ \"b\": 1,   \"a\": 2.50 }"),
                "what is not ours keeps its bytes: {installed}"
            );
            let stop = json["hooks"]["Stop"].as_array().unwrap();
            assert_eq!(stop[0]["hooks"][0]["command"], "say done");
            assert_eq!(stop.len(), if agent == Agent::Claude { 2 } else { 1 });
            assert_eq!(with(agent, &installed, true).unwrap(), installed, "again changes nothing");
            let gone = with(agent, &installed, false).unwrap();
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&gone).unwrap(),
                serde_json::from_str::<serde_json::Value>(THEIRS).unwrap()
            );
            assert!(gone.contains("{ \"b\": 1,   \"a\": 2.50 }") && gone.find("theme") < gone.find("model"));
        }
    }

    #[test]
    fn a_file_that_was_ours_alone_is_empty_again() {
        for agent in Agent::ALL {
            let installed = with(agent, "", true).unwrap();
            assert!(installed.contains(&format!("report --runtime {}", agent.name())), "{installed}");
            assert_eq!(with(agent, &installed, false).unwrap(), "");
        }
    }

    #[test]
    fn codex_gets_a_block_of_its_own() {
        let theirs = "# mine\nmodel = \"x\" # comment\n\n[tui]\nfast = true\n";
        let installed = with(Agent::Codex, theirs, true).unwrap();
        assert!(installed.starts_with(theirs));
        let parsed: toml::Table = toml::from_str(&installed).unwrap();
        assert_eq!(parsed["hooks"]["Stop"][0]["hooks"][0]["type"].as_str(), Some("command"));
        assert_eq!(with(Agent::Codex, &installed, false).unwrap(), theirs);
        assert_eq!(with(Agent::Codex, &installed, true).unwrap(), installed);
    }

    #[test]
    fn what_cannot_be_changed_safely_is_left_alone() {
        for (agent, text) in [
            (Agent::Claude, "{ // a comment\n}"),
            (Agent::Claude, "{\"hooks\": 7}"),
            (Agent::Claude, "{\"hooks\": {\"Stop\": {}}}"),
            (Agent::Codex, "hooks = 7\n"),
            (Agent::Codex, "model = \n"),
        ] {
            assert!(with(agent, text, true).is_err(), "{text}");
        }
    }
}
