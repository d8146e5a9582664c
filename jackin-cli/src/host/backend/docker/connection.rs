//! The connection to an engine: made when it is needed, limited in time, with errors that say what to do.

use std::error::Error as _;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use bollard::errors::Error;
use bollard::{API_DEFAULT_VERSION, Docker};
use tokio::sync::{Mutex, OnceCell};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::super::BackendError;
use super::engine::Address;
use super::tunnel;
use crate::config::HostConfig;

/// How long an engine may take to say that it is there, when somebody waits for a list.
pub(super) const SHORT: Duration = Duration::from_millis(1_500);

/// How long it may take before something is made on it: a connection over ssh needs its time.
pub(super) const LONG: Duration = Duration::from_secs(20);

/// How long an answer is worth believing that the engine is there.
const FRESH: Duration = Duration::from_secs(2);

/// How long a call may take that only asks.
pub(super) const ASK: Duration = Duration::from_secs(10);

/// How long a call may take that changes something.
pub(super) const CHANGE: Duration = Duration::from_secs(60);

/// The longest that a request waits for its answer to begin, whoever waits.
const REQUEST: u64 = 120;

/// An engine, by its address.
#[derive(Debug)]
pub(super) struct Connection {
    /// The operator's name for it.
    name: String,
    /// Where it is, or why that is not known.
    address: Result<Address, String>,
    docker: OnceCell<Docker>,
    probe: Mutex<Probe>,
    facts: OnceCell<Facts>,
}

/// Whether the engine is there.
#[derive(Debug, Default)]
struct Probe {
    answered: Option<Instant>,
    /// A question that goes on although whoever asked it went away: a connection that takes long is made after all. Since
    /// when it waits for an answer counts for all who ask meanwhile.
    asked: Option<(Instant, JoinHandle<Result<(), Error>>)>,
}

/// What an engine says of itself.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// Its processors, as the kernel calls them.
    pub(super) arch: String,
    /// Containers run without root's rights: their root is the operator.
    pub(super) rootless: bool,
    /// Users of containers have other numbers outside.
    pub(super) remapped: bool,
    /// Files are labelled, and containers may use those with their own label only.
    pub(super) selinux: bool,
    /// It runs in a virtual machine, which shares files but no sockets.
    pub(super) desktop: bool,
}

/// Why a call failed.
#[derive(Debug)]
pub(super) enum Trouble {
    /// There was no answer in time.
    Slow(Duration),
    /// The engine said no.
    Refused(u16, String),
    /// There was no answer that makes sense.
    Broken(Error),
}

impl Trouble {
    /// Whether the engine says that there is no such thing.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::Refused(404, _))
    }

    /// Whether the engine says that something stands in the way.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused(409, _))
    }
}

/// Makes a call that has its time.
pub(super) async fn within<T>(
    limit: Duration,
    call: impl Future<Output = Result<T, Error>>,
) -> Result<T, Trouble> {
    match timeout(limit, call).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(Error::DockerResponseServerError { status_code, message })) => {
            Err(Trouble::Refused(status_code, message))
        }
        Ok(Err(error)) => Err(Trouble::Broken(error)),
        Err(_) => Err(Trouble::Slow(limit)),
    }
}

impl Connection {
    /// The engine of a host, or this machine's. Nothing is asked of it yet.
    pub(super) fn new(name: &str, host: Option<&HostConfig>) -> Self {
        let address = Address::find(host, |name| std::env::var(name).ok());
        Self {
            name: name.to_owned(),
            address,
            docker: OnceCell::new(),
            probe: Mutex::default(),
            facts: OnceCell::new(),
        }
    }

    /// The operator's name for it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where it answers; why nobody knows, where nobody does.
    pub(super) fn address(&self) -> Result<String, BackendError> {
        let address = self.address.as_ref().map_err(|why| BackendError::Impossible(self.explain(why)))?;
        Ok(address.to_string())
    }

    /// The socket of this machine that it is reached at.
    pub(super) fn socket(&self) -> Option<&Path> {
        match &self.address {
            Ok(Address::Unix(path)) => Some(path),
            _ => None,
        }
    }

    /// How long it may take when one of its instances is meant: who cannot wait for a login has a limit of their own.
    pub(super) fn patience(&self) -> Duration {
        if matches!(self.address, Ok(Address::Ssh(_))) { LONG } else { SHORT }
    }

    /// The engine, if it answers soon.
    pub(super) async fn docker(&self, patience: Duration) -> Result<Docker, BackendError> {
        let docker = self.docker.get_or_try_init(|| async { self.open() }).await?.clone();
        let begin = Instant::now();
        let Ok(mut probe) = timeout(patience, self.probe.lock()).await else {
            return Err(self.told("ask", Trouble::Slow(patience)));
        };
        if probe.answered.is_some_and(|at| at.elapsed() < FRESH) {
            return Ok(docker);
        }
        let (since, asked) = probe.asked.get_or_insert_with(|| {
            let docker = docker.clone();
            let asked = tokio::spawn(async move {
                let ping = timeout(LONG, docker.ping()).await;
                ping.unwrap_or(Err(Error::RequestTimeoutError)).map(drop)
            });
            (Instant::now(), asked)
        });
        let Ok(answer) = timeout_at((*since).min(begin) + patience, asked).await else {
            return Err(self.told("ask", Trouble::Slow(patience)));
        };
        probe.asked = None;
        match answer {
            Ok(Ok(())) => {
                probe.answered = Some(Instant::now());
                Ok(docker)
            }
            // A proxy, or another server.
            Ok(Err(Error::DockerResponseServerError { status_code, message })) => {
                let said = format!("{status_code} {}", message.trim());
                let why = format!("what answers there says {:?}: is that a Docker engine?", said.trim_end());
                Err(BackendError::Unreachable { what: self.engine(), why })
            }
            Ok(Err(error)) => Err(self.told("ask", Trouble::Broken(error))),
            // The runtime that it ran on is gone.
            Err(_) => Err(self.told("ask", Trouble::Slow(begin.elapsed()))),
        }
    }

    fn open(&self) -> Result<Docker, BackendError> {
        let address = self.address.as_ref().map_err(|why| BackendError::Impossible(self.explain(why)))?;
        let opened = match address {
            Address::Unix(path) => {
                Docker::connect_with_unix(&path.to_string_lossy(), REQUEST, API_DEFAULT_VERSION)
            }
            Address::Http(at) => {
                Docker::connect_with_http(&format!("tcp://{at}"), REQUEST, API_DEFAULT_VERSION)
            }
            Address::Ssh(at) => {
                let to = tunnel::Destination::parse(at);
                tunnel::connect(to.map_err(|why| BackendError::Impossible(self.explain(&why)))?, REQUEST)
            }
            Address::Tls(at, dir) => {
                let [key, cert, ca] = ["key.pem", "cert.pem", "ca.pem"].map(|file| dir.join(file));
                if let Some(missing) = [&ca, &cert, &key].into_iter().find(|file| !file.exists()) {
                    let why =
                        format!("there is no {}: TLS needs ca.pem, cert.pem and key.pem", missing.display());
                    return Err(BackendError::Impossible(self.explain(&why)));
                }
                // Another part of the program may have chosen one already, which is as good.
                let _ = rustls::crypto::ring::default_provider().install_default();
                Docker::connect_with_ssl(at, &key, &cert, &ca, REQUEST, API_DEFAULT_VERSION)
            }
        };
        opened.map_err(|error| self.told("reach", Trouble::Broken(error)))
    }

    fn explain(&self, why: &str) -> String {
        format!("the Docker engine {} cannot be used: {why}", self.name)
    }

    /// What the engine says of itself; asked once.
    pub(super) async fn facts(&self, docker: &Docker) -> Result<&Facts, BackendError> {
        self.facts
            .get_or_try_init(|| async {
                let asked = within(ASK, docker.info()).await;
                let info = asked.map_err(|trouble| self.told("ask the engine about itself", trouble))?;
                if let Some(os) = info.os_type.filter(|os| os != "linux") {
                    let why = format!("it runs containers for {os}, and the capsule is a Linux program");
                    return Err(BackendError::Impossible(self.explain(&why)));
                }
                let options = info.security_options.unwrap_or_default();
                let has =
                    |name: &str| options.iter().any(|option| option.split(',').any(|part| part == name));
                Ok(Facts {
                    arch: info.architecture.unwrap_or_default(),
                    rootless: has("name=rootless"),
                    remapped: has("name=userns"),
                    selinux: has("name=selinux"),
                    desktop: info.operating_system.is_some_and(|name| name.contains("Docker Desktop")),
                })
            })
            .await
    }

    fn engine(&self) -> String {
        let at = self.address.as_ref().map_or_else(|_| self.name.clone(), ToString::to_string);
        format!("the Docker engine at {at}")
    }

    /// What failed, for people, with what they can do about it.
    pub(super) fn told(&self, what: &str, trouble: Trouble) -> BackendError {
        let engine = self.engine();
        let unreachable = |why: String| BackendError::Unreachable { what: engine.clone(), why };
        match trouble {
            Trouble::Slow(limit) => unreachable(format!("nothing came within {:.1} s", limit.as_secs_f32())),
            Trouble::Refused(_, message) => BackendError::failed(what, hinted(message)),
            Trouble::Broken(Error::RequestTimeoutError) => {
                unreachable("the connection could not be made in time".to_owned())
            }
            Trouble::Broken(Error::SocketNotFoundError(path)) => {
                unreachable(format!("there is no socket {path}: {START}"))
            }
            Trouble::Broken(error) => match kind(&error) {
                Some(ErrorKind::PermissionDenied) => unreachable(
                    "you may not use its socket: join the group docker (`sudo usermod -aG docker $USER`) and log in again"
                        .to_owned(),
                ),
                Some(ErrorKind::NotFound | ErrorKind::ConnectionRefused) if self.socket().is_some() => {
                    unreachable(format!("nobody listens there: {START}"))
                }
                Some(_) => unreachable(deepest(&error)),
                None if is_connecting(&error) => unreachable(deepest(&error)),
                None => BackendError::failed(what, deepest(&error)),
            },
        }
    }
}

const START: &str = "start Docker (`sudo systemctl start docker`), or name another engine with DOCKER_HOST or `docker context use`";

/// Adds to what the engine says what can be done about it.
fn hinted(message: String) -> String {
    let hints = [
        (
            "address pool",
            "remove networks that nobody needs (`docker network prune`), or give the role `network = \"none\"`",
        ),
        ("exec format error", "the image, or the capsule, is for other processors than the engine has"),
        ("docker-init", "install it on the engine's machine (it comes with Docker, or as tini)"),
        ("no space left", "make room (`docker system df` shows what takes it)"),
        ("port is already allocated", "something else listens at that port: stop it first"),
        ("Range of CPUs", "lower `cpus` in the role's limits"),
        ("Minimum memory limit", "raise `memory` in the role's limits"),
    ];
    match hints.iter().find(|(part, _)| message.contains(part)) {
        Some((_, hint)) => format!("{}: {hint}", message.trim_end_matches('.')),
        None => message,
    }
}

/// The kind of the system's error at the bottom of another.
fn kind(error: &Error) -> Option<ErrorKind> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            return Some(error.kind());
        }
        next = error.source();
    }
    None
}

/// Whether a connection could not be made, for another reason than the system's.
fn is_connecting(error: &Error) -> bool {
    matches!(error, Error::HyperLegacyError { err } if err.is_connect())
}

/// What is at the bottom of an error: above it stands only that something failed.
fn deepest(error: &Error) -> String {
    let mut told = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        told = error.to_string();
        next = error.source();
    }
    told
}
