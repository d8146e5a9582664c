//! What happened in instances: a file for each, `history/INSTANCE.jsonl` in jackin's home, a line for each event. Whoever
//! follows an instance writes it (`jackin watch`, the console, an attached terminal); two at once write the same lines, of
//! which one is read. Nothing depends on it, and a disk that does not keep up costs the history and nothing else.

mod read;
mod write;

use jackin_core::protocol::control::{SessionInfo, Snapshot};
use jackin_core::{AgentStatus, Event, EventKind, InstanceName, SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use super::follow::FleetEvent;
use crate::capsule;

pub(super) use read::{Telling, read};
pub(super) use write::{History, files_of};

/// A line of the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    /// What a host noticed.
    Noticed(Noticed),
    /// What a capsule told.
    Happened(Event),
}

/// What a host noticed of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Noticed {
    /// How it was when somebody began to follow it.
    Seen { at: Timestamp, instance: InstanceName, sessions: Vec<SeenSession> },
    /// It has ended.
    InstanceEnded { at: Timestamp, instance: InstanceName, status: AgentStatus },
}

/// A session as it was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SeenSession {
    session_id: SessionId,
    title: String,
    status: AgentStatus,
    since: Timestamp,
}

impl Line {
    /// What of an event is kept: statuses, tags, beginnings and ends.
    pub(super) fn of(event: &FleetEvent) -> Option<Self> {
        match event {
            FleetEvent::Event(event) if is_kept(&event.kind) => Some(Self::Happened((**event).clone())),
            FleetEvent::Snapshot(snapshot) => Some(Self::seen(snapshot)),
            FleetEvent::Ended { instance, ending } => {
                let at = ending.record.as_ref().map_or_else(capsule::now, |record| record.at);
                Some(Self::ended(instance, at, ending.status()))
            }
            _ => None,
        }
    }

    fn ended(instance: &InstanceName, at: Timestamp, status: AgentStatus) -> Self {
        Self::Noticed(Noticed::InstanceEnded { at, instance: instance.clone(), status })
    }

    fn seen(snapshot: &Snapshot) -> Self {
        let session = |session: &SessionInfo| SeenSession {
            session_id: session.id,
            title: session.title.clone(),
            status: session.status.clone(),
            since: session.since,
        };
        let status = &snapshot.status;
        let sessions = status.sessions.iter().map(session).collect();
        Self::Noticed(Noticed::Seen { at: capsule::now(), instance: status.instance.clone(), sessions })
    }

    pub(super) fn instance(&self) -> &InstanceName {
        match self {
            Self::Happened(event) => &event.instance,
            Self::Noticed(Noticed::Seen { instance, .. } | Noticed::InstanceEnded { instance, .. }) => {
                instance
            }
        }
    }

    pub(super) fn at(&self) -> Timestamp {
        match self {
            Self::Happened(event) => event.at,
            Self::Noticed(Noticed::Seen { at, .. } | Noticed::InstanceEnded { at, .. }) => *at,
        }
    }
}

fn is_kept(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::SessionStarted { .. }
            | EventKind::SessionEnded { .. }
            | EventKind::AllSessionsEnded
            | EventKind::AgentStateChanged { .. }
            | EventKind::TagObserved { .. }
            | EventKind::TagOverridden { .. }
    )
}
