use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// Tells a run to end. Clones are handles to the same request.
///
/// ```
/// use jackin_core::run::{Stop, StopReason};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let stop = Stop::new();
/// let (operator, agent) = (stop.clone(), stop);
/// operator.request(StopReason::Asked);
/// // Only the first reason counts.
/// operator.request(StopReason::Signal(2));
/// assert_eq!(agent.requested().await, StopReason::Asked);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Stop {
    state: Arc<watch::Sender<State>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    reason: Option<StopReason>,
    at_once: bool,
}

/// Why a run is to end before its agent is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// It may take no longer than this.
    TimedOut(Duration),
    /// The runner got this signal.
    Signal(i32),
    /// Somebody asked for it: `jackin runs stop`.
    Asked,
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

impl Stop {
    /// Nobody asked yet.
    pub fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(State::default())) }
    }

    /// Asks for the end.
    pub fn request(&self, reason: StopReason) {
        self.state.send_modify(|state| {
            state.reason.get_or_insert(reason);
        });
    }

    /// Asks for the end without any more patience.
    pub fn insist(&self, reason: StopReason) {
        self.request(reason);
        self.state.send_modify(|state| state.at_once = true);
    }

    /// Why it is to end, if it is.
    pub fn reason(&self) -> Option<StopReason> {
        self.state.borrow().reason
    }

    /// Completes when the end is asked for. Dropping the future costs nothing.
    pub async fn requested(&self) -> StopReason {
        let mut state = self.state.subscribe();
        let reason = state.wait_for(|state| state.reason.is_some()).await.ok().and_then(|state| state.reason);
        match reason {
            Some(reason) => reason,
            // The sender lives as long as `self`.
            None => std::future::pending().await,
        }
    }

    /// Completes when there is no more patience.
    pub async fn insisted(&self) {
        let mut state = self.state.subscribe();
        let over = state.wait_for(|state| state.at_once).await.is_err();
        if over {
            std::future::pending::<()>().await;
        }
    }
}

impl StopReason {
    /// The exit code that stands for it, as shells have them.
    pub fn exit_code(self) -> i32 {
        match self {
            Self::TimedOut(_) => 124,
            Self::Signal(signal) => 128 + signal,
            // As if terminated.
            Self::Asked => 143,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut(limit) => write!(f, "its time of {limit:?} was over"),
            Self::Signal(2) => f.write_str("interrupted (SIGINT)"),
            Self::Signal(1) => f.write_str("its terminal was closed (SIGHUP)"),
            Self::Signal(15) => f.write_str("terminated (SIGTERM)"),
            Self::Signal(signal) => write!(f, "ended by signal {signal}"),
            Self::Asked => f.write_str("stopped by `jackin runs stop`"),
        }
    }
}
