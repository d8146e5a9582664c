use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use jackin_status::{Replay, RuleSet, Runtime, Screen, Transition};
use serde_json::json;

use super::input::read_pieces;
use super::list::ListArgs;
use crate::capsule::{print_line, printable};

/// The commands about how a status comes about.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    list: ListArgs,
    #[command(subcommand)]
    command: Option<StatusCommand>,
}

/// What was asked for.
pub(super) enum Outcome {
    /// It was done.
    Done(Result<u8>),
    /// The list of instances.
    List(ListArgs),
}

#[derive(Debug, Subcommand)]
enum StatusCommand {
    /// Print the changes of status that a recording of an agent gives, each with its line and cause
    Replay {
        /// What wrote it: claude, codex, amp, gemini, opencode, or one of their formats such as claude-transcript
        #[arg(long, value_name = "NAME")]
        runtime: Runtime,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
        /// The recording; `-` or none is standard input
        file: Option<PathBuf>,
    },
    /// Print what the rules say of a rendered screen, and which rule says it
    Screen {
        /// The agent whose rules apply
        #[arg(long, value_name = "NAME")]
        agent: String,
        /// The terminal's title
        #[arg(long, default_value = "")]
        title: String,
        /// Rules of your own, before the built-in ones
        #[arg(long, value_name = "FILE")]
        rules: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The screen as text; `-` or none is standard input
        file: Option<PathBuf>,
    },
}

/// Carries a command out.
pub(super) fn run(args: StatusArgs) -> Outcome {
    match args.command {
        Some(command) => Outcome::Done(look_into(command)),
        None => Outcome::List(args.list),
    }
}

fn look_into(command: StatusCommand) -> Result<u8> {
    match command {
        StatusCommand::Replay { runtime, json, file } => {
            let mut replay = Replay::new(runtime);
            let mut printed = Ok(());
            let mut print = |transition: Transition| {
                if printed.is_ok() {
                    printed = print_transition(&transition, json);
                }
            };
            read_pieces(file.as_deref(), |piece| {
                replay.feed(piece, &mut print);
                Ok(())
            })?;
            replay.finish(&mut print);
            printed?;
            let tally = replay.tally();
            if tally.broken + tally.oversized > 0 {
                writeln!(
                    io::stderr(),
                    "{} of {} lines were no JSON objects, {} were too long; they were skipped",
                    tally.broken,
                    tally.lines,
                    tally.oversized
                )?;
            }
            Ok(0)
        }
        StatusCommand::Screen { agent, title, rules, json, file } => {
            let rules = load_rules(rules.as_deref())?;
            anyhow::ensure!(
                rules.knows(&agent),
                "there are no rules for {agent:?}: write claude, codex, amp, gemini or opencode"
            );
            let mut bytes = Vec::new();
            read_pieces(file.as_deref(), |piece| {
                anyhow::ensure!(
                    bytes.len() + piece.len() <= MAX_SCREEN,
                    "a screen is no larger than {MAX_SCREEN} bytes"
                );
                bytes.extend_from_slice(piece);
                Ok(())
            })?;
            let screen = Screen { title, ..Screen::from_text(&String::from_utf8_lossy(&bytes)) };
            let look = rules.look(&agent, &screen);
            match (look.verdict, json) {
                (Some(verdict), false) => print_line(&printable(&verdict.to_string()))?,
                (Some(verdict), true) => {
                    let json = json!({
                        "says": verdict.says.word(),
                        "prompt": verdict.prompt,
                        "rule": &*verdict.rule,
                    });
                    print_line(&json.to_string())?;
                }
                (None, false) => print_line(&format!("no rule of {agent} matches"))?,
                (None, true) => print_line("null")?,
            }
            Ok(0)
        }
    }
}

/// More than any terminal shows.
const MAX_SCREEN: usize = 4 << 20;

fn load_rules(file: Option<&std::path::Path>) -> Result<RuleSet> {
    let mut rules = RuleSet::builtin();
    if let Some(path) = file {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        for problem in rules.add(&path.display().to_string(), &text) {
            writeln!(io::stderr(), "{problem}")?;
        }
    }
    Ok(rules)
}

fn print_transition(transition: &Transition, json: bool) -> Result<()> {
    if json {
        print_line(&serde_json::to_string(transition)?)
    } else {
        print_line(&printable(&transition.to_string()))
    }
}
