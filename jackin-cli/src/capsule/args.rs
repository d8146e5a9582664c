use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use jackin_core::InstanceName;
use jackin_core::protocol::control::ErrorCode;

use super::ctl::{CtlCommand, ctl};
use super::daemon::{self, Settings};
use super::output::{OutputClosed, printable};
use super::report::report_as;
use super::spawn::{READY, SpawnOptions, spawn_daemon};
use super::terminal::require_terminal;
use crate::client::ClientError;

/// Where a capsule in a container listens.
const DEFAULT_SOCKET: &str = "/jackin/run/jackin.sock";

/// The commands of the capsule; `jackin capsule …` and `jackin-capsule …` are the same.
#[derive(Debug, Args)]
pub struct CapsuleArgs {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a program in the background and attach to it
    Run {
        /// Where the capsule listens [default: a fresh directory]
        #[arg(long, value_name = "PATH")]
        socket: Option<PathBuf>,
        /// Give the program the whole terminal: no bar, no titles
        #[arg(long)]
        no_chrome: bool,
        /// The program and its arguments [default: your shell]
        #[arg(last = true, value_name = "CMD")]
        command: Vec<String>,
    },
    /// Attach this terminal to a running capsule
    Attach {
        /// Where the capsule listens
        #[arg(long, value_name = "PATH", default_value = DEFAULT_SOCKET)]
        socket: PathBuf,
    },
    /// Run the capsule itself, in the foreground
    Daemon {
        /// Where to listen
        #[arg(long, value_name = "PATH", default_value = DEFAULT_SOCKET)]
        socket: PathBuf,
        /// The instance's name
        #[arg(long, value_name = "NAME", default_value = "local")]
        instance: InstanceName,
        /// Leave the starter's terminal once ready, and say so on standard output
        #[arg(long, hide = true)]
        background: bool,
        /// Remove the socket's directory at the end
        #[arg(long, hide = true)]
        owns_directory: bool,
        /// Give the program the whole terminal: no bar, no titles
        #[arg(long)]
        no_chrome: bool,
        /// The program and its arguments [default: your shell]
        #[arg(last = true, value_name = "CMD")]
        command: Vec<String>,
    },
    /// Ask a running capsule, or tell it to do something
    Ctl {
        /// Where the capsule listens
        #[arg(long, value_name = "PATH", default_value = DEFAULT_SOCKET)]
        socket: PathBuf,
        /// Print JSON
        #[arg(long, global = true)]
        json: bool,
        #[command(subcommand)]
        command: CtlCommand,
    },
    /// Tell the capsule what this session's agent does; reads a JSON object from standard input
    Report {
        /// Whose format the object has
        #[arg(long, default_value = "jackin")]
        runtime: String,
    },
}

#[derive(Debug, Parser)]
#[command(
    name = "jackin-capsule",
    version,
    about = "Runs agents under a terminal multiplexer and tells what they do"
)]
struct Cli {
    #[command(flatten)]
    capsule: CapsuleArgs,
}

/// The `jackin-capsule` program.
pub fn main() -> ExitCode {
    exit(run(Cli::parse().capsule))
}

/// The exit code of a command; an error is told on standard error first.
pub(crate) fn exit(result: Result<u8>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) if error.is::<OutputClosed>() => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody may be there to read it.
            let _ = writeln!(std::io::stderr(), "error: {}", printable(&format!("{error:#}")));
            match error.downcast_ref() {
                Some(ClientError::Refused(refusal)) if refusal.code == ErrorCode::Timeout => {
                    EXIT_TIMEOUT.into()
                }
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// The exit code of a wait whose time ran out, as of `timeout`.
const EXIT_TIMEOUT: u8 = 124;

/// Carries out a capsule command and returns the exit code.
pub fn run(args: CapsuleArgs) -> Result<u8> {
    match args.command.unwrap_or(Command::Attach { socket: DEFAULT_SOCKET.into() }) {
        Command::Run { socket, no_chrome, command } => {
            require_terminal()?;
            let daemon = spawn_daemon(SpawnOptions { socket, no_chrome, command, instance: None })?;
            attach_and_part(&daemon.socket)
        }
        Command::Attach { socket } => attach_and_part(&socket),
        Command::Daemon { socket, instance, background, owns_directory, no_chrome, command } => {
            // The agents' environment names it, and they change directories.
            let socket = std::path::absolute(&socket).context("cannot tell where the socket goes")?;
            let directory = socket.parent().filter(|_| owns_directory).map(Path::to_owned);
            let exit_code = daemon(Settings { instance, socket, command, chrome: !no_chrome }, background);
            if let Some(directory) = directory {
                // Something else in it is a reason to keep it.
                let _ = std::fs::remove_dir(directory);
            }
            exit_code
        }
        Command::Ctl { socket, json, command } => block_on(ctl(&socket, command, json)).map(|()| 0),
        Command::Report { runtime } => {
            let mut json = String::new();
            std::io::stdin()
                .take(MAX_REPORT + 1)
                .read_to_string(&mut json)
                .context("cannot read standard input")?;
            anyhow::ensure!(json.len() as u64 <= MAX_REPORT, "a report is at most {MAX_REPORT} bytes long");
            let payload = serde_json::from_str(&json).context("standard input is not JSON")?;
            report_as(&runtime, payload)?;
            Ok(0)
        }
    }
}

/// The longest report that is read; hooks pass on whole tool outputs.
const MAX_REPORT: u64 = 1 << 20;

/// Attaches, and says on the terminal how it ended.
fn attach_and_part(socket: &Path) -> Result<u8> {
    let parting = block_on(super::attach(socket))?;
    println!("[jackin] {}", parting.message);
    if parting.still_running {
        println!("[jackin] attach again: jackin capsule attach --socket {}", socket.display());
    }
    Ok(parting.exit_code)
}

fn daemon(settings: Settings, background: bool) -> Result<u8> {
    if background {
        // Without a session of its own the daemon would die with the terminal that it was started from.
        rustix::process::setsid().context("cannot leave the terminal's session")?;
    }
    let exit_code = block_on(daemon::run(settings, || {
        if background {
            // The starter waits for this line, and may be gone.
            let _ = writeln!(std::io::stdout(), "{READY}");
            leave_standard_streams();
        }
    }))?;
    Ok(u8::try_from(exit_code).unwrap_or(1))
}

/// The starter's pipes would keep it waiting, and writing to them after it is gone would fail.
fn leave_standard_streams() {
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

/// Runs a future on a runtime of its own: one thread is enough for everything here.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the event loop")?;
    let result = runtime.block_on(future);
    // A task that blocks, such as a stuck file, must not hold up the end.
    runtime.shutdown_background();
    result
}
