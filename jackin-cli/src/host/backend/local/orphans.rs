//! What a capsule that was killed left running.

use std::path::Path;

use jackin_core::InstanceName;
use rustix::process::Pid;

use crate::host::inside::is_session_of;
use crate::leftovers::{self, Environment};

/// How often is looked again: one that is being ended may just have started another.
const LOOKS: u32 = 5;

/// Ends what runs in the sessions of an instance whose capsule is no more. It waits for them.
pub(super) fn end(instance: &InstanceName, run_dir: &Path) {
    for _ in 0..LOOKS {
        let own = |environment: &Environment| {
            is_session_of(|name| environment.get(name).map(ToOwned::to_owned), instance, run_dir)
        };
        let pids: Vec<Pid> =
            leftovers::processes().filter(|(_, environment)| own(environment)).map(|(pid, _)| pid).collect();
        if pids.is_empty() {
            return;
        }
        leftovers::end(&pids);
    }
}
