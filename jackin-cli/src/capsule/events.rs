use std::collections::VecDeque;

use jackin_core::{Event, EventBus, EventKind, InstanceName, Subscription, Timestamp};

/// How many past events a late subscriber can ask for.
const KEPT: usize = 1_024;

/// How many events a slow subscriber may be behind before it loses some.
const CAPACITY: usize = 1_024;

/// The instance's events: numbered, kept for a while, and handed to whoever listens.
#[derive(Debug)]
pub(super) struct EventLog {
    instance: InstanceName,
    seq: u64,
    kept: VecDeque<Event>,
    bus: EventBus<Event>,
}

/// What a new subscriber starts with.
#[derive(Debug)]
pub(super) struct Feed {
    /// How many of the events that it asked for are no longer kept.
    pub(super) missed: u64,
    /// Past events, oldest first.
    pub(super) past: Vec<Event>,
    /// Everything after them.
    pub(super) live: Subscription<Event>,
}

impl EventLog {
    pub(super) fn new(instance: InstanceName) -> Self {
        Self { instance, seq: 0, kept: VecDeque::with_capacity(KEPT), bus: EventBus::new(CAPACITY) }
    }

    pub(super) fn publish(&mut self, kind: EventKind, at: Timestamp) {
        self.seq += 1;
        let event = Event { seq: self.seq, at, instance: self.instance.clone(), kind };
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(event.clone());
        self.bus.publish(event);
    }

    /// The number of the last event.
    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    /// Everything from the event `from` on, or from now on.
    pub(super) fn subscribe(&self, from: Option<u64>) -> Feed {
        let live = self.bus.subscribe();
        // Numbers begin at 1; asking from 0 means all of them.
        let from = from.unwrap_or(self.seq + 1).max(1);
        let past: Vec<Event> = self.kept.iter().filter(|event| event.seq >= from).cloned().collect();
        let wanted = (self.seq + 1).saturating_sub(from);
        Feed { missed: wanted - past.len() as u64, past, live }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_subscriber_gets_what_is_kept_and_learns_what_is_not() {
        let mut log = EventLog::new(InstanceName::new("demo").unwrap());
        for _ in 0..KEPT + 10 {
            log.publish(EventKind::ClientAttached, Timestamp::default());
        }
        let everything = log.subscribe(Some(0));
        assert_eq!((everything.missed, everything.past.len()), (10, KEPT));
        let some = log.subscribe(Some(1_030));
        assert_eq!(
            (some.missed, some.past.first().unwrap().seq, some.past.last().unwrap().seq),
            (0, 1_030, 1_034)
        );
        let mut from_now = log.subscribe(None);
        assert_eq!((from_now.missed, from_now.past.len()), (0, 0));
        log.publish(EventKind::ClientDetached, Timestamp::default());
        assert!(from_now.live.try_next().is_some());
        assert_eq!(log.subscribe(Some(9_999)).missed, 0);
    }
}
