//! Reaching a capsule: at its socket where that is shared and answers, else by a bridge in its container.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use bollard::Docker;
use jackin_core::InstanceName;
use jackin_core::protocol::control::{Request, Status};
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout};

use super::bridge::Bridge;
use super::connection::{SHORT, Trouble};
use super::container::Run;
use super::life::{self, last_words};
use super::{DockerBackend, labels};
use crate::client::Client;
use crate::host::backend::{BackendError, ByteStream, Life};

/// How long a shared socket may take to answer before the bridge is used.
const ANSWER: Duration = Duration::from_millis(500);

/// How long a capsule may take to start.
const UP: Duration = Duration::from_secs(30);

/// How long a socket is given to appear before the bridge is tried as well.
const SOCKET_FIRST: Duration = Duration::from_secs(1);

const PAUSE: Duration = Duration::from_millis(20);

/// How an instance's capsule is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Socket(PathBuf),
    Bridge,
}

impl DockerBackend {
    /// How to reach an instance's capsule; a socket is tried once, and the outcome remembered.
    pub(super) async fn way(&self, instance: &InstanceName) -> Way {
        if let Some(way) = self.remembered(instance) {
            return way;
        }
        let Some(socket) = self.shared_socket(instance) else { return Way::Bridge };
        let way = if answers(&socket).await { Way::Socket(socket) } else { Way::Bridge };
        self.remember(instance, way.clone());
        way
    }

    fn remembered(&self, instance: &InstanceName) -> Option<Way> {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner).get(instance).cloned()
    }

    fn remember(&self, instance: &InstanceName, way: Way) {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner).insert(instance.clone(), way);
    }

    pub(super) fn forget(&self, instance: &InstanceName) {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner).remove(instance);
    }

    /// A stream by the remembered way, or by the bridge if that is blocked.
    pub(super) async fn reach(&self, instance: &InstanceName) -> Result<Box<dyn ByteStream>, BackendError> {
        if let Way::Socket(socket) = self.way(instance).await
            && let Ok(Ok(stream)) = timeout(ANSWER, UnixStream::connect(&socket)).await
        {
            return Ok(Box::new(stream));
        }
        self.bridge(instance).await
    }

    /// A stream by `docker exec`, which works with every engine. [`Backend::open`](super::Backend::open) takes the shorter
    /// way where there is one.
    pub async fn bridge(&self, instance: &InstanceName) -> Result<Box<dyn ByteStream>, BackendError> {
        let docker = self.engine.docker(self.engine.patience()).await?;
        match Bridge::open(&docker, &labels::container(instance)).await {
            Ok(bridge) => Ok(Box::new(bridge)),
            Err(trouble @ Trouble::Refused(..)) => {
                self.forget(instance);
                Err(match life::inspect(&self.engine, &docker, instance).await? {
                    Life::Absent | Life::Unfinished => BackendError::NotFound(instance.clone()),
                    Life::Ended(ending) => {
                        BackendError::Ended { instance: instance.clone(), ending: Box::new(ending) }
                    }
                    Life::Running => self.engine.told(&format!("reach the capsule of {instance}"), trouble),
                })
            }
            Err(trouble) => Err(self.engine.told(&format!("reach the capsule of {instance}"), trouble)),
        }
    }

    /// Waits until the capsule of a container that was started answers.
    pub(super) async fn wait_for_capsule(
        &self,
        docker: &Docker,
        instance: &InstanceName,
        run: &Run,
    ) -> Result<(), BackendError> {
        self.forget(instance);
        let begin = Instant::now();
        let name = labels::container(instance);
        let mut last = String::new();
        while begin.elapsed() < UP {
            if let Some(socket) = self.shared_socket(instance)
                && answers(&socket).await
            {
                self.remember(instance, Way::Socket(socket));
                return Ok(());
            }
            match life::inspect(&self.engine, docker, instance).await? {
                Life::Running => {}
                // Its program was done at once, which it may.
                Life::Ended(ending) if ending.record.is_some() => return Ok(()),
                Life::Ended(ending) => {
                    let words = last_words(docker, &name).await;
                    let what = format!("start the capsule of {instance}");
                    return Err(BackendError::failed(
                        what,
                        format!("it ended at once ({}){words}", ending.status()),
                    ));
                }
                Life::Absent | Life::Unfinished => {
                    let what = format!("start the capsule of {instance}");
                    return Err(BackendError::failed(what, "somebody removed its container"));
                }
            }
            if *run == Run::Inside || begin.elapsed() > SOCKET_FIRST {
                match Bridge::open(docker, &name).await {
                    Ok(bridge) => match status(bridge).await {
                        Ok(()) => {
                            self.remember(instance, Way::Bridge);
                            return Ok(());
                        }
                        Err(why) => last = why,
                    },
                    Err(trouble) => last = self.engine.told("reach it", trouble).to_string(),
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
        let words = last_words(docker, &name).await;
        let why = format!("it does not answer within {} s ({last}){words}", UP.as_secs());
        Err(BackendError::failed(format!("start the capsule of {instance}"), why))
    }
}

/// Whether a capsule answers at a socket, and soon.
async fn answers(socket: &Path) -> bool {
    let asked = async {
        let stream = UnixStream::connect(socket).await.map_err(|error| error.to_string())?;
        status(stream).await
    };
    matches!(timeout(ANSWER, asked).await, Ok(Ok(())))
}

/// Asks the capsule at the other end of a stream how it is.
async fn status(stream: impl ByteStream + 'static) -> Result<(), String> {
    let asked = async {
        let mut client = Client::over(stream).await?;
        client.call::<Status>(Request::Status {}).await
    };
    match timeout(SHORT, asked).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("no answer".to_owned()),
    }
}
