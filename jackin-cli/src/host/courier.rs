//! Tells capsules what only the host knows: what became of the pull requests that their agents declared. Capsules show it
//! to whoever is attached; they never ask for it themselves.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use jackin_core::protocol::control::{Done, HostContext, Request, TagEntry, Tags};
use jackin_core::{EventKind, InstanceName, TagKind};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::fleet::{Fleet, Member};
use super::follow::{FleetEvent, follow_instance};
use super::github::{Github, Pull};
use super::history::History;
use crate::client::Client;
use crate::config::Loaded;

/// How long until a pull request is asked for again while its checks run, and otherwise.
const CHECKING: Duration = Duration::from_secs(60);
const SETTLED: Duration = Duration::from_secs(300);

/// How long an instance is left alone after each time.
const REST: Duration = Duration::from_secs(3);

/// How long one round to an instance may take.
const LIMIT: Duration = Duration::from_secs(45);

/// How many events wait for whoever takes them.
const WAITING: usize = 1024;

/// Brings what GitHub says to the capsules of a fleet.
#[derive(Clone)]
pub(super) struct Courier {
    fleet: Fleet,
    github: Arc<Github>,
    /// Where what is heard on the way is written down.
    history: Arc<History>,
}

impl Courier {
    pub(super) fn new(loaded: &Loaded, fleet: &Fleet, github: Arc<Github>) -> Self {
        Self { fleet: fleet.clone(), github, history: Arc::new(History::begin(&loaded.paths)) }
    }

    /// The history that it writes.
    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// Attends to every instance that these events tell of. They are passed on.
    pub(super) fn beside(self, events: mpsc::Receiver<FleetEvent>) -> mpsc::Receiver<FleetEvent> {
        let (on, receiver) = mpsc::channel(WAITING);
        tokio::spawn(Rounds::new(self).run(events, Some(on)));
        receiver
    }

    /// Attends to one instance until it has ended.
    pub(super) async fn attend(&self, member: &Member) {
        let (events, receiver) = mpsc::channel(WAITING);
        let (over, _) = mpsc::unbounded_channel();
        let following = follow_instance(member.backend.clone(), member.instance.clone(), events, over);
        tokio::join!(following, Rounds::new(self.clone()).run(receiver, None));
    }

    /// Goes to an instance once. `told` is what its capsule was told last.
    async fn go(&self, instance: &InstanceName, told: Option<HostContext>) -> Result<News> {
        let member = self.fleet.find(instance).await?;
        let mut client = Client::over(member.backend.open(instance).await?).await?;
        let tags: Tags = client.call(Request::TagsList {}).await?;
        let Some(url) = pull_request(&tags.tags) else {
            if told.is_some() {
                let context = HostContext::default();
                let Done {} = client.call(Request::ContextSet { context }).await?;
            }
            return Ok(News { told: None, again: None });
        };
        // That there is one can be told even where nobody can say what became of it.
        let pull = self.github.pull(url).await.or_else(|| Pull::unseen(url));
        let Some(pull) = pull else { return Ok(News { told, again: None }) };
        let checks = pull.request.checks;
        let again = if checks.is_some_and(|checks| checks.pending > 0) { CHECKING } else { SETTLED };
        let context = HostContext {
            branch: pull.branch,
            default_branch: pull.default_branch,
            pull_request: Some(pull.request),
            ..HostContext::default()
        };
        if told.as_ref() != Some(&context) {
            let Done {} = client.call(Request::ContextSet { context: context.clone() }).await?;
        }
        Ok(News { told: Some(context), again: Some(again) })
    }
}

/// The pull request that stands for an instance: the latest.
fn pull_request(tags: &[TagEntry]) -> Option<&str> {
    tags.iter().rev().find(|tag| tag.kind == TagKind::Pr).map(|tag| tag.value.as_str())
}

/// What came of going to an instance.
struct News {
    told: Option<HostContext>,
    /// When to go again, if nothing happens.
    again: Option<Duration>,
}

/// An instance that is gone to.
#[derive(Default)]
struct Attended {
    told: Option<HostContext>,
    due: Option<Instant>,
    /// Not before this, whatever it declares: an agent may declare one after another.
    rested: Option<Instant>,
    /// Whether somebody is on the way.
    under_way: bool,
}

struct Rounds {
    courier: Courier,
    instances: BTreeMap<InstanceName, Attended>,
    under_way: JoinSet<(InstanceName, Result<News>)>,
}

impl Rounds {
    fn new(courier: Courier) -> Self {
        Self { courier, instances: BTreeMap::new(), under_way: JoinSet::new() }
    }

    /// Until there are no more events, or nobody takes them any more.
    async fn run(mut self, mut events: mpsc::Receiver<FleetEvent>, on: Option<mpsc::Sender<FleetEvent>>) {
        loop {
            let due = self.instances.values().filter(|of| !of.under_way).filter_map(|of| of.due).min();
            let due = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = events.recv() => {
                    let Some(event) = event else { return };
                    self.note(&event);
                    if let Some(on) = &on
                        && on.send(event).await.is_err()
                    {
                        return;
                    }
                }
                Some(Ok((instance, news))) = self.under_way.join_next(), if !self.under_way.is_empty() => {
                    self.back(&instance, news);
                }
                () = due => self.set_out(),
            }
        }
    }

    fn note(&mut self, event: &FleetEvent) {
        self.courier.history.note(event);
        match event {
            FleetEvent::Snapshot(snapshot) => {
                // A capsule that was started again has forgotten what it was told.
                let of = self.instances.entry(snapshot.status.instance.clone()).or_default();
                of.told = None;
                of.due = pull_request(&snapshot.tags).map(|_| Instant::now());
            }
            FleetEvent::Event(event) => {
                let kind = match &event.kind {
                    EventKind::TagObserved { tag, .. } => &tag.kind,
                    EventKind::TagOverridden { kind, .. } => kind,
                    _ => return,
                };
                if *kind == TagKind::Pr {
                    let of = self.instances.entry(event.instance.clone()).or_default();
                    let now = Instant::now();
                    of.due = Some(of.rested.map_or(now, |rested| rested.max(now)));
                }
            }
            FleetEvent::Ended { instance, .. } | FleetEvent::Gone { instance } => {
                self.instances.remove(instance);
            }
            FleetEvent::Host { .. } | FleetEvent::Appeared { .. } | FleetEvent::Silent { .. } => {}
        }
    }

    fn set_out(&mut self) {
        let now = Instant::now();
        for (instance, of) in &mut self.instances {
            if of.under_way || of.due.is_none_or(|due| due > now) {
                continue;
            }
            (of.due, of.under_way) = (None, true);
            let (courier, instance, told) = (self.courier.clone(), instance.clone(), of.told.clone());
            self.under_way.spawn(async move {
                let gone = tokio::time::timeout(LIMIT, courier.go(&instance, told)).await;
                (instance, gone.unwrap_or_else(|_| Err(anyhow::anyhow!("it took too long"))))
            });
        }
    }

    fn back(&mut self, instance: &InstanceName, news: Result<News>) {
        let Some(of) = self.instances.get_mut(instance) else { return };
        of.under_way = false;
        of.rested = Some(Instant::now() + REST);
        let again = match news {
            Ok(news) => {
                of.told = news.told;
                news.again
            }
            // It may be ending, or not be reached just now.
            Err(_) => Some(CHECKING),
        };
        // What was declared meanwhile is due already.
        let again = again.map(|again| Instant::now() + again);
        of.due = of.due.or(again);
    }
}
