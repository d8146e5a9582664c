use jackin_core::RuntimeEvent;
use serde::Deserialize;

use super::json::{self, Text};
use super::{BrokenLine, Decoder, words};

/// Decodes what Codex hands to its `notify` program: the end of a turn and nothing else.
#[derive(Debug, Default)]
pub struct CodexNotify {
    unnamed: u64,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
struct Notice<'a> {
    #[serde(borrow)]
    r#type: Text<'a>,
    #[serde(borrow)]
    turn_id: Text<'a>,
    #[serde(borrow)]
    last_assistant_message: Text<'a>,
}

impl Decoder for CodexNotify {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let notice: Notice<'_> = json::parse(line)?;
        if notice.r#type.as_str() != "agent-turn-complete" {
            return Ok(());
        }
        if let Some(text) = notice.last_assistant_message.some() {
            self.unnamed += 1;
            let message_id =
                notice.turn_id.some().map_or_else(|| format!("turn-{}", self.unnamed), words::id);
            out.push(RuntimeEvent::AssistantText { message_id, chunk: text.to_owned(), end: true });
        }
        out.push(RuntimeEvent::TurnEnded { error: None });
        Ok(())
    }
}
