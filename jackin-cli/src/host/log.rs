//! `jackin log`: what happened in instances, and what a capsule logged.

use anyhow::{Context, Result, bail};
use clap::Args;
use jackin_core::InstanceName;

use super::FleetEvent;
use super::fleet::Fleet;
use super::history::{self, History, Line, Telling};
use super::life::say;
use crate::capsule::{print_line, printable};
use crate::config::Loaded;

/// `jackin log`
#[derive(Debug, Args)]
#[command(
    after_help = "The history is written while somebody follows an instance: `jackin watch`, which `load --detach` \
                        leaves behind, the console, an attached terminal. Times are UTC."
)]
pub(super) struct LogArgs {
    /// The instances [default: all of them]
    #[arg(value_parser = InstanceName::from_either)]
    instances: Vec<InstanceName>,
    /// Go on with what happens, as it happens
    #[arg(long, short)]
    follow: bool,
    /// Only the last lines
    #[arg(long, short = 'n', value_name = "LINES")]
    lines: Option<usize>,
    /// Print what the capsule of an instance logged about itself, instead
    #[arg(long, conflicts_with_all = ["follow", "json"], requires = "instances")]
    capsule: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) async fn log(loaded: &Loaded, args: &LogArgs) -> Result<u8> {
    let fleet = Fleet::new(loaded);
    if args.capsule {
        let [instance] = &args.instances[..] else { bail!("--capsule takes one instance") };
        return capsule_log(&fleet, instance, args.lines).await;
    }
    let mut telling = Telling::default();
    let mut told = Vec::new();
    for line in history::read(&loaded.paths, &args.instances) {
        if let Some(text) = telling.tell(&line) {
            told.push(if args.json { serde_json::to_string(&line)? } else { text });
        }
    }
    if told.is_empty() && !args.follow {
        for instance in &args.instances {
            // One that is there has no history yet; one that is not there is a mistake.
            fleet.find(instance).await?;
        }
        say("nothing is recorded yet: `jackin watch` and the console do");
    }
    let skipped = args.lines.map_or(0, |lines| told.len().saturating_sub(lines));
    told.iter().skip(skipped).try_for_each(|line| print_line(line))?;
    if args.follow {
        follow(loaded, &fleet, args, telling).await?;
    }
    Ok(0)
}

/// Goes on until the instances that were named are gone; what it sees is recorded, too.
async fn follow(loaded: &Loaded, fleet: &Fleet, args: &LogArgs, mut telling: Telling) -> Result<()> {
    for instance in &args.instances {
        fleet.find(instance).await?;
    }
    let wanted = |instance: &InstanceName| args.instances.is_empty() || args.instances.contains(instance);
    let history = History::begin(&loaded.paths);
    let mut events = fleet.follow();
    let mut gone = Vec::new();
    while let Some(event) = events.recv().await {
        history.note(&event);
        if let Some(line) = Line::of(&event).filter(|line| wanted(line.instance()))
            && let Some(text) = telling.tell(&line)
        {
            print_line(&if args.json { serde_json::to_string(&line)? } else { text })?;
        }
        if let FleetEvent::Gone { instance } = event
            && args.instances.contains(&instance)
            && !gone.contains(&instance)
        {
            gone.push(instance);
            if gone.len() == args.instances.len() {
                break;
            }
        }
    }
    Ok(())
}

async fn capsule_log(fleet: &Fleet, instance: &InstanceName, lines: Option<usize>) -> Result<u8> {
    let member = fleet.find(instance).await?;
    let log = member.backend.log(instance).await?;
    let log = log.with_context(|| {
        format!(
            "the capsule of {instance} has logged nothing: load it with JACKIN_LOG=debug (into a container, with \
             `--env JACKIN_LOG=debug`) to have it log what it does"
        )
    })?;
    let text = String::from_utf8_lossy(&log);
    if text.trim().is_empty() {
        say(&format!("the capsule of {instance} has logged nothing yet"));
    }
    let all: Vec<&str> = text.lines().collect();
    let skipped = lines.map_or(0, |lines| all.len().saturating_sub(lines));
    all.iter().skip(skipped).try_for_each(|line| print_line(&printable(line)))?;
    Ok(0)
}
