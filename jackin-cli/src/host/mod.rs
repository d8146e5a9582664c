//! The operator's command line.

mod input;
mod status;
mod tags;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::capsule::{self, CapsuleArgs};
use crate::demo;
use crate::tools::{self, ToolArgs};

#[derive(Debug, Parser)]
#[command(
    name = "jackin",
    version,
    about = "Run many coding agents side by side and always know which one needs you"
)]
#[command(arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch a scripted agent work, ask and finish; needs nothing installed
    Demo,
    /// Look into how a status comes about, from a recording or a screen
    Status(status::StatusArgs),
    /// Look into what agents declare with <jackin:…> tags
    Tags(tags::TagsArgs),
    /// Run and control a capsule on this machine
    Capsule(CapsuleArgs),
    /// List, check and run the team's own tools
    Tool(ToolArgs),
    /// Play the demo's agent
    #[command(hide = true)]
    DemoAgent(demo::AgentArgs),
}

/// The `jackin` program.
pub fn main() -> ExitCode {
    capsule::exit(match Cli::parse().command {
        Command::Demo => demo::run(),
        Command::Status(args) => status::run(args),
        Command::Tags(args) => tags::run(&args),
        Command::Capsule(args) => capsule::run(args),
        Command::Tool(args) => tools::run(args),
        Command::DemoAgent(args) => demo::play(&args),
    })
}
