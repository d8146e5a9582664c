//! Where things are on the operator's machine.

use std::path::{Path, PathBuf};

use jackin_core::InstanceName;
use thiserror::Error;

/// Nobody knows where things would be.
#[derive(Debug, Error)]
#[error("neither HOME nor {0} is set: set {0} to a directory of yours")]
pub struct NoHome(&'static str);

/// The operator's directories: `$JACKIN_HOME`, else `~/.jackin`, for what jackin keeps; `$JACKIN_CONFIG_DIR`, else
/// `~/.config/jackin`, for what the operator writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    home: PathBuf,
    config: PathBuf,
}

impl Paths {
    /// The directories that the environment names.
    pub fn from_env() -> Result<Self, NoHome> {
        let (home, config) = directories();
        let (home, config) = (home.ok_or(NoHome("JACKIN_HOME"))?, config.ok_or(NoHome("JACKIN_CONFIG_DIR"))?);
        Ok(Self::new(home, config))
    }

    /// These directories.
    pub fn new(home: impl Into<PathBuf>, config: impl Into<PathBuf>) -> Self {
        Self { home: home.into(), config: config.into() }
    }

    /// What jackin keeps.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// What the operator writes.
    pub fn config_dir(&self) -> &Path {
        &self.config
    }

    /// The configuration.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The operator's own skills, a directory each.
    pub fn skills(&self) -> PathBuf {
        self.config.join("skills")
    }

    /// The operator's own rules for screens.
    pub fn rules(&self) -> PathBuf {
        self.config.join("rules")
    }

    /// The records of instances.
    pub fn instances(&self) -> PathBuf {
        self.home.join("instances")
    }

    /// The record of an instance.
    pub fn manifest(&self, instance: &InstanceName) -> PathBuf {
        self.instances().join(format!("{instance}.toml"))
    }

    /// What an instance's capsule is started with, and its sockets.
    pub fn run_dir(&self, instance: &InstanceName) -> PathBuf {
        self.home.join("sockets").join(instance.as_str())
    }

    /// The operator's socket of an instance on this machine.
    pub fn socket(&self, instance: &InstanceName) -> PathBuf {
        self.run_dir(instance).join("jackin.sock")
    }

    /// What is left of an instance: how it ended.
    pub fn state_dir(&self, instance: &InstanceName) -> PathBuf {
        self.home.join("state").join(instance.as_str())
    }

    /// Git worktrees of instances.
    pub fn worktrees(&self) -> PathBuf {
        self.home.join("worktrees")
    }

    /// What happened in instances.
    pub fn history(&self) -> PathBuf {
        self.home.join("history")
    }

    /// Recordings of sessions.
    pub fn recordings(&self) -> PathBuf {
        self.home.join("recordings")
    }

    /// Records of headless runs.
    pub fn runs(&self) -> PathBuf {
        self.home.join("runs")
    }

    /// Capsules for containers, by version and architecture.
    pub fn cache(&self) -> PathBuf {
        self.home.join("cache")
    }
}

/// What jackin keeps and what the operator writes, each where the environment tells.
pub(super) fn directories() -> (Option<PathBuf>, Option<PathBuf>) {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let below_home = |directory: &str| set("HOME").map(|home| home.join(directory));
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let home = set("JACKIN_HOME").or_else(|| below_home(".jackin"));
    let config = set("JACKIN_CONFIG_DIR").or_else(|| below_home(".config/jackin"));
    (home.map(absolute), config.map(absolute))
}

/// A path whose `~/` stands for the operator's home.
pub(crate) fn at_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(below), Some(home)) => PathBuf::from(home).join(below),
        _ => path.to_owned(),
    }
}
