use tokio::sync::broadcast;

use crate::{InstanceName, SessionId, StatusEvent};

/// One stream of values to any number of subscribers, bounded by a fixed capacity.
///
/// Publishing never waits and never fails: without a subscriber the value is dropped, and a subscriber that falls
/// behind by more than the capacity loses the oldest values and is told how many. It then re-reads whatever snapshot
/// the publisher offers and goes on.
///
/// ```
/// use jackin_core::{EventBus, Received};
///
/// let bus = EventBus::new(2);
/// let mut slow = bus.subscribe();
/// for number in 1..=5 {
///     bus.publish(number);
/// }
/// assert_eq!(slow.try_next(), Some(Received::Missed(3)));
/// assert_eq!(slow.try_next(), Some(Received::Value(4)));
/// assert_eq!(slow.try_next(), Some(Received::Value(5)));
/// assert_eq!(slow.try_next(), None);
/// ```
#[derive(Debug)]
pub struct EventBus<T> {
    sender: broadcast::Sender<T>,
}

/// The bus of status changes: instance, session, change.
pub type StatusBus = EventBus<(InstanceName, SessionId, StatusEvent)>;

impl<T: Clone> EventBus<T> {
    /// A bus that keeps at least the last `capacity` values for subscribers that have not read them yet.
    ///
    /// # Panics
    /// When `capacity` is 0.
    pub fn new(capacity: usize) -> Self {
        Self { sender: broadcast::Sender::new(capacity) }
    }

    /// Hands `value` to every subscriber.
    pub fn publish(&self, value: T) {
        // The only error is that nobody listens, which is no error here.
        drop(self.sender.send(value));
    }

    /// A subscriber that receives what is published from now on.
    pub fn subscribe(&self) -> Subscription<T> {
        Subscription { receiver: self.sender.subscribe() }
    }

    /// How many subscribers there are. With none, an expensive value need not be made.
    pub fn subscribers(&self) -> usize {
        self.sender.receiver_count()
    }
}

impl<T> Clone for EventBus<T> {
    /// Another handle to the same bus.
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone() }
    }
}

/// One subscriber's end of an [`EventBus`].
#[derive(Debug)]
pub struct Subscription<T> {
    receiver: broadcast::Receiver<T>,
}

/// What a subscriber receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received<T> {
    /// The next value.
    Value(T),
    /// So many values were lost before the next one, because the subscriber was slow.
    Missed(u64),
}

impl<T: Clone> Subscription<T> {
    /// Waits for the next value; `None` once the last handle of the bus is gone and everything was read.
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Received<T>> {
        match self.receiver.recv().await {
            Ok(value) => Some(Received::Value(value)),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(Received::Missed(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }

    /// The next value if one is there already.
    pub fn try_next(&mut self) -> Option<Received<T>> {
        match self.receiver.try_recv() {
            Ok(value) => Some(Received::Value(value)),
            Err(broadcast::error::TryRecvError::Lagged(missed)) => Some(Received::Missed(missed)),
            Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishing_to_nobody_is_fine() {
        let bus = EventBus::new(1);
        bus.publish("lost");
        let mut late = bus.subscribe();
        assert_eq!(late.try_next(), None);
        bus.publish("heard");
        assert_eq!(late.try_next(), Some(Received::Value("heard")));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_waiting_subscriber_is_woken_and_told_of_the_end() {
        let bus = EventBus::new(4);
        let mut subscription = bus.subscribe();
        let publisher = tokio::spawn(async move {
            bus.publish(1);
            tokio::task::yield_now().await;
            bus.publish(2);
        });
        let mut heard = Vec::new();
        while let Some(received) = subscription.next().await {
            heard.push(received);
        }
        publisher.await.unwrap();
        assert_eq!(heard, [Received::Value(1), Received::Value(2)]);
    }

    #[test]
    fn one_slow_subscriber_does_not_cost_another() {
        let bus = EventBus::new(2);
        let (mut slow, mut quick) = (bus.subscribe(), bus.subscribe());
        let mut heard = Vec::new();
        for number in 0..10 {
            bus.publish(number);
            heard.extend(quick.try_next());
        }
        assert_eq!(heard, (0..10).map(Received::Value).collect::<Vec<_>>());
        assert_eq!(slow.try_next(), Some(Received::Missed(8)));
    }
}
