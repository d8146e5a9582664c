//! What sessions do: they print, end, and are told to end.

use std::collections::BTreeSet;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use jackin_core::protocol::control::SessionInfo;
use jackin_core::{AgentStatus, EventKind, SessionId};
use jackin_mux::Input;
use jackin_status::ProcessEnd;
use rustix::process::Signal;

use super::super::reader::Printed;
use super::super::session::{Session, SessionEvent, exit_code};
use super::super::sweep::sweep_now;
use super::super::watch::directory_in_front;
use super::Daemon;

/// How long sessions that were told to end may take until they are killed.
const TERM_GRACE: Duration = Duration::from_secs(3);

/// How long what is left of them may take when the capsule itself ends.
const LAST_GRACE: Duration = Duration::from_millis(500);

/// The exit code of a program that SIGKILL ended.
const KILLED: i32 = 128 + 9;

/// How much may be printed until the runtime looks at sockets and terminals again.
const LOOK_AFTER: usize = 4 * 1024;

impl Daemon {
    /// Hears whoever is next, if anybody is.
    pub(super) async fn give_turn(&mut self) {
        match self.turns.next(Instant::now()) {
            Some((id, SessionEvent::Printed(printed))) => {
                self.unlooked += printed.len();
                self.printed(id, printed);
                if self.unlooked >= LOOK_AFTER {
                    // A key waits for one batch at most.
                    self.unlooked = 0;
                    tokio::task::yield_now().await;
                }
            }
            Some((id, SessionEvent::Exited(status))) => self.exited(id, status),
            None => {}
        }
    }

    fn printed(&mut self, id: SessionId, bytes: Printed) {
        let now = self.steady();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.observed.printed(now);
        if session.plain_tags {
            self.watcher.printed(id, &bytes, self.clock.now());
        }
        self.frame_log.printed(session.pane);
        self.mux.handle_input(Input::Pty { pane: session.pane, bytes: &bytes }, now);
        self.record(id, &bytes);
        if let Some(session) = self.sessions.get_mut(&id)
            && self.mux.backlog(session.pane) > 0
        {
            session.parked = Some(bytes);
        }
        self.screen_changed(id);
    }

    pub(super) fn exited(&mut self, id: SessionId, wait_status: ExitStatus) {
        let code = exit_code(wait_status);
        let Some(session) = self.sessions.get(&id) else { return };
        let (pane, on_purpose) = (session.pane, session.stopped_on_purpose);
        if !on_purpose && self.exit_code == 0 {
            self.exit_code = code;
        }
        // Of those that are killed, the kernel's victim is the one whose end was counted.
        let oom_killed = code == KILLED && self.oom_kills.again();
        let end = ProcessEnd { exit_code: code, oom_killed, on_purpose };
        self.process_ended(id, end);
        let status: AgentStatus = end.status();
        let is_bad = matches!(status, AgentStatus::Crashed { .. } | AgentStatus::OomKilled);
        self.publish(EventKind::SessionEnded { session_id: id, status: status.clone() });
        while self.mux.backlog(pane) > 0 {
            self.mux.handle_input(Input::Tick, self.steady());
        }
        if is_bad {
            self.keep(id);
        }
        self.remember_end(id, status, wait_status);
        self.end_preview(id);
        self.count_usage(id);
        self.end_recording(id);
        self.tags.forget(id);
        self.last = self.sessions.remove(&id);
        if let Some(leader) = self.last.as_ref().and_then(Session::leader) {
            self.sweeper.sweep(leader, Signal::HUP);
            if on_purpose {
                self.remnants.push((leader, Instant::now() + TERM_GRACE));
            }
        }
        if self.sessions.is_empty() {
            // Its screen is the last thing that the operator sees.
            self.publish(EventKind::AllSessionsEnded);
        } else {
            self.mux.handle_input(Input::PaneClosed { pane }, self.steady());
        }
    }

    /// Tells the sessions to end; those that do not are killed after a grace.
    pub(in crate::capsule) fn stop(&mut self) {
        self.picking = false;
        self.stopping = true;
        let kill_at = tokio::time::Instant::now() + TERM_GRACE;
        self.sessions.values_mut().for_each(|session| session.stop(kill_at));
    }

    /// Kills what is left of sessions that were told to end, whose time is over.
    pub(super) fn sweep_remnants(&mut self) {
        let now = Instant::now();
        let sweeper = self.sweeper.clone();
        self.remnants.retain(|(leader, at)| {
            if *at <= now {
                sweeper.sweep(*leader, Signal::KILL);
            }
            *at > now
        });
    }

    /// Nothing that was told to end outlives us, and the last session's jobs hear that it is over.
    pub(super) async fn take_remnants_along(&mut self) {
        let last = self.last.as_ref().and_then(Session::leader);
        let told: BTreeSet<u32> = self.remnants.drain(..).map(|(leader, _)| leader).collect();
        let all = told.iter().copied().chain(last).map(|leader| (leader, Signal::HUP)).collect();
        if !sweep_now(&all) || told.is_empty() {
            return;
        }
        let left = told.into_iter().map(|leader| (leader, Signal::KILL)).collect();
        tokio::time::sleep(LAST_GRACE).await;
        sweep_now(&left);
    }

    /// Tells one session to end.
    pub(in crate::capsule) fn stop_one(&mut self, id: SessionId) {
        let kill_at = tokio::time::Instant::now() + TERM_GRACE;
        if let Some(session) = self.sessions.get_mut(&id) {
            session.stop(kill_at);
        }
    }

    /// What `status` and the session list tell.
    pub(in crate::capsule) fn session_infos(&self) -> Vec<SessionInfo> {
        let running = self.sessions.values().map(|session| self.session_info(session));
        let mut all: Vec<SessionInfo> = running.chain(self.ended_infos()).collect();
        all.sort_by_key(|session| session.id);
        all
    }

    pub(in crate::capsule) fn session_info(&self, session: &Session) -> SessionInfo {
        let Session { id, pane, title, observed, .. } = session;
        let authority = observed.authority();
        let cwd = session.leader().and_then(directory_in_front).or_else(|| session.cwd.clone());
        SessionInfo {
            id: *id,
            pane: Some(*pane),
            tab: self.mux.tab(*pane).and_then(|tab| u32::try_from(tab + 1).ok()),
            title: title.clone(),
            agent: observed.agent().map(ToOwned::to_owned),
            status: authority.status().clone(),
            attention: authority.attention(),
            since: authority.since(),
            cause: authority.cause().clone(),
            size: self.mux.size(*pane).unwrap_or_default(),
            cwd: cwd.map(|cwd| cwd.display().to_string()),
            usage: observed.usage(),
            recording: self.recordings.path(*id).map(|path| path.display().to_string()),
        }
    }
}
