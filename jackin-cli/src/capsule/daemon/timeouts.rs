//! What is due when nothing happens.

use std::time::Instant;

use jackin_core::{SessionId, Timestamp};
use jackin_mux::Input;
use rustix::process::Signal;

use super::Daemon;

impl Daemon {
    /// Gives the multiplexer its time when that is due, and readers that waited for it theirs.
    pub(super) fn tick(&mut self) {
        let now = self.steady();
        let is_due = self.mux.poll_timeout().is_some_and(|due| due <= now);
        if is_due {
            self.mux.handle_input(Input::Tick, now);
        }
        let mut caught_up = Vec::new();
        // It may have caught up at another time too: whoever ends lets all others go on.
        for session in self.sessions.values_mut().filter(|session| session.parked.is_some()) {
            if is_due {
                caught_up.push(session.id);
            }
            if self.mux.backlog(session.pane) == 0 {
                session.parked = None;
            }
        }
        for id in caught_up {
            self.screen_changed(id);
        }
        if is_due {
            self.carry_out();
        }
    }

    /// When something is due even if nothing happens.
    pub(super) fn next_alarm(&self) -> Option<Instant> {
        let (steady, now) = (self.steady(), self.clock.now());
        let kill = self.sessions.values().filter_map(|session| session.kill_at).min();
        let observe =
            self.sessions.values().filter_map(|session| session.observed.next_timeout(steady, now)).min();
        let observe = observe.map(|after| Instant::now() + after);
        // A frame that is due already waits for the client.
        let frame = self.mux.frame_due().filter(|due| *due > steady);
        let mux = [frame, self.next_viewer_frame(), self.mux.poll_timeout()].into_iter().flatten().min();
        let mux = mux.map(|at| self.started + at.since(Timestamp::default()));
        let kill = kill.map(tokio::time::Instant::into_std);
        let remnant = self.remnants.iter().map(|(_, at)| *at).min();
        [kill, observe, mux, self.turns.due(), self.next_preview(), remnant].into_iter().flatten().min()
    }

    pub(super) fn handle_timeouts(&mut self) {
        self.draw_previews();
        self.sweep_remnants();
        let now = tokio::time::Instant::now();
        for session in self.sessions.values_mut() {
            if session.kill_at.is_some_and(|at| at <= now) {
                session.kill_at = None;
                session.signal(Signal::KILL);
            }
        }
        let ids: Vec<SessionId> = self.sessions.keys().copied().collect();
        for id in ids {
            self.observe_timeouts(id);
        }
    }
}
