//! Git as a program.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

/// How long Git may look at what an agent left.
const LIMIT: Duration = Duration::from_secs(120);

/// What the caller's own Git, whose hook may have called us, says of its repository: it is not meant for ours.
const FOREIGN: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];

/// One call.
pub(super) struct Git {
    command: Command,
    input: Vec<u8>,
    limit: Option<Duration>,
}

impl Git {
    pub(super) fn new() -> Self {
        let mut command = Command::new("git");
        for variable in FOREIGN {
            command.env_remove(variable);
        }
        command.envs([("GIT_TERMINAL_PROMPT", "0"), ("GIT_DEFAULT_REF_FORMAT", "files")]);
        Self { command, input: Vec::new(), limit: None }
    }

    /// In a directory.
    pub(super) fn at(directory: &Path) -> Self {
        Self::new().args(["-C".as_ref(), directory.as_os_str()])
    }

    pub(super) fn args<W: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = W>) -> Self {
        self.command.args(args);
        self
    }

    pub(super) fn input(mut self, input: Vec<u8>) -> Self {
        self.input = input;
        self
    }

    /// For what an agent could have made endless. Nothing is fetched on the way.
    pub(super) fn limited(mut self) -> Self {
        self.command.env("GIT_NO_LAZY_FETCH", "1").process_group(0);
        self.limit = Some(LIMIT);
        self
    }

    /// What it printed.
    pub(super) fn run(mut self) -> Result<String> {
        let words: Vec<_> = self.command.get_args().map(OsStr::to_string_lossy).collect();
        let what = format!("git {}", words.join(" "));
        let piped = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().context("cannot start git: is it installed?")?;
        let (group, input) = (Pid::from_child(&child), child.stdin.take());
        let (ended, end) = mpsc::channel();
        thread::spawn(move || ended.send(child.wait_with_output()));
        thread::spawn(move || {
            // One that has ended reads no more.
            let _ = input.map(|mut input| input.write_all(&self.input));
        });
        let Ok(output) = end.recv_timeout(self.limit.unwrap_or(Duration::MAX)) else {
            let _ = kill_process_group(group, Signal::KILL);
            bail!("{what} did not end within {} s", LIMIT.as_secs());
        };
        let Output { status, stdout, stderr } = output.context("cannot wait for git")?;
        if !status.success() {
            bail!("{what}: {}", String::from_utf8_lossy(&stderr).trim());
        }
        Ok(String::from_utf8_lossy(&stdout).into_owned())
    }
}

/// Git in a directory.
pub(super) fn git(directory: &Path, args: &[&str]) -> Result<String> {
    Git::at(directory).args(args).run()
}
