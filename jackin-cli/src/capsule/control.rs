//! What the daemon answers to each call.

use std::sync::Arc;

use jackin_core::protocol::Version;
use jackin_core::protocol::control::{
    self, Call, ControlError, Created, Direction, Done, ErrorCode, Launch, OverrideAction, Overrides,
    ReadText, Reply, Request, Snapshot, Status, TagOverride, Tags, TextFormat, Title,
};
use jackin_core::{Attention, EventKind, SessionId, TagKind};
use jackin_mux::Place;
use serde::Serialize;
use tokio::sync::watch;

use super::connection::Caller;
use super::daemon::{Daemon, Outcome, Shown, Start};
use super::events::Feed;
use super::now;
use super::peer::belongs_to;
use super::refusals;
use super::session::Session;

/// The answer to a call: one message, or what the connection makes messages of.
#[derive(Debug)]
pub(super) enum Answer {
    Message(Vec<u8>),
    Feed(Feed),
    /// What becomes of a recording's file, as soon as the disk has answered.
    Recording(Outcome),
    /// A screen, now and whenever it changes.
    Screen(watch::Receiver<Arc<Shown>>),
    /// The sessions' first processes, for whoever measures what they use.
    Resources(Vec<(SessionId, u32)>),
}

impl Daemon {
    pub(super) fn answer(&mut self, caller: Caller, call: Call) -> Answer {
        let Call { token, request } = call;
        if let Err(error) = self.authorize(caller, token.as_deref(), &request) {
            refusals::log(|| format!("{caller} was refused {}: {}", method(&request), error.message));
            return message::<Done>(Err(error));
        }
        match request {
            Request::Status {} => message(Ok(match caller {
                Caller::Operator => self.status(),
                Caller::Agent(_) => self.own_status(token.as_deref()),
            })),
            Request::Snapshot {} => message(Ok(Snapshot {
                seq: self.log.seq(),
                status: self.status(),
                tags: self.tags.entries(),
            })),
            Request::Events { from } => Answer::Feed(self.log.subscribe(from)),
            Request::SessionTitle { session_id, rename } => message(self.title(session_id, rename)),
            Request::SessionRead { session_id, format, history } => {
                message(self.read(session_id, format, history))
            }
            Request::SessionSend { session_id, text, submit, force, .. } => {
                message(self.send(session_id, &text, submit, force))
            }
            Request::SessionExplain { session_id } => {
                message(self.explain_ended(session_id).map_or_else(|| self.explain(session_id), Ok))
            }
            Request::SessionCreate { launch } => message(self.create(Place::Tab, launch)),
            Request::SessionSplit { session_id, direction, launch } => {
                message(self.split(session_id, direction, launch))
            }
            Request::SessionFocus { session_id } => message(self.focus(session_id)),
            Request::SessionKill { session_id } => message(self.find(session_id).map(drop).map(|()| {
                self.stop_one(session_id);
                Done {}
            })),
            Request::SessionRestart { session_id } => message(self.restart(session_id)),
            Request::Ack { session_id } => message(self.acknowledge_any(session_id)),
            Request::TagsList {} => message(Ok(Tags { tags: self.tags.entries() })),
            Request::TagsSet { kind, value } => message(self.override_tag(kind, value, OverrideAction::Set)),
            Request::TagsUnset { kind, value } => {
                message(self.override_tag(kind, value, OverrideAction::Unset))
            }
            Request::TagsOverrides {} => message(Ok(Overrides { overrides: self.tags.overrides() })),
            Request::TagsRestore { overrides } => message(self.tags.restore(&overrides).map(|()| Done {})),
            Request::ContextSet { context } => message(Ok(self.set_context(context))),
            Request::Screen { session_id } => match self.watch_screen(session_id) {
                Ok(latest) => Answer::Screen(latest),
                Err(error) => message::<Done>(Err(error)),
            },
            Request::Resources {} => {
                let leaders = self.sessions.values().map(|session| Some((session.id, session.leader()?)));
                Answer::Resources(leaders.flatten().collect())
            }
            Request::Report { session_id, runtime, payload } => {
                let own =
                    self.sessions.values().find(|session| token.as_deref() == Some(session.token.as_str()));
                let id = session_id.or(own.map(|session| session.id)).or(self.only_session());
                message(self.report(id, &runtime, &payload))
            }
            Request::RecordStart { session_id, path, limit } => {
                recording(self.start_recording(session_id, path, limit))
            }
            Request::RecordStop { session_id } => recording(self.stop_recording(session_id)),
            Request::Shutdown {} => {
                self.stop();
                message(Ok(Done {}))
            }
            _ => message::<Done>(Err(ControlError::new(
                ErrorCode::Unsupported,
                "this capsule does not serve this call",
            ))),
        }
    }

    /// The operator may do everything. An agent may report about itself and ask how it is seen, with the token that it
    /// was given.
    fn authorize(&self, caller: Caller, token: Option<&str>, request: &Request) -> Result<(), ControlError> {
        let forbidden = |message| Err(ControlError::new(ErrorCode::Forbidden, message));
        let own = self.sessions.values().find(|session| token == Some(session.token.as_str()));
        match (caller, request, own) {
            (Caller::Operator, ..) => Ok(()),
            (Caller::Agent(_), _, None) => {
                forbidden("the token in JACKIN_AGENT_TOKEN is missing or not that of a running session")
            }
            (Caller::Agent(pid), _, Some(own)) if !self.is_in_session(pid, own) => {
                forbidden("the token in JACKIN_AGENT_TOKEN is that of another session")
            }
            (Caller::Agent(_), Request::Report { session_id, .. }, Some(own))
                if session_id.is_none_or(|id| id == own.id) =>
            {
                Ok(())
            }
            (Caller::Agent(_), Request::Status {}, Some(_)) => Ok(()),
            (Caller::Agent(_), ..) => {
                forbidden("an agent may report about itself, ask for its own status, and nothing else")
            }
        }
    }

    /// Whether a process may use a session's token. Where agents are the operator's equals, tokens only tell who speaks.
    fn is_in_session(&self, pid: Option<u32>, session: &Session) -> bool {
        self.user.is_none() || pid.zip(session.leader()).is_some_and(|(pid, leader)| belongs_to(pid, leader))
    }

    pub(super) fn find(&self, id: SessionId) -> Result<&Session, ControlError> {
        self.sessions.get(&id).ok_or_else(|| {
            let message = if self.has_ended(id) {
                format!("session {id} has ended: `restart` starts it again, `ack` forgets it")
            } else {
                format!("there is no session {id}; `status` lists them")
            };
            ControlError::new(ErrorCode::NotFound, message)
        })
    }

    fn create(&mut self, place: Place, launch: Launch) -> Result<Created, ControlError> {
        let Launch { command, agent, name, cwd, env, focus } = launch;
        let start = Start { command, agent, cwd: cwd.map(Into::into), env };
        match self.open(place, name.as_deref(), focus, start) {
            Ok(session_id) => Ok(Created { session_id }),
            Err(error) => Err(ControlError::new(ErrorCode::Failed, format!("{error:#}"))),
        }
    }

    fn split(
        &mut self,
        beside: Option<SessionId>,
        direction: Direction,
        launch: Launch,
    ) -> Result<Created, ControlError> {
        let pane = match beside {
            Some(id) => self.find(id)?.pane,
            None => self.mux.focused().ok_or_else(|| {
                ControlError::new(ErrorCode::NotFound, "there is no pane to split: use `create`")
            })?,
        };
        let place = match direction {
            Direction::Right => Place::Right(pane),
            Direction::Down => Place::Down(pane),
        };
        self.create(place, launch)
    }

    fn focus(&mut self, id: SessionId) -> Result<Done, ControlError> {
        let pane = self.find(id)?.pane;
        let now = self.steady();
        self.mux.focus(pane, now);
        Ok(Done {})
    }

    fn status(&self) -> Status {
        let running = self.sessions.values().map(|session| session.observed.attention());
        Status {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: Version::CURRENT,
            instance: self.instance.clone(),
            attached: self.is_attached(),
            attention: Attention::roll_up(running.chain(self.ended_attention())),
            sessions: self.session_infos(),
        }
    }

    /// What an agent is told: its own session, and not whether anybody is watching.
    fn own_status(&self, token: Option<&str>) -> Status {
        let own = self.sessions.values().find(|session| token == Some(session.token.as_str()));
        Status {
            attached: false,
            attention: own.map_or_else(Attention::default, |own| own.observed.attention()),
            sessions: own.map(|own| self.session_info(own)).into_iter().collect(),
            ..self.status()
        }
    }

    fn override_tag(
        &mut self,
        kind: TagKind,
        value: String,
        action: OverrideAction,
    ) -> Result<Done, ControlError> {
        let tag = self.tags.put(&TagOverride { kind, value, action, at: now() })?;
        self.publish(EventKind::TagOverridden { kind: tag.kind, value: tag.value, action: tag.action });
        Ok(Done {})
    }

    fn title(&mut self, id: SessionId, rename: Option<String>) -> Result<Title, ControlError> {
        self.find(id)?;
        if let Some(title) = rename {
            self.set_title(id, &title);
        }
        Ok(Title { title: self.find(id)?.title.clone() })
    }

    fn read(&self, id: SessionId, format: TextFormat, history: u32) -> Result<ReadText, ControlError> {
        if let Some(read) = self.read_ended(id, format, history) {
            return Ok(read);
        }
        let pane = self.find(id)?.pane;
        let history = history as usize;
        let text = match format {
            TextFormat::Sgr => self.mux.styled_text(pane, history),
            TextFormat::Text => self.mux.text(pane, history),
        }
        .unwrap_or_default();
        let size = self.mux.size(pane).unwrap_or_default();
        let rows = text.lines().count();
        Ok(ReadText { text, size, history: rows.saturating_sub(size.rows.into()) as u32 })
    }

    fn send(&mut self, id: SessionId, text: &str, submit: bool, force: bool) -> Result<Done, ControlError> {
        let session = self.find(id)?;
        let attention = session.observed.attention();
        if !force && matches!(attention, Attention::Blocked | Attention::Working) {
            return Err(ControlError::new(
                ErrorCode::Refused,
                format!(
                    "session {id} is {attention} ({}): what is typed now would answer it; use force to send all the same",
                    session.observed.authority().status()
                ),
            ));
        }
        let mut bytes = self.mux.as_paste(session.pane, text).unwrap_or_default();
        if submit {
            bytes.push(b'\r');
        }
        match session.write(bytes.clone()) {
            Ok(()) => {
                self.typed(id, &bytes);
                Ok(Done {})
            }
            Err(_) => Err(ControlError::new(ErrorCode::LimitReached, "the program does not read its input")),
        }
    }

    /// With one session, there is no doubt which one is meant.
    fn only_session(&self) -> Option<SessionId> {
        let mut ids = self.sessions.keys().copied();
        ids.next().filter(|_| ids.next().is_none())
    }
}

fn recording(outcome: Result<Outcome, ControlError>) -> Answer {
    outcome.map_or_else(|error| message::<Done>(Err(error)), Answer::Recording)
}

/// What a call is named on the wire.
fn method(request: &Request) -> String {
    let text = serde_json::to_vec(request).unwrap_or_default();
    let named = serde_json::from_slice::<serde_json::Value>(&text).ok();
    named.and_then(|named| Some(named["method"].as_str()?.to_owned())).unwrap_or_default()
}

fn message<T: Serialize>(result: Result<T, ControlError>) -> Answer {
    let mut wire = Vec::new();
    if let Err(error) = control::encode(&Reply::from(result), &mut wire) {
        let error = ControlError::new(ErrorCode::Failed, error.to_string());
        control::encode(&Reply::<Done>::Error(error), &mut wire).expect("an error message is short");
    }
    Answer::Message(wire)
}
