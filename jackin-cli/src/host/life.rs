//! The life of an instance: made, attached to, ended, taken away. Every step is written down before it is taken, so
//! that a command that was interrupted leaves nothing that cannot be found.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use jackin_core::{InstanceName, Timestamp};

use super::backend::{BackendError, Brought, Ending, Life, Steps, session_user};
use super::courier::Courier;
use super::fleet::{Fleet, Member};
use super::github::Github;
use super::inside::{is_session_of, own_instance};
use super::manifest::{Lock, Manifest, ManifestError, Phase};
use super::plan::{Plan, Worktree};
use super::planning::{self, PlanArgs, Planned};
use super::worktree::{self, Owner, Removed};
use crate::capsule;
use crate::config::{BackendKind, Loaded, Mount, Paths};

/// Makes what was planned, and returns it once its capsule answers. If that fails, nothing is left.
pub(super) async fn launch(
    loaded: &Loaded,
    fleet: &Fleet,
    args: &PlanArgs,
    step: &mut Steps<'_>,
) -> Result<Member> {
    loop {
        let Planned { mut plan, worktree, name_is_free, remark } = planning::plan(loaded, args)?;
        let taken = ManifestError::Exists(plan.instance.clone());
        let lock = match fleet.manifests().try_lock(&plan.instance)? {
            Some(lock) => lock,
            // Somebody else makes an instance of that name at this moment.
            None if name_is_free => {
                tokio::task::yield_now().await;
                continue;
            }
            // Or looks after one that is ending.
            None => fleet.manifests().lock(&plan.instance).await?,
        };
        if fleet.manifests().read(&plan.instance)?.is_some() {
            if name_is_free {
                continue;
            }
            return Err(taken.into());
        }
        if let Some(remark) = remark {
            step(&remark);
        }
        if worktree {
            add_worktree(&loaded.paths, &mut plan)?;
        }
        let manifest = Manifest::launching(plan, capsule::now());
        return make(fleet, manifest, lock, step).await;
    }
}

/// Makes an instance out of a plan, whose name must be free.
pub(crate) async fn launch_plan(fleet: &Fleet, plan: Plan, step: &mut Steps<'_>) -> Result<Member> {
    let lock = fleet.manifests().lock(&plan.instance).await?;
    if fleet.manifests().read(&plan.instance)?.is_some() {
        return Err(ManifestError::Exists(plan.instance).into());
    }
    make(fleet, Manifest::launching(plan, capsule::now()), lock, step).await
}

fn add_worktree(paths: &Paths, plan: &mut Plan) -> Result<()> {
    let Some(directory) = plan.host_workdir.clone() else { return Ok(()) };
    let is_clone = plan.backend == BackendKind::Docker;
    let worktree = worktree::plan(paths, &plan.instance, &directory, is_clone)?;
    // The agent works in the same part of the repository as the operator.
    let below = directory.strip_prefix(&worktree.repository).unwrap_or(Path::new(""));
    let within = |path: &Path| if below.as_os_str().is_empty() { path.to_owned() } else { path.join(below) };
    let own = within(&worktree.path);
    if is_clone {
        let workspace = PathBuf::from(&plan.workdir);
        // It names what it borrows by the paths of this machine.
        for store in worktree::clone::lenders(&worktree.repository)? {
            ensure!(
                !store.starts_with(&workspace),
                "{} is needed in the container, where the workspace is in its place: give the role another `workdir` than {}",
                store.display(),
                plan.workdir
            );
            let path = store.to_str().context("the repository's path is not UTF-8")?.to_owned();
            plan.mounts.push(Mount { source: path.clone(), destination: path, read_only: true });
        }
        plan.workdir = within(&workspace).display().to_string();
    } else {
        plan.workdir = own.display().to_string();
    }
    plan.host_workdir = Some(own);
    plan.worktree = Some(worktree);
    Ok(())
}

/// Makes an instance again as it was made before.
pub(crate) async fn relaunch(fleet: &Fleet, instance: &InstanceName, step: &mut Steps<'_>) -> Result<Member> {
    let lock = fleet.manifests().lock(instance).await?;
    let member = fleet.find(instance).await?;
    let manifest = member.manifest.clone().with_context(|| {
        format!("this machine has no record of {instance}: restart it where it was loaded")
    })?;
    if member.backend.inspect(instance).await? == Life::Running {
        anyhow::bail!(
            "{instance} is running: end it first with `jackin eject {instance}`, or attach with `jackin hardline {instance}`"
        );
    }
    step("taking away what is left of it");
    keep_recordings(&member).await.lines().iter().for_each(|line| step(line));
    member.backend.remove(instance).await?;
    let (launcher, phase) = (Some(std::process::id()), Phase::Launching);
    make(fleet, Manifest { phase, launcher, ..manifest }, lock, step).await
}

async fn make(fleet: &Fleet, mut manifest: Manifest, lock: Lock, step: &mut Steps<'_>) -> Result<Member> {
    let host = Fleet::host_of(&manifest.plan);
    let backend = fleet.host(&host)?;
    let instance = manifest.plan.instance.clone();
    // Where the engine does not answer nothing is begun, and the name stays free; and what another operator of the same
    // engine has by this name is not ours to take away when something fails.
    if backend.inspect(&instance).await? != Life::Absent {
        return Err(ManifestError::Exists(instance).into());
    }
    manifest.plan.owner = Some(fleet.manifests().owner()?);
    fleet.manifests().write(&manifest)?;
    let member = Member { host, backend: backend.clone(), instance, manifest: Some(manifest.clone()) };
    let mut interruption = pin!(interrupted());
    let made = async {
        if let Some(worktree) = manifest.plan.worktree.clone().filter(|worktree| !worktree.path.exists()) {
            step("making a worktree");
            make_worktree(worktree, &manifest.plan, interruption.as_mut()).await?;
        }
        let secrets = manifest.plan.secrets(|name| std::env::var(name).ok());
        tokio::select! {
            made = backend.create(&manifest.plan, &secrets, step) => Ok(made?),
            () = interruption => anyhow::bail!(INTERRUPTED),
        }
    };
    let made: Result<()> = made.await;
    if let Err(error) = made {
        step("taking away what was made");
        return Err(match take_away(fleet, &member, lock).await {
            Ok(_) => error,
            Err(left) => anyhow::anyhow!(
                "{error:#}; and not everything could be taken away ({left:#}): run `jackin gc`"
            ),
        });
    }
    (manifest.phase, manifest.launcher) = (Phase::Ready, None);
    fleet.manifests().write(&manifest)?;
    drop(lock);
    Ok(Member { manifest: Some(manifest), ..member })
}

async fn make_worktree(
    worktree: Worktree,
    plan: &Plan,
    interruption: Pin<&mut impl Future<Output = ()>>,
) -> Result<()> {
    let user = session_user(plan);
    let agent = Owner { uid: user.uid, gid: user.gid.unwrap_or(user.uid) };
    // Only root can give files away.
    let owner = Some(agent).filter(|_| rustix::process::geteuid().is_root());
    let mut making = tokio::task::spawn_blocking(move || worktree::create(&worktree, owner));
    tokio::select! {
        made = &mut making => made?,
        () = interruption => {
            // Nobody takes away what is still being made.
            let _ = making.await;
            anyhow::bail!(INTERRUPTED)
        }
    }
}

const INTERRUPTED: &str = "interrupted";

/// Ctrl+C, or a request to end.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}

/// What became of an instance's worktree when it was taken away, for people.
#[derive(Debug, Default)]
pub(crate) struct Left {
    pub(super) worktree: Option<Worktree>,
    pub(super) branch: Option<String>,
    pub(super) recordings: Brought,
}

impl Left {
    /// What the operator should know, a line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let worktree = self.worktree.as_ref().map(|worktree| {
            let what = format!("{} holds work that is nowhere else, and is kept", worktree.path.display());
            // Git runs what a repository's settings name.
            if worktree.is_clone {
                what + "; its .git is the agent's: look at that before you run Git there"
            } else {
                what
            }
        });
        let branch = self.branch.as_ref().map(|branch| format!("its commits are on the branch {branch}"));
        worktree.into_iter().chain(branch).chain(self.recordings.lines()).collect()
    }
}

/// What was recorded where it goes with an instance is brought here; that it cannot be is no reason to keep the instance.
async fn keep_recordings(member: &Member) -> Brought {
    let brought = member.backend.bring_recordings(&member.instance, None).await;
    brought.unwrap_or_else(|error| Brought { files: Vec::new(), trouble: Some(error.to_string()) })
}

/// Takes everything away that was made for an instance, whose lock is held as long as that takes, even if the caller loses
/// patience.
async fn take_away(fleet: &Fleet, member: &Member, mut lock: Lock) -> Result<Left> {
    // Recordings are complete when their capsule has ended.
    member.backend.stop(&member.instance).await?;
    let mut left = Left { recordings: keep_recordings(member).await, ..Left::default() };
    member.backend.remove(&member.instance).await?;
    if let Some(worktree) = member.manifest.as_ref().and_then(|manifest| manifest.plan.worktree.clone()) {
        // A launcher that was killed may have left a Git behind that is still at it.
        let begin = tokio::time::Instant::now();
        while worktree::is_being_made(&worktree) && begin.elapsed() < ENDING {
            tokio::time::sleep(PAUSE).await;
        }
        let own = worktree.clone();
        let removed = tokio::task::spawn_blocking(move || (worktree::remove(&own), lock)).await?;
        lock = removed.1;
        match removed.0? {
            Removed::Gone { kept_branch } => left.branch = kept_branch,
            Removed::Kept => left.worktree = Some(worktree),
        }
    }
    fleet.manifests().remove(&member.instance)?;
    drop(lock);
    Ok(left)
}

/// A line for each worktree that holds work of an instance that is gone.
pub(super) fn kept_work(loaded: &Loaded, fleet: &Fleet) -> Vec<String> {
    let (manifests, problems) = fleet.manifests().list();
    if !problems.is_empty() {
        return Vec::new();
    }
    let is_known = |name: &str| manifests.iter().any(|manifest| manifest.plan.instance.as_str() == name);
    let kept = worktree::kept(&loaded.paths, is_known);
    let line = |path: &PathBuf| format!("{} holds work of an instance that is gone", path.display());
    kept.iter().map(line).collect()
}

/// Ends an instance and takes everything away.
pub(crate) async fn eject(fleet: &Fleet, instance: &InstanceName) -> Result<Left> {
    let lock = fleet.manifests().lock(instance).await?;
    let member = fleet.find(instance).await?;
    take_away(fleet, &member, lock).await
}

/// What was found when an instance was looked after.
#[derive(Debug)]
pub(super) enum Found {
    /// It runs, or somebody is at work on it.
    Alive,
    /// It ended badly or was stopped, and what is left of it is kept for the operator.
    Kept(Ending),
    /// It ended well, or was left half made, or was gone; now nothing of it is left.
    TakenAway(Left),
}

/// Takes away what an ended instance left, unless it is kept. With `everything`, that too.
pub(super) async fn reconcile(fleet: &Fleet, instance: &InstanceName, everything: bool) -> Result<Found> {
    let Some(lock) = fleet.manifests().try_lock(instance)? else { return Ok(Found::Alive) };
    look_after(fleet, instance, everything, lock).await
}

/// The same for whoever was asked to: somebody else who is just looking at it is waited for.
pub(super) async fn reconcile_patiently(
    fleet: &Fleet,
    instance: &InstanceName,
    everything: bool,
) -> Result<Found> {
    match tokio::time::timeout(super::fleet::PATIENCE, fleet.manifests().lock(instance)).await {
        Ok(lock) => look_after(fleet, instance, everything, lock?).await,
        Err(_) => Ok(Found::Alive),
    }
}

async fn look_after(fleet: &Fleet, instance: &InstanceName, everything: bool, lock: Lock) -> Result<Found> {
    let member = match fleet.find(instance).await {
        Ok(member) => member,
        Err(BackendError::NotFound(_)) => return Ok(Found::TakenAway(Left::default())),
        Err(error) => return Err(error.into()),
    };
    // Whoever makes it would have the lock.
    let half_made = member.manifest.as_ref().is_some_and(|manifest| manifest.phase == Phase::Launching);
    match member.backend.inspect(instance).await? {
        Life::Running if half_made => {}
        Life::Running => return Ok(Found::Alive),
        // What was stopped before it was ready has nothing to be kept for.
        Life::Ended(ending) if half_made && ending.is_clean() => {}
        Life::Ended(ending) if ending.is_kept() && !everything => return Ok(Found::Kept(ending)),
        Life::Ended(_) | Life::Unfinished | Life::Absent => {}
    }
    Ok(Found::TakenAway(take_away(fleet, &member, lock).await?))
}

/// Takes away what instances that ended well have left, quickly, before something is listed. What does not answer is
/// left for later.
pub(super) async fn tidy(fleet: &Fleet) {
    let (manifests, _) = fleet.manifests().list();
    let tidied = manifests.iter().map(|manifest| {
        let tidied = reconcile(fleet, &manifest.plan.instance, false);
        tokio::time::timeout(super::fleet::PATIENCE, tidied)
    });
    futures_util::future::join_all(tidied).await;
}

/// Whether this command runs in a session of an instance.
pub(super) async fn is_inside(member: &Member) -> bool {
    is_own(member, member.backend.socket(&member.instance).await.as_deref())
}

/// The same where its socket is known.
fn is_own(member: &Member, socket: Option<&Path>) -> bool {
    let run_dir = socket.and_then(Path::parent);
    run_dir.is_some_and(|dir| is_session_of(|name| std::env::var(name).ok(), &member.instance, dir))
}

/// A socket of this machine is the shortest way; any other stream will do.
pub(super) async fn attach_member(member: &Member, part: capsule::Part) -> Result<capsule::Parting> {
    let socket = member.backend.socket(&member.instance).await;
    ensure!(
        !is_own(member, socket.as_deref()),
        "this terminal is inside of {0}, which cannot show itself within itself: attach from another terminal, or see \
         `jackin hardline {0} --inspect`",
        member.instance
    );
    match socket {
        Some(socket) => capsule::attach(&socket, part).await,
        None => capsule::attach_over(member.backend.open(&member.instance).await?, part).await,
    }
}

/// Shows an instance on this terminal, and looks after it when it has ended; the exit code. Meanwhile its capsule is told
/// what became of its pull request.
pub(super) async fn attach(loaded: &Loaded, fleet: &Fleet, member: &Member, read_only: bool) -> Result<u8> {
    let part = if read_only { capsule::Part::Viewer } else { capsule::Part::Operator };
    let courier = Courier::new(loaded, fleet, Arc::new(Github::new(&loaded.config.github)));
    if let Some(outer) = own_instance().filter(|outer| *outer != member.instance) {
        say(&format!(
            "this terminal is inside of {outer}, whose keys come first: Ctrl+B d leaves {outer}, and Ctrl+B Ctrl+B d leaves {}",
            member.instance
        ));
    }
    let attached = attach_member(member, part);
    tokio::pin!(attached);
    let parting = tokio::select! {
        parting = &mut attached => parting,
        () = courier.attend(member) => attached.await,
    }?;
    let instance = &member.instance;
    say(&parting.message);
    if parting.still_running {
        say(&format!("attach again: jackin hardline {instance}"));
        return Ok(parting.exit_code);
    }
    match ended(fleet, member).await? {
        Found::Alive => say(&format!("attach again: jackin hardline {instance}")),
        Found::Kept(ending) => {
            say(&format!("{instance} {}; what is left of it is kept", ending.status()));
            say(&format!(
                "look: jackin hardline {instance} --inspect   again: jackin restart {instance}   away: jackin eject {instance}"
            ));
        }
        Found::TakenAway(left) => left.lines().iter().for_each(|line| say(line)),
    }
    Ok(parting.exit_code)
}

/// How often is looked whether an instance that said goodbye has ended.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(20);

/// How long it may take to end after it said goodbye.
const ENDING: std::time::Duration = std::time::Duration::from_secs(5);

/// Looks after an instance whose capsule is ending.
async fn ended(fleet: &Fleet, member: &Member) -> Result<Found> {
    let begin = tokio::time::Instant::now();
    loop {
        match reconcile(fleet, &member.instance, false).await? {
            Found::Alive if begin.elapsed() < ENDING => tokio::time::sleep(PAUSE).await,
            found => return Ok(found),
        }
    }
}

/// A line for the operator. Standard error keeps what scripts read clean.
pub(super) fn say(line: &str) {
    // Nobody may be there to read it.
    let _ = writeln!(std::io::stderr(), "[jackin] {}", capsule::printable(line));
}

/// How long ago something was, in one word for a table.
pub(super) fn ago(now: Timestamp, then: Timestamp) -> String {
    let seconds = now.since(then).as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}
