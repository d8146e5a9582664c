//! Where the process of a run is. Another place is another file in here.

mod local;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use async_trait::async_trait;
use jackin_core::run::{AgentError, Ended, ProcessIds};

pub use local::Local;

/// A place that processes can be started in: this machine, a container.
///
/// ```
/// use jackin_cli::run::{Happened, Local, Place, PlaceCommand};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let command = PlaceCommand {
///     program: "sh".into(),
///     args: vec!["-c".into(), "echo done; exit 3".into()],
///     env: std::env::vars_os().collect(),
///     cwd: ".".into(),
///     stdin: None,
/// };
/// let mut process = Local.start(&command).await?;
/// assert_eq!(process.next().await, Happened::Stdout(b"done\n".to_vec()));
/// let Happened::Ended(ended) = process.next().await else { panic!() };
/// assert_eq!(ended.exit_code, 3);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Place: Send + Sync {
    /// What it is called in records.
    fn name(&self) -> &'static str;

    /// Starts a process.
    async fn start(&self, command: &PlaceCommand) -> Result<Box<dyn PlaceProcess>, AgentError>;
}

/// What to start.
#[derive(Clone)]
pub struct PlaceCommand {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: BTreeMap<OsString, OsString>,
    /// Where it works.
    pub cwd: PathBuf,
    /// The file that it reads as its standard input; nothing without one.
    pub stdin: Option<PathBuf>,
}

/// A process in a place. Dropping it ends it, and everything that it started.
#[async_trait]
pub trait PlaceProcess: Send {
    /// Its ids, where they mean something on this machine.
    fn ids(&self) -> Option<ProcessIds>;

    /// What happened next. After the end nothing does. Dropping the future loses nothing.
    async fn next(&mut self) -> Happened;

    /// Asks it, and everything that it started, to end.
    async fn terminate(&mut self);

    /// Ends it, and everything that it started.
    async fn kill(&mut self);
}

/// What a process did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// It printed to standard output.
    Stdout(Vec<u8>),
    /// It printed to standard error.
    Stderr(Vec<u8>),
    /// It ended, and all it had printed was told.
    Ended(Ended),
}
