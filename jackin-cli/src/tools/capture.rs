use std::collections::VecDeque;

/// The longest line that is handed out while a command runs, in bytes; a longer one comes in pieces.
pub const MAX_LINE: usize = 8 * 1024;

/// What a command printed: the beginning and the end of it, if all of it would be too much.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// Standard output and standard error in the order in which they were written, with a mark where something was
    /// cut out.
    pub bytes: Vec<u8>,
    /// How many bytes were cut out.
    pub cut: u64,
}

impl Captured {
    /// The output as text; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Takes a command's output of any length and keeps its first and its last part: what it began with says what it is,
/// and what it ended with says why.
#[derive(Debug)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    max_head: usize,
    max_tail: usize,
    total: u64,
}

/// Room for the mark, so that the whole stays within the limit.
const MARK_ROOM: usize = 64;

impl Capture {
    /// Keeps at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        let room = limit.saturating_sub(MARK_ROOM);
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            max_head: room.div_ceil(2),
            max_tail: room / 2,
            total: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(self.max_head - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.max_tail)..];
        let overflow = (self.tail.len() + rest.len()).saturating_sub(self.max_tail);
        self.tail.drain(..overflow);
        self.tail.extend(rest);
    }

    pub(super) fn finish(self) -> Captured {
        let cut = self.total - (self.head.len() + self.tail.len()) as u64;
        let mut bytes = self.head;
        if cut > 0 {
            bytes.extend_from_slice(format!("\n[… {cut} bytes were cut out here …]\n").as_bytes());
        }
        bytes.extend(self.tail);
        Captured { bytes, cut }
    }
}

/// Cuts a command's output into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Takes output and hands out the lines that it completes.
    pub(super) fn push(&mut self, bytes: &[u8], mut line: impl FnMut(String)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let mut rest = piece;
            while self.begun.len() + rest.len() > MAX_LINE + 1 {
                let (now, later) = rest.split_at(MAX_LINE - self.begun.len().min(MAX_LINE));
                self.begun.extend_from_slice(now);
                line(self.take(cut_before_partial_char(&self.begun)));
                rest = later;
            }
            self.begun.extend_from_slice(rest);
            if self.begun.ends_with(b"\n") {
                self.begun.pop();
                line(self.take(self.begun.len()));
            }
        }
    }

    /// The last line, if it was not ended.
    pub(super) fn finish(mut self) -> Option<String> {
        (!self.begun.is_empty()).then(|| self.take(self.begun.len()))
    }

    fn take(&mut self, len: usize) -> String {
        let line = String::from_utf8_lossy(&self.begun[..len]).into_owned();
        self.begun.drain(..len);
        line
    }
}

/// Where to cut so that a character that has only begun stays together.
fn cut_before_partial_char(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(limit: usize, chunks: &[&[u8]]) -> Captured {
        let mut capture = Capture::new(limit);
        for chunk in chunks {
            capture.push(chunk);
        }
        capture.finish()
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1_000).collect();
        for size in [1, 7, 300, 1_000] {
            let chunks: Vec<_> = bytes.chunks(size).collect();
            assert_eq!(captured(1_000 + MARK_ROOM, &chunks), Captured { bytes: bytes.clone(), cut: 0 });
        }
    }

    #[test]
    fn too_much_keeps_both_ends_whatever_the_chunks() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        let limit = 10_000;
        let whole = captured(limit, &[&bytes]);
        assert!(whole.bytes.len() <= limit, "{}", whole.bytes.len());
        let text = whole.text();
        assert!(text.starts_with("0\n1\n") && text.ends_with("99998\n99999\n"));
        assert_eq!(text.matches("bytes were cut out here").count(), 1);
        let kept = whole.bytes.len() - format!("\n[… {} bytes were cut out here …]\n", whole.cut).len();
        assert_eq!(kept as u64 + whole.cut, bytes.len() as u64);
        for size in [1, 999, 4_968, 50_000] {
            assert_eq!(captured(limit, &bytes.chunks(size).collect::<Vec<_>>()), whole, "chunks of {size}");
        }
    }

    #[test]
    fn lines_come_as_they_end_and_long_ones_in_pieces() {
        let long = "é".repeat(MAX_LINE);
        let text = format!("a\n\nb\r\n{long}\nend");
        for size in [1, 2, 3, 1_000, text.len()] {
            let mut lines = Lines::default();
            let mut seen = Vec::new();
            for chunk in text.as_bytes().chunks(size) {
                lines.push(chunk, |line| seen.push(line));
                assert!(lines.begun.len() <= MAX_LINE + 1);
            }
            seen.extend(lines.finish());
            assert_eq!(seen[..3], ["a", "", "b\r"]);
            assert_eq!(seen[3..seen.len() - 1].concat(), long, "chunks of {size}");
            assert!(seen.iter().all(|line| line.len() <= MAX_LINE + 1));
            assert_eq!(seen.last().unwrap(), "end");
        }
    }
}
