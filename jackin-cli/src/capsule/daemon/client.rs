//! The attached operator's terminal: frames go to it, one at a time.

use std::time::{Duration, Instant};

use jackin_core::EventKind;
use jackin_core::protocol::Version;
use jackin_core::protocol::attach::{Frame, Shutdown, ShutdownReason, Welcome, encode};
use jackin_mux::Input;
use tokio::sync::mpsc;

use super::super::connection::{Attach, Lent, ToClient};
use super::Daemon;

/// How long a client that does not read may delay its own farewell.
pub(super) const FAREWELL_LIMIT: Duration = Duration::from_secs(1);

/// The attached operator's terminal.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) id: u64,
    frames: mpsc::Sender<ToClient>,
    /// Its terminal, where that was lent.
    lent: Option<Lent>,
}

impl Daemon {
    pub(in crate::capsule) fn is_attached(&self) -> bool {
        self.client.is_some()
    }

    pub(super) fn attach(&mut self, Attach { id, hello, lent, frames }: Attach) {
        self.dismiss_client(ShutdownReason::TakenOver, "another terminal attached to this capsule");
        let mut wire = Vec::new();
        let welcome = Welcome {
            version: Version::CURRENT,
            instance: self.instance.clone(),
            session_count: self.sessions.len(),
            terminal_taken: lent.is_some(),
        };
        for frame in [Frame::Welcome(welcome), Frame::SessionList(self.session_infos())] {
            // Texts are bounded where they enter; a list that is too long all the same is done without.
            let _ = encode(&frame, &mut wire);
        }
        // The channel is empty: it was made for this client.
        if frames.try_send(ToClient::Frames(wire)).is_err() {
            return;
        }
        self.client = Some(Client { id, frames, lent });
        let terminal = jackin_mux::Client {
            size: hello.size,
            term: hello.term.as_deref(),
            colorterm: hello.colorterm.as_deref(),
        };
        self.tell_context();
        self.mux.handle_input(Input::Attached(terminal), self.steady());
        self.publish(EventKind::ClientAttached);
    }

    /// Waits until the client has taken the last frame; none when it is gone. A slow client thus gets fewer frames,
    /// never older ones.
    pub(super) fn room_for_a_frame(
        &self,
    ) -> impl Future<Output = Option<mpsc::OwnedPermit<ToClient>>> + use<> {
        let frames = self.client.as_ref().map(|client| client.frames.clone());
        async { frames?.reserve_owned().await.ok() }
    }

    /// Draws what is due, unless the client has not taken the last frame; then it is behind.
    pub(super) fn render_if_due(&mut self) -> bool {
        if self.mux.frame_due().is_none_or(|due| due > self.steady()) {
            return false;
        }
        let room = self.client.as_ref().map(|client| client.frames.clone().try_reserve_owned());
        match room {
            Some(Ok(permit)) => {
                self.render(permit);
                false
            }
            Some(Err(_)) => true,
            None => false,
        }
    }

    pub(super) fn render(&mut self, permit: mpsc::OwnedPermit<ToClient>) {
        let begun = self.frame_log.is_on().then(|| (Instant::now(), self.mux.frames()));
        let mut screen = Vec::new();
        self.mux.render(self.steady(), &mut screen);
        if let Some((start, before)) = begun {
            self.frame_log.drew(before, self.mux.frames(), screen.len(), start.elapsed());
        }
        let lent = self.client.as_ref().and_then(|client| client.lent.as_ref());
        let written = lent.map_or(0, |lent| lent.try_write(&screen));
        screen.drain(..written);
        if !screen.is_empty() {
            permit.send(ToClient::Screen(screen));
        }
    }

    pub(super) fn ring(&self) {
        if let Some(client) = &self.client {
            // A client that is behind has more to worry about than a bell.
            let _ = client.frames.try_send(ToClient::Bell);
        }
    }

    pub(super) fn dismiss_client(&mut self, reason: ShutdownReason, message: &str) {
        // Whoever leaves without having chosen anything wants nothing.
        self.picking &= self.client.is_none() || matches!(reason, ShutdownReason::TakenOver);
        if let Some(client) = self.client.take() {
            tokio::spawn(farewell(client.frames, Shutdown { reason, message: message.to_owned() }));
            self.mux.handle_input(Input::Detached, self.steady());
            self.publish(EventKind::ClientDetached);
        }
    }

    pub(super) fn client_gone(&mut self) {
        if self.client.take().is_some() {
            self.picking = false;
            self.mux.handle_input(Input::Detached, self.steady());
            self.publish(EventKind::ClientDetached);
        }
    }

    /// Sends the client the last frame and the farewell, and everybody else the end of the events.
    pub(super) async fn take_leave(mut self) -> i32 {
        let exit_code = self.exit_code;
        self.write_record();
        self.carry_out();
        self.complete_recordings().await;
        self.take_remnants_along().await;
        let on_purpose = self.last.as_ref().is_some_and(|session| session.stopped_on_purpose);
        let reason =
            if on_purpose { ShutdownReason::Stopped } else { ShutdownReason::AllSessionsEnded { exit_code } };
        let message = self.last.as_ref().map_or_else(String::new, |session| {
            format!("{}: {}", session.title, session.observed.authority().status())
        });
        let shutdown = Shutdown { reason, message };
        self.dismiss_viewers(&shutdown);
        if let Some(client) = self.client.take() {
            let mut screen = Vec::new();
            self.mux.render(self.steady(), &mut screen);
            let last_frame =
                tokio::time::timeout(FAREWELL_LIMIT, client.frames.send(ToClient::Screen(screen))).await;
            if last_frame.is_ok() {
                farewell(client.frames, shutdown).await;
            }
        }
        exit_code
    }
}

pub(super) async fn farewell(frames: mpsc::Sender<ToClient>, shutdown: Shutdown) {
    let mut wire = Vec::new();
    if encode(&Frame::Shutdown(shutdown), &mut wire).is_err() {
        return;
    }
    // It may be gone or stuck; then there is nobody to tell.
    let _ = tokio::time::timeout(FAREWELL_LIMIT, frames.send(ToClient::Frames(wire))).await;
}
