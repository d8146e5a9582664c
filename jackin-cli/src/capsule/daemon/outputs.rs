//! What the multiplexer asks for, and what programs say to it.

use std::time::{Duration, Instant};

use jackin_core::protocol::attach::ShutdownReason;
use jackin_core::{EventKind, PaneId, SessionId, one_line};
use jackin_mux::{Input, Output};

use super::super::session::Session;
use super::{Daemon, Origin, Start};

/// The longest title that is kept, in characters.
const MAX_TITLE: usize = 200;

/// How often a ringing session is an event.
const BELL_INTERVAL: Duration = Duration::from_secs(1);

impl Daemon {
    /// Does what the multiplexer asks for.
    pub(super) fn carry_out(&mut self) {
        while let Some(output) = self.mux.poll_output() {
            match output {
                Output::WritePty { pane, bytes } => self.type_in(pane, bytes),
                Output::ResizePty { pane, size } => {
                    if let Some(session) = self.session_in(pane) {
                        session.resize(size);
                        let id = session.id;
                        self.record_size(id, size);
                        self.screen_changed(id);
                    }
                }
                Output::Spawn { pane, launch, .. } => {
                    let agent = match launch {
                        jackin_mux::Launch::Shell => None,
                        jackin_mux::Launch::Agent(id) => Some(id),
                    };
                    let start = Start { agent, ..Start::default() };
                    let launch = self.prepare(&start);
                    let origin = Origin { start, name: None };
                    if let Err(error) = launch.and_then(|launch| self.start_in(pane, launch, origin)) {
                        tracing::warn!("{error:#}");
                        self.mux.handle_input(Input::PaneClosed { pane }, self.steady());
                        self.ring();
                    }
                }
                Output::Kill { pane } => {
                    if let Some(id) = self.session_in(pane).map(|session| session.id) {
                        self.stop_one(id);
                    }
                }
                Output::Typed { pane } => self.typing = Some(pane),
                Output::Prompt { pane, mark } => {
                    if let Some(id) = self.session_in(pane).map(|session| session.id) {
                        self.marked(id, mark);
                    }
                }
                Output::Progress { pane, progress } => {
                    if let Some(id) = self.session_in(pane).map(|session| session.id) {
                        self.progressed(id, progress);
                    }
                }
                Output::Title { pane, title } => {
                    if let Some(id) = self.session_in(pane).map(|session| session.id) {
                        self.titled(id, &title);
                        self.set_title(id, &title);
                    }
                }
                Output::Bell { pane } => {
                    self.ring();
                    let quiet = self.last_bell.is_none_or(|last| last.elapsed() >= BELL_INTERVAL);
                    if let Some(session_id) =
                        self.session_in(pane).map(|session| session.id).filter(|_| quiet)
                    {
                        self.last_bell = Some(Instant::now());
                        self.publish(EventKind::Bell { session_id });
                    }
                }
                Output::Seen { pane } => {
                    if let Some(id) = self.session_in(pane).map(|session| session.id) {
                        self.acknowledge(id);
                    }
                }
                Output::Detach => self.dismiss_client(
                    ShutdownReason::Detached,
                    "detached; everything goes on running, and attaching again shows it",
                ),
                Output::Restart { .. } => self.restart_last(),
                Output::Record { pane } => self.toggle_recording(pane),
                _ => {}
            }
        }
    }

    pub(super) fn session_in(&mut self, pane: PaneId) -> Option<&mut Session> {
        self.sessions.values_mut().find(|session| session.pane == pane)
    }

    pub(super) fn type_in(&mut self, pane: PaneId, bytes: Vec<u8>) {
        let Some(id) = self.session_in(pane).map(|session| session.id) else { return };
        let typed = self.typing.take_if(|typing| *typing == pane).is_some();
        if typed {
            self.typed(id, &bytes);
            self.keys.typed(id);
            self.turns.expect_answer(id, Instant::now());
        }
        if self.session_in(pane).is_some_and(|session| session.write(bytes).is_err()) {
            self.ring();
        }
    }

    /// An empty title is a program that cleans up behind itself; the last one says more.
    pub(in crate::capsule) fn set_title(&mut self, id: SessionId, title: &str) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let title = one_line(title, MAX_TITLE);
        if title != session.title && !title.is_empty() {
            session.title.clone_from(&title);
            self.publish(EventKind::TitleChanged { session_id: id, title });
        }
    }
}
