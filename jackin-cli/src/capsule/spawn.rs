use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use jackin_core::InstanceName;

use super::own::own_program;
use super::unstarted::Unstarted;

/// What the daemon prints once it answers.
pub(super) const READY: &str = "ready";

/// What tells a session's programs where they are.
pub(crate) const SESSION_VARIABLES: [&str; 4] =
    ["JACKIN_INSTANCE", "JACKIN_SESSION", "JACKIN_AGENT_SOCKET", "JACKIN_AGENT_TOKEN"];

/// What a daemon in the background is started with.
#[derive(Debug, Default)]
pub(crate) struct SpawnOptions {
    pub(crate) instance: Option<InstanceName>,
    /// Where it listens; without it, in a fresh directory.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) no_chrome: bool,
    pub(crate) command: Vec<String>,
    /// Its `agent.toml`.
    pub(crate) config: Option<PathBuf>,
    /// Where it writes down how it ended.
    pub(crate) state: Option<PathBuf>,
    /// Variables of every session's environment.
    pub(crate) env: BTreeMap<String, String>,
    /// Where it works.
    pub(crate) cwd: Option<PathBuf>,
}

/// A daemon in the background.
#[derive(Debug)]
pub(crate) struct Background {
    pub(crate) socket: PathBuf,
    #[cfg_attr(not(feature = "host"), expect(dead_code, reason = "only the host waits for it"))]
    child: Child,
}

#[cfg(feature = "host")]
impl Background {
    /// The daemon's process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

/// Starts a daemon that outlives this process and its terminal, and returns once it answers.
pub(crate) fn spawn_daemon(options: SpawnOptions) -> Result<Background> {
    let (socket, own_dir) = if let Some(socket) = options.socket {
        (std::path::absolute(&socket).context("cannot tell where the socket goes")?, None)
    } else {
        let dir = fresh_dir()?;
        (dir.join("jackin.sock"), Some(dir))
    };
    let (program, before) = own_program()?;
    let mut command = Command::new(program);
    command.args(before).args(["daemon", "--background", "--socket"]).arg(&socket);
    if let Some(instance) = &options.instance {
        command.args(["--instance", instance.as_str()]);
    }
    if own_dir.is_some() {
        command.arg("--owns-directory");
    }
    if options.no_chrome {
        command.arg("--no-chrome");
    }
    for (option, path) in [("--config", &options.config), ("--state", &options.state)] {
        if let Some(path) = path {
            command.arg(option).arg(path);
        }
    }
    command.arg("--").args(&options.command);
    // Whoever starts it may be in a session of another capsule; this one is no part of that.
    for name in SESSION_VARIABLES {
        command.env_remove(name);
    }
    command.envs(&options.env);
    if let Some(cwd) = &options.cwd {
        command.current_dir(cwd);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot start the capsule")?;
    let mut said = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut said).context("cannot read what the capsule says")?;
    }
    if said.trim_end() != READY {
        let mut why = String::new();
        if let Some(mut stderr) = child.stderr.take() {
            // Whatever can be read of the reason is better than none.
            let _ = stderr.read_to_string(&mut why);
        }
        let code = child.wait().ok().and_then(|status| status.code());
        if let Some(dir) = own_dir {
            let _ = std::fs::remove_dir(dir);
        }
        return Err(Unstarted::capsule(why.trim().trim_start_matches("error: "), code).into());
    }
    Ok(Background { socket, child })
}

/// A new directory for one capsule's sockets, below the user's runtime directory or the temporary one.
pub(crate) fn fresh_dir() -> Result<PathBuf> {
    let base = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_dir());
    let base = base.unwrap_or_else(std::env::temp_dir);
    let pid = std::process::id();
    for attempt in 1..=MAX_ATTEMPTS {
        let dir = base.join(format!("jackin-{pid}-{attempt}"));
        // Only a directory that did not exist can be trusted: the temporary directory is everybody's.
        match DirBuilder::new().mode(0o700).create(&dir) {
            Ok(()) => return Ok(dir),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot make the directory {}", dir.display()));
            }
        }
    }
    bail!("every directory jackin-{pid}-N in {} is taken: choose a place with --socket", base.display())
}

const MAX_ATTEMPTS: u32 = 1_000;
