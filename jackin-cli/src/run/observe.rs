use std::pin::pin;
use std::time::Duration;

use async_trait::async_trait;
use jackin_core::run::{RunInfo, RunLayout, Step, Stop};
use jackin_core::{AgentStatus, AgentTag, Cause, RuntimeEvent, Usage};

/// Something that happened in a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum RunEvent<'a> {
    /// The run has come this far.
    Step(Step),
    /// What is being done before the agent can start.
    Note(&'a str),
    /// The agent printed to standard output.
    Stdout(&'a [u8]),
    /// The agent printed to standard error.
    Stderr(&'a [u8]),
    /// The agent said something of itself.
    Runtime(&'a RuntimeEvent),
    /// What the agent does has changed.
    Status {
        /// What it does.
        status: &'a AgentStatus,
        /// Why it is taken for that.
        cause: &'a Cause,
    },
    /// The agent declared something new.
    Tag(&'a AgentTag),
    /// The agent reported what it has used so far.
    Usage(Usage),
    /// The run is over; this is its record.
    Ended(&'a RunInfo),
}

/// Looks on at a run: shows it, reports it, counts it.
///
/// A run waits for whoever looks on, but not when it is to end.
#[async_trait]
pub trait RunObserver: Send {
    /// Something happened.
    async fn saw(&mut self, run: &RunLayout, event: RunEvent<'_>);
}

/// How long whoever looks on may take when the run is to end.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// Tells an observer what happens. When the run is to end, one that does not keep up is left behind.
pub(super) struct Onlooker<'a> {
    observer: &'a mut dyn RunObserver,
    stop: Stop,
    left_behind: bool,
}

impl<'a> Onlooker<'a> {
    pub(super) fn new(observer: &'a mut dyn RunObserver, stop: Stop) -> Self {
        Self { observer, stop, left_behind: false }
    }

    pub(super) async fn tell(&mut self, run: &RunLayout, event: RunEvent<'_>) {
        if self.left_behind {
            return;
        }
        let mut saw = pin!(self.observer.saw(run, event));
        tokio::select! {
            biased;
            () = &mut saw => return,
            _ = self.stop.requested() => {}
        }
        self.left_behind = tokio::time::timeout(LAST_LOOK, saw).await.is_err();
    }

    pub(super) async fn step(&mut self, run: &RunLayout, step: Step) {
        self.tell(run, RunEvent::Step(step)).await;
    }
}

/// Nobody looks on.
#[async_trait]
impl RunObserver for () {
    async fn saw(&mut self, _run: &RunLayout, _event: RunEvent<'_>) {}
}
