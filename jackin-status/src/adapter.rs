//! Adapters: from a source of bytes to the status bus.

mod feed;
mod heuristic;
mod lines;
mod reporter;

use async_trait::async_trait;

pub use feed::{Feed, FeedItem, ScriptedFeed};
pub use heuristic::Heuristic;
pub use lines::{
    AmpStreamJson, AmpThreadFile, ClaudeHookReports, ClaudeStreamJson, ClaudeTranscriptTail,
    CodexAppServerEvents, CodexExec, CodexHookReports, CodexNotifyReports, CodexRolloutTail, Format,
    GeminiChatTail, GeminiHookReports, GeminiStreamJson, LinesAdapter, OpenCodeEvents, OpenCodeRunJson,
};
pub use reporter::Reporter;

use crate::Tally;

/// Watches one source of a session and reports what it tells. It knows the runtime; whoever hears the status does not.
///
/// An adapter never publishes a status: it hands evidence to the [`Reporter`], where the authority weighs it against
/// what the session's other adapters have seen.
///
/// ```
/// use jackin_core::{InstanceName, Received, SessionId, StatusBus, Timestamp};
/// use jackin_status::{Authority, CodexExec, FeedItem, Reporter, ScriptedFeed, StatusAdapter};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let at = Timestamp::from_millis;
/// let bus = StatusBus::new(16);
/// let mut operator = bus.subscribe();
/// let reporter = Reporter::new(
///     InstanceName::new("demo").unwrap(),
///     SessionId::new(1).unwrap(),
///     bus,
///     Authority::for_agent(at(0)),
/// );
///
/// let mut stdout = ScriptedFeed::new([
///     (at(10), FeedItem::bytes("{\"type\":\"turn.started\"}\n")),
///     (at(20), FeedItem::bytes("{\"type\":\"turn.completed\"}\n")),
/// ]);
/// let tally = CodexExec::default().run(&mut stdout, &reporter).await;
///
/// assert_eq!((tally.lines, tally.broken), (2, 0));
/// let mut heard = Vec::new();
/// while let Some(Received::Value((_, _, change))) = operator.try_next() {
///     heard.push(change.status.word());
/// }
/// assert_eq!(heard, ["busy", "idle"]);
/// # });
/// ```
#[async_trait]
pub trait StatusAdapter: Send {
    /// Reads `feed` to its end and reports what it tells.
    async fn run(&mut self, feed: &mut dyn Feed, reporter: &Reporter) -> Tally;
}
