use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jackin_core::protocol::control::Explanation;
use jackin_core::{
    EventBus, InstanceName, RuntimeEvent, SessionId, StatusBus, StatusEvent, Subscription, Timestamp,
};

use crate::{Authority, Channel, Evidence, ReportedUsage, Verdict};

/// One session's desk: adapters bring evidence, the authority weighs it, and what changes goes out on the status bus.
///
/// Clones are handles to the same desk, one for each adapter of the session. Reporting never waits.
#[derive(Clone, Debug)]
pub struct Reporter {
    desk: Arc<Desk>,
}

#[derive(Debug)]
struct Desk {
    instance: InstanceName,
    session: SessionId,
    bus: StatusBus,
    events: EventBus<(Timestamp, RuntimeEvent)>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    authority: Authority,
    usage: ReportedUsage,
}

/// How many events are kept for a subscriber that is slow to read them.
const EVENTS: usize = 1_024;

impl Reporter {
    /// A desk for one session.
    pub fn new(instance: InstanceName, session: SessionId, bus: StatusBus, authority: Authority) -> Self {
        let state = Mutex::new(State { authority, usage: ReportedUsage::default() });
        Self { desk: Arc::new(Desk { instance, session, bus, events: EventBus::new(EVENTS), state }) }
    }

    /// Hands over a piece of evidence seen at `now`.
    pub fn report(&self, evidence: Evidence, now: Timestamp) -> Verdict {
        match evidence {
            Evidence::Runtime { channel, event } => self.report_events(channel, [event], now, now),
            evidence => self.with(|state| state.authority.observe(evidence, now)),
        }
    }

    /// Hands over what an agent said at `at`, read `now`. What is said in one breath is told in one change.
    pub fn report_events(
        &self,
        channel: Channel,
        events: impl IntoIterator<Item = RuntimeEvent>,
        at: Timestamp,
        now: Timestamp,
    ) -> Verdict {
        self.with(|state| {
            let State { authority, usage } = state;
            let evidence = events.into_iter().map(|event| {
                usage.observe(&event);
                if self.desk.events.subscribers() > 0 {
                    self.desk.events.publish((at, event.clone()));
                }
                Evidence::Runtime { channel, event }
            });
            authority.observe_all(evidence, at, now)
        })
    }

    /// Lets time pass.
    pub fn look(&self, now: Timestamp) -> Verdict {
        self.with(|state| state.authority.look(now))
    }

    /// The operator looked at it, by command.
    pub fn acknowledge(&self, now: Timestamp) -> Verdict {
        self.with(|state| state.authority.acknowledge(now))
    }

    /// When to look again if nothing is reported until then.
    pub fn look_again(&self) -> Option<Timestamp> {
        let mut state = self.lock();
        let now = state.authority.now();
        state.authority.look(now).look_again
    }

    /// Why the status is what it is.
    pub fn explain(&self) -> Explanation {
        self.lock().authority.explain()
    }

    /// What the agent reported to have used.
    pub fn usage(&self) -> ReportedUsage {
        self.lock().usage
    }

    /// Everything that the session's structured channels say from now on, with the time: for whoever reads the agent's
    /// words.
    pub fn subscribe(&self) -> Subscription<(Timestamp, RuntimeEvent)> {
        self.desk.events.subscribe()
    }

    fn with(&self, change: impl FnOnce(&mut State) -> Verdict) -> Verdict {
        let mut state = self.lock();
        let verdict = change(&mut state);
        // Published before the lock is given up, so that changes go out in the order in which they came about.
        if verdict.changed {
            let Verdict { status, attention, cause, .. } = verdict.clone();
            let desk = &self.desk;
            desk.bus.publish((desk.instance.clone(), desk.session, StatusEvent { status, attention, cause }));
        }
        verdict
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in there is left half done by a panic that would matter more than the status itself.
        self.desk.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
