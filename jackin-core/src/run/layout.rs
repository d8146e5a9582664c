use std::path::{Path, PathBuf};

use super::{ProjectId, RunId, TaskId};

/// Where the files of a task are: `<root>/<project>/<task>/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskLayout {
    root: PathBuf,
    project: ProjectId,
    task: TaskId,
}

impl TaskLayout {
    /// The layout of a task below `root`.
    pub fn new(root: impl Into<PathBuf>, project: ProjectId, task: TaskId) -> Self {
        Self { root: root.into(), project, task }
    }

    /// The directory of all projects.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The project.
    pub fn project(&self) -> &ProjectId {
        &self.project
    }

    /// The task.
    pub fn task(&self) -> &TaskId {
        &self.task
    }

    /// The task's directory.
    pub fn folder(&self) -> PathBuf {
        self.root.join(self.project.as_str()).join(self.task.as_str())
    }

    /// `TASK.md`: what the task is, in the operator's words.
    pub fn description(&self) -> PathBuf {
        self.folder().join("TASK.md")
    }

    /// `TASK-MESSAGE-BUS.md`: the task's message bus.
    pub fn bus(&self) -> PathBuf {
        self.folder().join("TASK-MESSAGE-BUS.md")
    }

    /// `DONE`: an empty file that marks a finished task.
    pub fn done(&self) -> PathBuf {
        self.folder().join("DONE")
    }

    /// The directory of the task's runs.
    pub fn runs(&self) -> PathBuf {
        self.folder().join("runs")
    }
}

/// Where the files of a run are: `<root>/<project>/<task>/runs/<run>/`.
///
/// ```
/// use jackin_core::run::{RunLayout, TaskLayout};
///
/// let task = TaskLayout::new("/runs", "api".parse()?, "fix-login".parse()?);
/// let run = RunLayout::new(task, "20260223-1530221234-991-1".parse()?);
/// assert_eq!(run.output().to_str(), Some("/runs/api/fix-login/runs/20260223-1530221234-991-1/output.md"));
/// # Ok::<(), jackin_core::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLayout {
    task: TaskLayout,
    run: RunId,
}

impl RunLayout {
    /// The layout of a run of a task.
    pub fn new(task: TaskLayout, run: RunId) -> Self {
        Self { task, run }
    }

    /// The task.
    pub fn task(&self) -> &TaskLayout {
        &self.task
    }

    /// The run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The run's directory.
    pub fn folder(&self) -> PathBuf {
        self.task.runs().join(self.run.as_str())
    }

    /// `prompt.md`: what the agent is told, preamble and all.
    pub fn prompt(&self) -> PathBuf {
        self.file("prompt.md")
    }

    /// `agent-stdout.txt`: what the agent printed.
    pub fn stdout(&self) -> PathBuf {
        self.file("agent-stdout.txt")
    }

    /// `agent-stderr.txt`: what it printed to standard error.
    pub fn stderr(&self) -> PathBuf {
        self.file("agent-stderr.txt")
    }

    /// `output.md`: its summary.
    pub fn output(&self) -> PathBuf {
        self.file("output.md")
    }

    /// `run-info.yaml`: what is known of the run.
    pub fn info(&self) -> PathBuf {
        self.file("run-info.yaml")
    }

    /// `runner.lock`: locked by the runner as long as it lives, and gone when the run is over.
    pub fn lock(&self) -> PathBuf {
        self.file("runner.lock")
    }

    /// `stop`: asks the runner to stop the run; gone when the run is over.
    pub fn stop_request(&self) -> PathBuf {
        self.file("stop")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }
}
