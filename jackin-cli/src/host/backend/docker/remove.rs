//! Taking away everything of an instance, and nothing else.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use bollard::Docker;
use bollard::query_parameters::{
    ListContainersOptionsBuilder, ListNetworksOptionsBuilder, ListVolumesOptionsBuilder,
    RemoveContainerOptionsBuilder, RemoveVolumeOptionsBuilder, StopContainerOptionsBuilder,
};
use jackin_core::InstanceName;
use tokio::time::Instant;

use super::connection::{ASK, CHANGE, Connection, Trouble, within};
use super::container::GRACE_SECONDS;
use super::labels;
use crate::host::backend::BackendError;

/// How long the engine may take to let go of something that it is about to remove.
const PATIENCE: Duration = Duration::from_secs(20);

const PAUSE: Duration = Duration::from_millis(100);

/// How long sidecars may take to end.
const SIDECAR_SECONDS: i32 = 2;

/// Ends the containers of an instance, in order if they let themselves be ended.
pub(super) async fn stop(
    engine: &Connection,
    docker: &Docker,
    instance: &InstanceName,
) -> Result<(), BackendError> {
    let told = |trouble| engine.told(&format!("stop {instance}"), trouble);
    let containers = containers(docker, &labels::filter(Some(instance)), false).await.map_err(told)?;
    let stops = containers.iter().map(|(id, sidecar)| async move {
        let seconds = if *sidecar { SIDECAR_SECONDS } else { GRACE_SECONDS as i32 };
        let options = StopContainerOptionsBuilder::new().t(seconds).build();
        match within(CHANGE, docker.stop_container(id, Some(options))).await {
            Err(trouble) if !trouble.is_missing() => Err(trouble),
            _ => Ok(()),
        }
    });
    let done = futures_util::future::join_all(stops).await;
    done.into_iter().collect::<Result<(), Trouble>>().map_err(told)
}

/// Removes everything that is labelled as an instance's.
pub(super) async fn remove(
    engine: &Connection,
    docker: &Docker,
    instance: &InstanceName,
) -> Result<(), BackendError> {
    let told = |what: &str, trouble| engine.told(&format!("remove {what} of {instance}"), trouble);
    // In order, so that an agent can put down what it holds.
    stop(engine, docker, instance).await?;
    let begin = Instant::now();
    let filter = labels::filter(Some(instance));
    remove_containers(docker, &filter, begin).await.map_err(|trouble| told("a container", trouble))?;
    remove_networks(docker, &filter, begin).await.map_err(|trouble| told("the network", trouble))?;
    remove_volumes(docker, &filter, begin).await.map_err(|trouble| told("a volume", trouble))
}

/// What lists something by its labels.
type Filter = HashMap<&'static str, Vec<String>>;

/// Removes every container that a filter lists, running or not.
pub(super) async fn remove_containers(
    docker: &Docker,
    filter: &Filter,
    begin: Instant,
) -> Result<(), Trouble> {
    loop {
        let containers = containers(docker, filter, true).await?;
        let options = RemoveContainerOptionsBuilder::new().force(true).v(true).build();
        let removals = containers.iter().map(|(id, _)| {
            let options = options.clone();
            async move { within(CHANGE, docker.remove_container(id, Some(options))).await }
        });
        let done = futures_util::future::join_all(removals).await;
        let mut troubles: Vec<Trouble> = done.into_iter().filter_map(Result::err).collect();
        if let Some(lasting) = troubles.iter().position(|trouble| !passes(trouble, begin)) {
            return Err(troubles.swap_remove(lasting));
        }
        if containers.is_empty() {
            return Ok(());
        }
        if !troubles.is_empty() {
            tokio::time::sleep(PAUSE).await;
        }
        if begin.elapsed() > PATIENCE {
            return Err(Trouble::Slow(PATIENCE));
        }
    }
}

/// Whether to look again: it is gone, somebody is removing it, or the engine could not let go of its files just now.
fn passes(trouble: &Trouble, begin: Instant) -> bool {
    let may_pass = trouble.is_conflict() || matches!(trouble, Trouble::Refused(500, _));
    trouble.is_missing() || (may_pass && begin.elapsed() < PATIENCE)
}

/// Removes every network that a filter lists.
pub(super) async fn remove_networks(docker: &Docker, filter: &Filter, begin: Instant) -> Result<(), Trouble> {
    loop {
        let options = ListNetworksOptionsBuilder::new().filters(filter).build();
        let networks = within(ASK, docker.list_networks(Some(options))).await?;
        let ids: Vec<String> = networks.into_iter().filter_map(|network| network.id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        for id in ids {
            match within(CHANGE, docker.remove_network(&id)).await {
                Ok(()) => {}
                Err(trouble) if trouble.is_missing() => {}
                // A container that was just removed may hold on to it for a moment.
                Err(Trouble::Refused(..)) if begin.elapsed() < PATIENCE => tokio::time::sleep(PAUSE).await,
                Err(trouble) => return Err(trouble),
            }
        }
    }
}

async fn remove_volumes(docker: &Docker, filter: &Filter, begin: Instant) -> Result<(), Trouble> {
    loop {
        let options = ListVolumesOptionsBuilder::new().filters(filter).build();
        let volumes = within(ASK, docker.list_volumes(Some(options))).await?.volumes.unwrap_or_default();
        if volumes.is_empty() {
            return Ok(());
        }
        for volume in volumes {
            let options = RemoveVolumeOptionsBuilder::new().force(false).build();
            match within(CHANGE, docker.remove_volume(&volume.name, Some(options))).await {
                Ok(()) => {}
                Err(trouble) if trouble.is_missing() => {}
                Err(Trouble::Refused(..)) if begin.elapsed() < PATIENCE => tokio::time::sleep(PAUSE).await,
                Err(trouble) => return Err(trouble),
            }
        }
    }
}

/// The containers that a filter lists, running or `all`, and whether each is one beside an instance.
async fn containers(docker: &Docker, filter: &Filter, all: bool) -> Result<Vec<(String, bool)>, Trouble> {
    let options = ListContainersOptionsBuilder::new().all(all).filters(filter).build();
    let found = within(ASK, docker.list_containers(Some(options))).await?;
    let entry = |container: bollard::models::ContainerSummary| {
        let sidecar = container.labels.is_some_and(|labels| labels.contains_key(labels::SIDECAR));
        Some((container.id?, sidecar))
    };
    Ok(found.into_iter().filter_map(entry).collect())
}

/// Removes a directory of this machine.
pub(super) fn remove_dir(dir: &Path) -> Result<(), BackendError> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(BackendError::failed(format!("remove {}", dir.display()), error))
        }
        _ => Ok(()),
    }
}
