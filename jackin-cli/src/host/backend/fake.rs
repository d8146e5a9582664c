//! A backend without instances of its own: for tests of what is built upon backends.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jackin_core::InstanceName;
use tokio::net::UnixStream;
use tokio::sync::broadcast;

use super::{Backend, BackendError, ByteStream, Changes, Ending, Found, Life, Steps};
use crate::host::plan::{Plan, Secrets};

/// A backend in memory. What it was told to make is there until it is removed; its capsules are whatever the test puts
/// behind the sockets that it names.
///
/// ```
/// use jackin_cli::backend::{Backend, FakeBackend, Life, Plan, Secrets};
/// use jackin_cli::config::BackendKind;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let backend = FakeBackend::new();
/// let plan = Plan::new("api".parse()?, BackendKind::Local, "api", "/src/api");
/// backend.create(&plan, &Secrets::default(), &mut |_| {}).await?;
/// assert_eq!(backend.inspect(&plan.instance).await?, Life::Running);
/// backend.end(&plan.instance, 3);
/// assert!(matches!(backend.inspect(&plan.instance).await?, Life::Ended(ending) if ending.exit_code == Some(3)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FakeBackend {
    instances: Arc<Mutex<BTreeMap<InstanceName, (Plan, Life)>>>,
    sockets: Option<PathBuf>,
    changes: broadcast::Sender<InstanceName>,
}

impl Default for FakeBackend {
    fn default() -> Self {
        Self { instances: Arc::default(), sockets: None, changes: broadcast::channel(64).0 }
    }
}

impl FakeBackend {
    /// A backend with no instances.
    pub fn new() -> Self {
        Self::default()
    }

    /// One whose capsules listen at `INSTANCE.sock` in a directory.
    pub fn with_sockets(directory: impl Into<PathBuf>) -> Self {
        Self { sockets: Some(directory.into()), ..Self::default() }
    }

    /// Lets an instance end.
    pub fn end(&self, instance: &InstanceName, exit_code: i32) {
        let ending = Ending { exit_code: Some(exit_code), ..Ending::default() };
        if let Some((_, life)) = self.lock().get_mut(instance) {
            *life = Life::Ended(ending);
        }
        let _ = self.changes.send(instance.clone());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<InstanceName, (Plan, Life)>> {
        self.instances.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Backend for FakeBackend {
    async fn create(&self, plan: &Plan, _: &Secrets, step: &mut Steps<'_>) -> Result<(), BackendError> {
        step("pretending");
        self.lock().insert(plan.instance.clone(), (plan.clone(), Life::Running));
        let _ = self.changes.send(plan.instance.clone());
        Ok(())
    }

    async fn list(&self) -> Result<Vec<Found>, BackendError> {
        let found = |(instance, (plan, life)): (&InstanceName, &(Plan, Life))| Found {
            instance: instance.clone(),
            plan: Some(plan.clone()),
            life: life.clone(),
        };
        Ok(self.lock().iter().map(found).collect())
    }

    async fn inspect(&self, instance: &InstanceName) -> Result<Life, BackendError> {
        Ok(self.lock().get(instance).map_or(Life::Absent, |(_, life)| life.clone()))
    }

    async fn open(&self, instance: &InstanceName) -> Result<Box<dyn ByteStream>, BackendError> {
        let socket = self.socket(instance).await.ok_or_else(|| BackendError::NotFound(instance.clone()))?;
        match UnixStream::connect(&socket).await {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(BackendError::failed(format!("reach {instance}"), error)),
        }
    }

    async fn socket(&self, instance: &InstanceName) -> Option<PathBuf> {
        Some(self.sockets.as_ref()?.join(format!("{instance}.sock")))
    }

    async fn stop(&self, instance: &InstanceName) -> Result<(), BackendError> {
        self.end(instance, 0);
        Ok(())
    }

    async fn remove(&self, instance: &InstanceName) -> Result<(), BackendError> {
        self.lock().remove(instance);
        let _ = self.changes.send(instance.clone());
        Ok(())
    }

    async fn watch(&self) -> Result<Changes, BackendError> {
        let changes = self.changes.subscribe();
        Ok(Box::pin(futures_util::stream::unfold(changes, |mut changes| async {
            loop {
                match changes.recv().await {
                    Ok(instance) => return Some((instance, changes)),
                    // What was missed is found by looking at all of them.
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        })))
    }
}
