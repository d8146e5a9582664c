use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};
use jackin_core::protocol::control::ErrorCode;
use jackin_core::{AgentFile, InstanceName};

use super::attach::Part;
use super::config;
use super::ctl::{CtlCommand, ctl};
use super::daemon::{self, Settings};
use super::exec_as::{ExecAsArgs, exec_as};
use super::guard::{GuardArgs, guard};
use super::init;
use super::output::{OutputClosed, printable};
use super::own::Own;
use super::places::{DEFAULT_SOCKET, Places};
use super::report::{ReportArgs, report_for_hook};
use super::spawn::{READY, SpawnOptions, spawn_daemon};
use super::terminal::require_terminal;
use super::unstarted::Unstarted;
use super::user::SessionUser;
use crate::client::ClientError;

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
        /// Only look on, beside whoever is attached; `q` leaves
        #[arg(long)]
        read_only: bool,
    },
    /// Run the capsule itself, in the foreground
    Daemon {
        /// Where to listen
        #[arg(long, value_name = "PATH", default_value = DEFAULT_SOCKET)]
        socket: PathBuf,
        /// What the host says about the instance: agents, settings of the multiplexer, limits
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// The instance's name [default: that of the configuration, else local]
        #[arg(long, value_name = "NAME")]
        instance: Option<InstanceName>,
        /// Where the agents' own socket goes [default: beside the other, in a container /jackin/agent/jackin.sock]
        #[arg(long, value_name = "PATH")]
        agent_socket: Option<PathBuf>,
        /// Where exit.json goes, which tells how everything ended [default: nowhere, in a container /jackin/state]
        #[arg(long, value_name = "DIR")]
        state: Option<PathBuf>,
        /// The operator's user on the host, who is let in beside root where the socket is bind-mounted
        #[arg(long, value_name = "UID")]
        operator_uid: Option<u32>,
        /// Leave the starter's terminal once ready, and say so on standard output
        #[arg(long, hide = true)]
        background: bool,
        /// Remove the socket's directory at the end
        #[arg(long, hide = true)]
        owns_directory: bool,
        /// Give the program the whole terminal: no bar, no titles
        #[arg(long)]
        no_chrome: bool,
        /// The program and its arguments [default: a choice of the configured agents, else your shell]
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
    /// Connect standard input and output to a capsule, for programs on another machine
    Bridge {
        /// Where the capsule listens
        #[arg(long, value_name = "PATH", default_value = DEFAULT_SOCKET)]
        socket: PathBuf,
    },
    /// Tell the capsule what this session's agent does; for the agent's hooks, which it never fails
    Report(ReportArgs),
    /// Give up this user's rights and become a session's program
    #[command(hide = true)]
    ExecAs(ExecAsArgs),
    /// Restore the terminal when the attach client was killed
    #[command(hide = true)]
    Guard(GuardArgs),
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

/// The words of the command line.
#[cfg(all(test, feature = "host"))]
pub(crate) fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// The `jackin-capsule` program.
pub fn main() -> ExitCode {
    Own::Capsule.has_begun();
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
            let unstarted = error.downcast_ref::<Unstarted>().map(|unstarted| unstarted.exit_code);
            match error.downcast_ref() {
                Some(ClientError::Refused(refusal)) if refusal.code == ErrorCode::Timeout => {
                    EXIT_TIMEOUT.into()
                }
                _ => unstarted.map_or(ExitCode::FAILURE, ExitCode::from),
            }
        }
    }
}

/// The exit code of a wait whose time ran out, as of `timeout`.
const EXIT_TIMEOUT: u8 = 124;

/// Carries out a capsule command and returns the exit code.
pub fn run(args: CapsuleArgs) -> Result<u8> {
    // As the first process of a container it has nobody to attach.
    if init::is_first_process() && matches!(args.command, None | Some(Command::Daemon { .. })) {
        return init::run();
    }
    match args.command.unwrap_or(Command::Attach { socket: DEFAULT_SOCKET.into(), read_only: false }) {
        Command::Run { socket, no_chrome, command } => {
            require_terminal()?;
            let daemon =
                spawn_daemon(SpawnOptions { socket, no_chrome, command, ..SpawnOptions::default() })?;
            attach_and_part(&daemon.socket, Part::Operator)
        }
        Command::Attach { socket, read_only } => {
            attach_and_part(&socket, if read_only { Part::Viewer } else { Part::Operator })
        }
        Command::Daemon {
            socket,
            config,
            instance,
            agent_socket,
            state,
            operator_uid,
            background,
            owns_directory,
            no_chrome,
            command,
        } => {
            // The agents' environment names it, and they change directories.
            let absolute =
                |path: PathBuf| std::path::absolute(path).context("cannot tell where the socket goes");
            let socket = absolute(socket)?;
            super::log::begin(&socket);
            let directory = socket.parent().filter(|_| owns_directory).map(Path::to_owned);
            let places = Places::new(
                socket,
                agent_socket.map(absolute).transpose()?,
                state.map(absolute).transpose()?,
            );
            let given = Given { instance, operator_uid, no_chrome, command };
            let settings = settings(places, config.as_deref(), given)?;
            let exit_code = daemon(settings, background);
            if let Some(directory) = directory {
                // Something else in it is a reason to keep it.
                let _ = std::fs::remove_dir(directory);
            }
            exit_code
        }
        Command::Ctl { socket, json, command } => block_on(ctl(&socket, command, json)).map(|()| 0),
        Command::Bridge { socket } => super::bridge::bridge(&socket).map(|()| 0),
        Command::Report(args) => report_for_hook(&args).map(|()| 0),
        Command::ExecAs(args) => exec_as(&args),
        Command::Guard(args) => guard(&args),
    }
}

/// What the command line says of a daemon.
struct Given {
    instance: Option<InstanceName>,
    operator_uid: Option<u32>,
    no_chrome: bool,
    command: Vec<String>,
}

fn settings(places: Places, file: Option<&Path>, given: Given) -> Result<Settings> {
    let Given { instance, operator_uid, no_chrome, command } = given;
    let mut config = match file {
        Some(file) => config::load(file)?,
        None => AgentFile::new(InstanceName::new("local")?),
    };
    if let Some(instance) = instance {
        config.instance = instance;
    }
    let variable = |name: &str| std::env::var(name).ok();
    let mut mux = config::mux_settings(&config.mux, &config.agents, variable)?;
    mux.chrome &= !no_chrome;
    let beside = file.and_then(Path::parent).map(|directory| directory.join("rules"));
    let of_user = config::user_directory().map(|directory| directory.join("rules"));
    // What comes later counts for more.
    let rule_directories = of_user.into_iter().chain(beside).collect();
    let user = SessionUser::find(config.user.as_ref(), places.contained)?;
    let operator_uid = operator_uid.or(config.operator_uid);
    let agents_uid = user.as_ref().map_or_else(|| rustix::process::geteuid().as_raw(), |user| user.uid);
    if let Some(uid) = operator_uid.filter(|uid| *uid == agents_uid) {
        bail!(
            "user {uid} is the operator and also whom sessions run as, so that nothing would keep agents out of the \
             operator's socket: give sessions another user in [user], or use the exec bridge without an operator_uid"
        );
    }
    Ok(Settings { places, user, operator_uid, command, config, mux, rule_directories })
}

/// Attaches, and says on the terminal how it ended.
fn attach_and_part(socket: &Path, part: Part) -> Result<u8> {
    let parting = block_on(super::attach(socket, part))?;
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
    let daemon = daemon::run(settings, move || {
        if background {
            // The starter waits for this line. One that was killed meanwhile never learns of us, and nobody else would.
            if writeln!(std::io::stdout(), "{READY}").is_err() {
                let _ =
                    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM);
            }
            leave_standard_streams();
        }
    });
    // As a task among those that send it messages, it has its turn right after them; the future that the runtime was started
    // with would be looked at only after the system was asked for events once more.
    let exit_code = block_on(async {
        match tokio::spawn(daemon).await {
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            ended => ended?,
        }
    })?;
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
