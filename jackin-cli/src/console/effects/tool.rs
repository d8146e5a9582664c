//! Runs the team's tools and the handlers of links.

use std::collections::BTreeMap;
use std::time::Duration;

use jackin_tools::ResolvedCommand;
use tokio::sync::{mpsc, oneshot};

use crate::console::model::runs::RunId;
use crate::console::update::Message;
use crate::tools::{End, Limits, Running};

/// How long a handler may take; a browser that stays is not waited for.
const HANDLER: Duration = Duration::from_secs(60);

/// The tools that run.
#[derive(Default)]
pub(super) struct Tools {
    stops: BTreeMap<RunId, oneshot::Sender<()>>,
}

impl Tools {
    /// Starts a tool; what it prints and how it ends comes as messages.
    pub(super) fn run(
        &mut self,
        run: RunId,
        command: &ResolvedCommand,
        limit: Duration,
        messages: mpsc::Sender<Message>,
    ) {
        self.stops.retain(|_, stop| !stop.is_closed());
        let limits = Limits { timeout: limit, ..Limits::default() };
        let running = Running::start(command, limits);
        let (stop, stopped) = oneshot::channel();
        self.stops.insert(run, stop);
        tokio::spawn(async move {
            let ended = match running {
                Ok(running) => follow(run, running, stopped, &messages).await,
                Err(error) => (false, error.to_string()),
            };
            let _ = messages.send(Message::Ended { run, well: ended.0, how: ended.1 }).await;
        });
    }

    pub(super) fn stop(&mut self, run: RunId) {
        if let Some(stop) = self.stops.remove(&run) {
            // It may have ended in the meantime.
            let _ = stop.send(());
        }
    }
}

async fn follow(
    run: RunId,
    mut running: Running,
    mut stopped: oneshot::Receiver<()>,
    messages: &mpsc::Sender<Message>,
) -> (bool, String) {
    let mut stoppable = true;
    loop {
        tokio::select! {
            line = running.next_line() => match line {
                Some(line) => {
                    if messages.send(Message::Printed { run, line }).await.is_err() {
                        break;
                    }
                }
                None => break,
            },
            _ = &mut stopped, if stoppable => {
                stoppable = false;
                running.stop();
            }
        }
    }
    let finished = running.finish().await;
    let how = format!("{} after {:.1} s", finished.end, finished.duration.as_secs_f64());
    (finished.end == End::Exited(0), how)
}

/// Runs a handler; only what goes wrong is told.
pub(super) fn open(command: &ResolvedCommand, what: String, messages: mpsc::Sender<Message>) {
    let running = Running::start(command, Limits { timeout: HANDLER, ..Limits::default() });
    tokio::spawn(async move {
        let trouble = match running {
            Ok(running) => {
                let finished = running.finish().await;
                let said = finished.output.text();
                let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("").to_owned();
                match finished.end {
                    End::Exited(0) | End::TimedOut => return,
                    end => format!("{end}: {last}"),
                }
            }
            Err(error) => error.to_string(),
        };
        let text = format!("cannot open {what}: {trouble}");
        let _ = messages.send(Message::Said { text, bad: true }).await;
    });
}
