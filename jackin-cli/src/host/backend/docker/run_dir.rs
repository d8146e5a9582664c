//! The directory of this machine that an instance's socket is shared in.

use std::fs;
use std::path::{Path, PathBuf};

use jackin_core::InstanceName;

use super::DockerBackend;
use super::connection::Facts;
use super::container::{Run, session_user};
use super::remove::remove_dir;
use crate::host::backend::BackendError;
use crate::host::manifest::{private_dir, write_atomically};
use crate::host::plan::Plan;

/// The file that says whose directory it is: instances of this machine's processes have theirs beside it.
const OWNER: &str = "docker";

/// The longest path that fits into a socket's address.
const LONGEST_SOCKET: usize = 107;

impl DockerBackend {
    /// Makes the directory, if a socket in it could be reached from both sides.
    pub(super) fn share_run_dir(&self, plan: &Plan, facts: &Facts) -> Result<Run, BackendError> {
        let dir = self.paths.run_dir(&plan.instance);
        let own = rustix::process::geteuid();
        // To a container without root's rights, the operator is root.
        let operator = (!facts.rootless && !own.is_root()).then_some(own.as_raw());
        let fits = self.paths.socket(&plan.instance).as_os_str().len() <= LONGEST_SOCKET;
        let crosses = cfg!(target_os = "linux") && self.engine.socket().is_some() && !facts.desktop;
        // An agent with the operator's number could open the socket as the operator.
        let apart = operator != Some(session_user(plan).uid) && !facts.remapped;
        if !fits || !crosses || !apart || dir.to_string_lossy().contains(':') {
            return Ok(Run::Inside);
        }
        let failed = |error| BackendError::failed(format!("make {}", dir.display()), error);
        private_dir(&dir).map_err(failed)?;
        write_atomically(&dir.join(OWNER), self.engine.name().as_bytes()).map_err(failed)?;
        Ok(Run::Shared { dir, label: facts.selinux, operator })
    }

    /// The socket in the shared directory, if there is one of this engine's instance.
    pub(super) fn shared_socket(&self, instance: &InstanceName) -> Option<PathBuf> {
        let socket = self.paths.socket(instance);
        (self.owns(&self.paths.run_dir(instance)) && is_socket(&socket)).then_some(socket)
    }

    /// Removes the directory, if it is one of this engine's instance.
    pub(super) fn remove_run_dir(&self, instance: &InstanceName) -> Result<(), BackendError> {
        let dir = self.paths.run_dir(instance);
        let empty = fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_none());
        if self.owns(&dir) || empty { remove_dir(&dir) } else { Ok(()) }
    }

    fn owns(&self, dir: &Path) -> bool {
        fs::read(dir.join(OWNER)).is_ok_and(|owner| owner == self.engine.name().as_bytes())
    }
}

/// Whether it is a socket itself: what a root in the container put there must not lead elsewhere.
fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket())
}
