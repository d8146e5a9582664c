//! All instances, as the events tell of them. Whatever the order in which events arrive, and whatever they claim, the
//! fleet stays consistent: an event of an instance that is not there changes nothing.

use std::collections::BTreeMap;

use jackin_core::protocol::control::{OverrideAction, Resources, Snapshot};
use jackin_core::{
    AgentStatus, Attention, Cause, Event, EventKind, InstanceName, SessionId, Source, Timestamp,
};

use super::agent::{Instance, Load, Presence, Session, Turn, session_of};
use crate::host::FleetEvent;

/// Every host and every instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fleet {
    /// The hosts, each with why it cannot be used.
    pub(crate) hosts: BTreeMap<String, Option<String>>,
    pub(crate) instances: BTreeMap<InstanceName, Instance>,
}

/// What an event meant for those who act upon it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) turns: Vec<Turn>,
    /// Instances whose tags have to be asked for, because only the capsule knows what the operator hid.
    pub(crate) tags_of: Option<InstanceName>,
    /// The instance is there, perhaps again: its directory is worth a look.
    pub(crate) appeared: Option<InstanceName>,
}

impl Fleet {
    /// Takes an event.
    pub(crate) fn apply(&mut self, event: FleetEvent, now: Timestamp) -> Outcome {
        let mut outcome = Outcome::default();
        match event {
            FleetEvent::Host { host, problem } => {
                self.hosts.insert(host, problem);
            }
            FleetEvent::Appeared { host, instance, plan } => {
                self.appeared(host, &instance, plan, now);
                outcome.appeared = Some(instance);
            }
            FleetEvent::Snapshot(snapshot) => outcome.turns = self.snapshot(*snapshot, now),
            FleetEvent::Event(event) => outcome = self.event(*event),
            FleetEvent::Silent { instance, why } => {
                if let Some(instance) = self.instances.get_mut(&instance) {
                    let since =
                        if matches!(instance.presence, Presence::Silent(_)) { instance.since } else { now };
                    (instance.presence, instance.since) = (Presence::Silent(why), since);
                }
            }
            FleetEvent::Ended { instance, ending } => outcome.turns = self.ended(&instance, ending, now),
            FleetEvent::Gone { instance } => {
                self.instances.remove(&instance);
            }
        }
        outcome
    }

    fn appeared(
        &mut self,
        host: String,
        name: &InstanceName,
        plan: Option<Box<crate::host::Plan>>,
        now: Timestamp,
    ) {
        self.hosts.entry(host.clone()).or_default();
        // What was muted, selected or read before belongs to the same name; its sessions do not.
        self.instances.insert(name.clone(), Instance::new(name.clone(), host, plan, Presence::Starting, now));
    }

    fn snapshot(&mut self, snapshot: Snapshot, now: Timestamp) -> Vec<Turn> {
        let Snapshot { seq, status, tags } = snapshot;
        let Some(instance) = self.instances.get_mut(&status.instance) else { return Vec::new() };
        if instance.presence != Presence::Running {
            (instance.presence, instance.since) = (Presence::Running, now);
        }
        instance.seq = seq;
        instance.set_tags(tags);
        let mut before = std::mem::take(&mut instance.sessions);
        let mut turns = Vec::new();
        for info in status.sessions {
            let mut session = Session::of(info);
            let known = before.remove(&session.id);
            session.load = known.as_ref().and_then(|known| known.load);
            let known = known.map(|known| known.attention);
            if known != Some(session.attention) {
                turns.push(turn(&instance.name, known, &session));
            }
            instance.sessions.insert(session.id, session);
        }
        turns
    }

    fn event(&mut self, event: Event) -> Outcome {
        let mut outcome = Outcome::default();
        let Some(instance) = self.instances.get_mut(&event.instance) else { return outcome };
        // What the snapshot contains already does not happen twice.
        if event.seq != 0 && event.seq <= instance.seq {
            return outcome;
        }
        instance.seq = instance.seq.max(event.seq);
        let told = match &event.kind {
            // A crash is told by the change of state already.
            EventKind::SessionEnded { session_id, status } => {
                instance.sessions.get(session_id).is_some_and(|session| session.status == *status)
            }
            kind => !worth_remembering(kind),
        };
        if !told {
            instance.remember(event.at, session_of(&event.kind), what_happened(&event.kind));
        }
        let name = instance.name.clone();
        match event.kind {
            EventKind::SessionStarted { session_id, title } => {
                instance.sessions.insert(session_id, Session::started(session_id, title, event.at));
            }
            EventKind::SessionEnded { session_id, status } => {
                if matches!(status, AgentStatus::Ended { .. }) {
                    instance.sessions.remove(&session_id);
                } else if let Some(session) = instance.sessions.get_mut(&session_id) {
                    let before = session.attention;
                    let cause = Cause::new(Source::Process, status.to_string(), event.at);
                    session.set(status, Attention::Blocked, cause);
                    if before != session.attention {
                        outcome.turns.push(turn(&name, Some(before), session));
                    }
                }
            }
            EventKind::AgentStateChanged { session_id, state, status, cause } => {
                if let Some(session) = instance.sessions.get_mut(&session_id) {
                    let (before, was) = (session.attention, session.status.word());
                    session.set(status, state, cause);
                    // A question that became a crash is news although it was urgent before.
                    if before != state || (state == Attention::Blocked && was != session.status.word()) {
                        outcome.turns.push(turn(&name, Some(before), session));
                    }
                }
            }
            EventKind::TagObserved { tag, .. } => {
                outcome.tags_of = instance.observe(&tag.kind, &tag.value).then_some(name);
            }
            EventKind::TagOverridden { .. } => outcome.tags_of = Some(name),
            EventKind::TitleChanged { session_id, title } => {
                if let Some(session) = instance.sessions.get_mut(&session_id) {
                    session.title = title;
                }
            }
            EventKind::UsageUpdated { session_id, usage } => {
                if let Some(session) = instance.sessions.get_mut(&session_id) {
                    session.used(usage);
                }
            }
            EventKind::RecordingStarted { session_id, path } => {
                if let Some(session) = instance.sessions.get_mut(&session_id) {
                    session.recording = Some(path);
                }
            }
            EventKind::RecordingEnded { session_id, .. } => {
                if let Some(session) = instance.sessions.get_mut(&session_id) {
                    session.recording = None;
                }
            }
            _ => {}
        }
        outcome
    }

    fn ended(&mut self, name: &InstanceName, ending: Box<crate::host::Ending>, now: Timestamp) -> Vec<Turn> {
        let Some(instance) = self.instances.get_mut(name) else { return Vec::new() };
        let before = instance.attention();
        if let Some(record) = &ending.record {
            instance.set_tags(record.tags.clone());
        }
        let at = ending.record.as_ref().map_or(now, |record| record.at);
        instance.sessions.clear();
        (instance.presence, instance.since) = (Presence::Ended(ending), at);
        let (attention, status) = (instance.attention(), instance.status());
        instance.remember(at, None, status.to_string());
        if attention == Attention::Idle {
            return Vec::new();
        }
        let before = Some(before);
        vec![Turn { instance: name.clone(), session: None, before, attention, status, since: at }]
    }

    /// Takes what an instance's sessions use. Whether that looks different.
    pub(crate) fn measured(&mut self, name: &InstanceName, resources: &Resources) -> bool {
        let Some(instance) = self.instances.get_mut(name) else { return false };
        let mut different = false;
        for used in &resources.sessions {
            let Some(session) = instance.sessions.get_mut(&used.session_id) else { continue };
            let percent = session.load.and_then(|before| {
                let wall = resources.at.since(before.at).as_millis() as f64;
                let worked = used.cpu_ms.checked_sub(before.cpu_ms)? as f64;
                (wall > 0.0).then(|| worked / wall * 100.0)
            });
            let load = Load { cpu_ms: used.cpu_ms, at: resources.at, percent, memory: used.memory };
            different |= session.load.map(Load::shown) != Some(load.shown());
            session.load = Some(load);
        }
        different
    }

    /// The session, where it is there.
    pub(crate) fn session(&self, instance: &InstanceName, session: SessionId) -> Option<&Session> {
        self.instances.get(instance)?.sessions.get(&session)
    }
}

fn turn(instance: &InstanceName, before: Option<Attention>, session: &Session) -> Turn {
    Turn {
        instance: instance.clone(),
        session: Some(session.id),
        before,
        attention: session.attention,
        status: session.status.clone(),
        since: session.since,
    }
}

/// A title may change ten times a second, and usage with every message.
fn worth_remembering(kind: &EventKind) -> bool {
    !matches!(
        kind,
        EventKind::TitleChanged { .. }
            | EventKind::UsageUpdated { .. }
            | EventKind::Bell { .. }
            | EventKind::Unknown
    )
}

fn what_happened(kind: &EventKind) -> String {
    match kind {
        EventKind::SessionStarted { title, .. } => format!("started: {title}"),
        EventKind::SessionEnded { status, .. } => status.to_string(),
        EventKind::AllSessionsEnded => "all sessions ended".to_owned(),
        EventKind::AgentStateChanged { status, cause, .. } => format!("{status} [{}]", cause.source.word()),
        EventKind::TagObserved { tag, .. } => format!("declared {} {}", tag.kind, tag.value),
        EventKind::TagOverridden { kind, value, action: OverrideAction::Set } => {
            format!("operator set {kind} {value}")
        }
        EventKind::TagOverridden { kind, value, action: OverrideAction::Unset } => {
            format!("operator hid {kind} {value}")
        }
        EventKind::RecordingStarted { path, .. } => format!("recording to {path}"),
        EventKind::RecordingEnded { path, trouble, .. } => match trouble {
            None => format!("recording complete: {path}"),
            Some(trouble) => format!("recording ended early ({trouble}): {path}"),
        },
        EventKind::ClientAttached => "a terminal attached".to_owned(),
        EventKind::ClientDetached => "the terminal detached".to_owned(),
        _ => "something new".to_owned(),
    }
}
