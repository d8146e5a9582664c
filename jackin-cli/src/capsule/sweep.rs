//! What a session leaves running.
//!
//! When a session's first process has ended, what it started in that session gets SIGHUP, as when a terminal is closed. The
//! kernel does this for the group in front alone, so that the jobs of a killed shell would go on for nobody. Whoever wants
//! to go on asks for it, by ignoring the signal or by a session of its own. Of a session that was told to end, nothing is
//! left after the grace.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::watch::{ancestry, members};

/// Signals what is left of sessions, in a thread of its own: looking at every process takes its time.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweeper {
    /// What is to be signalled: the first process of each session, which is no more, and the signal.
    pending: Arc<Mutex<Pending>>,
}

#[derive(Debug, Default)]
struct Pending {
    leaders: BTreeMap<u32, Signal>,
    running: bool,
}

impl Sweeper {
    /// Signals what is left of a session, soon.
    pub(super) fn sweep(&self, leader: u32, signal: Signal) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.leaders.insert(leader, signal);
        if !std::mem::replace(&mut pending.running, true) {
            let sweeper = self.clone();
            tokio::task::spawn_blocking(move || sweeper.run());
        }
    }

    /// However many sessions end at once, all processes are looked at once.
    fn run(&self) {
        loop {
            let leaders = {
                let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
                pending.running = !pending.leaders.is_empty();
                if !pending.running {
                    return;
                }
                std::mem::take(&mut pending.leaders)
            };
            sweep_now(&leaders);
        }
    }
}

/// Signals what is left of sessions before this returns, and tells whether there was anything.
pub(super) fn sweep_now(leaders: &BTreeMap<u32, Signal>) -> bool {
    // A number that is somebody's is a stranger's by now: ours are gone.
    let is_ours = |leader: &u32| ancestry(*leader).is_none();
    let leaders: BTreeMap<u32, Signal> = leaders
        .iter()
        .filter(|(leader, _)| is_ours(leader))
        .map(|(leader, signal)| (*leader, *signal))
        .collect();
    if leaders.is_empty() {
        return false;
    }
    let mut found = false;
    for (pid, leader) in members(|session| leaders.contains_key(&session)) {
        let Some(signal) = leaders.get(&leader) else { continue };
        let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { continue };
        // With the process in hand its number cannot become another's between looking and signalling.
        let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else { continue };
        if ancestry(pid).is_some_and(|(_, session)| session == leader) {
            found = true;
            // It may have ended by itself. One that is stopped has to go on to hear it.
            let _ = pidfd_send_signal(&handle, *signal);
            let _ = pidfd_send_signal(&handle, Signal::CONT);
        }
    }
    found
}
