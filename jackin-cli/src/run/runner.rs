//! Does runs: the seven steps from a directory to a message that it is over.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use jackin_core::run::{
    Agent, AgentError, BusMessage, Ended, Environment, ProjectId, RunContext, RunInfo, RunLayout, RunStatus,
    RunnerInfo, SinkError, Step, Stop, StopReason, TaskId, preamble,
};
use jackin_core::{RunId, Timestamp, one_line};
use tokio::time::{Instant, MissedTickBehavior, sleep_until};

use super::desk::{Desk, Live};
use super::files::{create_new, sink_error};
use super::observe::{Onlooker, RunEvent, RunObserver};
use super::store::{RunDirectory, Store, StoreError};
use super::{bus, clock};
use crate::regular::open_regular;

/// How often the record is brought up to date, and a request to stop is looked for.
const TICK: Duration = Duration::from_millis(250);

/// An agent that was asked to end and has not, its time for that included, is given up after so much more.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the answer to "which version" is waited for when everything else is done.
const VERSION_PATIENCE: Duration = Duration::from_secs(1);

/// How long taking away what an agent's place made may take, and how long where there is no patience left.
const CLEAR_LIMIT: Duration = Duration::from_secs(30);
const CLEAR_AT_ONCE: Duration = Duration::from_secs(5);

/// Does runs below one root.
///
/// ```
/// use std::sync::Arc;
/// use jackin_cli::run::{RunRequest, Runner, Store};
/// use jackin_core::run::{RunStatus, ScriptedAgent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let runner = Runner::new(Store::new(dir.path())?);
/// let agent = Arc::new(ScriptedAgent::new("parrot").prints("Hello.\n").ends(0));
/// let request = RunRequest::new(agent, "api".parse()?, "greet".parse()?, "Say hello");
/// let run = runner.run(request, &mut ()).await?;
/// assert_eq!(run.info.status, RunStatus::Completed);
/// assert_eq!(std::fs::read_to_string(run.layout.output())?, "Hello.\n");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Runner {
    store: Store,
    grace: Duration,
    inherited: Vec<(OsString, OsString)>,
}

/// What to run.
#[derive(Clone)]
pub struct RunRequest {
    /// Who does it.
    pub agent: Arc<dyn Agent>,
    /// The project.
    pub project: ProjectId,
    /// The task.
    pub task: TaskId,
    /// What to do.
    pub prompt: String,
    /// Where; by default where the runner is.
    pub cwd: PathBuf,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// The run that starts it.
    pub parent: Option<RunId>,
    /// The run that it follows.
    pub previous: Option<RunId>,
    /// Asks it to end.
    pub stop: Stop,
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// Where its files are.
    pub layout: RunLayout,
    /// Its record.
    pub info: RunInfo,
}

impl FinishedRun {
    /// The exit code that tells it: the agent's own; never 0 for a run that failed.
    pub fn exit_code(&self) -> u8 {
        match (self.info.status, self.info.exit_code) {
            (RunStatus::Completed, _) => 0,
            (_, code) => u8::try_from(code).ok().filter(|code| *code != 0).unwrap_or(1),
        }
    }
}

impl RunRequest {
    /// A run with no limit, in the current directory.
    pub fn new(agent: Arc<dyn Agent>, project: ProjectId, task: TaskId, prompt: impl Into<String>) -> Self {
        Self {
            agent,
            project,
            task,
            prompt: prompt.into(),
            cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            timeout: None,
            parent: None,
            previous: None,
            stop: Stop::new(),
        }
    }

    fn context(&self, layout: &RunLayout) -> RunContext {
        let mut context = RunContext {
            working_dir: self.cwd.clone(),
            elsewhere: self.agent.elsewhere(layout, &self.cwd),
            stop: self.stop.clone(),
            ..RunContext::new(layout.clone(), self.prompt.clone())
        };
        context.preamble = preamble(context.seen(), self.parent.as_ref());
        context
    }

    fn first_info(&self, layout: &RunLayout, start: Timestamp) -> RunInfo {
        let context = self.context(layout);
        RunInfo {
            parent_run_id: self.parent.clone(),
            previous_run_id: self.previous.clone(),
            cwd: self.cwd.to_string_lossy().into_owned(),
            commandline: self.agent.command_line(&context),
            // Before anything is made: it is what tells where to look, should we die.
            container: context.elsewhere.map(|elsewhere| elsewhere.container),
            runner: Some(RunnerInfo {
                pid: std::process::id(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                place: self.agent.place().to_owned(),
            }),
            ..RunInfo::begun(layout, self.agent.name(), start)
        }
    }
}

impl Runner {
    /// A runner for a root. Agents inherit this process's environment, but for tokens that are not theirs.
    pub fn new(store: Store) -> Self {
        Self { store, grace: Duration::from_secs(3), inherited: std::env::vars_os().collect() }
    }

    /// The same with another environment for agents to inherit.
    pub fn with_environment(self, inherited: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { inherited: inherited.into_iter().collect(), ..self }
    }

    /// The same with another time that agents have to end when asked to.
    pub fn with_grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    /// Where the records are.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Does a run. An error means that there is no record of it at all; whatever goes wrong later is in its record.
    pub async fn run(
        &self,
        request: RunRequest,
        observer: &mut dyn RunObserver,
    ) -> Result<FinishedRun, StoreError> {
        let request = Arc::new(request);
        let (store, asked) = (self.store.clone(), Arc::clone(&request));
        let (directory, info) = blocking(move || {
            let task = store.task(asked.project.clone(), asked.task.clone());
            store.create(&task, |layout, start| asked.first_info(layout, start))
        })
        .await?;
        let directory = Arc::new(directory);
        let layout = directory.layout().clone();
        let live = Live::new(info);
        let mut onlooker = Onlooker::new(observer, request.stop.clone());
        onlooker.step(&layout, Step::Created).await;
        let outcome = self.work(&directory, &live, &request, &mut onlooker).await;
        let info = self.close(directory, &live, &request, outcome, &mut onlooker).await;
        onlooker.tell(&layout, RunEvent::Ended(&info)).await;
        Ok(FinishedRun { layout, info })
    }

    /// Steps 2 to 4: prompt, environment, agent.
    async fn work(
        &self,
        directory: &Arc<RunDirectory>,
        live: &Live,
        request: &RunRequest,
        onlooker: &mut Onlooker<'_>,
    ) -> Result<Ended, AgentError> {
        let layout = directory.layout();
        let mut context = request.context(layout);
        let (writer, prompt, task) = (Arc::clone(directory), context.whole_prompt(), request.prompt.clone());
        blocking(move || {
            describe_task(writer.layout(), &task)?;
            writer.write(&writer.layout().prompt(), &prompt)
        })
        .await?;
        onlooker.step(layout, Step::Prompted).await;

        let rule = Environment {
            layout: context.seen(),
            parent: request.parent.as_ref(),
            own_tokens: &request.agent.tokens(),
            configured: &request.agent.environment(),
        };
        let inherited = self.inherited.iter().cloned();
        context.environment =
            if context.elsewhere.is_some() { rule.apart(inherited) } else { rule.over(inherited) };
        onlooker.step(layout, Step::Equipped).await;

        let (path, message) = (layout.task().bus(), BusMessage::run_started(layout, request.agent.name()));
        let begun = blocking(move || bus::append(&path, message)).await;
        begun.map_err(|error| AgentError::Other(error.to_string()))?;
        onlooker.step(layout, Step::Begun).await;

        if request.stop.reason().is_some() {
            return Err(AgentError::Stopped);
        }
        let streams = directory.open_streams()?;
        let mut desk = Desk::new(Arc::clone(directory), live.clone(), streams, onlooker);
        let ended = self.execute(directory, live, request, context, &mut desk).await;
        clear(live, request, layout).await;
        let synced = desk.sync().await;
        onlooker.step(layout, Step::Executed).await;
        ended.and_then(|ended| synced.map(|()| ended).map_err(AgentError::Record))
    }

    /// Lets the agent work, and meanwhile keeps the time, the record, and an eye on whether to stop.
    async fn execute(
        &self,
        directory: &Arc<RunDirectory>,
        live: &Live,
        request: &RunRequest,
        context: RunContext,
        desk: &mut Desk<'_, '_>,
    ) -> Result<Ended, AgentError> {
        let context = Arc::new(context);
        let (agent, told) = (Arc::clone(&request.agent), Arc::clone(&context));
        let mut version = Some(tokio::spawn(async move { agent.version(&told).await }));
        let stop = &request.stop;
        let deadline = request.timeout.map(|limit| (limit, Instant::now() + limit));
        let mut give_up = None;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let result = {
            let mut work = pin!(AssertUnwindSafe(request.agent.execute(&context, desk)).catch_unwind());
            loop {
                tokio::select! {
                    biased;
                    done = &mut work => break done.unwrap_or_else(|panic| Err(panicked(&*panic))),
                    () = stop.insisted() => break Err(AgentError::Stopped),
                    _ = stop.requested(), if give_up.is_none() => {
                        give_up = Some(Instant::now() + self.grace + PATIENCE);
                    }
                    () = wait_until(give_up) => break Err(AgentError::Stopped),
                    () = wait_until(deadline.map(|(_, at)| at)), if stop.reason().is_none() => {
                        stop.request(StopReason::TimedOut(deadline.map_or(Duration::ZERO, |(limit, _)| limit)));
                    }
                    told = answer(&mut version), if version.is_some() => {
                        version = None;
                        note_version(live, told);
                    }
                    _ = tick.tick() => {
                        if directory.is_stop_requested() {
                            stop.request(StopReason::Asked);
                        }
                        if let Some(info) = live.take_changed() {
                            let writer = Arc::clone(directory);
                            // What does not fit now is tried again at the end.
                            let _ = blocking(move || writer.write_info(&info)).await;
                        }
                    }
                }
            }
        };
        if version.is_some()
            && let Ok(told) = tokio::time::timeout(VERSION_PATIENCE, answer(&mut version)).await
        {
            note_version(live, told);
        }
        result
    }

    /// Steps 5 to 7: output, record, message. Whatever fails here leaves the rest to be done by `jackin runs gc`.
    async fn close(
        &self,
        directory: Arc<RunDirectory>,
        live: &Live,
        request: &RunRequest,
        outcome: Result<Ended, AgentError>,
        onlooker: &mut Onlooker<'_>,
    ) -> RunInfo {
        let layout = directory.layout().clone();
        let last_words = live.last_words();
        let writer = Arc::clone(&directory);
        let summarised = blocking(move || writer.ensure_output(last_words.as_deref())).await;
        onlooker.step(&layout, Step::Summarised).await;

        let turn_error = live.turn_error();
        let mut info = live.info();
        let (mut exit_code, mut error) = judge(&outcome, request.stop.reason(), turn_error, &layout);
        if let Err(failure) = summarised {
            if error.is_none() {
                (exit_code, error) = (1, Some(failure.to_string()));
            } else {
                info.warnings.push(failure.to_string());
            }
        }
        info.end(clock::now(), exit_code, error.as_deref());
        let (writer, record) = (Arc::clone(&directory), info.clone());
        if let Err(failure) = blocking(move || writer.write_last_info(&record)).await {
            let warning = format!("{failure}; `jackin runs gc` will record the end when it can");
            if info.status == RunStatus::Completed {
                info.end(clock::now(), 1, Some(&warning));
            } else {
                info.warnings.push(warning);
            }
            return info;
        }
        onlooker.step(&layout, Step::Recorded).await;

        let (path, message) = (layout.task().bus(), BusMessage::run_ended(&layout, &info));
        if let Err(failure) = blocking(move || bus::append(&path, message)).await {
            info.warnings.push(failure.to_string());
            let (writer, record) = (Arc::clone(&directory), info.clone());
            let _ = blocking(move || writer.write_last_info(&record)).await;
            return info;
        }
        onlooker.step(&layout, Step::Closed).await;
        if let Some(directory) = Arc::into_inner(directory) {
            blocking(move || directory.close()).await;
        }
        info
    }
}

/// Takes away what the agent's place made for the run, whatever became of it.
async fn clear(live: &Live, request: &RunRequest, layout: &RunLayout) {
    let no_time = async {
        request.stop.insisted().await;
        tokio::time::sleep(CLEAR_AT_ONCE).await;
    };
    let cleared = tokio::select! {
        biased;
        cleared = request.agent.clear(layout) => cleared,
        () = no_time => Err("what was made for the run could not be taken away at once".to_owned()),
        () = tokio::time::sleep(CLEAR_LIMIT) => {
            Err(format!("what was made for the run could not be taken away within {CLEAR_LIMIT:?}"))
        }
    };
    if let Err(why) = cleared {
        live.change(|info| info.warnings.push(format!("{why}; `jackin runs gc` will try again")));
    }
}

/// The exit code of a run, and why it failed, if it did.
fn judge(
    outcome: &Result<Ended, AgentError>,
    stopped: Option<StopReason>,
    turn_error: Option<String>,
    layout: &RunLayout,
) -> (i32, Option<String>) {
    match outcome {
        Ok(Ended { exit_code: 0, error: None }) => (0, None),
        Ok(Ended { exit_code, error }) => {
            let what = error.clone().unwrap_or_else(|| format!("the agent ended with exit code {exit_code}"));
            let why = turn_error.or_else(|| last_line(layout)).map(|why| format!(": {why}"));
            (*exit_code, Some(what + &why.unwrap_or_default()))
        }
        Err(AgentError::Stopped) => {
            let reason = stopped.unwrap_or(StopReason::Asked);
            (reason.exit_code(), Some(format!("stopped: {reason}")))
        }
        Err(error) => (error.exit_code(), Some(error.to_string())),
    }
}

/// The last line that the agent printed to standard error.
fn last_line(layout: &RunLayout) -> Option<String> {
    const TAIL: u64 = 2_048;
    // The agent may have put a link there, and what that leads to is none of its business.
    let mut file = open_regular(&layout.stderr(), fs::OpenOptions::new().read(true)).ok()?;
    let len = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(len.saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    let tail = String::from_utf8_lossy(&tail);
    tail.lines().rev().map(|line| one_line(line, 300)).find(|line| !line.is_empty())
}

/// `TASK.md` is written by whoever comes first.
fn describe_task(layout: &RunLayout, prompt: &str) -> Result<(), SinkError> {
    let path = layout.task().description();
    let written = create_new(&path).and_then(|mut file| file.write_all(format!("{prompt}\n").as_bytes()));
    match written {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(sink_error(&path, &error)),
        _ => Ok(()),
    }
}

fn note_version(live: &Live, version: Option<String>) {
    if let Some(version) = version {
        live.change(|info| info.agent_version = version);
    }
}

async fn answer(version: &mut Option<tokio::task::JoinHandle<Option<String>>>) -> Option<String> {
    match version {
        Some(version) => version.await.ok().flatten(),
        None => None,
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> AgentError {
    let said = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    AgentError::Other(format!(
        "the agent's backend has a defect: {}",
        one_line(said.unwrap_or("a panic"), 200)
    ))
}

async fn wait_until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Does something that waits for the disk, where that holds nobody up.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only a runtime that shuts down cancels it, and this future with it.
            Err(_) => std::future::pending().await,
        },
    }
}
