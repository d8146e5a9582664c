use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::RunLayout;

/// Where an agent works that is not on this machine as it is: a container has its own view of the run's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The run's files, as the agent sees them.
    pub layout: RunLayout,
    /// The directory to work in, as the agent sees it.
    pub working_dir: PathBuf,
    /// What it works in, for `run-info.yaml`.
    pub container: RunContainer,
}

/// The container of a run, as `run-info.yaml` names it: whoever cleans up after a runner that died looks there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunContainer {
    /// Its name, which its network has, too.
    pub name: String,
    /// The engine, as the operator calls it.
    #[serde(default)]
    pub engine: String,
    /// Where the engine answers.
    #[serde(default)]
    pub address: String,
    /// The image.
    #[serde(default)]
    pub image: String,
    /// The run's folder in it.
    #[serde(default)]
    pub folder: String,
    /// The directory to work in.
    #[serde(default)]
    pub workdir: String,
}
