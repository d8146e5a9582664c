//! A reading position at the head of a line, counted in columns.
//!
//! The head of a line (indent, markers of quotes and lists, the marks of a fence) is all that its block structure
//! depends on. It may arrive in pieces: whoever looks past what has arrived gets [`More`].

/// The head of a line is looked at for so many bytes; what is undecided there is text.
pub(crate) const HEAD_MAX: usize = 256;

const TAB_STOP: usize = 4;

/// The answer depends on bytes that have not arrived.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct More;

/// What stands behind the last byte of the slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// Bytes that have not arrived.
    Unknown,
    /// The end of the message, which ends the line.
    End,
    /// Bytes past [`HEAD_MAX`], which are nobody's structure.
    Text,
}

/// The first byte that is neither space nor tab, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    pub(crate) indent: usize,
    pub(crate) at: usize,
    pub(crate) byte: u8,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    line: &'a [u8],
    beyond: Beyond,
    at: usize,
    column: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(line: &'a [u8], beyond: Beyond) -> Self {
        Self { line, beyond, at: 0, column: 0 }
    }

    /// The byte at `at`; the end of the message reads as a line feed. Never ask beyond a line feed.
    pub(crate) fn byte(&self, at: usize) -> Result<u8, More> {
        match self.line.get(at) {
            Some(&byte) => Ok(byte),
            None => match self.beyond {
                Beyond::Unknown => Err(More),
                Beyond::End => Ok(b'\n'),
                Beyond::Text => Ok(b'x'),
            },
        }
    }

    pub(crate) fn ahead(&self) -> Result<Ahead, More> {
        let (mut at, mut column) = (self.at, self.column);
        loop {
            match self.byte(at)? {
                b' ' => column += 1,
                b'\t' => column += TAB_STOP - column % TAB_STOP,
                byte => return Ok(Ahead { indent: column - self.column, at, byte }),
            }
            at += 1;
        }
    }

    /// Whether nothing but white space follows `at` on this line.
    pub(crate) fn blank_from(&self, mut at: usize) -> Result<bool, More> {
        loop {
            match self.byte(at)? {
                b'\n' => return Ok(true),
                b' ' | b'\t' | b'\r' => at += 1,
                _ => return Ok(false),
            }
        }
    }

    /// How often `mark` stands from `at` on.
    pub(crate) fn run(&self, at: usize, mark: u8) -> Result<usize, More> {
        let mut len = 0;
        while self.byte(at + len)? == mark {
            len += 1;
        }
        Ok(len)
    }

    /// Steps over a marker that `ahead` has found, together with the indent before it.
    pub(crate) fn skip_marker(&mut self, ahead: Ahead, len: usize) {
        self.at = ahead.at + len;
        self.column += ahead.indent + len;
    }

    /// Steps over white space; a tab that is wider than what is asked for stays, narrowed.
    pub(crate) fn skip_columns(&mut self, mut columns: usize) {
        while columns > 0 {
            let width = match self.line.get(self.at) {
                Some(b' ') => 1,
                Some(b'\t') => TAB_STOP - self.column % TAB_STOP,
                _ => return,
            };
            if width > columns {
                self.column += columns;
                return;
            }
            self.at += 1;
            self.column += width;
            columns -= width;
        }
    }
}
