use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Read};
use std::time::Duration;

use anyhow::{Context, Result};
use jackin_core::run::RunStatus;
use jackin_status::{LineDecoder, Runtime};

use super::signals;
use super::view::Shown;
use crate::regular::open_regular;
use crate::run::settings::{Backend, RunSettings};
use crate::run::{FoundRun, Store};

/// How often a file that has not grown is looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// What of a run is shown.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// What the agent says: decoded where its format is known, else what it prints.
    Said(Option<Runtime>),
    /// What it prints.
    Raw,
    /// What it prints to standard error.
    Stderr,
}

/// The format that an agent prints.
pub(super) fn runtime(settings: &RunSettings, agent: &str) -> Option<Runtime> {
    match &settings.agents.get(agent)?.backend {
        Backend::Command(command) => command.runtime,
        Backend::Rest(_) => None,
    }
}

/// Shows what a run's agent printed, and follows it while it runs.
pub(super) async fn tail(store: &Store, run: &FoundRun, what: What) -> Result<u8> {
    let path = match what {
        What::Stderr => run.layout.stderr(),
        _ => run.layout.stdout(),
    };
    let mut file = open_regular(&path, OpenOptions::new().read(true))
        .with_context(|| format!("cannot read {}", path.display()))?;
    let mut decoder = match what {
        What::Said(runtime) => runtime.map(|runtime| LineDecoder::new(runtime.decoder())),
        _ => None,
    };
    let stop = signals::listen()?;
    let mut shown = Shown::new(tokio::io::stdout(), io::stdout().is_terminal());
    let mut piece = vec![0; 64 << 10];
    let mut over = false;
    loop {
        let len = file.read(&mut piece).with_context(|| format!("cannot read {}", path.display()))?;
        let show = async {
            match &mut decoder {
                None => shown.bytes(&piece[..len]).await,
                Some(decoder) => {
                    let mut events = Vec::new();
                    decoder.feed(&piece[..len], |decoded| events.append(decoded.events));
                    for event in &events {
                        shown.runtime(event).await;
                    }
                }
            }
        };
        tokio::select! {
            () = show => {}
            _ = stop.requested() => return Ok(130),
        }
        if len > 0 {
            continue;
        }
        if over || shown.is_gone() {
            break;
        }
        // Once more after the end: it may have printed in between.
        let now = store.find(run.layout.run().as_str())?;
        over = now.info.status != RunStatus::Running || !now.alive;
        if !over {
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                _ = stop.requested() => return Ok(130),
            }
        }
    }
    shown.end_line().await;
    Ok(0)
}
