use std::pin::pin;
use std::time::Duration;

use futures_util::future::BoxFuture;
use jackin_core::one_line;
use jackin_core::run::{AgentError, Ended, RunContext, RunSink};
use jackin_status::{Decoder, LineDecoder};
use tokio::time::{Instant, sleep_until};

use crate::run::place::{Happened, Notes, Place, PlaceCommand, PlaceProcess};

/// How a process is run.
pub(super) struct Work<'a> {
    pub(super) place: &'a dyn Place,
    pub(super) command: PlaceCommand,
    /// Reads what it prints, where that is in a known format.
    pub(super) decoder: Option<LineDecoder<Box<dyn Decoder>>>,
    /// What makes its program print its version; nothing if it is not to be asked.
    pub(super) version: Vec<String>,
    /// How long it has to end by itself when it is asked to.
    pub(super) grace: Duration,
}

/// Runs a process to its end: what it prints goes to the sink as it comes. When the run is to stop, or its output cannot
/// be kept, the process is asked to end, and killed after its grace.
pub(super) async fn carry_out(
    work: Work<'_>,
    context: &RunContext,
    sink: &mut dyn RunSink,
) -> Result<Ended, AgentError> {
    let Work { place, command, mut decoder, version, grace } = work;
    let mut process = start(place, &command, context, sink).await?;
    let ids = process.ids().unwrap_or_default();
    let mut failure = sink.process(ids).await.err().map(AgentError::Record);
    let mut asked = Some(version).filter(|words| !words.is_empty()).and_then(|words| process.ask(&words));
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
            said = answer(&mut asked) => {
                asked = None;
                if let Some(version) = said.as_deref().and_then(first_line) {
                    sink.version(&version).await;
                }
                continue;
            }
        };
        let kept = match &happened {
            Happened::Ended(ended) => break Ok(ended.clone()),
            Happened::Failed(error) => break Err(error.clone()),
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
    failure.map_or(ended, Err)
}

/// Starts the process, and tells what is done until it runs.
async fn start(
    place: &dyn Place,
    command: &PlaceCommand,
    context: &RunContext,
    sink: &mut dyn RunSink,
) -> Result<Box<dyn PlaceProcess>, AgentError> {
    let (notes, mut said) = Notes::new();
    let mut start = pin!(place.start(command, context, &notes));
    loop {
        tokio::select! {
            biased;
            Some(text) = said.recv() => sink.note(&text).await,
            started = &mut start => return started,
        }
    }
}

async fn answer(asked: &mut Option<BoxFuture<'static, Option<Vec<u8>>>>) -> Option<Vec<u8>> {
    match asked {
        Some(asked) => asked.await,
        None => std::future::pending().await,
    }
}

/// A version is told in one line, and a short one.
const VERSION_LEN: usize = 100;

/// The first line of what a program says when it is asked for its version.
pub(super) fn first_line(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    said.lines().next().map(|line| one_line(line, VERSION_LEN)).filter(|line| !line.is_empty())
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
