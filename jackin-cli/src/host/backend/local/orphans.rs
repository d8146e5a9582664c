//! What a capsule that was killed left running.

use std::path::Path;

use jackin_core::InstanceName;
use rustix::process::Pid;

use crate::leftovers::{self, Environment};

/// How often is looked again: one that is being ended may just have started another.
const LOOKS: u32 = 5;

/// Ends what runs in the sessions of an instance whose capsule is no more. It waits for them.
pub(super) fn end(instance: &InstanceName, run_dir: &Path) {
    for _ in 0..LOOKS {
        let own = |environment: &Environment| is_of(environment, instance, run_dir);
        let pids: Vec<Pid> =
            leftovers::processes().filter(|(_, environment)| own(environment)).map(|(pid, _)| pid).collect();
        if pids.is_empty() {
            return;
        }
        leftovers::end(&pids);
    }
}

/// Whether something was started in a session of an instance: of this one, and not of another home's with the same name.
fn is_of(environment: &Environment, instance: &InstanceName, run_dir: &Path) -> bool {
    let socket = environment.get("JACKIN_AGENT_SOCKET").map(Path::new);
    environment.get("JACKIN_INSTANCE") == Some(instance.as_str())
        && socket.and_then(Path::parent).is_some_and(|dir| is_same(dir, run_dir))
}

/// One directory can have several paths.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
