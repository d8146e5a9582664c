use std::fmt::Display;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use jackin_core::RunId;
use jackin_core::run::{ProjectId, RunStatus, TaskId};
use serde_json::json;

use super::args::store;
use super::{list, show, tail};
use crate::capsule::{block_on, print_line, printable};
use crate::config::Known;
use crate::host::RunEngine;
use crate::run::files::create_new;
use crate::run::place::{Engines, LeftOn};
use crate::run::settings::known_settings;
use crate::run::{Collected, FoundRun, Store};

/// `jackin runs …`
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    command: RunsCommand,
    /// Where the records are [default: `$JACKIN_HOME/runs`, else ~/.jackin/runs]
    #[arg(long, value_name = "DIR", global = true)]
    root: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum RunsCommand {
    /// List runs, oldest first
    List(ListArgs),
    /// Show what is known of a run
    Show {
        /// The run: its id, the beginning of it, `last`, or TASK or PROJECT/TASK for the newest of a task
        run: String,
    },
    /// Show what a run's agent says, and follow it while it runs
    Tail {
        /// The run: its id, the beginning of it, `last`, or TASK or PROJECT/TASK for the newest of a task
        run: String,
        /// What it prints to standard error instead
        #[arg(long)]
        stderr: bool,
        /// Exactly what it prints
        #[arg(long)]
        raw: bool,
    },
    /// Stop runs
    Stop {
        /// The runs: their ids, the beginnings of them, `last`, or TASK or PROJECT/TASK for the newest of a task
        #[arg(required = true)]
        runs: Vec<String>,
    },
    /// Mark runs failed whose runner has died, and end what is left of them
    Gc,
}

/// `jackin runs list …`
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Only those of this project
    #[arg(long)]
    pub(super) project: Option<ProjectId>,
    /// Only those of this task
    #[arg(long)]
    pub(super) task: Option<TaskId>,
    /// Only those that stand so
    #[arg(long, value_parser = ["running", "completed", "failed", "abandoned"])]
    pub(super) status: Option<String>,
}

/// Carries out `jackin runs`; the exit code.
pub(crate) fn runs(known: &Known, args: RunsArgs) -> Result<u8> {
    let settings = known_settings(known);
    let engines = Arc::new(Engines::new(&known.config));
    let store = store(args.root.as_ref(), &settings)?.with_containers(engines.clone());
    match args.command {
        RunsCommand::List(wanted) => list::list(&store, &wanted, args.json),
        RunsCommand::Show { run } => show::show(&store.find(&run)?, args.json),
        RunsCommand::Tail { run, stderr, raw } => {
            let found = store.find(&run)?;
            let how = match (stderr, raw) {
                (true, _) => tail::What::Stderr,
                (_, true) => tail::What::Raw,
                _ => tail::What::Said(tail::runtime(&settings, &found.info.agent)),
            };
            block_on(tail::tail(&store, &found, how))
        }
        RunsCommand::Stop { runs } => {
            let found = runs.iter().map(|run| store.find(run)).collect::<Result<Vec<_>, _>>()?;
            stop(&store, &found, args.json)
        }
        RunsCommand::Gc => gc(&store, &engines, args.json),
    }
}

/// How long a runner may take to end a run: it looks four times a second, gives the agent its time, and gives up then.
const STOP_LIMIT: Duration = Duration::from_secs(60);

/// Asks the runners to stop runs, and waits until they have.
fn stop(store: &Store, found: &[FoundRun], json: bool) -> Result<u8> {
    for run in found.iter().filter(|run| run.info.status == RunStatus::Running) {
        if !run.layout.lock().exists() && run.alive {
            bail!(
                "run {} is not of this runner: end its process group {} yourself",
                run.layout.run(),
                run.info.pgid
            );
        }
        match create_new(&run.layout.stop_request()) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(error)
                    .with_context(|| format!("cannot write {}", run.layout.stop_request().display()));
            }
            _ => {}
        }
    }
    let asked = Instant::now();
    for run in found {
        let id = run.layout.run().as_str();
        let mut now = store.find(id)?;
        while now.info.status == RunStatus::Running && now.alive {
            if asked.elapsed() > STOP_LIMIT {
                bail!("run {id} goes on: its runner (see `jackin runs show {id}`) does not react");
            }
            std::thread::sleep(Duration::from_millis(50));
            now = store.find(id)?;
        }
        if now.is_abandoned() {
            store.settle(&now.layout)?;
            now = store.find(id)?;
        }
        // A run that was over before has a request that nobody will take.
        let _ = fs::remove_file(run.layout.stop_request());
        if json {
            print_line(
                &json!({ "run_id": id, "status": now.info.status, "error": now.info.error_summary })
                    .to_string(),
            )?;
        } else {
            print_line(&printable(&format!("{id} {}: {}", now.info.status, now.info.error_summary)))?;
        }
    }
    Ok(0)
}

fn gc(store: &Store, engines: &Engines, json: bool) -> Result<u8> {
    let mut told = Told { code: 0, any: false, json };
    for found in &store.collect()? {
        match found {
            Collected::Failed { layout, reason } => told.line("failed", layout.run(), reason)?,
            Collected::Announced { layout } => {
                told.line("announced", layout.run(), "its end is on the message bus now")?;
            }
            Collected::Removed { path } => {
                told.line("removed", path.display(), "no run had begun in it")?;
            }
            Collected::Problem { layout, error } => told.problem(layout.run(), &error.to_string())?,
        }
    }
    // What an engine was just asked for when a runner died may have come after the run was put in order, and what an
    // engine did not take away when it was asked to is still there. A run that is not here is somebody else's.
    for LeftOn { engine, runs } in engines.left(store.root()) {
        match runs {
            Ok(runs) => {
                let ended = |run: &RunId| store.find(run.as_str()).is_ok_and(|found| !found.alive);
                for run in runs.iter().filter(|run| ended(run)) {
                    match Engines::remove_from(engine, run) {
                        Ok(_) => told.line("removed", run, "its container, which was left, is gone")?,
                        Err(why) => told.problem(run, &why)?,
                    }
                }
            }
            // One that no run was on is none of our business.
            Err(why) if was_used(store, engine)? => told.problem(engine.name(), &why)?,
            Err(_) => {}
        }
    }
    if !told.any && !json {
        print_line("nothing to put in order")?;
    }
    Ok(told.code)
}

/// Whether a run was on an engine.
fn was_used(store: &Store, engine: &RunEngine) -> Result<bool> {
    let address = engine.address()?;
    let (runs, _) = store.runs()?;
    Ok(runs.iter().any(|run| run.info.container.as_ref().is_some_and(|used| used.address == address)))
}

/// What `gc` has told.
struct Told {
    code: u8,
    any: bool,
    json: bool,
}

impl Told {
    fn line(&mut self, what: &str, run: impl Display, text: &str) -> Result<()> {
        self.any = true;
        let run = run.to_string();
        if self.json {
            return print_line(&json!({ "what": what, "run": run, "text": text }).to_string());
        }
        print_line(&printable(&format!("{what} {run}: {text}")))
    }

    fn problem(&mut self, run: impl Display, text: &str) -> Result<()> {
        self.code = 1;
        self.line("problem", run, text)
    }
}
