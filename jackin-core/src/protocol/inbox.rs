/// Bytes that arrived and were not consumed yet, never more than `max` of them.
///
/// Memory follows what really arrived, not what a peer announces, and goes back after a large message.
#[derive(Debug)]
pub(crate) struct Inbox {
    buf: Vec<u8>,
    start: usize,
    max: usize,
}

/// What an empty inbox keeps allocated: a little more than one read of 64 KiB with its headers.
const KEPT: usize = 80 * 1024;

impl Inbox {
    pub(crate) const fn new(max: usize) -> Self {
        Self { buf: Vec::new(), start: 0, max }
    }

    /// Takes as many of `bytes` as there is room for and says how many.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> usize {
        if self.start == self.buf.len() {
            self.buf.clear();
            self.start = 0;
            if self.buf.capacity() > KEPT {
                self.buf.shrink_to(KEPT);
            }
        } else if self.start > 0
            && (self.buf.capacity() - self.buf.len()).min(self.max - self.buf.len()) < bytes.len()
        {
            self.buf.drain(..self.start);
            self.start = 0;
        }
        let taken = bytes.len().min(self.max - self.buf.len());
        let needed = self.buf.len() + taken;
        if needed > self.buf.capacity() {
            // Doubling, but never past the bound.
            let target = needed.max(2 * self.buf.capacity()).min(self.max);
            self.buf.reserve_exact(target - self.buf.len());
        }
        self.buf.extend_from_slice(&bytes[..taken]);
        taken
    }

    /// How many bytes there is room for.
    pub(crate) fn room(&self) -> usize {
        self.max - self.pending().len()
    }

    /// What was fed and not consumed.
    pub(crate) fn pending(&self) -> &[u8] {
        &self.buf[self.start..]
    }

    /// Consumes the first `len` pending bytes and lends them out.
    pub(crate) fn consume(&mut self, len: usize) -> &[u8] {
        let from = self.start;
        self.start = (from + len).min(self.buf.len());
        &self.buf[from..self.start]
    }

    /// Drops everything and gives the memory back.
    pub(crate) fn discard(&mut self) {
        self.buf = Vec::new();
        self.start = 0;
    }

    /// How much memory is held.
    pub(crate) fn capacity(&self) -> usize {
        self.buf.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_no_more_than_its_bound_and_gives_memory_back() {
        let mut inbox = Inbox::new(1 << 20);
        assert_eq!(inbox.feed(&vec![7; 3 << 20]), 1 << 20);
        assert_eq!(inbox.feed(&[7]), 0);
        assert!(inbox.capacity() <= 1 << 20);
        assert_eq!(inbox.consume(1 << 20).len(), 1 << 20);
        assert_eq!(inbox.feed(b"x"), 1);
        assert!(inbox.capacity() <= KEPT);
        assert_eq!(inbox.pending(), b"x");
    }

    #[test]
    fn a_partly_consumed_inbox_makes_room() {
        let mut inbox = Inbox::new(8);
        assert_eq!(inbox.feed(b"12345678"), 8);
        assert_eq!(inbox.consume(6), b"123456");
        assert_eq!(inbox.feed(b"abcdefgh"), 6);
        assert_eq!(inbox.pending(), b"78abcdef");
    }
}
