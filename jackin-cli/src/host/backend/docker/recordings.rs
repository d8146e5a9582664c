//! Brings what was recorded in a container to this machine, where it outlives the container.

mod unpack;

use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use bollard::Docker;
use bollard::query_parameters::DownloadFromContainerOptionsBuilder;
use futures_util::StreamExt;
use jackin_core::InstanceName;
use tokio::sync::mpsc;

use super::connection::{Connection, Trouble, within};
use super::{STATE_DIR, labels, life};
use crate::host::backend::{BackendError, Brought, Life};

/// The most that is taken of one container: several of the largest recordings.
const MOST_BYTES: usize = 1 << 30;

/// How long the next piece may take.
const NEXT: Duration = Duration::from_secs(30);

/// How many pieces wait for the disk.
const WAITING: usize = 4;

/// Brings recordings of a container, which need not run, into a directory: one that the capsule named, or all.
pub(super) async fn bring(
    engine: &Connection,
    docker: &Docker,
    instance: &InstanceName,
    only: Option<&str>,
    dir: PathBuf,
) -> Result<Brought, BackendError> {
    let own = |path: &&str| {
        let below = path.strip_prefix(STATE_DIR).and_then(|below| below.strip_prefix('/'));
        below.is_some_and(unpack::is_plain)
    };
    let path = match only {
        None => STATE_DIR,
        // Anywhere else, the operator has put it on purpose.
        Some(path) if !own(&path) => return Ok(Brought::default()),
        Some(path) => path,
    };
    if life::inspect(engine, docker, instance).await? == Life::Absent {
        return Ok(Brought::default());
    }
    let (pieces, waiting) = mpsc::channel(WAITING);
    let archive = Pieces { waiting, current: io::Cursor::default() };
    let unpacking = tokio::task::spawn_blocking(move || unpack::unpack(archive, &dir));
    let passed = pass_on(docker, &labels::container(instance), path, pieces).await;
    let unpacked = unpacking.await;
    let mut brought = unpacked.map_err(|error| BackendError::failed("fetch the recordings", error))?;
    match passed {
        Ok(true) => {}
        Ok(false) => {
            brought.trouble = Some(format!("there is more than {} MiB in {STATE_DIR}", MOST_BYTES >> 20));
        }
        Err(trouble) if trouble.is_missing() => brought.trouble = None,
        Err(trouble) => brought.trouble = Some(engine.told("fetch the recordings", trouble).to_string()),
    }
    Ok(brought)
}

/// Passes an archive on while it comes; whether that was all of it, or all that anybody wanted.
async fn pass_on(
    docker: &Docker,
    container: &str,
    path: &str,
    pieces: mpsc::Sender<Vec<u8>>,
) -> Result<bool, Trouble> {
    let options = DownloadFromContainerOptionsBuilder::new().path(path).build();
    let mut stream = Box::pin(docker.download_from_container(container, Some(options)));
    let mut passed = 0;
    while let Some(piece) = within(NEXT, async { stream.next().await.transpose() }).await? {
        passed += piece.len();
        if passed > MOST_BYTES {
            return Ok(false);
        }
        if pieces.send(piece.into()).await.is_err() {
            break;
        }
    }
    Ok(true)
}

/// What comes in pieces, for a reader that waits.
struct Pieces {
    waiting: mpsc::Receiver<Vec<u8>>,
    current: io::Cursor<Vec<u8>>,
}

impl Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            let len = self.current.read(buf)?;
            if len > 0 || buf.is_empty() {
                return Ok(len);
            }
            let Some(piece) = self.waiting.blocking_recv() else { return Ok(0) };
            self.current = io::Cursor::new(piece);
        }
    }
}
