//! Instances as processes in the background of this machine. It needs nothing installed, and there is no wall around
//! the agents: they are the operator's own processes.

mod orphans;

use std::fs;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use jackin_core::InstanceName;
use jackin_core::protocol::control::{Done, Request, Status};
use notify::{RecursiveMode, Watcher};
use rustix::process::Pid;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use super::{Backend, BackendError, ByteStream, Changes, Ending, Found, Life, Steps};
use crate::capsule::{EndRecord, SpawnOptions, spawn_daemon};
use crate::client::Client;
use crate::config::Paths;
use crate::host::manifest::{Manifests, private_dir, write_atomically};
use crate::host::plan::{Plan, Secrets};
use crate::host::skills;

/// How long a capsule may take to end its sessions before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// How long a capsule that hangs may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// How often is looked whether a capsule has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// The backend of this machine.
#[derive(Clone, Debug)]
pub struct LocalBackend {
    paths: Paths,
}

impl LocalBackend {
    /// Instances in the operator's directories.
    pub fn new(paths: Paths) -> Self {
        Self { paths }
    }

    async fn give_skills(&self, plan: &Plan, step: &mut Steps<'_>) -> Result<(), BackendError> {
        if plan.skills.is_empty() {
            return Ok(());
        }
        step("copying skills");
        let (paths, plan) = (self.paths.clone(), plan.clone());
        // Another command may have the lock.
        let given = tokio::task::spawn_blocking(move || {
            let found = skills::find(&paths, &plan.skills);
            let found = found.map_err(|error| BackendError::Impossible(error.to_string()))?;
            skills::give(&paths, &plan, &found).map_err(|error| BackendError::failed("copy skills", error))
        });
        let told = given.await.map_err(|error| BackendError::failed("copy skills", error))??;
        for line in &told {
            step(line);
        }
        Ok(())
    }

    /// A capsule that came to write down how it ended has looked after its sessions.
    async fn end_orphans(&self, instance: &InstanceName) -> Result<(), BackendError> {
        let (run, state) = (self.paths.run_dir(instance), self.paths.state_dir(instance));
        if !run.exists() || state.join(END_RECORD).exists() {
            return Ok(());
        }
        let name = instance.clone();
        let ended = tokio::task::spawn_blocking(move || orphans::end(&name, &run)).await;
        ended.map_err(|error| BackendError::failed(format!("end what {instance} left running"), error))
    }

    fn ending(&self, instance: &InstanceName) -> Ending {
        let file = self.paths.state_dir(instance).join(END_RECORD);
        let record = fs::read(file).ok().and_then(|json| serde_json::from_slice::<EndRecord>(&json).ok());
        Ending { exit_code: record.as_ref().map(|record| record.exit_code), oom: false, record }
    }

    /// The capsule's process, while it runs. One whose launcher was killed has not been written down; its command line
    /// names its socket all the same.
    fn process(&self, instance: &InstanceName) -> Option<Pid> {
        let written = fs::read_to_string(self.paths.run_dir(instance).join(PID_FILE)).ok();
        let written = written.and_then(|text| Pid::from_raw(text.trim().parse().ok()?));
        if !Path::new("/proc/self").exists() {
            // The number has to do.
            return written.filter(|pid| rustix::process::test_kill_process(*pid).is_ok());
        }
        let socket = self.paths.socket(instance);
        let is_ours = |pid: &Pid| names(*pid, socket.as_os_str().as_encoded_bytes());
        match written {
            Some(pid) => Some(pid).filter(is_ours),
            None => all_processes().find(is_ours),
        }
    }
}

fn all_processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// Whether a process is a capsule's daemon with this word on its command line.
fn names(pid: Pid, word: &[u8]) -> bool {
    let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    let mut words = line.split(|byte| *byte == 0);
    words.any(|found| found == b"daemon") && words.any(|found| found == word)
}

/// How much of a capsule's log is read: the end of it.
const LONGEST_LOG: u64 = 16 << 20;

/// What a capsule writes down at its end.
const END_RECORD: &str = "exit.json";

/// The number of the capsule's process.
const PID_FILE: &str = "capsule.pid";

/// The instance that a changed file tells of: its record, or something in its run directory. Locks tell of nothing, and
/// whoever looks after an instance takes one.
fn instance_of(path: &Path, sockets: &Path) -> Option<InstanceName> {
    let name = match path.strip_prefix(sockets) {
        Ok(below) => below.iter().next()?.to_str()?,
        Err(_) if path.extension()? == "toml" => path.file_stem()?.to_str()?,
        Err(_) => return None,
    };
    InstanceName::new(name).ok()
}

/// How often a directory is removed in which a process that is ending still writes.
const TRIES: u32 = 50;

async fn remove_dir(dir: &Path) -> std::io::Result<()> {
    for _ in 0..TRIES {
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => tokio::time::sleep(PAUSE).await,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            done => return done,
        }
    }
    fs::remove_dir_all(dir)
}

fn failed(what: &str, path: &Path, why: &std::io::Error) -> BackendError {
    BackendError::failed(format!("{what} {}", path.display()), why)
}

#[async_trait]
impl Backend for LocalBackend {
    async fn create(&self, plan: &Plan, secrets: &Secrets, step: &mut Steps<'_>) -> Result<(), BackendError> {
        if !plan.mounts.is_empty() || !plan.sidecars.is_empty() || plan.image.is_some() {
            let what =
                "mounts, sidecars and images need a container: add --backend docker, or leave them out";
            return Err(BackendError::Impossible(what.to_owned()));
        }
        let (run, state) = (self.paths.run_dir(&plan.instance), self.paths.state_dir(&plan.instance));
        for dir in [&run, &state] {
            private_dir(dir).map_err(|error| failed("make", dir, &error))?;
        }
        let config = run.join("agent.toml");
        let text = toml::to_string(&plan.agent_file(secrets))
            .map_err(|error| BackendError::failed("write agent.toml", error))?;
        write_atomically(&config, text.as_bytes()).map_err(|error| failed("write", &config, &error))?;
        self.give_skills(plan, step).await?;
        step("starting the capsule");
        let options = SpawnOptions {
            instance: Some(plan.instance.clone()),
            socket: Some(self.paths.socket(&plan.instance)),
            no_chrome: false,
            command: plan.command.clone(),
            config: Some(config),
            state: Some(state),
            env: plan.env.clone(),
            cwd: Some(PathBuf::from(&plan.workdir)),
        };
        let started = tokio::task::spawn_blocking(|| spawn_daemon(options)).await;
        let daemon = started
            .map_err(|error| BackendError::failed("start the capsule", error))?
            .map_err(|error| BackendError::Impossible(format!("{error:#}")))?;
        let file = run.join(PID_FILE);
        write_atomically(&file, daemon.id().to_string().as_bytes())
            .map_err(|error| failed("write", &file, &error))
    }

    async fn list(&self) -> Result<Vec<Found>, BackendError> {
        let (manifests, _) = Manifests::new(&self.paths).list();
        let mut found = Vec::new();
        for manifest in manifests {
            let plan = manifest.plan;
            if plan.backend == crate::config::BackendKind::Local {
                let life = self.inspect(&plan.instance).await?;
                found.push(Found { instance: plan.instance.clone(), plan: Some(plan), life });
            }
        }
        Ok(found)
    }

    async fn inspect(&self, instance: &InstanceName) -> Result<Life, BackendError> {
        let (run, state) = (self.paths.run_dir(instance), self.paths.state_dir(instance));
        let begin = tokio::time::Instant::now();
        loop {
            let answers = UnixStream::connect(self.paths.socket(instance)).await.is_ok();
            let runs = answers || self.process(instance).is_some();
            // One that wrote down how it ended needs a moment more, and tells nobody when that is over.
            let is_ending = !answers && runs && state.join(END_RECORD).exists() && begin.elapsed() < ANSWER;
            match (runs, is_ending) {
                (false, _) => break,
                (true, false) => return Ok(Life::Running),
                (true, true) => tokio::time::sleep(PAUSE).await,
            }
        }
        if run.join(PID_FILE).exists() {
            return Ok(Life::Ended(self.ending(instance)));
        }
        Ok(if run.exists() || state.exists() { Life::Unfinished } else { Life::Absent })
    }

    async fn open(&self, instance: &InstanceName) -> Result<Box<dyn ByteStream>, BackendError> {
        match UnixStream::connect(self.paths.socket(instance)).await {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(match self.inspect(instance).await? {
                Life::Absent | Life::Unfinished => BackendError::NotFound(instance.clone()),
                Life::Ended(ending) => {
                    BackendError::Ended { instance: instance.clone(), ending: Box::new(ending) }
                }
                Life::Running => BackendError::failed(format!("reach the capsule of {instance}"), error),
            }),
        }
    }

    async fn socket(&self, instance: &InstanceName) -> Option<PathBuf> {
        Some(self.paths.socket(instance))
    }

    async fn log(&self, instance: &InstanceName) -> Result<Option<Vec<u8>>, BackendError> {
        if self.inspect(instance).await? == Life::Absent {
            return Err(BackendError::NotFound(instance.clone()));
        }
        let path = self.paths.socket(instance).with_extension("log");
        let mut text = Vec::new();
        let read = fs::File::open(&path).and_then(|mut file| {
            let len = file.metadata()?.len();
            file.seek(SeekFrom::Start(len.saturating_sub(LONGEST_LOG)))?;
            file.take(LONGEST_LOG).read_to_end(&mut text)
        });
        match read {
            Ok(_) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", &path, &error)),
        }
    }

    async fn stop(&self, instance: &InstanceName) -> Result<(), BackendError> {
        let process = self.process(instance);
        let asked = async {
            let mut client = Client::connect(self.paths.socket(instance)).await?;
            client.call::<Status>(Request::Status {}).await?;
            client.call::<Done>(Request::Shutdown {}).await
        };
        // One that cannot be asked, because it hangs or has only just been started, is told by a signal.
        if !matches!(tokio::time::timeout(ANSWER, asked).await, Ok(Ok(_)))
            && let Some(pid) = process
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let begin = tokio::time::Instant::now();
        while self.inspect(instance).await? == Life::Running {
            if begin.elapsed() > GRACE {
                let Some(pid) = process else {
                    let what = format!("end the capsule of {instance}");
                    return Err(BackendError::failed(what, "it does not end, and its process is not known"));
                };
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    async fn remove(&self, instance: &InstanceName) -> Result<(), BackendError> {
        if self.inspect(instance).await? == Life::Running {
            self.stop(instance).await?;
        }
        self.end_orphans(instance).await?;
        if let Ok(Some(manifest)) = Manifests::new(&self.paths).read(instance) {
            let taken = skills::take_away(&self.paths, &manifest.plan);
            taken.map_err(|error| BackendError::failed("take its skills away", error))?;
        }
        for dir in [self.paths.run_dir(instance), self.paths.state_dir(instance)] {
            remove_dir(&dir).await.map_err(|error| failed("remove", &dir, &error))?;
        }
        Ok(())
    }

    async fn watch(&self) -> Result<Changes, BackendError> {
        let dir = self.paths.home().join("sockets");
        let instances = self.paths.instances();
        for dir in [&dir, &instances] {
            private_dir(dir).map_err(|error| failed("make", dir, &error))?;
        }
        let (changed, mut changes) = mpsc::unbounded_channel::<InstanceName>();
        let below = dir.clone();
        let told = move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            if matches!(event.kind, notify::EventKind::Access(_)) {
                return;
            }
            for instance in event.paths.iter().filter_map(|path| instance_of(path, &below)) {
                // Nobody listens any more: the watcher goes with the stream.
                let _ = changed.send(instance);
            }
        };
        let watching = notify::recommended_watcher(told).and_then(|mut watcher| {
            watcher.watch(&dir, RecursiveMode::Recursive)?;
            watcher.watch(&instances, RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        let watcher =
            watching.map_err(|error| BackendError::failed(format!("watch {}", dir.display()), error))?;
        Ok(Box::pin(futures_util::stream::poll_fn(move |context| {
            // The watcher lives as long as whoever listens.
            let _ = &watcher;
            changes.poll_recv(context)
        })))
    }
}
