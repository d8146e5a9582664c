use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::time::Sleep;

/// Times that are no further apart are the same.
const SAME: Duration = Duration::from_millis(2);

/// One timer for a whole loop. Setting it to the time that it has costs nothing.
#[derive(Debug)]
pub(super) struct Alarm {
    sleep: Pin<Box<Sleep>>,
    at: Option<Instant>,
}

impl Alarm {
    pub(super) fn new() -> Self {
        Self { sleep: Box::pin(tokio::time::sleep_until(Instant::now().into())), at: None }
    }

    /// When to ring, instead of any time before. It may ring a moment early: times that are told by different clocks
    /// differ by so much when they mean the same.
    pub(super) fn set(&mut self, at: Option<Instant>) {
        match at {
            Some(at) if self.at.is_some_and(|set| set <= at && at - set < SAME) => {}
            Some(time) => {
                self.sleep.as_mut().reset(time.into());
                self.at = at;
            }
            None => self.at = None,
        }
    }

    /// Completes when the time has come; never without a time.
    pub(super) async fn rings(&mut self) {
        match self.at {
            Some(_) => {
                self.sleep.as_mut().await;
                self.at = None;
            }
            None => std::future::pending().await,
        }
    }
}
