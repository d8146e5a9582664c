use memchr::{memchr, memchr2, memchr3};

use crate::block::{Blocks, Change, Head};
use crate::finding::{Finding, ParsedTag, Place, SkipReason};

use crate::inline::{INFO_MAX, Inline, Sink};
use crate::judge::Element;
use crate::line::{Beyond, HEAD_MAX, More};
use crate::markup::{self, MARK_MAX, Mark, Read};

/// Finds the tags in an agent's messages, fed in pieces.
///
/// The rule: [`feed`](Self::feed) the pieces of one message in order, cut anywhere, even inside a character; then
/// [`end_message`](Self::end_message). What is found does not depend on where the pieces are cut. A tag is yielded as
/// soon as it is certain, which is when it is closed, or, where a single backtick before it may still turn out to open a
/// code span, when that is settled: at the end of the paragraph, or [`SPAN_MAX`](crate::SPAN_MAX) bytes on.
///
/// It takes time in proportion to the input and holds [`MEMORY_MAX`](Self::MEMORY_MAX) bytes at most.
///
/// ```
/// use jackin_tags::TagParser;
///
/// let mut parser = TagParser::new();
/// assert!(parser.feed("Opened <jackin:pr>https://github.com/a/b/pu").is_empty());
/// let tags = parser.feed("ll/7</jackin:pr>.\n```\n<jackin:pr>in code</jackin:pr>\n```\n");
/// assert_eq!(tags.len(), 1);
/// assert_eq!(tags[0].tag.value, "https://github.com/a/b/pull/7");
/// assert_eq!(tags[0].place.line, 1);
/// assert!(parser.end_message().is_empty());
/// ```
#[derive(Debug)]
pub struct TagParser {
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

/// What counts, and what is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParserOptions {
    /// Tags in inline code spans count too. Fenced code never does.
    pub tags_in_code_spans: bool,
    /// Report what was skipped and why, as [`Finding::Skipped`].
    pub explain: bool,
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

impl TagParser {
    /// The most memory that one parser holds, itself included.
    pub const MEMORY_MAX: usize = size_of::<Self>() + Blocks::HEAP_MAX + Inline::HEAP_MAX;

    /// A parser at the start of a message.
    pub fn new() -> Self {
        Self::with_options(ParserOptions::default())
    }

    /// A parser with other than the usual rules.
    pub fn with_options(options: ParserOptions) -> Self {
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

    /// Reads the next piece of the message and returns the tags that are certain now.
    pub fn feed(&mut self, piece: impl AsRef<[u8]>) -> Vec<ParsedTag> {
        let mut tags = Vec::new();
        self.feed_with(piece, &mut tags_into(&mut tags));
        tags
    }

    /// The same, handing out each finding as it is made.
    pub fn feed_with(&mut self, piece: impl AsRef<[u8]>, sink: &mut dyn FnMut(Finding)) {
        let piece = piece.as_ref();
        if !piece.is_empty() {
            Pass { parser: self, piece, at: 0, unread: 0, sink }.run();
        }
    }

    /// The message is complete: returns the tags that only its end makes certain, and forgets it.
    pub fn end_message(&mut self) -> Vec<ParsedTag> {
        let mut tags = Vec::new();
        self.end_message_with(&mut tags_into(&mut tags));
        tags
    }

    /// The same, handing out each finding as it is made.
    pub fn end_message_with(&mut self, sink: &mut dyn FnMut(Finding)) {
        Pass { parser: self, piece: b"", at: 0, unread: 0, sink }.end();
        self.blocks.reset();
        self.mode = Mode::Head;
        self.carried = 0;
        self.maybe = None;
        self.escape = false;
        self.offset = 0;
        self.line = 1;
    }

    /// Everything there is to say about one whole message, in the order of the text.
    pub fn explain(message: impl AsRef<[u8]>) -> Vec<Finding> {
        let mut parser = Self::with_options(ParserOptions { explain: true, ..ParserOptions::default() });
        let mut findings = Vec::new();
        parser.feed_with(message, &mut |finding| findings.push(finding));
        parser.end_message_with(&mut |finding| findings.push(finding));
        findings.sort_by_key(Finding::place);
        findings
    }
}

const _: () = assert!(TagParser::MEMORY_MAX <= 16 * 1024);

impl Default for TagParser {
    fn default() -> Self {
        Self::new()
    }
}

fn tags_into(tags: &mut Vec<ParsedTag>) -> impl FnMut(Finding) {
    |finding| {
        if let Finding::Tag(tag) = finding {
            tags.push(tag);
        }
    }
}

/// One way through one piece.
struct Pass<'a> {
    parser: &'a mut TagParser,
    piece: &'a [u8],
    at: usize,
    /// Text from here on has not been handed to the open tag.
    unread: usize,
    sink: Sink<'a>,
}

impl Pass<'_> {
    fn run(mut self) {
        while self.at < self.piece.len() {
            match self.parser.mode {
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
        if self.parser.mode == Mode::Text && !self.decide_fence(self.piece.len()) {
            self.parser.inline.expire(end, self.sink);
        }
        self.hand_over(self.piece.len());
        self.parser.escape = self.escaped(self.piece.len());
        self.parser.offset = end;
    }

    fn end(mut self) {
        if self.parser.mode == Mode::Head && self.parser.carried > 0 {
            self.head();
        }
        if let Mode::Run { len, start, escaped } = self.parser.mode {
            self.apply_run(len, start, escaped);
        }
        if self.parser.maybe.is_some() {
            self.parser.inline.fence_is_code(self.sink);
        }
        self.parser.inline.finish(self.sink);
    }

    fn head(&mut self) {
        let before = self.parser.carried;
        let rest = &self.piece[self.at..];
        let rest = &rest[..rest.len().min(HEAD_MAX - before)];
        if before == 0 {
            if let Some(&first) = rest.first()
                && self.parser.blocks.is_plainly_code(first)
            {
                self.parser.mode = Mode::Code;
                return;
            }
        } else {
            self.parser.carry[before..before + rest.len()].copy_from_slice(rest);
        }
        let seen = before + rest.len();
        let line = if before == 0 { rest } else { &self.parser.carry[..seen] };
        let beyond = match rest.len() {
            0 => Beyond::End,
            _ if seen == HEAD_MAX => Beyond::Text,
            _ => Beyond::Unknown,
        };
        match self.parser.blocks.head(line, beyond) {
            Err(More) => {
                self.parser.carry[before..seen].copy_from_slice(rest);
                self.parser.carried = seen;
                self.at = self.piece.len();
            }
            Ok((head, change)) => {
                self.parser.carried = 0;
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
        let parser = &mut *self.parser;
        if let Head::Text { fresh, .. } | Head::FenceStart { fresh, .. } = head {
            if fresh {
                parser.blocks.commit(change);
                parser.inline.settle(self.sink);
            } else if matches!(head, Head::Text { .. }) {
                parser.blocks.commit_lazy();
            }
        }
        parser.mode = match head {
            Head::Text { .. } if len > 0 && parser.carry[at] == b'`' => {
                Mode::Run { len, start, escaped: false }
            }
            Head::Text { .. } => Mode::Text,
            Head::FenceStart { mark, fresh, .. } => {
                Mode::FenceRun { mark, len, start, keep: (!fresh).then_some(change.kept()) }
            }
            Head::FenceEnd { .. } => Mode::EndRun { len },
            Head::Code => Mode::Code,
        };
    }

    fn text(&mut self) {
        while self.parser.mode == Mode::Text {
            let Some(next) = memchr3(b'\n', b'`', b'<', &self.piece[self.at..]) else {
                self.at = self.piece.len();
                return;
            };
            self.at += next;
            if self.piece[self.at] == b'\n' {
                self.end_of_text_line();
            } else if self.parser.maybe.is_some() && self.decide_fence(self.at) {
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
        let parser = &mut *self.parser;
        if let Some(maybe) = parser.maybe.take() {
            parser.open_fence(b'`', maybe.len, maybe.keep, self.sink);
            parser.mode = Mode::Head;
            parser.line += 1;
            self.at += 1;
            return;
        }
        loop {
            parser.line += 1;
            self.at += 1;
            match self.piece.get(self.at) {
                Some(b'\n') => {
                    parser.blocks.blank_line();
                    parser.inline.settle(self.sink);
                }
                Some(&first) if Blocks::is_plain(first) => {
                    if parser.blocks.plain_line() {
                        parser.inline.settle(self.sink);
                    }
                    return;
                }
                _ => {
                    parser.mode = Mode::Head;
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
            self.parser.mode = Mode::Run { len, start, escaped };
        } else {
            self.apply_run(len, start, escaped);
        }
    }

    fn apply_run(&mut self, len: u64, start: u64, escaped: bool) {
        let spans = !self.parser.options.tags_in_code_spans;
        self.parser.mode = Mode::Text;
        if self.parser.maybe.take().is_some() {
            self.parser.blocks.commit_lazy();
            self.parser.inline.fence_is_text(spans, self.sink);
        }
        if spans {
            self.parser.inline.run(len, start, escaped, self.sink);
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
                self.parser.carry[..rest.len()].copy_from_slice(rest);
                self.parser.carried = rest.len();
                self.parser.mode = Mode::Mark { code };
                self.at = self.piece.len();
                self.unread = self.at;
            }
            Read::Partial | Read::Text => self.at += 1,
            read => {
                self.hand_over(self.at);
                let len = self.parser.meet(&read, code, self.place(self.at), self.sink);
                self.at += len;
                self.unread = self.at;
            }
        }
    }

    /// A mark of which the beginning is carried over.
    fn cut_mark(&mut self, code: bool) {
        let before = self.parser.carried;
        let rest = &self.piece[self.at..];
        let rest = &rest[..rest.len().min(MARK_MAX - before)];
        let seen = before + rest.len();
        self.parser.carry[before..seen].copy_from_slice(rest);
        let carry = self.parser.carry;
        let read = markup::read(&carry[..seen]);
        if read == Read::Partial && seen < MARK_MAX {
            self.parser.carried = seen;
            self.at = self.piece.len();
            self.unread = self.at;
            return;
        }
        let place = Place { line: self.parser.line, offset: self.offset(self.at) - before as u64 };
        self.parser.carried = 0;
        self.parser.mode = if code { Mode::Code } else { Mode::Text };
        if matches!(read, Read::Text | Read::Partial) {
            self.parser.inline.text(&carry[..before]);
        } else {
            let len = self.parser.meet(&read, code, place, self.sink);
            self.at += len.saturating_sub(before);
        }
        self.unread = self.at;
    }

    fn fence_run(&mut self, mark: u8, len: u64, start: u64, keep: Option<usize>) {
        let len = len + self.count(mark) as u64;
        let parser = &mut *self.parser;
        if self.at == self.piece.len() {
            parser.mode = Mode::FenceRun { mark, len, start, keep };
        } else if mark == b'`' {
            parser.mode = Mode::Text;
            parser.maybe = Some(MaybeFence { len, end: start + len, keep });
            parser.inline.fence_begins(len, start, self.sink);
        } else {
            parser.mode = Mode::Code;
            parser.open_fence(mark, len, keep, self.sink);
        }
    }

    /// Beyond [`INFO_MAX`] bytes, a line that began with a fence is one. Returns whether the text before byte `at`
    /// reached so far.
    fn decide_fence(&mut self, at: usize) -> bool {
        let offset = self.offset(at);
        let parser = &mut *self.parser;
        match parser.maybe {
            Some(maybe) if offset > maybe.end + INFO_MAX as u64 => {
                parser.maybe = None;
                parser.mode =
                    if let Mode::Mark { .. } = parser.mode { Mode::Mark { code: true } } else { Mode::Code };
                parser.open_fence(b'`', maybe.len, maybe.keep, self.sink);
                true
            }
            _ => false,
        }
    }

    fn code(&mut self) {
        let rest = &self.piece[self.at..];
        let next = if self.parser.options.explain { memchr2(b'\n', b'<', rest) } else { memchr(b'\n', rest) };
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
        let mark = self.parser.blocks.fence_mark().unwrap_or(b'`');
        let len = len + self.count(mark) as u64;
        self.parser.mode = if self.at == self.piece.len() {
            Mode::EndRun { len }
        } else if self.parser.blocks.closes(len) {
            Mode::EndTail
        } else {
            Mode::Code
        };
    }

    fn end_tail(&mut self) {
        match self.piece[self.at] {
            b' ' | b'\t' | b'\r' => self.at += 1,
            b'\n' => {
                self.parser.blocks.close_fence();
                self.end_of_code_line();
            }
            _ => self.parser.mode = Mode::Code,
        }
    }

    fn end_of_code_line(&mut self) {
        self.at += 1;
        self.parser.line += 1;
        self.parser.mode = Mode::Head;
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
        if self.parser.inline.collects() {
            self.parser.inline.text(&self.piece[self.unread..to]);
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
        (slashes % 2 == 1) != (slashes == before.len() && self.parser.escape)
    }

    fn offset(&self, at: usize) -> u64 {
        self.parser.offset + at as u64
    }

    fn place(&self, at: usize) -> Place {
        Place { line: self.parser.line, offset: self.offset(at) }
    }
}

impl TagParser {
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
