use jackin_core::{RuntimeEvent, Timestamp};
use serde::Deserialize;

use super::json::{self, Maybe, Number, Text, Told};
use super::opencode_sse::Part;
use super::turn::{Tools, Turn};
use super::{BrokenLine, Decoder, words};

/// Decodes `opencode run --format json`. It rejects permissions by itself, so no question comes from here, and tells a
/// tool only when it has finished.
#[derive(Debug, Default)]
pub struct OpenCodeRun {
    session: String,
    turn: Turn,
    tools: Tools,
    time: Option<Timestamp>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    timestamp: Number,
    #[serde(borrow, rename = "sessionID")]
    session_id: Text<'a>,
    #[serde(borrow)]
    part: Maybe<Part<'a>>,
    #[serde(borrow)]
    error: Told<'a>,
}

impl Decoder for OpenCodeRun {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let line: Line<'_> = json::parse(line)?;
        self.time = line.timestamp.0.map(Timestamp::from_millis);
        if let Some(session) = line.session_id.some().map(words::id)
            && session != self.session
        {
            self.session.clone_from(&session);
            self.turn = Turn::default();
            out.push(RuntimeEvent::SessionStarted { runtime_session: Some(session), model: None });
        }
        if line.kind.as_str() == "error" {
            let error = line.error.some().and_then(words::some_line);
            self.end_turn(Some(error.unwrap_or_else(|| "failed".to_owned())), out);
            return Ok(());
        }
        let Some(part) = &line.part.0 else { return Ok(()) };
        match line.kind.as_str() {
            "step_start" => self.turn.begin(out),
            "text" => {
                self.turn.begin(out);
                out.push(RuntimeEvent::AssistantText {
                    message_id: words::id(part.id.as_str()),
                    chunk: part.text.as_str().to_owned(),
                    end: true,
                });
            }
            "tool_use" => {
                self.turn.begin(out);
                let failed = part.state.0.as_ref().is_some_and(|state| state.status.as_str() == "error");
                self.tools.finish_named(part.call_id.as_str(), part.tool.as_str(), failed, out);
            }
            "step_finish" => {
                out.extend(part.usage().map(RuntimeEvent::Usage));
                if part.reason.as_str() != "tool-calls" {
                    self.end_turn(None, out);
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

impl OpenCodeRun {
    fn end_turn(&mut self, error: Option<String>, out: &mut Vec<RuntimeEvent>) {
        self.tools.clear();
        self.turn.end(error, out);
    }
}
