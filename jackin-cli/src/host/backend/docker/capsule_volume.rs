//! The capsule in a volume, for containers whose own files cannot be changed. There is one for each capsule, filled once.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use bollard::Docker;
use bollard::models::VolumeCreateRequest;
use bollard::query_parameters::{
    ContainerArchiveInfoOptionsBuilder, ListVolumesOptionsBuilder, RemoveVolumeOptions,
};
use tokio::time::Instant;

use super::CAPSULE;
use super::archive::{Access, Archive};
use super::capsule_binary::CapsuleBinary;
use super::connection::{ASK, CHANGE, Connection, within};
use super::labels::{self, Labels};
use crate::host::backend::BackendError;
use crate::host::manifest::private_dir;

/// How long another command may take to fill the volume.
const PATIENCE: Duration = Duration::from_secs(60);

const PAUSE: Duration = Duration::from_millis(50);

/// The name of the volume for a capsule. Another build of the same version is another capsule.
pub(super) fn name(capsule: &CapsuleBinary, arch: &str) -> String {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let hash = capsule.bytes.iter().fold(0xcbf2_9ce4_8422_2325, add);
    format!("jackin-capsule-{}-{arch}-{hash:016x}", labels::OWN_VERSION)
}

/// Makes the volume, empty if it was not there.
pub(super) async fn make(engine: &Connection, docker: &Docker, name: &str) -> Result<(), BackendError> {
    let labels = Labels::from([(labels::CAPSULE.to_owned(), labels::OWN_VERSION.to_owned())]);
    let request = VolumeCreateRequest {
        name: Some(name.to_owned()),
        labels: Some(labels),
        ..VolumeCreateRequest::default()
    };
    let made = within(CHANGE, docker.create_volume(request)).await;
    made.map(drop).map_err(|trouble| engine.told("make the volume of the capsule", trouble))
}

/// Fills the volume that a container has mounted where it can be written, unless that was done.
pub(super) async fn fill(
    engine: &Connection,
    docker: &Docker,
    container: &str,
    name: &str,
    capsule: &CapsuleBinary,
    cache: &Path,
) -> Result<(), BackendError> {
    // Two at a time would replace it under the feet of the first one's container.
    let _lock = lock(cache).await?;
    let options = ContainerArchiveInfoOptionsBuilder::new().path(CAPSULE).build();
    match within(ASK, docker.get_container_archive_info(container, Some(options))).await {
        Ok(found) if found.size == capsule.bytes.len() as i64 => return Ok(()),
        Ok(_) => {}
        Err(trouble) if trouble.is_missing() => {}
        Err(trouble) => return Err(engine.told("look for the capsule in its volume", trouble)),
    }
    let mut archive = Archive::new();
    archive
        .file(CAPSULE.trim_start_matches('/'), Access::root(0o755), &capsule.bytes)
        .map_err(|error| BackendError::failed("pack the capsule", error))?;
    let filled = archive.unpack(docker, container, "/").await;
    filled.map_err(|trouble| engine.told("fill the volume of the capsule", trouble))?;
    forget_others(docker, name).await;
    Ok(())
}

/// Removes capsules that no container uses any more. The engine keeps those that are in use.
async fn forget_others(docker: &Docker, name: &str) {
    let filters = [("label", vec![labels::CAPSULE])].into();
    let options = ListVolumesOptionsBuilder::new().filters(&filters).build();
    let Ok(found) = within(ASK, docker.list_volumes(Some(options))).await else { return };
    for volume in found.volumes.unwrap_or_default() {
        if volume.name != name {
            let _ = within(ASK, docker.remove_volume(&volume.name, None::<RemoveVolumeOptions>)).await;
        }
    }
}

async fn lock(cache: &Path) -> Result<File, BackendError> {
    let path = cache.join("capsule.lock");
    let failed = |error: io::Error| BackendError::failed(format!("lock {}", path.display()), error);
    private_dir(cache).map_err(failed)?;
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begin.elapsed() < PATIENCE => tokio::time::sleep(PAUSE).await,
            Err(TryLockError::WouldBlock) => return Err(failed(io::ErrorKind::TimedOut.into())),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}
