//! A root for runs, and a runner for it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jackin_cli::run::{FinishedRun, RunEvent, RunObserver, RunRequest, Runner, Store, bus};
use jackin_core::run::{Agent, BusMessage, RunInfo, RunLayout, Step};
use tempfile::TempDir;

use crate::support::JACKIN;

/// Longer than anything takes; a test that needs it has failed.
pub const LONG: Duration = Duration::from_secs(60);

pub struct Scene {
    dir: TempDir,
    env: BTreeMap<OsString, OsString>,
}

impl Scene {
    pub fn new() -> Self {
        let env = std::env::vars_os()
            .filter(|(name, _)| name == "PATH" || name == "TMPDIR")
            .chain([("HOME".into(), "/nonexistent".into())])
            .collect();
        Self { dir: tempfile::tempdir().unwrap(), env }
    }

    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub fn store(&self) -> Store {
        Store::new(self.root()).unwrap()
    }

    pub fn runner(&self) -> Runner {
        Runner::new(self.store()).with_environment(self.env.clone()).with_grace(Duration::from_millis(300))
    }

    pub fn request(&self, agent: impl Agent + 'static, prompt: &str) -> RunRequest {
        let (project, task) = ("api".parse().unwrap(), "fix".parse().unwrap());
        RunRequest { cwd: self.dir().to_owned(), ..RunRequest::new(Arc::new(agent), project, task, prompt) }
    }

    pub async fn run(&self, agent: impl Agent + 'static, prompt: &str) -> FinishedRun {
        self.run_seen(self.request(agent, prompt)).await.0
    }

    /// Does a run and tells the steps that were seen.
    pub async fn run_seen(&self, request: RunRequest) -> (FinishedRun, Vec<Step>) {
        let mut steps = Steps::default();
        let runner = self.runner();
        let run = tokio::time::timeout(LONG, runner.run(request, &mut steps));
        let run = run.await.expect("a run ends").unwrap();
        (run, steps.0)
    }

    pub fn messages(&self) -> Vec<BusMessage> {
        bus::read(&self.root().join("api/fix/TASK-MESSAGE-BUS.md")).unwrap()
    }

    pub fn kinds(&self) -> Vec<String> {
        self.messages().into_iter().map(|message| message.kind).collect()
    }

    /// `jackin …` with this root's environment.
    pub fn jackin(&self, args: &[&str]) -> Command {
        let mut command = Command::new(JACKIN);
        command.args(args).env_clear().envs(&self.env).env("JACKIN_HOME", self.dir()).current_dir(self.dir());
        command.stdin(std::process::Stdio::null());
        command
    }

    /// A program in a directory of its own that stands first in the path.
    pub fn program(&mut self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let bin = self.dir().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        let path = bin.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let old = self.env.get(std::ffi::OsStr::new("PATH")).cloned().unwrap_or_default();
        if !std::env::split_paths(&old).any(|dir| dir == bin) {
            let path = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&old))).unwrap();
            self.env.insert("PATH".into(), path);
        }
    }
}

/// The record on disk.
pub fn info(layout: &RunLayout) -> RunInfo {
    let text = std::fs::read_to_string(layout.info()).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

pub fn text(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of a run's directory.
pub fn files(layout: &RunLayout) -> Vec<String> {
    let entries = std::fs::read_dir(layout.folder()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// What every finished run leaves.
pub const FILES: [&str; 5] =
    ["agent-stderr.txt", "agent-stdout.txt", "output.md", "prompt.md", "run-info.yaml"];

#[derive(Default)]
struct Steps(Vec<Step>);

#[async_trait]
impl RunObserver for Steps {
    async fn saw(&mut self, _run: &RunLayout, event: RunEvent<'_>) {
        if let RunEvent::Step(step) = event {
            self.0.push(step);
        }
    }
}
