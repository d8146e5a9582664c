//! Decides what the container of a headless run is made of.

use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use jackin_core::{InstanceName, RoleName};

use super::plan::Plan;
use super::planning::{USUAL_WORKDIR, environment, find_target, known_host, no_role};
use crate::config::{BackendKind, Config, Mount, RoleConfig};

/// What `jackin run` can be told about the container of a run.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunPlanArgs {
    /// Run it in a container of this role
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// Run it in a container of this image [default: the role's]
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,
    /// The container's Docker engine, as it is configured [default: this machine's]
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Something of this machine that appears in the container: SOURCE:DESTINATION[:ro]; may be repeated
    #[arg(long = "mount", value_name = "MOUNT")]
    pub(crate) mounts: Vec<Mount>,
    /// A variable of the container's environment: NAME=VALUE, or NAME for your own value; may be repeated
    #[arg(long = "env", value_name = "VARIABLE")]
    pub(crate) env: Vec<String>,
}

/// Decides what the container of a run in this directory is made of; none if it is to be in none.
pub(crate) fn plan_run(config: &Config, args: &RunPlanArgs, directory: &Path) -> Result<Option<Plan>> {
    if args.role.is_none() && args.image.is_none() && args.host.is_none() {
        ensure!(args.mounts.is_empty(), "--mount needs a container: add --image or --role");
        ensure!(args.env.is_empty(), "--env needs a container: add --image or --role");
        return Ok(None);
    }
    ensure!(
        directory.is_dir(),
        "the working directory {} does not exist: make it, or name another with --cwd",
        directory.display()
    );
    let target =
        find_target(config, Some(directory.to_str().context("the working directory is not UTF-8")?))?;
    let asked = match &args.role {
        Some(name) => Some(RoleName::new(name.as_str()).map_err(|_| anyhow!(no_role(config, name)))?),
        None => None,
    };
    let role_name = asked.or_else(|| target.config.role.clone()).or_else(|| config.defaults.role.clone());
    let role = match &role_name {
        Some(name) => config.roles.get(name).cloned().with_context(|| no_role(config, name.as_str()))?,
        None => RoleConfig::default(),
    };
    let image = args.image.clone().or_else(|| role.image.clone());
    let image = image.context("a container needs an image: add --image, or `image = …` to the role")?;
    ensure!(
        role.sidecars.is_empty(),
        "the role {} has sidecars, which runs are not given: choose another role, or --image alone with what it needs",
        role_name.as_ref().map(RoleName::as_str).unwrap_or_default()
    );
    let host = args.host.clone().or_else(|| config.defaults.host.clone());
    if let Some(host) = &host {
        known_host(config, host)?;
    }
    let name = InstanceName::new("run").expect("it is a name");
    let workdir = role.workdir.as_deref().unwrap_or(USUAL_WORKDIR);
    let mut plan = Plan::new(name, BackendKind::Docker, &target.name, workdir);
    plan.env = environment(&role, &target.config, &args.env)?;
    plan.host_workdir = Some(target.directory);
    plan.mounts = [&role.mounts[..], &target.config.mounts, &args.mounts].concat();
    (plan.role, plan.image, plan.host) = (role_name, Some(image), host);
    (plan.network, plan.limits, plan.user) = (role.network, role.limits, role.user);
    (plan.read_only, plan.agent) = (role.read_only, role.agent);
    Ok(Some(plan))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"
[roles.builder]
image = "build:1"
agent = "claude"
env = { A = "role", B = "role" }
mounts = ["/x:/y"]
limits = { memory = "64m" }
network = "none"
workdir = "/src"
[roles.bare]
[roles.crowd]
image = "build:1"
[roles.crowd.sidecars.db]
image = "db:1"
[workspaces.api]
workdir = "HERE"
role = "builder"
env = { B = "workspace" }
"#;

    fn planned(args: &RunPlanArgs) -> Result<Option<Plan>> {
        let dir = tempfile::tempdir()?;
        let text = CONFIG.replace("HERE", dir.path().to_str().unwrap());
        let config = Config::parse(&text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        plan_run(&config, args, dir.path())
    }

    #[test]
    fn a_role_and_a_workspace_say_what_a_container_is_made_of() {
        assert!(planned(&RunPlanArgs::default()).unwrap().is_none(), "a run is a process of this machine");
        let args = RunPlanArgs {
            image: Some("other:2".into()),
            mounts: vec!["/a:/b:ro".parse().unwrap()],
            env: vec!["C=given".into()],
            ..RunPlanArgs::default()
        };
        let plan = planned(&args).unwrap().unwrap();
        assert_eq!(
            (plan.image.as_deref(), plan.role.as_ref().unwrap().as_str()),
            (Some("other:2"), "builder")
        );
        assert_eq!((plan.workdir.as_str(), plan.network.as_deref()), ("/src", Some("none")));
        assert_eq!((plan.agent.as_deref(), plan.mounts.len()), (Some("claude"), 2));
        let env: Vec<_> = plan.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(env, ["A=role", "B=workspace", "C=given"]);
    }

    #[test]
    fn what_cannot_be_is_told_with_what_to_do() {
        let role = |role: &str| RunPlanArgs { role: Some(role.into()), ..RunPlanArgs::default() };
        for (args, expected) in [
            (role("nobody"), "there is no role \"nobody\": the roles are bare, builder, crowd"),
            (role("../x"), "there is no role"),
            (role("bare"), "a container needs an image"),
            (role("crowd"), "has sidecars"),
            (RunPlanArgs { host: Some("big".into()), ..role("builder") }, "there is no host \"big\""),
            (RunPlanArgs { env: vec!["A=1".into()], ..RunPlanArgs::default() }, "--env needs a container"),
            (
                RunPlanArgs { mounts: vec!["/a:/b".parse().unwrap()], ..RunPlanArgs::default() },
                "--mount needs a container",
            ),
        ] {
            let error = format!("{:#}", planned(&args).unwrap_err());
            assert!(error.contains(expected), "{error} is not {expected}");
        }
    }
}
