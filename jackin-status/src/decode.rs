//! One module per format in which an agent tells what it does. Each turns a line into [`RuntimeEvent`]s.

mod amp_stream;
mod amp_thread;
mod claude_hooks;
mod claude_message;
mod claude_stream;
mod claude_transcript;
mod codex_app_server;
mod codex_exec;
mod codex_notify;
mod codex_rollout;
mod gemini_chat;
mod gemini_hooks;
mod gemini_stream;
mod json;
mod opencode_run;
mod opencode_sse;
pub(crate) mod recent;
mod runtime;
mod turn;
pub(crate) mod words;

use jackin_core::{RuntimeEvent, Timestamp};
use thiserror::Error;

pub use amp_stream::AmpStream;
pub use amp_thread::AmpThread;
pub use claude_hooks::{ClaudeHooks, CodexHooks};
pub use claude_stream::ClaudeStream;
pub use claude_transcript::ClaudeTranscript;
pub use codex_app_server::CodexAppServer;
pub use codex_exec::CodexExecStream;
pub use codex_notify::CodexNotify;
pub use codex_rollout::CodexRollout;
pub use gemini_chat::GeminiChat;
pub use gemini_hooks::GeminiHooks;
pub use gemini_stream::GeminiStream;
pub use opencode_run::OpenCodeRun;
pub use opencode_sse::OpenCodeSse;
pub use runtime::{Runtime, UnknownRuntime};

use crate::{LineSplitter, MAX_LINE};

/// Turns lines of one format into events.
///
/// A decoder holds what is open (a message, tools, questions) and nothing else; each kind is bounded. Types and fields
/// that it does not know are ignored, and a field of an unexpected type is an absent field, so only what is no JSON
/// object at all is broken.
pub trait Decoder: Send {
    /// Decodes one line, its line end taken off, and appends what it says to `out`.
    ///
    /// A broken line changes nothing in the decoder.
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine>;

    /// The time that the last decoded line gave for itself. It is older than the moment of reading where the agent
    /// writes late, as transcripts are.
    fn line_time(&self) -> Option<Timestamp> {
        None
    }
}

impl<D: Decoder + ?Sized> Decoder for Box<D> {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        (**self).decode(line, out)
    }

    fn line_time(&self) -> Option<Timestamp> {
        (**self).line_time()
    }
}

/// The line is not a JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the line is not a JSON object")]
pub struct BrokenLine;

/// What came by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Lines with something in them, whatever became of them.
    pub lines: u64,
    /// Of these, lines that were no JSON object.
    pub broken: u64,
    /// Of these, lines over the cap, which were skipped unread.
    pub oversized: u64,
}

/// A decoder on a stream of bytes: cuts it into lines, counts, and goes on after broken ones.
///
/// ```
/// use jackin_core::RuntimeEvent;
/// use jackin_status::{CodexExecStream, LineDecoder};
///
/// let mut codex = LineDecoder::new(CodexExecStream::default());
/// let mut events = Vec::new();
/// for chunk in [r#"{"type":"turn.sta"#, "rted\"}\nnonsense\n"] {
///     codex.feed(chunk.as_bytes(), |decoded| events.append(decoded.events));
/// }
/// assert_eq!(events, [RuntimeEvent::TurnStarted]);
/// assert_eq!((codex.tally().lines, codex.tally().broken), (2, 1));
/// ```
#[derive(Debug)]
pub struct LineDecoder<D> {
    decoder: D,
    splitter: LineSplitter,
    events: Vec<RuntimeEvent>,
    lines: u64,
    broken: u64,
    oversized: u64,
}

/// What one line said.
#[derive(Debug)]
pub struct Decoded<'a> {
    /// The events; take them out if you keep them.
    pub events: &'a mut Vec<RuntimeEvent>,
    /// The line's own time, where it gives one.
    pub line_time: Option<Timestamp>,
}

impl<D: Decoder> LineDecoder<D> {
    /// Reads a stream from its beginning.
    pub fn new(decoder: D) -> Self {
        Self { decoder, splitter: LineSplitter::new(), events: Vec::new(), lines: 0, broken: 0, oversized: 0 }
    }

    /// Takes a chunk and calls `each` for every whole line in it that said something.
    pub fn feed(&mut self, chunk: &[u8], mut each: impl FnMut(Decoded<'_>)) {
        let Self { decoder, splitter, events, lines, broken, .. } = self;
        splitter.feed(chunk, |_, line| take(decoder, line, events, lines, broken, &mut each));
    }

    /// Takes one whole line, or document, that does not come out of a stream. One over the cap is counted and skipped.
    pub fn line(&mut self, line: &[u8], mut each: impl FnMut(Decoded<'_>)) {
        let Self { decoder, events, lines, broken, oversized, .. } = self;
        if line.len() > MAX_LINE {
            *oversized += 1;
        } else {
            take(decoder, line, events, lines, broken, &mut each);
        }
    }

    /// The stream ended: decodes a last line that had no line end.
    pub fn finish(&mut self, mut each: impl FnMut(Decoded<'_>)) {
        let Self { decoder, splitter, events, lines, broken, .. } = self;
        splitter.finish(|_, line| take(decoder, line, events, lines, broken, &mut each));
    }

    /// What came by so far.
    pub fn tally(&self) -> Tally {
        let oversized = self.oversized + self.splitter.oversized();
        Tally { lines: self.lines + oversized, broken: self.broken, oversized }
    }
}

fn take<D: Decoder>(
    decoder: &mut D,
    line: &[u8],
    events: &mut Vec<RuntimeEvent>,
    lines: &mut u64,
    broken: &mut u64,
    each: &mut impl FnMut(Decoded<'_>),
) {
    if line.trim_ascii().is_empty() {
        return;
    }
    *lines += 1;
    if decode_line(decoder, line, events).is_err() {
        *broken += 1;
    } else if !events.is_empty() {
        each(Decoded { events, line_time: decoder.line_time() });
    }
    // A long message must not stay here until the next line comes.
    events.clear();
}

/// Decodes one line. A line that fails because JavaScript wrote half a surrogate pair into it is mended and read again.
pub(crate) fn decode_line<D: Decoder + ?Sized>(
    decoder: &mut D,
    line: &[u8],
    events: &mut Vec<RuntimeEvent>,
) -> Result<(), BrokenLine> {
    decoder.decode(line, events).or_else(|broken| {
        let mended = json::without_lone_surrogates(line).ok_or(broken)?;
        decoder.decode(&mended, events)
    })
}
