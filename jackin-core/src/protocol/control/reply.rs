use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::protocol::Version;
use crate::{
    AgentStatus, Attention, Cause, Event, InstanceName, PaneId, SessionId, Size, TagKind, Timestamp, Usage,
};

/// The answer to a call: `{"result": …}` or `{"error": {…}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reply<T> {
    /// What was asked for.
    Result(T),
    /// Why it was not done.
    Error(ControlError),
}

impl<T> Reply<T> {
    /// The same as a `Result`.
    pub fn into_result(self) -> Result<T, ControlError> {
        match self {
            Self::Result(result) => Ok(result),
            Self::Error(error) => Err(error),
        }
    }
}

impl<T> From<Result<T, ControlError>> for Reply<T> {
    fn from(result: Result<T, ControlError>) -> Self {
        match result {
            Ok(result) => Self::Result(result),
            Err(error) => Self::Error(error),
        }
    }
}

/// Why a call was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{message}")]
pub struct ControlError {
    /// For programs.
    pub code: ErrorCode,
    /// For people: what was wrong and what to do.
    pub message: String,
}

impl ControlError {
    /// An error with a message for a person.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// What kind of error it is. A code of a newer capsule reads as `Other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(from = "String", into = "&'static str")]
#[non_exhaustive]
pub enum ErrorCode {
    /// The call could not be understood.
    BadRequest,
    /// The method does not exist.
    UnknownMethod,
    /// The method exists, but this capsule does not serve it.
    Unsupported,
    /// The session, value or file does not exist.
    NotFound,
    /// The agent is blocked or busy.
    Refused,
    /// The caller may not do this.
    Forbidden,
    /// The time ran out.
    Timeout,
    /// A limit is reached.
    LimitReached,
    /// Something failed that should not.
    Failed,
    /// A code that this version does not know.
    Other,
}

impl ErrorCode {
    const KNOWN: [Self; 9] = [
        Self::BadRequest,
        Self::UnknownMethod,
        Self::Unsupported,
        Self::NotFound,
        Self::Refused,
        Self::Forbidden,
        Self::Timeout,
        Self::LimitReached,
        Self::Failed,
    ];

    /// The code on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::BadRequest => "bad-request",
            Self::UnknownMethod => "unknown-method",
            Self::Unsupported => "unsupported",
            Self::NotFound => "not-found",
            Self::Refused => "refused",
            Self::Forbidden => "forbidden",
            Self::Timeout => "timeout",
            Self::LimitReached => "limit-reached",
            Self::Failed => "failed",
            Self::Other => "other",
        }
    }
}

impl From<String> for ErrorCode {
    fn from(word: String) -> Self {
        Self::KNOWN.into_iter().find(|code| code.word() == word).unwrap_or(Self::Other)
    }
}

impl From<ErrorCode> for &'static str {
    fn from(code: ErrorCode) -> Self {
        code.word()
    }
}

/// It was done; there is nothing more to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Done {}

/// What runs in an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {
    /// The daemon's process.
    pub pid: u32,
    /// The daemon's release.
    pub version: String,
    /// What it speaks.
    pub protocol: Version,
    /// Its name.
    pub instance: InstanceName,
    /// Whether an operator's terminal is attached.
    pub attached: bool,
    /// The most urgent state of its sessions.
    pub attention: Attention,
    /// Its sessions, in the order in which they were started.
    pub sessions: Vec<SessionInfo>,
}

/// One session, as it is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// The pane that it is shown in; none once that was removed.
    #[serde(default)]
    pub pane: Option<PaneId>,
    /// The position of that pane's tab, counted from 1.
    #[serde(default)]
    pub tab: Option<u32>,
    /// The title for people.
    pub title: String,
    /// The agent's name, where it is known to be one.
    #[serde(default)]
    pub agent: Option<String>,
    /// What it does.
    pub status: AgentStatus,
    /// What that means for the operator.
    pub attention: Attention,
    /// Since when.
    pub since: Timestamp,
    /// Why.
    pub cause: Cause,
    /// The size of its terminal.
    pub size: Size,
    /// Its working directory, where that can be known.
    #[serde(default)]
    pub cwd: Option<String>,
    /// What it used so far, as the agent reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The file that it is recorded to, while it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
}

/// Everything at one sequence number: events with a greater one come after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// The last event that is contained in it; 0 before the first.
    pub seq: u64,
    /// What runs.
    #[serde(flatten)]
    pub status: Status,
    /// What was declared.
    pub tags: Vec<TagEntry>,
}

/// A session was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Created {
    /// Its id.
    pub session_id: SessionId,
}

/// A session's title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Title {
    /// The title.
    pub title: String,
}

/// A session's screen, written out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadText {
    /// The rows, each ended by a newline, trailing blanks removed.
    pub text: String,
    /// The screen's size.
    pub size: Size,
    /// How many of the rows are history above the screen.
    pub history: u32,
}

/// The rows of a session's screen that changed; the first time, all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScreenRows {
    /// The screen's size. Another one than before means that every row is told anew.
    pub size: Size,
    /// Row number, counted from 0, and the row as SGR text: it begins and ends without attributes.
    pub rows: Vec<(u16, String)>,
    /// Whether further rows of the same moment follow, because they do not fit into one message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// Why a status is what it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// The verdict.
    pub status: AgentStatus,
    /// The evidence that won.
    pub cause: Cause,
    /// The evidence that lost.
    pub considered: Vec<Considered>,
    /// What looks wrong although the status is what it is, in words for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<String>,
}

/// Evidence that did not decide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Considered {
    /// What it would have meant.
    pub status: AgentStatus,
    /// The evidence.
    pub cause: Cause,
    /// Why it lost.
    pub because: String,
}

/// One element of the `events` stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "item", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StreamItem {
    /// The next event.
    Event(Event),
    /// Events were lost, because the subscriber was slow or asked for ones that are no longer kept. Read the
    /// snapshot and go on.
    Missed {
        /// How many.
        count: u64,
    },
}

/// The outcome of a `wait`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waited {
    /// The sessions that were in the state.
    pub sessions: Vec<SessionId>,
}

/// Everything declared in an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tags {
    /// The values, latest of each kind last.
    pub tags: Vec<TagEntry>,
}

/// One declared value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TagEntry {
    /// Which kind.
    pub kind: TagKind,
    /// The value.
    pub value: String,
    /// Who provided it.
    pub provider: Provider,
}

/// Who provided a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// The agent said it.
    Agent,
    /// The operator set it.
    Operator,
}

/// Everything that the operator set and hid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overrides {
    /// Latest last.
    pub overrides: Vec<TagOverride>,
}

/// One thing that the operator did about a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TagOverride {
    /// Which kind.
    pub kind: TagKind,
    /// The value.
    pub value: String,
    /// What to do with it.
    pub action: OverrideAction,
    /// When it was done.
    #[serde(default)]
    pub at: Timestamp,
}

/// What the operator did about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OverrideAction {
    /// Put it on top of its kind.
    Set,
    /// Hid it, whoever says it.
    Unset,
}

/// What an instance uses of its machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resources {
    /// When it was measured.
    pub at: Timestamp,
    /// The sessions, in the order of their ids.
    pub sessions: Vec<SessionResources>,
}

/// What a session's processes use. Two answers give the load: processor time over the time between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionResources {
    /// Which session.
    pub session_id: SessionId,
    /// Processor time used so far, in milliseconds, with that of children that have ended.
    pub cpu_ms: u64,
    /// Resident memory in bytes; what processes share counts for each of them.
    pub memory: u64,
    /// How many processes there are.
    pub processes: u32,
}

/// A recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recording {
    /// Its file.
    pub path: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventKind;

    #[test]
    fn replies_on_the_wire() {
        let good: Reply<Created> = Ok(Created { session_id: SessionId::new(4).unwrap() }).into();
        assert_eq!(serde_json::to_string(&good).unwrap(), r#"{"result":{"session_id":4}}"#);
        let bad: Reply<Done> = Err(ControlError::new(ErrorCode::Refused, "it is busy")).into();
        let json = serde_json::to_string(&bad).unwrap();
        assert_eq!(json, r#"{"error":{"code":"refused","message":"it is busy"}}"#);
        let read: Reply<Done> = serde_json::from_str(&json).unwrap();
        assert_eq!(read.into_result().unwrap_err().to_string(), "it is busy");
    }

    #[test]
    fn a_code_of_a_newer_capsule_is_still_an_error() {
        for code in ErrorCode::KNOWN {
            assert_eq!(ErrorCode::from(code.word().to_owned()), code);
        }
        let error: ControlError = serde_json::from_str(r#"{"code":"tired","message":"later"}"#).unwrap();
        assert_eq!(error.code, ErrorCode::Other);
    }

    #[test]
    fn stream_items_on_the_wire() {
        let item = StreamItem::Event(Event {
            seq: 1,
            at: Timestamp::from_millis(2),
            instance: InstanceName::new("demo").unwrap(),
            kind: EventKind::ClientAttached,
        });
        let json = serde_json::to_string(&item).unwrap();
        assert_eq!(json, r#"{"item":"event","seq":1,"at":2,"instance":"demo","event":"client-attached"}"#);
        assert_eq!(serde_json::from_str::<StreamItem>(&json).unwrap(), item);
        let missed = StreamItem::Missed { count: 9 };
        assert_eq!(serde_json::to_string(&missed).unwrap(), r#"{"item":"missed","count":9}"#);
    }
}
