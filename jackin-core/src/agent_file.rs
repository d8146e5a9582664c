//! What a capsule is told about its instance.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::protocol::control::TagOverride;
use crate::{InstanceName, RoleName};

/// The file `agent.toml`: the host writes it into an instance's run directory, the capsule reads it when it starts.
///
/// Only `version` and `instance` must be there. A reader ignores keys that it does not know, so that a newer host can
/// talk to an older capsule; another `version` is refused.
///
/// ```
/// use jackin_core::AgentFile;
///
/// let file: AgentFile = serde_json::from_str(r#"{ "version": 1, "instance": "api-fix", "agents": [{ "id": "claude" }] }"#)?;
/// assert_eq!(file.agents[0].command_line(), ["claude"]);
/// assert_eq!(file.agents[0].name(), "claude");
/// assert!(file.mux.chrome.is_none(), "left to the capsule's own default");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentFile {
    /// The form of this file: 1.
    pub version: u32,
    /// The instance's name.
    pub instance: InstanceName,
    /// The role that it was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// The workspace, as the operator calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Where sessions start: an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workdir: Option<String>,
    /// What the picker offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentEntry>,
    /// The `id` of the agent that is started at once; without it, the operator picks one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_agent: Option<String>,
    /// Whom sessions run as; without it, whom the capsule runs as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserEntry>,
    /// The operator's user on the host, where the operator's socket is bind-mounted: it is let in beside root. It must
    /// not be the user that sessions run as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_uid: Option<u32>,
    /// Whom commits are by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitIdentity>,
    /// What the instance may use.
    #[serde(default)]
    pub limits: Limits,
    /// The multiplexer's settings.
    #[serde(default)]
    pub mux: MuxEntry,
    /// The names of the skills that agents were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// What the operator set and hid in an earlier life of the instance, latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tag_overrides: Vec<TagOverride>,
}

impl AgentFile {
    /// The form that this version reads and writes.
    pub const VERSION: u32 = 1;

    /// A file that says nothing but the instance's name.
    pub fn new(instance: InstanceName) -> Self {
        Self {
            version: Self::VERSION,
            instance,
            role: None,
            workspace: None,
            workdir: None,
            agents: Vec::new(),
            initial_agent: None,
            user: None,
            operator_uid: None,
            git: None,
            limits: Limits::default(),
            mux: MuxEntry::default(),
            skills: Vec::new(),
            tag_overrides: Vec::new(),
        }
    }
}

/// An agent that can be started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentEntry {
    /// What commands know it by.
    pub id: String,
    /// Its name for people; without it, the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// The command line; without it, the id is the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Which agent it is: `claude`, `codex`, `amp`, `gemini` or `opencode`. Without it, the command line tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Variables of its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Variables that are kept from it, such as the tokens of other agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// Whether jackin may change how it is launched, so that it reports what it does.
    #[serde(default)]
    pub observable: bool,
    /// Files, or directories of files, that it writes its transcripts to, beside the runtime's usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transcripts: Vec<String>,
    /// Whether tags are taken from the lines that it prints, where nothing better is there.
    #[serde(default)]
    pub plain_tags: bool,
}

impl AgentEntry {
    /// Its name for people.
    pub fn name(&self) -> &str {
        self.display.as_deref().unwrap_or(&self.id)
    }

    /// The command line.
    pub fn command_line(&self) -> Vec<String> {
        if self.command.is_empty() { vec![self.id.clone()] } else { self.command.clone() }
    }
}

/// A user of the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UserEntry {
    /// The user's number.
    pub uid: u32,
    /// The group's number; without it, that of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
    /// The name, for `USER`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The home directory, for `HOME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
}

/// The name and address that Git puts on commits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GitIdentity {
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// What an instance may use. The container enforces processors and memory; they are here to be shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// Sessions at a time; the capsule has a limit of its own that this cannot raise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u32>,
    /// Processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
}

/// Settings of the multiplexer. What is left out is as it would be without the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MuxEntry {
    /// The keys.
    #[serde(default)]
    pub keys: KeysEntry,
    /// How many milliseconds an ESC waits for the rest of a sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escape_time: Option<u64>,
    /// Whether there is more on the operator's terminal than the panes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chrome: Option<bool>,
    /// Lines of history for each pane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_lines: Option<u32>,
    /// Bytes of history for each pane, whatever the number of lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_bytes: Option<u32>,
    /// Which sequences of a program reach the operator's terminal.
    #[serde(default)]
    pub forward: ForwardEntry,
}

/// The multiplexer's keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeysEntry {
    /// The key before every command, such as `ctrl+b`; `none` leaves all keys to the programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// The keys of copy mode: `vi` or `emacs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<String>,
    /// Keys after the prefix, and the command that each means; `none` takes a key's meaning away.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bind: BTreeMap<String, String>,
}

/// Which kinds of sequences the focused pane's program may send to the operator's terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForwardEntry {
    /// Desktop notifications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notifications: Option<bool>,
    /// Progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<bool>,
    /// Writing the clipboard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clipboard: Option<bool>,
    /// Reading the clipboard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clipboard_read: Option<bool>,
    /// Images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graphics: Option<bool>,
    /// Everything that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<bool>,
}
