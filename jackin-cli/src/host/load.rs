//! `jackin load`, `hardline`, `eject`, `exile`, `gc` and `watch`.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use futures_util::StreamExt;
use jackin_core::{InstanceName, RunId};
use serde_json::json;

use super::backend::Brought;
use super::courier::Courier;
use super::fleet::{Fleet, InstanceState, Member};
use super::github::Github;
use super::history;
use super::life::{self, Found, say};
use super::list;
use super::planning::PlanArgs;
use crate::capsule::{SESSION_VARIABLES, print_line};
use crate::config::{Loaded, Paths};
use crate::run::{FoundRun, Store, settings};

/// `jackin load`
#[derive(Debug, Args)]
#[command(
    after_help = "With one word, it is a role if there is one of that name, else a workspace or a directory.\n\
    Exit code: that of the sessions when they ended while attached; 0 after detaching."
)]
pub(super) struct LoadArgs {
    #[command(flatten)]
    plan: PlanArgs,
    /// Do not attach; print the instance's name
    #[arg(long, short)]
    detach: bool,
    /// Leave no process that cleans up after a detached instance; the next jackin command does
    #[arg(long)]
    no_watch: bool,
    /// Print JSON instead of attaching
    #[arg(long)]
    json: bool,
}

/// Makes an instance and attaches to it.
pub(super) async fn load(loaded: &Loaded, args: LoadArgs) -> Result<u8> {
    let fleet = Fleet::new(loaded);
    let attached = !args.detach && !args.json;
    if attached {
        ensure!(
            io::stdin().is_terminal() && io::stdout().is_terminal(),
            "there is no terminal to attach to: add --detach, or --json"
        );
    }
    let member = life::launch(loaded, &fleet, &args.plan, &mut |step| say(step)).await?;
    if loaded_locally_as_agent(&member) {
        say(
            "it runs as a process of yours: there is no wall between the agent and your files (`jackin doctor`)",
        );
    }
    let watch = !args.no_watch && loaded.config.defaults.watch.unwrap_or(true);
    if !attached {
        announce(&member, args.json).await?;
        if watch {
            spawn_watcher(&member.instance);
        }
        return Ok(0);
    }
    attach(loaded, &fleet, &member, watch).await
}

/// Attaches, and leaves somebody who watches what still runs afterwards.
pub(super) async fn attach(loaded: &Loaded, fleet: &Fleet, member: &Member, watch: bool) -> Result<u8> {
    let code = life::attach(loaded, fleet, member, false).await?;
    if watch && fleet.manifests().read(&member.instance)?.is_some() {
        spawn_watcher(&member.instance);
    }
    Ok(code)
}

/// Whether an agent, and not just the operator's own shell or command, runs without a wall.
fn loaded_locally_as_agent(member: &Member) -> bool {
    member.manifest.as_ref().is_some_and(|manifest| {
        let plan = &manifest.plan;
        plan.backend == crate::config::BackendKind::Local
            && plan.command.is_empty()
            && plan.agent.as_deref().is_some_and(|agent| agent != crate::config::SHELL)
    })
}

pub(super) async fn announce(member: &Member, json: bool) -> Result<()> {
    if !json {
        return print_line(member.instance.as_str());
    }
    let socket = member.backend.socket(&member.instance).await;
    let plan = member.manifest.as_ref().map(|manifest| &manifest.plan);
    let json = json!({
        "instance": member.instance,
        "host": member.host,
        "backend": plan.map(|plan| plan.backend),
        "workdir": plan.map(|plan| &plan.workdir),
        "host_workdir": plan.and_then(|plan| plan.host_workdir.as_ref()),
        "socket": socket,
    });
    print_line(&json.to_string())
}

/// Leaves a process that cleans up when the instance has ended. Without it, the next command does.
pub(super) fn spawn_watcher(instance: &InstanceName) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command.args(["watch", instance.as_str()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // It is no part of a session that this command may be in.
    for name in SESSION_VARIABLES {
        command.env_remove(name);
    }
    // It must not end with this terminal, nor get its signals.
    command.process_group(0);
    let _ = command.spawn();
}

/// `jackin watch`
#[derive(Debug, Args)]
pub(super) struct WatchArgs {
    /// The instance [default: all of them, until interrupted]
    #[arg(value_parser = InstanceName::from_either)]
    instance: Option<InstanceName>,
}

/// Cleans up after instances as they end.
pub(super) async fn watch(loaded: &Loaded, args: &WatchArgs) -> Result<u8> {
    let fleet = Fleet::new(loaded);
    let courier = Courier::new(loaded, &fleet, Arc::new(Github::new(&loaded.config.github)));
    if let Some(instance) = &args.instance {
        let member = fleet.find(instance).await?;
        let mut changes = member.backend.watch().await?;
        // It ends when the capsule does: one that was killed tells nobody else.
        let mut attending = Box::pin(courier.attend(&member));
        loop {
            match life::reconcile(&fleet, instance, false).await {
                Ok(Found::Alive) => {}
                Ok(found @ (Found::Kept(_) | Found::TakenAway(_))) => {
                    // What the capsule said last may not have been heard yet.
                    let _ = tokio::time::timeout(LAST_WORDS, attending).await;
                    if let Found::Kept(ending) = found {
                        courier.history().ended(instance, &ending);
                    }
                    return Ok(0);
                }
                Err(error) => say(&format!("{error:#}")),
            }
            tokio::select! {
                change = changes.next() => if change.is_none() {
                    // A host that went away is asked again.
                    tokio::time::sleep(PAUSE).await;
                    if let Ok(again) = member.backend.watch().await {
                        changes = again;
                    }
                },
                () = &mut attending => {
                    // Somebody else may be taking it away at this moment.
                    tokio::time::sleep(BREATH).await;
                    attending = Box::pin(courier.attend(&member));
                }
            }
        }
    }
    let mut events = courier.beside(fleet.follow());
    while let Some(event) = events.recv().await {
        if let super::FleetEvent::Ended { instance, .. } = event {
            match life::reconcile(&fleet, &instance, false).await {
                Ok(Found::Kept(ending)) => say(&format!("{instance} {}", ending.status())),
                Ok(Found::TakenAway(_)) => say(&format!("{instance} has ended and is gone")),
                Ok(Found::Alive) => {}
                Err(error) => say(&format!("{instance}: {error:#}")),
            }
        }
    }
    Ok(0)
}

/// How long a watcher waits before it looks again at what does not answer.
const PAUSE: std::time::Duration = std::time::Duration::from_secs(5);

/// How long the last events of an instance that ended are waited for.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_secs(2);

/// How long until it looks whether an instance that ended was taken away.
const BREATH: std::time::Duration = std::time::Duration::from_millis(100);

/// `jackin hardline`
#[derive(Debug, Args)]
pub(super) struct HardlineArgs {
    /// The instance
    #[arg(value_parser = InstanceName::from_either)]
    instance: InstanceName,
    /// Only look on, beside whoever is attached; `q` leaves
    #[arg(long)]
    read_only: bool,
    /// Print its sessions, what they do, and how to reach them
    #[arg(long)]
    inspect: bool,
    /// Print JSON, with --inspect
    #[arg(long, requires = "inspect")]
    json: bool,
}

/// Attaches to an instance that is there already, or says what happened to it.
pub(super) async fn hardline(loaded: &Loaded, args: &HardlineArgs) -> Result<u8> {
    let fleet = Fleet::new(loaded);
    let member = fleet.find(&args.instance).await?;
    let view = member.look().await;
    if args.inspect {
        list::inspect(&member, &view, args.json).await?;
        return Ok(0);
    }
    let instance = &args.instance;
    match &view.state {
        InstanceState::Running(_) => {}
        InstanceState::Silent(why) => {
            bail!("{instance} runs but does not answer: {why}; end it with `jackin eject {instance}`")
        }
        InstanceState::Unfinished => {
            bail!("{instance} is not made yet, or was left half made: `jackin gc` takes it away")
        }
        InstanceState::Ended(ending) => {
            list::inspect(&member, &view, false).await?;
            bail!(
                "{instance} has ended ({}): start it again with `jackin restart {instance}`, or take it away with `jackin eject {instance}`",
                ending.status()
            )
        }
    }
    ensure!(
        io::stdin().is_terminal() && io::stdout().is_terminal(),
        "there is no terminal to attach to: try --inspect"
    );
    life::attach(loaded, &fleet, &member, args.read_only).await
}

/// `jackin eject`
#[derive(Debug, Args)]
pub(super) struct EjectArgs {
    /// The instances
    #[arg(required = true, value_parser = InstanceName::from_either)]
    instances: Vec<InstanceName>,
    #[command(flatten)]
    purge: PurgeArgs,
}

/// `jackin exile`
#[derive(Debug, Args)]
pub(super) struct ExileArgs {
    #[command(flatten)]
    purge: PurgeArgs,
}

#[derive(Debug, Args)]
struct PurgeArgs {
    /// Delete recordings and history, too; asks first
    #[arg(long)]
    purge: bool,
    /// Do not ask before --purge deletes; nothing else is asked
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Ends instances and takes away what was made for them.
pub(super) async fn eject(loaded: &Loaded, args: EjectArgs) -> Result<u8> {
    let fleet = Fleet::new(loaded);
    let mut members = Vec::new();
    for instance in &args.instances {
        members.push(fleet.find(instance).await?.instance);
    }
    eject_all(loaded, &fleet, members, &args.purge).await
}

/// The same for all that this machine has a record of. What somebody else made is ejected by its name.
pub(super) async fn exile(loaded: &Loaded, args: ExileArgs) -> Result<u8> {
    let fleet = Fleet::new(loaded);
    let (manifests, problems) = fleet.manifests().list();
    for problem in &problems {
        say(&problem.to_string());
    }
    let instances = manifests.into_iter().map(|manifest| manifest.plan.instance).collect();
    eject_all(loaded, &fleet, instances, &args.purge).await
}

async fn eject_all(
    loaded: &Loaded,
    fleet: &Fleet,
    instances: Vec<InstanceName>,
    args: &PurgeArgs,
) -> Result<u8> {
    let kept: Vec<_> = instances
        .iter()
        .flat_map(|name| {
            let recordings = loaded.paths.recordings().join(name.as_str());
            history::files_of(&loaded.paths, name).into_iter().chain([recordings])
        })
        .collect();
    if args.purge && !args.yes {
        ensure!(
            io::stdin().is_terminal(),
            "--purge deletes recordings and history for good: add --yes if that is meant"
        );
        let names: Vec<&str> = instances.iter().map(InstanceName::as_str).collect();
        let mut stderr = io::stderr();
        write!(stderr, "This ends {} and deletes for good:", names.join(", "))?;
        let there: Vec<_> = kept.iter().filter(|path| path.exists()).collect();
        for path in &there {
            write!(stderr, "\n  {}", path.display())?;
        }
        write!(stderr, "{}\nGo on? [y/N] ", if there.is_empty() { " nothing else" } else { "" })?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            bail!("nothing was done");
        }
    }
    let ejected =
        instances.iter().map(|instance| async move { (instance, life::eject(fleet, instance).await) });
    let mut code = 0;
    let mut report = Vec::new();
    for (instance, mut outcome) in futures_util::future::join_all(ejected).await {
        let (lines, error) = match &mut outcome {
            Ok(left) => {
                if args.purge {
                    left.recordings = Brought::default();
                }
                (left.lines(), None)
            }
            Err(error) => (Vec::new(), Some(format!("{error:#}"))),
        };
        code |= u8::from(error.is_some());
        if !args.json {
            let what = error
                .as_ref()
                .map_or_else(|| "is gone".to_owned(), |error| format!("could not be taken away: {error}"));
            say(&format!("{instance} {what}"));
            for line in &lines {
                say(&format!("{instance}: {line}"));
            }
        }
        let left = outcome.ok();
        report.push(json!({
            "instance": instance,
            "error": error,
            "worktree": left.as_ref().and_then(|left| left.worktree.as_ref()).map(|worktree| &worktree.path),
            "branch": left.as_ref().and_then(|left| left.branch.as_ref()),
            "recordings": left.as_ref().map(|left| &left.recordings.files),
        }));
    }
    if args.purge {
        // Some may have come with the end.
        for path in kept.into_iter().filter(|path| path.exists()) {
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.with_context(|| format!("cannot delete {}", path.display()))?;
        }
    }
    if args.json {
        print_line(&json!({ "ejected": report }).to_string())?;
    } else if instances.is_empty() {
        say("there are no instances");
    }
    Ok(code)
}

/// `jackin gc`
#[derive(Debug, Args)]
pub(super) struct GcArgs {
    /// Take away what ended badly, too
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Takes away what interrupted commands and ended instances left.
pub(super) async fn gc(loaded: &Loaded, args: &GcArgs) -> Result<u8> {
    let fleet = Fleet::new(loaded);
    let (manifests, problems) = fleet.manifests().list();
    let mut names: Vec<InstanceName> = manifests.into_iter().map(|manifest| manifest.plan.instance).collect();
    names.extend(directories_without_record(&loaded.paths));
    names.extend(things_without_record(&fleet).await?);
    names.sort();
    names.dedup();
    let (mut taken, mut kept) = (Vec::new(), Vec::new());
    let abandoned = abandoned_runs(loaded);
    let mut code = u8::from(!problems.is_empty());
    for problem in &problems {
        say(&problem.to_string());
    }
    for instance in names {
        match life::reconcile_patiently(&fleet, &instance, args.all).await {
            Ok(Found::Alive) => {}
            Ok(Found::Kept(ending)) => kept.push((instance, ending.status())),
            Ok(Found::TakenAway(left)) => {
                left.lines().iter().for_each(|line| say(&format!("{instance}: {line}")));
                taken.push(instance);
            }
            Err(error) => {
                say(&format!("{instance}: {error:#}"));
                code = 1;
            }
        }
    }
    if args.json {
        let kept: Vec<_> =
            kept.iter().map(|(instance, status)| json!({ "instance": instance, "status": status })).collect();
        let found = json!({ "removed": taken, "kept": kept, "abandoned_runs": abandoned });
        print_line(&found.to_string())?;
        return Ok(code);
    }
    for instance in &taken {
        print_line(&format!("{instance} is gone"))?;
    }
    for (instance, status) in &kept {
        print_line(&format!(
            "{instance} {status}: kept; `jackin eject {instance}`, or `jackin gc --all`, takes it away"
        ))?;
    }
    let work = life::kept_work(loaded, &fleet);
    for line in &work {
        print_line(&format!("{line}: take what you need, and delete it"))?;
    }
    for run in &abandoned {
        print_line(&format!("runs: {run} was left by its runner; `jackin runs gc` puts it in order"))?;
    }
    if taken.is_empty() && kept.is_empty() && work.is_empty() && abandoned.is_empty() {
        print_line("nothing is left over")?;
    }
    Ok(code)
}

/// Runs that only `jackin runs gc` puts in order. Where the records cannot be read, that says why.
fn abandoned_runs(loaded: &Loaded) -> Vec<RunId> {
    let store = settings(loaded).root.and_then(|root| Store::new(root).ok());
    let runs = store.and_then(|store| store.runs().ok()).map(|(runs, _)| runs).unwrap_or_default();
    let left = runs.into_iter().filter(FoundRun::is_abandoned);
    left.map(|run| run.info.run_id).collect()
}

/// Instances of which an engine has something that was made from here: it may have come to what a launch that was killed had
/// asked for only after the launch was cleared away. What was made from elsewhere is not ours to judge.
async fn things_without_record(fleet: &Fleet) -> Result<Vec<InstanceName>> {
    let owner = fleet.manifests().owner()?;
    let asked = fleet.hosts().map(|(host, backend)| async move {
        let slow = || anyhow::anyhow!("it does not answer within {} s", GC_PATIENCE.as_secs());
        let listed = tokio::time::timeout(GC_PATIENCE, backend.list()).await;
        let found = listed.map_err(|_| slow()).and_then(|found| Ok(found?));
        found.unwrap_or_else(|error| {
            say(&format!("{host}: {error:#}; what is left there has to wait"));
            Vec::new()
        })
    });
    let found = futures_util::future::join_all(asked).await.into_iter().flatten();
    let ours =
        found.filter(|found| found.plan.as_ref().is_some_and(|plan| plan.owner.as_ref() == Some(&owner)));
    Ok(ours.map(|found| found.instance).collect())
}

/// How long a host may take to say what it has.
const GC_PATIENCE: Duration = Duration::from_secs(10);

/// Instances of which a directory is left and no record.
fn directories_without_record(paths: &Paths) -> Vec<InstanceName> {
    let dirs = [paths.home().join("sockets"), paths.home().join("state")];
    let entries = dirs.iter().filter_map(|dir| std::fs::read_dir(dir).ok()).flatten().flatten();
    entries.filter_map(|entry| InstanceName::new(entry.file_name().to_str()?).ok()).collect()
}
