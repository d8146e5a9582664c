//! What the daemon answers to each call.

use jackin_core::protocol::Version;
use jackin_core::protocol::control::{
    self, Call, ControlError, Done, ErrorCode, ReadText, Reply, Request, Snapshot, Status, Tags, TextFormat,
    Title,
};
use jackin_core::{AgentStatus, Attention, RuntimeEvent, SessionId, Source, one_line};
use serde::Serialize;

use super::connection::Caller;
use super::daemon::Daemon;
use super::events::Feed;
use super::now;

/// The answer to a call: one message, or a feed of events that the connection turns into a stream.
#[derive(Debug)]
pub(super) enum Answer {
    Message(Vec<u8>),
    Feed(Feed),
}

impl Daemon {
    pub(super) fn answer(&mut self, caller: Caller, call: Call) -> Answer {
        let Call { token, request } = call;
        if let Err(error) = self.authorize(caller, token.as_deref(), &request) {
            return message::<Done>(Err(error));
        }
        match request {
            Request::Status {} => message(Ok(self.status())),
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
            Request::SessionSend { session_id, text, submit, force, wait_ms: None } => {
                message(self.send(session_id, &text, submit, force))
            }
            Request::SessionKill { session_id } => message(self.find(session_id).map(|()| {
                self.stop();
                Done {}
            })),
            Request::Ack { session_id } => message(self.find(session_id).map(|()| {
                self.acknowledge();
                Done {}
            })),
            Request::TagsList {} => message(Ok(Tags { tags: self.tags.entries() })),
            Request::TagsSet { kind, value } => message(self.tags.set(&kind, &value, now())),
            Request::TagsUnset { kind, value } => message(self.tags.unset(&kind, &value, now())),
            Request::Report { session_id, runtime, payload } => {
                message(self.report(session_id, &runtime, payload))
            }
            Request::Shutdown {} => {
                self.stop();
                message(Ok(Done {}))
            }
            _ => message::<Done>(Err(ControlError::new(
                ErrorCode::Unsupported,
                "this capsule runs one session and does not serve this call",
            ))),
        }
    }

    /// The operator may do everything. An agent may report about itself, with the token that it was given.
    fn authorize(&self, caller: Caller, token: Option<&str>, request: &Request) -> Result<(), ControlError> {
        let forbidden = |message| Err(ControlError::new(ErrorCode::Forbidden, message));
        match (caller, request) {
            (Caller::Operator, _) => Ok(()),
            (Caller::Agent, _) if token != Some(self.session.token.as_str()) => {
                forbidden("the token in JACKIN_AGENT_TOKEN is missing or not that of a running session")
            }
            (Caller::Agent, Request::Report { session_id, .. })
                if session_id.is_none_or(|id| id == self.session.id) =>
            {
                Ok(())
            }
            (Caller::Agent, _) => forbidden("an agent may report about itself and nothing else"),
        }
    }

    fn find(&self, id: SessionId) -> Result<(), ControlError> {
        if id == self.session.id {
            Ok(())
        } else {
            Err(ControlError::new(
                ErrorCode::NotFound,
                format!("there is no session {id}; `status` lists them"),
            ))
        }
    }

    fn status(&self) -> Status {
        Status {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: Version::CURRENT,
            instance: self.instance.clone(),
            attached: self.is_attached(),
            attention: self.session.standing.attention(),
            sessions: vec![self.session_info()],
        }
    }

    fn title(&mut self, id: SessionId, rename: Option<String>) -> Result<Title, ControlError> {
        self.find(id)?;
        if let Some(title) = rename {
            self.set_title(&title);
        }
        Ok(Title { title: self.session.title.clone() })
    }

    fn read(&self, id: SessionId, format: TextFormat, history: u32) -> Result<ReadText, ControlError> {
        self.find(id)?;
        if format == TextFormat::Sgr || history > 0 {
            return Err(ControlError::new(
                ErrorCode::Unsupported,
                "this capsule reads the screen as plain text only",
            ));
        }
        Ok(ReadText { text: self.mux.text(), size: self.mux.size(), history: 0 })
    }

    fn send(&mut self, id: SessionId, text: &str, submit: bool, force: bool) -> Result<Done, ControlError> {
        self.find(id)?;
        let attention = self.session.standing.attention();
        if !force && matches!(attention, Attention::Blocked | Attention::Working) {
            return Err(ControlError::new(
                ErrorCode::Refused,
                format!(
                    "session {id} is {attention} ({}): what is typed now would answer it; use force to send all the same",
                    self.session.standing.status()
                ),
            ));
        }
        let mut bytes = text.as_bytes().to_vec();
        if submit {
            bytes.push(b'\r');
        }
        match self.session.write(bytes) {
            Ok(()) => Ok(Done {}),
            Err(_) => Err(ControlError::new(ErrorCode::LimitReached, "the program does not read its input")),
        }
    }

    /// What an agent says of itself, in the form of [`RuntimeEvent`].
    fn report(
        &mut self,
        id: Option<SessionId>,
        runtime: &str,
        payload: serde_json::Value,
    ) -> Result<Done, ControlError> {
        self.find(id.unwrap_or(self.session.id))?;
        if runtime != "jackin" {
            return Err(ControlError::new(
                ErrorCode::Unsupported,
                format!("reports of {runtime:?} are not understood: use the runtime \"jackin\""),
            ));
        }
        let event: RuntimeEvent = serde_json::from_value(payload).map_err(|error| {
            ControlError::new(ErrorCode::BadRequest, format!("the report's payload: {error}"))
        })?;
        self.observe(&event);
        Ok(Done {})
    }

    fn observe(&mut self, event: &RuntimeEvent) {
        let since = now();
        for tag in self.tags.observe(event, since) {
            self.publish(tag);
        }
        let (status, evidence) = match event {
            // It was busy all along, not only from now on.
            RuntimeEvent::TurnStarted
                if matches!(self.session.standing.status(), AgentStatus::Busy { .. }) =>
            {
                return;
            }
            RuntimeEvent::TurnStarted => (AgentStatus::Busy { since }, "the agent began a turn"),
            RuntimeEvent::Waiting { prompt, .. } => (
                AgentStatus::Question { prompt: prompt.as_deref().map(told), since },
                "the agent asked for an answer",
            ),
            RuntimeEvent::WaitingResolved { .. } => {
                (AgentStatus::Busy { since }, "the question was answered")
            }
            RuntimeEvent::TurnEnded { error } => {
                (AgentStatus::Idle { error: error.as_deref().map(told) }, "the agent ended its turn")
            }
            _ => return,
        };
        self.set_status(status, Source::Hook, evidence);
    }
}

/// An agent's question or error as it is kept and shown: the whole of it stands on the agent's screen.
fn told(text: &str) -> String {
    one_line(text, MAX_TOLD)
}

const MAX_TOLD: usize = 1_000;

fn message<T: Serialize>(result: Result<T, ControlError>) -> Answer {
    let mut wire = Vec::new();
    if let Err(error) = control::encode(&Reply::from(result), &mut wire) {
        let error = ControlError::new(ErrorCode::Failed, error.to_string());
        control::encode(&Reply::<Done>::Error(error), &mut wire).expect("an error message is short");
    }
    Answer::Message(wire)
}
