//! An operator with directories of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::JACKIN;

pub(crate) struct Operator {
    dir: tempfile::TempDir,
}

impl Operator {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["config", "shop"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn shop(&self) -> PathBuf {
        self.dir.path().join("shop")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.dir.path().join("config")
    }

    pub(crate) fn configure(&self, text: &str) {
        std::fs::write(self.config().join("config.toml"), text).unwrap();
    }

    /// A program of this name on the operator's PATH.
    pub(crate) fn install(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let bin = self.dir.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(bin.join(name), script).unwrap();
        std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(JACKIN);
        let path = format!("{}:{}", self.dir.path().join("bin").display(), std::env::var("PATH").unwrap());
        command
            .args(args)
            .current_dir(self.shop())
            .env("HOME", self.dir.path())
            .env("PATH", path)
            .env("JACKIN_HOME", self.home())
            .env("JACKIN_CONFIG_DIR", self.dir.path().join("config"))
            // What runs on this machine's engine, perhaps somebody's work, is none of these tests' business.
            .env("DOCKER_HOST", format!("unix://{}/no-engine.sock", self.dir.path().display()))
            .env("SHELL", "/bin/sh")
            // What others have in containers of this machine is none of these tests' business.
            .env("DOCKER_HOST", format!("unix://{}", self.dir.path().join("docker.sock").display()))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// What a command prints; it must go well.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let text = self.ok(args);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"))
    }

    /// What a command says when it is refused, and its exit code.
    pub(crate) fn refused(&self, args: &[&str]) -> (i32, String) {
        let output = self.run(args);
        assert!(!output.status.success(), "{args:?} was not refused");
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    /// One instance of the list; null if it is not there.
    pub(crate) fn instance(&self, name: &str) -> Value {
        let list = self.json(&["ls", "--json"]);
        let instances = list["instances"].as_array().unwrap();
        instances.iter().find(|instance| instance["instance"] == name).cloned().unwrap_or(Value::Null)
    }

    /// Everything that jackin keeps of instances. A lock is there only while somebody, such as a watcher, is at work.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        let below = |dir: &str| {
            let entries = std::fs::read_dir(self.home().join(dir)).into_iter().flatten().flatten();
            let paths = entries.map(|entry| entry.path());
            paths.filter(|path| path.extension().is_none_or(|end| end != "lock")).collect::<Vec<_>>()
        };
        ["instances", "sockets", "state", "worktrees"].into_iter().flat_map(below).collect()
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.command(&["exile"]).output();
    }
}

/// The command lines of this operator's processes.
pub(crate) fn processes(operator: &Operator) -> Vec<String> {
    let home = format!("JACKIN_HOME={}\0", operator.home().display());
    let entries = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let ours = entries.filter(|process| {
        let environ = std::fs::read(process.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environ).contains(&home)
    });
    let lines = ours.map(|process| std::fs::read(process.join("cmdline")).unwrap_or_default());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect()
}

pub(crate) fn git(dir: &Path, args: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.arg("-C").arg(dir).args(["-c", "user.name=x", "-c", "user.email=x@example.com"]).args(args);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
