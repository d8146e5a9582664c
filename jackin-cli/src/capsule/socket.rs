use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tokio::net::UnixListener;

use super::places::Places;
use super::user::SessionUser;

/// The longest path that fits into a socket address, with its final zero.
const MAX_PATH: usize = 107;

/// A listening socket whose file goes away with it.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) listener: UnixListener,
    path: PathBuf,
    /// The file that was made; another one at the same path belongs to somebody else.
    file: Option<(u64, u64)>,
}

impl Socket {
    /// Listens for the operator: for another user of the host as well, where one is named. Such a user owns the socket,
    /// and its directory if that was made for them; we come in by the group, for root need not have the right to pass
    /// over modes.
    pub(super) fn bind_for_operator(path: &Path, operator: Option<u32>) -> Result<Self> {
        let own = rustix::process::geteuid();
        let Some(operator) = operator.filter(|uid| *uid != own.as_raw()) else { return Self::bind(path) };
        if !own.is_root() {
            bail!(
                "only root can let user {operator} in beside itself: leave operator_uid out, or start as root"
            );
        }
        let give = |what: &Path| {
            std::os::unix::fs::chown(what, Some(operator), Some(0))
                .with_context(|| format!("cannot give {} to user {operator}", what.display()))
        };
        if let Some(directory) = path.parent()
            && fs::metadata(directory).is_ok_and(|known| known.uid() == operator)
        {
            give(directory)?;
        }
        let socket = Self::bind(path).with_context(|| {
            format!("the socket's directory must let root and user {operator} in: give it the mode 0770")
        })?;
        // The mode first: afterwards the file is no longer ours to change.
        fs::set_permissions(path, Permissions::from_mode(0o660))
            .with_context(|| format!("cannot let user {operator} into {}", path.display()))?;
        give(path)?;
        Ok(socket)
    }

    /// Listens for agents: for their user as well, in a directory that anybody may enter, if that is not ours.
    pub(super) fn bind_for_agents(places: &Places, user: Option<&SessionUser>) -> Result<Self> {
        let Some(user) = user.filter(|user| user.uid != rustix::process::geteuid().as_raw()) else {
            return Self::bind(&places.agents);
        };
        if places.share_a_directory() {
            bail!(
                "sessions run as user {}, who cannot enter {}: name another place for the agents' socket with --agent-socket",
                user.uid,
                places.agents.parent().unwrap_or(Path::new("/")).display()
            );
        }
        if let Some(directory) = places.agents.parent() {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o755)
                .create(directory)
                .with_context(|| format!("cannot make the agents' directory {}", directory.display()))?;
        }
        let socket = Self::bind(&places.agents)?;
        std::os::unix::fs::chown(&places.agents, Some(user.uid), Some(user.gid))
            .with_context(|| format!("cannot give {} to user {}", places.agents.display(), user.uid))?;
        Ok(socket)
    }

    /// Listens at `path`, for this user only. A file left behind by a dead daemon is replaced; a socket that answers,
    /// or anything that is not a socket, is left alone.
    pub(super) fn bind(path: &Path) -> Result<Self> {
        let length = path.as_os_str().len();
        if length > MAX_PATH {
            bail!(
                "the socket's path {} is {length} bytes long, the system allows {MAX_PATH}: choose a shorter one with --socket",
                path.display()
            );
        }
        if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            create_private_dir(directory)
                .with_context(|| format!("cannot make the socket's directory {}", directory.display()))?;
        }
        remove_stale(path)?;
        let listener =
            UnixListener::bind(path).with_context(|| format!("cannot listen at {}", path.display()))?;
        let socket = Self { listener, path: path.to_owned(), file: identity(path) };
        // Whoever gets in before this line is turned away by the check of the peer's user.
        fs::set_permissions(path, Permissions::from_mode(0o600))
            .with_context(|| format!("cannot keep others out of {}", path.display()))?;
        Ok(socket)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.file.is_some() && identity(&self.path) == self.file {
            // Whoever removed it already wanted the same.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Device and number of the file at a path.
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Makes a directory, and those above it, that only this user can enter. One that exists stays as it is.
pub(super) fn create_private_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn remove_stale(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot look at {}", path.display())),
        Ok(metadata) if !metadata.file_type().is_socket() => {
            bail!(
                "{} exists and is not a socket: remove it or choose another path with --socket",
                path.display()
            )
        }
        Ok(_) => {}
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => bail!(
            "a capsule already answers at {0}: attach to it with `jackin-capsule attach --socket {0}`",
            path.display()
        ),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path)
            .with_context(|| format!("cannot remove the stale socket {}", path.display())),
        Err(error) => {
            Err(error).with_context(|| format!("cannot tell whether {} is still in use", path.display()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[tokio::test]
    async fn only_the_user_gets_in_and_nothing_is_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/deep/j.sock");
        let socket = Socket::bind(&path).unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        drop(socket);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_dead_socket_is_replaced_a_live_one_and_a_file_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let live = Socket::bind(&path).unwrap();
        assert!(Socket::bind(&path).unwrap_err().to_string().contains("already answers"));
        assert!(path.exists());
        drop(live);
        fs::write(&path, "precious").unwrap();
        assert!(Socket::bind(&path).unwrap_err().to_string().contains("not a socket"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    }

    #[tokio::test]
    async fn a_file_that_took_the_place_of_ours_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j.sock");
        let first = Socket::bind(&path).unwrap();
        fs::rename(&path, dir.path().join("moved")).unwrap();
        let second = Socket::bind(&path).unwrap();
        drop(first);
        assert!(path.exists());
        drop(second);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_path_that_is_too_long_says_so() {
        let error = Socket::bind(Path::new(&format!("/tmp/{}", "x".repeat(200)))).unwrap_err().to_string();
        assert!(error.contains("205 bytes long, the system allows 107"), "{error}");
    }
}
