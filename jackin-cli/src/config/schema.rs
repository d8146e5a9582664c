//! The operator's `config.toml`, as it is written. What is left out has a default that works.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jackin_core::{ForwardEntry, GitIdentity, KeysEntry, RoleName, UserEntry};
use serde::{Deserialize, Serialize};

use super::value::{Bytes, Endpoint, Mount, QuietTime, Seconds};

/// Everything that an operator can set.
///
/// ```
/// use jackin_cli::config::Config;
///
/// let config = Config::parse("[defaults]\nagent = \"codex\"\n").unwrap();
/// assert_eq!(config.defaults.agent.as_deref(), Some("codex"));
/// assert_eq!(config.agent("codex").unwrap().display.as_deref(), Some("Codex"));
///
/// let mistakes = Config::parse("[defaults]\nagent = 7\nrole = \"nobody\"\n").unwrap_err();
/// assert_eq!(mistakes.list().len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What is meant where nothing is said.
    pub defaults: Defaults,
    /// The agents, by the name that `--agent` takes. The usual ones are there without being written.
    pub agents: BTreeMap<String, AgentConfig>,
    /// The roles: what an agent is given to work with.
    pub roles: BTreeMap<RoleName, RoleConfig>,
    /// The workspaces: directories with a name.
    pub workspaces: BTreeMap<String, WorkspaceConfig>,
    /// Other Docker engines, by name.
    pub hosts: BTreeMap<String, HostConfig>,
    /// The multiplexer's keys.
    pub keys: KeysEntry,
    /// The multiplexer's other settings.
    pub mux: MuxConfig,
    /// The console.
    pub console: ConsoleConfig,
    /// What happens when an agent needs the operator.
    pub notify: NotifyConfig,
    /// Pull requests and their checks.
    pub github: GithubConfig,
    /// Headless runs.
    pub runs: RunsConfig,
    /// Whom commits of agents are by.
    pub git: Option<GitIdentity>,
    /// `[[tool]]`, read by [`jackin_tools`].
    #[serde(skip_serializing)]
    pub tool: Option<serde::de::IgnoredAny>,
    /// `[handler]`, read by [`jackin_tools`].
    #[serde(skip_serializing)]
    pub handler: Option<serde::de::IgnoredAny>,
}

/// What is meant where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Defaults {
    /// The role of `jackin load` without one.
    pub role: Option<RoleName>,
    /// The agent that is started at once.
    pub agent: Option<String>,
    /// Where instances run unless their role names an image: `local` or `docker`.
    pub backend: Option<BackendKind>,
    /// The Docker engine that instances run on: a name of `[hosts]`.
    pub host: Option<String>,
    /// Whether agents may be launched differently, so that they report what they do.
    pub observable: Option<bool>,
    /// Whether `load --detach` leaves a process that cleans up after the instance.
    pub watch: Option<bool>,
}

/// Where an instance runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackendKind {
    /// A process in the background on this machine. There is no wall around the agent.
    Local,
    /// A container.
    Docker,
}

impl std::fmt::Display for BackendKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Local => "local",
            Self::Docker => "docker",
        })
    }
}

/// An agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// Its name for people.
    pub display: Option<String>,
    /// The command line; without it, the agent's name.
    pub command: Vec<String>,
    /// Which agent it is: `claude`, `codex`, `amp`, `gemini` or `opencode`. Without it, the command tells.
    pub runtime: Option<String>,
    /// Variables of its environment.
    pub env: BTreeMap<String, String>,
    /// Variables of the operator's environment that it is given, such as its token. No other agent gets them.
    pub tokens: Vec<String>,
    /// Files, or directories of files, that it writes its transcripts to, beside the usual ones.
    pub transcripts: Vec<String>,
    /// Whether it may be launched differently, so that it reports what it does.
    pub observable: Option<bool>,
    /// Whether tags are taken from the lines that it prints, for want of anything better.
    pub plain_tags: bool,
    /// The command line of a headless run; the prompt is appended, or given on standard input.
    pub headless: Vec<String>,
}

/// A role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoleConfig {
    /// The image of its containers. With one, instances run in Docker.
    pub image: Option<String>,
    /// The agents to choose from; without them, all.
    pub agents: Vec<String>,
    /// The one that is started at once.
    pub agent: Option<String>,
    /// Whom agents run as in the container; without it, user 1000.
    pub user: Option<UserEntry>,
    /// Variables of every session's environment.
    pub env: BTreeMap<String, String>,
    /// What is mounted beside the workspace: `source:destination`, and `:ro` to forbid writing.
    pub mounts: Vec<Mount>,
    /// What an instance may use.
    pub limits: LimitsConfig,
    /// `instance` (a network of its own), `none`, `host`, or a network's name.
    pub network: Option<String>,
    /// Containers beside it, by the name that it reaches them at.
    pub sidecars: BTreeMap<String, SidecarConfig>,
    /// Skills that agents are given.
    pub skills: Vec<String>,
    /// Whether agents may be launched differently, so that they report what they do.
    pub observable: Option<bool>,
    /// Whether the container's own files cannot be changed.
    pub read_only: bool,
    /// Where the workspace is in the container; without it, `/workspace`.
    pub workdir: Option<String>,
}

/// What an instance may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Processors.
    pub cpus: Option<f64>,
    /// Memory, such as `"4g"`.
    pub memory: Option<Bytes>,
    /// Processes.
    pub pids: Option<u32>,
    /// Sessions at a time.
    pub sessions: Option<u32>,
}

/// A container beside an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SidecarConfig {
    /// Its image.
    pub image: String,
    /// Its command; without it, the image's.
    pub command: Vec<String>,
    /// Its environment.
    pub env: BTreeMap<String, String>,
    /// What it shares with the instance: `volume:destination`. The volume is made for the instance and goes with it.
    pub volumes: Vec<Mount>,
    /// Whether it has all of root's rights, as Docker in Docker needs.
    pub privileged: bool,
}

/// A directory with a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceConfig {
    /// The directory.
    pub workdir: PathBuf,
    /// Its role.
    pub role: Option<RoleName>,
    /// The agent that is started at once.
    pub agent: Option<String>,
    /// What is mounted beside it.
    pub mounts: Vec<Mount>,
    /// Variables of every session's environment.
    pub env: BTreeMap<String, String>,
    /// Whether each instance works in a Git worktree and on a branch of its own.
    pub worktree: bool,
}

/// Another Docker engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostConfig {
    /// Where it answers: `ssh://user@host`, `tcp://host:port`, `https://host:port`, `unix:///path`, or `context:NAME`.
    pub docker: Endpoint,
    /// A directory with `ca.pem`, `cert.pem` and `key.pem`, for TLS.
    pub certificates: Option<PathBuf>,
}

/// The multiplexer's settings, as in `agent.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MuxConfig {
    /// How many milliseconds an ESC waits for the rest of a sequence.
    pub escape_time: Option<u64>,
    /// Whether there is more on the terminal than the panes.
    pub chrome: Option<bool>,
    /// Lines of history for each pane.
    pub history_lines: Option<u32>,
    /// Bytes of history for each pane.
    pub history_bytes: Option<u32>,
    /// Which sequences of a program reach the operator's terminal.
    pub forward: ForwardEntry,
}

/// The console.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConsoleConfig {
    /// What rows are grouped by.
    pub group: Option<Grouping>,
}

/// What the console groups instances by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// The workspace.
    Workspace,
    /// The engine.
    Host,
    /// One list.
    None,
}

/// What happens when an agent needs the operator and is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NotifyConfig {
    /// The terminal's bell; yes, unless it is switched off.
    pub bell: Option<bool>,
    /// The terminal's own notifications: `none`, `9`, `777` or `99`.
    pub osc: Option<NotifyOsc>,
    /// A program that is called with title and text, such as `notify-send`.
    pub desktop: Vec<String>,
    /// No notifications in this time of the day, such as `"22:00-07:30"`.
    pub quiet: Option<QuietTime>,
    /// Instances and agents that never notify.
    pub mute: Vec<String>,
}

/// Which sequence makes a terminal notify.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotifyOsc {
    /// None.
    #[serde(rename = "none")]
    None,
    /// `OSC 9`.
    #[serde(rename = "9")]
    Osc9,
    /// `OSC 777`.
    #[serde(rename = "777")]
    Osc777,
    /// `OSC 99`.
    #[serde(rename = "99")]
    Osc99,
}

/// Pull requests and their checks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GithubConfig {
    /// Whether they are asked for; yes, unless it is switched off.
    pub enabled: Option<bool>,
    /// The address of the API, for GitHub Enterprise.
    pub api: Option<String>,
}

/// Headless runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunsConfig {
    /// Where their records are; without it, `runs` in jackin's home.
    pub root: Option<PathBuf>,
    /// How long a run may take, such as `"30m"`; without it, as long as it takes.
    pub timeout: Option<Seconds>,
    /// Agents that are reached over the network.
    pub rest: BTreeMap<String, RestConfig>,
}

/// An agent that is reached over the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RestConfig {
    /// The address of its API.
    pub base_url: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// How long an answer may take to begin and to go on.
    pub timeout: Option<Seconds>,
    /// How often a call is tried again when the other side is busy.
    pub retries: Option<u32>,
}
