//! Marks and code spans within one paragraph: which tags count, decided as early as it can be.
//!
//! A run of backticks opens a code span only if an equally long run follows in the same paragraph; otherwise it is
//! literal. A reader that goes once through its input cannot know that yet, so it follows both: every run that may
//! still be closed is a *level*, and a tag found above a level is held until that level closes (the tag was in code)
//! or turns out to be literal. Of two levels the older one is right if it closes at all, because a span that began
//! earlier hides the runs within it. Levels have distinct lengths, since a second run of the same length closes the
//! first; and each waits for [`SPAN_MAX`] bytes at most. Hence few levels, few held tags, and bounded memory.

use crate::finding::{Finding, Place, SkipReason};
use crate::judge::{Element, judge};
use crate::markup::{Broken, KIND_MAX, MARK_MAX, Mark};
use crate::namespace::Namespace;
use crate::value::{VALUE_MAX, ValueError};

/// A code span is at most this long, in bytes between its runs of backticks; a run that is not closed by then is
/// literal.
pub const SPAN_MAX: usize = 1024;

/// The rest of a line that begins with a backtick fence is looked at for so many bytes. A backtick in there means that
/// the line is text; beyond, the line is a fence.
pub(crate) const INFO_MAX: usize = 256;

/// Distinct lengths 1, 2, 3 … of runs, each followed by a byte that ends it, fill [`SPAN_MAX`] with 43; besides, the
/// oldest stands before that stretch and the newest may reach out of it.
const LEVELS_MAX: usize = 46;

/// The shortest mark that is worth a held entry is `<jackin:`.
const HELD_MAX: usize = (SPAN_MAX + INFO_MAX) / 8 + 4;

/// Of the held values one may have begun before the oldest level, the others lie within the stretch that is waited for;
/// and there is the open tag.
const BYTES_MAX: usize = 2 * (VALUE_MAX + KIND_MAX) + SPAN_MAX + INFO_MAX + MARK_MAX;

/// Takes what was found.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(Finding);

/// The rule: offsets never decrease from call to call. What each call finds is in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Inline {
    explain: bool,
    levels: Vec<Level>,
    /// The newest level is a line that may open a fence. Nothing expires meanwhile: if the line is text, its run may
    /// yet close an older level.
    fence_open: bool,
    /// In the order of the text, hence of rising level.
    held: Vec<Held>,
    /// Kind and value of each held element, then of the open tag.
    bytes: Vec<u8>,
    /// How much of `bytes` belongs to held elements.
    held_bytes: usize,
    open: Option<Open>,
}

/// A run of backticks that may open a code span.
#[derive(Clone, Copy, Debug)]
struct Level {
    run: u64,
    /// The byte behind the run.
    end: u64,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    place: Place,
    value_len: u16,
    kind_len: u8,
    namespace: Namespace,
    /// How many levels it stands above.
    level: u8,
    skip: Option<SkipReason>,
}

/// A tag whose closing mark has not come.
#[derive(Clone, Copy, Debug)]
struct Open {
    place: Place,
    namespace: Namespace,
    kind_len: u8,
    level: u8,
    /// Bytes of the value from its first that is not white space.
    seen: u64,
    /// The same, up to the last byte that is not white space.
    solid: u64,
}

impl Inline {
    /// Memory behind the vectors, at most.
    pub(crate) const HEAP_MAX: usize =
        LEVELS_MAX * size_of::<Level>() + HELD_MAX * size_of::<Held>() + BYTES_MAX;

    pub(crate) fn new(explain: bool) -> Self {
        Self { explain, ..Self::default() }
    }

    /// Whether text matters: a tag is open and collects its value.
    pub(crate) fn collects(&self) -> bool {
        self.open.is_some()
    }

    /// A well-formed mark.
    pub(crate) fn mark(&mut self, mark: Mark<'_>, place: Place, sink: Sink<'_>) {
        self.expire(place.offset, sink);
        if !mark.close {
            self.abandon(SkipReason::Nested, sink);
            self.begin(mark, place);
            return;
        }
        let Some(open) = self.open else {
            self.skip(mark.namespace, mark.kind, SkipReason::StrayClose, place, sink);
            return;
        };
        let kind = &self.bytes[self.held_bytes..][..usize::from(open.kind_len)];
        if open.namespace != mark.namespace || kind != mark.kind {
            self.abandon(SkipReason::Mismatched, sink);
        } else if open.solid > VALUE_MAX as u64 {
            tracing::debug!(
                bytes = open.solid,
                line = open.place.line,
                "dropped a tag whose value is too long"
            );
            self.abandon(SkipReason::Value(ValueError::TooLong), sink);
        } else {
            self.open = None;
            self.hold(open, open.solid as usize, self.levels.len() as u8, None, sink);
        }
    }

    /// Something that begins like a mark. It ends an open tag all the same.
    pub(crate) fn broken(
        &mut self,
        namespace: Namespace,
        kind: &[u8],
        why: Broken,
        place: Place,
        sink: Sink<'_>,
    ) {
        self.expire(place.offset, sink);
        self.abandon(SkipReason::Nested, sink);
        let reason = match why {
            Broken::Attributes => SkipReason::Attributes,
            Broken::Kind => SkipReason::BadKind,
        };
        self.skip(namespace, kind, reason, place, sink);
    }

    /// Text; matters to an open tag only.
    pub(crate) fn text(&mut self, text: &[u8]) {
        let Some(open) = &mut self.open else { return };
        let lead = if open.seen == 0 { text.iter().take_while(|&&b| is_space(b)).count() } else { 0 };
        let text = &text[lead..];
        let room = (VALUE_MAX as u64).saturating_sub(open.seen) as usize;
        if let Some(last) = text.iter().rposition(|&b| !is_space(b)) {
            open.solid = open.seen + last as u64 + 1;
        }
        open.seen += text.len() as u64;
        self.bytes.extend_from_slice(&text[..text.len().min(room)]);
        debug_assert!(self.bytes.len() <= BYTES_MAX);
    }

    /// A whole run of backticks from byte `start`. An `escaped` run opens nothing.
    pub(crate) fn run(&mut self, len: u64, start: u64, escaped: bool, sink: Sink<'_>) {
        self.expire(start, sink);
        if let Some(level) = self.levels.iter().position(|level| level.run == len) {
            self.drop_above(level, SkipReason::CodeSpan, sink);
        } else if !escaped {
            self.push_level(Level { run: len, end: start + len }, sink);
        }
    }

    /// A line begins with a run that opens a fence, unless a backtick follows in the line. The next call is
    /// [`fence_is_code`](Self::fence_is_code) or [`fence_is_text`](Self::fence_is_text), after the marks of that line.
    pub(crate) fn fence_begins(&mut self, len: u64, start: u64, sink: Sink<'_>) {
        self.expire(start, sink);
        self.push_level(Level { run: len, end: start + len }, sink);
        self.fence_open = true;
    }

    /// The line did open a fence: what it holds is code, and the paragraph before it is over, and any open tag with it.
    pub(crate) fn fence_is_code(&mut self, sink: Sink<'_>) {
        if self.fence_open {
            self.fence_open = false;
            self.drop_above(self.levels.len() - 1, SkipReason::Fenced, sink);
        }
        self.settle(sink);
        self.abandon(SkipReason::Unclosed, sink);
    }

    /// The line is text, and its first run one of the paragraph's; `spans` tells whether runs count at all.
    pub(crate) fn fence_is_text(&mut self, spans: bool, sink: Sink<'_>) {
        self.fence_open = false;
        let Some(fence) = self.levels.pop() else { return };
        let below = self.levels.len();
        let closed =
            if spans { self.levels.iter().position(|level| level.run == fence.run) } else { Some(below) };
        let Some(level) = closed else {
            self.levels.push(fence);
            return;
        };
        // What stands behind the run is text; only what stands between the two runs was code.
        let (first, last) = (self.held_above(level), self.held_above(below));
        self.drop_held(first..last, SkipReason::CodeSpan, sink);
        if self.open.is_some_and(|open| (level + 1..=below).contains(&usize::from(open.level))) {
            self.disclose(SkipReason::CodeSpan, sink);
        }
        self.levels.truncate(level);
        self.lower_to(level as u8);
        self.release(sink);
    }

    /// Levels that were not closed within [`SPAN_MAX`] are literal.
    pub(crate) fn expire(&mut self, now: u64, sink: Sink<'_>) {
        while !self.fence_open && self.levels.first().is_some_and(|level| level.end + (SPAN_MAX as u64) < now)
        {
            self.expire_oldest(sink);
        }
    }

    /// The paragraph is over: what is still open is literal. An open tag stays open.
    pub(crate) fn settle(&mut self, sink: Sink<'_>) {
        if !self.levels.is_empty() {
            self.levels.clear();
            self.lower_to(0);
            self.release(sink);
        }
    }

    /// The message is over.
    pub(crate) fn finish(&mut self, sink: Sink<'_>) {
        self.settle(sink);
        self.abandon(SkipReason::Unclosed, sink);
    }

    fn begin(&mut self, mark: Mark<'_>, place: Place) {
        if self.bytes.capacity() == 0 {
            self.bytes.reserve_exact(BYTES_MAX);
        }
        self.bytes.extend_from_slice(mark.kind);
        self.open = Some(Open {
            place,
            namespace: mark.namespace,
            kind_len: mark.kind.len() as u8,
            level: self.levels.len() as u8,
            seen: 0,
            solid: 0,
        });
    }

    /// Gives up the open tag, for a reason that holds only if the tag is not in code anyway.
    fn abandon(&mut self, reason: SkipReason, sink: Sink<'_>) {
        if let Some(open) = self.open.take() {
            if self.explain {
                self.hold(open, 0, open.level, Some(reason), sink);
            } else {
                self.bytes.truncate(self.held_bytes);
            }
        }
    }

    /// Gives up the open tag, for a reason that is certain.
    fn disclose(&mut self, reason: SkipReason, sink: Sink<'_>) {
        if let Some(open) = self.open.take() {
            if self.explain {
                let kind = &self.bytes[self.held_bytes..][..usize::from(open.kind_len)];
                sink(
                    Element { namespace: open.namespace, kind, value: b"", place: open.place }
                        .skipped(reason),
                );
            }
            self.bytes.truncate(self.held_bytes);
        }
    }

    fn skip(&mut self, namespace: Namespace, kind: &[u8], reason: SkipReason, place: Place, sink: Sink<'_>) {
        if self.explain {
            self.begin(Mark { close: false, namespace, kind }, place);
            self.abandon(reason, sink);
        }
    }

    /// The open tag's bytes, of which the value keeps `value_len`, become a held element; or a finding, where there is
    /// no level to wait for.
    fn hold(&mut self, open: Open, value_len: usize, level: u8, skip: Option<SkipReason>, sink: Sink<'_>) {
        if self.held.capacity() == 0 {
            self.held.reserve_exact(HELD_MAX);
        }
        debug_assert!(self.held.len() < HELD_MAX);
        if self.held.len() == HELD_MAX {
            self.settle(sink);
        }
        self.bytes.truncate(self.held_bytes + usize::from(open.kind_len) + value_len);
        self.held_bytes = self.bytes.len();
        let Open { place, namespace, kind_len, .. } = open;
        self.held.push(Held { place, value_len: value_len as u16, kind_len, namespace, level, skip });
        self.release(sink);
    }

    fn push_level(&mut self, level: Level, sink: Sink<'_>) {
        if self.levels.capacity() == 0 {
            self.levels.reserve_exact(LEVELS_MAX);
        }
        debug_assert!(self.levels.len() < LEVELS_MAX);
        if self.levels.len() == LEVELS_MAX {
            self.expire_oldest(sink);
        }
        self.levels.push(level);
    }

    fn expire_oldest(&mut self, sink: Sink<'_>) {
        self.levels.remove(0);
        for held in &mut self.held {
            held.level = held.level.saturating_sub(1);
        }
        if let Some(open) = &mut self.open {
            open.level = open.level.saturating_sub(1);
        }
        self.release(sink);
    }

    /// Whatever stands above the first `level` levels was code; so were these levels.
    fn drop_above(&mut self, level: usize, reason: SkipReason, sink: Sink<'_>) {
        let first = self.held_above(level);
        self.drop_held(first..self.held.len(), reason, sink);
        if self.open.is_some_and(|open| usize::from(open.level) > level) {
            self.disclose(reason, sink);
        }
        self.levels.truncate(level);
    }

    fn drop_held(&mut self, range: std::ops::Range<usize>, reason: SkipReason, sink: Sink<'_>) {
        if range.is_empty() {
            return;
        }
        let size = |held: &[Held]| held.iter().map(Held::len).sum::<usize>();
        let start = size(&self.held[..range.start]);
        let mut at = start;
        for held in self.held.drain(range) {
            if self.explain {
                sink(held.element(&self.bytes[at..]).skipped(reason));
            }
            at += held.len();
        }
        self.bytes.drain(start..at);
        self.held_bytes -= at - start;
    }

    fn held_above(&self, level: usize) -> usize {
        self.held.partition_point(|held| usize::from(held.level) <= level)
    }

    fn lower_to(&mut self, level: u8) {
        for held in &mut self.held {
            held.level = held.level.min(level);
        }
        if let Some(open) = &mut self.open {
            open.level = open.level.min(level);
        }
    }

    /// Hands out what no level stands in the way of.
    fn release(&mut self, sink: Sink<'_>) {
        let free = self.held_above(0);
        if free == 0 {
            return;
        }
        let mut at = 0;
        for held in self.held.drain(..free) {
            let element = held.element(&self.bytes[at..]);
            at += held.len();
            match held.skip {
                Some(reason) => sink(element.skipped(reason)),
                None => match judge(&element) {
                    Finding::Skipped(_) if !self.explain => {}
                    finding => sink(finding),
                },
            }
        }
        self.bytes.drain(..at);
        self.held_bytes -= at;
    }
}

impl Held {
    fn len(&self) -> usize {
        usize::from(self.kind_len) + usize::from(self.value_len)
    }

    fn element<'a>(&self, bytes: &'a [u8]) -> Element<'a> {
        let (kind, rest) = bytes.split_at(usize::from(self.kind_len));
        let value = &rest[..usize::from(self.value_len)];
        Element { namespace: self.namespace, kind, value, place: self.place }
    }
}

/// White space that is trimmed before a value's length is taken; the rest of Unicode's goes when the value is judged.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}
