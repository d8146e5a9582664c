//! `jackin hooks`: puts our hooks into an agent's own settings, beside whatever is there, and takes them out again.
//!
//! What is not ours keeps its bytes: of JSON only the lists that hold our entries are written anew, of TOML only a block
//! between two marks is added. What switches all hooks off is the operator's word and is left as it is, and told.

mod block;
mod members;
mod switch;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use self::switch::Switch;
use super::life::say;
use super::manifest::write_atomically;
use crate::capsule::{self, print_line, printable};

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

    /// Settings in which nothing is set.
    const fn nothing(self) -> &'static str {
        match self {
            Self::Codex => "",
            Self::Claude | Self::Gemini => members::NOTHING,
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
    /// Our hooks are there, and something keeps all hooks from running.
    Off(Switch),
    /// Hooks of another version or place of this program.
    Outdated,
    Absent,
}

impl State {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Off(_) => "switched off",
            Self::Outdated => "outdated",
            Self::Absent => "not installed",
        }
    }
}

pub(super) fn run(args: &HooksArgs) -> Result<u8> {
    match args.command {
        HooksCommand::Install { agent } => {
            let (file, _) = change(agent, true)?;
            print_line(&format!(
                "our hooks are in {}; new sessions of {} report what they do",
                file.display(),
                agent.name()
            ))?;
            if let State::Off(switch) = state(agent)? {
                say(&format!("but {}", switch.remark(&file)));
            }
        }
        HooksCommand::Uninstall { agent } => {
            let (file, changed) = change(agent, false)?;
            let told = if changed { "our hooks are no longer" } else { "there are no hooks of ours" };
            print_line(&format!("{told} in {}", file.display()))?;
        }
        HooksCommand::Status { agent, json } => {
            let agents = agent.map_or_else(|| Agent::ALL.to_vec(), |agent| vec![agent]);
            let mut code = 0;
            for agent in agents {
                code |= print_status(agent, json)?;
            }
            return Ok(code);
        }
    }
    Ok(0)
}

/// Prints a row; one whose settings cannot be read keeps no other from being told. The exit code.
fn print_status(agent: Agent, json: bool) -> Result<u8> {
    let (file, state) = (agent.file(), state(agent));
    let name = file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
    let word = state.as_ref().map_or("unreadable", |state| state.word());
    let switch = if let Ok(State::Off(switch)) = state { Some(switch) } else { None };
    let error = state.as_ref().err().map(|error| format!("{error:#}"));
    let code = u8::from(error.is_some());
    if json {
        let key = switch.map(|switch| switch.key);
        let line =
            json!({ "agent": agent.name(), "state": word, "file": file.ok(), "switch": key, "error": error });
        return print_line(&line.to_string()).map(|()| code);
    }
    print_line(&printable(&format!("{:<7} {word:<14} {name}", agent.name())))?;
    if let Some(remark) = switch.map(|switch| switch.remark(Path::new(&name))).or(error) {
        print_line(&printable(&format!("        → {remark}")))?;
    }
    Ok(code)
}

/// Whether our hooks are in an agent's settings.
pub(super) fn state(agent: Agent) -> Result<State> {
    let text = read(&agent.file()?)?;
    if text == with(agent, &text, true)? {
        return Ok(switch::off(agent, &text).map_or(State::Installed, State::Off));
    }
    Ok(if text == with(agent, &text, false)? { State::Absent } else { State::Outdated })
}

/// Puts our hooks into an agent's settings, or takes them out. The file, and whether anything in it was changed.
fn change(agent: Agent, install: bool) -> Result<(PathBuf, bool)> {
    let file = agent.file()?;
    let text = read(&file)?;
    let mut new =
        with(agent, &text, install).with_context(|| format!("{} is left as it is", file.display()))?;
    if new == text {
        return Ok((file, false));
    }
    if new.is_empty() {
        // Nothing but ours was in it. A link is somebody's arrangement, and stays with something that can be read.
        if !file.is_symlink() {
            std::fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
            return Ok((file, true));
        }
        agent.nothing().clone_into(&mut new);
    }
    if let Some(dir) = file.parent() {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    // A link stays a link.
    let target = file.canonicalize().unwrap_or_else(|_| file.clone());
    write_atomically(&target, new.as_bytes()).with_context(|| format!("cannot write {}", file.display()))?;
    Ok((file, true))
}

fn read(file: &Path) -> Result<String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// The settings with our hooks, or without them; empty where all of them were made by us.
fn with(agent: Agent, text: &str, install: bool) -> Result<String> {
    let hooks = capsule::hook_set(agent.name()).context("it has no hooks")?;
    match agent {
        Agent::Codex => block::with(text, &hooks, install),
        Agent::Claude | Agent::Gemini => members::with(agent, text, &hooks, install),
    }
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
            assert_eq!(json["tools"]["enableHooks"] == true, agent == Agent::Gemini);
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
            let outdated = installed.replace("report --runtime", "old report --runtime");
            assert_eq!(with(agent, &outdated, true).unwrap(), installed, "it is still known as ours");
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

    #[test]
    fn gemini_has_hooks_switched_on_and_what_was_on_stays_on() {
        let theirs = "{\n  \"tools\": { \"sandbox\":   \"docker\" }\n}\n";
        let installed = with(Agent::Gemini, theirs, true).unwrap();
        let json: serde_json::Value = serde_json::from_str(&installed).unwrap();
        assert_eq!(json["tools"], json!({ "sandbox": "docker", "enableHooks": true }));
        assert_eq!(with(Agent::Gemini, &installed, true).unwrap(), installed, "again changes nothing");
        let gone: serde_json::Value =
            serde_json::from_str(&with(Agent::Gemini, &installed, false).unwrap()).unwrap();
        assert_eq!(gone, json!({ "tools": { "sandbox": "docker" } }));
        // One that was there before is not ours to take away.
        let on = "{\n  \"tools\": {\"enableHooks\": true}\n}\n";
        let installed = with(Agent::Gemini, on, true).unwrap();
        assert!(installed.contains("\"tools\": {\"enableHooks\": true}"), "{installed}");
        let gone = with(Agent::Gemini, &installed, false).unwrap();
        assert!(gone.contains("\"tools\": {\"enableHooks\": true}"), "{gone}");
        assert!(with(Agent::Gemini, "{\"tools\": 7}", true).is_err());
        // What the operator switched off after us is off, and no older version of ours.
        let off =
            with(Agent::Gemini, "", true).unwrap().replace("\"enableHooks\":true", "\"enableHooks\":false");
        assert_eq!(with(Agent::Gemini, &off, true).unwrap(), off);
        assert!(with(Agent::Gemini, &off, false).unwrap().contains("\"enableHooks\":false"));
    }

    #[test]
    fn what_the_operator_switched_off_stays_off_and_is_told() {
        for (agent, text, key) in [
            (Agent::Gemini, "{\"tools\": {\"enableHooks\": false}}", "tools.enableHooks"),
            (Agent::Gemini, "{\"hooksConfig\": {\"enabled\": false}}", "hooksConfig.enabled"),
            (Agent::Claude, "{\"disableAllHooks\": true}", "disableAllHooks"),
            (Agent::Codex, "[features]\nhooks = false\n", "features.hooks"),
        ] {
            let installed = with(agent, text, true).unwrap();
            assert_eq!(with(agent, &installed, true).unwrap(), installed);
            let found = switch::off(agent, &installed).unwrap();
            assert_eq!(found.key, key, "{installed}");
            assert!(found.remark(Path::new("/s")).contains(key));
            let gone = with(agent, &installed, false).unwrap();
            assert!(switch::off(agent, &gone).is_some(), "{gone}");
            assert_eq!(switch::off(agent, &with(agent, "", true).unwrap()), None);
        }
    }
}
