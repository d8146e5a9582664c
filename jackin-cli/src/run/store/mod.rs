//! Where records of runs are kept: directories below a root.

mod directory;
mod gc;
mod leftovers;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jackin_core::RunId;
use jackin_core::run::{ProjectId, RunContainer, RunInfo, RunLayout, RunStatus, TaskId, TaskLayout};
use thiserror::Error;

pub use directory::RunDirectory;
pub use gc::Collected;

use super::files::{advice, is_locked};
use crate::regular::{open_regular, read_regular};

/// No record is longer.
const MAX_INFO: u64 = 4 << 20;

/// A root with the records of runs.
///
/// ```
/// use jackin_cli::run::Store;
/// use jackin_core::run::RunInfo;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let store = Store::new(dir.path())?;
/// let task = store.task("api".parse()?, "fix-login".parse()?);
/// let begin = |layout: &_, now| RunInfo::begun(layout, "claude", now);
/// let (directory, _info) = store.create(&task, begin)?;
/// assert!(store.find(directory.layout().run().as_str())?.alive);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    containers: Option<Arc<dyn Containers>>,
}

/// Takes away the containers of runs whose runner has died.
pub trait Containers: fmt::Debug + Send + Sync {
    /// Takes away a run's container and what belongs to it; how it was. The error is for people.
    fn remove(&self, run: &RunLayout, container: &RunContainer) -> Result<ContainerWas, String>;
}

/// How the container of a run was when it was taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerWas {
    /// There was none.
    Absent,
    /// It had not started.
    Unstarted,
    /// It ran.
    Running,
    /// It had ended.
    Ended,
}

/// Why records cannot be kept or found.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A directory or file cannot be used.
    #[error("cannot use {}: {}", path.display(), advice(error))]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// There is no such run.
    #[error("there is no run {id:?} below {}: `jackin runs list` lists them", root.display())]
    NoRun {
        /// What was asked for.
        id: String,
        /// Where it was looked for.
        root: PathBuf,
    },
    /// The beginning of an id fits several runs.
    #[error("{id:?} may be {first}, {second} and others: write more of it")]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// One of them.
        first: RunId,
        /// Another one.
        second: RunId,
    },
    /// Several projects have a task of this name.
    #[error("{task:?} may be {first} or {second}: write one of them")]
    AmbiguousTask {
        /// What was asked for.
        task: String,
        /// One of them, with its project.
        first: String,
        /// Another one.
        second: String,
    },
    /// A task has a name with which ids begin.
    #[error("{task:?} is a task and the beginning of run {run}: write more of the id, or {full}")]
    TaskOrRun {
        /// What was asked for.
        task: String,
        /// The run.
        run: RunId,
        /// The task, with its project.
        full: String,
    },
    /// A record cannot be understood.
    #[error("cannot read {}: {reason}", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The agents' processes use up every name.
    #[error("cannot find a free run id below {}", .0.display())]
    NoFreeId(PathBuf),
}

/// A run that was found.
#[derive(Clone, Debug)]
pub struct FoundRun {
    /// Where its files are.
    pub layout: RunLayout,
    /// Its record.
    pub info: RunInfo,
    /// Whether its runner lives.
    pub alive: bool,
}

impl FoundRun {
    /// Whether it says that it runs, but nobody runs it: `jackin runs gc` will say so.
    pub fn is_abandoned(&self) -> bool {
        self.info.status == RunStatus::Running && !self.alive
    }

    /// One word for how it stands.
    pub fn standing(&self) -> &'static str {
        if self.is_abandoned() { "abandoned" } else { self.info.status.word() }
    }
}

impl Store {
    /// The records below a root, which is made when the first run needs it.
    pub fn new(root: impl AsRef<Path>) -> Result<Self, StoreError> {
        let root = root.as_ref();
        // Agents are told where their files are, and change directories.
        let root = std::path::absolute(root).map_err(|error| failed(root, error))?;
        Ok(Self { root, containers: None })
    }

    /// The same with somebody who takes away the containers of runs whose runner has died.
    pub fn with_containers(self, containers: Arc<dyn Containers>) -> Self {
        Self { containers: Some(containers), ..self }
    }

    /// The root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The layout of a task.
    pub fn task(&self, project: ProjectId, task: TaskId) -> TaskLayout {
        TaskLayout::new(&self.root, project, task)
    }

    /// Begins the record of a run: its directory appears with the record in it, and locked by this process. Returns the
    /// record, too.
    pub fn create(
        &self,
        task: &TaskLayout,
        begin: impl Fn(&RunLayout, jackin_core::Timestamp) -> RunInfo,
    ) -> Result<(RunDirectory, RunInfo), StoreError> {
        // Prompts and answers are nobody else's business.
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.root)
            .map_err(|error| failed(&self.root, error))?;
        let runs = task.runs();
        fs::create_dir_all(&runs).map_err(|error| failed(&runs, error))?;
        RunDirectory::create(task, begin)
    }

    /// All runs, oldest first, and what looked like one but cannot be read.
    pub fn runs(&self) -> Result<(Vec<FoundRun>, Vec<StoreError>), StoreError> {
        let (mut found, mut bad) = (Vec::new(), Vec::new());
        for layout in self.layouts()? {
            match look(layout) {
                Ok(run) => found.push(run),
                Err(error) => bad.push(error),
            }
        }
        found.sort_by(|a, b| a.layout.run().cmp(b.layout.run()));
        Ok((found, bad))
    }

    /// The run with this id, or the one whose id begins so; `last` is the youngest, and `TASK` or `PROJECT/TASK` the
    /// youngest of a task.
    pub fn find(&self, id: &str) -> Result<FoundRun, StoreError> {
        let mut layouts = self.layouts()?;
        layouts.sort_by(|a, b| a.run().cmp(b.run()));
        let none = || StoreError::NoRun { id: id.to_owned(), root: self.root.clone() };
        if id == "last" {
            return look(layouts.pop().ok_or_else(none)?);
        }
        let youngest = youngest_of_tasks(&layouts, id);
        layouts.retain(|layout| layout.run().as_str().starts_with(id) && !id.is_empty());
        if let Some(exact) = layouts.iter().position(|layout| layout.run().as_str() == id) {
            return look(layouts.swap_remove(exact));
        }
        match (&layouts[..], &youngest[..]) {
            ([], []) => Err(none()),
            ([one], []) | ([], [one]) => look(one.clone()),
            ([run, ..], [task, ..]) => Err(StoreError::TaskOrRun {
                task: id.to_owned(),
                run: run.run().clone(),
                full: full_name(task.task()),
            }),
            ([first, second, ..], []) => Err(StoreError::Ambiguous {
                id: id.to_owned(),
                first: first.run().clone(),
                second: second.run().clone(),
            }),
            ([], [first, second, ..]) => Err(StoreError::AmbiguousTask {
                task: id.to_owned(),
                first: full_name(first.task()),
                second: full_name(second.task()),
            }),
        }
    }

    /// Every directory that has the place and the name of a run's.
    fn layouts(&self) -> Result<Vec<RunLayout>, StoreError> {
        let mut layouts = Vec::new();
        for task in self.tasks()? {
            let runs = names(&task.runs())?;
            layouts.extend(
                runs.iter().filter_map(|name| name.parse().ok()).map(|run| RunLayout::new(task.clone(), run)),
            );
        }
        Ok(layouts)
    }

    fn tasks(&self) -> Result<Vec<TaskLayout>, StoreError> {
        let mut tasks = Vec::new();
        for project in names(&self.root)? {
            let Ok(project) = ProjectId::new(project) else { continue };
            for task in names(&self.root.join(project.as_str()))? {
                let Ok(task) = TaskId::new(task) else { continue };
                tasks.push(self.task(project.clone(), task));
            }
        }
        Ok(tasks)
    }
}

/// Of each task that is meant by `TASK` or `PROJECT/TASK`, the youngest run. The runs are in their order.
fn youngest_of_tasks(layouts: &[RunLayout], name: &str) -> Vec<RunLayout> {
    let mut youngest: BTreeMap<String, RunLayout> = BTreeMap::new();
    for layout in layouts {
        let full = full_name(layout.task());
        if name == full || name == layout.task().task().as_str() {
            youngest.insert(full, layout.clone());
        }
    }
    youngest.into_values().collect()
}

/// A task as it is listed.
fn full_name(task: &TaskLayout) -> String {
    format!("{}/{}", task.project(), task.task())
}

/// The names in a directory; none if it is no directory.
fn names(dir: &Path) -> Result<Vec<String>, StoreError> {
    let entries = match fs::read_dir(dir) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        read => read.map_err(|error| failed(dir, error))?,
    };
    Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

fn look(layout: RunLayout) -> Result<FoundRun, StoreError> {
    // In this order: a runner that ends in between has written its last word before it let go.
    let alive = runner_lives(&layout);
    let info = read_info(&layout)?;
    let alive = alive.unwrap_or_else(|| foreign_process_lives(&info));
    Ok(FoundRun { layout, info, alive })
}

/// Whether the runner holds its lock; none where there is no lock.
fn runner_lives(layout: &RunLayout) -> Option<bool> {
    let lock = open_lock(layout)?;
    Some(is_locked(&lock).unwrap_or(true))
}

fn open_lock(layout: &RunLayout) -> Option<File> {
    open_regular(&layout.lock(), OpenOptions::new().read(true).write(true)).ok()
}

/// Runs of other runners have no lock of ours; what there is to go by is their process.
fn foreign_process_lives(info: &RunInfo) -> bool {
    info.status == RunStatus::Running
        && rustix::process::Pid::from_raw(info.pid)
            .is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

fn read_info(layout: &RunLayout) -> Result<RunInfo, StoreError> {
    let path = layout.info();
    let bytes = read_regular(&path, MAX_INFO).map_err(|error| failed(&path, error))?;
    serde_saphyr::from_slice(&bytes)
        .map_err(|error| StoreError::Record { path, reason: jackin_core::one_line(&error.to_string(), 300) })
}

fn failed(path: &Path, error: io::Error) -> StoreError {
    StoreError::Io { path: path.to_owned(), error }
}
