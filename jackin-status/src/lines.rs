use memchr::memchr;

/// The longest line that a decoder is given, in bytes. A longer one is counted and skipped: it would be a tool's
/// result with something huge in it, and no status needs that.
pub const MAX_LINE: usize = 8 << 20;

/// Cuts a stream of bytes into lines, in chunks cut anywhere.
///
/// A line that lies whole in one chunk is handed on without a copy. Of a line that spans chunks, at most the cap is
/// kept; once it is longer, what was kept is let go and the rest is skipped up to its end.
///
/// ```
/// use jackin_status::LineSplitter;
///
/// let mut lines = Vec::new();
/// let mut splitter = LineSplitter::new();
/// for chunk in ["one\r\ntw", "o\n\nend"] {
///     splitter.feed(chunk.as_bytes(), |_, line| lines.push(String::from_utf8_lossy(line).into_owned()));
/// }
/// splitter.finish(|number, line| lines.push(format!("{number}: {}", String::from_utf8_lossy(line))));
/// assert_eq!(lines, ["one", "two", "", "4: end"]);
/// ```
#[derive(Debug)]
pub struct LineSplitter {
    open: Vec<u8>,
    cap: usize,
    skipping: bool,
    lines: u64,
    oversized: u64,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self::new()
    }
}

impl LineSplitter {
    /// A splitter at the beginning of a stream, with the cap [`MAX_LINE`].
    pub const fn new() -> Self {
        Self::with_cap(MAX_LINE)
    }

    /// A splitter with another cap.
    pub const fn with_cap(cap: usize) -> Self {
        Self { open: Vec::new(), cap, skipping: false, lines: 0, oversized: 0 }
    }

    /// Takes a chunk and calls `each` with every line that it completes: its number, counted from 1 and skipped lines
    /// included, and its bytes, the line end taken off.
    pub fn feed(&mut self, mut chunk: &[u8], mut each: impl FnMut(u64, &[u8])) {
        while let Some(end) = memchr(b'\n', chunk) {
            let (line, rest) = (&chunk[..end], &chunk[end + 1..]);
            chunk = rest;
            self.lines += 1;
            if self.skipping {
                self.skipping = false;
            } else if self.open.len() + line.len() > self.cap {
                self.oversized += 1;
            } else if self.open.is_empty() {
                each(self.lines, without_return(line));
            } else {
                keep(&mut self.open, line, self.cap);
                each(self.lines, without_return(&self.open));
            }
            self.let_go();
        }
        if self.skipping || chunk.is_empty() {
            return;
        }
        if self.open.len() + chunk.len() > self.cap {
            self.skipping = true;
            self.oversized += 1;
            self.let_go();
        } else {
            keep(&mut self.open, chunk, self.cap);
        }
    }

    /// The stream ended: hands out a last line that had no line end. The splitter is then as new, its counts kept.
    pub fn finish(&mut self, mut each: impl FnMut(u64, &[u8])) {
        if !self.open.is_empty() {
            self.lines += 1;
            each(self.lines, without_return(&self.open));
        }
        self.let_go();
        self.skipping = false;
    }

    /// How many lines were longer than the cap.
    pub fn oversized(&self) -> u64 {
        self.oversized
    }

    /// How many bytes of memory the splitter holds.
    pub fn memory(&self) -> usize {
        self.open.capacity()
    }

    fn let_go(&mut self) {
        // One long line must not cost its length for the rest of the session.
        const KEEP: usize = 64 << 10;
        self.open.clear();
        if self.open.capacity() > KEEP {
            self.open.shrink_to(KEEP);
        }
    }
}

/// Appends to `kept`, which the caller has checked to stay within the cap. Capacity doubles as usual, but never beyond it.
pub(crate) fn keep(kept: &mut Vec<u8>, bytes: &[u8], cap: usize) {
    let needed = kept.len() + bytes.len();
    if needed > kept.capacity() {
        let capacity = needed.max(2 * kept.capacity()).min(cap);
        kept.reserve_exact(capacity - kept.len());
    }
    kept.extend_from_slice(bytes);
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(chunks: &[&[u8]], cap: usize) -> (Vec<Vec<u8>>, u64) {
        let mut splitter = LineSplitter::with_cap(cap);
        let mut lines = Vec::new();
        for chunk in chunks {
            splitter.feed(chunk, |_, line| lines.push(line.to_vec()));
            assert!(splitter.open.len() <= cap);
        }
        splitter.finish(|_, line| lines.push(line.to_vec()));
        (lines, splitter.oversized())
    }

    #[test]
    fn a_line_over_the_cap_is_counted_once_and_costs_no_more_than_the_cap() {
        let mut splitter = LineSplitter::with_cap(1_000);
        let chunk = [b'x'; 600];
        let mut seen = 0;
        for _ in 0..10_000 {
            splitter.feed(&chunk, |_, _| seen += 1);
            assert!(splitter.memory() <= 1_000);
        }
        splitter.feed(b"tail\nnext\n", |number, line| {
            assert_eq!(number, 2);
            assert_eq!(line, b"next");
            seen += 1;
        });
        assert_eq!((seen, splitter.oversized()), (1, 1));
    }

    #[test]
    fn a_gibibyte_without_a_line_end() {
        let mut splitter = LineSplitter::new();
        let chunk = vec![b' '; 1 << 20];
        for _ in 0..1_024 {
            splitter.feed(&chunk, |_, _| panic!("no line ended"));
            assert!(splitter.memory() <= MAX_LINE);
        }
        assert_eq!(splitter.oversized(), 1);
        assert!(splitter.memory() <= 64 << 10);
    }

    #[test]
    fn a_line_of_exactly_the_cap_is_a_line() {
        assert_eq!(split(&[b"1234\n", b"12345\n", b"12", b"34\n"], 4).0, [b"1234", b"1234"]);
    }

    proptest! {
        #[test]
        fn chunking_changes_nothing(bytes in "([a-c]{0,6}\r?\n?){0,12}", cuts in proptest::collection::vec(0usize..60, 0..8)) {
            let bytes = bytes.as_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(0);
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let chunks: Vec<_> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(split(&chunks, 5), split(&[bytes], 5));
        }
    }
}
