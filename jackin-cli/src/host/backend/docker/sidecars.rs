//! The containers beside an instance.

use std::collections::HashMap;
use std::time::Duration;

use bollard::Docker;
use bollard::models::{
    ContainerCreateBody, EndpointSettings, HealthStatusEnum, HostConfig, NetworkingConfig, RestartPolicy,
    RestartPolicyNameEnum,
};
use bollard::query_parameters::{
    CreateContainerOptionsBuilder, InspectContainerOptions, StartContainerOptions,
};
use tokio::time::Instant;

use super::connection::{ASK, CHANGE, Connection, within};
use super::container::{bounded_log, shared_volume};
use super::labels;
use super::life::last_words;
use super::mounts::volume;
use crate::config::SidecarConfig;
use crate::host::backend::{BackendError, Steps};
use crate::host::plan::Plan;

/// How long a sidecar that tells of its health may take to be well.
const UNTIL_WELL: Duration = Duration::from_secs(120);

const PAUSE: Duration = Duration::from_millis(200);

/// Refuses sidecars that nobody could reach.
pub(super) fn check(plan: &Plan) -> Result<(), BackendError> {
    if plan.sidecars.is_empty() {
        return Ok(());
    }
    if let Some(network @ ("none" | "host")) = plan.network.as_deref() {
        return Err(BackendError::Impossible(format!(
            "sidecars are reached over the instance's own network, and the role says `network = \"{network}\"`: \
             remove that, or the sidecars"
        )));
    }
    for (name, sidecar) in &plan.sidecars {
        let plain = !name.is_empty()
            && name.len() <= 63
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !plain || name.starts_with('-') {
            return Err(BackendError::Impossible(format!(
                "a sidecar cannot be called {name:?}: it is a host's name, of a-z, 0-9 and -"
            )));
        }
        if sidecar.image.is_empty() {
            return Err(BackendError::Impossible(format!("the sidecar {name} has no image")));
        }
        if let Some(mount) = sidecar.volumes.iter().find(|mount| !is_volume(&mount.source)) {
            return Err(BackendError::Impossible(format!(
                "the sidecar {name} is to share {}, which is no volume's name: write name:/destination",
                mount.source
            )));
        }
    }
    Ok(())
}

fn is_volume(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Starts a sidecar, and waits until it is well if it tells.
pub(super) async fn start(
    engine: &Connection,
    docker: &Docker,
    plan: &Plan,
    name: &str,
    step: &mut Steps<'_>,
) -> Result<(), BackendError> {
    let Some(sidecar) = plan.sidecars.get(name) else { return Ok(()) };
    step(&format!("starting the sidecar {name}"));
    let container = labels::part(&plan.instance, name);
    let options = CreateContainerOptionsBuilder::new().name(&container).build();
    let body = body(plan, name, sidecar)?;
    let told = |trouble| engine.told(&format!("start the sidecar {name}"), trouble);
    within(CHANGE, docker.create_container(Some(options), body)).await.map_err(told)?;
    within(CHANGE, docker.start_container(&container, None::<StartContainerOptions>)).await.map_err(told)?;
    let begin = Instant::now();
    loop {
        let found = within(ASK, docker.inspect_container(&container, None::<InspectContainerOptions>)).await;
        let state = found.map_err(told)?.state.unwrap_or_default();
        let health = state.health.and_then(|health| health.status);
        let why = match (state.running, state.exit_code, health) {
            (Some(false), Some(code), _) if code != 0 => format!("it ended with exit code {code}"),
            (_, _, Some(HealthStatusEnum::UNHEALTHY)) => "it says that it is not well".to_owned(),
            (_, _, Some(HealthStatusEnum::STARTING)) if begin.elapsed() < UNTIL_WELL => {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            (_, _, Some(HealthStatusEnum::STARTING)) => "it does not get well".to_owned(),
            _ => return Ok(()),
        };
        let words = last_words(docker, &container).await;
        return Err(BackendError::failed(format!("start the sidecar {name}"), format!("{why}{words}")));
    }
}

fn body(plan: &Plan, name: &str, sidecar: &SidecarConfig) -> Result<ContainerCreateBody, BackendError> {
    let mut labels = labels::of(plan)?;
    labels.insert(labels::SIDECAR.to_owned(), name.to_owned());
    let network = labels::container(&plan.instance);
    let endpoint = EndpointSettings { aliases: Some(vec![name.to_owned()]), ..EndpointSettings::default() };
    // What is `:ro` is so for the instance: somebody has to fill it.
    let shared =
        |mount: &crate::config::Mount| volume(&shared_volume(plan, &mount.source), &mount.destination, false);
    let host = HostConfig {
        mounts: Some(sidecar.volumes.iter().map(shared).collect()),
        network_mode: Some(network.clone()),
        privileged: Some(sidecar.privileged),
        security_opt: (!sidecar.privileged).then(|| vec!["no-new-privileges".to_owned()]),
        restart_policy: Some(RestartPolicy {
            name: Some(RestartPolicyNameEnum::NO),
            maximum_retry_count: None,
        }),
        log_config: Some(bounded_log()),
        ..HostConfig::default()
    };
    Ok(ContainerCreateBody {
        image: Some(sidecar.image.clone()),
        hostname: Some(name.to_owned()),
        cmd: (!sidecar.command.is_empty()).then(|| sidecar.command.clone()),
        env: Some(sidecar.env.iter().map(|(name, value)| format!("{name}={value}")).collect()),
        labels: Some(labels),
        networking_config: Some(NetworkingConfig {
            endpoints_config: Some(HashMap::from([(network, endpoint)])),
        }),
        host_config: Some(host),
        ..ContainerCreateBody::default()
    })
}
