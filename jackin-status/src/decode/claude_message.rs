//! Shapes that Claude Code's stream, its transcripts, its hooks and Amp's stream have in common.

use std::borrow::Cow;

use jackin_core::{Usage, UsageScope};
use serde::Deserialize;

use super::json::{Content, Flag, Many, Maybe, Number, Text};
use super::words;

/// The model's name on messages that the program wrote itself.
pub(super) const SYNTHETIC: &str = "<synthetic>";

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ApiMessage<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) stop_reason: Text<'a>,
    #[serde(borrow)]
    pub(super) content: Content<'a, Block<'a>>,
    pub(super) usage: Maybe<ApiUsage>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_use_id: Text<'a>,
    pub(super) is_error: Flag,
    #[serde(borrow)]
    pub(super) input: Maybe<ToolInput<'a>>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
pub(super) struct ApiUsage {
    #[serde(rename = "input_tokens")]
    input: Number,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_written: Number,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: Number,
    #[serde(rename = "output_tokens")]
    output: Number,
}

impl ApiUsage {
    /// What one turn or message used; tokens written to the cache were read as input.
    pub(super) fn report(self) -> Usage {
        let input = match (self.input.0, self.cache_written.0) {
            (None, None) => None,
            (input, created) => Some(input.unwrap_or(0).saturating_add(created.unwrap_or(0))),
        };
        Usage {
            scope: UsageScope::Turn,
            input_tokens: input,
            cached_tokens: self.cache_read.0,
            output_tokens: self.output.0,
            cost_usd: None,
        }
    }
}

/// Usage per message, where a message comes in several lines that each repeat or correct the figures. Only what is
/// new is told, so that the reports add up.
#[derive(Debug, Default)]
pub(super) struct MessageUsage {
    message: String,
    told: Usage,
}

impl MessageUsage {
    pub(super) fn advance(&mut self, message: &str, now: Usage) -> Option<Usage> {
        if self.message != words::cut(message, words::MAX_ID) {
            *self = Self { message: words::id(message), told: Usage::default() };
        }
        let more = |now: Option<u64>, told: &mut Option<u64>| {
            let more = now?.checked_sub(told.unwrap_or(0)).filter(|more| *more > 0 || told.is_none())?;
            *told = now;
            Some(more)
        };
        let report = Usage {
            scope: UsageScope::Turn,
            input_tokens: more(now.input_tokens, &mut self.told.input_tokens),
            cached_tokens: more(now.cached_tokens, &mut self.told.cached_tokens),
            output_tokens: more(now.output_tokens, &mut self.told.output_tokens),
            cost_usd: None,
        };
        (report != Usage::default()).then_some(report)
    }
}

/// The fields of a tool's input that tell a person what it is about.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ToolInput<'a> {
    #[serde(borrow)]
    command: Text<'a>,
    #[serde(borrow)]
    file_path: Text<'a>,
    #[serde(borrow)]
    notebook_path: Text<'a>,
    #[serde(borrow)]
    path: Text<'a>,
    #[serde(borrow)]
    url: Text<'a>,
    #[serde(borrow)]
    query: Text<'a>,
    #[serde(borrow)]
    pattern: Text<'a>,
    #[serde(borrow)]
    description: Text<'a>,
    #[serde(borrow)]
    questions: Many<Question<'a>>,
}

impl<'a> ToolInput<'a> {
    /// The input of a tool that runs a command.
    pub(super) fn of_command(command: Option<&'a str>) -> Self {
        Self { command: Text(command.map(Cow::Borrowed)), ..Self::default() }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Question<'a> {
    #[serde(borrow)]
    question: Text<'a>,
}

/// Tools that are a question by nature: they wait for the operator whatever the permissions are.
pub(super) fn is_question(tool: &str) -> bool {
    matches!(tool, "AskUserQuestion" | "ExitPlanMode")
}

/// What the operator is asked when `tool` wants to run with `input`.
pub(super) fn prompt_for(tool: &str, input: Option<&ToolInput<'_>>) -> String {
    let none = ToolInput::default();
    let input = input.unwrap_or(&none);
    match tool {
        "AskUserQuestion" => {
            let asked = input.questions.0.iter().find_map(|question| question.question.some());
            asked.map_or_else(|| "The agent has a question".to_owned(), words::line)
        }
        "ExitPlanMode" => "Approve the plan?".to_owned(),
        _ => {
            let about = [
                &input.command,
                &input.file_path,
                &input.notebook_path,
                &input.path,
                &input.url,
                &input.query,
                &input.pattern,
                &input.description,
            ];
            match about.iter().find_map(|text| text.some()) {
                Some(about) => words::line(&format!("Allow {tool}: {}?", words::line(about))),
                None => words::line(&format!("Allow {tool}?")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_of_a_message_in_several_lines_is_counted_once() {
        let usage = |input, output| Usage {
            input_tokens: Some(input),
            output_tokens: Some(output),
            ..Usage::default()
        };
        let mut messages = MessageUsage::default();
        assert_eq!(messages.advance("m1", usage(10, 1)), Some(usage(10, 1)));
        assert_eq!(messages.advance("m1", usage(10, 1)), None);
        let more = Usage { output_tokens: Some(4), ..Usage::default() };
        assert_eq!(messages.advance("m1", usage(10, 5)), Some(more));
        assert_eq!(messages.advance("m2", usage(10, 5)), Some(usage(10, 5)));
    }

    #[test]
    fn prompts_name_the_tool_and_what_it_is_about() {
        let prompt = |tool: &str, json: &str| prompt_for(tool, serde_json::from_str(json).ok().as_ref());
        assert_eq!(prompt("Bash", r#"{"command":"rm -rf\n build"}"#), "Allow Bash: rm -rf build?");
        assert_eq!(prompt("Edit", r#"{"file_path":"a.rs","old_string":"x"}"#), "Allow Edit: a.rs?");
        assert_eq!(prompt("AskUserQuestion", r#"{"questions":[{"question":"Which?"}]}"#), "Which?");
        assert_eq!(prompt("ExitPlanMode", r#"{"plan":"1."}"#), "Approve the plan?");
        assert_eq!(prompt("mcp__x", "{}"), "Allow mcp__x?");
    }
}
