//! The words of the command line.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

use super::life::say;
use super::{ask, console, doctor, hooks, list, load, log, play, restart, status, tags, values};
use crate::capsule::{self, CapsuleArgs, block_on};
use crate::config::{self, ConfigArgs, Known, Loaded, Readable};
use crate::demo;
use crate::run::{self, RunArgs, RunsArgs};
use crate::tools::{self, ToolArgs};

#[derive(Debug, Parser)]
#[command(
    name = "jackin",
    version,
    about = "Run many coding agents side by side and always know which one needs you",
    after_help = manual::exit_codes()
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch three scripted agents work, ask and crash; needs nothing installed
    Demo,
    /// Show every agent on one screen; `jackin` alone does the same
    Console,
    /// Start an agent in a directory or workspace, and attach to it
    Load(load::LoadArgs),
    /// Attach to an instance again
    Hardline(load::HardlineArgs),
    /// List every instance, what it does, and since when
    #[command(visible_alias = "list")]
    Ls(list::ListArgs),
    /// The same as ls; below it, how a status comes about
    Status(status::StatusArgs),
    /// Wait until instances are in a state
    Wait(ask::WaitArgs),
    /// Print what happens in all instances, as it happens
    Events(ask::EventsArgs),
    /// Print what happened in instances: statuses, tags, beginnings and ends
    Log(log::LogArgs),
    /// Type a prompt into a session; refused while its agent is busy or asks
    Send(ask::SendArgs),
    /// Print what stands on a session's screen
    Read(ask::ReadArgs),
    /// Print why a session's status is what it is
    Explain(ask::SessionArgs),
    /// Mark a session's result as seen
    Ack(ask::SessionArgs),
    /// Record a session as asciicast
    Record(ask::RecordArgs),
    /// Play a recording on this terminal
    Play(play::PlayArgs),
    /// Correct and look into what agents declare with <jackin:…> tags
    Tags(tags::TagsArgs),
    /// Start an ended instance, or ended sessions of one that runs, again as they were
    Restart(restart::RestartArgs),
    /// End instances and take away what was made for them
    Eject(load::EjectArgs),
    /// End every instance
    Exile(load::ExileArgs),
    /// Take away what interrupted commands and ended instances left
    Gc(load::GcArgs),
    /// Follow instances: clean up as they end, keep their history, tell them of their pull requests
    Watch(load::WatchArgs),
    /// Run an agent without a terminal and keep a record
    Run(Box<RunArgs>),
    /// List, show, follow and stop headless runs
    Runs(RunsArgs),
    /// List, check and run the team's own tools
    Tool(ToolArgs),
    /// Check, show and edit the configuration
    Config(ConfigArgs),
    /// Add our hooks to an agent's own settings, or take them out
    Hooks(hooks::HooksArgs),
    /// Look at everything that agents need, and say how to mend what is missing
    Doctor(doctor::DoctorArgs),
    /// Run and control a capsule by hand
    Capsule(CapsuleArgs),
    /// Print completions for your shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands into a directory
    Man {
        /// Write one page for each command
        #[arg(long, value_name = "DIR")]
        dir: Option<std::path::PathBuf>,
    },
    /// Play the demo's agent
    #[command(hide = true)]
    DemoAgent(demo::AgentArgs),
}

/// The `jackin` program.
pub fn main() -> ExitCode {
    capsule::Own::Host.has_begun();
    let command = Cli::parse().command.unwrap_or_else(|| {
        // Without a terminal there is nobody to look at the console.
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            eprint!("{}", Cli::command().render_help());
            std::process::exit(2);
        }
        Command::Console
    });
    capsule::exit(carry_out(command))
}

fn carry_out(command: Command) -> Result<u8> {
    match command {
        Command::Demo => demo::run(),
        Command::DemoAgent(args) => demo::play(&args),
        Command::Capsule(args) => capsule::run(args),
        Command::Config(args) => config::run(args),
        Command::Tool(args) => tools::run(args, Box::new(|instance| Box::pin(values::look_up(instance)))),
        Command::Run(args) => with(Known::from_env(), |known| run::run(&known, &args)),
        Command::Runs(args) => {
            let readable = Known::what_can_be_read();
            warn(&readable);
            run::runs(&readable.value, args)
        }
        Command::Hooks(args) => hooks::run(&args),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "jackin", &mut std::io::stdout());
            Ok(0)
        }
        Command::Man { dir } => manual::manual(dir.as_deref()),
        Command::Status(args) => match status::run(args) {
            status::Outcome::Done(result) => result,
            status::Outcome::List(args) => whatever(|loaded| async move { list::list(&loaded, &args).await }),
        },
        Command::Tags(args) => match tags::run(args) {
            tags::Outcome::Done(result) => result,
            tags::Outcome::Ask(command) => {
                whatever(|loaded| async move { ask::tags(&loaded, command).await })
            }
        },
        Command::Console => {
            let readable = Loaded::what_can_be_read()?;
            warn(&readable);
            block_on(console::console(readable))
        }
        Command::Load(args) => on(|loaded| async move { load::load(&loaded, args).await }),
        Command::Hardline(args) => whatever(|loaded| async move { load::hardline(&loaded, &args).await }),
        Command::Ls(args) => whatever(|loaded| async move { list::list(&loaded, &args).await }),
        Command::Wait(args) => whatever(|loaded| async move { ask::wait(&loaded, args).await }),
        Command::Events(args) => whatever(|loaded| async move { ask::events(&loaded, args).await }),
        Command::Log(args) => whatever(|loaded| async move { log::log(&loaded, &args).await }),
        Command::Send(args) => whatever(|loaded| async move { ask::send(&loaded, args).await }),
        Command::Read(args) => whatever(|loaded| async move { ask::read(&loaded, args).await }),
        Command::Explain(args) => whatever(|loaded| async move { ask::explain_status(&loaded, args).await }),
        Command::Ack(args) => whatever(|loaded| async move { ask::ack(&loaded, args).await }),
        Command::Record(args) => whatever(|loaded| async move { ask::record(&loaded, args).await }),
        Command::Play(args) => block_on(play::play(&args)),
        Command::Restart(args) => on(|loaded| async move { restart::restart(&loaded, &args).await }),
        Command::Eject(args) => whatever(|loaded| async move { load::eject(&loaded, args).await }),
        Command::Exile(args) => whatever(|loaded| async move { load::exile(&loaded, args).await }),
        Command::Gc(args) => whatever(|loaded| async move { load::gc(&loaded, &args).await }),
        Command::Doctor(args) => block_on(doctor::doctor(&Loaded::what_can_be_read()?, &args)),
        Command::Watch(args) => whatever(|loaded| async move { load::watch(&loaded, &args).await }),
    }
}

/// Carries out something that needs the configuration and an event loop.
fn on<F: Future<Output = Result<u8>>>(command: impl FnOnce(Loaded) -> F) -> Result<u8> {
    with(Loaded::from_env(), |loaded| block_on(command(loaded)))
}

/// Carries out something with what there is already. Whoever has a mistake in the configuration must still reach their
/// agents: it is told, and what could be read applies.
fn whatever<F: Future<Output = Result<u8>>>(command: impl FnOnce(Loaded) -> F) -> Result<u8> {
    let readable = Loaded::what_can_be_read()?;
    warn(&readable);
    block_on(command(readable.value))
}

fn warn<T>(readable: &Readable<T>) {
    let lines = readable.lines();
    for line in &lines {
        say(line);
    }
    if !lines.is_empty() {
        say("the configuration is not used as it is: this goes on with what could be read of it");
    }
}

/// Carries out something that needs the configuration. What is wrong with that has an exit code of its own.
fn with<T>(configuration: Result<T, config::LoadError>, command: impl FnOnce(T) -> Result<u8>) -> Result<u8> {
    match configuration {
        Ok(configuration) => command(configuration),
        Err(config::LoadError::Mistakes(mistakes)) => {
            eprintln!("{}", capsule::printable(&mistakes.to_string()));
            Ok(WRONG)
        }
        Err(error) => Err(error.into()),
    }
}

/// The exit code for a mistake in the configuration.
const WRONG: u8 = 2;

#[cfg(test)]
mod documented;
#[cfg(test)]
mod help;
mod manual;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
