//! Calls that take their time: the daemon is asked until what is waited for has come.

use jackin_core::protocol::control::{
    self, Call, ControlError, Done, ErrorCode, Match, Reply, Request, Status, Until, Waited,
};
use jackin_core::{AgentStatus, Attention, Event, EventKind, Received, SessionId};
use tokio::sync::{mpsc, oneshot};

use super::super::control::Answer;
use super::super::events::Feed;
use super::{Caller, Message};

/// The way to the daemon's answers.
#[derive(Clone)]
pub(super) struct Asker {
    pub(super) caller: Caller,
    pub(super) to_daemon: mpsc::Sender<Message>,
}

impl Asker {
    pub(super) async fn ask(&self, call: Call) -> Option<Answer> {
        let (answer, answered) = oneshot::channel();
        self.to_daemon.send(Message::Call { caller: self.caller, call, answer }).await.ok()?;
        answered.await.ok()
    }
}

/// Follows the events from a status on, so a state that is there already counts, and none is missed in between.
pub(super) async fn wait(
    daemon: &Asker,
    sessions: &[SessionId],
    until: &[Until],
    matching: Match,
) -> Result<Waited, ControlError> {
    if until.is_empty() {
        return Err(ControlError::new(ErrorCode::BadRequest, "name at least one state to wait for"));
    }
    let gone = || ControlError::new(ErrorCode::NotFound, "the capsule ended before the state was reached");
    let Some(Answer::Feed(Feed { mut live, .. })) = daemon.ask(Request::Events { from: None }.into()).await
    else {
        return Err(gone());
    };
    let mut seen = ask_status(daemon).await.ok_or_else(gone)?;
    loop {
        if let Some(waited) = evaluate(&seen, sessions, until, matching)? {
            return Ok(waited);
        }
        match live.next().await {
            Some(Received::Value(Event {
                kind: EventKind::AgentStateChanged { session_id, state, status, .. },
                ..
            })) => {
                if let Some(session) = seen.sessions.iter_mut().find(|session| session.id == session_id) {
                    (session.attention, session.status) = (state, status);
                }
            }
            Some(
                Received::Value(Event { kind: EventKind::SessionStarted { .. }, .. }) | Received::Missed(_),
            ) => {
                seen = ask_status(daemon).await.ok_or_else(gone)?;
            }
            Some(Received::Value(_)) => {}
            None => return Err(gone()),
        }
    }
}

/// Waits until a session's agent shows its prompt, then types. If it is busy again by then, waits again.
pub(super) async fn send_when_ready(
    daemon: &Asker,
    session_id: SessionId,
    text: &str,
    submit: bool,
) -> Result<Done, ControlError> {
    let gone = || ControlError::new(ErrorCode::NotFound, format!("session {session_id} has ended"));
    let Some(Answer::Feed(Feed { mut live, .. })) = daemon.ask(Request::Events { from: None }.into()).await
    else {
        return Err(gone());
    };
    loop {
        let status = ask_status(daemon).await.ok_or_else(gone)?;
        let session = status.sessions.iter().find(|session| session.id == session_id).ok_or_else(|| {
            ControlError::new(
                ErrorCode::NotFound,
                format!("there is no session {session_id}; `status` lists them"),
            )
        })?;
        // An agent that has only been started shows no prompt yet. A shell never says that it does.
        let starting = session.agent.is_some() && session.status == AgentStatus::Initializing;
        if !starting && !matches!(session.attention, Attention::Blocked | Attention::Working) {
            let request = Request::SessionSend {
                session_id,
                text: text.to_owned(),
                submit,
                force: false,
                wait_ms: None,
            };
            let sent = daemon.ask(request.into()).await.and_then(answer_of::<Done>).ok_or_else(gone)?;
            match sent {
                Err(error) if error.code == ErrorCode::Refused => {}
                sent => return sent,
            }
        }
        loop {
            match live.next().await {
                Some(
                    Received::Value(Event {
                        kind: EventKind::AgentStateChanged { .. } | EventKind::SessionEnded { .. },
                        ..
                    })
                    | Received::Missed(_),
                ) => break,
                Some(Received::Value(_)) => {}
                None => return Err(gone()),
            }
        }
    }
}

async fn ask_status(daemon: &Asker) -> Option<Status> {
    daemon.ask(Request::Status {}.into()).await.and_then(answer_of::<Status>)?.ok()
}

/// Reads an answer as whoever asked by socket would.
fn answer_of<T: serde::de::DeserializeOwned>(answer: Answer) -> Option<Result<T, ControlError>> {
    let Answer::Message(wire) = answer else { return None };
    let mut decoder = control::Decoder::new();
    let _ = decoder.feed(&wire);
    let json = decoder.next_message().ok()??;
    Some(serde_json::from_slice::<Reply<T>>(json).ok()?.into_result())
}

/// The sessions that are in one of the states, if they are enough.
fn evaluate(
    status: &Status,
    sessions: &[SessionId],
    until: &[Until],
    matching: Match,
) -> Result<Option<Waited>, ControlError> {
    if let Some(missing) =
        sessions.iter().find(|id| !status.sessions.iter().any(|session| session.id == **id))
    {
        return Err(ControlError::new(ErrorCode::NotFound, format!("there is no session {missing}")));
    }
    let mut considered = status
        .sessions
        .iter()
        .filter(|session| sessions.is_empty() || sessions.contains(&session.id))
        .peekable();
    let any_considered = considered.peek().is_some();
    let (met, unmet): (Vec<_>, Vec<_>) = considered
        .partition(|session| until.iter().any(|until| until.is_met(&session.status, session.attention)));
    let enough = match matching {
        Match::Any => !met.is_empty(),
        Match::All => any_considered && unmet.is_empty(),
    };
    Ok(enough.then(|| Waited { sessions: met.iter().map(|session| session.id).collect() }))
}
