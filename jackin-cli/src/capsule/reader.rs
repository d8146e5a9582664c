use std::io;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jackin_core::SessionId;
use tokio::sync::mpsc;

use super::device::Device;

/// How much is handed on at once.
const BATCH: usize = 64 * 1024;

/// The kernel hands out no more than this at a time; less means that there was no more.
const PIECE: usize = 4 * 1024 - 1;

/// A program that prints so much without a pause floods,
const FLOOD: usize = 1024;

/// where a pause is this long. A program that redraws its screen sixty times a second pauses longer.
const PAUSE: Duration = Duration::from_millis(2);

/// While somebody types elsewhere, a flood gets a batch only so often: most of the time the processor is then free for the
/// key, for the program that answers it and for the screen. What is printed because of the key itself is not held up.
const BREATH: Duration = Duration::from_millis(4);

/// How long somebody types after a key.
const TYPING: Duration = Duration::from_millis(300);

/// Tells readers whether somebody types, and where.
#[derive(Clone, Debug)]
pub(super) struct Typing {
    started: Instant,
    /// When the last key was typed, in milliseconds.
    last: Arc<AtomicU64>,
    /// The session that it was for.
    into: Arc<AtomicU32>,
}

impl Typing {
    pub(super) fn new() -> Self {
        Self { started: Instant::now(), last: Arc::default(), into: Arc::default() }
    }

    fn now(&self) -> u64 {
        // From 1 on, so that 0 is never.
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// A key was typed into a session.
    pub(super) fn typed(&self, session: SessionId) {
        self.into.store(session.get(), Ordering::Relaxed);
        self.last.store(self.now(), Ordering::Relaxed);
    }

    /// Whether somebody types into another session than this.
    fn goes_on_beside(&self, session: SessionId) -> bool {
        let last = self.last.load(Ordering::Relaxed);
        let is_elsewhere = self.into.load(Ordering::Relaxed) != session.get();
        is_elsewhere && last > 0 && Duration::from_millis(self.now() - last) < TYPING
    }
}

/// What a program printed. The buffer goes back to the reader when this is dropped, and the reader goes on only then: a
/// program is read no faster than what it prints is dealt with.
#[derive(Debug)]
pub(super) struct Printed {
    buf: Vec<u8>,
    len: usize,
    back: mpsc::Sender<Vec<u8>>,
}

impl Deref for Printed {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buf[..self.len]
    }
}

impl Drop for Printed {
    fn drop(&mut self) {
        // There is one buffer, and room for it; the reader may have ended.
        let _ = self.back.try_send(std::mem::take(&mut self.buf));
    }
}

/// Reads what a program prints, in batches.
///
/// The kernel hands out 4 KB at a time. That is too little to see that a screenful has scrolled by before anybody could
/// look at it, which is what makes a flood cheap. So whoever floods is read until there is nothing more; a read that finds
/// nothing waits for what the kernel has under way, and the next 4 KB are mostly there. What answers a key is handed on as
/// it comes.
#[derive(Debug)]
pub(super) struct Reader {
    session: SessionId,
    pty: Device,
    typing: Typing,
    /// What is read into; empty while the daemon has it. It is the same one again and again: a fresh one for each batch
    /// would cost as much as reading does.
    buf: Vec<u8>,
    filled: usize,
    back: mpsc::Sender<Vec<u8>>,
    given_back: mpsc::Receiver<Vec<u8>>,
    /// Whether the last batch was a large one, and when the daemon was done with it.
    was_large: bool,
    since: Option<Instant>,
}

impl Reader {
    pub(super) fn new(session: SessionId, pty: Device, typing: Typing) -> Self {
        let (back, given_back) = mpsc::channel(1);
        let buf = vec![0; BATCH];
        Self { session, pty, typing, buf, filled: 0, back, given_back, was_large: false, since: None }
    }

    /// Waits until the daemon is done with the last batch.
    pub(super) async fn ready(&mut self) {
        // Its own end of the channel keeps it open.
        if self.buf.is_empty()
            && let Some(buf) = self.given_back.recv().await
        {
            self.buf = buf;
            self.since = Some(Instant::now());
        }
    }

    /// The next batch; none when the program's side is closed. Giving up in between loses nothing.
    pub(super) async fn next(&mut self) -> Option<Printed> {
        self.ready().await;
        self.fill().await.ok()?;
        self.was_large = self.filled >= FLOOD;
        let len = std::mem::take(&mut self.filled);
        let printed = |buf| Printed { buf, len, back: self.back.clone() };
        (len > 0).then(|| printed(std::mem::take(&mut self.buf)))
    }

    async fn fill(&mut self) -> io::Result<()> {
        if self.filled == 0 {
            self.filled = self.pty.read(&mut self.buf).await?;
        }
        if self.filled < PIECE && !self.was_large {
            return Ok(());
        }
        let floods = self.was_large && self.since.is_some_and(|since| since.elapsed() < PAUSE);
        if floods && self.typing.goes_on_beside(self.session) {
            tokio::time::sleep(BREATH).await;
        }
        while self.filled < self.buf.len()
            // The next call finds an error or the end again.
            && let Some(Ok(len @ 1..)) = self.pty.try_read(&mut self.buf[self.filled..])
        {
            self.filled += len;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_typed_into_is_not_held_up() {
        let (one, other) = (SessionId::new(1).unwrap(), SessionId::new(2).unwrap());
        let typing = Typing::new();
        assert!(!typing.goes_on_beside(one) && !typing.goes_on_beside(other));
        typing.typed(one);
        assert!(!typing.goes_on_beside(one) && typing.goes_on_beside(other));
    }
}
