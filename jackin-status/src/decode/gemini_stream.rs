use jackin_core::{RuntimeEvent, Timestamp, Usage, UsageScope};
use serde::Deserialize;

use super::json::{self, Flag, Maybe, Number, Text, Told};
use super::turn::{Message, Tools, Turn};
use super::{BrokenLine, Decoder, words};

/// Decodes `gemini --output-format stream-json`.
///
/// A run that gave up (too many turns, say) prints an error and then a result with the status "success"; the error
/// counts. A warning does not.
#[derive(Debug, Default)]
pub struct GeminiStream {
    turn: Turn,
    message: Message,
    tools: Tools,
    unnamed: u64,
    error: Option<String>,
    time: Option<Timestamp>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    content: Text<'a>,
    delta: Flag,
    #[serde(borrow)]
    tool_name: Text<'a>,
    #[serde(borrow)]
    tool_id: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    severity: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    error: Told<'a>,
    stats: Maybe<Stats>,
}

/// Figures of the whole run.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Stats {
    input_tokens: Number,
    output_tokens: Number,
    cached: Number,
    input: Number,
}

impl Decoder for GeminiStream {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let line: Line<'_> = json::parse(line)?;
        self.time = Timestamp::from_rfc3339(line.timestamp.as_str());
        match line.kind.as_str() {
            "init" => {
                out.push(RuntimeEvent::SessionStarted {
                    runtime_session: line.session_id.some().map(words::id),
                    model: line.model.some().map(words::line),
                });
                self.turn.begin_anew(out);
            }
            "message" => self.message(&line, out),
            "tool_use" => {
                self.turn.begin(out);
                self.message.end(out);
                self.tools.start(line.tool_id.as_str(), line.tool_name.as_str(), out);
            }
            "tool_result" => {
                let failed = line.status.as_str() == "error";
                self.tools.finish(line.tool_id.as_str(), failed, out);
            }
            "error" if line.severity.as_str() != "warning" => {
                self.error = line.message.some().or(line.error.some()).and_then(words::some_line);
            }
            "result" => self.result(&line, out),
            _ => {}
        }
        Ok(())
    }

    fn line_time(&self) -> Option<Timestamp> {
        self.time
    }
}

impl GeminiStream {
    fn message(&mut self, line: &Line<'_>, out: &mut Vec<RuntimeEvent>) {
        self.turn.begin(out);
        let continues = line.delta.0 == Some(true) && self.message.is(&self.message_id());
        if !continues {
            self.message.end(out);
            self.unnamed += 1;
        }
        if line.role.as_str() == "assistant" {
            self.message.piece(&self.message_id(), line.content.as_str(), out);
            if line.delta.0 != Some(true) {
                self.message.end(out);
            }
        }
    }

    fn message_id(&self) -> String {
        format!("message-{}", self.unnamed)
    }

    fn result(&mut self, line: &Line<'_>, out: &mut Vec<RuntimeEvent>) {
        if let Some(stats) = &line.stats.0 {
            out.push(RuntimeEvent::Usage(stats.report()));
        }
        let told = line.error.some().and_then(words::some_line).or_else(|| self.error.take());
        let error = match line.status.as_str() {
            "error" => Some(told.unwrap_or_else(|| "failed".to_owned())),
            _ => told,
        };
        self.message.end(out);
        self.tools.clear();
        self.error = None;
        self.turn.end(error, out);
    }
}

impl Stats {
    fn report(&self) -> Usage {
        let uncached = self.input_tokens.0.map(|all| all.saturating_sub(self.cached.0.unwrap_or(0)));
        Usage {
            scope: UsageScope::Session,
            input_tokens: self.input.0.or(uncached),
            cached_tokens: self.cached.0,
            output_tokens: self.output_tokens.0,
            cost_usd: None,
        }
    }
}
