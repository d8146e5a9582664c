use jackin_core::RuntimeEvent;
use serde::Deserialize;

use super::claude_message::{ToolInput, prompt_for};
use super::codex_exec::{CodexUsage, Item};
use super::json::{self, Flag, Id, Many, Maybe, Text, Told};
use super::turn::{Message, Requests, Tools, Turn};
use super::{BrokenLine, Decoder, words};

/// Decodes what `codex app-server` sends: JSON-RPC messages, one a line.
///
/// One server can hold several threads. The first one is the session; another takes its place when it starts while the
/// session's turn is over, because that is the operator's doing. Threads that start during a turn are sub-agents.
#[derive(Debug, Default)]
pub struct CodexAppServer {
    thread: String,
    turn: Turn,
    message: Message,
    tools: Tools,
    requests: Requests,
    error: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Envelope<'a> {
    #[serde(borrow)]
    method: Text<'a>,
    #[serde(borrow)]
    id: Id<'a>,
    #[serde(borrow)]
    params: Maybe<Params<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow)]
    thread_id: Text<'a>,
    #[serde(borrow)]
    thread: Maybe<Thread<'a>>,
    #[serde(borrow)]
    status: Maybe<Status<'a>>,
    #[serde(borrow)]
    turn: Maybe<TurnInfo<'a>>,
    #[serde(borrow)]
    item: Maybe<Item<'a>>,
    #[serde(borrow)]
    item_id: Text<'a>,
    #[serde(borrow)]
    delta: Text<'a>,
    #[serde(borrow)]
    error: Told<'a>,
    will_retry: Flag,
    #[serde(borrow)]
    request_id: Id<'a>,
    #[serde(borrow)]
    reason: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    command: Text<'a>,
    #[serde(borrow)]
    questions: Many<Question<'a>>,
    is_blocking: Flag,
    token_usage: Maybe<TokenUsage>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Thread<'a> {
    #[serde(borrow)]
    id: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Status<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    active_flags: json::Filled,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TurnInfo<'a> {
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    error: Told<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Question<'a> {
    #[serde(borrow)]
    question: Text<'a>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct TokenUsage {
    total: Maybe<CodexUsage>,
}

/// The wait that a thread's flags tell of, when no request names it.
const FLAGGED: &str = "thread-status";

impl Decoder for CodexAppServer {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let envelope: Envelope<'_> = json::parse(line)?;
        let none = Params::default();
        let params = envelope.params.0.as_ref().unwrap_or(&none);
        let id = envelope.id.0.as_deref();
        let method = envelope.method.as_str();
        match (method, id) {
            // An answer to a request, in a log of both directions.
            ("", Some(id)) => {
                self.requests.answer(id, out);
            }
            // Requests block whichever thread they come from.
            (_, Some(id)) => self.request(method, id, params, out),
            ("serverRequest/resolved", None) => {
                self.requests.answer(params.request_id.0.as_deref().unwrap_or_default(), out);
            }
            _ if self.is_session(method, params) => self.notification(method, params, out),
            _ => {}
        }
        Ok(())
    }
}

impl CodexAppServer {
    fn is_session(&mut self, method: &str, params: &Params<'_>) -> bool {
        let started = params.thread.0.as_ref().and_then(|thread| thread.id.some());
        let Some(thread) = params.thread_id.some().or(started) else { return true };
        if self.thread.is_empty() || (method == "thread/started" && !self.turn.is_open()) {
            self.thread = words::id(thread);
        }
        self.thread == words::cut(thread, words::MAX_ID)
    }

    fn notification(&mut self, method: &str, params: &Params<'_>, out: &mut Vec<RuntimeEvent>) {
        match method {
            "thread/started" => out.push(RuntimeEvent::SessionStarted {
                runtime_session: Some(self.thread.clone()).filter(|id| !id.is_empty()),
                model: None,
            }),
            "thread/status/changed" => {
                if let Some(status) = &params.status.0 {
                    self.status(status, out);
                }
            }
            "turn/started" => {
                self.requests.clear();
                self.turn.begin_anew(out);
            }
            "turn/completed" => self.turn_completed(params, out),
            "item/started" | "item/completed" => {
                if let Some(item) = &params.item.0 {
                    self.turn.begin(out);
                    self.item(item, method == "item/completed", out);
                }
            }
            "item/agentMessage/delta" => {
                self.turn.begin(out);
                self.message.piece(params.item_id.as_str(), params.delta.as_str(), out);
            }
            "error" if params.will_retry.0 != Some(true) => {
                self.error = params.error.some().or(params.message.some()).and_then(words::some_line);
            }
            "thread/tokenUsage/updated" => {
                if let Some(total) = params.token_usage.0.and_then(|usage| usage.total.0) {
                    out.push(RuntimeEvent::Usage(total.report()));
                }
            }
            "thread/closed" => self.end_if_open(out),
            _ => {}
        }
    }

    fn status(&mut self, status: &Status<'_>, out: &mut Vec<RuntimeEvent>) {
        match status.kind.as_str() {
            "active" => {
                self.turn.begin(out);
                if !status.active_flags.0 {
                    self.requests.answer_all(out);
                } else if self.requests.is_empty() {
                    self.requests.ask(FLAGGED, "", None, out);
                }
            }
            "idle" => self.end_if_open(out),
            "systemError" => {
                let error = self.error.take().unwrap_or_else(|| "system error".to_owned());
                self.end_turn(Some(error), out);
            }
            _ => {}
        }
    }

    fn turn_completed(&mut self, params: &Params<'_>, out: &mut Vec<RuntimeEvent>) {
        let Some(turn) = &params.turn.0 else { return self.end_turn(None, out) };
        let failed = turn.status.as_str() == "failed";
        let told = turn.error.some().and_then(words::some_line).or_else(|| self.error.take());
        if turn.status.as_str() != "inProgress" {
            self.end_turn(failed.then(|| told.unwrap_or_else(|| "failed".to_owned())), out);
        }
    }

    fn item(&mut self, item: &Item<'_>, completed: bool, out: &mut Vec<RuntimeEvent>) {
        let (id, kind) = (item.id.as_str(), item.kind.as_str());
        match kind {
            "agentMessage" if completed => self.agent_message(id, item.text.as_str(), out),
            "commandExecution" | "fileChange" | "mcpToolCall" | "collabToolCall" | "dynamicToolCall"
            | "webSearch" => {
                let name = item.tool.some().unwrap_or(kind);
                if completed {
                    self.requests.answer_about(id, out);
                    let failed = matches!(item.status.as_str(), "failed" | "declined");
                    self.tools.finish_named(id, name, failed, out);
                } else {
                    self.tools.start(id, name, out);
                }
            }
            _ => {}
        }
    }

    /// The whole of a message, which is told only if its pieces were not.
    fn agent_message(&mut self, id: &str, text: &str, out: &mut Vec<RuntimeEvent>) {
        if !self.message.is(id) {
            self.message.piece(id, text, out);
        }
        self.message.end(out);
    }

    fn request(&mut self, method: &str, id: &str, params: &Params<'_>, out: &mut Vec<RuntimeEvent>) {
        let prompt = match method {
            "item/commandExecution/requestApproval" | "execCommandApproval" => {
                let input = ToolInput::of_command(params.command.some().or(params.reason.some()));
                prompt_for("command", Some(&input))
            }
            "item/fileChange/requestApproval" | "applyPatchApproval" => {
                params.reason.some().map_or_else(|| "Allow the edit?".to_owned(), words::line)
            }
            "item/permissions/requestApproval" => {
                params.reason.some().map_or_else(|| "Allow more permissions?".to_owned(), words::line)
            }
            "item/tool/requestUserInput" if params.is_blocking.0 != Some(false) => {
                let asked = params.questions.0.iter().find_map(|question| question.question.some());
                asked.map_or_else(|| "The agent has a question".to_owned(), words::line)
            }
            "mcpServer/elicitation/request" => {
                params.message.some().map_or_else(|| "A tool server has a question".to_owned(), words::line)
            }
            _ => return,
        };
        self.turn.begin(out);
        self.requests.ask(id, params.item_id.as_str(), Some(prompt), out);
    }

    fn end_if_open(&mut self, out: &mut Vec<RuntimeEvent>) {
        if self.turn.is_open() {
            self.end_turn(None, out);
        }
    }

    fn end_turn(&mut self, error: Option<String>, out: &mut Vec<RuntimeEvent>) {
        self.message.end(out);
        self.tools.clear();
        self.requests.clear();
        self.error = None;
        self.turn.end(error, out);
    }
}
