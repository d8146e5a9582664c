//! The sweep: one way through each piece, block structure from `block`, marks and spans to `inline`.

use memchr::{memchr, memchr2, memchr3};

use crate::block::{Blocks, Change, Head};
use crate::finding::{Place, SkipReason};
use crate::inline::{INFO_MAX, Inline, Sink};
use crate::judge::Element;
use crate::line::{Beyond, HEAD_MAX, More};
use crate::markup::{self, MARK_MAX, Mark, Read};
use crate::parser::ParserOptions;

/// Where the reader is in a message.
#[derive(Debug)]
pub(crate) struct Scan {
    options: ParserOptions,
    blocks: Blocks,
    inline: Inline,
    mode: Mode,
    /// The head of a line or the beginning of a mark, cut off by the end of a piece.
    carry: [u8; HEAD_MAX],
    carried: usize,
    /// The line begins with a fence of backticks, unless another backtick follows on it.
    maybe: Option<MaybeFence>,
    /// The last piece ended with an odd number of backslashes.
    escape: bool,
    offset: u64,
    line: u64,
}

impl Scan {
    /// Memory behind the vectors, at most.
    pub(crate) const HEAP_MAX: usize = Blocks::HEAP_MAX + Inline::HEAP_MAX;

    pub(crate) fn new(options: ParserOptions) -> Self {
        Self {
            options,
            blocks: Blocks::default(),
            inline: Inline::new(options.explain),
            mode: Mode::Head,
            carry: [0; HEAD_MAX],
            carried: 0,
            maybe: None,
            escape: false,
            offset: 0,
            line: 1,
        }
    }

    pub(crate) fn feed(&mut self, piece: &[u8], sink: Sink<'_>) {
        if !piece.is_empty() {
            Pass { scan: self, piece, at: 0, unread: 0, sink }.run();
        }
    }

    /// The message is over. What is left of it is decided, and the buffers stay.
    pub(crate) fn end(&mut self, sink: Sink<'_>) {
        Pass { scan: self, piece: b"", at: 0, unread: 0, sink }.end();
        self.blocks.reset();
        self.mode = Mode::Head;
        self.carried = 0;
        self.maybe = None;
        self.escape = false;
        self.offset = 0;
        self.line = 1;
    }
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The head of a line.
    Head,
    /// Text.
    Text,
    /// A run of backticks in text.
    Run { len: u64, start: u64, escaped: bool },
    /// A mark.
    Mark { code: bool },
    /// The run that begins a fence.
    FenceRun { mark: u8, len: u64, start: u64, keep: Option<usize> },
    /// The rest of a line in or before fenced code.
    Code,
    /// The run that may end the fence.
    EndRun { len: u64 },
    /// What follows that run.
    EndTail,
}

#[derive(Clone, Copy, Debug)]
struct MaybeFence {
    len: u64,
    /// The byte behind the run.
    end: u64,
    /// Where the line, as text, would go on with a paragraph: the containers that stay if it is a fence after all.
    keep: Option<usize>,
}

/// One way through one piece.
struct Pass<'a> {
    scan: &'a mut Scan,
    piece: &'a [u8],
    at: usize,
    /// Text from here on has not been handed to the open tag.
    unread: usize,
    sink: Sink<'a>,
}

impl Pass<'_> {
    fn run(mut self) {
        while self.at < self.piece.len() {
            match self.scan.mode {
                Mode::Head => self.head(),
                Mode::Text => self.text(),
                Mode::Run { len, start, escaped } => self.backticks(len, start, escaped),
                Mode::Mark { code } => self.cut_mark(code),
                Mode::FenceRun { mark, len, start, keep } => self.fence_run(mark, len, start, keep),
                Mode::Code => self.code(),
                Mode::EndRun { len } => self.end_run(len),
                Mode::EndTail => self.end_tail(),
            }
        }
        let end = self.offset(self.piece.len());
        // In the other modes something has begun before the end, and may belong to what would be decided here.
        if self.scan.mode == Mode::Text && !self.decide_fence(self.piece.len()) {
            self.scan.inline.expire(end, self.sink);
        }
        self.hand_over(self.piece.len());
        self.scan.escape = self.escaped(self.piece.len());
        self.scan.offset = end;
    }

    fn end(mut self) {
        if self.scan.mode == Mode::Head && self.scan.carried > 0 {
            self.head();
        }
        if let Mode::Run { len, start, escaped } = self.scan.mode {
            self.apply_run(len, start, escaped);
        }
        if self.scan.maybe.is_some() {
            self.scan.inline.fence_is_code(self.sink);
        }
        self.scan.inline.finish(self.sink);
    }

    fn head(&mut self) {
        let before = self.scan.carried;
        let rest = &self.piece[self.at..];
        let rest = &rest[..rest.len().min(HEAD_MAX - before)];
        if before == 0 {
            if let Some(&first) = rest.first()
                && self.scan.blocks.is_plainly_code(first)
            {
                self.scan.mode = Mode::Code;
                return;
            }
        } else {
            self.scan.carry[before..before + rest.len()].copy_from_slice(rest);
        }
        let seen = before + rest.len();
        let line = if before == 0 { rest } else { &self.scan.carry[..seen] };
        let beyond = match rest.len() {
            0 => Beyond::End,
            _ if seen == HEAD_MAX => Beyond::Text,
            _ => Beyond::Unknown,
        };
        let mut change = Change::new();
        match self.scan.blocks.head(line, beyond, &mut change) {
            Err(More) => {
                self.scan.carry[before..seen].copy_from_slice(rest);
                self.scan.carried = seen;
                self.at = self.piece.len();
            }
            Ok(head) => {
                self.scan.carried = 0;
                self.begin_line(head, &change, before);
            }
        }
    }

    /// Acts on the head of a line, of which `before` bytes were carried over.
    fn begin_line(&mut self, head: Head, change: &Change, before: usize) {
        let at = match head {
            Head::Text { at, .. } | Head::FenceStart { at, .. } | Head::FenceEnd { at } => at,
            Head::Code => 0,
        };
        // Of what was carried over, only marks of a run can stand at or behind `at`.
        let len = before.saturating_sub(at) as u64;
        self.at += at.saturating_sub(before);
        let start = self.offset(self.at) - len;
        let scan = &mut *self.scan;
        if let Head::Text { fresh, .. } | Head::FenceStart { fresh, .. } = head {
            if fresh {
                scan.blocks.commit(change);
                scan.inline.settle(self.sink);
            } else if matches!(head, Head::Text { .. }) {
                scan.blocks.commit_lazy();
            }
        }
        scan.mode = match head {
            Head::Text { .. } if len > 0 && scan.carry[at] == b'`' => {
                Mode::Run { len, start, escaped: false }
            }
            Head::Text { .. } => Mode::Text,
            Head::FenceStart { mark, fresh, .. } => {
                Mode::FenceRun { mark, len, start, keep: (!fresh).then_some(change.kept()) }
            }
            Head::FenceEnd { .. } => Mode::EndRun { len },
            Head::Code => Mode::Code,
        };
        // A line without text needs no sweep for its end.
        if self.scan.mode == Mode::Text && self.piece.get(self.at) == Some(&b'\n') {
            self.end_of_text_line();
        }
    }

    fn text(&mut self) {
        while self.scan.mode == Mode::Text {
            let Some(next) = memchr3(b'\n', b'`', b'<', &self.piece[self.at..]) else {
                self.at = self.piece.len();
                return;
            };
            self.at += next;
            if self.piece[self.at] == b'\n' {
                self.end_of_text_line();
            } else if self.scan.maybe.is_some() && self.decide_fence(self.at) {
                return;
            } else if self.piece[self.at] == b'`' {
                let escaped = self.escaped(self.at);
                self.backticks(0, self.offset(self.at), escaped);
            } else {
                self.angle(false);
            }
        }
    }

    /// A line feed at the position. Goes on through lines whose first byte says all there is to know.
    fn end_of_text_line(&mut self) {
        let scan = &mut *self.scan;
        if let Some(maybe) = scan.maybe.take() {
            scan.open_fence(b'`', maybe.len, maybe.keep, self.sink);
            scan.mode = Mode::Head;
            scan.line += 1;
            self.at += 1;
            return;
        }
        loop {
            scan.line += 1;
            self.at += 1;
            match self.piece.get(self.at) {
                Some(b'\n') => {
                    scan.blocks.blank_line();
                    scan.inline.settle(self.sink);
                }
                Some(&first) if Blocks::is_plain(first) => {
                    if scan.blocks.plain_line() {
                        scan.inline.settle(self.sink);
                    }
                    return;
                }
                _ => {
                    scan.mode = Mode::Head;
                    return;
                }
            }
        }
    }

    /// Counts a run that stands at the position, after `len` backticks in earlier pieces.
    fn backticks(&mut self, len: u64, start: u64, escaped: bool) {
        let here = self.count(b'`');
        let len = len + here as u64;
        if self.at == self.piece.len() {
            self.scan.mode = Mode::Run { len, start, escaped };
        } else {
            self.apply_run(len, start, escaped);
        }
    }

    fn apply_run(&mut self, len: u64, start: u64, escaped: bool) {
        let spans = !self.scan.options.tags_in_code_spans;
        self.scan.mode = Mode::Text;
        if self.scan.maybe.take().is_some() {
            self.scan.blocks.commit_lazy();
            self.scan.inline.fence_is_text(spans, self.sink);
        }
        if spans {
            self.scan.inline.run(len, start, escaped, self.sink);
        }
    }

    /// A `<` at the position.
    fn angle(&mut self, code: bool) {
        // Of brackets in a row, only the last can begin a mark.
        self.at += self.piece[self.at + 1..].iter().take_while(|&&byte| byte == b'<').count();
        let rest = &self.piece[self.at..];
        if rest.get(1).is_some_and(|&next| !markup::plausible(next)) {
            self.at += 1;
            return;
        }
        let view = &rest[..rest.len().min(MARK_MAX)];
        match markup::read(view) {
            Read::Partial if rest.len() < MARK_MAX => {
                self.hand_over(self.at);
                self.scan.carry[..rest.len()].copy_from_slice(rest);
                self.scan.carried = rest.len();
                self.scan.mode = Mode::Mark { code };
                self.at = self.piece.len();
                self.unread = self.at;
            }
            Read::Partial | Read::Text => self.at += 1,
            read => {
                self.hand_over(self.at);
                let len = self.scan.meet(&read, code, self.place(self.at), self.sink);
                self.at += len;
                self.unread = self.at;
            }
        }
    }

    /// A mark of which the beginning is carried over.
    fn cut_mark(&mut self, code: bool) {
        let before = self.scan.carried;
        let rest = &self.piece[self.at..];
        let rest = &rest[..rest.len().min(MARK_MAX - before)];
        let seen = before + rest.len();
        self.scan.carry[before..seen].copy_from_slice(rest);
        let carry = self.scan.carry;
        let read = markup::read(&carry[..seen]);
        if read == Read::Partial && seen < MARK_MAX {
            self.scan.carried = seen;
            self.at = self.piece.len();
            self.unread = self.at;
            return;
        }
        let place = Place { line: self.scan.line, offset: self.offset(self.at) - before as u64 };
        self.scan.carried = 0;
        self.scan.mode = if code { Mode::Code } else { Mode::Text };
        if matches!(read, Read::Text | Read::Partial) {
            self.scan.inline.text(&carry[..before]);
        } else {
            let len = self.scan.meet(&read, code, place, self.sink);
            self.at += len.saturating_sub(before);
        }
        self.unread = self.at;
    }

    fn fence_run(&mut self, mark: u8, len: u64, start: u64, keep: Option<usize>) {
        let len = len + self.count(mark) as u64;
        let scan = &mut *self.scan;
        if self.at == self.piece.len() {
            scan.mode = Mode::FenceRun { mark, len, start, keep };
        } else if mark == b'`' {
            scan.mode = Mode::Text;
            scan.maybe = Some(MaybeFence { len, end: start + len, keep });
            scan.inline.fence_begins(len, start, self.sink);
        } else {
            scan.mode = Mode::Code;
            scan.open_fence(mark, len, keep, self.sink);
        }
    }

    /// Beyond [`INFO_MAX`] bytes, a line that began with a fence is one. Returns whether the text before byte `at`
    /// reached so far.
    fn decide_fence(&mut self, at: usize) -> bool {
        let offset = self.offset(at);
        let scan = &mut *self.scan;
        match scan.maybe {
            Some(maybe) if offset > maybe.end + INFO_MAX as u64 => {
                scan.maybe = None;
                scan.mode =
                    if let Mode::Mark { .. } = scan.mode { Mode::Mark { code: true } } else { Mode::Code };
                scan.open_fence(b'`', maybe.len, maybe.keep, self.sink);
                true
            }
            _ => false,
        }
    }

    fn code(&mut self) {
        let rest = &self.piece[self.at..];
        let next = if self.scan.options.explain { memchr2(b'\n', b'<', rest) } else { memchr(b'\n', rest) };
        match next {
            None => self.at = self.piece.len(),
            Some(next) => {
                self.at += next;
                if self.piece[self.at] == b'<' {
                    self.angle(true);
                } else {
                    self.end_of_code_line();
                }
            }
        }
    }

    fn end_run(&mut self, len: u64) {
        // The mode is entered within a fence only.
        let mark = self.scan.blocks.fence_mark().unwrap_or(b'`');
        let len = len + self.count(mark) as u64;
        self.scan.mode = if self.at == self.piece.len() {
            Mode::EndRun { len }
        } else if self.scan.blocks.closes(len) {
            Mode::EndTail
        } else {
            Mode::Code
        };
    }

    fn end_tail(&mut self) {
        match self.piece[self.at] {
            b' ' | b'\t' | b'\r' => self.at += 1,
            b'\n' => {
                self.scan.blocks.close_fence();
                self.end_of_code_line();
            }
            _ => self.scan.mode = Mode::Code,
        }
    }

    fn end_of_code_line(&mut self) {
        self.at += 1;
        self.scan.line += 1;
        self.scan.mode = Mode::Head;
    }

    /// Steps over the run of `mark` at the position.
    fn count(&mut self, mark: u8) -> usize {
        let rest = &self.piece[self.at..];
        let len = rest.iter().position(|&byte| byte != mark).unwrap_or(rest.len());
        self.at += len;
        len
    }

    /// Gives the open tag the text before byte `to`.
    fn hand_over(&mut self, to: usize) {
        if self.scan.inline.collects() {
            self.scan.inline.text(&self.piece[self.unread..to]);
        }
        self.unread = to;
    }

    /// Whether an odd number of backslashes stands before byte `at`.
    fn escaped(&self, at: usize) -> bool {
        let before = &self.piece[..at];
        if before.last().is_some_and(|&byte| byte != b'\\') {
            return false;
        }
        let slashes = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
        (slashes % 2 == 1) != (slashes == before.len() && self.scan.escape)
    }

    fn offset(&self, at: usize) -> u64 {
        self.scan.offset + at as u64
    }

    fn place(&self, at: usize) -> Place {
        Place { line: self.scan.line, offset: self.offset(at) }
    }
}

impl Scan {
    /// Passes on what a `<` has turned out to be; returns how many bytes are done with.
    fn meet(&mut self, read: &Read<'_>, code: bool, place: Place, sink: Sink<'_>) -> usize {
        match *read {
            Read::Mark { mark, len } => {
                self.meet_mark(mark, code, place, sink);
                len
            }
            Read::Broken { namespace, kind, len, why } => {
                if !code {
                    self.inline.broken(namespace, kind, why, place, sink);
                }
                len
            }
            Read::Text | Read::Partial => 0,
        }
    }

    fn meet_mark(&mut self, mark: Mark<'_>, code: bool, place: Place, sink: Sink<'_>) {
        if !code {
            self.inline.mark(mark, place, sink);
        } else if !mark.close {
            let element = Element { namespace: mark.namespace, kind: mark.kind, value: b"", place };
            sink(element.skipped(SkipReason::Fenced));
        }
    }

    fn open_fence(&mut self, mark: u8, len: u64, keep: Option<usize>, sink: Sink<'_>) {
        if let Some(keep) = keep {
            self.blocks.keep(keep);
        }
        self.blocks.open_fence(mark, len);
        self.inline.fence_is_code(sink);
    }
}
