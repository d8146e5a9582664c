//! What no container could be made of: found when the configuration is read, and not by an engine half-way through.

use std::path::{Component, Path};

use super::schema::{Config, LimitsConfig};
use super::value::{Bytes, Mount};

/// Engines refuse less memory for a container.
const LEAST_MEMORY: Bytes = Bytes(6 << 20);

/// A mistake: the keys that lead to it, and what is wrong and what to write.
type Found = (Vec<String>, String);

/// Whether something of ours or of the host can be at a place in a container: what the capsule lives in stays as it is.
pub(crate) fn is_place(destination: &str) -> bool {
    let path = Path::new(destination);
    let plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    plain && path.is_absolute() && path != Path::new("/") && !path.starts_with("/jackin")
}

/// What is wrong with the containers of a configuration.
pub(super) fn mistakes(config: &Config) -> Vec<Found> {
    let mut found = Vec::new();
    for (name, role) in &config.roles {
        let at = ["roles", name.as_str()];
        if let Some(workdir) = role.workdir.as_ref().filter(|workdir| !is_place(workdir)) {
            let what = format!(
                "{workdir:?} is no place in a container; write an absolute path that is not below /jackin, such as \
                 workdir = \"/workspace\""
            );
            found.push(mistake(&at, "workdir", &what));
        }
        if role.network.as_ref().is_some_and(|network| network.trim().is_empty()) {
            found.push(mistake(&at, "network", "it is empty; write, for example, network = \"instance\""));
        }
        check_limits(&["roles", name.as_str(), "limits"], &role.limits, &mut found);
        check_mounts(&at, "mounts", &role.mounts, &mut found);
        for (sidecar, config) in &role.sidecars {
            check_mounts(
                &["roles", name.as_str(), "sidecars", sidecar],
                "volumes",
                &config.volumes,
                &mut found,
            );
        }
    }
    for (name, workspace) in &config.workspaces {
        check_mounts(&["workspaces", name], "mounts", &workspace.mounts, &mut found);
    }
    found
}

fn mistake(at: &[&str], field: &str, what: &str) -> Found {
    let path: Vec<String> = at.iter().chain([&field]).map(ToString::to_string).collect();
    let what = format!("{}: {what}", path.join("."));
    (path, what)
}

fn check_limits(at: &[&str], limits: &LimitsConfig, found: &mut Vec<Found>) {
    let LimitsConfig { cpus, memory, pids, sessions } = limits;
    // Not a number is not enough, either.
    if let Some(cpus) = cpus.filter(|cpus| !cpus.is_finite() || *cpus <= 0.0) {
        let what = format!("{cpus} is too little; write, for example, cpus = 2.0");
        found.push(mistake(at, "cpus", &what));
    }
    if let Some(memory) = memory.filter(|memory| *memory < LEAST_MEMORY) {
        let what = format!(
            "{memory} is too little for a container; write \"{LEAST_MEMORY}\" or more, for example, memory = \"4g\""
        );
        found.push(mistake(at, "memory", &what));
    }
    for (field, value, example) in [("pids", pids, 512), ("sessions", sessions, 16)] {
        if *value == Some(0) {
            let what = format!("0 is too little; write, for example, {field} = {example}");
            found.push(mistake(at, field, &what));
        }
    }
}

fn check_mounts(at: &[&str], field: &str, mounts: &[Mount], found: &mut Vec<Found>) {
    for mount in mounts.iter().filter(|mount| !is_place(&mount.destination)) {
        let what = format!(
            "nothing can be mounted at {:?}; write an absolute path that is not below /jackin",
            mount.destination
        );
        found.push(mistake(at, field, &what));
    }
}
