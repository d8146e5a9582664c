//! What the engine is told about the container of a run.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use bollard::models::{
    ContainerCreateBody, EndpointSettings, HostConfig, HostConfigLogConfig, Mount, NetworkingConfig,
};

use super::connection::Facts;
use super::container::{confined, no_healthcheck};
use super::mounts::{self, bind};
use super::runs::{RunSpec, container_name};
use crate::host::backend::BackendError;

/// The home of an agent that the image has none for. Its name is nobody's, so that it hides nothing of the image.
const FRESH_HOME: &str = "/home/operator";

/// How long a container may take to end when somebody else stops it.
const GRACE_SECONDS: i64 = 3;

/// Whom the agent runs as: whoever makes files must be the operator, outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct User {
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// The engine gives users other numbers, unless it is told not to.
    pub(super) unmapped: bool,
}

impl User {
    pub(super) fn of_operator(facts: &Facts) -> Self {
        if facts.rootless {
            // To such an engine, the operator is root.
            return Self { uid: 0, gid: 0, unmapped: false };
        }
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        Self { uid: uid.as_raw(), gid: gid.as_raw(), unmapped: facts.remapped }
    }
}

/// Where the agent is at home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// Where the image, the role or the operator says.
    Own,
    /// In a directory in memory, gone with the container.
    Fresh,
}

/// Which home it gets; none as long as that depends on whether the image has one.
pub(super) fn home_of(spec: &RunSpec, user: User, image_has_one: Option<bool>) -> Option<Home> {
    let chosen = spec.env.contains_key("HOME") || spec.plan.env.contains_key("HOME");
    if chosen || role_home(spec, user).is_some() {
        return Some(Home::Own);
    }
    if spec.plan.read_only {
        return Some(Home::Fresh);
    }
    image_has_one.map(|has| if has { Home::Own } else { Home::Fresh })
}

/// The role's home, if its user is the one that the agent runs as.
fn role_home(spec: &RunSpec, user: User) -> Option<&str> {
    spec.plan.user.as_ref().filter(|of_role| of_role.uid == user.uid)?.home.as_deref()
}

/// The container of a run.
pub(super) fn body(
    spec: &RunSpec,
    user: User,
    selinux: bool,
    home: Home,
) -> Result<ContainerCreateBody, BackendError> {
    let RunSpec { plan, run, .. } = spec;
    let mut env = BTreeMap::from([
        ("TERM", "dumb".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        // The first process passes signals on to everything that the agent started, and not to the agent alone.
        ("TINI_KILL_PROCESS_GROUP", "1".to_owned()),
    ]);
    let mut tmpfs = HashMap::new();
    let mut memory_at = |place: &str, mode: &str| {
        let User { uid, gid, .. } = user;
        tmpfs.insert(place.to_owned(), format!("rw,nosuid,nodev,exec,mode={mode},uid={uid},gid={gid}"));
    };
    match (home, role_home(spec, user)) {
        (Home::Fresh, _) => {
            memory_at(FRESH_HOME, "0700");
            env.insert("HOME", FRESH_HOME.to_owned());
        }
        (Home::Own, Some(home)) => {
            if plan.read_only {
                memory_at(home, "0700");
            }
            env.insert("HOME", home.to_owned());
        }
        (Home::Own, None) => {}
    }
    if plan.read_only {
        memory_at("/tmp", "1777");
    }
    let given = plan.env.iter().chain(&spec.env).map(|(name, value)| (name.as_str(), value.clone()));
    env.extend(given);
    let (mut mounts, mut binds) = (mounts::mounts(plan, true)?, Vec::new());
    share_records(spec, selinux, &mut mounts, &mut binds)?;
    let name = container_name(run.run());
    let network = match plan.network.as_deref() {
        None | Some("instance") => name,
        Some(other) => other.to_owned(),
    };
    let own_name = network != "host" && network != "none";
    let host = HostConfig {
        binds: (!binds.is_empty()).then_some(binds),
        mounts: Some(mounts),
        tmpfs: (!tmpfs.is_empty()).then_some(tmpfs),
        network_mode: Some(network.clone()),
        userns_mode: user.unmapped.then(|| "host".to_owned()),
        // An agent is no first process: that one would have to take in orphans, and signals would not end it.
        init: Some(true),
        // The runner keeps what it prints.
        log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
        ..confined(plan)
    };
    let endpoints = || HashMap::from([(network.clone(), EndpointSettings::default())]);
    Ok(ContainerCreateBody {
        image: plan.image.clone(),
        hostname: own_name.then(|| run.run().to_string()),
        user: Some(format!("{}:{}", user.uid, user.gid)),
        entrypoint: Some(spec.words.clone()),
        cmd: Some(Vec::new()),
        env: Some(env.into_iter().map(|(name, value)| format!("{name}={value}")).collect()),
        working_dir: Some(plan.workdir.clone()),
        tty: Some(false),
        attach_stdin: Some(spec.reads),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        open_stdin: Some(spec.reads),
        stdin_once: Some(spec.reads),
        labels: Some(spec.labels()),
        stop_signal: Some("SIGTERM".to_owned()),
        stop_timeout: Some(GRACE_SECONDS),
        healthcheck: Some(no_healthcheck()),
        networking_config: own_name.then(|| NetworkingConfig { endpoints_config: Some(endpoints()) }),
        host_config: Some(host),
        ..ContainerCreateBody::default()
    })
}

/// Shares the task's folder, for its bus and its mark of being done; of the runs in it, the others cannot be changed.
fn share_records(
    spec: &RunSpec,
    selinux: bool,
    mounts: &mut Vec<Mount>,
    binds: &mut Vec<String>,
) -> Result<(), BackendError> {
    let (here, there) = (spec.run.task(), spec.seen.task());
    let shared = [
        (here.folder(), there.folder(), false),
        (here.runs(), there.runs(), true),
        (spec.run.folder(), spec.seen.folder(), false),
    ];
    for (source, destination, read_only) in shared {
        let destination = text(&destination)?;
        if selinux {
            // Such a system lets containers use what has their label, and these are several runs' to use.
            let options = if read_only { "ro,z" } else { "z" };
            binds.push(format!("{}:{destination}:{options}", text(&source)?));
        } else {
            text(&source)?;
            mounts.push(bind(&source, destination, read_only, true)?);
        }
    }
    Ok(())
}

fn text(path: &Path) -> Result<&str, BackendError> {
    path.to_str().ok_or_else(|| {
        BackendError::Impossible(format!(
            "the path {} is not UTF-8, and no engine could be told it: choose another directory with --root",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use jackin_core::UserEntry;
    use jackin_core::run::{RunLayout, TaskLayout};

    use super::*;
    use crate::config::BackendKind;
    use crate::host::plan::Plan;

    const JO: User = User { uid: 4321, gid: 4321, unmapped: false };

    fn spec(root: &Path) -> RunSpec {
        let run = |root: &Path| {
            let task = TaskLayout::new(root, "api".parse().unwrap(), "fix".parse().unwrap());
            RunLayout::new(task, "20260223-1530221234-991-1".parse().unwrap())
        };
        let mut plan = Plan::new("run".parse().unwrap(), BackendKind::Docker, "api", "/workspace");
        plan.image = Some("debian:12".into());
        let here = run(root);
        std::fs::create_dir_all(here.folder()).unwrap();
        RunSpec {
            plan,
            run: here,
            seen: run(Path::new("/jackin/runs")),
            words: ["agent".to_owned(), "-p".to_owned()].to_vec(),
            env: BTreeMap::from([("TERM".to_owned(), "given".to_owned())]),
            reads: true,
        }
    }

    #[test]
    fn nothing_is_given_that_was_not_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let spec = spec(dir.path());
        let body = body(&spec, JO, false, Home::Fresh).unwrap();
        assert_eq!((body.user.unwrap(), body.entrypoint.unwrap()), ("4321:4321".into(), spec.words.clone()));
        let env = body.env.unwrap();
        assert_eq!(env, ["HOME=/home/operator", "LANG=C.UTF-8", "TERM=given", "TINI_KILL_PROCESS_GROUP=1"]);
        let host = body.host_config.unwrap();
        assert_eq!((host.cap_drop.unwrap(), host.cap_add), (vec!["ALL".to_owned()], None));
        assert_eq!((host.privileged, host.init, host.userns_mode), (Some(false), Some(true), None));
        assert_eq!(host.security_opt.unwrap(), ["no-new-privileges"]);
        assert_eq!(host.network_mode.unwrap(), "jackin-run.20260223-1530221234-991-1");
        let places: Vec<_> =
            host.mounts.unwrap().into_iter().map(|mount| (mount.target.unwrap(), mount.read_only)).collect();
        let at = |below: &str| format!("/jackin/runs/api/fix{below}");
        assert_eq!(
            places,
            [
                (at(""), Some(false)),
                (at("/runs"), Some(true)),
                (at("/runs/20260223-1530221234-991-1"), Some(false))
            ]
        );
        assert!(host.tmpfs.unwrap()["/home/operator"].contains("mode=0700,uid=4321,gid=4321"));
        let labels = body.labels.unwrap();
        assert_eq!(labels["jackin.run"], "20260223-1530221234-991-1");
        assert!(!labels.contains_key("jackin.instance"), "a run is no instance");
    }

    #[test]
    fn engines_that_see_users_and_files_differently_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let mut spec = spec(dir.path());
        spec.plan.network = Some("none".into());
        let body = body(&spec, User { unmapped: true, ..JO }, true, Home::Own).unwrap();
        assert!(body.hostname.is_none() && body.networking_config.is_none());
        let host = body.host_config.unwrap();
        assert_eq!((host.userns_mode.as_deref(), host.mounts.unwrap().len()), (Some("host"), 0));
        let binds = host.binds.unwrap();
        assert!(binds[0].ends_with(":/jackin/runs/api/fix:z"), "{binds:?}");
        assert!(binds[1].ends_with(":/jackin/runs/api/fix/runs:ro,z"), "{binds:?}");
    }

    #[test]
    fn a_home_is_the_image_s_unless_it_has_none() {
        let dir = tempfile::tempdir().unwrap();
        let mut spec = spec(dir.path());
        assert_eq!(home_of(&spec, JO, None), None);
        assert_eq!(home_of(&spec, JO, Some(true)), Some(Home::Own));
        assert_eq!(home_of(&spec, JO, Some(false)), Some(Home::Fresh));
        spec.plan.read_only = true;
        assert_eq!(home_of(&spec, JO, Some(true)), Some(Home::Fresh), "one that can be written to");
        spec.plan.user =
            Some(UserEntry { uid: 1, gid: None, name: None, home: Some("/home/smith".to_owned()) });
        assert_eq!(home_of(&spec, JO, None), Some(Home::Fresh), "somebody else's");
        spec.plan.user.as_mut().unwrap().uid = JO.uid;
        assert_eq!(home_of(&spec, JO, None), Some(Home::Own));
        let body = body(&spec, JO, false, Home::Own).unwrap();
        assert!(body.env.unwrap().contains(&"HOME=/home/smith".to_owned()));
        let tmpfs = body.host_config.unwrap().tmpfs.unwrap();
        assert!(tmpfs.contains_key("/home/smith") && tmpfs["/tmp"].contains("mode=1777"));
    }
}
