use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use jackin_core::RunId;
use jackin_core::run::{RunContainer, RunLayout};

use crate::capsule::block_on;
use crate::config::Config;
use crate::host::{DOCKER, DockerBackend, RunEngine, RunLife};
use crate::run::store::{ContainerWas, Containers};

/// How long what is left in a container has to end by itself.
const GRACE: Duration = Duration::from_secs(3);

/// The Docker engines that runs of this operator may have left something on.
#[derive(Debug)]
pub(in crate::run) struct Engines(Vec<RunEngine>);

/// The runs of which something is on an engine, or why that is not known.
pub(in crate::run) struct LeftOn<'a> {
    pub(in crate::run) engine: &'a RunEngine,
    pub(in crate::run) runs: Result<BTreeSet<RunId>, String>,
}

impl Engines {
    /// Those of this machine: the usual one, if there is one, and those that are configured.
    pub(in crate::run) fn new(config: &Config) -> Self {
        let usual = DockerBackend::is_likely().then(|| RunEngine::connect(DOCKER, None));
        let configured = config.hosts.iter().map(|(name, host)| RunEngine::connect(name, Some(host)));
        Self(usual.into_iter().chain(configured).filter(|engine| engine.address().is_ok()).collect())
    }

    /// What is left of the runs of a root on each engine.
    pub(in crate::run) fn left(&self, root: &Path) -> impl Iterator<Item = LeftOn<'_>> {
        self.0.iter().map(move |engine| {
            let runs = apart(async { Ok(engine.runs(root).await?) });
            LeftOn { engine, runs: runs.map_err(|error| format!("{error:#}")) }
        })
    }

    /// Takes away what is left of a run on an engine.
    pub(in crate::run) fn remove_from(engine: &RunEngine, run: &RunId) -> Result<RunLife, String> {
        let removed = apart(async { Ok(engine.remove(run, Some(GRACE)).await?) });
        removed.map_err(|error| format!("{error:#}"))
    }
}

impl Containers for Engines {
    /// A record is a file that the agent could write to. It says which of the operator's engines is meant, and no more:
    /// nobody else is asked, and of that engine nothing is removed that is not labelled as this run's.
    fn remove(&self, run: &RunLayout, container: &RunContainer) -> Result<ContainerWas, String> {
        let meant = |engine: &&RunEngine| engine.address().is_ok_and(|address| address == container.address);
        let engine = self.0.iter().find(meant).ok_or_else(|| {
            format!(
                "it is on the Docker engine {} ({}), which is not configured here: set DOCKER_HOST to that, or add it to \
                 [hosts]",
                container.engine, container.address
            )
        })?;
        Self::remove_from(engine, run.run()).map(|life| match life {
            RunLife::Absent => ContainerWas::Absent,
            RunLife::Unstarted => ContainerWas::Unstarted,
            RunLife::Running => ContainerWas::Running,
            RunLife::Ended { .. } => ContainerWas::Ended,
        })
    }
}

/// Carries something out on an event loop of its own, wherever this is called from.
fn apart<T: Send>(work: impl Future<Output = Result<T>> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let done = scope.spawn(|| block_on(work)).join();
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
