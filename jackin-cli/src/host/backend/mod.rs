//! Where instances live. A backend makes them, finds them again, lets bytes through to their capsules and takes them
//! away; what an instance is, and what is done with it, is the same for all.

mod docker;
mod fake;
mod local;

use std::path::PathBuf;
use std::pin::Pin;

use async_trait::async_trait;
use futures_util::Stream;
use jackin_core::{AgentStatus, InstanceName};
use thiserror::Error;

pub use docker::DockerBackend;
pub(crate) use docker::{RunAttachment, RunEngine, RunLife, RunSpec, container_name, session_user};
pub use fake::FakeBackend;
pub use local::LocalBackend;

use super::plan::{Plan, Secrets};
use crate::capsule::EndRecord;
pub use crate::client::ByteStream;

/// A place where instances live.
///
/// Calls about one instance come one after another: whoever calls holds the lock of its manifest.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Makes an instance and returns once its capsule answers. `step` is told what is being done, for people. What was
    /// made before something failed is left for [`Backend::remove`].
    async fn create(&self, plan: &Plan, secrets: &Secrets, step: &mut Steps<'_>) -> Result<(), BackendError>;

    /// The instances that are here, running or ended, whoever made them.
    async fn list(&self) -> Result<Vec<Found>, BackendError>;

    /// How an instance is.
    async fn inspect(&self, instance: &InstanceName) -> Result<Life, BackendError>;

    /// A stream to the operator's socket of an instance's capsule. Each call opens one of its own.
    async fn open(&self, instance: &InstanceName) -> Result<Box<dyn ByteStream>, BackendError>;

    /// The socket's file, where the capsule can be reached at one on this machine.
    async fn socket(&self, instance: &InstanceName) -> Option<PathBuf>;

    /// What an instance's capsule logged about itself, as far as it is kept; none if it logged nothing. It need not run.
    async fn log(&self, _instance: &InstanceName) -> Result<Option<Vec<u8>>, BackendError> {
        Ok(None)
    }

    /// Brings recordings that only the instance's capsule can reach to the operator's: the one that the capsule named, or
    /// all that there are. The instance need not run. What is with the operator's already is not brought.
    async fn bring_recordings(
        &self,
        _instance: &InstanceName,
        _only: Option<&str>,
    ) -> Result<Brought, BackendError> {
        Ok(Brought::default())
    }

    /// Ends an instance: in order if it lets itself be ended, otherwise by force. It is ended afterwards.
    async fn stop(&self, instance: &InstanceName) -> Result<(), BackendError>;

    /// Takes away everything that was made for an instance, whatever state it is in. What is not there is no error.
    async fn remove(&self, instance: &InstanceName) -> Result<(), BackendError>;

    /// Tells of instances that began or ended, until the stream is dropped. Its end means that the backend went away.
    async fn watch(&self) -> Result<Changes, BackendError>;
}

/// What is being done, for people.
pub type Steps<'a> = dyn FnMut(&str) + Send + 'a;

/// Instances that began or ended.
pub type Changes = Pin<Box<dyn Stream<Item = InstanceName> + Send>>;

/// An instance that a backend found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its name.
    pub instance: InstanceName,
    /// How it was made, where that is known.
    pub plan: Option<Plan>,
    /// How it is.
    pub life: Life,
}

/// Recordings that were brought to this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brought {
    /// Where they are now.
    pub files: Vec<PathBuf>,
    /// Why these are not all of them, for people.
    pub trouble: Option<String>,
}

impl Brought {
    /// What the operator should know, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let kept = self.files.iter().map(|path| format!("its recording is kept: {}", path.display()));
        let lost = self.trouble.as_ref().map(|why| format!("not all of its recordings could be kept: {why}"));
        kept.chain(lost).collect()
    }
}

/// How an instance is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Life {
    /// There is no such instance.
    Absent,
    /// It is being made, or was left half made.
    Unfinished,
    /// Its capsule runs.
    Running,
    /// Its capsule has ended.
    Ended(Ending),
}

/// How an instance ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// The exit code, where it is known.
    pub exit_code: Option<i32>,
    /// Whether it was ended because it used too much memory.
    pub oom: bool,
    /// What its capsule wrote down at the end.
    pub record: Option<EndRecord>,
}

impl Ending {
    /// The same as a status.
    pub fn status(&self) -> AgentStatus {
        match self.exit_code {
            _ if self.oom => AgentStatus::OomKilled,
            Some(0) => AgentStatus::Ended { exit_code: 0 },
            Some(exit_code) => AgentStatus::Crashed { exit_code },
            // A capsule that could not say how it ended was killed.
            None => AgentStatus::Crashed { exit_code: KILLED },
        }
    }

    /// Whether it ended well.
    pub fn is_clean(&self) -> bool {
        matches!(self.status(), AgentStatus::Ended { .. })
    }

    /// Whether what is left of it is kept: to be looked at, or to be started again, because its agents were not done when
    /// somebody stopped the container, or the machine went down.
    pub fn is_kept(&self) -> bool {
        !self.is_clean() || self.record.as_ref().is_some_and(|record| record.signalled)
    }
}

/// The exit code that a shell gives to what was killed.
const KILLED: i32 = 137;

/// Why a backend could not do something.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BackendError {
    /// There is no such instance.
    #[error("there is no instance {0}: `jackin ls` lists them")]
    NotFound(InstanceName),
    /// The instance is there and has ended.
    #[error(
        "{instance} has ended: {}; `jackin hardline {instance} --inspect` shows its last screen, `jackin restart {instance}` \
         starts it again, `jackin eject {instance}` takes it away",
        ending.status()
    )]
    Ended {
        /// The instance.
        instance: InstanceName,
        /// How.
        ending: Box<Ending>,
    },
    /// The engine cannot be reached.
    #[error("{what} does not answer: {why}")]
    Unreachable {
        /// Which engine.
        what: String,
        /// What is known of the reason, and what to do.
        why: String,
    },
    /// The plan cannot be carried out here.
    #[error("{0}")]
    Impossible(String),
    /// Something failed on the way.
    #[error("cannot {what}: {why}")]
    Failed {
        /// What was being done.
        what: String,
        /// What the system or the engine says.
        why: String,
    },
}

impl BackendError {
    /// Something failed on the way.
    pub fn failed(what: impl Into<String>, why: impl std::fmt::Display) -> Self {
        Self::Failed { what: what.into(), why: why.to_string() }
    }
}
