//! Watches one session's screen.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::line::open;
use crate::console::model::preview::Watched;
use crate::console::update::Message;
use crate::host::Fleet;

/// A selection that moves on within this time is not worth a connection.
const SETTLING: Duration = Duration::from_millis(60);

/// How long is waited before a screen that broke off is asked for again.
const AGAIN: Duration = Duration::from_secs(2);

/// How long a capsule may take to be reached.
const PATIENCE: Duration = Duration::from_secs(5);

/// The watch over one screen; dropping it ends it.
pub(super) struct Watch(JoinHandle<()>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Watch {
    pub(super) fn start(fleet: Fleet, of: Watched, messages: mpsc::Sender<Message>) -> Self {
        Self(tokio::spawn(async move {
            tokio::time::sleep(SETTLING).await;
            loop {
                match watch(&fleet, &of, &messages).await {
                    // Of a session that is over, nothing comes after its last screen.
                    Ok(()) if of.over || messages.is_closed() => return,
                    Ok(()) => {}
                    Err(why) => {
                        let _ = messages.send(Message::Screen { of: of.clone(), rows: Err(why) }).await;
                    }
                }
                tokio::time::sleep(AGAIN).await;
            }
        }))
    }
}

/// Tells of a screen until nothing comes any more, or says why it cannot.
async fn watch(fleet: &Fleet, of: &Watched, messages: &mpsc::Sender<Message>) -> Result<(), String> {
    let opened = tokio::time::timeout(PATIENCE, open(fleet, &of.instance)).await;
    let mut client = opened.map_err(|_| "it does not answer".to_owned())??;
    client.watch_screen(of.session).await.map_err(|error| error.to_string())?;
    while let Some(rows) = client.next_rows().await.map_err(|error| error.to_string())? {
        if messages.send(Message::Screen { of: of.clone(), rows: Ok(rows) }).await.is_err() {
            break;
        }
    }
    Ok(())
}
