use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bollard::container::LogOutput;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use jackin_core::RunId;
use jackin_core::run::{
    AgentError, Elsewhere, Ended, ProcessIds, RunContainer, RunContext, RunLayout, Stop, TaskLayout,
};
use tokio::io::AsyncWriteExt;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::{Happened, Notes, Place, PlaceCommand, PlaceProcess};
use crate::config::HostConfig;
use crate::host::{BackendError, DOCKER, Plan, RunAttachment, RunEngine, RunLife, RunSpec, container_name};
use crate::run::runner::blocking;

/// Where records are in a container.
const ROOT: &str = "/jackin/runs";

/// After a container's end its output is read until it has been silent for this long: what it printed is on its way.
const DRAIN_SILENCE: Duration = Duration::from_secs(5);

/// The exit code of what was killed, and that of a program that is not there.
const KILLED: i32 = 137;
const NO_PROGRAM: i32 = 127;

/// Containers of a Docker engine of this machine, a new one for each run.
///
/// The agent sees the task's folder and its working directory, and nothing else of this machine. It runs as the operator
/// does, so that its files are the operator's, without any of root's rights.
pub struct Docker {
    engine: RunEngine,
    address: String,
    plan: Plan,
    /// What is being made. Whoever takes it away waits for that first: an engine goes on with what it was asked for,
    /// even if nobody waits for the answer. It tells whether anything was asked for at all.
    making: Mutex<HashMap<RunId, JoinHandle<bool>>>,
}

impl Docker {
    /// Containers by this plan: its image, directory, mounts, environment, limits and network. The engine is that of
    /// the host; without one, the engine that `docker` would use here. It has to be on this machine.
    pub fn new(plan: Plan, host: Option<&HostConfig>) -> Result<Self, BackendError> {
        let engine = RunEngine::connect(plan.host.as_deref().unwrap_or(DOCKER), host);
        let address = engine.address()?;
        Ok(Self { engine, address, plan, making: Mutex::default() })
    }

    /// What an operator should know before an agent gets all this.
    pub fn warnings(&self) -> Vec<String> {
        self.engine.warnings(&self.plan)
    }

    fn spec(&self, command: &PlaceCommand, run: &RunLayout) -> Result<RunSpec, AgentError> {
        let mut plan = self.plan.clone();
        plan.host_workdir = Some(command.cwd.clone());
        let words = [&command.program].into_iter().chain(&command.args);
        let env = command.env.iter().map(|(name, value)| Ok((text(name)?, text(value)?)));
        Ok(RunSpec {
            plan,
            run: run.clone(),
            seen: seen(run),
            words: words.map(|word| text(word)).collect::<Result<_, _>>()?,
            env: env.collect::<Result<BTreeMap<_, _>, AgentError>>()?,
            reads: command.stdin.is_some(),
        })
    }

    fn making(&self) -> MutexGuard<'_, HashMap<RunId, JoinHandle<bool>>> {
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn image(&self) -> &str {
        self.plan.image.as_deref().unwrap_or_default()
    }
}

/// A run's files in a container.
fn seen(run: &RunLayout) -> RunLayout {
    let task = run.task();
    RunLayout::new(TaskLayout::new(ROOT, task.project().clone(), task.task().clone()), run.run().clone())
}

fn text(word: &OsStr) -> Result<String, AgentError> {
    let wrong = || format!("{} is not UTF-8, and no Docker engine could be told it", word.display());
    word.to_str().map(str::to_owned).ok_or_else(|| AgentError::Other(wrong()))
}

#[async_trait]
impl Place for Docker {
    fn name(&self) -> &'static str {
        "docker"
    }

    fn elsewhere(&self, run: &RunLayout, _working_dir: &Path) -> Option<Elsewhere> {
        let layout = seen(run);
        let container = RunContainer {
            name: container_name(run.run()),
            engine: self.engine.name().to_owned(),
            address: self.address.clone(),
            image: self.image().to_owned(),
            folder: layout.folder().to_string_lossy().into_owned(),
            workdir: self.plan.workdir.clone(),
        };
        Some(Elsewhere { layout, working_dir: self.plan.workdir.clone().into(), container })
    }

    async fn start(
        &self,
        command: &PlaceCommand,
        context: &RunContext,
        notes: &Notes,
    ) -> Result<Box<dyn PlaceProcess>, AgentError> {
        if !command.cwd.is_dir() {
            return Err(AgentError::NoWorkdir { dir: command.cwd.display().to_string() });
        }
        let run = &context.layout;
        let spec = self.spec(command, run)?;
        let input = match &command.stdin {
            Some(path) => {
                let path = path.clone();
                blocking(move || std::fs::read(path)).await.map_err(|error| AgentError::CannotStart {
                    program: spec.words[0].clone(),
                    reason: format!("cannot read its input: {error}"),
                })?
            }
            None => Vec::new(),
        };
        let (answer, made) = oneshot::channel();
        let asked = Asked { stop: context.stop.clone(), notes: notes.clone(), answer };
        let making = tokio::spawn(make(self.engine.clone(), spec.clone(), asked));
        self.making().insert(run.run().clone(), making);
        let made = made.await.unwrap_or_else(|_| Err(AgentError::Other("it was given up".to_owned())))?;
        Ok(Box::new(DockerProcess::new(self.engine.clone(), spec, made, input)))
    }

    async fn clear(&self, run: &RunLayout) -> Result<(), String> {
        let making = self.making().remove(run.run());
        let Some(making) = making else { return Ok(()) };
        // One that panicked may have made anything.
        if !making.await.unwrap_or(true) {
            return Ok(());
        }
        let removed = self.engine.remove(run.run(), None).await;
        removed.map(drop).map_err(|error| format!("its container could not be removed: {error}"))
    }
}

/// Who waits for a container.
struct Asked {
    stop: Stop,
    notes: Notes,
    answer: oneshot::Sender<Result<RunAttachment, AgentError>>,
}

impl Asked {
    /// Tells what is done next, if it is still to be done.
    fn next(&self, what: &str) -> Result<(), AgentError> {
        self.notes.say(what);
        if self.answer.is_closed() || self.stop.reason().is_some() {
            return Err(AgentError::Stopped);
        }
        Ok(())
    }
}

/// Makes a container and starts it, as long as somebody waits for that. Whether anything was made, or may have been.
async fn make(engine: RunEngine, spec: RunSpec, mut asked: Asked) -> bool {
    let notes = asked.notes.clone();
    let mut say = |text: &str| notes.say(text);
    let image = tokio::select! {
        biased;
        () = asked.answer.closed() => return false,
        _ = asked.stop.requested() => Err(AgentError::Stopped),
        image = engine.image(&spec.plan, &mut say) => image.map_err(|error| match error {
            BackendError::Unreachable { what, why } => AgentError::Unreachable { server: what, reason: why },
            error => {
                let image = spec.plan.image.clone().unwrap_or_default();
                AgentError::NoImage { image, reason: error.to_string() }
            }
        }),
    };
    if let Err(error) = image {
        let _ = asked.answer.send(Err(error));
        return false;
    }
    let made = build(&engine, &spec, &asked).await;
    let _ = asked.answer.send(made);
    true
}

async fn build(engine: &RunEngine, spec: &RunSpec, asked: &Asked) -> Result<RunAttachment, AgentError> {
    let refused = |error| match error {
        BackendError::Unreachable { what, why } => AgentError::Unreachable { server: what, reason: why },
        error => AgentError::CannotStart { program: spec.words[0].clone(), reason: error.to_string() },
    };
    if spec.has_own_network() {
        asked.next("making its network")?;
    }
    engine.network(spec).await.map_err(refused)?;
    asked.next("making its container")?;
    engine.container(spec).await.map_err(refused)?;
    let attached = engine.attach(spec).await.map_err(refused)?;
    asked.next("starting the agent in it")?;
    engine.start(spec).await.map_err(refused)?;
    Ok(attached)
}

struct DockerProcess {
    engine: RunEngine,
    run: RunId,
    /// What it prints; none when nothing more comes.
    output: Option<RunOutput>,
    feeder: JoinHandle<()>,
    watcher: JoinHandle<Happened>,
    /// How it ended, and until when its output is waited for.
    ended: Option<(Happened, Instant)>,
}

type RunOutput =
    std::pin::Pin<Box<dyn futures_util::Stream<Item = Result<LogOutput, bollard::errors::Error>> + Send>>;

impl DockerProcess {
    fn new(engine: RunEngine, spec: RunSpec, made: RunAttachment, input: Vec<u8>) -> Self {
        let RunAttachment { output, input: mut to } = made;
        let run = spec.run.run().clone();
        let feeder = tokio::spawn(async move {
            // A program that does not read what it is given is no mistake.
            if to.write_all(&input).await.is_ok() {
                let _ = to.shutdown().await;
            }
        });
        let watched = engine.clone();
        let watcher = tokio::spawn(async move {
            let life = watched.ended(spec.run.run()).await;
            verdict(&watched, &spec, life).await
        });
        Self { engine, run, output: Some(output), feeder, watcher, ended: None }
    }

    /// What came next of what it prints; none when it is time to look at something else.
    fn heard(&mut self, piece: Option<Result<LogOutput, bollard::errors::Error>>) -> Option<Happened> {
        if let Some((_, until)) = &mut self.ended {
            *until = Instant::now() + DRAIN_SILENCE;
        }
        match piece {
            Some(Ok(LogOutput::StdOut { message })) => Some(Happened::Stdout(message.into())),
            Some(Ok(LogOutput::StdErr { message } | LogOutput::Console { message })) => {
                Some(Happened::Stderr(message.into()))
            }
            Some(Ok(LogOutput::StdIn { .. })) => None,
            Some(Err(error)) => Some(Happened::Failed(AgentError::Other(format!(
                "the connection to the Docker engine {} broke while the agent ran: {error}; what came is in \
                 agent-stdout.txt",
                self.engine.name()
            )))),
            None => {
                self.output = None;
                None
            }
        }
    }
}

impl Drop for DockerProcess {
    fn drop(&mut self) {
        self.feeder.abort();
        self.watcher.abort();
    }
}

#[async_trait]
impl PlaceProcess for DockerProcess {
    fn ids(&self) -> Option<ProcessIds> {
        None
    }

    fn ask(&self, words: &[String]) -> Option<BoxFuture<'static, Option<Vec<u8>>>> {
        Some(Box::pin(self.engine.clone().ask(self.run.clone(), words.to_vec())))
    }

    async fn next(&mut self) -> Happened {
        loop {
            let until = match (&self.ended, &self.output) {
                (Some((happened, _)), None) => return happened.clone(),
                (Some((_, until)), Some(_)) => Some(*until),
                (None, _) => None,
            };
            tokio::select! {
                biased;
                piece = next_piece(&mut self.output) => {
                    if let Some(happened) = self.heard(piece) {
                        return happened;
                    }
                }
                happened = &mut self.watcher, if self.ended.is_none() => {
                    let happened = happened.unwrap_or_else(|error| {
                        Happened::Failed(AgentError::Other(format!("nobody watches the agent: {error}")))
                    });
                    self.ended = Some((happened, Instant::now() + DRAIN_SILENCE));
                }
                () = wait_until(until) => self.output = None,
            }
        }
    }

    async fn terminate(&mut self) {
        self.engine.signal(&self.run, "SIGTERM").await;
    }

    async fn kill(&mut self) {
        self.engine.signal(&self.run, "SIGKILL").await;
    }
}

async fn next_piece(output: &mut Option<RunOutput>) -> Option<Result<LogOutput, bollard::errors::Error>> {
    match output {
        Some(output) => output.next().await,
        None => std::future::pending().await,
    }
}

async fn wait_until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// What became of the agent, by what became of its container.
async fn verdict(engine: &RunEngine, spec: &RunSpec, life: Result<RunLife, BackendError>) -> Happened {
    let failed = |why: String| Happened::Failed(AgentError::Other(why));
    match life {
        Ok(RunLife::Ended { exit_code: NO_PROGRAM, .. }) if !engine.has_program(spec).await => {
            let (program, image) = (spec.words[0].clone(), spec.plan.image.clone().unwrap_or_default());
            Happened::Failed(AgentError::NotInImage { program, image })
        }
        Ok(RunLife::Ended { exit_code, oom: true }) if exit_code != 0 => {
            Happened::Ended(Ended { exit_code, error: Some(out_of_memory(exit_code, &spec.plan)) })
        }
        Ok(RunLife::Ended { exit_code, .. }) => Happened::Ended(Ended::with_code(exit_code)),
        Ok(RunLife::Absent) => failed("somebody removed its container while the agent ran".to_owned()),
        Ok(life @ (RunLife::Unstarted | RunLife::Running)) => {
            failed(format!("nobody knows what became of its container: {life:?}"))
        }
        Err(error) => failed(format!("nobody knows what became of the agent: {error}")),
    }
}

fn out_of_memory(exit_code: i32, plan: &Plan) -> String {
    let limit = plan.limits.memory.map(|memory| {
        format!(" (its limit is {memory}: raise `memory` in the limits of its role if it needs more)")
    });
    let limit = limit.unwrap_or_default();
    match exit_code {
        KILLED => format!("the agent was killed because memory ran out{limit}"),
        code => format!("the agent ended with exit code {code} after memory had run out{limit}"),
    }
}
