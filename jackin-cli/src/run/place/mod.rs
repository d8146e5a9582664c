//! Where the process of a run is. Another place is another file in here.

mod docker;
mod engines;
mod local;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use jackin_core::run::{AgentError, Elsewhere, Ended, ProcessIds, RunContext, RunLayout};
use tokio::sync::mpsc;

pub use docker::Docker;
pub(super) use engines::{Engines, LeftOn};
pub use local::Local;

/// A place that processes can be started in: this machine, a container.
///
/// ```
/// use jackin_cli::run::{Happened, Local, Notes, Place, PlaceCommand};
/// use jackin_core::run::{RunContext, RunLayout, TaskLayout};
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
/// let task = TaskLayout::new("/runs", "api".parse()?, "fix-login".parse()?);
/// let run = RunLayout::new(task, "20260223-1530221234-991-1".parse()?);
/// let context = RunContext::new(run, "Do it");
/// let mut process = Local.start(&command, &context, &Notes::unheard()).await?;
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

    /// How a process in it sees a run's files and its directory, if that is not as this machine does.
    fn elsewhere(&self, run: &RunLayout, working_dir: &Path) -> Option<Elsewhere> {
        let _ = (run, working_dir);
        None
    }

    /// Starts the process of a run. What takes time is told on the way, and given up, with [`AgentError::Stopped`], when
    /// the run is to stop. A process that runs is returned even then, to be ended as any other.
    async fn start(
        &self,
        command: &PlaceCommand,
        context: &RunContext,
        notes: &Notes,
    ) -> Result<Box<dyn PlaceProcess>, AgentError>;

    /// Takes away everything that was made for a run, whatever came of it. The error is for people.
    async fn clear(&self, run: &RunLayout) -> Result<(), String> {
        let _ = run;
        Ok(())
    }
}

/// Where a place tells what it does until a process runs.
#[derive(Clone, Debug)]
pub struct Notes(mpsc::UnboundedSender<String>);

impl Notes {
    /// Notes, and who reads them.
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<String>) {
        let (write, read) = mpsc::unbounded_channel();
        (Self(write), read)
    }

    /// Notes that nobody reads.
    pub fn unheard() -> Self {
        Self::new().0
    }

    /// Tells something.
    pub fn say(&self, text: impl Into<String>) {
        // Whoever would have read it has gone.
        let _ = self.0.send(text.into());
    }
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

/// A process in a place. Dropping it, and then [`Place::clear`], ends it and everything that it started.
#[async_trait]
pub trait PlaceProcess: Send {
    /// Its ids, where they mean something on this machine.
    fn ids(&self) -> Option<ProcessIds>;

    /// Runs another program beside it, in the same place, and tells what that prints, if it is not too much and does not
    /// take too long. None where the runner can do so itself.
    fn ask(&self, words: &[String]) -> Option<BoxFuture<'static, Option<Vec<u8>>>> {
        let _ = words;
        None
    }

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
    /// It could not start after all, or nobody knows what becomes of it.
    Failed(AgentError),
}
