//! Terminals that look on: each has its own size and pace, and none can type.

use std::collections::BTreeMap;

use jackin_core::Timestamp;
use jackin_core::protocol::Version;
use jackin_core::protocol::attach::{Frame, Shutdown, ShutdownReason, Welcome, encode};
use jackin_mux::Viewer;
use tokio::sync::mpsc;

use super::super::connection::{Attach, ClientEvent, ToClient};
use super::Daemon;
use super::client::farewell;

/// How many terminals may look on at once.
const MOST_VIEWERS: usize = 16;

/// The terminals that look on, by their connection.
pub(super) type Viewers = BTreeMap<u64, Onlooker>;

#[derive(Debug)]
pub(super) struct Onlooker {
    viewer: Viewer,
    frames: mpsc::Sender<ToClient>,
    /// It has not taken the last frame yet: the next one is drawn when it has, and is then up to date.
    behind: bool,
}

impl Daemon {
    /// Lets a terminal look on.
    pub(super) fn admit_viewer(&mut self, Attach { id, hello, frames, .. }: Attach) {
        if self.viewers.len() >= MOST_VIEWERS {
            let message = format!("{MOST_VIEWERS} terminals look on already: end one of them first");
            tokio::spawn(farewell(frames, Shutdown { reason: ShutdownReason::Other, message }));
            return;
        }
        let mut wire = Vec::new();
        let welcome = Welcome {
            version: Version::CURRENT,
            instance: self.instance.clone(),
            session_count: self.sessions.len(),
            terminal_taken: false,
        };
        for frame in [Frame::Welcome(welcome), Frame::SessionList(self.session_infos())] {
            let _ = encode(&frame, &mut wire);
        }
        let viewer = Viewer::new(jackin_mux::Client {
            size: hello.size,
            term: hello.term.as_deref(),
            colorterm: hello.colorterm.as_deref(),
        });
        if frames.try_send(ToClient::Frames(wire)).is_ok() {
            self.viewers.insert(id, Onlooker { viewer, frames, behind: true });
        }
    }

    /// What a terminal that looks on did; what it types is for nobody.
    pub(super) fn hear_viewer(&mut self, id: u64, event: &ClientEvent) {
        let Some(onlooker) = self.viewers.get_mut(&id) else { return };
        match event {
            ClientEvent::Input(_) => {}
            ClientEvent::Resize(size) => onlooker.viewer.resize(*size),
            ClientEvent::Taken => onlooker.behind = false,
            ClientEvent::Gone => drop(self.viewers.remove(&id)),
            ClientEvent::Detach | ClientEvent::TerminalGone => {
                if let Some(onlooker) = self.viewers.remove(&id) {
                    let message = "stopped looking on".to_owned();
                    let shutdown = Shutdown { reason: ShutdownReason::Detached, message };
                    tokio::spawn(farewell(onlooker.frames, shutdown));
                }
            }
        }
    }

    /// Draws for everybody who looks on, can take a frame, and is due one.
    pub(super) fn render_viewers(&mut self) {
        let now = self.steady();
        for onlooker in self.viewers.values_mut().filter(|onlooker| !onlooker.behind) {
            if self.mux.viewer_due(&onlooker.viewer).is_some_and(|due| due <= now) {
                onlooker.draw(&self.mux, now);
            }
        }
    }

    /// When the next frame for one of them is due.
    pub(super) fn next_viewer_frame(&self) -> Option<Timestamp> {
        let ready = self.viewers.values().filter(|onlooker| !onlooker.behind);
        ready.filter_map(|onlooker| self.mux.viewer_due(&onlooker.viewer)).min()
    }

    /// Shows everybody who looks on the last screen, and why it is the last.
    pub(super) fn dismiss_viewers(&mut self, shutdown: &Shutdown) {
        let now = self.steady();
        for mut onlooker in std::mem::take(&mut self.viewers).into_values() {
            if !onlooker.behind {
                onlooker.draw(&self.mux, now);
            }
            tokio::spawn(farewell(onlooker.frames, shutdown.clone()));
        }
    }
}

impl Onlooker {
    fn draw(&mut self, mux: &jackin_mux::Mux, now: Timestamp) {
        let mut screen = Vec::new();
        mux.render_viewer(&mut self.viewer, now, &mut screen);
        if !screen.is_empty() {
            // One that is gone says so by itself.
            self.behind = self.frames.try_send(ToClient::Screen(screen)).is_ok();
        }
    }
}
