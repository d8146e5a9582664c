//! What of the host appears in a container.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bollard::models::{Mount, MountType};
use jackin_core::UserEntry;

use super::super::BackendError;
use crate::config::{at_home, is_place};
use crate::host::plan::Plan;

/// Files and directories in a home that open doors elsewhere.
const CREDENTIALS: [&str; 13] = [
    ".ssh",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".docker",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pypirc",
];

/// Sockets that make their user root of the host.
const ENGINE_SOCKETS: [&str; 4] = [
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
];

/// The workspace and what is mounted beside it. `local` tells whether paths are those of this machine.
pub(super) fn mounts(plan: &Plan, local: bool) -> Result<Vec<Mount>, BackendError> {
    let mut mounts = Vec::new();
    if let Some((source, destination)) = plan.workspace() {
        mounts.push(bind(source, destination, false, local)?);
    }
    for mount in &plan.mounts {
        refuse_own(&mount.destination)?;
        mounts.push(match path_of(&mount.source) {
            Some(path) => bind(&path, &mount.destination, mount.read_only, local)?,
            None => volume(&mount.source, &mount.destination, mount.read_only),
        });
    }
    refuse_own(&plan.workdir)?;
    Ok(mounts)
}

/// A volume of the engine, at this place.
pub(super) fn volume(name: &str, destination: &str, read_only: bool) -> Mount {
    Mount {
        typ: Some(MountType::VOLUME),
        source: Some(name.to_owned()),
        target: Some(destination.to_owned()),
        read_only: Some(read_only),
        ..Mount::default()
    }
}

/// A directory or file of the host, at this place.
pub(super) fn bind(
    source: &Path,
    destination: &str,
    read_only: bool,
    local: bool,
) -> Result<Mount, BackendError> {
    let source =
        if local { std::path::absolute(source).unwrap_or_else(|_| source.into()) } else { source.into() };
    if local && !source.exists() {
        let what = format!("{} is to be mounted at {destination}, and is not there", source.display());
        return Err(BackendError::Impossible(what));
    }
    Ok(Mount {
        typ: Some(MountType::BIND),
        source: Some(source.to_string_lossy().into_owned()),
        target: Some(destination.to_owned()),
        read_only: Some(read_only),
        ..Mount::default()
    })
}

/// The path that a mount's source is; none if it is a volume's name.
fn path_of(source: &str) -> Option<PathBuf> {
    let is_path = source.contains('/') || source.starts_with('.') || source == "~";
    is_path.then(|| at_home(Path::new(source)))
}

/// Refuses to hide what the capsule lives in.
fn refuse_own(destination: &str) -> Result<(), BackendError> {
    if !is_place(destination) {
        return Err(BackendError::Impossible(format!(
            "nothing can be mounted at {destination}: choose an absolute path that is not below /jackin"
        )));
    }
    Ok(())
}

/// What an operator should know before an agent gets all this.
pub(super) fn warnings(plan: &Plan, home: Option<&Path>, engine_socket: Option<&Path>) -> Vec<String> {
    let sources = plan.mounts.iter().filter_map(|mount| path_of(&mount.source));
    let sources = plan.host_workdir.iter().cloned().chain(sources);
    sources.filter_map(|source| Some(format!("warning: {}", danger(&source, home, engine_socket)?))).collect()
}

/// A workspace that the agent cannot write into. Numbers are all that counts: names are the image's own.
pub(super) fn closed(plan: &Plan, user: &UserEntry) -> Option<String> {
    let workspace = plan.host_workdir.as_ref()?;
    let meta = workspace.metadata().ok()?;
    let by_group = meta.gid() == user.gid.unwrap_or(user.uid) && meta.mode() & 0o020 != 0;
    if user.uid == 0 || meta.uid() == user.uid || by_group || meta.mode() & 0o002 != 0 {
        return None;
    }
    let (shown, owner, agent) = (workspace.display(), meta.uid(), user.uid);
    let mend = match owner {
        0 => format!("give it to that user (`chown -R {agent} {shown}`), or use --worktree"),
        _ => format!("give it a role with `user = {{ uid = {owner} }}`"),
    };
    Some(format!(
        "warning: the agent is user {agent} and cannot write into {shown}, which is user {owner}'s: {mend}"
    ))
}

fn danger(source: &Path, home: Option<&Path>, engine_socket: Option<&Path>) -> Option<String> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
    let (shown, source) = (source.display(), real(source));
    let sockets = ENGINE_SOCKETS.iter().map(Path::new).chain(engine_socket).map(real);
    if let Some(socket) = sockets.into_iter().find(|socket| socket.starts_with(&source)) {
        return Some(format!(
            "the agent gets {shown} and with it {}: whoever can use that is root on the host",
            socket.display()
        ));
    }
    let home = real(home?);
    if home.starts_with(&source) {
        return Some(format!("the agent gets {shown}: all of your home, with every key and token in it"));
    }
    let inside = CREDENTIALS.iter().map(|name| real(&home.join(name)));
    let found = inside.into_iter().find(|path| source.starts_with(path))?;
    Some(format!("the agent gets {shown}: the credentials in {} are its own then", found.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::config::BackendKind;

    fn plan(mounts: &[&str]) -> Plan {
        let mut plan = Plan::new("api".parse().unwrap(), BackendKind::Docker, "api", "/workspace");
        plan.mounts = mounts.iter().map(|mount| mount.parse().unwrap()).collect();
        plan
    }

    #[test]
    fn what_opens_doors_is_warned_of() {
        let home = tempfile::tempdir().unwrap();
        let warn = |mounts: &[&str]| warnings(&plan(mounts), Some(home.path()), None);
        let at = |path: &str| format!("{}/{path}:/x", home.path().display());
        assert!(warn(&["/opt/data:/x", "cache:/y", &at("src"), &at(".sshd")]).is_empty());
        for bad in [at(""), at(".ssh"), at(".ssh/id"), at(".config/gh"), "/var/run/docker.sock:/s".into()] {
            assert_eq!(warn(&[&bad]).len(), 1, "{bad}");
        }
        assert!(warn(&["/:/host"])[0].contains("root on the host"));
        let mut at_home = plan(&[]);
        at_home.host_workdir = Some(home.path().into());
        assert!(warnings(&at_home, Some(home.path()), None)[0].contains("all of your home"));
        let other = warnings(&plan(&["/opt/d.sock:/s"]), None, Some(Path::new("/opt/d.sock")));
        assert!(other[0].contains("root on the host"), "{other:?}");
    }

    #[test]
    fn a_workspace_that_is_closed_to_the_agent_is_warned_of() {
        let dir = tempfile::tempdir().unwrap();
        let set = |mode| std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        let own = dir.path().metadata().unwrap();
        let user = |uid, gid| UserEntry { uid, gid: Some(gid), name: None, home: None };
        let mut plan = plan(&[]);
        plan.host_workdir = Some(dir.path().into());
        set(0o755);
        assert_eq!(closed(&plan, &user(own.uid(), 1)), None);
        let other = user(own.uid() + 1, own.gid());
        let told = closed(&plan, &other).unwrap();
        assert!(told.contains(&format!("is user {} and cannot write", other.uid)), "{told}");
        set(0o775);
        assert_eq!(closed(&plan, &other), None, "its group may");
        assert!(closed(&plan, &user(own.uid() + 1, own.gid() + 1)).is_some());
        set(0o777);
        assert_eq!(closed(&plan, &user(own.uid() + 1, own.gid() + 1)), None, "everybody may");
    }

    #[test]
    fn volumes_are_told_from_paths_and_the_capsule_is_left_alone() {
        let found = mounts(&plan(&["cache:/cache", "/etc:/e:ro"]), true).unwrap();
        let kinds: Vec<_> =
            found.iter().map(|mount| (mount.typ.unwrap(), mount.read_only.unwrap())).collect();
        assert_eq!(kinds, [(MountType::VOLUME, false), (MountType::BIND, true)]);
        for bad in ["/etc:/jackin/run", "/etc:/jackin", "/etc:/", "/etc:/a/../jackin/run"] {
            assert!(mounts(&plan(&[bad]), true).unwrap_err().to_string().contains("/jackin"), "{bad}");
        }
        let missing = mounts(&plan(&["/no/such:/x"]), true).unwrap_err().to_string();
        assert!(missing.contains("not there"), "{missing}");
        assert!(mounts(&plan(&["/no/such:/x"]), false).is_ok(), "another machine has other directories");
    }
}
