use jackin_core::{RuntimeEvent, Timestamp};
use serde::Deserialize;

use super::codex_exec::CodexUsage;
use super::json::{self, Maybe, Text, Told};
use super::turn::{Tools, Turn};
use super::{BrokenLine, Decoder, words};

/// Decodes a rollout file of Codex, `~/.codex/sessions/**/rollout-*.jsonl`.
///
/// Rollouts never hold requests for approval or for the user's input, so no question comes from here.
#[derive(Debug, Default)]
pub struct CodexRollout {
    turn: Turn,
    tools: Tools,
    unnamed: u64,
    time: Option<Timestamp>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    payload: Maybe<Payload<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    call_id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    error: Told<'a>,
    info: Maybe<TokenInfo>,
    #[serde(borrow)]
    item: Maybe<Item<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TokenInfo {
    total_token_usage: Maybe<CodexUsage>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
}

impl Decoder for CodexRollout {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let line: Line<'_> = json::parse(line)?;
        self.time = Timestamp::from_rfc3339(line.timestamp.as_str());
        let Some(payload) = &line.payload.0 else { return Ok(()) };
        match line.kind.as_str() {
            "session_meta" => {
                self.turn = Turn::default();
                out.push(RuntimeEvent::SessionStarted {
                    runtime_session: payload.id.some().map(words::id),
                    model: None,
                });
            }
            "event_msg" => self.event(payload, out),
            "response_item" => self.response(payload, out),
            _ => {}
        }
        Ok(())
    }

    fn line_time(&self) -> Option<Timestamp> {
        self.time
    }
}

impl CodexRollout {
    fn event(&mut self, payload: &Payload<'_>, out: &mut Vec<RuntimeEvent>) {
        match payload.kind.as_str() {
            "task_started" | "turn_started" | "user_message" => self.turn.begin_anew(out),
            "agent_reasoning" => self.turn.begin(out),
            "agent_message" => self.text(None, payload.message.as_str(), out),
            // Newer histories hold whole items instead.
            "item_completed" => {
                if let Some(item) = &payload.item.0
                    && matches!(item.kind.as_str(), "agentMessage" | "AgentMessage" | "agent_message")
                {
                    self.text(item.id.some(), item.text.as_str(), out);
                }
            }
            "task_complete" | "turn_complete" => {
                self.end_turn(payload.error.some().and_then(words::some_line), out);
            }
            "turn_aborted" => self.end_turn(None, out),
            "token_count" => {
                if let Some(total) = payload.info.0.as_ref().and_then(|info| info.total_token_usage.0) {
                    out.push(RuntimeEvent::Usage(total.report()));
                }
            }
            _ => {}
        }
    }

    fn response(&mut self, payload: &Payload<'_>, out: &mut Vec<RuntimeEvent>) {
        let id = payload.call_id.some().or(payload.id.some()).unwrap_or_default();
        match payload.kind.as_str() {
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                self.turn.begin(out);
                self.tools.start(id, payload.name.some().unwrap_or(payload.kind.as_str()), out);
            }
            "function_call_output" | "custom_tool_call_output" => self.tools.finish(id, false, out),
            // Messages are the conversation as the model reads it, instructions included; the events tell the
            // agent's words.
            _ => {}
        }
    }

    fn text(&mut self, id: Option<&str>, text: &str, out: &mut Vec<RuntimeEvent>) {
        self.turn.begin(out);
        self.unnamed += 1;
        let message_id = id.map_or_else(|| format!("message-{}", self.unnamed), words::id);
        out.push(RuntimeEvent::AssistantText { message_id, chunk: text.to_owned(), end: true });
    }

    fn end_turn(&mut self, error: Option<String>, out: &mut Vec<RuntimeEvent>) {
        self.tools.clear();
        self.turn.end(error, out);
    }
}
