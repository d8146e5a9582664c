//! What the console has others do for it.

use async_trait::async_trait;
use jackin_core::protocol::control::PullRequest;
use jackin_core::{InstanceName, RoleName};

use crate::host::Steps;

/// What the operator chose for a new agent. What was left open has a default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewAgent {
    /// A workspace's name or a directory.
    pub target: String,
    /// The role.
    pub role: Option<RoleName>,
    /// The agent that is started at once.
    pub agent: Option<String>,
    /// The host that it runs on: `local`, `docker`, or a name of `[hosts]`.
    pub host: Option<String>,
}

/// Whatever makes, shows and ends instances for the console. Errors are for people.
#[async_trait]
pub trait Actions: Send + Sync {
    /// Shows an instance on the terminal, which is its own meanwhile, until the operator detaches. Returns how that
    /// ended, for people.
    async fn attach(&self, instance: &InstanceName) -> anyhow::Result<String>;

    /// Makes an instance. `step` is told what is being done, for people.
    async fn new_agent(&self, choice: NewAgent, step: &mut Steps<'_>) -> anyhow::Result<InstanceName>;

    /// Stops and removes an instance. Returns what the operator should know of what is left, a line each.
    async fn eject(&self, instance: &InstanceName) -> anyhow::Result<Vec<String>>;

    /// Stops and removes every instance that this machine has a record of. Returns how many there were.
    async fn exile(&self) -> anyhow::Result<usize>;

    /// Makes an instance that has ended once more, as it was.
    async fn restart(&self, instance: &InstanceName) -> anyhow::Result<()>;

    /// Takes away what an instance that ended well has left.
    async fn ended(&self, _instance: &InstanceName) -> anyhow::Result<()> {
        Ok(())
    }

    /// Something that the operator should know at the beginning.
    fn remark(&self) -> Option<String> {
        None
    }

    /// What became of a pull request and its checks; none where nobody can say.
    async fn pull_request(&self, _url: &str) -> Option<PullRequest> {
        None
    }
}
