use jackin_core::{RuntimeEvent, Usage, UsageScope};
use serde::Deserialize;

use super::json::{self, Maybe, Number, Text, Told};
use super::turn::{Tools, Turn};
use super::{BrokenLine, Decoder, words};

/// Decodes `codex exec --json`.
///
/// A top-level `error` is also printed for errors that are tried again; only `turn.failed` ends a turn badly. An
/// interrupted turn ends without a word, by the process's exit.
#[derive(Debug, Default)]
pub struct CodexExecStream {
    turn: Turn,
    tools: Tools,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    thread_id: Text<'a>,
    #[serde(borrow)]
    item: Maybe<Item<'a>>,
    usage: Maybe<CodexUsage>,
    #[serde(borrow)]
    error: Told<'a>,
}

/// A thing that happens within a turn. The app server spells its kinds otherwise, and says the same of them.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    #[serde(borrow)]
    pub(super) tool: Text<'a>,
}

/// Codex counts cached tokens among the input, and over the whole thread.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
pub(super) struct CodexUsage {
    #[serde(rename = "input_tokens", alias = "inputTokens")]
    input: Number,
    #[serde(rename = "cached_input_tokens", alias = "cachedInputTokens")]
    cached: Number,
    #[serde(rename = "output_tokens", alias = "outputTokens")]
    output: Number,
}

impl CodexUsage {
    pub(super) fn report(self) -> Usage {
        let cached = self.cached.0;
        Usage {
            scope: UsageScope::Session,
            input_tokens: self.input.0.map(|input| input.saturating_sub(cached.unwrap_or(0))),
            cached_tokens: cached,
            output_tokens: self.output.0,
            cost_usd: None,
        }
    }
}

impl Decoder for CodexExecStream {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let line: Line<'_> = json::parse(line)?;
        match line.kind.as_str() {
            "thread.started" => out.push(RuntimeEvent::SessionStarted {
                runtime_session: line.thread_id.some().map(words::id),
                model: None,
            }),
            "turn.started" => self.turn.begin_anew(out),
            "item.started" | "item.updated" | "item.completed" => {
                if let Some(item) = &line.item.0 {
                    self.turn.begin(out);
                    self.item(item, line.kind.as_str() == "item.completed", out);
                }
            }
            "turn.completed" => {
                if let Some(usage) = line.usage.0 {
                    out.push(RuntimeEvent::Usage(usage.report()));
                }
                self.end_turn(None, out);
            }
            "turn.failed" => {
                let error = line.error.some().and_then(words::some_line);
                self.end_turn(error.or_else(|| Some("failed".to_owned())), out);
            }
            _ => {}
        }
        Ok(())
    }
}

impl CodexExecStream {
    fn item(&mut self, item: &Item<'_>, completed: bool, out: &mut Vec<RuntimeEvent>) {
        let (id, kind) = (item.id.as_str(), item.kind.as_str());
        match kind {
            "agent_message" if completed => out.push(RuntimeEvent::AssistantText {
                message_id: words::id(id),
                chunk: item.text.as_str().to_owned(),
                end: true,
            }),
            "command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call" | "web_search" => {
                let name = item.tool.some().unwrap_or(kind);
                if completed {
                    let failed = matches!(item.status.as_str(), "failed" | "declined");
                    self.tools.finish_named(id, name, failed, out);
                } else {
                    self.tools.start(id, name, out);
                }
            }
            _ => {}
        }
    }

    fn end_turn(&mut self, error: Option<String>, out: &mut Vec<RuntimeEvent>) {
        self.tools.clear();
        self.turn.end(error, out);
    }
}
