//! Decides what an instance is made of, out of what the operator wrote, configured and has installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use jackin_core::{InstanceName, RoleName};

use super::fleet::Fleet;
use super::plan::Plan;
use super::skills;
use crate::config::{
    BackendKind, Config, Loaded, Mount, RoleConfig, SHELL, WorkspaceConfig, at_home, is_variable,
};
use crate::tools::on_path;

/// What `jackin load` can be told about an instance.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PlanArgs {
    /// The role, as it is configured
    #[arg(value_name = "ROLE")]
    pub(super) role: Option<String>,
    /// A directory, or a workspace's name [default: this directory]
    #[arg(value_name = "TARGET")]
    pub(super) target: Option<String>,
    /// The agent to start [default: that of workspace or role, else the first that is installed, else a shell]
    #[arg(long, value_name = "AGENT")]
    pub(super) agent: Option<String>,
    /// The instance's name [default: the workspace's]
    #[arg(long, value_name = "NAME", value_parser = InstanceName::from_either)]
    pub(super) name: Option<InstanceName>,
    /// Where it runs [default: docker if the role has an image, else local]
    #[arg(long, value_name = "BACKEND", value_parser = parse_backend)]
    pub(super) backend: Option<BackendKind>,
    /// The Docker engine, as it is configured [default: this machine's]
    #[arg(long, value_name = "HOST")]
    pub(super) host: Option<String>,
    /// The container's image [default: the role's]
    #[arg(long, value_name = "IMAGE")]
    pub(super) image: Option<String>,
    /// Something of this machine that appears in the container: SOURCE:DESTINATION[:ro]; may be repeated
    #[arg(long = "mount", value_name = "MOUNT")]
    pub(super) mounts: Vec<Mount>,
    /// A variable of every session's environment: NAME=VALUE, or NAME for your own value; may be repeated
    #[arg(long = "env", value_name = "VARIABLE")]
    pub(super) env: Vec<String>,
    /// Let agents be launched differently, so that they report what they do
    #[arg(long)]
    pub(super) observable: bool,
    /// Give it a Git worktree and a branch of its own
    #[arg(long)]
    pub(super) worktree: bool,
    /// A command to start instead of an agent
    #[arg(last = true, value_name = "CMD")]
    pub(super) command: Vec<String>,
}

fn parse_backend(text: &str) -> Result<BackendKind, String> {
    match text {
        "local" => Ok(BackendKind::Local),
        "docker" => Ok(BackendKind::Docker),
        _ => Err("write local or docker".to_owned()),
    }
}

/// What was decided.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) plan: Plan,
    /// Whether it gets a worktree, which is made when everything else is certain.
    pub(super) worktree: bool,
    /// Whether the name was chosen for the operator, so that another will do if it is taken meanwhile.
    pub(super) name_is_free: bool,
    /// What the operator should know before it is made.
    pub(super) remark: Option<String>,
}

/// A workspace: where it is and what is configured of it.
pub(super) struct Target {
    pub(super) name: String,
    pub(super) directory: PathBuf,
    pub(super) config: WorkspaceConfig,
    /// Whether the directory told which workspace it is, and not the operator.
    pub(super) is_recognised: bool,
}

/// Decides what `args` mean.
pub(super) fn plan(loaded: &Loaded, args: &PlanArgs) -> Result<Planned> {
    let config = &loaded.config;
    let (role_name, target) = positional(config, args)?;
    let target = find_target(config, target)?;
    let role_name = role_name.or_else(|| target.config.role.clone()).or_else(|| config.defaults.role.clone());
    let role = match &role_name {
        Some(name) => config.roles.get(name).cloned().with_context(|| no_role(config, name.as_str()))?,
        None => RoleConfig::default(),
    };
    let image = args.image.clone().or_else(|| role.image.clone());
    let backend = backend(config, args, image.is_some())?;
    let instance = match &args.name {
        Some(name) => name.clone(),
        None => free_name(loaded, &target.name)?,
    };
    let workdir = match backend {
        BackendKind::Local => target.directory.display().to_string(),
        BackendKind::Docker => role.workdir.clone().unwrap_or_else(|| USUAL_WORKDIR.to_owned()),
    };
    let mut plan = Plan::new(instance, backend, &target.name, &workdir);
    plan.host_workdir = Some(target.directory.clone());
    plan.role = role_name;
    plan.host =
        args.host.clone().or_else(|| config.defaults.host.clone()).filter(|_| backend == BackendKind::Docker);
    plan.command.clone_from(&args.command);
    plan.git.clone_from(&config.git);
    plan.mux = config.mux_entry();
    // One that is missing is told now, and not when half of the instance is made.
    skills::find(&loaded.paths, &role.skills)?;
    plan.skills.clone_from(&role.skills);
    plan.limits = role.limits.clone();
    plan.env = environment(&role, &target.config, &args.env)?;
    if backend == BackendKind::Docker {
        ensure!(
            image.is_some(),
            "a container needs an image: add --image, or give the role one (`image = \"…\"` in {})",
            loaded.paths.config_file().display()
        );
        plan.image = image;
        plan.network.clone_from(&role.network);
        plan.read_only = role.read_only;
        plan.user.clone_from(&role.user);
        plan.sidecars = role.sidecars.clone();
        plan.mounts = [&role.mounts[..], &target.config.mounts, &args.mounts].concat();
    } else {
        ensure!(args.mounts.is_empty(), "--mount needs a container: add --backend docker and --image");
        ensure!(args.image.is_none(), "--image needs a container: leave --backend local out");
        ensure!(args.host.is_none(), "--host needs a container: leave --backend local out");
    }
    choose_agents(config, args, &role, &target.config, &mut plan)?;
    let worktree = args.worktree || target.config.worktree;
    let remark = target.is_recognised.then(|| recognised(&plan));
    Ok(Planned { plan, worktree, name_is_free: args.name.is_none(), remark })
}

/// What a directory's workspace makes of an instance, for people.
fn recognised(plan: &Plan) -> String {
    let role = plan.role.as_ref().map(|role| format!("role {role}, ")).unwrap_or_default();
    let place = match plan.backend {
        BackendKind::Local => "as a process of this machine",
        BackendKind::Docker => "in a container",
    };
    format!("this is the workspace {}: {role}{place}", plan.workspace)
}

/// Where the workspace is in a container, unless the role says otherwise.
pub(super) const USUAL_WORKDIR: &str = "/workspace";

/// With one word, it is the role if there is one of that name, else the target.
fn positional<'a>(config: &Config, args: &'a PlanArgs) -> Result<(Option<RoleName>, Option<&'a str>)> {
    let Some(first) = &args.role else { return Ok((None, args.target.as_deref())) };
    let role = RoleName::new(first.as_str()).ok().filter(|name| config.roles.contains_key(name));
    match (role, &args.target) {
        (Some(role), target) => Ok((Some(role), target.as_deref())),
        (None, None) if config.workspaces.contains_key(first) || at_home(Path::new(first)).is_dir() => {
            Ok((None, Some(first)))
        }
        (None, None) => {
            let workspaces: Vec<&str> = config.workspaces.keys().map(String::as_str).collect();
            let workspaces =
                if workspaces.is_empty() { "none is configured".to_owned() } else { workspaces.join(", ") };
            bail!("{}; nor is it a workspace ({workspaces}) or a directory", no_role(config, first))
        }
        (None, Some(_)) => bail!(no_role(config, first)),
    }
}

pub(super) fn no_role(config: &Config, name: &str) -> String {
    let known: Vec<&str> = config.roles.keys().map(RoleName::as_str).collect();
    let known = if known.is_empty() {
        "none is configured".to_owned()
    } else {
        format!("the roles are {}", known.join(", "))
    };
    format!("there is no role {name:?}: {known}")
}

pub(super) fn find_target(config: &Config, target: Option<&str>) -> Result<Target> {
    let (name, directory, workspace) = match target
        .and_then(|name| Some((name, config.workspaces.get(name)?)))
    {
        Some((name, workspace)) => (Some(name.to_owned()), at_home(&workspace.workdir), workspace.clone()),
        None => (None, at_home(Path::new(target.unwrap_or("."))), WorkspaceConfig::default()),
    };
    let directory = directory.canonicalize().with_context(|| {
        format!("there is no directory {}: name one, or a workspace", directory.display())
    })?;
    ensure!(directory.is_dir(), "{} is not a directory: name one, or a workspace", directory.display());
    ensure!(
        directory.to_str().is_some(),
        "the path {} is not UTF-8: agents could not be told it",
        directory.display()
    );
    // A directory that is a workspace's is that workspace.
    let known = config
        .workspaces
        .iter()
        .find(|(_, known)| at_home(&known.workdir).canonicalize().ok().as_ref() == Some(&directory));
    let is_recognised = name.is_none() && known.is_some();
    let (name, workspace) = match (name, known) {
        (Some(name), _) => (name, workspace),
        (None, Some((name, known))) => (name.clone(), known.clone()),
        (None, None) => (
            directory.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned()),
            workspace,
        ),
    };
    Ok(Target { name, directory, config: workspace, is_recognised })
}

fn backend(config: &Config, args: &PlanArgs, has_image: bool) -> Result<BackendKind> {
    let wanted = args
        .backend
        .or((args.image.is_some() || args.host.is_some() || has_image).then_some(BackendKind::Docker));
    if let Some(host) = &args.host {
        known_host(config, host)?;
    }
    Ok(wanted.or(config.defaults.backend).unwrap_or(BackendKind::Local))
}

pub(super) fn known_host(config: &Config, host: &str) -> Result<()> {
    ensure!(
        config.hosts.contains_key(host),
        "there is no host {host:?}: write [hosts.{host}] with docker = \"ssh://…\" into the configuration"
    );
    Ok(())
}

pub(super) fn environment(
    role: &RoleConfig,
    workspace: &WorkspaceConfig,
    given: &[String],
) -> Result<BTreeMap<String, String>> {
    let mut env = role.env.clone();
    env.extend(workspace.env.clone());
    for variable in given {
        let (name, value) = match variable.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => (
                variable.as_str(),
                std::env::var(variable)
                    .with_context(|| format!("--env {variable}: it is not set; write {variable}=VALUE"))?,
            ),
        };
        ensure!(is_variable(name), "--env {variable:?}: write NAME=VALUE");
        env.insert(name.to_owned(), value);
    }
    Ok(env)
}

fn choose_agents(
    config: &Config,
    args: &PlanArgs,
    role: &RoleConfig,
    workspace: &WorkspaceConfig,
    plan: &mut Plan,
) -> Result<()> {
    let asked = args
        .agent
        .as_ref()
        .or(workspace.agent.as_ref())
        .or(role.agent.as_ref())
        .or(config.defaults.agent.as_ref());
    let offered = if role.agents.is_empty() { config.agent_names() } else { role.agents.clone() };
    let installed = |id: &str| {
        // What is in an image can only be known there.
        id == SHELL
            || plan.backend == BackendKind::Docker
            || config.agent(id).is_some_and(|agent| on_path(agent.program(id)))
    };
    if let Some(id) = asked {
        let agent = config.agent(id).with_context(|| {
            format!("there is no agent {id:?}: the agents are {}", config.agent_names().join(", "))
        })?;
        ensure!(
            installed(id) || !plan.command.is_empty(),
            "{} is not installed: there is no {:?} on PATH; install it, name another --agent, or give a command after --",
            agent.display.as_deref().unwrap_or(id),
            agent.program(id)
        );
    }
    let mut ids: Vec<String> = offered.into_iter().filter(|id| installed(id) || Some(id) == asked).collect();
    if let Some(id) = asked.filter(|id| !ids.contains(id)) {
        ids.insert(0, id.clone());
    }
    let observable = args.observable || role.observable.or(config.defaults.observable).unwrap_or_default();
    plan.agent = asked.cloned().or_else(|| match plan.backend {
        BackendKind::Local => ids.first().cloned(),
        // One agent is no choice; of several, the operator picks.
        BackendKind::Docker => ids.iter().find(|_| role.agents.len() == 1).cloned(),
    });
    for id in ids {
        let Some(mut agent) = config.agent(&id) else { continue };
        if args.observable {
            agent.observable = Some(true);
        }
        let mut entry = agent.entry(&id, observable);
        // A shell is the operator's own; an agent gets its own tokens and nobody else's.
        if id != SHELL {
            entry.without =
                config.tokens().into_values().flatten().filter(|name| !agent.tokens.contains(name)).collect();
        }
        plan.agents.push(entry);
        let set: Vec<String> =
            agent.tokens.into_iter().filter(|name| std::env::var_os(name).is_some()).collect();
        if !set.is_empty() {
            plan.tokens.insert(id, set);
        }
    }
    Ok(())
}

/// A name that no instance has: the workspace's, or that with a number.
fn free_name(loaded: &Loaded, workspace: &str) -> Result<InstanceName> {
    let fleet = Fleet::new(loaded);
    let base = slug(workspace);
    let mut names = std::iter::once(base.clone()).chain((2..10_000).map(|number| format!("{base}-{number}")));
    let free = names.find_map(|name| {
        let name = InstanceName::new(name).ok()?;
        // Work may be kept under the name of an instance that is gone.
        let is_free = !loaded.paths.worktrees().join(name.as_str()).exists();
        (is_free && matches!(fleet.manifests().read(&name), Ok(None))).then_some(name)
    });
    free.with_context(|| format!("no name is free for {workspace:?}: choose one with --name"))
}

/// A text as a name can have it.
pub(super) fn slug(text: &str) -> String {
    /// A number has to fit behind it.
    const LONGEST: usize = InstanceName::MAX_LEN - 6;
    let mut slug = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() == LONGEST {
            break;
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "instance".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Paths;

    fn planned(config: &str, args: &PlanArgs) -> Result<Planned> {
        let dir = tempfile::tempdir()?;
        let config = config.replace("HERE", dir.path().to_str().unwrap());
        let loaded = Loaded {
            config: Config::parse(&config).unwrap_or_else(|mistakes| panic!("{mistakes}")),
            tools: jackin_tools::Tools::default(),
            paths: Paths::new(dir.path().join("home"), dir.path()),
        };
        let mut args = args.clone();
        args.target = args.target.map(|target| target.replace("HERE", dir.path().to_str().unwrap()));
        plan(&loaded, &args)
    }

    const CONFIG: &str = r#"
[defaults]
agent = "shell"
[roles.builder]
image = "build:1"
agents = ["claude", "shell"]
agent = "claude"
env = { A = "role", B = "role" }
mounts = ["/x:/y"]
[workspaces.api]
workdir = "HERE"
role = "builder"
env = { B = "workspace" }
worktree = true
[hosts.big]
docker = "ssh://big"
"#;

    #[test]
    fn a_workspace_brings_its_role_and_a_role_its_image() {
        let args = PlanArgs { role: Some("api".into()), ..PlanArgs::default() };
        let Planned { plan, worktree, .. } = planned(CONFIG, &args).unwrap();
        assert_eq!(
            (plan.instance.as_str(), plan.backend, plan.workdir.as_str()),
            ("api", BackendKind::Docker, "/workspace")
        );
        assert_eq!((plan.image.as_deref(), plan.agent.as_deref()), (Some("build:1"), Some("claude")));
        assert_eq!((plan.env["A"].as_str(), plan.env["B"].as_str(), worktree), ("role", "workspace", true));
        assert_eq!((plan.agents.len(), plan.mounts.len()), (2, 1));
    }

    #[test]
    fn with_nothing_said_a_shell_starts_here() {
        let args = PlanArgs { agent: Some("shell".into()), ..PlanArgs::default() };
        let Planned { plan, worktree, .. } = planned("", &args).unwrap();
        assert_eq!(
            (plan.backend, plan.agent.as_deref(), worktree),
            (BackendKind::Local, Some("shell"), false)
        );
        assert_eq!(plan.host_workdir.unwrap().display().to_string(), plan.workdir);
        assert!(plan.agents[0].command_line()[2].contains("SHELL"));
    }

    #[test]
    fn what_cannot_be_is_told_with_what_to_do() {
        let role = |role: &str| PlanArgs { role: Some(role.into()), ..PlanArgs::default() };
        let args: [(PlanArgs, &str); 8] = [
            (
                role("nobody"),
                "there is no role \"nobody\": the roles are builder; nor is it a workspace (api)",
            ),
            (
                PlanArgs { target: Some("x".into()), ..role("nobody") },
                "there is no role \"nobody\": the roles are builder",
            ),
            (PlanArgs { target: Some("/nowhere/at/all".into()), ..role("builder") }, "there is no directory"),
            (PlanArgs { agent: Some("robot".into()), ..PlanArgs::default() }, "there is no agent \"robot\""),
            (
                PlanArgs { backend: Some(BackendKind::Docker), ..PlanArgs::default() },
                "a container needs an image",
            ),
            (PlanArgs { host: Some("small".into()), ..PlanArgs::default() }, "there is no host \"small\""),
            (
                PlanArgs { env: vec!["JACKIN_NOT_SET_ANYWHERE".into()], ..PlanArgs::default() },
                "it is not set",
            ),
            (
                PlanArgs { mounts: vec!["/a:/b".parse().unwrap()], ..PlanArgs::default() },
                "--mount needs a container",
            ),
        ];
        for (args, expected) in args {
            let error = format!("{:#}", planned(CONFIG, &args).unwrap_err());
            assert!(error.contains(expected), "{error} is not {expected}");
        }
    }

    #[test]
    fn names_are_made_of_anything() {
        for (text, expected) in
            [("API", "api"), ("my app_2", "my-app-2"), ("—", "instance"), ("-x-", "x"), ("ÄÖ", "instance")]
        {
            assert_eq!(slug(text), expected);
            InstanceName::new(slug(text)).unwrap();
        }
        InstanceName::new(format!("{}-9999", slug(&"x".repeat(300)))).unwrap();
    }
}
