//! The sessions that are being recorded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jackin_core::protocol::control::{ControlError, ErrorCode};
use jackin_core::{EventKind, PaneId, SessionId, Size};
use tokio::sync::{mpsc, oneshot};

use super::super::record::{DEFAULT_LIMIT, Ending, Recorder, TooSlow};
use super::Daemon;
use super::client::FAREWELL_LIMIT;

/// What a recording is that somebody waits for.
pub(in crate::capsule) type Outcome = oneshot::Receiver<Result<PathBuf, String>>;

#[derive(Debug)]
pub(super) struct Recordings {
    active: BTreeMap<SessionId, Recorder>,
    /// Files that are being completed.
    finishing: Vec<oneshot::Receiver<()>>,
    endings: mpsc::UnboundedSender<Ending>,
}

impl Recordings {
    pub(super) fn new(endings: mpsc::UnboundedSender<Ending>) -> Self {
        Self { active: BTreeMap::new(), finishing: Vec::new(), endings }
    }

    pub(super) fn path(&self, session: SessionId) -> Option<&Path> {
        self.active.get(&session).map(|recorder| recorder.path.as_path())
    }

    fn end(&mut self, session: SessionId, why: Option<&str>) -> Option<PathBuf> {
        let recorder = self.active.remove(&session)?;
        let path = recorder.path.clone();
        self.finishing.retain_mut(|done| matches!(done.try_recv(), Err(oneshot::error::TryRecvError::Empty)));
        self.finishing.push(match why {
            Some(why) => recorder.abandon(why),
            None => recorder.finish(),
        });
        Some(path)
    }
}

impl Daemon {
    /// Starts to record a session. The outcome tells whether its file could be made.
    pub(in crate::capsule) fn start_recording(
        &mut self,
        id: SessionId,
        path: Option<String>,
        limit: Option<u64>,
    ) -> Result<Outcome, ControlError> {
        self.find(id)?;
        if let Some(path) = self.recordings.path(id) {
            let message = format!("session {id} is being recorded to {} already", path.display());
            return Err(ControlError::new(ErrorCode::Refused, message));
        }
        let path = match path.map(PathBuf::from) {
            Some(path) if path.is_absolute() => path,
            Some(path) => {
                let message = format!(
                    "{} is not an absolute path, and the capsule has its own directory",
                    path.display()
                );
                return Err(ControlError::new(ErrorCode::BadRequest, message));
            }
            None => self.choose_file(id),
        };
        let (opened, outcome) = oneshot::channel();
        let endings = self.recordings.endings.clone();
        let recorder =
            Recorder::start(id, path, limit.unwrap_or(DEFAULT_LIMIT), opened, endings).map_err(|error| {
                ControlError::new(ErrorCode::Failed, format!("cannot start a recording: {error}"))
            })?;
        let path = recorder.path.display().to_string();
        self.recordings.active.insert(id, recorder);
        self.begin_recording(id);
        self.publish(EventKind::RecordingStarted { session_id: id, path });
        self.tell_context();
        Ok(outcome)
    }

    /// In the state directory or beside the operator's socket, where agents cannot reach it, under a name that tells what
    /// it is of.
    fn choose_file(&self, id: SessionId) -> PathBuf {
        let name = format!("{}-{id}-{}.cast", self.instance, self.clock.now().as_millis());
        match &self.places.state {
            Some(state) => state.join(name),
            None => self.places.operator.with_file_name(name),
        }
    }

    /// Ends a session's recording; its file is complete once the receiver is told.
    pub(in crate::capsule) fn stop_recording(&mut self, id: SessionId) -> Result<Outcome, ControlError> {
        let Some(path) = self.recordings.end(id, None) else {
            let message = format!("session {id} is not being recorded");
            return Err(ControlError::new(ErrorCode::NotFound, message));
        };
        let (complete, outcome) = oneshot::channel();
        if let Some(done) = self.recordings.finishing.pop() {
            tokio::spawn(async move {
                let _ = done.await;
                let _ = complete.send(Ok(path));
            });
        }
        Ok(outcome)
    }

    /// The operator wants a pane recorded, or no longer.
    pub(super) fn toggle_recording(&mut self, pane: PaneId) {
        let Some(id) = self.session_in(pane).map(|session| session.id) else { return };
        let done = match self.recordings.path(id) {
            Some(_) => self.stop_recording(id),
            None => self.start_recording(id, None, None),
        };
        if let Err(error) = done {
            tracing::warn!("{error}");
        }
        self.ring();
    }

    /// The first thing in a recording is what stands on the screen. That can be told between two sequences only, so it may
    /// have to wait until the program has finished the one that it is in.
    fn begin_recording(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Some(recorder) = self.recordings.active.get_mut(&id).filter(|recorder| !recorder.has_begun())
        else {
            return;
        };
        let Some(screen) = self.mux.repaint(session.pane) else { return };
        let size = self.mux.size(session.pane).unwrap_or_default();
        if let Err(TooSlow) = recorder.begin(size, &session.title, self.clock.now(), &screen) {
            self.give_up_recording(id);
        }
    }

    /// A session printed something, and the multiplexer has it already.
    pub(super) fn record(&mut self, id: SessionId, bytes: &[u8]) {
        let Some(recorder) = self.recordings.active.get_mut(&id) else { return };
        if !recorder.has_begun() {
            self.begin_recording(id);
        } else if recorder.print(bytes).is_err() {
            self.give_up_recording(id);
        }
    }

    pub(super) fn record_size(&mut self, id: SessionId, size: Size) {
        let resized = self.recordings.active.get_mut(&id).map(|recorder| recorder.resize(size));
        if resized == Some(Err(TooSlow)) {
            self.give_up_recording(id);
        }
    }

    fn give_up_recording(&mut self, id: SessionId) {
        self.recordings.end(id, Some("the disk is too slow for what the session prints"));
    }

    /// The session has ended, and its recording with it.
    pub(super) fn end_recording(&mut self, id: SessionId) {
        self.recordings.end(id, None);
    }

    /// A recording's file is complete, as far as it goes.
    pub(super) fn recording_ended(&mut self, Ending { session, path, trouble }: Ending) {
        if self.recordings.path(session) == Some(&path) {
            self.recordings.end(session, None);
        }
        if let Some(trouble) = &trouble {
            tracing::warn!("the recording of session {session} ended: {trouble}");
            self.ring();
        }
        let path = path.display().to_string();
        self.publish(EventKind::RecordingEnded { session_id: session, path, trouble });
        self.tell_context();
    }

    /// The details that the operator can ask for name the files.
    pub(super) fn recording_details(&self) -> impl Iterator<Item = (String, String)> {
        let active = self.recordings.active.iter();
        active.map(|(id, recorder)| (format!("recording {id}"), recorder.path.display().to_string()))
    }

    /// Gives the files that are being written a moment to be completed.
    pub(super) async fn complete_recordings(&mut self) {
        let ids: Vec<SessionId> = self.recordings.active.keys().copied().collect();
        for id in ids {
            self.recordings.end(id, None);
        }
        let all = async {
            for done in self.recordings.finishing.drain(..) {
                let _ = done.await;
            }
        };
        // A disk that is stuck must not keep the capsule.
        let _ = tokio::time::timeout(FAREWELL_LIMIT, all).await;
    }
}
