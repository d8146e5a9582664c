//! Follows all instances as they come, change and go, for whoever shows them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use jackin_core::protocol::control::{Request, Snapshot, StreamItem};
use jackin_core::{Event, InstanceName};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::backend::{Backend, Changes, Ending, Found, Life};
use super::fleet::{Fleet, PATIENCE};
use super::plan::Plan;
use crate::client::{Client, ClientError};

/// What happened in the fleet. For each instance they come in the order in which they happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FleetEvent {
    /// A host answers, or says why it does not.
    Host {
        /// Its name.
        host: String,
        /// Why it cannot be used, for people.
        problem: Option<String>,
    },
    /// An instance is there. It comes before anything else about it, and again when it was made anew.
    Appeared {
        /// The host that it is on.
        host: String,
        /// Its name.
        instance: InstanceName,
        /// How it was made, where that is known.
        plan: Option<Box<Plan>>,
    },
    /// Everything about a running instance; later events build upon it. It comes first, and whenever events were lost.
    Snapshot(Box<Snapshot>),
    /// Something happened in an instance.
    Event(Box<Event>),
    /// The instance's capsule does not answer; it is tried again.
    Silent {
        /// Which instance.
        instance: InstanceName,
        /// Why, for people.
        why: String,
    },
    /// The instance has ended and is still there, with what is left of it.
    Ended {
        /// Which instance.
        instance: InstanceName,
        /// How.
        ending: Box<Ending>,
    },
    /// The instance is gone.
    Gone {
        /// Which instance.
        instance: InstanceName,
    },
}

/// How many events wait for a slow reader. Capsules keep those beyond for a while, and say how many they had to drop.
const WAITING: usize = 1024;

/// How long is waited before something is tried again, the first time and at most.
const SOON: Duration = Duration::from_millis(200);
const LATE: Duration = Duration::from_secs(10);

/// How long the last events of an instance that ended are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Changes of a host that come together are looked at once.
const TOGETHER: Duration = Duration::from_millis(30);

impl Fleet {
    /// Follows every instance of every host until the receiver is dropped. A host or an instance that hangs holds up
    /// nobody else.
    pub fn follow(&self) -> mpsc::Receiver<FleetEvent> {
        let (events, receiver) = mpsc::channel(WAITING);
        for (host, backend) in self.hosts() {
            let (over, overs) = mpsc::unbounded_channel();
            let follower = HostFollower {
                host: host.clone(),
                backend: backend.clone(),
                events: events.clone(),
                known: BTreeMap::new(),
                over,
            };
            tokio::spawn(follower.run(overs));
        }
        receiver
    }
}

/// Nobody listens any more.
struct Unheard;

struct HostFollower {
    host: String,
    backend: Arc<dyn Backend>,
    events: mpsc::Sender<FleetEvent>,
    known: BTreeMap<InstanceName, Known>,
    /// Says that an instance seems to be over, so that the host is looked at again.
    over: mpsc::UnboundedSender<()>,
}

/// What was told of an instance.
struct Known {
    life: Life,
    /// Tells what happens in it, while it runs.
    following: Option<JoinHandle<()>>,
}

impl Drop for Known {
    fn drop(&mut self) {
        if let Some(following) = &self.following {
            following.abort();
        }
    }
}

impl HostFollower {
    async fn run(mut self, mut overs: mpsc::UnboundedReceiver<()>) {
        let mut pause = SOON;
        loop {
            let changes = match tokio::time::timeout(PATIENCE, self.begin()).await {
                Ok(Ok(changes)) => Ok(changes),
                Ok(Err(problem)) => Err(problem),
                Err(_) => Err(format!("it does not answer within {} s", PATIENCE.as_secs())),
            };
            let told = match changes {
                Ok(changes) => {
                    pause = SOON;
                    self.follow(changes, &mut overs).await
                }
                Err(problem) => {
                    self.tell(FleetEvent::Host { host: self.host.clone(), problem: Some(problem) }).await
                }
            };
            if told.is_err() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(LATE),
                () = self.events.closed() => return,
            }
        }
    }

    /// Asks for changes first, so that none is missed between the list and them.
    async fn begin(&mut self) -> Result<Changes, String> {
        self.backend.watch().await.map_err(|error| error.to_string())
    }

    /// Goes through the list now and after each change, until the host goes away.
    async fn follow(
        &mut self,
        mut changes: Changes,
        overs: &mut mpsc::UnboundedReceiver<()>,
    ) -> Result<(), Unheard> {
        loop {
            let listed = tokio::time::timeout(PATIENCE, self.backend.list()).await;
            let problem = match listed {
                Ok(Ok(found)) => {
                    self.tell(FleetEvent::Host { host: self.host.clone(), problem: None }).await?;
                    self.compare(found).await?;
                    None
                }
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => Some(format!("it does not answer within {} s", PATIENCE.as_secs())),
            };
            if problem.is_some() {
                return self.tell(FleetEvent::Host { host: self.host.clone(), problem }).await;
            }
            let closed = self.events.clone();
            tokio::select! {
                change = changes.next() => if change.is_none() { return Ok(()) },
                _ = overs.recv() => {}
                () = closed.closed() => return Err(Unheard),
            }
            tokio::time::sleep(TOGETHER).await;
            while let Some(Some(_)) = futures_util::FutureExt::now_or_never(changes.next()) {}
        }
    }

    async fn compare(&mut self, found: Vec<Found>) -> Result<(), Unheard> {
        let gone: Vec<InstanceName> = {
            let there = |name: &InstanceName| {
                found.iter().any(|found| found.instance == *name && found.life != Life::Absent)
            };
            self.known.keys().filter(|name| !there(name)).cloned().collect()
        };
        for instance in gone {
            if let Some(mut known) = self.known.remove(&instance) {
                stop(&mut known).await;
            }
            self.tell(FleetEvent::Gone { instance }).await?;
        }
        for Found { instance, plan, life } in found.into_iter().filter(|found| found.life != Life::Absent) {
            let ended = |following: &JoinHandle<()>| following.is_finished();
            let as_told = self.known.get(&instance).is_some_and(|known| {
                known.life == life && (life != Life::Running || !known.following.as_ref().is_none_or(ended))
            });
            if as_told {
                continue;
            }
            let before = self.known.remove(&instance);
            // The end of what was told before is no new beginning.
            let is_new = before
                .as_ref()
                .is_none_or(|before| matches!(before.life, Life::Ended(_)) || life == Life::Running);
            if let Some(mut before) = before {
                if let (Life::Ended(_), Some(following)) = (&life, &mut before.following) {
                    // It ends by itself when it has told what the capsule said last.
                    let _ = tokio::time::timeout(LAST_WORDS, following).await;
                }
                stop(&mut before).await;
            }
            if is_new {
                let (host, instance, plan) = (self.host.clone(), instance.clone(), plan.map(Box::new));
                self.tell(FleetEvent::Appeared { host, instance, plan }).await?;
            }
            let following = match &life {
                Life::Running => {
                    let (backend, events) = (self.backend.clone(), self.events.clone());
                    Some(tokio::spawn(follow_instance(backend, instance.clone(), events, self.over.clone())))
                }
                Life::Ended(ending) => {
                    let ending = Box::new(ending.clone());
                    self.tell(FleetEvent::Ended { instance: instance.clone(), ending }).await?;
                    None
                }
                Life::Absent | Life::Unfinished => None,
            };
            self.known.insert(instance, Known { life, following });
        }
        Ok(())
    }

    async fn tell(&self, event: FleetEvent) -> Result<(), Unheard> {
        self.events.send(event).await.map_err(|_| Unheard)
    }
}

/// Ends the telling of an instance, so that nothing of it comes after what is told next.
async fn stop(known: &mut Known) {
    if let Some(following) = known.following.take().filter(|following| !following.is_finished()) {
        following.abort();
        let _ = following.await;
    }
}

/// Tells what happens in an instance until it has ended, or nobody listens.
pub(super) async fn follow_instance(
    backend: Arc<dyn Backend>,
    instance: InstanceName,
    events: mpsc::Sender<FleetEvent>,
    over: mpsc::UnboundedSender<()>,
) {
    let mut pause = SOON;
    loop {
        let why = match tell_events(&backend, &instance, &events).await {
            Ok(()) | Err(Stop::Unheard) => String::from("its capsule went away"),
            Err(Stop::Trouble(why)) => why,
        };
        if events.is_closed() {
            return;
        }
        // How it ended is told by whoever goes through the host's list, once.
        let life = tokio::time::timeout(PATIENCE, backend.inspect(&instance)).await;
        if matches!(life, Ok(Ok(Life::Ended(_) | Life::Absent))) {
            let _ = over.send(());
            return;
        }
        if events.send(FleetEvent::Silent { instance: instance.clone(), why }).await.is_err() {
            return;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LATE);
    }
}

enum Stop {
    Unheard,
    Trouble(String),
}

impl From<Unheard> for Stop {
    fn from(_: Unheard) -> Self {
        Self::Unheard
    }
}

impl From<ClientError> for Stop {
    fn from(error: ClientError) -> Self {
        Self::Trouble(error.to_string())
    }
}

/// A snapshot, and every event after it, until the capsule ends.
async fn tell_events(
    backend: &Arc<dyn Backend>,
    instance: &InstanceName,
    events: &mpsc::Sender<FleetEvent>,
) -> Result<(), Stop> {
    let open = || async {
        let opened = tokio::time::timeout(PATIENCE, backend.open(instance)).await;
        let opened = opened.map_err(|_| Stop::Trouble("its capsule does not answer".to_owned()))?;
        let stream = opened.map_err(|error| Stop::Trouble(error.to_string()))?;
        Ok::<_, Stop>(Client::over(stream).await?)
    };
    let mut asking = open().await?;
    let mut subscription = open().await?;
    let mut seq = tell_snapshot(&mut asking, events).await?;
    subscription.subscribe(Some(seq + 1)).await?;
    while let Some(item) = subscription.next_event().await? {
        match item {
            StreamItem::Event(event) if event.seq > seq => {
                seq = event.seq;
                events.send(FleetEvent::Event(Box::new(event))).await.map_err(|_| Stop::Unheard)?;
            }
            StreamItem::Missed { .. } => seq = tell_snapshot(&mut asking, events).await?,
            _ => {}
        }
    }
    Ok(())
}

async fn tell_snapshot(client: &mut Client, events: &mpsc::Sender<FleetEvent>) -> Result<u64, Stop> {
    let asked = tokio::time::timeout(PATIENCE, client.call(Request::Snapshot {})).await;
    let snapshot: Snapshot = asked.map_err(|_| Stop::Trouble("its capsule does not answer".to_owned()))??;
    let seq = snapshot.seq;
    events.send(FleetEvent::Snapshot(Box::new(snapshot))).await.map_err(|_| Stop::Unheard)?;
    Ok(seq)
}
