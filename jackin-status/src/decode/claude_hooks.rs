use jackin_core::RuntimeEvent;
use serde::Deserialize;

use super::claude_message::{ToolInput, is_question, prompt_for};
use super::json::{self, Filled, Flag, Maybe, Number, Text, Told};
use super::recent::Recent;
use super::turn::{Message, Requests, Tools, Turn};
use super::{BrokenLine, Decoder, words};

/// Decodes what Claude Code hands to its hooks, one JSON object per report.
///
/// What fires inside a sub-agent says nothing of the session, with one exception: a permission request, because the
/// operator is asked all the same. An interruption fires no hook; the screen or the transcript has to tell it.
#[derive(Debug, Default)]
pub struct ClaudeHooks {
    turn: Turn,
    message: Message,
    /// Tool calls that run, with the tool's name: a permission request does not always say which call it is about.
    calls: Recent<String>,
    tools: Tools,
    requests: Requests,
    agents: Recent<()>,
    /// Whether this turn's text was told while it was displayed.
    displayed: bool,
    unnamed: u64,
}

/// Decodes what Codex hands to its hooks, which are shaped after Claude Code's.
#[derive(Debug, Default)]
pub struct CodexHooks(ClaudeHooks);

impl Decoder for CodexHooks {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        self.0.decode(line, out)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Report<'a> {
    #[serde(borrow)]
    hook_event_name: Text<'a>,
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    agent_id: Text<'a>,
    #[serde(borrow)]
    tool_name: Text<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
    #[serde(borrow)]
    tool_input: Maybe<ToolInput<'a>>,
    is_interrupt: Flag,
    #[serde(borrow)]
    notification_type: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    message_id: Text<'a>,
    index: Number,
    r#final: Flag,
    #[serde(borrow)]
    delta: Text<'a>,
    #[serde(borrow)]
    last_assistant_message: Text<'a>,
    background_tasks: Filled,
    #[serde(borrow)]
    error: Told<'a>,
}

/// The request that a notification stands for, when no better one is open.
const NOTIFIED: &str = "notification";

impl Decoder for ClaudeHooks {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let report: Report<'_> = json::parse(line)?;
        let event = report.hook_event_name.as_str();
        let in_sub_agent = report.agent_id.some().is_some();
        match event {
            "PermissionRequest" => self.permission_request(&report, out),
            "PostToolUse" | "PostToolUseFailure" | "PermissionDenied" => {
                self.after_tool(&report, event != "PostToolUse", in_sub_agent, out);
            }
            "SubagentStart" => {
                let id = words::id(report.agent_id.as_str());
                if self.agents.insert(&id, ()) {
                    out.push(RuntimeEvent::SubAgentStarted { id });
                }
            }
            "SubagentStop" => {
                let id = words::id(report.agent_id.as_str());
                if self.agents.remove(&id).is_some() {
                    out.push(RuntimeEvent::SubAgentEnded { id });
                }
            }
            _ if in_sub_agent => {}
            "SessionStart" => self.session_start(&report, out),
            "UserPromptSubmit" => {
                self.requests.clear();
                self.turn.begin_anew(out);
            }
            "PreToolUse" => self.before_tool(&report, out),
            "Notification" => self.notification(&report, out),
            "Elicitation" => {
                self.turn.begin(out);
                self.requests.ask("elicitation", "", words::some_line(report.message.as_str()), out);
            }
            "ElicitationResult" => {
                self.requests.answer("elicitation", out);
            }
            "PreCompact" => self.turn.begin(out),
            "MessageDisplay" => self.display(&report, out),
            "Stop" => self.stop(&report, out),
            "StopFailure" => {
                let error =
                    report.error.some().and_then(words::some_line).unwrap_or_else(|| "failed".to_owned());
                self.end_turn(Some(error), out);
            }
            "SessionEnd" => {
                self.end_agents(out);
                self.message.end(out);
                out.push(RuntimeEvent::Ended);
            }
            _ => {}
        }
        Ok(())
    }
}

impl ClaudeHooks {
    fn session_start(&mut self, report: &Report<'_>, out: &mut Vec<RuntimeEvent>) {
        *self = Self { unnamed: self.unnamed, ..Self::default() };
        out.push(RuntimeEvent::SessionStarted {
            runtime_session: report.session_id.some().map(words::id),
            model: report.model.some().map(words::line),
        });
    }

    fn before_tool(&mut self, report: &Report<'_>, out: &mut Vec<RuntimeEvent>) {
        self.turn.begin(out);
        let name = report.tool_name.as_str();
        let id = self.call_id(report);
        self.calls.insert(&id, words::line(name));
        self.tools.start(&id, name, out);
        if is_question(name) {
            self.requests.ask(&id, &id, Some(prompt_for(name, report.tool_input.0.as_ref())), out);
        }
    }

    fn after_tool(
        &mut self,
        report: &Report<'_>,
        failed: bool,
        in_sub_agent: bool,
        out: &mut Vec<RuntimeEvent>,
    ) {
        let name = words::line(report.tool_name.as_str());
        let open = self.calls.latest_key(|call| *call == name).map(str::to_owned);
        let id = report.tool_use_id.some().map(words::id).or(open).unwrap_or_else(|| name.clone());
        self.calls.remove(&id);
        // A request may have been filed under the call or, where no call was known, under the tool's name.
        if !self.requests.answer(&id, out) {
            self.requests.answer(&name, out);
        }
        if !in_sub_agent {
            self.turn.begin(out);
            self.tools.finish(&id, failed, out);
        }
        if report.is_interrupt.0 == Some(true) && !in_sub_agent {
            self.end_turn(None, out);
        }
    }

    fn permission_request(&mut self, report: &Report<'_>, out: &mut Vec<RuntimeEvent>) {
        let name = words::line(report.tool_name.as_str());
        let open = self.calls.latest_key(|call| *call == name).map(str::to_owned);
        let id = report.tool_use_id.some().map(words::id).or(open).unwrap_or_else(|| name.clone());
        self.turn.begin(out);
        self.requests.ask(&id, &id, Some(prompt_for(&name, report.tool_input.0.as_ref())), out);
    }

    /// Notifications come late: they repeat what another hook has told, unless that hook is not set up.
    fn notification(&mut self, report: &Report<'_>, out: &mut Vec<RuntimeEvent>) {
        match report.notification_type.as_str() {
            "permission_prompt" | "elicitation_dialog" if self.requests.is_empty() => {
                self.requests.ask(NOTIFIED, "", words::some_line(report.message.as_str()), out);
            }
            "idle_prompt" => {
                self.requests.clear();
                self.message.end(out);
                self.turn.end_if_open(out);
            }
            _ => {}
        }
    }

    fn display(&mut self, report: &Report<'_>, out: &mut Vec<RuntimeEvent>) {
        self.turn.begin(out);
        self.displayed = true;
        if report.index.0 == Some(0) {
            self.message.end(out);
        }
        self.message.piece(report.message_id.as_str(), report.delta.as_str(), out);
        if report.r#final.0 == Some(true) {
            self.message.end(out);
        }
    }

    fn stop(&mut self, report: &Report<'_>, out: &mut Vec<RuntimeEvent>) {
        if let Some(text) = report.last_assistant_message.some()
            && !self.displayed
        {
            self.unnamed += 1;
            self.message.piece(&format!("message-{}", self.unnamed), text, out);
        }
        if report.background_tasks.0 {
            // The turn is over but the work is not; the tasks wake another turn, which stops in its turn.
            self.message.end(out);
            self.requests.answer_all(out);
            self.displayed = false;
        } else {
            self.end_agents(out);
            self.end_turn(None, out);
        }
    }

    fn end_agents(&mut self, out: &mut Vec<RuntimeEvent>) {
        out.extend(self.agents.drain().map(|(id, ())| RuntimeEvent::SubAgentEnded { id: id.into() }));
    }

    fn end_turn(&mut self, error: Option<String>, out: &mut Vec<RuntimeEvent>) {
        self.message.end(out);
        self.tools.clear();
        self.calls.clear();
        self.requests.clear();
        self.displayed = false;
        self.turn.end(error, out);
    }

    fn call_id(&mut self, report: &Report<'_>) -> String {
        report.tool_use_id.some().map_or_else(
            || {
                self.unnamed += 1;
                format!("call-{}", self.unnamed)
            },
            words::id,
        )
    }
}
