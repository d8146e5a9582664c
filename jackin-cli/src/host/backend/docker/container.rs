//! What the engine is told about an instance's container.

use std::collections::HashMap;
use std::path::PathBuf;

use bollard::models::{
    ContainerCreateBody, EndpointSettings, HealthConfig, HostConfig, HostConfigLogConfig, Mount,
    NetworkingConfig, RestartPolicy, RestartPolicyNameEnum,
};
use jackin_core::UserEntry;

use super::labels::{self, Labels};
use super::mounts::{bind, volume};
use super::{AGENT_DIR, CAPSULE, CONFIG, RUN_DIR, RUNTIME_DIR, STATE_DIR};
use crate::host::backend::BackendError;
use crate::host::plan::Plan;

/// All that a capsule needs of root's rights.
const CAPABILITIES: [&str; 4] = ["SETUID", "SETGID", "KILL", "CHOWN"];

/// The user of sessions where the plan names none; the capsule's own default.
const USUAL_UID: u32 = 1000;

/// The home of that user where the image cannot be changed.
const USUAL_HOME: &str = "/home/agent";

/// How long a container may take to end by itself when it is told to.
pub(super) const GRACE_SECONDS: i64 = 10;

/// How much of what a container prints is kept.
const LOG_SIZE: &str = "1m";

/// Where the capsule's socket and configuration are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// In a directory of this machine, so that the socket is here too.
    Shared {
        /// The directory.
        dir: PathBuf,
        /// Whether the engine has to label it as the container's.
        label: bool,
        /// The operator's user, if containers know it by a number, and it is not root.
        operator: Option<u32>,
    },
    /// In the container alone.
    Inside,
}

/// How a plan is laid out in a container.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) run: Run,
    /// The volume with the capsule, where it cannot be put into the container itself.
    pub(super) capsule: Option<String>,
    /// The workspace, and what is mounted beside it.
    pub(super) mounts: Vec<Mount>,
}

/// The volumes that are made for an instance and go with it.
pub(super) fn own_volumes(plan: &Plan, run: &Run) -> Vec<String> {
    let mut parts: Vec<&str> = Vec::new();
    if plan.read_only {
        parts.push("state");
        parts.extend((*run == Run::Inside).then_some("run"));
        parts.extend(plan.host_workdir.is_none().then_some("workspace"));
        parts.extend(has_home_volume(plan).then_some("home"));
    }
    let mut names: Vec<String> = parts.iter().map(|part| labels::part(&plan.instance, part)).collect();
    let shared = plan.sidecars.values().flat_map(|sidecar| &sidecar.volumes);
    names.extend(shared.map(|mount| shared_volume(plan, &mount.source)));
    names.sort();
    names.dedup();
    names
}

/// The name of a volume that an instance shares with its sidecars.
pub(super) fn shared_volume(plan: &Plan, name: &str) -> String {
    labels::part(&plan.instance, &format!("shared.{name}"))
}

/// Whom sessions run as.
pub(crate) fn session_user(plan: &Plan) -> UserEntry {
    let usual = UserEntry { uid: USUAL_UID, gid: None, name: None, home: None };
    let mut user = plan.user.clone().unwrap_or(usual);
    if plan.read_only && user.uid != 0 {
        // A home of the image could not be written to.
        user.home.get_or_insert_with(|| USUAL_HOME.to_owned());
    }
    user
}

/// Whether the home of a container that cannot be changed is a volume: what is in memory alone cannot be filled before
/// the container starts.
fn has_home_volume(plan: &Plan) -> bool {
    plan.read_only && !plan.skills.is_empty() && session_user(plan).uid != 0
}

/// The container of a plan.
pub(super) fn body(
    plan: &Plan,
    layout: &Layout,
    labels: Labels,
) -> Result<ContainerCreateBody, BackendError> {
    let (mut mounts, mut binds) = (layout.mounts.clone(), Vec::new());
    match &layout.run {
        Run::Shared { dir, label: true, .. } => binds.push(format!("{}:{RUN_DIR}:Z", dir.display())),
        Run::Shared { dir, .. } => mounts.push(bind(dir, RUN_DIR, false, true)?),
        Run::Inside if plan.read_only => {
            mounts.push(volume(&labels::part(&plan.instance, "run"), RUN_DIR, false));
        }
        Run::Inside => {}
    }
    let mut tmpfs = HashMap::new();
    if plan.read_only {
        mounts.push(volume(&labels::part(&plan.instance, "state"), STATE_DIR, false));
        if plan.host_workdir.is_none() {
            mounts.push(volume(&labels::part(&plan.instance, "workspace"), &plan.workdir, false));
        }
        let user = session_user(plan);
        tmpfs.insert(AGENT_DIR.to_owned(), "rw,nosuid,nodev,noexec,mode=0755,size=1m".to_owned());
        tmpfs.insert("/tmp".to_owned(), "rw,nosuid,nodev,exec,mode=1777".to_owned());
        if let Some(home) = user.home.as_ref().filter(|_| has_home_volume(plan)) {
            mounts.push(volume(&labels::part(&plan.instance, "home"), home, false));
        } else if let Some(home) = user.home.filter(|_| user.uid != 0) {
            let (uid, gid) = (user.uid, user.gid.unwrap_or(user.uid));
            tmpfs.insert(home, format!("rw,nosuid,nodev,exec,mode=0700,uid={uid},gid={gid}"));
        }
    }
    if let Some(name) = &layout.capsule {
        mounts.push(volume(name, RUNTIME_DIR, true));
    }
    let mut taken: Vec<String> = mounts.iter().filter_map(|mount| mount.target.clone()).collect();
    for shared in plan.sidecars.values().flat_map(|sidecar| &sidecar.volumes) {
        if !taken.contains(&shared.destination) {
            taken.push(shared.destination.clone());
            mounts.push(volume(&shared_volume(plan, &shared.source), &shared.destination, shared.read_only));
        }
    }
    let network = network_mode(plan);
    let own_name = network != "host" && network != "none";
    let endpoint =
        EndpointSettings { aliases: Some(vec![plan.instance.to_string()]), ..EndpointSettings::default() };
    let host = HostConfig {
        binds: (!binds.is_empty()).then_some(binds),
        mounts: Some(mounts),
        tmpfs: (!tmpfs.is_empty()).then_some(tmpfs),
        network_mode: Some(network.clone()),
        cap_add: Some(CAPABILITIES.map(ToOwned::to_owned).to_vec()),
        // The capsule takes orphans in itself.
        init: Some(false),
        log_config: Some(bounded_log()),
        ..confined(plan)
    };
    let mut words = vec!["daemon".to_owned(), "--config".to_owned(), CONFIG.to_owned()];
    if !plan.command.is_empty() {
        words.push("--".to_owned());
        words.extend(plan.command.iter().cloned());
    }
    Ok(ContainerCreateBody {
        image: plan.image.clone(),
        hostname: own_name.then(|| plan.instance.to_string()),
        user: Some("0:0".to_owned()),
        entrypoint: Some(vec![CAPSULE.to_owned()]),
        cmd: Some(words),
        env: Some(plan.env.iter().map(|(name, value)| format!("{name}={value}")).collect()),
        working_dir: Some("/".to_owned()),
        tty: Some(false),
        open_stdin: Some(false),
        labels: Some(labels),
        // The image may have others in mind, for the program that it was made for.
        stop_signal: Some("SIGTERM".to_owned()),
        stop_timeout: Some(GRACE_SECONDS),
        healthcheck: Some(no_healthcheck()),
        networking_config: own_name
            .then(|| NetworkingConfig { endpoints_config: Some(HashMap::from([(network, endpoint)])) }),
        host_config: Some(host),
        ..ContainerCreateBody::default()
    })
}

/// What every container of ours may not do, and how much it may use.
pub(super) fn confined(plan: &Plan) -> HostConfig {
    let limits = &plan.limits;
    let memory = limits.memory.map(|memory| i64::try_from(memory.0).unwrap_or(i64::MAX));
    HostConfig {
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        privileged: Some(false),
        readonly_rootfs: Some(plan.read_only),
        nano_cpus: limits.cpus.map(|cpus| (cpus * 1e9) as i64),
        memory,
        // As much as of memory: there is none beside it.
        memory_swap: memory,
        pids_limit: limits.pids.map(i64::from),
        restart_policy: Some(RestartPolicy {
            name: Some(RestartPolicyNameEnum::NO),
            maximum_retry_count: None,
        }),
        ..HostConfig::default()
    }
}

/// The image may have one in mind for the program that it was made for.
pub(super) fn no_healthcheck() -> HealthConfig {
    HealthConfig { test: Some(vec!["NONE".to_owned()]), ..HealthConfig::default() }
}

/// A container that never starts, with the same places as another whose own files cannot be changed: the engine unpacks
/// nothing in that one.
pub(super) fn stand_in(
    plan: &Plan,
    layout: &Layout,
    mut labels: Labels,
) -> Result<ContainerCreateBody, BackendError> {
    labels.insert(labels::SIDECAR.to_owned(), STAND_IN.to_owned());
    let mut body = body(plan, layout, labels)?;
    body.networking_config = None;
    if let Some(host) = &mut body.host_config {
        host.network_mode = Some("none".to_owned());
        host.readonly_rootfs = Some(false);
        host.tmpfs = None;
        for mount in host.mounts.iter_mut().flatten() {
            if mount.target.as_deref() == Some(RUNTIME_DIR) {
                mount.read_only = Some(false);
            }
        }
    }
    Ok(body)
}

/// What the stand-in is called; no sidecar is, because of the dot.
pub(super) const STAND_IN: &str = "stand.in";

/// What a container prints is kept, and not without end.
pub(super) fn bounded_log() -> HostConfigLogConfig {
    let options = [("max-size", LOG_SIZE), ("max-file", "2")];
    HostConfigLogConfig {
        typ: Some("json-file".to_owned()),
        config: Some(options.map(|(name, value)| (name.to_owned(), value.to_owned())).into()),
    }
}

/// Whether the instance has a network of its own.
pub(super) fn has_own_network(plan: &Plan) -> bool {
    matches!(plan.network.as_deref(), None | Some("instance")) || !plan.sidecars.is_empty()
}

/// The network that somebody else made, if the plan names one.
pub(super) fn named_network(plan: &Plan) -> Option<&str> {
    plan.network.as_deref().filter(|name| !["instance", "none", "host"].contains(name))
}

fn network_mode(plan: &Plan) -> String {
    match plan.network.as_deref() {
        None | Some("instance") => labels::container(&plan.instance),
        Some(other) => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BackendKind;

    fn plan() -> Plan {
        let mut plan = Plan::new("api".parse().unwrap(), BackendKind::Docker, "api", "/workspace");
        plan.image = Some("debian:12".into());
        plan
    }

    fn made(plan: &Plan, run: Run) -> ContainerCreateBody {
        body(plan, &Layout { run, capsule: None, mounts: Vec::new() }, Labels::new()).unwrap()
    }

    #[test]
    fn nothing_is_given_that_was_not_asked_for() {
        let mut plan = plan();
        plan.command = vec!["sh".into(), "-c".into(), "x".into()];
        let body = made(&plan, Run::Inside);
        let host = body.host_config.unwrap();
        assert_eq!(
            (host.cap_drop.unwrap(), host.cap_add.unwrap()),
            (vec!["ALL".to_owned()], CAPABILITIES.map(String::from).to_vec())
        );
        assert_eq!(
            (host.privileged, host.mounts, host.binds, host.tmpfs),
            (Some(false), Some(vec![]), None, None)
        );
        assert_eq!(host.security_opt.unwrap(), ["no-new-privileges"]);
        assert_eq!(host.network_mode.unwrap(), "jackin-api");
        assert_eq!(
            (host.memory, host.memory_swap, host.nano_cpus, host.pids_limit),
            (None, None, None, None)
        );
        assert_eq!(body.cmd.unwrap(), ["daemon", "--config", CONFIG, "--", "sh", "-c", "x"]);
    }

    #[test]
    fn what_cannot_be_changed_gets_places_that_can() {
        let mut plan = plan();
        plan.read_only = true;
        plan.network = Some("none".into());
        assert_eq!(
            own_volumes(&plan, &Run::Inside),
            ["jackin-api.run", "jackin-api.state", "jackin-api.workspace"]
        );
        let body = made(&plan, Run::Inside);
        assert!(body.hostname.is_none() && body.networking_config.is_none());
        let host = body.host_config.unwrap();
        let mut targets: Vec<_> = host.mounts.unwrap().into_iter().filter_map(|mount| mount.target).collect();
        targets.sort();
        assert_eq!(targets, ["/jackin/run", "/jackin/state", "/workspace"]);
        let tmpfs = host.tmpfs.unwrap();
        assert!(tmpfs["/home/agent"].contains("uid=1000,gid=1000"), "{tmpfs:?}");
        assert!(tmpfs.contains_key("/tmp") && tmpfs.contains_key("/jackin/agent"));
        // What skills are put into has to be there before the container starts.
        plan.skills = vec!["pr".into()];
        assert!(own_volumes(&plan, &Run::Inside).contains(&"jackin-api.home".to_owned()));
        let host = made(&plan, Run::Inside).host_config.unwrap();
        assert!(!host.tmpfs.unwrap().contains_key("/home/agent"));
        assert!(host.mounts.unwrap().iter().any(|mount| mount.target.as_deref() == Some("/home/agent")));
    }

    #[test]
    fn volumes_of_sidecars_are_shared_once() {
        let mut plan = plan();
        for name in ["a", "b"] {
            let mut sidecar = crate::config::SidecarConfig { image: "x".into(), ..Default::default() };
            sidecar.volumes.push("certs:/certs:ro".parse().unwrap());
            plan.sidecars.insert(name.into(), sidecar);
        }
        assert_eq!(own_volumes(&plan, &Run::Inside), ["jackin-api.shared.certs"]);
        let mounts = made(&plan, Run::Inside).host_config.unwrap().mounts.unwrap();
        assert_eq!((mounts.len(), mounts[0].read_only), (1, Some(true)));
    }
}
