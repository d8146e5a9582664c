use jackin_core::{RuntimeEvent, Timestamp};
use serde::Deserialize;

use super::json::{self, Content, Many, Text};
use super::turn::{Tools, Turn};
use super::{BrokenLine, Decoder, words};

/// Decodes a chat file of Gemini CLI, `~/.gemini/tmp/*/chats/session-*.jsonl`.
///
/// The file tells the prompt, the answer and the tools, and never that a turn is over: after an answer without a tool
/// it may be.
#[derive(Debug, Default)]
pub struct GeminiChat {
    turn: Turn,
    tools: Tools,
    /// The message that was told last, and how much of its text: a line with the same id is an update of it.
    message: String,
    told: usize,
    time: Option<Timestamp>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "sessionId")]
    session_id: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, alias = "startTime")]
    timestamp: Text<'a>,
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    content: Content<'a, Part<'a>>,
    #[serde(borrow, rename = "toolCalls")]
    tool_calls: Many<ToolCall<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    text: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ToolCall<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
}

impl Decoder for GeminiChat {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let line: Line<'_> = json::parse(line)?;
        self.time = Timestamp::from_rfc3339(line.timestamp.as_str());
        match line.kind.as_str() {
            "user" => self.turn.begin_anew(out),
            "gemini" => self.answer(&line, out),
            "error" => {
                let error = words::some_line(&text_of(&line.content)).unwrap_or_else(|| "failed".to_owned());
                self.tools.clear();
                self.turn.end(Some(error), out);
            }
            "" => {
                if let Some(session) = line.session_id.some() {
                    let runtime_session = Some(words::id(session));
                    out.push(RuntimeEvent::SessionStarted { runtime_session, model: None });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn line_time(&self) -> Option<Timestamp> {
        self.time
    }
}

impl GeminiChat {
    fn answer(&mut self, line: &Line<'_>, out: &mut Vec<RuntimeEvent>) {
        self.turn.begin(out);
        let id = words::id(line.id.as_str());
        if id != self.message {
            self.message = id;
            self.told = 0;
        }
        let text = text_of(&line.content);
        if let Some(more) = text.get(self.told..).filter(|more| !more.is_empty()) {
            self.told = text.len();
            let message_id = self.message.clone();
            out.push(RuntimeEvent::AssistantText { message_id, chunk: more.to_owned(), end: true });
        }
        for call in &line.tool_calls.0 {
            match call.status.as_str() {
                "success" | "error" | "cancelled" => {
                    let failed = call.status.as_str() == "error";
                    self.tools.finish_named(call.id.as_str(), call.name.as_str(), failed, out);
                }
                _ => self.tools.start(call.id.as_str(), call.name.as_str(), out),
            }
        }
    }
}

fn text_of(content: &Content<'_, Part<'_>>) -> String {
    match content {
        Content::Text(text) => text.clone().into_owned(),
        Content::Blocks(parts) => parts.iter().map(|part| part.text.as_str()).collect(),
        Content::Nothing => String::new(),
    }
}
