use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::{HostContext, TagOverride};
use crate::name::cut;
use crate::{AgentStatus, Attention, SessionId, TagKind};

/// One request with the caller's token, where it has one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Call {
    /// What an agent was given in `JACKIN_AGENT_TOKEN`. The operator's socket asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What is asked.
    #[serde(flatten)]
    pub request: Request,
}

impl From<Request> for Call {
    fn from(request: Request) -> Self {
        Self { token: None, request }
    }
}

/// Why a call could not be understood.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallError {
    /// Not JSON, or not an object with a `method`.
    #[error("the message is not a call: {0}; write {{\"method\": …, \"params\": {{…}}}}")]
    NotACall(serde_json::Error),
    /// A method that does not exist, at least not in this version.
    #[error("unknown method {method:?}; the methods are {}", METHODS.join(", "))]
    UnknownMethod {
        /// What was asked for, cut if it is long.
        method: String,
    },
    /// The parameters do not fit the method.
    #[error("parameters of {method}: {error}")]
    BadParams {
        /// The method.
        method: &'static str,
        /// What does not fit.
        error: serde_json::Error,
    },
}

impl Call {
    /// Reads a message that [`Decoder::next_message`](super::Decoder::next_message) returned.
    pub fn from_json(json: &[u8]) -> Result<Self, CallError> {
        #[derive(Deserialize)]
        struct Envelope {
            #[serde(default)]
            token: Option<String>,
            method: String,
            #[serde(default)]
            params: Option<IgnoredAny>,
        }
        let Envelope { token, method, params } = serde_json::from_slice(json).map_err(CallError::NotACall)?;
        let Some(method) = METHODS.into_iter().find(|known| *known == method) else {
            return Err(CallError::UnknownMethod { method: cut(&method) });
        };
        let request = match params {
            Some(IgnoredAny) => serde_json::from_slice(json),
            // As text: reading it from anything else would be a second copy of all the readers.
            None => serde_json::from_slice(format!(r#"{{"method":"{method}","params":{{}}}}"#).as_bytes()),
        };
        let request = request.map_err(|error| CallError::BadParams { method, error })?;
        Ok(Self { token, request })
    }
}

/// Everything that can be asked. On the wire: `{"method": NAME, "params": {…}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "method", content = "params")]
#[non_exhaustive]
pub enum Request {
    /// What runs here, in short; an agent is told of its own session alone. Answer: `Status`.
    #[serde(rename = "status")]
    Status {},
    /// Everything that a subscriber needs to start from, at one sequence number. Answer: `Snapshot`.
    #[serde(rename = "snapshot")]
    Snapshot {},
    /// Starts a session in a new tab. Answer: `Created`.
    #[serde(rename = "session.create")]
    SessionCreate {
        /// What to start.
        #[serde(flatten)]
        launch: Launch,
    },
    /// Starts a session beside another one. Answer: `Created`.
    #[serde(rename = "session.split")]
    SessionSplit {
        /// The session to split; without it, the focused one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// Where the new one goes.
        direction: Direction,
        /// What to start.
        #[serde(flatten)]
        launch: Launch,
    },
    /// Ends a session. Answer: `Done`.
    #[serde(rename = "session.kill")]
    SessionKill {
        /// Which session.
        session_id: SessionId,
    },
    /// Starts an ended session again as it was started before. Answer: `Created`.
    #[serde(rename = "session.restart")]
    SessionRestart {
        /// Which session.
        session_id: SessionId,
    },
    /// A session's title; with `rename`, gives its tab that label first. Answer: `Title`.
    #[serde(rename = "session.title")]
    SessionTitle {
        /// Which session.
        session_id: SessionId,
        /// The new label; empty takes a label away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rename: Option<String>,
    },
    /// Shows a session to the operator. Answer: `Done`.
    #[serde(rename = "session.focus")]
    SessionFocus {
        /// Which session.
        session_id: SessionId,
    },
    /// Types text into a session. Refused while the agent is blocked or busy. Answer: `Done`.
    #[serde(rename = "session.send")]
    SessionSend {
        /// Which session.
        session_id: SessionId,
        /// The text.
        text: String,
        /// Whether Enter follows.
        #[serde(default = "yes")]
        submit: bool,
        /// Whether to send whatever the agent does.
        #[serde(default)]
        force: bool,
        /// How long to wait until the agent can take it; without it, not at all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait_ms: Option<u64>,
    },
    /// What stands on a session's screen. Answer: `ReadText`.
    #[serde(rename = "session.read")]
    SessionRead {
        /// Which session.
        session_id: SessionId,
        /// With or without colours.
        #[serde(default)]
        format: TextFormat,
        /// So many lines of history above the screen.
        #[serde(default)]
        history: u32,
    },
    /// Why a session's status is what it is. Answer: `Explanation`.
    #[serde(rename = "session.explain")]
    SessionExplain {
        /// Which session.
        session_id: SessionId,
    },
    /// Every event from now on, or from a sequence number. Answer: a stream of `StreamItem`.
    #[serde(rename = "events")]
    Events {
        /// The first event wanted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u64>,
    },
    /// The changing rows of one session's screen, at most ten times a second. Answer: a stream of `ScreenRows`.
    #[serde(rename = "screen")]
    Screen {
        /// Which session.
        session_id: SessionId,
    },
    /// Waits until sessions are in a state; answers at once when they are already. Answer: `Waited`.
    #[serde(rename = "wait")]
    Wait {
        /// Which sessions; none means all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sessions: Vec<SessionId>,
        /// The states, any of which will do.
        until: Vec<Until>,
        /// Whether one session is enough.
        #[serde(default, rename = "match")]
        matching: Match,
        /// How long to wait; without it, for ever.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
    },
    /// The operator has seen a session's result. Answer: `Done`.
    #[serde(rename = "ack")]
    Ack {
        /// Which session.
        session_id: SessionId,
    },
    /// What the agents declared and the operator set. Answer: `Tags`.
    #[serde(rename = "tags.list")]
    TagsList {},
    /// Puts a value on top for its kind, in the operator's name. Answer: `Done`.
    #[serde(rename = "tags.set")]
    TagsSet {
        /// Which kind.
        kind: TagKind,
        /// The value.
        value: String,
    },
    /// Hides a value until it is set again. Answer: `Done`.
    #[serde(rename = "tags.unset")]
    TagsUnset {
        /// Which kind.
        kind: TagKind,
        /// The value.
        value: String,
    },
    /// What the operator set and hid, to give it back to a capsule that is started again. Answer: `Overrides`.
    #[serde(rename = "tags.overrides")]
    TagsOverrides {},
    /// Replaces everything that the operator set and hid. Answer: `Done`.
    #[serde(rename = "tags.restore")]
    TagsRestore {
        /// What counts from now on, latest last.
        overrides: Vec<TagOverride>,
    },
    /// What the host knows of the branch's pull request, its checks and the providers' quotas. Each call replaces what the
    /// one before said. Answer: `Done`.
    #[serde(rename = "context.set")]
    ContextSet {
        /// What it knows.
        #[serde(flatten)]
        context: HostContext,
    },
    /// What the sessions use of the machine, measured when it is asked. Answer: `Resources`.
    #[serde(rename = "resources")]
    Resources {},
    /// An agent's hook tells what it does. Answer: `Done`.
    #[serde(rename = "report")]
    Report {
        /// Which session; an agent's token says it by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// Whose format the payload has, such as `claude` or `codex`.
        runtime: String,
        /// What the hook was given.
        payload: Value,
    },
    /// Records a session as asciicast. Answer: `Recording`.
    #[serde(rename = "record.start")]
    RecordStart {
        /// Which session.
        session_id: SessionId,
        /// Where to, an absolute path of a file that does not exist; without it, the capsule chooses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// How many bytes it may get; without it, 256 MiB. It then ends, and an event says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
    },
    /// Ends a recording. Answer: `Recording`.
    #[serde(rename = "record.stop")]
    RecordStop {
        /// Which session.
        session_id: SessionId,
    },
    /// Ends every session and the capsule. Answer: `Done`.
    #[serde(rename = "shutdown")]
    Shutdown {},
}

/// The names of all methods, in the order in which they are documented.
pub const METHODS: [&str; 26] = [
    "status",
    "snapshot",
    "session.create",
    "session.split",
    "session.kill",
    "session.restart",
    "session.title",
    "session.focus",
    "session.send",
    "session.read",
    "session.explain",
    "events",
    "screen",
    "wait",
    "ack",
    "tags.list",
    "tags.set",
    "tags.unset",
    "tags.overrides",
    "tags.restore",
    "context.set",
    "resources",
    "report",
    "record.start",
    "record.stop",
    "shutdown",
];

/// What to start in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Launch {
    /// The command line; empty starts `agent`, or else a shell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The configured agent to start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tab's label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The working directory; without it, the instance's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables beside those that every session gets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Whether the operator's terminal shows it at once.
    #[serde(default = "yes")]
    pub focus: bool,
}

fn yes() -> bool {
    true
}

/// Where a split puts the new pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Beside, at the right.
    Right,
    /// Below.
    Down,
}

/// How a screen is written out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TextFormat {
    /// Text alone.
    #[default]
    Text,
    /// Text with SGR sequences.
    Sgr,
}

/// How many of the sessions must be in the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Match {
    /// One is enough.
    #[default]
    Any,
    /// Every one.
    All,
}

/// A state to wait for: an attention word (`blocked`), or an exact status (`status:idle`).
///
/// ```
/// use jackin_core::{AgentStatus, Attention, protocol::control::Until};
///
/// let until: Until = "status:idle".parse()?;
/// assert!(until.is_met(&AgentStatus::idle(), Attention::Done));
/// assert!(!"idle".parse::<Until>()?.is_met(&AgentStatus::idle(), Attention::Done));
/// # Ok::<(), jackin_core::protocol::control::UnknownUntil>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(try_from = "String", into = "String")]
pub enum Until {
    /// What the operator sees.
    Attention(Attention),
    /// The word of a status.
    Status(StatusWord),
}

/// One of the words that [`AgentStatus::word`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusWord(&'static str);

impl StatusWord {
    const ALL: [&str; 8] =
        ["initializing", "unknown", "idle", "busy", "question", "ended", "crashed", "oom-killed"];

    /// The word, if it is one.
    pub fn new(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| *known == word).map(Self)
    }
}

/// The text names no state.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0:?} is not a state to wait for: write blocked, done, working, idle or unknown, or status:WORD with \
     initializing, unknown, idle, busy, question, ended, crashed or oom-killed"
)]
pub struct UnknownUntil(String);

impl Until {
    /// Whether a session in this state is what is waited for.
    pub fn is_met(&self, status: &AgentStatus, attention: Attention) -> bool {
        match self {
            Self::Attention(wanted) => *wanted == attention,
            Self::Status(StatusWord(word)) => *word == status.word(),
        }
    }
}

impl FromStr for Until {
    type Err = UnknownUntil;

    fn from_str(text: &str) -> Result<Self, UnknownUntil> {
        let known = match text.strip_prefix("status:") {
            Some(word) => StatusWord::new(word).map(Self::Status),
            None => text.parse().map(Self::Attention).ok(),
        };
        known.ok_or_else(|| UnknownUntil(cut(text)))
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attention(attention) => attention.fmt(f),
            Self::Status(StatusWord(word)) => write!(f, "status:{word}"),
        }
    }
}

impl TryFrom<String> for Until {
    type Error = UnknownUntil;

    fn try_from(text: String) -> Result<Self, UnknownUntil> {
        text.parse()
    }
}

impl From<Until> for String {
    fn from(until: Until) -> Self {
        until.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(json: &str) -> Result<Call, String> {
        Call::from_json(json.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn every_listed_method_is_a_request_and_no_other() {
        for method in METHODS {
            let error = call(&format!(r#"{{"method":"{method}","params":{{}}}}"#)).err().unwrap_or_default();
            assert!(!error.contains("unknown variant"), "{method}: {error}");
        }
        let not_listed =
            serde_json::from_str::<Request>(r#"{"method":"?","params":{}}"#).unwrap_err().to_string();
        let known: Vec<&str> = not_listed.split('`').skip(3).step_by(2).collect();
        assert_eq!(known, METHODS);
    }

    #[test]
    fn calls_read_back_as_written() {
        let launch = Launch { command: vec!["sh".into(), "-l".into()], focus: false, ..Launch::default() };
        let session_id = SessionId::new(3).unwrap();
        for request in [
            Request::Status {},
            Request::SessionSplit { session_id: Some(session_id), direction: Direction::Down, launch },
            Request::SessionSend {
                session_id,
                text: "a\nb".into(),
                submit: true,
                force: false,
                wait_ms: None,
            },
            Request::Wait {
                sessions: vec![session_id],
                until: vec![Until::Attention(Attention::Done), "status:crashed".parse().unwrap()],
                matching: Match::All,
                timeout_ms: Some(5),
            },
            Request::TagsSet { kind: TagKind::Pr, value: "https://example.com".into() },
        ] {
            let written = Call { token: Some("t".into()), request };
            let json = serde_json::to_vec(&written).unwrap();
            assert_eq!(Call::from_json(&json).unwrap(), written);
        }
    }

    #[test]
    fn bad_calls_say_what_is_wrong() {
        for (json, message) in [
            ("[]", "not a call"),
            ("17", "not a call"),
            ("{", "not a call"),
            ("\u{0}", "not a call"),
            ("{\"params\":{}}", "missing field `method`"),
            (r#"{"method":"dance"}"#, "unknown method \"dance\"; the methods are status, snapshot"),
            (r#"{"method":"session.kill"}"#, "parameters of session.kill: missing field `session_id`"),
            (r#"{"method":"session.kill","params":{"session_id":0}}"#, "parameters of session.kill"),
            (r#"{"method":"wait","params":{"until":["bored"]}}"#, "\"bored\" is not a state to wait for"),
        ] {
            let error = call(json).unwrap_err();
            assert!(error.contains(message), "{json}: {error}");
        }
        assert!(Call::from_json(b"{\"method\":\"\xff\"}").unwrap_err().to_string().contains("unicode"));
    }

    #[test]
    fn fields_and_params_of_a_newer_client_are_ignored() {
        let call = call(r#"{"method":"status","params":{"verbose":true},"trace":1}"#).unwrap();
        assert_eq!(call.request, Request::Status {});
    }
}
