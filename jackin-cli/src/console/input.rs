//! What the operator types, read on a thread of its own: crossterm's reader never returns once the terminal was closed,
//! and the console has to notice that, and leave.

use std::io;
use std::thread;

use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;
use tokio::sync::{mpsc, oneshot};

/// How many events wait for the console.
const WAITING: usize = 256;

/// The terminal's events, until this is dropped or stopped.
pub(super) struct Input {
    events: mpsc::Receiver<io::Result<Event>>,
    /// Dropping it ends the reader.
    stop: oneshot::Sender<()>,
    stopped: oneshot::Receiver<()>,
}

impl Input {
    /// Begins to read.
    pub(super) fn begin() -> Self {
        let (sender, events) = mpsc::channel(WAITING);
        let (stop, asked) = oneshot::channel();
        let (ended, stopped) = oneshot::channel();
        thread::spawn(move || {
            read(&sender, asked);
            let _ = ended.send(());
        });
        Self { events, stop, stopped }
    }

    /// The next event; none when the terminal is gone.
    pub(super) async fn next(&mut self) -> Option<io::Result<Event>> {
        self.events.recv().await
    }

    /// Ends the reading, and returns when nothing is read any more: the terminal is about to be somebody else's.
    pub(super) async fn stop(self) {
        drop(self.stop);
        let _ = self.stopped.await;
    }
}

fn read(events: &mpsc::Sender<io::Result<Event>>, mut asked: oneshot::Receiver<()>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { return };
    runtime.block_on(async {
        let mut stream = EventStream::new();
        loop {
            let event = tokio::select! {
                biased;
                _ = &mut asked => return,
                event = stream.next() => event,
            };
            let Some(event) = event else { return };
            if events.send(event).await.is_err() {
                return;
            }
        }
    });
}
