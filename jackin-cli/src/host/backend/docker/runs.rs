//! Containers of headless runs. There is no capsule in them: the agent is all that they are started for, and its runner
//! listens to it. Everything carries the run's id in a label, so that whatever a runner left is found and taken away.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bollard::Docker;
use bollard::container::LogOutput;
use bollard::errors::Error;
use bollard::exec::{CreateExecOptions, StartExecOptions, StartExecResults};
use bollard::models::{ContainerStateStatusEnum, NetworkCreateRequest};
use bollard::query_parameters::{
    AttachContainerOptionsBuilder, ContainerArchiveInfoOptionsBuilder, CreateContainerOptionsBuilder,
    InspectContainerOptions, KillContainerOptionsBuilder, ListContainersOptionsBuilder,
    ListNetworksOptionsBuilder, RemoveContainerOptionsBuilder, StartContainerOptions,
    StopContainerOptionsBuilder, WaitContainerOptions,
};
use futures_util::{Stream, StreamExt};
use jackin_core::RunId;
use jackin_core::run::RunLayout;
use tokio::io::AsyncWrite;
use tokio::time::Instant;

use super::connection::{ASK, CHANGE, Connection, LONG, SHORT, Trouble, within};
use super::create::{check_image, check_network};
use super::run_body::{Home, User, body, home_of};
use super::{archive, container, image, labels, mounts, remove};
use crate::config::HostConfig;
use crate::host::backend::{BackendError, Steps};
use crate::host::plan::Plan;

/// How long a program in a container may take to answer, and how much it may say.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
const ANSWER_LEN: usize = 4_096;

/// The largest list of users that is looked through.
const LARGEST_PASSWD: usize = 1 << 20;

/// How often an engine is asked again that does not tell what became of a container, and after which pause.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

/// A Docker engine of this machine, for runs.
#[derive(Clone, Debug)]
pub(crate) struct RunEngine {
    engine: Arc<Connection>,
    /// Whether the image has a home for the run's user; known with the first container.
    has_home: Arc<OnceLock<bool>>,
}

/// What the container of a run is made of.
#[derive(Clone)]
pub(crate) struct RunSpec {
    /// Image, directory, mounts, limits and network.
    pub(crate) plan: Plan,
    /// The run's files on this machine.
    pub(crate) run: RunLayout,
    /// The same in the container.
    pub(crate) seen: RunLayout,
    /// Program and arguments.
    pub(crate) words: Vec<String>,
    /// What the agent's environment has beside the plan's.
    pub(crate) env: BTreeMap<String, String>,
    /// Whether it reads its standard input.
    pub(crate) reads: bool,
}

/// The standard streams of a container.
pub(crate) struct RunAttachment {
    pub(crate) output: Pin<Box<dyn Stream<Item = Result<LogOutput, Error>> + Send>>,
    pub(crate) input: Pin<Box<dyn AsyncWrite + Send>>,
}

/// How a run's container is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunLife {
    /// There is none.
    Absent,
    /// It was made and has not started.
    Unstarted,
    /// It runs.
    Running,
    /// It has ended.
    Ended {
        exit_code: i32,
        /// Whether its memory ran out at some time.
        oom: bool,
    },
}

impl RunEngine {
    /// The engine of a host; without one, the engine that `docker` would use here.
    pub(crate) fn connect(name: &str, host: Option<&HostConfig>) -> Self {
        Self { engine: Arc::new(Connection::new(name, host)), has_home: Arc::default() }
    }

    /// The operator's name for it.
    pub(crate) fn name(&self) -> &str {
        self.engine.name()
    }

    /// Where it answers, if it is one of this machine, which sees the same files.
    pub(crate) fn address(&self) -> Result<String, BackendError> {
        let address = self.engine.address()?;
        if self.engine.socket().is_none() {
            return Err(BackendError::Impossible(format!(
                "the Docker engine {} ({address}) is not on this machine, and a run shares its folder and its working \
                 directory with its container: log in there and run it there, or choose an engine of this machine with \
                 --host or DOCKER_HOST",
                self.name()
            )));
        }
        Ok(address)
    }

    /// What an operator should know before an agent gets all this.
    pub(crate) fn warnings(&self, plan: &Plan) -> Vec<String> {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
        let mut warnings = mounts::warnings(plan, home.as_deref().map(Path::new), self.engine.socket());
        let own = rustix::process::geteuid().as_raw();
        if let Some(user) = plan.user.as_ref().filter(|user| user.uid != own) {
            warnings.push(format!(
                "the agent runs as you ({own}) and not as the role's user {}: the run's files have to be yours",
                user.uid
            ));
        }
        warnings
    }

    /// Makes sure that the image is there. Dropping the future gives up pulling it.
    pub(crate) async fn image(&self, plan: &Plan, step: &mut Steps<'_>) -> Result<(), BackendError> {
        let name = plan.image.as_deref().unwrap_or_default();
        let docker = self.engine.docker(LONG).await?;
        let found = image::ensure(&self.engine, &docker, name, step).await?;
        if let Some(warning) = check_image(name, &found, self.engine.facts(&docker).await?)? {
            step(&warning);
        }
        Ok(())
    }

    /// Makes the run's own network, if it is to have one.
    pub(crate) async fn network(&self, spec: &RunSpec) -> Result<(), BackendError> {
        let docker = self.engine.docker(LONG).await?;
        check_network(&self.engine, &docker, &spec.plan).await?;
        if !spec.has_own_network() {
            return Ok(());
        }
        let name = container_name(spec.run.run());
        let request = NetworkCreateRequest {
            name: name.clone(),
            driver: Some("bridge".to_owned()),
            labels: Some(spec.labels()),
            ..NetworkCreateRequest::default()
        };
        let made = within(CHANGE, docker.create_network(request)).await;
        made.map(drop).map_err(|trouble| self.engine.told(&format!("make the network {name}"), trouble))
    }

    /// Makes the container.
    pub(crate) async fn container(&self, spec: &RunSpec) -> Result<(), BackendError> {
        let docker = self.engine.docker(LONG).await?;
        let facts = self.engine.facts(&docker).await?;
        let user = User::of_operator(facts);
        let asked = home_of(spec, user, self.has_home.get().copied());
        self.create(&docker, spec, user, facts.selinux, asked.unwrap_or(Home::Own)).await?;
        if asked.is_some() {
            return Ok(());
        }
        // Only the image knows its users, and it can be read when there is a container of it.
        let has_home = self.has_home_of(&docker, spec.run.run(), user.uid).await?;
        let _ = self.has_home.set(has_home);
        if has_home {
            return Ok(());
        }
        let name = container_name(spec.run.run());
        let options = RemoveContainerOptionsBuilder::new().force(true).v(true).build();
        let removed = within(CHANGE, docker.remove_container(&name, Some(options))).await;
        removed.map_err(|trouble| self.engine.told(&format!("make {name} anew"), trouble))?;
        self.create(&docker, spec, user, facts.selinux, Home::Fresh).await
    }

    async fn create(
        &self,
        docker: &Docker,
        spec: &RunSpec,
        user: User,
        selinux: bool,
        home: Home,
    ) -> Result<(), BackendError> {
        let name = container_name(spec.run.run());
        let body = body(spec, user, selinux, home)?;
        let options = CreateContainerOptionsBuilder::new().name(&name).build();
        let made = within(CHANGE, docker.create_container(Some(options), body)).await;
        made.map(drop).map_err(|trouble| match trouble {
            Trouble::Refused(400, why) if why.contains("bind source path does not exist") => {
                BackendError::Impossible(format!(
                    "the Docker engine {} does not see this machine's files ({why}): share the directory with it, or \
                     choose an engine that does",
                    self.name()
                ))
            }
            trouble => self.engine.told(&format!("make the container {name}"), trouble),
        })
    }

    /// Whether the image has a user of this number with a home that is there.
    async fn has_home_of(&self, docker: &Docker, run: &RunId, uid: u32) -> Result<bool, BackendError> {
        let name = container_name(run);
        let told = |trouble| self.engine.told("look for the agent's home in the image", trouble);
        let passwd = archive::read(docker, &name, "/etc/passwd", LARGEST_PASSWD).await.map_err(told)?;
        let passwd = String::from_utf8_lossy(&passwd.unwrap_or_default()).into_owned();
        let home = passwd.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            (fields.get(2)?.parse() == Ok(uid)).then(|| fields.get(5).copied().unwrap_or_default())
        });
        match home.filter(|home| home.len() > 1) {
            Some(home) => self.has(docker, run, home).await.map_err(told),
            None => Ok(false),
        }
    }

    async fn has(&self, docker: &Docker, run: &RunId, path: &str) -> Result<bool, Trouble> {
        let options = ContainerArchiveInfoOptionsBuilder::new().path(path).build();
        match within(ASK, docker.get_container_archive_info(&container_name(run), Some(options))).await {
            Err(trouble) if trouble.is_missing() => Ok(false),
            found => found.map(|_| true),
        }
    }

    /// Listens to a container that has not started, so that nothing is missed.
    pub(crate) async fn attach(&self, spec: &RunSpec) -> Result<RunAttachment, BackendError> {
        let docker = self.engine.docker(LONG).await?;
        let name = container_name(spec.run.run());
        let options = AttachContainerOptionsBuilder::new()
            .stream(true)
            .stdin(spec.reads)
            .stdout(true)
            .stderr(true)
            .build();
        let attached = within(CHANGE, docker.attach_container(&name, Some(options))).await;
        let attached = attached.map_err(|trouble| self.engine.told(&format!("listen to {name}"), trouble))?;
        Ok(RunAttachment { output: attached.output, input: attached.input })
    }

    /// Starts it.
    pub(crate) async fn start(&self, spec: &RunSpec) -> Result<(), BackendError> {
        let docker = self.engine.docker(LONG).await?;
        let name = container_name(spec.run.run());
        let started = within(CHANGE, docker.start_container(&name, None::<StartContainerOptions>)).await;
        started.map_err(|trouble| self.engine.told(&format!("start {name}"), trouble))
    }

    /// Waits until a container that was started has ended, and tells how.
    pub(crate) async fn ended(&self, run: &RunId) -> Result<RunLife, BackendError> {
        let mut tries = 0;
        loop {
            if let Ok(docker) = self.engine.docker(LONG).await {
                let mut waiting =
                    Box::pin(docker.wait_container(&container_name(run), None::<WaitContainerOptions>));
                // Whatever it says, or if the connection breaks: how it is now is what counts.
                let _ = waiting.next().await;
            }
            match self.life(run).await {
                Ok(RunLife::Running) => tries = 0,
                Ok(life) => return Ok(life),
                Err(error) if tries == TRIES => return Err(error),
                Err(_) => tries += 1,
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// How a run's container is.
    pub(crate) async fn life(&self, run: &RunId) -> Result<RunLife, BackendError> {
        use ContainerStateStatusEnum as Status;
        let docker = self.engine.docker(LONG).await?;
        let name = container_name(run);
        let found = match within(ASK, docker.inspect_container(&name, None::<InspectContainerOptions>)).await
        {
            Err(trouble) if trouble.is_missing() => return Ok(RunLife::Absent),
            found => found.map_err(|trouble| self.engine.told(&format!("look at {name}"), trouble))?,
        };
        let labels = found.config.and_then(|config| config.labels).unwrap_or_default();
        if labels.get(labels::RUN).map(String::as_str) != Some(run.as_str()) {
            // Somebody else's, which happens to be called so.
            return Ok(RunLife::Absent);
        }
        let state = found.state.unwrap_or_default();
        Ok(match state.status {
            None | Some(Status::EMPTY | Status::CREATED) => RunLife::Unstarted,
            Some(Status::RUNNING | Status::PAUSED | Status::RESTARTING | Status::STOPPING) => {
                RunLife::Running
            }
            Some(Status::EXITED | Status::DEAD | Status::REMOVING) => RunLife::Ended {
                exit_code: state.exit_code.and_then(|code| i32::try_from(code).ok()).unwrap_or(1),
                oom: state.oom_killed == Some(true),
            },
        })
    }

    /// Whether a program is in a run's container, looked for where its environment says. Not knowing counts as yes.
    pub(crate) async fn has_program(&self, spec: &RunSpec) -> bool {
        let found = async {
            let docker = self.engine.docker(LONG).await.ok()?;
            let (run, program) = (spec.run.run(), spec.words.first()?);
            if program.contains('/') {
                let path = Path::new(&spec.plan.workdir).join(program);
                return self.has(&docker, run, path.to_str()?).await.ok();
            }
            let name = container_name(run);
            let inspected = within(ASK, docker.inspect_container(&name, None::<InspectContainerOptions>));
            let env = inspected.await.ok()?.config?.env?;
            let path = env.iter().rev().find_map(|variable| variable.strip_prefix("PATH="))?;
            for dir in path.split(':').filter(|dir| dir.starts_with('/')) {
                if self.has(&docker, run, &format!("{dir}/{program}")).await.ok()? {
                    return Some(true);
                }
            }
            Some(false)
        };
        found.await.unwrap_or(true)
    }

    /// Runs another program in a run's container; what it prints to standard output.
    pub(crate) async fn ask(self, run: RunId, words: Vec<String>) -> Option<Vec<u8>> {
        let answer = async {
            let docker = self.engine.docker(SHORT).await.ok()?;
            let options = CreateExecOptions {
                attach_stdout: Some(true),
                attach_stderr: Some(true),
                tty: Some(false),
                cmd: Some(words),
                ..CreateExecOptions::default()
            };
            let exec = within(ASK, docker.create_exec(&container_name(&run), options)).await.ok()?;
            let options = StartExecOptions { detach: false, tty: false, output_capacity: None };
            let started = within(ASK, docker.start_exec(&exec.id, Some(options))).await.ok()?;
            let StartExecResults::Attached { mut output, .. } = started else { return None };
            let mut said = Vec::new();
            while let Some(Ok(piece)) = output.next().await {
                if let LogOutput::StdOut { message } = piece {
                    said.extend_from_slice(&message[..message.len().min(ANSWER_LEN - said.len())]);
                }
                if said.len() == ANSWER_LEN {
                    break;
                }
            }
            // A program that is not there, or knows no version, says something else.
            let ended = within(ASK, docker.inspect_exec(&exec.id)).await.ok()?;
            (ended.exit_code.unwrap_or(0) == 0).then_some(said)
        };
        tokio::time::timeout(ANSWER_LIMIT, answer).await.ok().flatten()
    }

    /// Sends a signal to a run's first process, which passes it on. One that has ended takes none.
    pub(crate) async fn signal(&self, run: &RunId, signal: &str) {
        let Ok(docker) = self.engine.docker(LONG).await else { return };
        let options = KillContainerOptionsBuilder::new().signal(signal).build();
        let _ = within(ASK, docker.kill_container(&container_name(run), Some(options))).await;
    }

    /// Takes away everything of a run; how its container was. With a grace it is asked to end first.
    pub(crate) async fn remove(&self, run: &RunId, grace: Option<Duration>) -> Result<RunLife, BackendError> {
        let life = self.life(run).await?;
        let docker = self.engine.docker(LONG).await?;
        if let Some(grace) = grace.filter(|_| life == RunLife::Running) {
            let seconds = i32::try_from(grace.as_secs()).unwrap_or(i32::MAX);
            let options = StopContainerOptionsBuilder::new().t(seconds).build();
            // By force, then.
            let _ = within(CHANGE, docker.stop_container(&container_name(run), Some(options))).await;
        }
        let (filter, begin) = (labels::having(labels::RUN, run.as_str()), Instant::now());
        let told = |what: &str, trouble| {
            self.engine.told(&format!("remove the {what} {}", container_name(run)), trouble)
        };
        remove::remove_containers(&docker, &filter, begin)
            .await
            .map_err(|trouble| told("container", trouble))?;
        remove::remove_networks(&docker, &filter, begin).await.map_err(|trouble| told("network", trouble))?;
        Ok(life)
    }

    /// The runs with records below this root of which something is on the engine.
    pub(crate) async fn runs(&self, root: &Path) -> Result<BTreeSet<RunId>, BackendError> {
        let docker = self.engine.docker(SHORT).await?;
        let filter = labels::having(labels::ROOT, &real(root));
        let containers = ListContainersOptionsBuilder::new().all(true).filters(&filter).build();
        let networks = ListNetworksOptionsBuilder::new().filters(&filter).build();
        let listed = tokio::try_join!(
            within(ASK, docker.list_containers(Some(containers))),
            within(ASK, docker.list_networks(Some(networks))),
        );
        let (containers, networks) =
            listed.map_err(|trouble| self.engine.told("list what runs left", trouble))?;
        let containers = containers.into_iter().filter_map(|found| found.labels);
        let networks = networks.into_iter().filter_map(|found| found.labels);
        let runs = containers.chain(networks).filter_map(|labels| labels.get(labels::RUN)?.parse().ok());
        Ok(runs.collect())
    }
}

impl RunSpec {
    /// Whether a network is made for it.
    pub(crate) fn has_own_network(&self) -> bool {
        container::has_own_network(&self.plan)
    }

    /// What is written on everything that is made for it.
    pub(super) fn labels(&self) -> labels::Labels {
        let mut labels = labels::Labels::from([
            (labels::RUN.to_owned(), self.run.run().to_string()),
            (labels::ROOT.to_owned(), real(self.run.task().root())),
            (labels::VERSION.to_owned(), labels::OWN_VERSION.to_owned()),
        ]);
        if let Some(role) = &self.plan.role {
            labels.insert(labels::ROLE.to_owned(), role.to_string());
        }
        labels
    }
}

/// The name of a run's container, and of its network. No instance's has a dot in it.
pub(crate) fn container_name(run: &RunId) -> String {
    format!("jackin-run.{run}")
}

/// A directory by the one name that everybody has for it.
fn real(dir: &Path) -> String {
    dir.canonicalize().unwrap_or_else(|_| dir.to_owned()).to_string_lossy().into_owned()
}
