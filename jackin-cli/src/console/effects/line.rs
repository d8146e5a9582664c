//! One lasting connection to each instance's capsule. Calls go one after another; one that hangs is given up, and the
//! connection with it.

use std::collections::BTreeMap;
use std::time::Duration;

use jackin_core::InstanceName;
use jackin_core::protocol::control::Request;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::client::{Client, ClientError};
use crate::console::update::Unanswered;
use crate::host::Fleet;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many calls may wait for an instance; the operator is told of those beyond.
const WAITING: usize = 64;

/// How long a connection is kept that nobody uses.
const UNUSED: Duration = Duration::from_secs(120);

struct Asked {
    request: Request,
    answer: oneshot::Sender<Result<Value, Unanswered>>,
}

/// The connections.
pub(super) struct Lines {
    fleet: Fleet,
    lines: BTreeMap<InstanceName, mpsc::Sender<Asked>>,
}

impl Lines {
    pub(super) fn new(fleet: Fleet) -> Self {
        Self { fleet, lines: BTreeMap::new() }
    }

    /// Asks an instance's capsule. Nothing is waited for here.
    pub(super) fn call(
        &mut self,
        instance: &InstanceName,
        request: Request,
    ) -> impl Future<Output = Result<Value, Unanswered>> + Send + use<> {
        let (answer, answered) = oneshot::channel();
        let mut asked = Some(Asked { request, answer });
        if let Some(line) = self.lines.get(instance) {
            asked = match line.try_send(asked.take().expect("it was put there just now")) {
                Ok(()) => None,
                Err(mpsc::error::TrySendError::Full(_)) => None,
                // Its task has ended for want of work.
                Err(mpsc::error::TrySendError::Closed(asked)) => Some(asked),
            };
        }
        if let Some(asked) = asked {
            let (line, calls) = mpsc::channel(WAITING);
            let _ = line.try_send(asked);
            tokio::spawn(serve(self.fleet.clone(), instance.clone(), calls));
            self.lines.retain(|_, line| !line.is_closed());
            self.lines.insert(instance.clone(), line);
        }
        async {
            answered
                .await
                .unwrap_or_else(|_| Err(Unanswered::Refused("it has too much to answer already".to_owned())))
        }
    }
}

/// Takes calls until nobody has any for a while.
async fn serve(fleet: Fleet, instance: InstanceName, mut calls: mpsc::Receiver<Asked>) {
    let mut client = None;
    loop {
        let asked = if let Ok(Some(asked)) = tokio::time::timeout(UNUSED, calls.recv()).await {
            asked
        } else {
            // Whoever comes from now on opens another one; whoever came just now is still served.
            calls.close();
            match calls.recv().await {
                Some(asked) => asked,
                None => return,
            }
        };
        let Asked { request, answer } = asked;
        let outcome = tokio::time::timeout(PATIENCE, ask(&fleet, &instance, &mut client, request)).await;
        let outcome = outcome.unwrap_or_else(|_| {
            client = None;
            Err(Unanswered::Silent(format!("it does not answer within {} s", PATIENCE.as_secs())))
        });
        // Whoever asked may be gone.
        let _ = answer.send(outcome);
    }
}

async fn ask(
    fleet: &Fleet,
    instance: &InstanceName,
    kept: &mut Option<Client>,
    request: Request,
) -> Result<Value, Unanswered> {
    if let Some(client) = kept {
        match client.call(request.clone()).await {
            Ok(value) => return Ok(value),
            Err(ClientError::Refused(error)) => return Err(Unanswered::Refused(error.to_string())),
            // A capsule closes what was quiet for long; it is asked once more over a fresh one. Unless it read the
            // request, nothing was done, and a request that it did read was answered.
            Err(ClientError::Closed | ClientError::Io(_)) => *kept = None,
            Err(error) => {
                *kept = None;
                return Err(Unanswered::Silent(error.to_string()));
            }
        }
    }
    let client = kept.insert(open(fleet, instance).await.map_err(Unanswered::Silent)?);
    match client.call(request).await {
        Ok(value) => Ok(value),
        Err(ClientError::Refused(error)) => Err(Unanswered::Refused(error.to_string())),
        Err(error) => {
            *kept = None;
            Err(Unanswered::Silent(error.to_string()))
        }
    }
}

/// A fresh connection to an instance's capsule.
pub(super) async fn open(fleet: &Fleet, instance: &InstanceName) -> Result<Client, String> {
    let member = fleet.find(instance).await.map_err(|error| error.to_string())?;
    let stream = member.backend.open(instance).await.map_err(|error| error.to_string())?;
    Client::over(stream).await.map_err(|error| error.to_string())
}
