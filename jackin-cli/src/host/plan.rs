//! Everything that an instance is made of, decided before anything is made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jackin_core::protocol::control::TagOverride;
use jackin_core::{AgentEntry, AgentFile, GitIdentity, InstanceName, Limits, MuxEntry, RoleName, UserEntry};
use serde::{Deserialize, Serialize};

use crate::config::{BackendKind, LimitsConfig, Mount, SidecarConfig};

/// What `jackin load` decided: a whole launch, to be carried out by a [`Backend`](super::Backend), kept in the instance's
/// manifest, and repeated from there.
///
/// It holds no secrets: of an agent's tokens it knows the variables' names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The instance's name.
    pub instance: InstanceName,
    /// Whose records it is in ([`Manifests::owner`](super::manifest::Manifests::owner)): an engine may serve several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Where it runs.
    pub backend: BackendKind,
    /// The engine, a name of `[hosts]`; none is this machine's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// The workspace's name.
    pub workspace: String,
    /// The directory that sessions start in, as they see it.
    pub workdir: String,
    /// The same directory on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_workdir: Option<PathBuf>,
    /// The agent that is started at once; none, and no command, is a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The command that is started instead of an agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The image of its container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The network of its container: `instance`, `none`, `host`, or a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// Whether the container's own files cannot be changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// Skills that agents are given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// What appears in the container beside the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<Mount>,
    /// Variables of every session's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The variables of the operator's environment that each agent is given, by the agent's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tokens: BTreeMap<String, Vec<String>>,
    /// The worktree that was made for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Worktree>,
    /// Whom sessions run as in the container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserEntry>,
    /// Whom commits are by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitIdentity>,
    /// What it may use.
    #[serde(default)]
    pub limits: LimitsConfig,
    /// The multiplexer's settings.
    #[serde(default)]
    pub mux: MuxEntry,
    /// Containers beside it, by the name that it reaches them at.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sidecars: BTreeMap<String, SidecarConfig>,
    /// The agents to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentEntry>,
    /// What the operator said about its tags; it outlives the capsule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tag_overrides: Vec<TagOverride>,
}

/// A Git worktree that belongs to one instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// The repository that it is a worktree of.
    pub repository: PathBuf,
    /// Its directory.
    pub path: PathBuf,
    /// Its branch.
    pub branch: String,
    /// Whether it is a repository of its own, for an agent that must not reach the first one's settings and hooks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_clone: bool,
}

/// The values of tokens, by agent and variable. They reach the agent's environment and no record.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(BTreeMap<String, BTreeMap<String, String>>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(agent, values)| (agent, values.keys()))).finish()
    }
}

impl Plan {
    /// A plan that says nothing but where and what.
    pub fn new(instance: InstanceName, backend: BackendKind, workspace: &str, workdir: &str) -> Self {
        Self {
            instance,
            owner: None,
            backend,
            host: None,
            role: None,
            workspace: workspace.to_owned(),
            workdir: workdir.to_owned(),
            host_workdir: None,
            agent: None,
            command: Vec::new(),
            image: None,
            network: None,
            read_only: false,
            skills: Vec::new(),
            mounts: Vec::new(),
            env: BTreeMap::new(),
            tokens: BTreeMap::new(),
            worktree: None,
            user: None,
            git: None,
            limits: LimitsConfig::default(),
            mux: MuxEntry::default(),
            sidecars: BTreeMap::new(),
            agents: Vec::new(),
            tag_overrides: Vec::new(),
        }
    }

    /// What of this machine is the workspace in a container, and where it is in there. An agent that works in a part of its
    /// own repository has all of it.
    pub(super) fn workspace(&self) -> Option<(&Path, &str)> {
        let directory = self.host_workdir.as_deref()?;
        let clone = self.worktree.as_ref().filter(|worktree| worktree.is_clone);
        let whole = clone.and_then(|clone| {
            let below = directory.strip_prefix(&clone.path).ok()?.to_str()?;
            Some((clone.path.as_path(), self.workdir.strip_suffix(below)?.trim_end_matches('/')))
        });
        Some(whole.unwrap_or((directory, &self.workdir)))
    }

    /// The tokens that the plan names, with their values. What is not set is left out.
    pub fn secrets(&self, variable: impl Fn(&str) -> Option<String>) -> Secrets {
        let values = |names: &Vec<String>| {
            names.iter().filter_map(|name| Some((name.clone(), variable(name)?))).collect::<BTreeMap<_, _>>()
        };
        Secrets(self.tokens.iter().map(|(agent, names)| (agent.clone(), values(names))).collect())
    }

    /// What the capsule is told. With the secrets in it, it is for the capsule's eyes only.
    pub fn agent_file(&self, secrets: &Secrets) -> AgentFile {
        let mut agents = self.agents.clone();
        for agent in &mut agents {
            let values = secrets.0.get(&agent.id).into_iter().flatten();
            // What the operator wrote down for the agent counts for more.
            values.for_each(|(name, value)| {
                agent.env.entry(name.clone()).or_insert_with(|| value.clone());
            });
        }
        AgentFile {
            role: self.role.clone(),
            workspace: Some(self.workspace.clone()),
            workdir: Some(self.workdir.clone()),
            agents,
            initial_agent: self.agent.clone().filter(|_| self.command.is_empty()),
            user: self.user.clone(),
            git: self.git.clone(),
            limits: Limits {
                sessions: self.limits.sessions,
                cpus: self.limits.cpus,
                memory: self.limits.memory.map(|memory| memory.0),
            },
            mux: self.mux.clone(),
            skills: self.skills.clone(),
            tag_overrides: self.tag_overrides.clone(),
            ..AgentFile::new(self.instance.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let mut plan = Plan::new("api".parse().unwrap(), BackendKind::Local, "api", "/src/api");
        plan.agents =
            ["claude", "codex"].map(|id| AgentEntry { id: id.into(), ..AgentEntry::default() }).to_vec();
        plan.tokens.insert("claude".into(), vec!["ANTHROPIC_API_KEY".into(), "UNSET".into()]);
        plan.env.insert("A".into(), "1".into());
        plan.mounts.push("~/a:/b:ro".parse().unwrap());
        plan.limits.memory = Some("4g".parse().unwrap());
        plan
    }

    #[test]
    fn a_plan_is_repeated_as_it_was() {
        let plan = plan();
        assert_eq!(toml::from_str::<Plan>(&toml::to_string(&plan).unwrap()).unwrap(), plan);
    }

    #[test]
    fn a_part_of_a_clone_is_seen_with_all_of_it() {
        let mut plan = plan();
        assert_eq!(plan.workspace(), None);
        let at = |plan: &Plan| plan.workspace().map(|(path, place)| (path.to_owned(), place.to_owned()));
        let expected = |path: &str, place: &str| Some((PathBuf::from(path), place.to_owned()));
        plan.host_workdir = Some("/trees/api/part/deep".into());
        plan.workdir = "/workspace/part/deep".to_owned();
        assert_eq!(at(&plan), expected("/trees/api/part/deep", "/workspace/part/deep"));
        let (repository, path, branch) = ("/src".into(), "/trees/api".into(), "b".to_owned());
        plan.worktree = Some(Worktree { repository, path, branch, is_clone: true });
        assert_eq!(at(&plan), expected("/trees/api", "/workspace"));
        (plan.host_workdir, plan.workdir) = (Some("/trees/api".into()), "/workspace".to_owned());
        assert_eq!(at(&plan), expected("/trees/api", "/workspace"));
    }

    #[test]
    fn a_token_reaches_its_agent_and_nobody_else() {
        let plan = plan();
        let secrets = plan.secrets(|name| (name != "UNSET").then(|| format!("value of {name}")));
        let file = plan.agent_file(&secrets);
        assert_eq!(file.agents[0].env["ANTHROPIC_API_KEY"], "value of ANTHROPIC_API_KEY");
        assert_eq!((file.agents[0].env.len(), file.agents[1].env.len()), (1, 0));
        assert!(!format!("{secrets:?}").contains("value of"), "{secrets:?}");
        assert!(!toml::to_string(&plan).unwrap().contains("value of"));
    }
}
