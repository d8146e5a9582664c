use async_trait::async_trait;
use jackin_core::Timestamp;

use super::{Feed, FeedItem, Reporter, StatusAdapter};
use crate::decode::{
    AmpStream, AmpThread, ClaudeHooks, ClaudeStream, ClaudeTranscript, CodexAppServer, CodexExecStream,
    CodexHooks, CodexNotify, CodexRollout, Decoded, GeminiChat, GeminiHooks, GeminiStream, OpenCodeRun,
    OpenCodeSse,
};
use crate::{Channel, Decoder, Evidence, LineDecoder, Tally};

/// Drives a decoder: what its lines say goes to the reporter, and so does the end of the feed.
///
/// One with a decoder of one's own is an adapter for a new runtime.
#[derive(Debug)]
pub struct LinesAdapter<D> {
    lines: LineDecoder<D>,
    channel: Channel,
}

/// A decoder of this crate, and the channel that it reads.
pub trait Format: Decoder + Default {
    /// The channel.
    const CHANNEL: Channel;
}

macro_rules! adapters {
    ($($(#[$doc:meta])* $name:ident = $decoder:ident on $channel:ident;)*) => { $(
        $(#[$doc])*
        pub type $name = LinesAdapter<$decoder>;

        impl Format for $decoder {
            const CHANNEL: Channel = Channel::$channel;
        }
    )* };
}

adapters! {
    /// For the output of `claude -p --output-format stream-json`.
    ClaudeStreamJson = ClaudeStream on Stream;
    /// For a session file of Claude Code.
    ClaudeTranscriptTail = ClaudeTranscript on Transcript;
    /// For what Claude Code's hooks report.
    ClaudeHookReports = ClaudeHooks on Hook;
    /// For the output of `codex exec --json`.
    CodexExec = CodexExecStream on Stream;
    /// For what `codex app-server` sends.
    CodexAppServerEvents = CodexAppServer on Stream;
    /// For a rollout file of Codex.
    CodexRolloutTail = CodexRollout on Transcript;
    /// For what Codex's `notify` program is told.
    CodexNotifyReports = CodexNotify on Hook;
    /// For what Codex's hooks report.
    CodexHookReports = CodexHooks on Hook;
    /// For the output of `amp -x --stream-json`.
    AmpStreamJson = AmpStream on Stream;
    /// For a thread file of Amp; feed it as whole lines.
    AmpThreadFile = AmpThread on Transcript;
    /// For the output of `gemini --output-format stream-json`.
    GeminiStreamJson = GeminiStream on Stream;
    /// For what Gemini CLI's hooks report.
    GeminiHookReports = GeminiHooks on Hook;
    /// For a chat file of Gemini CLI.
    GeminiChatTail = GeminiChat on Transcript;
    /// For the events of an `opencode` server.
    OpenCodeEvents = OpenCodeSse on Stream;
    /// For the output of `opencode run --format json`.
    OpenCodeRunJson = OpenCodeRun on Stream;
}

impl<F: Format> Default for LinesAdapter<F> {
    fn default() -> Self {
        Self::new(F::default(), F::CHANNEL)
    }
}

impl<D: Decoder> LinesAdapter<D> {
    /// Drives `decoder`, whose lines come from `channel`.
    pub fn new(decoder: D, channel: Channel) -> Self {
        Self { lines: LineDecoder::new(decoder), channel }
    }

    fn take(&mut self, item: FeedItem, now: Timestamp, reporter: &Reporter) {
        let channel = self.channel;
        let tell = |decoded: Decoded<'_>| {
            let at = decoded.line_time.unwrap_or(now);
            reporter.report_events(channel, decoded.events.drain(..), at, now);
        };
        match item {
            FeedItem::Bytes(bytes) => self.lines.feed(&bytes, tell),
            FeedItem::Line(line) => self.lines.line(&line, tell),
            FeedItem::Event(event) => {
                reporter.report_events(channel, [event], now, now);
            }
            FeedItem::Output => {
                reporter.report(Evidence::Output, now);
            }
            FeedItem::Input => {
                reporter.report(Evidence::Input, now);
            }
            FeedItem::Tick => {
                reporter.look(now);
            }
        }
    }
}

#[async_trait]
impl<D: Decoder> StatusAdapter for LinesAdapter<D> {
    async fn run(&mut self, feed: &mut dyn Feed, reporter: &Reporter) -> Tally {
        let mut last = None;
        while let Some((now, item)) = feed.next().await {
            last = Some(now);
            self.take(item, now, reporter);
        }
        if let Some(now) = last {
            let channel = self.channel;
            self.lines.finish(|decoded| {
                let at = decoded.line_time.unwrap_or(now);
                reporter.report_events(channel, decoded.events.drain(..), at, now);
            });
            reporter.report(Evidence::Closed(channel), now);
        }
        self.lines.tally()
    }
}
