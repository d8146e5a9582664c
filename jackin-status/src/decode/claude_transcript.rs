use jackin_core::{RuntimeEvent, Timestamp};
use serde::Deserialize;

use super::claude_message::{ApiMessage, Block, MessageUsage, SYNTHETIC, is_question, prompt_for};
use super::json::{self, Content, Flag, Maybe, Text, Told};
use super::turn::{Message, Requests, Tools, Turn};
use super::{BrokenLine, Decoder, words};

/// Decodes a session file of Claude Code, `~/.claude/projects/*/<session>.jsonl`.
///
/// The file tells the beginning of a turn always and its end only in newer versions (`turn_duration`, `end_turn`) or
/// when it was interrupted or failed. It cannot tell a permission prompt from a running tool.
#[derive(Debug, Default)]
pub struct ClaudeTranscript {
    named: bool,
    turn: Turn,
    message: Message,
    tools: Tools,
    requests: Requests,
    usage: MessageUsage,
    /// The message whose stop reason ended the turn; another line of it begins no new one.
    last: String,
    time: Option<Timestamp>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    subtype: Text<'a>,
    #[serde(borrow, rename = "sessionId")]
    session_id: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    message: Maybe<ApiMessage<'a>>,
    #[serde(rename = "isSidechain")]
    is_sidechain: Flag,
    #[serde(rename = "isMeta")]
    is_meta: Flag,
    #[serde(rename = "isCompactSummary")]
    is_compact_summary: Flag,
    #[serde(rename = "isApiErrorMessage")]
    is_api_error: Flag,
    #[serde(borrow)]
    error: Told<'a>,
    #[serde(borrow, rename = "compactMetadata")]
    compact_metadata: Maybe<CompactMetadata<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CompactMetadata<'a> {
    #[serde(borrow)]
    trigger: Text<'a>,
}

impl Decoder for ClaudeTranscript {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let line: Line<'_> = json::parse(line)?;
        self.time = Timestamp::from_rfc3339(line.timestamp.as_str());
        if line.is_sidechain.0 == Some(true) {
            return Ok(());
        }
        match (line.kind.as_str(), &line.message.0) {
            ("user", Some(message)) => {
                self.session(&line, out);
                self.user(&line, message, out);
            }
            ("assistant", Some(message)) => {
                self.session(&line, out);
                self.assistant(&line, message, out);
            }
            ("system", _) => self.system(&line, out),
            _ => {}
        }
        Ok(())
    }

    fn line_time(&self) -> Option<Timestamp> {
        self.time
    }
}

impl ClaudeTranscript {
    fn session(&mut self, line: &Line<'_>, out: &mut Vec<RuntimeEvent>) {
        // A resumed session's file begins with lines of the one before it: the first name is enough.
        if let Some(session) = line.session_id.some().map(words::id)
            && !std::mem::replace(&mut self.named, true)
        {
            out.push(RuntimeEvent::SessionStarted { runtime_session: Some(session), model: None });
        }
    }

    fn system(&mut self, line: &Line<'_>, out: &mut Vec<RuntimeEvent>) {
        let over = match line.subtype.as_str() {
            "turn_duration" => true,
            // Compaction by the agent itself is part of a turn; by command it is all there was to do.
            "compact_boundary" => {
                let metadata = line.compact_metadata.0.as_ref();
                metadata.is_some_and(|metadata| metadata.trigger.as_str() == "manual")
            }
            _ => false,
        };
        if over {
            self.message.end(out);
            self.turn.end_if_open(out);
        }
    }

    fn user(&mut self, line: &Line<'_>, message: &ApiMessage<'_>, out: &mut Vec<RuntimeEvent>) {
        self.message.end(out);
        if line.is_meta.0 == Some(true) || line.is_compact_summary.0 == Some(true) {
            return;
        }
        match &message.content {
            Content::Text(text) => self.prompt(text, out),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match block.kind.as_str() {
                        "tool_result" => self.tool_result(block, out),
                        "text" => self.prompt(block.text.as_str(), out),
                        _ => {}
                    }
                }
            }
            Content::Nothing => {}
        }
    }

    /// Text in the operator's name: a prompt, or the program's note of what the operator did.
    fn prompt(&mut self, text: &str, out: &mut Vec<RuntimeEvent>) {
        const LOCAL: [&str; 4] = ["<local-command-", "<command-", "<bash-", "Caveat: "];
        const EXIT: [&str; 2] = ["<command-name>/exit<", "<command-name>/quit<"];
        if text.starts_with("[Request interrupted by user") {
            self.end_turn(None, out);
        } else if EXIT.iter().any(|command| text.starts_with(command)) {
            out.push(RuntimeEvent::Ended);
        } else if !LOCAL.iter().any(|note| text.starts_with(note)) {
            // A command that turns out to be a prompt is told by the answer that follows.
            self.requests.clear();
            self.turn.begin_anew(out);
        }
    }

    fn tool_result(&mut self, block: &Block<'_>, out: &mut Vec<RuntimeEvent>) {
        let id = block.tool_use_id.as_str();
        self.requests.answer(id, out);
        self.tools.finish(id, block.is_error.0.unwrap_or(false), out);
    }

    fn assistant(&mut self, line: &Line<'_>, message: &ApiMessage<'_>, out: &mut Vec<RuntimeEvent>) {
        let id = message.id.as_str();
        if line.is_api_error.0 == Some(true) {
            let error = text_of(message).or(line.error.some()).and_then(words::some_line);
            return self.end_turn(error.or_else(|| Some("failed".to_owned())), out);
        }
        // Notes of the program itself, such as that nothing was asked.
        if message.model.as_str() == SYNTHETIC {
            return;
        }
        let after_the_end = !self.last.is_empty() && self.last == words::cut(id, words::MAX_ID);
        if !after_the_end {
            self.last.clear();
            self.turn.begin(out);
        }
        if let Content::Blocks(blocks) = &message.content {
            for block in blocks {
                match block.kind.as_str() {
                    "text" => self.message.piece(id, block.text.as_str(), out),
                    "tool_use" => self.tool_use(block, out),
                    _ => {}
                }
            }
        }
        if let Some(usage) = message.usage.0
            && let Some(usage) = self.usage.advance(id, usage.report())
        {
            out.push(RuntimeEvent::Usage(usage));
        }
        let ends =
            matches!(message.stop_reason.as_str(), "end_turn" | "stop_sequence" | "max_tokens" | "refusal");
        if ends || after_the_end {
            self.end_turn(None, out);
            self.last = words::id(id);
        }
    }

    fn tool_use(&mut self, block: &Block<'_>, out: &mut Vec<RuntimeEvent>) {
        let (id, name) = (block.id.as_str(), block.name.as_str());
        self.tools.start(id, name, out);
        if is_question(name) {
            self.requests.ask(id, id, Some(prompt_for(name, block.input.0.as_ref())), out);
        }
    }

    fn end_turn(&mut self, error: Option<String>, out: &mut Vec<RuntimeEvent>) {
        self.message.end(out);
        self.tools.clear();
        self.requests.clear();
        self.turn.end(error, out);
    }
}

fn text_of<'a>(message: &'a ApiMessage<'_>) -> Option<&'a str> {
    match &message.content {
        Content::Text(text) => Some(text),
        Content::Blocks(blocks) => blocks.iter().find_map(|block| block.text.some()),
        Content::Nothing => None,
    }
}
