use std::time::Duration;

use anyhow::{Context, Result};
use jackin_core::run::{Stop, StopReason};
use tokio::signal::unix::{SignalKind, signal};

/// Listens for signals that ask this program to end: the first asks the runs to, another one leaves them no time.
pub(super) fn listen() -> Result<Stop> {
    let stop = Stop::new();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        let mut signals = signal(kind).context("cannot listen for signals")?;
        let stop = stop.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                let reason = StopReason::Signal(kind.as_raw_value());
                if stop.reason().is_none() {
                    stop.request(reason);
                } else {
                    stop.insist(reason);
                }
            }
        });
    }
    Ok(stop)
}

/// Completes a moment after this program was asked to end: then nobody is waited for any more.
pub(super) async fn no_patience(stop: &Stop) {
    stop.requested().await;
    tokio::select! {
        () = stop.insisted() => {}
        () = tokio::time::sleep(LAST_WORDS) => {}
    }
}

/// How long the last words may take to be read.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Passes on what is asked of all runs to one of them while it goes on.
pub(super) async fn passing_on<T>(all: &Stop, one: &Stop, run: impl Future<Output = T>) -> T {
    let pass_on = async {
        let reason = all.requested().await;
        one.request(reason);
        all.insisted().await;
        one.insist(reason);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        done = run => done,
        () = pass_on => unreachable!("it never completes"),
    }
}
