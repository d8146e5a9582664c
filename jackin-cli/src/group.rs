//! The processes of one command.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The process group of a command, led by the process with this id. What is left of it when this goes is killed.
#[derive(Debug)]
pub(crate) struct Group(pub(crate) Option<Pid>);

impl Group {
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // All of them may have ended.
            let _ = kill_process_group(group, signal);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none_or(|group| test_kill_process_group(group).is_err())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
