//! What agents' runtimes say, and what subscribers hear.

use serde::{Deserialize, Serialize};

use crate::protocol::control::OverrideAction;
use crate::{AgentStatus, AgentTag, Attention, Cause, InstanceName, SessionId, TagKind, Timestamp};

/// One thing that a runtime's structured output said, whichever runtime it was.
///
/// Decoders produce these; the status authority and the tag extractor consume them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RuntimeEvent {
    /// The runtime came up, or started another conversation.
    SessionStarted {
        /// The runtime's own id for the conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runtime_session: Option<String>,
        /// The model that it uses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The agent begins to work on a prompt.
    TurnStarted,
    /// A piece of the assistant's own text to the operator: never the prompt, thinking, a tool's result or a
    /// sub-agent's words.
    AssistantText {
        /// Pieces with the same id belong to one message.
        message_id: String,
        /// The text; cut anywhere between characters.
        chunk: String,
        /// Whether the message is complete after this piece.
        end: bool,
    },
    /// The agent runs a tool.
    ToolStarted {
        /// The runtime's id of the call.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// A tool came back.
    ToolFinished {
        /// The id given when it started.
        id: String,
        /// Whether the tool failed. The agent may go on all the same.
        failed: bool,
    },
    /// The agent waits for the operator.
    Waiting {
        /// The runtime's id of the request, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// What it asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
    },
    /// A request was answered or withdrawn; without an id, all of them.
    WaitingResolved {
        /// The id given when the wait began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// The agent stopped working on the prompt.
    TurnEnded {
        /// Why the turn failed, where it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// Tokens and cost, as the agent reports them.
    Usage(Usage),
    /// A sub-agent began.
    SubAgentStarted {
        /// The runtime's id of it.
        id: String,
    },
    /// A sub-agent ended.
    SubAgentEnded {
        /// The id given when it started.
        id: String,
    },
    /// The runtime says that it ends. The process's exit is told by its wait status, not by this.
    Ended,
}

/// What an agent reports to have used. Every figure is optional: absent is not zero.
///
/// Whether figures of two reports add up or replace each other is the reporting runtime's affair; the decoder says
/// so in `scope`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// What the figures cover.
    #[serde(default)]
    pub scope: UsageScope,
    /// Tokens read, cached ones not included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Cost in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// What a [`Usage`] covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UsageScope {
    /// One turn: reports add up.
    #[default]
    Turn,
    /// The session so far: the latest report replaces the earlier ones.
    Session,
}

/// An event of one instance, as subscribers receive it.
///
/// `seq` counts every event of an instance from 1 without a gap, so that a subscriber can tell what it missed and
/// ask again from there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// Position in the instance's stream.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// Where it happened.
    pub instance: InstanceName,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened in an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EventKind {
    /// A session's process was started.
    SessionStarted {
        /// Which session.
        session_id: SessionId,
        /// The command line's first word or the agent's display name.
        title: String,
    },
    /// A session's process ended.
    SessionEnded {
        /// Which session.
        session_id: SessionId,
        /// How.
        status: AgentStatus,
    },
    /// The last session ended; the instance follows.
    AllSessionsEnded,
    /// A session's status changed.
    AgentStateChanged {
        /// Which session.
        session_id: SessionId,
        /// What the operator sees.
        state: Attention,
        /// The status behind it.
        status: AgentStatus,
        /// Why.
        cause: Cause,
    },
    /// An agent declared something.
    TagObserved {
        /// Which session.
        session_id: SessionId,
        /// What it declared.
        #[serde(flatten)]
        tag: AgentTag,
        /// Whether it was read off the lines that the program printed, which may be anybody's words, for want of the
        /// runtime's own account of the assistant's text.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        plain: bool,
    },
    /// The operator put a value on top of its kind, or hid it.
    TagOverridden {
        /// Which kind.
        kind: TagKind,
        /// The value.
        value: String,
        /// What was done with it.
        action: OverrideAction,
    },
    /// A session's terminal title changed.
    TitleChanged {
        /// Which session.
        session_id: SessionId,
        /// The new title, free of control characters.
        title: String,
    },
    /// An agent reported tokens or cost.
    UsageUpdated {
        /// Which session.
        session_id: SessionId,
        /// The report.
        usage: Usage,
    },
    /// A session rang the bell.
    Bell {
        /// Which session.
        session_id: SessionId,
    },
    /// A session is being recorded.
    RecordingStarted {
        /// Which session.
        session_id: SessionId,
        /// The recording's file.
        path: String,
    },
    /// A recording has ended, and its file is complete.
    RecordingEnded {
        /// Which session.
        session_id: SessionId,
        /// The recording's file.
        path: String,
        /// Why, where neither the operator nor the session ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trouble: Option<String>,
    },
    /// An operator's terminal was attached.
    ClientAttached,
    /// It is gone again.
    ClientDetached,
    /// An event that this version does not know.
    #[serde(other)]
    Unknown,
}

/// A change of one session's status, as [`StatusBus`](crate::StatusBus) carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusEvent {
    /// The status.
    pub status: AgentStatus,
    /// What the operator sees.
    pub attention: Attention,
    /// Why.
    pub cause: Cause,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[test]
    fn events_on_the_wire() {
        let session_id = SessionId::new(2).unwrap();
        let event = Event {
            seq: 7,
            at: Timestamp::from_millis(1_000),
            instance: InstanceName::new("demo").unwrap(),
            kind: EventKind::AgentStateChanged {
                session_id,
                state: Attention::Working,
                status: AgentStatus::Busy { since: Timestamp::from_millis(990) },
                cause: Cause::new(Source::Stream, "turn started", Timestamp::from_millis(990)),
            },
        };
        let json = r#"{"seq":7,"at":1000,"instance":"demo","event":"agent-state-changed","session_id":2,"state":"working","status":{"kind":"busy","since":990},"cause":{"source":"stream","evidence":"turn started","at":990}}"#;
        assert_eq!(serde_json::to_string(&event).unwrap(), json);
        assert_eq!(serde_json::from_str::<Event>(json).unwrap(), event);

        let tag = AgentTag { namespace: "jackin".into(), kind: TagKind::Pr, value: "https://x/y".into() };
        let observed = |plain| EventKind::TagObserved { session_id, tag: tag.clone(), plain };
        let json = serde_json::to_string(&observed(false)).unwrap();
        assert_eq!(
            json,
            r#"{"event":"tag-observed","session_id":2,"namespace":"jackin","kind":"pr","value":"https://x/y"}"#
        );
        let json = serde_json::to_string(&observed(true)).unwrap();
        assert!(json.ends_with(r#","plain":true}"#), "{json}");
        assert_eq!(serde_json::from_str::<EventKind>(&json).unwrap(), observed(true));
    }

    /// Fields of an event and of what happened stand beside each other: none may have the name of another.
    #[test]
    fn every_event_reads_back() {
        let session_id = SessionId::new(2).unwrap();
        let text = || "x".to_owned();
        let status = || AgentStatus::Crashed { exit_code: 7 };
        let cause = Cause::new(Source::Stream, "x", Timestamp::from_millis(1));
        let tag = AgentTag { namespace: text(), kind: TagKind::Pr, value: text() };
        for kind in [
            EventKind::SessionStarted { session_id, title: text() },
            EventKind::SessionEnded { session_id, status: status() },
            EventKind::AllSessionsEnded,
            EventKind::AgentStateChanged { session_id, state: Attention::Done, status: status(), cause },
            EventKind::TagObserved { session_id, tag, plain: true },
            EventKind::TagOverridden { kind: TagKind::Pr, value: text(), action: OverrideAction::Unset },
            EventKind::TitleChanged { session_id, title: text() },
            EventKind::UsageUpdated { session_id, usage: Usage { cost_usd: Some(1.5), ..Usage::default() } },
            EventKind::Bell { session_id },
            EventKind::RecordingStarted { session_id, path: text() },
            EventKind::RecordingEnded { session_id, path: text(), trouble: Some(text()) },
            EventKind::ClientAttached,
            EventKind::ClientDetached,
        ] {
            let instance = InstanceName::new("demo").unwrap();
            let event = Event { seq: 7, at: Timestamp::from_millis(1_000), instance, kind };
            let json = serde_json::to_string(&event).unwrap();
            let read = serde_json::from_str::<Event>(&json);
            assert_eq!(read.unwrap_or_else(|error| panic!("{error}: {json}")), event);
        }
    }

    #[test]
    fn an_event_of_a_newer_writer_is_still_an_event() {
        let json = r#"{"seq":8,"at":1,"instance":"demo","event":"coffee-ready","cups":2}"#;
        assert_eq!(serde_json::from_str::<Event>(json).unwrap().kind, EventKind::Unknown);
    }
}
