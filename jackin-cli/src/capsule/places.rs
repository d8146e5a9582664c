use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where a capsule in a container listens.
pub(super) const DEFAULT_SOCKET: &str = "/jackin/run/jackin.sock";

/// What the host says about the instance, in a container.
pub(super) const DEFAULT_CONFIG: &str = "/jackin/run/agent.toml";

/// The agents' own socket in a container: they can enter its directory, and not the one of the operator's.
const CONTAINER_AGENT_SOCKET: &str = "/jackin/agent/jackin.sock";

/// What is left of a capsule in a container.
const CONTAINER_STATE: &str = "/jackin/state";

/// Where the files of a capsule are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// The operator's socket.
    pub(super) operator: PathBuf,
    /// The agents' socket.
    pub(super) agents: PathBuf,
    /// The directory for the record of the end; without one, none is written.
    pub(super) state: Option<PathBuf>,
    /// Whether these are the places of a container.
    pub(super) contained: bool,
}

impl Places {
    /// The usual places around the operator's socket, unless they are given.
    pub(super) fn new(operator: PathBuf, agents: Option<PathBuf>, state: Option<PathBuf>) -> Self {
        let contained = operator == Path::new(DEFAULT_SOCKET);
        let usual = || if contained { CONTAINER_AGENT_SOCKET.into() } else { beside(&operator) };
        Self {
            agents: agents.unwrap_or_else(usual),
            state: state.or_else(|| contained.then(|| CONTAINER_STATE.into())),
            operator,
            contained,
        }
    }

    /// Whether the two sockets are in one directory, which only its owner can enter.
    pub(super) fn share_a_directory(&self) -> bool {
        self.operator.parent() == self.agents.parent()
    }
}

fn beside(operator: &Path) -> PathBuf {
    let mut name = operator.file_stem().map_or_else(|| OsString::from("jackin"), OsString::from);
    name.push(".agent.sock");
    operator.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_has_places_of_its_own() {
        let container = Places::new(DEFAULT_SOCKET.into(), None, None);
        assert_eq!(container.agents, Path::new("/jackin/agent/jackin.sock"));
        assert_eq!(container.state.as_deref(), Some(Path::new("/jackin/state")));
        assert!(!container.share_a_directory());
        let laptop = Places::new("/run/x/api.sock".into(), None, None);
        assert_eq!(laptop.agents, Path::new("/run/x/api.agent.sock"));
        assert!(laptop.state.is_none() && laptop.share_a_directory());
        let given = Places::new("/run/x/api.sock".into(), Some("/a/b.sock".into()), Some("/s".into()));
        assert_eq!((given.agents, given.state), ("/a/b.sock".into(), Some("/s".into())));
    }
}
