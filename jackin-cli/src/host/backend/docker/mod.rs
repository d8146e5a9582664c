//! Instances as containers of a Docker engine, of this machine or another.
//!
//! No image is built: the static capsule is put into a container of the role's image before it starts, and is its first
//! process. Everything that belongs to an instance carries its name in a label, so that the engine alone knows what is
//! there, whoever made it.

mod archive;
mod bridge;
mod capsule_binary;
mod capsule_volume;
mod connection;
mod container;
mod create;
mod engine;
mod image;
mod labels;
mod life;
mod luggage;
mod mounts;
mod reach;
mod recordings;
mod registry;
mod remove;
mod run_body;
mod run_dir;
mod runs;
mod sidecars;
mod started;
mod tunnel;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jackin_core::InstanceName;

use super::{Backend, BackendError, Brought, ByteStream, Changes, Found, Life, Steps};
use crate::config::{HostConfig, Paths};
use crate::host::plan::{Plan, Secrets};
use connection::{Connection, LONG, SHORT};
pub(crate) use container::session_user;
use reach::Way;
pub(crate) use runs::{RunAttachment, RunEngine, RunLife, RunSpec, container_name};

/// The capsule in a container.
const CAPSULE: &str = "/jackin/runtime/jackin-capsule";
const RUNTIME_DIR: &str = "/jackin/runtime";
/// The operator's socket is in it.
const RUN_DIR: &str = "/jackin/run";
const CONFIG: &str = "/jackin/run/agent.toml";
/// The operator's rules for screens; a capsule looks for them beside its configuration.
const RULES_DIR: &str = "/jackin/run/rules";
/// What the capsule logs where it was told to.
const LOG: &str = "/jackin/run/jackin.log";
/// The agents' socket is in it.
const AGENT_DIR: &str = "/jackin/agent";
const STATE_DIR: &str = "/jackin/state";
/// How everything ended.
const END_RECORD: &str = "/jackin/state/exit.json";

/// A Docker engine.
#[derive(Clone, Debug)]
pub struct DockerBackend {
    engine: Arc<Connection>,
    paths: Paths,
    /// How each instance was reached last.
    ways: Arc<Mutex<HashMap<InstanceName, Way>>>,
}

impl DockerBackend {
    /// The engine of a host; without one, the engine that `docker` would use here. Nothing is asked of it yet: one that is
    /// not there is told by the first call that needs it, and so is a context that does not exist.
    pub fn connect(name: &str, host: Option<&HostConfig>, paths: Paths) -> Result<Self, BackendError> {
        if host.is_some_and(|host| host.docker.as_str().is_empty()) {
            return Err(BackendError::Impossible(format!("the host {name} has no `docker = …`")));
        }
        Ok(Self { engine: Arc::new(Connection::new(name, host)), paths, ways: Arc::default() })
    }

    /// The capsule that would be put into containers of an architecture, such as `x86_64`.
    pub fn find_capsule(arch: &str, paths: &Paths) -> Result<PathBuf, BackendError> {
        capsule_binary::CapsuleBinary::find(arch, paths).map(|binary| binary.path)
    }

    /// Whether the operator has an engine on this machine, or named one: then it is worth asking.
    pub fn is_likely() -> bool {
        match engine::Address::find(None, |name| std::env::var(name).ok()) {
            Ok(engine::Address::Unix(socket)) => socket.exists(),
            Ok(_) => true,
            Err(_) => false,
        }
    }
}

#[async_trait]
impl Backend for DockerBackend {
    async fn create(&self, plan: &Plan, secrets: &Secrets, step: &mut Steps<'_>) -> Result<(), BackendError> {
        create::create(self, plan, secrets, step).await
    }

    async fn list(&self) -> Result<Vec<Found>, BackendError> {
        life::list(&self.engine, &self.engine.docker(SHORT).await?).await
    }

    async fn inspect(&self, instance: &InstanceName) -> Result<Life, BackendError> {
        let docker = self.engine.docker(self.engine.patience()).await?;
        life::inspect(&self.engine, &docker, instance).await
    }

    async fn open(&self, instance: &InstanceName) -> Result<Box<dyn ByteStream>, BackendError> {
        self.reach(instance).await
    }

    async fn socket(&self, instance: &InstanceName) -> Option<PathBuf> {
        match self.way(instance).await {
            Way::Socket(path) => Some(path),
            Way::Bridge => None,
        }
    }

    async fn log(&self, instance: &InstanceName) -> Result<Option<Vec<u8>>, BackendError> {
        let docker = self.engine.docker(self.engine.patience()).await?;
        life::log(&self.engine, &docker, instance).await
    }

    async fn bring_recordings(
        &self,
        instance: &InstanceName,
        only: Option<&str>,
    ) -> Result<Brought, BackendError> {
        let docker = self.engine.docker(LONG).await?;
        let dir = self.paths.recordings().join(instance.as_str());
        recordings::bring(&self.engine, &docker, instance, only, dir).await
    }

    async fn stop(&self, instance: &InstanceName) -> Result<(), BackendError> {
        let docker = self.engine.docker(LONG).await?;
        remove::stop(&self.engine, &docker, instance).await?;
        self.forget(instance);
        Ok(())
    }

    async fn remove(&self, instance: &InstanceName) -> Result<(), BackendError> {
        let docker = self.engine.docker(LONG).await?;
        remove::remove(&self.engine, &docker, instance).await?;
        self.forget(instance);
        self.remove_run_dir(instance)
    }

    async fn watch(&self) -> Result<Changes, BackendError> {
        life::watch(&self.engine, &self.engine.docker(self.engine.patience()).await?).await
    }
}
