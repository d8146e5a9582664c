//! A backend with directories of its own, and the engine's word on what it made.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use jackin_cli::backend::{Backend, BackendError, DockerBackend, Life, Plan, Secrets};
use jackin_cli::client::Client;
use jackin_cli::config::{BackendKind, HostConfig, Paths};
use jackin_core::protocol::control::{Request, Status};
use jackin_core::{InstanceName, SessionId};
use serde_json::Value;
use tempfile::TempDir;

use crate::docker::{bare_image, docker};

const DEADLINE: Duration = Duration::from_secs(60);

/// A backend; what it made goes with this value.
pub(crate) struct Bench {
    dir: TempDir,
    pub(crate) paths: Paths,
    pub(crate) backend: DockerBackend,
    made: RefCell<Vec<InstanceName>>,
}

impl Bench {
    /// One on this machine's engine; none, with a message, where something is missing.
    pub(crate) fn new() -> Option<Self> {
        Self::on("docker", None)
    }

    /// One on another engine.
    pub(crate) fn on(name: &str, host: Option<&HostConfig>) -> Option<Self> {
        let (_, capsule) = bare_image()?;
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::new(dir.path().join("home"), dir.path().join("config"));
        let cache = paths.cache().join(env!("CARGO_PKG_VERSION")).join(std::env::consts::ARCH);
        fs::create_dir_all(&cache).unwrap();
        symlink(fs::canonicalize(capsule).unwrap(), cache.join("jackin-capsule")).unwrap();
        let backend = DockerBackend::connect(name, host, paths.clone()).unwrap();
        Some(Self { dir, paths, backend, made: RefCell::default() })
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A plan for a shell script, on no network, with a name of its own.
    pub(crate) fn plan(&self, script: &str) -> Plan {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let instance = InstanceName::new(&name).unwrap();
        self.made.borrow_mut().push(instance.clone());
        let mut plan = Plan::new(instance, BackendKind::Docker, "tests", "/workspace");
        plan.image = Some(bare_image().unwrap().0.name().to_owned());
        plan.network = Some("none".to_owned());
        plan.command = ["sh", "-c", script].map(ToOwned::to_owned).to_vec();
        plan
    }

    pub(crate) async fn create(&self, plan: &Plan) -> Vec<String> {
        self.try_create(plan).await.unwrap()
    }

    /// The steps that were told on the way.
    pub(crate) async fn try_create(&self, plan: &Plan) -> Result<Vec<String>, BackendError> {
        let mut steps = Vec::new();
        let mut step = |text: &str| steps.push(text.to_owned());
        self.backend.create(plan, &Secrets::default(), &mut step).await?;
        Ok(steps)
    }

    /// A client by the way that the backend chooses.
    pub(crate) async fn client(&self, instance: &InstanceName) -> Client {
        Client::over(self.backend.open(instance).await.unwrap()).await.unwrap()
    }

    pub(crate) async fn status(&self, instance: &InstanceName) -> Status {
        self.client(instance).await.call(Request::Status {}).await.unwrap()
    }

    /// Waits until the instance is not running any more.
    pub(crate) async fn end(&self, instance: &InstanceName) -> Life {
        let begin = std::time::Instant::now();
        loop {
            let life = self.backend.inspect(instance).await.unwrap();
            if life != Life::Running {
                return life;
            }
            assert!(begin.elapsed() < DEADLINE, "{instance} does not end");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for instance in self.made.borrow().iter() {
            for (list, remove) in [
                (["ps", "-aq"].as_slice(), ["rm", "-fv"].as_slice()),
                (&["network", "ls", "-q"], &["network", "rm"]),
                (&["volume", "ls", "-q"], &["volume", "rm"]),
            ] {
                for id in listed(instance, list) {
                    docker([remove, &[id.as_str()]].concat());
                }
            }
        }
    }
}

fn listed(instance: &InstanceName, list: &[&str]) -> Vec<String> {
    let filter = format!("label=jackin.instance={instance}");
    let output = docker([list, &["--filter", &filter]].concat());
    String::from_utf8(output.stdout).unwrap().lines().map(ToOwned::to_owned).collect()
}

/// Everything that the engine has of an instance: containers, networks, volumes.
pub(crate) fn things(instance: &InstanceName) -> Vec<String> {
    [["ps", "-aq"].as_slice(), &["network", "ls", "-q"], &["volume", "ls", "-q"]]
        .into_iter()
        .flat_map(|list| listed(instance, list))
        .collect()
}

/// The container's name.
pub(crate) fn container(plan: &Plan) -> String {
    format!("jackin-{}", plan.instance)
}

/// What the engine says of a container, raw.
pub(crate) fn raw_inspect(name: &str) -> String {
    let output = docker(["inspect", name]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn inspect(name: &str) -> Value {
    serde_json::from_str::<Value>(&raw_inspect(name)).unwrap()[0].take()
}

/// What a script in a container prints, as the agents' user, whose home root may not look into.
pub(crate) fn as_agent(name: &str, script: &str) -> String {
    let script = format!("HOME=/home/agent; {script}");
    let output = docker(["exec", "--user", "1000", name, "sh", "-c", &script]);
    String::from_utf8(output.stdout).unwrap()
}

/// What a command in a container prints, as its root.
pub(crate) fn exec(name: &str, command: &[&str]) -> String {
    let output = docker([&["exec", name], command].concat());
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Types into a session, whatever it does.
pub(crate) async fn send(bench: &Bench, plan: &Plan, session_id: SessionId, text: &str) {
    let text = text.to_owned();
    let request = Request::SessionSend { session_id, text, submit: true, force: true, wait_ms: None };
    bench.client(&plan.instance).await.call::<Value>(request).await.unwrap();
}
