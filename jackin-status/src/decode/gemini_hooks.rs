use jackin_core::{RuntimeEvent, Timestamp};
use serde::Deserialize;

use super::claude_message::{ToolInput, prompt_for};
use super::json::{self, Maybe, Text};
use super::turn::{Requests, Tools, Turn};
use super::{BrokenLine, Decoder, words};

/// Decodes what Gemini CLI hands to its hooks, one JSON object per report.
///
/// A tool's hooks carry no id; calls of one tool are taken to end in the order in which they began. A tool runs only
/// after its permission was given, so its beginning answers the request.
#[derive(Debug, Default)]
pub struct GeminiHooks {
    turn: Turn,
    tools: Tools,
    requests: Requests,
    unnamed: u64,
    time: Option<Timestamp>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Report<'a> {
    #[serde(borrow)]
    hook_event_name: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    tool_name: Text<'a>,
    #[serde(borrow)]
    tool_input: Maybe<ToolInput<'a>>,
    #[serde(borrow)]
    notification_type: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    prompt_response: Text<'a>,
}

impl Decoder for GeminiHooks {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let report: Report<'_> = json::parse(line)?;
        self.time = Timestamp::from_rfc3339(report.timestamp.as_str());
        let tool = report.tool_name.as_str();
        match report.hook_event_name.as_str() {
            "SessionStart" => {
                *self = Self { unnamed: self.unnamed, time: self.time, ..Self::default() };
                out.push(RuntimeEvent::SessionStarted {
                    runtime_session: report.session_id.some().map(words::id),
                    model: None,
                });
            }
            "BeforeAgent" => {
                self.requests.clear();
                self.turn.begin_anew(out);
            }
            "BeforeModel" | "PreCompress" => {
                self.requests.answer_all(out);
                self.turn.begin(out);
            }
            "BeforeTool" => {
                self.requests.answer_all(out);
                self.turn.begin(out);
                self.tools.start(tool, tool, out);
            }
            "AfterTool" => {
                self.turn.begin(out);
                self.tools.finish(tool, false, out);
            }
            "Notification" if report.notification_type.as_str() == "ToolPermission" => {
                let told = words::some_line(report.message.as_str());
                let prompt = told.or_else(|| {
                    report.tool_name.some().map(|tool| prompt_for(tool, report.tool_input.0.as_ref()))
                });
                self.turn.begin(out);
                self.requests.ask("permission", "", prompt, out);
            }
            "AfterAgent" => self.after_agent(&report, out),
            "SessionEnd" => out.push(RuntimeEvent::Ended),
            _ => {}
        }
        Ok(())
    }

    fn line_time(&self) -> Option<Timestamp> {
        self.time
    }
}

impl GeminiHooks {
    fn after_agent(&mut self, report: &Report<'_>, out: &mut Vec<RuntimeEvent>) {
        if let Some(text) = report.prompt_response.some() {
            self.unnamed += 1;
            let message_id = format!("message-{}", self.unnamed);
            out.push(RuntimeEvent::AssistantText { message_id, chunk: text.to_owned(), end: true });
        }
        self.tools.clear();
        self.requests.clear();
        self.turn.end(None, out);
    }
}
