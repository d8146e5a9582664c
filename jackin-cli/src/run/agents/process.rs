use std::time::Duration;

use jackin_core::run::{AgentError, Ended, RunContext, RunSink};
use jackin_status::{Decoder, LineDecoder};
use tokio::time::{Instant, sleep_until};

use crate::run::place::{Happened, Place, PlaceCommand, PlaceProcess};

/// Runs a process to its end: what it prints goes to the sink as it comes, and is decoded where it is in a known format.
/// When the run is to stop, or its output cannot be kept, the process is asked to end, and killed after `grace`.
pub(super) async fn carry_out(
    place: &dyn Place,
    command: &PlaceCommand,
    mut decoder: Option<LineDecoder<Box<dyn Decoder>>>,
    grace: Duration,
    context: &RunContext,
    sink: &mut dyn RunSink,
) -> Result<Ended, AgentError> {
    let mut process = place.start(command).await?;
    let mut failure: Option<AgentError> = None;
    if let Some(ids) = process.ids() {
        failure = sink.process(ids).await.err().map(AgentError::Record);
    }
    let mut ending: Option<Ending> = None;
    let ended = loop {
        if failure.is_some() && ending.is_none() {
            ending = Some(Ending::begin(&mut *process, grace).await);
        }
        let kill_at = ending.as_ref().and_then(|ending| ending.kill_at);
        let happened = tokio::select! {
            biased;
            _ = context.stop.requested(), if failure.is_none() => {
                failure = Some(AgentError::Stopped);
                continue;
            }
            () = wait_until(kill_at) => {
                process.kill().await;
                ending = Some(Ending { kill_at: None });
                continue;
            }
            happened = process.next() => happened,
        };
        let kept = match &happened {
            Happened::Ended(ended) => break ended.clone(),
            // What cannot be kept is read all the same, so that the process can end.
            _ if matches!(failure, Some(AgentError::Record(_))) => Ok(()),
            Happened::Stdout(bytes) => {
                let mut events = Vec::new();
                if let Some(decoder) = &mut decoder {
                    decoder.feed(bytes, |decoded| events.append(decoded.events));
                }
                let kept = sink.stdout(bytes).await;
                if !events.is_empty() {
                    sink.events(events).await;
                }
                kept
            }
            Happened::Stderr(bytes) => sink.stderr(bytes).await,
        };
        if let Err(error) = kept {
            failure = Some(AgentError::Record(error));
        }
    };
    if let Some(decoder) = &mut decoder {
        let mut events = Vec::new();
        decoder.finish(|decoded| events.append(decoded.events));
        sink.events(events).await;
    }
    match failure {
        Some(failure) => Err(failure),
        None => Ok(ended),
    }
}

/// The process was asked to end.
struct Ending {
    kill_at: Option<Instant>,
}

impl Ending {
    async fn begin(process: &mut dyn PlaceProcess, grace: Duration) -> Self {
        process.terminate().await;
        Self { kill_at: Some(Instant::now() + grace) }
    }
}

async fn wait_until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
