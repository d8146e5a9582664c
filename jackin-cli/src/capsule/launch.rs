//! What a session is started with: a configured agent's command line and environment, changed where it may be so that
//! the agent reports what it does.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jackin_core::AgentEntry;
use serde_json::{Value, json};

use super::agents::Family;
use super::own::own_program;

/// How long an agent may be held up by a hook of ours, in seconds. It takes milliseconds.
const HOOK_LIMIT: u64 = 5;

const CLAUDE_HOOKS: [&str; 16] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "Notification",
    "Elicitation",
    "ElicitationResult",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
];

const CODEX_HOOKS: [&str; 11] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "SessionEnd",
];

const GEMINI_HOOKS: [&str; 8] = [
    "SessionStart",
    "BeforeAgent",
    "BeforeTool",
    "AfterTool",
    "Notification",
    "AfterAgent",
    "PreCompress",
    "SessionEnd",
];

const GEMINI_DEFAULTS: &str = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH";

/// A session's program, ready to be started.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Launch {
    /// Empty means the user's shell.
    pub(super) command: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    /// Variables that are kept from it.
    pub(super) without: Vec<String>,
    /// The agent's name for people, where it is one.
    pub(super) name: Option<String>,
    pub(super) family: Option<Family>,
    /// What screen rules call it.
    pub(super) rules: Option<String>,
    pub(super) transcripts: Vec<PathBuf>,
    pub(super) plain_tags: bool,
    /// Where its server tells its events.
    pub(super) sse_port: Option<u16>,
}

impl Launch {
    /// A command line as it is. What it starts is recognised by it.
    pub(super) fn of_command(command: Vec<String>, env: BTreeMap<String, String>) -> Self {
        let family = Family::of_command(&command);
        let name = family.map(|family| family.name().to_owned());
        Self { command, env, rules: name.clone(), name, family, ..Self::default() }
    }

    /// A configured agent. Files that it needs go into `directory`.
    pub(super) fn of_agent(agent: &AgentEntry, home: Option<&Path>, directory: &Path) -> Result<Self> {
        let command = agent.command_line();
        let family = Family::of_agent(agent);
        let mut launch = Self {
            name: Some(agent.name().to_owned()),
            rules: Some(family.map_or_else(|| agent.id.clone(), |family| family.name().to_owned())),
            env: agent.env.clone(),
            without: agent.without.clone(),
            transcripts: agent.transcripts.iter().map(|path| at_home(path, home)).collect(),
            plain_tags: agent.plain_tags,
            command,
            family,
            sse_port: None,
        };
        if agent.observable {
            let reporter = reporter()?;
            launch.make_observable(&reporter, directory)?;
        }
        Ok(launch)
    }

    /// Changes how the agent is started, so that it says what it does.
    fn make_observable(&mut self, reporter: &str, directory: &Path) -> Result<()> {
        let Some((family, at)) = Family::in_command(&self.command) else {
            tracing::warn!("{:?} does not start an agent that is known, so nothing is changed", self.command);
            return Ok(());
        };
        let has = |option: &str| {
            let assigned = format!("{option}=");
            self.command.iter().any(|word| word == option || word.starts_with(&assigned))
        };
        let report = format!("{reporter} report --runtime {}", family.name());
        match family {
            Family::Claude if has("--settings") => {
                tracing::warn!("claude has settings of its own on its command line, so it gets no hooks");
            }
            Family::Claude => {
                let settings = json!({ "hooks": hooks(&CLAUDE_HOOKS, &report, HOOK_LIMIT) });
                self.insert(at, ["--settings".to_owned(), settings.to_string()]);
            }
            Family::Codex => {
                let quoted = toml_string(&report);
                let words = CODEX_HOOKS.iter().flat_map(|event| {
                    let hook = format!("{{type=\"command\",command={quoted},timeout={HOOK_LIMIT}}}");
                    ["-c".to_owned(), format!("hooks.{event}=[{{hooks=[{hook}]}}]")]
                });
                self.insert(at, words.collect::<Vec<_>>());
            }
            Family::Gemini
                if self.env.contains_key(GEMINI_DEFAULTS) || std::env::var_os(GEMINI_DEFAULTS).is_some() =>
            {
                tracing::warn!("{GEMINI_DEFAULTS} is set already, so gemini gets no hooks");
            }
            Family::Gemini => {
                let file = directory.join("gemini-hooks.json");
                let existing =
                    std::fs::read_to_string("/etc/gemini-cli/system-defaults.json").unwrap_or_default();
                let defaults = gemini_defaults(&existing, &report);
                std::fs::write(&file, defaults.to_string())
                    .with_context(|| format!("cannot write gemini's hooks to {}", file.display()))?;
                self.env.insert(GEMINI_DEFAULTS.to_owned(), file.display().to_string());
            }
            Family::OpenCode => {
                let given = self.command.iter().position(|word| word == "--port");
                let given = given.and_then(|at| self.command.get(at + 1)?.parse().ok());
                let port = if let Some(port) = given {
                    port
                } else {
                    let port = free_port()?;
                    self.insert(at, ["--port".to_owned(), port.to_string()]);
                    port
                };
                self.sse_port = Some(port);
            }
            Family::Amp => tracing::warn!("amp has no hooks, so nothing is changed"),
        }
        Ok(())
    }

    /// Puts words behind the one that names the agent.
    fn insert(&mut self, at: usize, words: impl IntoIterator<Item = String>) {
        let (before, after) = self.command.split_at(at + 1);
        self.command = before.iter().cloned().chain(words).chain(after.iter().cloned()).collect();
    }
}

/// The hooks of an agent, for its own settings.
#[cfg(feature = "host")]
pub(crate) struct HookSet {
    /// The events that are reported.
    pub(crate) events: Vec<&'static str>,
    /// How long the agent waits for a report, in its own unit.
    pub(crate) limit: u64,
    command: String,
}

#[cfg(feature = "host")]
impl HookSet {
    /// The entry of one event.
    pub(crate) fn entry(&self) -> Value {
        json!({ "hooks": [{ "type": "command", "command": self.command, "timeout": self.limit }] })
    }
}

/// The hooks of the agent with this name; none if it has none.
#[cfg(feature = "host")]
pub(crate) fn hook_set(agent: &str) -> Option<HookSet> {
    let family = Family::by_name(agent)?;
    let (events, limit): (&[&str], _) = match family {
        Family::Claude => (&CLAUDE_HOOKS, HOOK_LIMIT),
        Family::Codex => (&CODEX_HOOKS, HOOK_LIMIT),
        Family::Gemini => (&GEMINI_HOOKS, HOOK_LIMIT * 1_000),
        Family::Amp | Family::OpenCode => return None,
    };
    let command = format!("{} report --runtime {}", reporter().ok()?, family.name());
    Some(HookSet { events: events.to_vec(), limit, command })
}

/// How a hook calls this program: a command for a shell.
fn reporter() -> Result<String> {
    let (program, before) = own_program()?;
    let quoted = quote(&program.display().to_string());
    Ok(before.map_or(quoted.clone(), |before| format!("{quoted} {before}")))
}

fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A basic string of TOML.
fn toml_string(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", c as u32),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn hooks(events: &[&str], command: &str, limit: u64) -> Value {
    let hook = json!([{ "hooks": [{ "type": "command", "command": command, "timeout": limit }] }]);
    events.iter().map(|event| ((*event).to_owned(), hook.clone())).collect::<serde_json::Map<_, _>>().into()
}

/// The machine's own defaults with our hooks among theirs: the variable that names our file hides the other one.
fn gemini_defaults(existing: &str, report: &str) -> Value {
    let mut defaults = serde_json::from_slice::<Value>(existing.as_bytes())
        .ok()
        .filter(Value::is_object)
        .unwrap_or_else(|| json!({}));
    let Value::Object(ours) = hooks(&GEMINI_HOOKS, report, HOOK_LIMIT * 1_000) else { return defaults };
    if !defaults["hooks"].is_object() {
        defaults["hooks"] = json!({});
    }
    for (event, hook) in ours {
        match (&mut defaults["hooks"][&event], hook) {
            (Value::Array(theirs), Value::Array(hook)) => theirs.extend(hook),
            (place, hook) => *place = hook,
        }
    }
    defaults["tools"]["enableHooks"] = json!(true);
    defaults
}

/// A port that nobody listens at. Somebody else may take it before the agent does; then the agent says so.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("there is no free port")?;
    Ok(listener.local_addr().context("there is no free port")?.port())
}

fn at_home(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observable(command: &[&str], directory: &Path) -> Launch {
        let agent = AgentEntry {
            id: "x".into(),
            command: command.iter().map(ToString::to_string).collect(),
            observable: true,
            ..AgentEntry::default()
        };
        Launch::of_agent(&agent, None, directory).unwrap()
    }

    #[test]
    fn claude_gets_its_hooks_as_settings() {
        let dir = tempfile::tempdir().unwrap();
        let launch = observable(&["env", "A=1", "claude", "--continue"], dir.path());
        assert_eq!(
            (&launch.command[2..4], launch.command[5].as_str()),
            (&["claude".to_owned(), "--settings".to_owned()][..], "--continue")
        );
        let settings: Value = serde_json::from_str(&launch.command[4]).unwrap();
        let command = settings["hooks"]["PermissionRequest"][0]["hooks"][0]["command"].as_str().unwrap();
        assert!(command.ends_with("' capsule report --runtime claude"), "{command}");
        let own = observable(&["claude", "--settings=x.json"], dir.path());
        assert_eq!(own.command, ["claude", "--settings=x.json"]);
    }

    #[test]
    fn codex_gets_its_hooks_as_configuration() {
        let dir = tempfile::tempdir().unwrap();
        let launch = observable(&["codex", "resume"], dir.path());
        assert_eq!((launch.command[1].as_str(), launch.command.last().unwrap().as_str()), ("-c", "resume"));
        for words in launch.command[1..launch.command.len() - 1].chunks(2) {
            let parsed: toml::Table = toml::from_str(&words[1]).unwrap();
            let (event, groups) = parsed["hooks"].as_table().unwrap().iter().next().unwrap();
            assert!(CODEX_HOOKS.contains(&event.as_str()));
            assert!(groups[0]["hooks"][0]["command"].as_str().unwrap().contains("report --runtime codex"));
        }
    }

    #[test]
    fn gemini_gets_a_file_beside_the_machines_own_defaults() {
        let theirs = r#"{"ui":{"theme":"x"},"hooks":{"AfterAgent":[{"hooks":[]}]}}"#;
        let defaults = gemini_defaults(theirs, "report");
        assert_eq!(defaults["ui"]["theme"], "x");
        assert_eq!(defaults["hooks"]["AfterAgent"].as_array().unwrap().len(), 2);
        assert_eq!(defaults["hooks"]["BeforeTool"][0]["hooks"][0]["command"], "report");
        assert!(gemini_defaults("nonsense", "report")["hooks"]["SessionEnd"].is_array());
    }

    #[test]
    fn opencode_gets_a_port_and_amp_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let launch = observable(&["opencode"], dir.path());
        assert_eq!(launch.command[1], "--port");
        assert_eq!(launch.sse_port.map(|port| port.to_string()).as_ref(), launch.command.get(2));
        assert_eq!(observable(&["opencode", "--port", "4096"], dir.path()).sse_port, Some(4096));
        assert_eq!(observable(&["amp"], dir.path()).command, ["amp"]);
        assert_eq!(observable(&["robot"], dir.path()).command, ["robot"]);
    }

    #[test]
    fn nothing_is_changed_unless_it_may_be() {
        let agent =
            AgentEntry { id: "claude".into(), transcripts: vec!["~/t".into()], ..AgentEntry::default() };
        let launch = Launch::of_agent(&agent, Some(Path::new("/home/a")), Path::new("/nowhere")).unwrap();
        assert_eq!(
            (launch.command, launch.transcripts),
            (vec!["claude".to_owned()], vec!["/home/a/t".into()])
        );
        assert_eq!(launch.family, Some(Family::Claude));
    }

    #[test]
    fn strings_survive_quoting() {
        assert_eq!(quote("it's"), r"'it'\''s'");
        let odd = "a\"b\\c\u{1}'";
        let parsed: toml::Table = toml::from_str(&format!("x = {}", toml_string(odd))).unwrap();
        assert_eq!(parsed["x"].as_str(), Some(odd));
    }
}
