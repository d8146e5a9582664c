//! Makes tools and handlers of TOML values and notes everything that is wrong on the way.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use jackin_core::RoleSelector;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistake::{Mistake, MistakeKind};
use super::source::Source;
use crate::handler::{HandlerKind, Handlers};
use crate::key::Key;
use crate::placeholder::Placeholder;
use crate::reserved::reserved;
use crate::template::{Template, TemplateKind};
use crate::tool::Tool;

const TOOL_FIELDS: &[&str] = &["type", "key", "name", "exec", "prompt", "scope", "timeout"];
const HANDLER_FIELDS: &[&str] = &["open", "web", "diff", "editor", "pager"];

/// The longest time limit in seconds: a day.
const MAX_TIMEOUT: u64 = 86_400;

#[derive(Debug)]
pub(super) struct Reader<'a> {
    source: Source<'a>,
    mistakes: Vec<Mistake>,
    /// Mistakes beyond those that are listed.
    unlisted: usize,
}

/// A field's value, or that it is there but unusable, so that it is not called missing as well.
enum Field<T> {
    Read(T, Range<usize>),
    Bad,
    Absent,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { source: Source::new(text), mistakes: Vec::new(), unlisted: 0 }
    }

    /// The mistakes, and how many more there are.
    pub(super) fn into_mistakes(mut self) -> (Vec<Mistake>, usize) {
        self.mistakes.sort_by_key(|mistake| mistake.place.span.start);
        (self.mistakes, self.unlisted)
    }

    pub(super) fn document(&mut self, root: &DeTable<'_>) -> (Vec<Tool>, Handlers) {
        let (mut tools, mut handlers) = (Vec::new(), Handlers::default());
        for (name, value) in root {
            match name.get_ref().as_ref() {
                "tool" => tools = self.tools(value, &name.span()),
                "handler" => handlers = self.handlers(value),
                _ => {}
            }
        }
        (tools, handlers)
    }

    fn mistake(&mut self, kind: MistakeKind, span: Range<usize>) {
        self.mistake_between(kind, span, None);
    }

    fn mistake_between(&mut self, kind: MistakeKind, span: Range<usize>, other: Option<Range<usize>>) {
        if self.mistakes.len() == crate::Tools::MAX_MISTAKES {
            self.unlisted += 1;
            return;
        }
        let other = other.map(|other| self.source.place(other));
        self.mistakes.push(Mistake { kind, place: self.source.place(span), other });
    }

    fn tools(&mut self, value: &Spanned<DeValue<'_>>, name: &Range<usize>) -> Vec<Tool> {
        let DeValue::Array(entries) = value.get_ref() else {
            let expected = "an array of tables";
            self.wrong_type(
                "tool",
                expected,
                value,
                "[[tool]], with two brackets, above each tool",
                name.clone(),
            );
            return Vec::new();
        };
        let mut tools: Vec<(Tool, Range<usize>)> = Vec::new();
        let mut by_key: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for entry in entries {
            let DeValue::Table(table) = entry.get_ref() else {
                self.wrong_type("tool", "tables", entry, "[[tool]] above each tool", entry.span());
                continue;
            };
            let Some((tool, key_span)) = self.tool(table, &entry.span()) else { continue };
            let same_key = by_key.entry(tool.key).or_default();
            if let Some((first, first_span)) =
                same_key.iter().map(|&at| &tools[at]).find(|(other, _)| other.meets(&tool))
            {
                let kind = MistakeKind::DuplicateKey { key: tool.key, other: first.name.clone() };
                let other = Some(first_span.clone());
                self.mistake_between(kind, key_span, other);
                continue;
            }
            same_key.push(tools.len());
            tools.push((tool, key_span));
        }
        tools.into_iter().map(|(tool, _)| tool).collect()
    }

    /// One `[[tool]]`, and where its key stands; none if anything about it is wrong.
    fn tool(&mut self, table: &DeTable<'_>, span: &Range<usize>) -> Option<(Tool, Range<usize>)> {
        let before = self.mistakes.len();
        let mut fields: BTreeMap<&str, (&Spanned<DeValue<'_>>, Range<usize>)> = BTreeMap::new();
        for (name, value) in table {
            let field = name.get_ref().as_ref();
            match TOOL_FIELDS.iter().find(|known| **known == field) {
                Some(known) => {
                    fields.insert(known, (value, name.span()));
                }
                None => self.unknown_field("[[tool]]", field, TOOL_FIELDS, name.span()),
            }
        }
        let get = |field: &str| fields.get(field).map(|(value, _)| *value);
        let key = self.key(get("key"));
        let name = self.label("name", get("name"), "name = \"Run lint\"");
        let question = self.label("prompt", get("prompt"), "prompt = \"What happened?\"");
        let kind = match self.string("type", get("type"), "type = \"prompt\"") {
            Field::Read("exec", _) | Field::Absent if get("prompt").is_some() => {
                let (_, name_span) = &fields["prompt"];
                self.mistake(MistakeKind::PromptWithoutType, name_span.clone());
                TemplateKind::Prompt
            }
            Field::Read("exec", _) | Field::Absent => TemplateKind::Exec,
            Field::Read("prompt", _) => TemplateKind::Prompt,
            Field::Read(other, span) => {
                self.mistake(MistakeKind::UnknownType(other.to_owned()), span);
                TemplateKind::Prompt
            }
            Field::Bad => TemplateKind::Prompt,
        };
        let is_prompt =
            matches!(get("type").map(Spanned::get_ref), Some(DeValue::String(kind)) if kind == "prompt");
        let command = self.command("exec", get("exec"), kind);
        let scope = self.scope(get("scope"));
        let timeout = self.timeout(get("timeout"));
        for (is_missing, field, example) in [
            (matches!(key, Field::Absent), "key", "key = \"l\""),
            (matches!(name, Field::Absent), "name", "name = \"Run lint\""),
            (matches!(command, Field::Absent), "exec", "exec = \"cargo clippy\""),
            (is_prompt && matches!(question, Field::Absent), "prompt", "prompt = \"What happened?\""),
        ] {
            if is_missing {
                self.mistake(MistakeKind::MissingField { field, example }, span.clone());
            }
        }
        let (Field::Read(key, key_span), Field::Read(name, _), Field::Read(command, _)) =
            (key, name, command)
        else {
            return None;
        };
        let prompt = match question {
            Field::Read(question, _) => Some(question),
            Field::Bad | Field::Absent => None,
        };
        let line = self.source.place(span.clone()).line;
        let tool = Tool { key, name, prompt, command, scope, timeout, line };
        (self.mistakes.len() == before).then_some((tool, key_span))
    }

    fn handlers(&mut self, value: &Spanned<DeValue<'_>>) -> Handlers {
        let mut handlers = Handlers::default();
        let DeValue::Table(table) = value.get_ref() else {
            let example = "[handler] and below it lines such as web = \"firefox {}\"";
            self.wrong_type("handler", "a table", value, example, value.span());
            return handlers;
        };
        for (name, value) in table {
            let field = name.get_ref().as_ref();
            let Some(kind) = HandlerKind::ALL.into_iter().find(|kind| kind.as_str() == field) else {
                self.unknown_field("[handler]", field, HANDLER_FIELDS, name.span());
                continue;
            };
            let Field::Read(command, span) = self.command(kind.as_str(), Some(value), TemplateKind::Handler)
            else {
                continue;
            };
            if takes_target(kind, &command) {
                handlers.set(kind, command);
            } else {
                self.mistake(MistakeKind::NoTarget(kind), span);
            }
        }
        handlers
    }

    fn key(&mut self, value: Option<&Spanned<DeValue<'_>>>) -> Field<Key> {
        match self.string("key", value, "key = \"l\"") {
            Field::Read(text, span) => match text.parse::<Key>() {
                Ok(key) => match reserved(key) {
                    None => return Field::Read(key, span),
                    Some(action) => self.mistake(MistakeKind::ReservedKey { key, action }, span),
                },
                Err(_) => self.mistake(MistakeKind::BadKey(text.to_owned()), span),
            },
            Field::Absent => return Field::Absent,
            Field::Bad => {}
        }
        Field::Bad
    }

    /// A text that the console shows.
    fn label(
        &mut self,
        field: &'static str,
        value: Option<&Spanned<DeValue<'_>>>,
        example: &'static str,
    ) -> Field<String> {
        match self.string(field, value, example) {
            Field::Read(text, span) => {
                if let Some((at, c)) = text.char_indices().find(|(_, c)| c.is_control()) {
                    let span = self.source.within_string(&span, &(at..at + c.len_utf8()));
                    self.mistake(MistakeKind::ControlCharacter(field), span);
                } else if text.trim().is_empty() {
                    self.mistake(MistakeKind::EmptyText(field), span);
                } else {
                    return Field::Read(text.to_owned(), span);
                }
                Field::Bad
            }
            Field::Absent => Field::Absent,
            Field::Bad => Field::Bad,
        }
    }

    fn command(
        &mut self,
        field: &str,
        value: Option<&Spanned<DeValue<'_>>>,
        kind: TemplateKind,
    ) -> Field<Template> {
        let example = match kind {
            TemplateKind::Handler => "web = \"firefox {}\"",
            _ => "exec = \"cargo clippy\"",
        };
        match self.string(field, value, example) {
            Field::Read(text, span) => match Template::parse(text, kind) {
                Ok(template) => Field::Read(template, span),
                Err(faults) => {
                    for fault in faults {
                        let whole = fault.span == (0..text.len());
                        let place =
                            if whole { span.clone() } else { self.source.within_string(&span, &fault.span) };
                        self.mistake(MistakeKind::Command(fault.kind), place);
                    }
                    Field::Bad
                }
            },
            Field::Absent => Field::Absent,
            Field::Bad => Field::Bad,
        }
    }

    fn scope(&mut self, value: Option<&Spanned<DeValue<'_>>>) -> Option<RoleSelector> {
        let Field::Read(text, span) = self.string("scope", value, "scope = \"the-architect\"") else {
            return None;
        };
        match RoleSelector::new(text) {
            Ok(scope) => Some(scope),
            Err(error) => {
                // The name's own error ends in what to write; the advice says that for scopes.
                let reason = error.to_string();
                let reason = reason.split(": write").next().unwrap_or(&reason).to_owned();
                self.mistake(MistakeKind::BadScope { reason }, span);
                None
            }
        }
    }

    fn timeout(&mut self, value: Option<&Spanned<DeValue<'_>>>) -> Duration {
        let Some(value) = value else { return Tool::DEFAULT_TIMEOUT };
        let DeValue::Integer(number) = value.get_ref() else {
            self.wrong_type("timeout", "a number of seconds", value, "timeout = 600", value.span());
            return Tool::DEFAULT_TIMEOUT;
        };
        if let Ok(seconds @ 1..=MAX_TIMEOUT) = u64::from_str_radix(number.as_str(), number.radix()) {
            Duration::from_secs(seconds)
        } else {
            self.mistake(MistakeKind::BadTimeout(number.to_string()), value.span());
            Tool::DEFAULT_TIMEOUT
        }
    }

    fn string<'v>(
        &mut self,
        field: &str,
        value: Option<&'v Spanned<DeValue<'_>>>,
        example: &'static str,
    ) -> Field<&'v str> {
        let Some(value) = value else { return Field::Absent };
        if let DeValue::String(text) = value.get_ref() {
            return Field::Read(text.as_ref(), value.span());
        }
        self.wrong_type(field, "a string", value, example, value.span());
        Field::Bad
    }

    fn wrong_type(
        &mut self,
        field: &str,
        expected: &'static str,
        value: &Spanned<DeValue<'_>>,
        example: &'static str,
        span: Range<usize>,
    ) {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.mistake(MistakeKind::WrongType { field: field.to_owned(), expected, found, example }, span);
    }

    fn unknown_field(
        &mut self,
        table: &'static str,
        field: &str,
        known: &'static [&'static str],
        span: Range<usize>,
    ) {
        self.mistake(MistakeKind::UnknownField { table, field: field.to_owned(), known }, span);
    }
}

/// Whether a handler is given what it is to open. Changes are those of the directory that it runs in.
fn takes_target(kind: HandlerKind, command: &Template) -> bool {
    kind == HandlerKind::Diff
        || command.source().contains(Placeholder::Target.variable())
        || command.uses().contains(&Placeholder::Target)
}
