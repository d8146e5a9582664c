use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jackin_core::SessionId;

use super::device::Device;

/// How much is handed on at once.
const BATCH: usize = 64 * 1024;

/// The kernel hands out no more than this at a time; less means that there was no more.
const PIECE: usize = 4 * 1024 - 1;

/// A program that prints so much without a pause floods: what it prints is gathered,
const FLOOD: usize = 1024;

/// where a pause is this long. A program that redraws its screen sixty times a second pauses longer,
const PAUSE: Duration = Duration::from_millis(2);

/// and gathering takes no longer than this.
const GATHER: Duration = Duration::from_millis(1);

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

/// Reads what a program prints, in batches.
///
/// The kernel hands out 4 KB at a time, and the next 4 KB a little later. That is too little to see that a screenful
/// has scrolled by before anybody could look at it, which is what makes a flood cheap. So a flood is gathered for a
/// moment; a program that answers a key is not.
#[derive(Debug)]
pub(super) struct Reader {
    session: SessionId,
    pty: Device,
    typing: Typing,
    buf: Vec<u8>,
    filled: usize,
    /// When the last batch was complete, and whether it was a large one.
    last: Option<(Instant, bool)>,
}

impl Reader {
    pub(super) fn new(session: SessionId, pty: Device, typing: Typing) -> Self {
        Self { session, pty, typing, buf: vec![0; BATCH], filled: 0, last: None }
    }

    /// What was read and not cleared yet.
    pub(super) fn filled(&self) -> &[u8] {
        &self.buf[..self.filled]
    }

    /// Makes room for the next batch.
    pub(super) fn clear(&mut self) {
        self.last = Some((Instant::now(), self.filled >= FLOOD));
        self.filled = 0;
    }

    /// Reads the next batch; nothing when the program's side is closed. Giving up in between loses nothing.
    pub(super) async fn fill(&mut self) -> io::Result<()> {
        if self.filled == 0 {
            self.filled = self.pty.read(&mut self.buf).await?;
            if self.filled == 0 {
                return Ok(());
            }
        }
        if self.filled < PIECE && self.last.is_none_or(|(_, large)| !large) {
            return Ok(());
        }
        let begun = Instant::now();
        let floods = self.last.is_some_and(|(at, large)| large && begun.duration_since(at) < PAUSE);
        if floods && self.typing.goes_on_beside(self.session) {
            tokio::time::sleep(BREATH).await;
        }
        let until = tokio::time::Instant::from_std(begun + GATHER);
        while self.filled < self.buf.len() {
            let more = match self.pty.try_read(&mut self.buf[self.filled..]) {
                Some(read) => read,
                None if !floods => break,
                None => {
                    let read = self.pty.read(&mut self.buf[self.filled..]);
                    let Ok(read) = tokio::time::timeout_at(until, read).await else { break };
                    read
                }
            };
            match more {
                Ok(len @ 1..) => self.filled += len,
                // The next read finds the end again.
                _ => break,
            }
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
