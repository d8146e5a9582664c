//! All instances, wherever they live.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jackin_core::protocol::control::{Request, Snapshot};
use jackin_core::{AgentStatus, Attention, InstanceName};

use super::backend::{Backend, BackendError, DockerBackend, Ending, Found, Life, LocalBackend};
use super::manifest::{Manifest, Manifests};
use super::plan::Plan;
use crate::client::Client;
use crate::config::{BackendKind, Config, Loaded, Paths};

/// How long a host, or an instance, may take to answer before the list goes on without it.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// How long an instance may take that was asked for by its name: a connection over ssh needs its time.
const NAMED_PATIENCE: Duration = Duration::from_secs(20);

/// What the instances of this machine's own processes are listed under.
pub const LOCAL: &str = "local";

/// What the instances of this machine's own Docker engine are listed under.
pub const DOCKER: &str = "docker";

/// All hosts that the operator has.
#[derive(Clone)]
pub struct Fleet {
    hosts: BTreeMap<String, Arc<dyn Backend>>,
    /// Those that are there to be used, but of which nothing is expected: they are not listed.
    unlisted: BTreeSet<String>,
    manifests: Manifests,
}

impl std::fmt::Debug for Fleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fleet").field("hosts", &self.hosts.keys()).finish_non_exhaustive()
    }
}

/// A host with its instances, or why it has none to show.
#[derive(Clone, Debug)]
pub struct HostView {
    /// Its name: `local`, `docker`, or a name of `[hosts]`.
    pub host: String,
    /// Its instances; an error is for people.
    pub instances: Result<Vec<InstanceView>, String>,
}

/// An instance as it is now.
#[derive(Clone, Debug)]
pub struct InstanceView {
    /// Its name.
    pub instance: InstanceName,
    /// The host that it is on.
    pub host: String,
    /// How it was made, where that is known.
    pub plan: Option<Plan>,
    /// What it does.
    pub state: InstanceState,
}

/// What an instance does.
#[derive(Clone, Debug)]
pub enum InstanceState {
    /// It is being made, or was left half made.
    Unfinished,
    /// Its capsule answers.
    Running(Box<Snapshot>),
    /// Its capsule runs and does not answer.
    Silent(String),
    /// It has ended.
    Ended(Ending),
}

impl InstanceView {
    /// The most urgent of what its sessions do.
    pub fn attention(&self) -> Attention {
        match &self.state {
            InstanceState::Running(snapshot) => snapshot.status.attention,
            InstanceState::Ended(ending) if ending.is_clean() => Attention::Idle,
            InstanceState::Ended(_) => Attention::Blocked,
            InstanceState::Unfinished | InstanceState::Silent(_) => Attention::Unknown,
        }
    }

    /// The status behind that.
    pub fn status(&self) -> AgentStatus {
        match &self.state {
            InstanceState::Running(snapshot) => {
                let sessions = &snapshot.status.sessions;
                let urgent = sessions.iter().find(|session| session.attention == snapshot.status.attention);
                urgent.map_or(AgentStatus::Unknown, |session| session.status.clone())
            }
            InstanceState::Ended(ending) => ending.status(),
            InstanceState::Unfinished => AgentStatus::Initializing,
            InstanceState::Silent(_) => AgentStatus::Unknown,
        }
    }
}

impl Fleet {
    /// The hosts of a configuration.
    pub fn new(loaded: &Loaded) -> Self {
        let mut fleet = Self::local(&loaded.paths);
        let configured = loaded.config.hosts.iter().map(|(name, host)| (name.as_str(), Some(host)));
        for (name, host) in configured.chain([(DOCKER, None)]) {
            // A host without an address was refused with the configuration.
            if let Ok(backend) = DockerBackend::connect(name, host, loaded.paths.clone()) {
                fleet.hosts.insert(name.to_owned(), Arc::new(backend));
            }
        }
        if !fleet.expects_containers_here(&loaded.config) {
            fleet.unlisted.insert(DOCKER.to_owned());
        }
        fleet
    }

    /// Whether it would be missed if this machine's engine did not answer.
    fn expects_containers_here(&self, config: &Config) -> bool {
        let (manifests, _) = self.manifests.list();
        config.defaults.backend == Some(BackendKind::Docker)
            || manifests.iter().any(|manifest| Self::host_of(&manifest.plan) == DOCKER)
            || DockerBackend::is_likely()
    }

    /// This machine's own processes alone.
    pub fn local(paths: &Paths) -> Self {
        let local: Arc<dyn Backend> = Arc::new(LocalBackend::new(paths.clone()));
        Self::of([(LOCAL.to_owned(), local)].into(), Manifests::new(paths))
    }

    /// These hosts, by name.
    pub fn of(hosts: BTreeMap<String, Arc<dyn Backend>>, manifests: Manifests) -> Self {
        Self { hosts, unlisted: BTreeSet::new(), manifests }
    }

    /// The records of this machine.
    pub fn manifests(&self) -> &Manifests {
        &self.manifests
    }

    /// The hosts that are listed, by name.
    pub fn hosts(&self) -> impl Iterator<Item = (&String, &Arc<dyn Backend>)> {
        self.hosts.iter().filter(|(name, _)| !self.unlisted.contains(*name))
    }

    /// The name of the host that a plan is for.
    pub fn host_of(plan: &Plan) -> String {
        match (&plan.host, plan.backend) {
            (Some(host), _) => host.clone(),
            (None, BackendKind::Local) => LOCAL.to_owned(),
            (None, BackendKind::Docker) => DOCKER.to_owned(),
        }
    }

    /// The host with this name.
    pub fn host(&self, name: &str) -> Result<Arc<dyn Backend>, BackendError> {
        self.hosts.get(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.hosts.keys().map(String::as_str).collect();
            BackendError::Impossible(format!("there is no host {name:?}: the hosts are {}", known.join(", ")))
        })
    }

    /// Every host with its instances, none of them waited for longer than [`PATIENCE`].
    pub async fn list(&self) -> Vec<HostView> {
        let asked = self.hosts().map(|(host, backend)| async {
            HostView { host: host.clone(), instances: self.instances(host, backend).await }
        });
        futures_util::future::join_all(asked).await
    }

    async fn instances(&self, host: &str, backend: &Arc<dyn Backend>) -> Result<Vec<InstanceView>, String> {
        let listed = tokio::time::timeout(PATIENCE, backend.list()).await;
        let found = listed
            .map_err(|_| format!("it does not answer within {} s", PATIENCE.as_secs()))?
            .map_err(|error| error.to_string())?;
        let looked = found.into_iter().map(|found| look(host, backend, found, PATIENCE));
        Ok(futures_util::future::join_all(looked).await)
    }

    /// An instance, wherever it is, with the host that it is on. The record of this machine says where to look first.
    pub async fn find(&self, instance: &InstanceName) -> Result<Member, BackendError> {
        let manifest =
            self.manifests.read(instance).map_err(|error| BackendError::Impossible(error.to_string()))?;
        if let Some(manifest) = manifest {
            let host = Self::host_of(&manifest.plan);
            return Ok(Member {
                backend: self.host(&host)?,
                host,
                instance: instance.clone(),
                manifest: Some(manifest),
            });
        }
        let looked = self.hosts().map(|(host, backend)| async move {
            let life = tokio::time::timeout(PATIENCE, backend.inspect(instance)).await;
            matches!(life, Ok(Ok(life)) if life != Life::Absent).then_some((host, backend))
        });
        let found = futures_util::future::join_all(looked).await.into_iter().flatten().next();
        let (host, backend) = found.ok_or_else(|| BackendError::NotFound(instance.clone()))?;
        Ok(Member {
            host: host.clone(),
            backend: backend.clone(),
            instance: instance.clone(),
            manifest: None,
        })
    }
}

/// One instance and the host that it is on.
#[derive(Clone)]
pub struct Member {
    /// The host's name.
    pub host: String,
    /// The host.
    pub backend: Arc<dyn Backend>,
    /// The instance.
    pub instance: InstanceName,
    /// This machine's record of it.
    pub manifest: Option<Manifest>,
}

impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member")
            .field("host", &self.host)
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}

impl Member {
    /// How it is now.
    pub async fn look(&self) -> InstanceView {
        let plan = self.manifest.as_ref().map(|manifest| manifest.plan.clone());
        let life = match tokio::time::timeout(NAMED_PATIENCE, self.backend.inspect(&self.instance)).await {
            Ok(Ok(life)) => life,
            Ok(Err(error)) => return self.silent(plan, error.to_string()),
            Err(_) => return self.silent(plan, format!("{} does not answer", self.host)),
        };
        let found = Found { instance: self.instance.clone(), plan, life };
        look(&self.host, &self.backend, found, NAMED_PATIENCE).await
    }

    fn silent(&self, plan: Option<Plan>, why: String) -> InstanceView {
        let (instance, host) = (self.instance.clone(), self.host.clone());
        InstanceView { instance, host, plan, state: InstanceState::Silent(why) }
    }
}

async fn look(host: &str, backend: &Arc<dyn Backend>, found: Found, patience: Duration) -> InstanceView {
    let Found { instance, plan, life } = found;
    let state = match life {
        Life::Absent | Life::Unfinished => InstanceState::Unfinished,
        Life::Ended(ending) => InstanceState::Ended(ending),
        Life::Running => match tokio::time::timeout(patience, snapshot(backend, &instance)).await {
            Ok(Ok(snapshot)) => InstanceState::Running(Box::new(snapshot)),
            Ok(Err(why)) => InstanceState::Silent(why),
            Err(_) => InstanceState::Silent(format!("it does not answer within {} s", patience.as_secs())),
        },
    };
    InstanceView { instance, host: host.to_owned(), plan, state }
}

async fn snapshot(backend: &Arc<dyn Backend>, instance: &InstanceName) -> Result<Snapshot, String> {
    let stream = backend.open(instance).await.map_err(|error| error.to_string())?;
    let mut client = Client::over(stream).await.map_err(|error| error.to_string())?;
    client.call(Request::Snapshot {}).await.map_err(|error| error.to_string())
}
