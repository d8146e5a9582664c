use std::io::{self, IsTerminal};

use async_trait::async_trait;
use jackin_core::run::{RunInfo, RunLayout, Step};
use jackin_core::{RuntimeEvent, one_line};
use serde_json::{Value, json};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::args::Live;
use super::duration;
use crate::run::observe::{RunEvent, RunObserver};

/// Shows a run on standard output and standard error.
pub(super) struct View {
    how: How,
    /// The agent speaks for itself: what it prints is for programs.
    speaks: bool,
    out: Shown<tokio::io::Stdout>,
    err: Shown<tokio::io::Stderr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Where it is, and what becomes of it.
    Brief,
    /// What the agent says, or prints, too.
    Live(Live),
    /// Everything, for programs.
    Json,
}

impl View {
    pub(super) fn new(how: How, speaks: bool) -> Self {
        Self {
            how,
            speaks,
            out: Shown::new(tokio::io::stdout(), io::stdout().is_terminal()),
            err: Shown::stderr(),
        }
    }

    async fn json(&mut self, run: &RunLayout, mut event: Value) {
        event["run_id"] = run.run().as_str().into();
        self.out.exact(format!("{event}\n").as_bytes()).await;
    }

    async fn json_event(&mut self, run: &RunLayout, event: RunEvent<'_>) {
        let value = match event {
            RunEvent::Step(Step::Created) => json!({ "event": "created", "folder": run.folder() }),
            RunEvent::Step(step) => json!({ "event": "step", "step": step.word() }),
            RunEvent::Note(text) => json!({ "event": "note", "text": text }),
            RunEvent::Status { status, cause } => {
                json!({ "event": "status", "status": status, "cause": cause })
            }
            RunEvent::Tag(tag) => json!({ "event": "tag", "tag": tag }),
            RunEvent::Usage(usage) => json!({ "event": "usage", "usage": usage }),
            RunEvent::Ended(info) => json!({ "event": "ended", "info": info }),
            _ => return,
        };
        self.json(run, value).await;
    }
}

#[async_trait]
impl RunObserver for View {
    async fn saw(&mut self, run: &RunLayout, event: RunEvent<'_>) {
        match (self.how, event) {
            (How::Json, event) => self.json_event(run, event).await,
            (_, RunEvent::Step(Step::Created)) => {
                self.err.line(&format!("[jackin] run {}: {}", run.run(), run.folder().display())).await;
            }
            (_, RunEvent::Note(text)) => {
                self.err.line(&format!("[jackin] {}", one_line(text, 500))).await;
            }
            (How::Live(Live::Raw), RunEvent::Stdout(bytes)) => self.out.bytes(bytes).await,
            (How::Live(_), RunEvent::Stderr(bytes)) => self.err.bytes(bytes).await,
            (How::Live(Live::Text), RunEvent::Stdout(bytes)) if !self.speaks => self.out.bytes(bytes).await,
            (How::Live(Live::Text), RunEvent::Runtime(event)) if self.speaks => self.out.runtime(event).await,
            (_, RunEvent::Status { status, .. }) if self.err.terminal => {
                self.err.line(&format!("[jackin] {}", one_line(&status.to_string(), 200))).await;
            }
            (_, RunEvent::Tag(tag)) => {
                self.err.line(&format!("[jackin] {}: {}", tag.kind, tag.value)).await;
            }
            (_, RunEvent::Ended(info)) => {
                self.out.end_line().await;
                self.err.line(&format!("[jackin] {}", ended(info))).await;
                for warning in warnings(info) {
                    self.err.line(&warning).await;
                }
            }
            _ => {}
        }
    }
}

/// What became of a run, in a line.
pub(super) fn ended(info: &RunInfo) -> String {
    let took = info.end_time.unwrap_or(info.start_time).since(info.start_time);
    let count = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string());
    let usage = info.usage.map(|usage| {
        let (read, written) = (count(usage.input_tokens), count(usage.output_tokens));
        format!(" · {read} tokens read, {written} written")
    });
    let cost = info.cost_usd.map(|cost| format!(" · ${cost:.4}"));
    let error = Some(&info.error_summary).filter(|error| !error.is_empty()).map(|error| format!(": {error}"));
    let parts = [usage, cost, error].into_iter().flatten();
    [format!("{} in {}", info.status, duration::show(took))].into_iter().chain(parts).collect()
}

/// What went wrong without making the run fail, a line each.
pub(super) fn warnings(info: &RunInfo) -> impl Iterator<Item = String> {
    info.warnings.iter().map(|warning| format!("[jackin] warning: {}", one_line(warning, 500)))
}

/// Somebody's terminal or file. What an agent says goes to a terminal without the characters that would drive it, and to
/// anything else as it is. When nobody reads any more, nothing is written.
pub(super) struct Shown<W> {
    to: W,
    terminal: bool,
    gone: bool,
    /// The beginning of a character.
    begun: Vec<u8>,
    /// Whether the last line was not ended.
    open: bool,
}

impl Shown<tokio::io::Stderr> {
    pub(super) fn stderr() -> Self {
        Self::new(tokio::io::stderr(), io::stderr().is_terminal())
    }
}

impl<W: AsyncWrite + Unpin + Send> Shown<W> {
    pub(super) fn new(to: W, terminal: bool) -> Self {
        Self { to, terminal, gone: false, begun: Vec::new(), open: false }
    }

    /// A line of ours.
    pub(super) async fn line(&mut self, text: &str) {
        self.end_line().await;
        self.exact(format!("{}\n", crate::capsule::printable(text)).as_bytes()).await;
    }

    /// Bytes of an agent.
    pub(super) async fn bytes(&mut self, bytes: &[u8]) {
        self.open = bytes.last().map_or(self.open, |last| *last != b'\n');
        if self.terminal {
            let text = self.decode(bytes);
            self.exact(crate::capsule::printable(&text).as_bytes()).await;
        } else {
            self.exact(bytes).await;
        }
    }

    /// What an agent says of itself.
    pub(super) async fn runtime(&mut self, event: &RuntimeEvent) {
        match event {
            RuntimeEvent::AssistantText { chunk, end, .. } => {
                self.bytes(chunk.as_bytes()).await;
                if *end {
                    self.end_line().await;
                }
            }
            RuntimeEvent::ToolStarted { name, .. } => {
                self.line(&format!("[{}]", one_line(name, 100))).await;
            }
            _ => {}
        }
    }

    /// Whether nobody reads any more.
    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    pub(super) async fn end_line(&mut self) {
        if std::mem::take(&mut self.open) {
            self.exact(b"\n").await;
        }
    }

    /// Bytes as they are.
    pub(super) async fn exact(&mut self, bytes: &[u8]) {
        if self.gone || bytes.is_empty() {
            return;
        }
        let written = self.to.write_all(bytes).await;
        self.gone = match written {
            Ok(()) => self.to.flush().await.is_err(),
            Err(_) => true,
        };
    }

    /// Text out of bytes that may be cut within a character.
    fn decode(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len(),
        };
        let rest = self.begun.split_off(whole);
        let text = String::from_utf8_lossy(&self.begun).into_owned();
        self.begun = rest;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_terminal_is_not_driven_by_an_agent() {
        let mut shown = Shown::new(Vec::new(), true);
        shown.bytes(b"a\x1b[2Jb\xc3").await;
        shown.bytes(b"\xa4\xff\n").await;
        assert_eq!(String::from_utf8(shown.to).unwrap(), "a [2Jbä\u{fffd}\n");
        let mut shown = Shown::new(Vec::new(), false);
        shown.bytes(b"a\x1b\xff").await;
        shown.line("done").await;
        assert_eq!(shown.to, b"a\x1b\xff\ndone\n");
    }

    #[tokio::test]
    async fn an_agent_that_speaks_for_itself_is_shown_by_its_words() {
        let mut shown = Shown::new(Vec::new(), false);
        let text = |chunk: &str, end| RuntimeEvent::AssistantText {
            message_id: "m".into(),
            chunk: chunk.into(),
            end,
        };
        shown.runtime(&text("Hel", false)).await;
        shown.runtime(&text("lo", true)).await;
        shown.runtime(&RuntimeEvent::ToolStarted { id: "t".into(), name: "Bash".into() }).await;
        assert_eq!(String::from_utf8(shown.to).unwrap(), "Hello\n[Bash]\n");
    }
}
