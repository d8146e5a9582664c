use jackin_core::{RuntimeEvent, Usage, UsageScope};
use serde::Deserialize;

use super::claude_message::{ApiMessage, ApiUsage, Block, MessageUsage, SYNTHETIC, ToolInput, prompt_for};
use super::json::{self, Content, Filled, Flag, Maybe, Real, Text, Told};
use super::recent::Recent;
use super::turn::{Message, Requests, Tools, Turn};
use super::{BrokenLine, Decoder, words};

/// Decodes `claude -p --output-format stream-json --verbose`, with or without partial messages and control requests.
///
/// A turn fails when `is_error` says so, whatever the subtype is called. A result ends its turn; background tasks that
/// are still open are told as sub-agents, so that a reader of the events knows that work goes on.
#[derive(Debug, Default)]
pub struct ClaudeStream {
    dialect: Dialect,
    turn: Turn,
    message: Message,
    /// Messages whose text came in pieces: the whole that follows repeats it.
    streamed: Recent<()>,
    /// The message that the pieces belong to.
    streaming: String,
    tools: Tools,
    requests: Requests,
    tasks: Recent<()>,
    usage: MessageUsage,
    unnamed: u64,
}

/// Whose stream it is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    #[default]
    Claude,
    /// Echoes the prompt as a `user` line, and reports tokens per message only.
    Amp,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    subtype: Text<'a>,
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    parent_tool_use_id: Text<'a>,
    #[serde(borrow)]
    message: Maybe<ApiMessage<'a>>,
    #[serde(borrow)]
    event: Maybe<StreamEvent<'a>>,
    #[serde(borrow)]
    request_id: Text<'a>,
    #[serde(borrow)]
    request: Maybe<ControlRequest<'a>>,
    #[serde(borrow)]
    response: Maybe<ControlResponse<'a>>,
    #[serde(borrow)]
    task_id: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    state: Text<'a>,
    #[serde(borrow)]
    patch: Maybe<Patch<'a>>,
    is_error: Flag,
    #[serde(borrow)]
    result: Text<'a>,
    #[serde(borrow)]
    error: Told<'a>,
    #[serde(borrow)]
    errors: Told<'a>,
    #[serde(borrow)]
    terminal_reason: Text<'a>,
    total_cost_usd: Real,
    usage: Maybe<ApiUsage>,
    #[serde(rename = "isReplay")]
    is_replay: Flag,
    #[serde(rename = "tasks")]
    tasks_left: Option<Filled>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct StreamEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    message: Maybe<MessageStart<'a>>,
    #[serde(borrow)]
    delta: Maybe<Delta<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct MessageStart<'a> {
    #[serde(borrow)]
    id: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ControlRequest<'a> {
    #[serde(borrow)]
    subtype: Text<'a>,
    #[serde(borrow)]
    tool_name: Text<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    input: Maybe<ToolInput<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ControlResponse<'a> {
    #[serde(borrow)]
    request_id: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Patch<'a> {
    #[serde(borrow)]
    status: Text<'a>,
}

impl Decoder for ClaudeStream {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let line: Line<'_> = json::parse(line)?;
        match line.kind.as_str() {
            "assistant" => self.assistant(&line, out),
            "user" => self.user(&line, out),
            "stream_event" => self.stream_event(&line, out),
            "system" => self.system(&line, out),
            "tool_progress" => self.turn.begin(out),
            "control_request" => self.control_request(&line, out),
            "control_cancel_request" => {
                self.requests.answer(line.request_id.as_str(), out);
            }
            "control_response" => {
                if let Some(response) = &line.response.0 {
                    self.requests.answer(response.request_id.as_str(), out);
                }
            }
            "result" => self.result(&line, out),
            // Amp can fail before anything else, with a line that is nothing but the error.
            "error" if self.dialect == Dialect::Amp => {
                let error = line.error.some().or(line.message_text()).unwrap_or("failed");
                self.end_turn(words::some_line(error), out);
            }
            _ => {}
        }
        Ok(())
    }
}

impl ClaudeStream {
    pub(super) fn with_dialect(dialect: Dialect) -> Self {
        Self { dialect, ..Self::default() }
    }

    fn assistant(&mut self, line: &Line<'_>, out: &mut Vec<RuntimeEvent>) {
        // A sub-agent's words are not the agent's; its sign of life is the task that stands open.
        let (Some(message), None) = (&line.message.0, line.parent_tool_use_id.some()) else { return };
        self.turn.begin(out);
        let id = message.id.some().map_or_else(
            || {
                self.unnamed += 1;
                format!("message-{}", self.unnamed)
            },
            words::id,
        );
        let told = message.model.as_str() == SYNTHETIC || self.streamed.get(&id).is_some();
        match &message.content {
            Content::Blocks(blocks) => {
                for block in blocks {
                    match block.kind.as_str() {
                        "text" if !told => self.message.piece(&id, block.text.as_str(), out),
                        "tool_use" => self.tools.start(block.id.as_str(), block.name.as_str(), out),
                        _ => {}
                    }
                }
            }
            Content::Text(text) if !told => self.message.piece(&id, text, out),
            Content::Text(_) | Content::Nothing => {}
        }
        // Claude's figures per message are placeholders while it streams; its results have the real ones.
        if self.dialect == Dialect::Amp
            && let Some(usage) = message.usage.0
            && let Some(usage) = self.usage.advance(&id, usage.report())
        {
            out.push(RuntimeEvent::Usage(usage));
        }
    }

    fn user(&mut self, line: &Line<'_>, out: &mut Vec<RuntimeEvent>) {
        let (Some(message), None) = (&line.message.0, line.parent_tool_use_id.some()) else { return };
        self.message.end(out);
        let blocks: &[Block<'_>] = match &message.content {
            Content::Blocks(blocks) => blocks,
            Content::Text(_) | Content::Nothing => &[],
        };
        let mut results = false;
        for block in blocks.iter().filter(|block| block.kind.as_str() == "tool_result") {
            results = true;
            let id = block.tool_use_id.as_str();
            self.requests.answer_about(id, out);
            self.tools.finish(id, block.is_error.0.unwrap_or(false), out);
        }
        // The prompt, echoed: the agent has it and begins.
        if !results && (self.dialect == Dialect::Amp || line.is_replay.0 == Some(true)) {
            self.turn.begin(out);
        }
    }

    fn stream_event(&mut self, line: &Line<'_>, out: &mut Vec<RuntimeEvent>) {
        let (Some(event), None) = (&line.event.0, line.parent_tool_use_id.some()) else { return };
        self.turn.begin(out);
        match event.kind.as_str() {
            "message_start" => {
                self.message.end(out);
                let id = event.message.0.as_ref().map(|message| message.id.as_str());
                self.streaming = words::id(id.unwrap_or_default());
            }
            "content_block_delta" => {
                if let Some(delta) = &event.delta.0
                    && delta.kind.as_str() == "text_delta"
                {
                    self.streamed.insert(&self.streaming, ());
                    self.message.piece(&self.streaming, delta.text.as_str(), out);
                }
            }
            "message_stop" => self.message.end(out),
            _ => {}
        }
    }

    fn system(&mut self, line: &Line<'_>, out: &mut Vec<RuntimeEvent>) {
        match line.subtype.as_str() {
            // Printed when the first prompt has arrived, so work begins with it.
            "init" => {
                out.push(RuntimeEvent::SessionStarted {
                    runtime_session: line.session_id.some().map(words::id),
                    model: line.model.some().map(words::line),
                });
                self.turn.begin_anew(out);
            }
            "status" if line.status.some().is_some() => self.turn.begin(out),
            "thinking_tokens" | "api_retry" => self.turn.begin(out),
            "session_state_changed" => self.session_state(line.state.as_str(), out),
            "task_started" => self.task_started(line.task_id.as_str(), out),
            "task_updated" => {
                let status = line.patch.0.as_ref().map_or("", |patch| patch.status.as_str());
                self.task_status(line.task_id.as_str(), status, out);
            }
            "task_notification" => self.task_status(line.task_id.as_str(), line.status.as_str(), out),
            "background_tasks_changed" if line.tasks_left.is_some_and(|tasks| !tasks.0) => {
                self.end_tasks(out);
            }
            "worker_shutting_down" => out.push(RuntimeEvent::Ended),
            _ => {}
        }
    }

    fn session_state(&mut self, state: &str, out: &mut Vec<RuntimeEvent>) {
        match state {
            "running" => {
                self.requests.answer_all(out);
                self.turn.begin(out);
            }
            // A request of its own names what is asked; without one this is all that is known.
            "requires_action" if self.requests.is_empty() => {
                self.requests.ask("session-state", "", None, out);
            }
            "idle" => {
                self.requests.clear();
                self.message.end(out);
                self.turn.end_if_open(out);
            }
            _ => {}
        }
    }

    fn task_started(&mut self, id: &str, out: &mut Vec<RuntimeEvent>) {
        let id = words::id(id);
        if self.tasks.insert(&id, ()) {
            out.push(RuntimeEvent::SubAgentStarted { id });
        }
    }

    fn task_status(&mut self, id: &str, status: &str, out: &mut Vec<RuntimeEvent>) {
        if matches!(status, "" | "running" | "pending" | "in_progress") {
            return;
        }
        let id = words::id(id);
        if self.tasks.remove(&id).is_some() {
            out.push(RuntimeEvent::SubAgentEnded { id });
        }
    }

    fn end_tasks(&mut self, out: &mut Vec<RuntimeEvent>) {
        out.extend(self.tasks.drain().map(|(id, ())| RuntimeEvent::SubAgentEnded { id: id.into() }));
    }

    fn control_request(&mut self, line: &Line<'_>, out: &mut Vec<RuntimeEvent>) {
        let Some(request) = &line.request.0 else { return };
        let prompt = match request.subtype.as_str() {
            "can_use_tool" => Some(prompt_for(request.tool_name.as_str(), request.input.0.as_ref())),
            "elicitation" => request.message.some().map(words::line),
            // Hook callbacks and the like are answered by the program that holds the other end.
            _ => return,
        };
        self.turn.begin(out);
        self.requests.ask(line.request_id.as_str(), request.tool_use_id.as_str(), prompt, out);
    }

    fn result(&mut self, line: &Line<'_>, out: &mut Vec<RuntimeEvent>) {
        if let Some(usage) = line.usage.0 {
            out.push(RuntimeEvent::Usage(usage.report()));
        }
        if let Some(cost) = line.total_cost_usd.0 {
            let usage = Usage { scope: UsageScope::Session, cost_usd: Some(cost), ..Usage::default() };
            out.push(RuntimeEvent::Usage(usage));
        }
        let failed = line.is_error.0.unwrap_or_else(|| line.subtype.as_str().starts_with("error"));
        if line.terminal_reason.as_str().starts_with("aborted") {
            // What was cancelled took its tasks along.
            self.end_tasks(out);
        }
        self.end_turn(failed.then(|| line.failure()), out);
    }

    fn end_turn(&mut self, error: Option<String>, out: &mut Vec<RuntimeEvent>) {
        self.message.end(out);
        self.tools.clear();
        self.requests.clear();
        self.turn.end(error, out);
    }
}

impl Line<'_> {
    fn failure(&self) -> String {
        let told = [
            self.error.some(),
            self.errors.some(),
            self.result.some(),
            self.terminal_reason.some(),
            self.subtype.some(),
        ];
        told.into_iter().flatten().find_map(words::some_line).unwrap_or_else(|| "failed".to_owned())
    }

    fn message_text(&self) -> Option<&str> {
        match &self.message.0.as_ref()?.content {
            Content::Text(text) => Some(text),
            Content::Blocks(_) | Content::Nothing => None,
        }
    }
}
