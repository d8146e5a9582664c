//! The operator's configuration: what may be written, where it is, and everything that is wrong with it.

mod agents;
mod command;
mod contained;
mod paths;
mod read;
mod schema;
mod value;

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use jackin_core::MuxEntry;
use jackin_tools::Tools;
use thiserror::Error;

pub(crate) use agents::SHELL;
pub(crate) use command::{ConfigArgs, run};
pub(crate) use contained::is_place;
pub(crate) use paths::at_home;
pub use paths::{NoHome, Paths};
pub(crate) use read::is_variable;
pub use read::{Mistake, Mistakes};
pub use schema::{
    AgentConfig, BackendKind, Config, ConsoleConfig, Defaults, GithubConfig, Grouping, HostConfig,
    LimitsConfig, MuxConfig, NotifyConfig, NotifyOsc, RestConfig, RoleConfig, RunsConfig, SidecarConfig,
    WorkspaceConfig,
};
pub use value::{Bytes, Endpoint, Mount, QuietTime, Seconds, ValueError};

/// A configuration with every field, each with a word about it.
pub const REFERENCE: &str = include_str!("reference.toml");

/// Why there is no configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It cannot be understood.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
    /// Nobody knows where it would be.
    #[error(transparent)]
    NoHome(#[from] NoHome),
}

/// A configuration, its tools, and where it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What is configured.
    pub config: Config,
    /// The team's own tools and handlers.
    pub tools: Tools,
    /// Where things are.
    pub paths: Paths,
}

impl Loaded {
    /// The operator's configuration. A missing file means defaults that work.
    pub fn from_env() -> Result<Self, LoadError> {
        Self::from(Paths::from_env()?)
    }

    /// The configuration in these directories.
    pub fn from(paths: Paths) -> Result<Self, LoadError> {
        let (config, tools) = load(paths.config_file())?;
        Ok(Self { config, tools, paths })
    }

    /// What can be read of it, for what has to work whatever is wrong with it.
    pub(crate) fn what_can_be_read() -> Result<Readable<Self>, LoadError> {
        let paths = Paths::from_env()?;
        let ((config, tools), wrong) = load_what_can_be_read(paths.config_file());
        Ok(Readable { value: Self { config, tools, paths }, wrong })
    }
}

/// What could be read of a configuration, and what is wrong with the rest.
#[derive(Debug)]
pub(crate) struct Readable<T> {
    pub(crate) value: T,
    pub(crate) wrong: Option<LoadError>,
}

impl<T> Readable<T> {
    /// What is wrong, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        match &self.wrong {
            None => Vec::new(),
            Some(LoadError::Mistakes(mistakes)) => mistakes.lines(),
            Some(error) => vec![error.to_string()],
        }
    }
}

/// The configuration for a command that can do without a home: CI has none at times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// What is configured; defaults, where nobody knows where that would be.
    pub(crate) config: Config,
    /// What jackin keeps, where that is known.
    pub(crate) home: Option<PathBuf>,
}

impl Known {
    /// What the environment tells.
    pub(crate) fn from_env() -> Result<Self, LoadError> {
        let (home, directory) = paths::directories();
        let config = match directory {
            Some(directory) => load(Paths::new("", directory).config_file())?.0,
            None => Config::default(),
        };
        Ok(Self { config, home })
    }

    /// The same, of what can be read of the configuration.
    pub(crate) fn what_can_be_read() -> Readable<Self> {
        let (home, directory) = paths::directories();
        let (config, wrong) = match directory {
            Some(directory) => {
                let ((config, _), wrong) = load_what_can_be_read(Paths::new("", directory).config_file());
                (config, wrong)
            }
            None => (Config::default(), None),
        };
        Readable { value: Self { config, home }, wrong }
    }
}

fn load(file: PathBuf) -> Result<(Config, Tools), LoadError> {
    match load_what_can_be_read(file) {
        (read, None) => Ok(read),
        (_, Some(error)) => Err(error),
    }
}

fn load_what_can_be_read(file: PathBuf) -> ((Config, Tools), Option<LoadError>) {
    let text = match read_text(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return (Default::default(), Some(LoadError::Read { path: file, error })),
    };
    let (read, mistakes) = read::read_what_can_be(&text);
    (read, mistakes.map(|mistakes| mistakes.of_file(file.display().to_string()).into()))
}

impl Config {
    /// Reads a configuration; everything that is wrong is told, not just the first mistake.
    pub fn parse(text: &str) -> Result<Self, Mistakes> {
        read::read(text).map(|(config, _)| config)
    }

    /// The multiplexer's settings as a capsule is told them.
    pub fn mux_entry(&self) -> MuxEntry {
        let MuxConfig { escape_time, chrome, history_lines, history_bytes, forward } = self.mux.clone();
        MuxEntry { keys: self.keys.clone(), escape_time, chrome, history_lines, history_bytes, forward }
    }
}

/// Reads no more than shows that a file is too large.
fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(Tools::MAX_CONFIG as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}
