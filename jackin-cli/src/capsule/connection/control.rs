//! A program: calls come from it, answers and streams go to it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use jackin_core::protocol::control::{
    self, Call, CallError, ControlError, Done, ErrorCode, Recording, Reply, Request, Resources, ScreenRows,
    StreamItem,
};
use jackin_core::{Received, SessionId};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use super::super::control::Answer;
use super::super::daemon::Shown;
use super::super::events::Feed;
use super::super::now;
use super::super::watch::measure;
use super::asking::{Asker, send_when_ready, wait};
use super::{Caller, PATIENCE, READ_SIZE};

/// How long a peer may leave an answer unread.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// A control connection: calls, one after another.
pub(super) struct Control {
    reader: OwnedReadHalf,
    writer: OwnedWriteHalf,
    daemon: Asker,
    decoder: control::Decoder,
}

impl Control {
    pub(super) fn new(reader: OwnedReadHalf, writer: OwnedWriteHalf, daemon: Asker) -> Self {
        Self { reader, writer, daemon, decoder: control::Decoder::new() }
    }

    pub(super) async fn serve(mut self) -> io::Result<()> {
        while let Some(call) = self.next_call().await? {
            match call {
                Ok(Call { request: Request::Events { from }, token }) => {
                    return self.stream(token, from).await;
                }
                Ok(Call { request: Request::Screen { session_id }, token }) => {
                    return self.screen(token, session_id).await;
                }
                Ok(Call { request: Request::Wait { sessions, until, matching, timeout_ms }, .. })
                    if self.daemon.caller == Caller::Operator =>
                {
                    let daemon = self.daemon.clone();
                    let waiting = wait(&daemon, &sessions, &until, matching);
                    let limited = async {
                        match timeout_ms {
                            Some(ms) => {
                                timeout(Duration::from_millis(ms), waiting).await.unwrap_or_else(|_| {
                                    Err(ControlError::new(
                                        ErrorCode::Timeout,
                                        format!("not so after {ms} ms"),
                                    ))
                                })
                            }
                            None => waiting.await,
                        }
                    };
                    let waited = tokio::select! {
                        waited = limited => waited,
                        // Nobody is left to be told.
                        () = self.peer_gone() => return Ok(()),
                    };
                    self.reply(&Reply::from(waited)).await?;
                }
                Ok(Call {
                    request:
                        Request::SessionSend { session_id, text, submit, force: false, wait_ms: Some(ms) },
                    ..
                }) if self.daemon.caller == Caller::Operator => {
                    let daemon = self.daemon.clone();
                    let sending = send_when_ready(&daemon, session_id, &text, submit);
                    let limited = async {
                        timeout(Duration::from_millis(ms), sending).await.unwrap_or_else(|_| {
                            Err(ControlError::new(
                                ErrorCode::Timeout,
                                format!(
                                    "session {session_id} could take nothing for {ms} ms, so nothing was sent"
                                ),
                            ))
                        })
                    };
                    let sent = tokio::select! {
                        sent = limited => sent,
                        () = self.peer_gone() => return Ok(()),
                    };
                    self.reply(&Reply::from(sent)).await?;
                }
                Ok(call) => match self.daemon.ask(call).await {
                    Some(Answer::Message(wire)) => self.write(&wire).await?,
                    Some(Answer::Recording(outcome)) => {
                        let gone = |_| Err("the recording's thread is gone".to_owned());
                        let outcome = outcome.await.unwrap_or_else(gone);
                        let reply = outcome
                            .map(|path| Recording { path: path.display().to_string() })
                            .map_err(|error| ControlError::new(ErrorCode::Failed, error));
                        self.reply(&Reply::from(reply)).await?;
                    }
                    Some(Answer::Resources(leaders)) => {
                        // Reading about every process takes its time, and must not take the daemon's.
                        let measured = tokio::task::spawn_blocking(move || measure(&leaders)).await;
                        let resources =
                            Resources { at: now(), sessions: measured.map_err(io::Error::other)? };
                        self.reply(&Reply::Result(resources)).await?;
                    }
                    Some(Answer::Feed(_) | Answer::Screen(_)) | None => return Ok(()),
                },
                Err(error) => {
                    let code = match error {
                        CallError::UnknownMethod { .. } => ErrorCode::UnknownMethod,
                        _ => ErrorCode::BadRequest,
                    };
                    self.reply::<Done>(&Reply::Error(ControlError::new(code, error.to_string()))).await?;
                }
            }
        }
        Ok(())
    }

    /// The next call; none when the peer or the daemon is gone. A message that was begun must be finished in time, and
    /// an agent has no reason to keep a connection open between two.
    async fn next_call(&mut self) -> io::Result<Option<Result<Call, CallError>>> {
        let mut buf = vec![0; READ_SIZE];
        let soon = || tokio::time::Instant::now() + PATIENCE;
        let mut finish_by = (self.daemon.caller != Caller::Operator).then(soon);
        loop {
            match self.decoder.next_message() {
                Ok(Some(json)) => return Ok(Some(Call::from_json(json))),
                Ok(None) => {}
                Err(error) => {
                    let error = ControlError::new(ErrorCode::BadRequest, error.to_string());
                    self.reply::<Done>(&Reply::Error(error)).await?;
                    return Ok(None);
                }
            }
            let room = self.decoder.room().min(buf.len());
            let len = tokio::select! {
                len = self.reader.read(&mut buf[..room]) => len?,
                () = self.daemon.to_daemon.closed() => return Ok(None),
                () = deadline(finish_by) => return Ok(None),
            };
            if len == 0 {
                return Ok(None);
            }
            finish_by.get_or_insert_with(soon);
            let _ = self.decoder.feed(&buf[..len]);
        }
    }

    /// Completes when the peer closes. What it sends until then is kept for later.
    async fn peer_gone(&mut self) {
        let mut buf = vec![0; READ_SIZE];
        loop {
            let room = self.decoder.room().min(buf.len());
            match self.reader.read(&mut buf[..room]).await {
                Ok(len) if len > 0 => {
                    let _ = self.decoder.feed(&buf[..len]);
                }
                // A peer that sends ahead without end has to wait.
                Ok(_) if room == 0 => std::future::pending().await,
                _ => return,
            }
        }
    }

    async fn reply<T: serde::Serialize>(&mut self, reply: &Reply<T>) -> io::Result<()> {
        let mut wire = Vec::new();
        control::encode(reply, &mut wire).map_err(io::Error::other)?;
        self.write(&wire).await
    }

    /// A peer that does not take an answer for this long gets no more of them.
    async fn write(&mut self, wire: &[u8]) -> io::Result<()> {
        timeout(WRITE_PATIENCE, self.writer.write_all(wire)).await?
    }

    async fn stream(mut self, token: Option<String>, from: Option<u64>) -> io::Result<()> {
        let Feed { missed, past, mut live } =
            match self.daemon.ask(Call { token, request: Request::Events { from } }).await {
                Some(Answer::Feed(feed)) => feed,
                Some(Answer::Message(wire)) => return self.write(&wire).await,
                _ => return Ok(()),
            };
        if missed > 0 {
            self.reply(&Reply::Result(StreamItem::Missed { count: missed })).await?;
        }
        for event in past {
            self.reply(&Reply::Result(StreamItem::Event(event))).await?;
        }
        let mut buf = [0; 256];
        loop {
            let item = tokio::select! {
                next = live.next() => match next {
                    Some(Received::Value(event)) => StreamItem::Event(event),
                    Some(Received::Missed(count)) => StreamItem::Missed { count },
                    None => return Ok(()),
                },
                // A subscriber has nothing more to say; what it sends is ignored until it closes.
                read = self.reader.read(&mut buf) => match read? {
                    0 => return Ok(()),
                    _ => continue,
                },
            };
            self.reply(&Reply::Result(item)).await?;
        }
    }

    /// The changing rows of a screen. One that reads slowly skips what came and went in between.
    async fn screen(mut self, token: Option<String>, session_id: SessionId) -> io::Result<()> {
        let request = Request::Screen { session_id };
        let mut latest = match self.daemon.ask(Call { token, request }).await {
            Some(Answer::Screen(latest)) => latest,
            Some(Answer::Message(wire)) => return self.write(&wire).await,
            _ => return Ok(()),
        };
        let mut before: Option<Arc<Shown>> = None;
        let mut buf = [0; 256];
        loop {
            let shown = Arc::clone(&latest.borrow_and_update());
            for rows in changed_rows(before.as_deref(), &shown) {
                self.reply_rows(rows).await?;
            }
            before = Some(shown);
            loop {
                tokio::select! {
                    changed = latest.changed() => match changed {
                        Ok(()) => break,
                        Err(_) => return Ok(()),
                    },
                    read = self.reader.read(&mut buf) => if read? == 0 {
                        return Ok(());
                    },
                }
            }
        }
    }

    /// A row that is too long for a message by itself is told as an empty one.
    async fn reply_rows(&mut self, mut rows: ScreenRows) -> io::Result<()> {
        let mut wire = Vec::new();
        if control::encode(&Reply::Result(&rows), &mut wire).is_err() {
            rows.rows.iter_mut().for_each(|(_, text)| text.clear());
            control::encode(&Reply::Result(&rows), &mut wire).map_err(io::Error::other)?;
        }
        self.write(&wire).await
    }
}

/// How much text goes into one message; written as JSON it can get six times as long.
const ROWS_SIZE: usize = 512 * 1024;

/// What leads from one screen to the next, in as many pieces as it takes.
fn changed_rows(before: Option<&Shown>, shown: &Shown) -> Vec<ScreenRows> {
    let before = before.filter(|before| before.size == shown.size);
    let mut pieces: Vec<ScreenRows> = Vec::new();
    let mut length = usize::MAX;
    for (at, row) in shown.rows.iter().enumerate() {
        if before.is_some_and(|before| before.rows.get(at) == Some(row)) {
            continue;
        }
        if length.saturating_add(row.len()) > ROWS_SIZE {
            pieces.push(ScreenRows { size: shown.size, rows: Vec::new(), more: true });
            length = 0;
        }
        length += row.len();
        if let Some(piece) = pieces.last_mut() {
            piece.rows.push((at as u16, row.clone()));
        }
    }
    if let Some(last) = pieces.last_mut() {
        last.more = false;
    }
    pieces
}

async fn deadline(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use jackin_core::Size;

    use super::*;

    fn shown(rows: &[&str]) -> Shown {
        let size = Size::new(rows.len() as u16, 80);
        Shown { size, rows: rows.iter().map(|row| (*row).to_owned()).collect() }
    }

    #[test]
    fn only_rows_that_changed_are_told_and_all_of_another_size() {
        let (first, second) = (shown(&["a", "b", ""]), shown(&["a", "c", ""]));
        let told = |before, after| {
            let pieces = changed_rows(before, after);
            pieces.into_iter().flat_map(|piece| piece.rows).map(|(at, _)| at).collect::<Vec<_>>()
        };
        assert_eq!(told(None, &first), [0, 1, 2]);
        assert_eq!(told(Some(&first), &second), [1]);
        assert!(changed_rows(Some(&first), &first).is_empty());
        assert_eq!(told(Some(&first), &shown(&["a", "b"])), [0, 1]);
    }

    #[test]
    fn what_does_not_fit_into_one_message_comes_in_several() {
        let long = "x".repeat(ROWS_SIZE / 2 + 1);
        let pieces = changed_rows(None, &shown(&[&long, &long, "y"]));
        let more: Vec<(usize, bool)> = pieces.iter().map(|piece| (piece.rows.len(), piece.more)).collect();
        assert_eq!(more, [(1, true), (2, false)]);
    }
}
