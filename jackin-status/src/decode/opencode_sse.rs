use jackin_core::{RuntimeEvent, Usage, UsageScope};
use serde::Deserialize;

use super::json::{self, Many, Maybe, Number, Real, Text, Told};
use super::recent::Recent;
use super::turn::{Requests, Tools, Turn};
use super::{BrokenLine, Decoder, words};

/// Decodes `GET /event` of an `opencode` server: the stream as it is on the wire (`data:` lines) or only its JSON.
///
/// The prompt comes as the same kind of text part as the reply, so a part is told only once its message is known to
/// be the assistant's. The server has no status for "waiting": open permissions and questions are tracked by id.
#[derive(Debug, Default)]
pub struct OpenCodeSse {
    session: String,
    /// Sessions below the session, and whether they run.
    children: Recent<bool>,
    turn: Turn,
    /// Whether a message is the assistant's.
    roles: Recent<bool>,
    /// Text parts: what of them was told.
    parts: Recent<TextPart>,
    tools: Tools,
    requests: Requests,
    counted: Recent<()>,
}

#[derive(Debug, Default)]
struct TextPart {
    told: usize,
    ended: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    properties: Maybe<Properties<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Properties<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, rename = "sessionID")]
    session_id: Text<'a>,
    #[serde(borrow, rename = "requestID", alias = "permissionID")]
    request_id: Text<'a>,
    #[serde(borrow, rename = "messageID")]
    message_id: Text<'a>,
    #[serde(borrow, rename = "partID")]
    part_id: Text<'a>,
    #[serde(borrow)]
    status: Maybe<Status<'a>>,
    #[serde(borrow)]
    info: Maybe<Info<'a>>,
    #[serde(borrow)]
    part: Maybe<Part<'a>>,
    #[serde(borrow)]
    field: Text<'a>,
    #[serde(borrow)]
    delta: Text<'a>,
    #[serde(borrow)]
    permission: Text<'a>,
    #[serde(borrow)]
    title: Text<'a>,
    #[serde(borrow)]
    questions: Many<Question<'a>>,
    #[serde(borrow)]
    patterns: Told<'a>,
    #[serde(borrow)]
    error: Maybe<Failure<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Info<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow, rename = "parentID")]
    parent_id: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow, rename = "messageID")]
    pub(super) message_id: Text<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow, rename = "callID")]
    pub(super) call_id: Text<'a>,
    #[serde(borrow)]
    pub(super) tool: Text<'a>,
    #[serde(borrow)]
    pub(super) state: Maybe<ToolState<'a>>,
    #[serde(borrow)]
    pub(super) reason: Text<'a>,
    pub(super) tokens: Maybe<Tokens>,
    pub(super) cost: Real,
    time: Maybe<Span>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ToolState<'a> {
    #[serde(borrow)]
    pub(super) status: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Tokens {
    input: Number,
    output: Number,
    reasoning: Number,
    cache: Maybe<Cache>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Cache {
    read: Number,
    write: Number,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Span {
    end: Number,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Question<'a> {
    #[serde(borrow)]
    question: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Failure<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    data: Told<'a>,
    #[serde(borrow)]
    message: Text<'a>,
}

impl Part<'_> {
    /// What a step used; steps of a turn add up.
    pub(super) fn usage(&self) -> Option<Usage> {
        let tokens = self.tokens.0.as_ref()?;
        let add = |a: Number, b: Option<Number>| match (a.0, b.and_then(|b| b.0)) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        let cache = tokens.cache.0.as_ref();
        Some(Usage {
            scope: UsageScope::Turn,
            input_tokens: add(tokens.input, cache.map(|cache| cache.write)),
            cached_tokens: cache.and_then(|cache| cache.read.0),
            output_tokens: add(tokens.output, Some(tokens.reasoning)),
            cost_usd: self.cost.0,
        })
    }
}

impl Decoder for OpenCodeSse {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let line = line.trim_ascii_start();
        // Of the wire's other fields none says anything that the JSON does not.
        if [&b"event:"[..], b"id:", b"retry:", b":"].iter().any(|field| line.starts_with(field)) {
            return Ok(());
        }
        let event: Event<'_> = json::parse(line.strip_prefix(b"data:").unwrap_or(line))?;
        let none = Properties::default();
        self.event(event.kind.as_str(), event.properties.0.as_ref().unwrap_or(&none), out);
        Ok(())
    }
}

impl OpenCodeSse {
    fn event(&mut self, kind: &str, properties: &Properties<'_>, out: &mut Vec<RuntimeEvent>) {
        match kind {
            // A request blocks whichever session it comes from.
            "permission.asked"
            | "permission.v2.asked"
            | "permission.updated"
            | "question.asked"
            | "question.v2.asked" => self.asked(properties, out),
            "permission.replied"
            | "permission.v2.replied"
            | "question.replied"
            | "question.v2.replied"
            | "question.rejected"
            | "question.v2.rejected" => {
                let id = properties.request_id.some().or(properties.id.some()).unwrap_or_default();
                self.requests.answer(id, out);
            }
            "session.created" | "session.updated" => self.session_info(properties, out),
            "server.instance.disposed" => out.push(RuntimeEvent::Ended),
            _ if self.is_child(properties) => self.child(kind, properties, out),
            "session.status" => {
                match properties.status.0.as_ref().map_or("", |status| status.kind.as_str()) {
                    "busy" | "retry" => self.turn.begin(out),
                    "idle" => self.idle(out),
                    _ => {}
                }
            }
            "session.idle" => self.idle(out),
            "session.error" => self.failed(properties, out),
            "message.updated" => {
                if let Some(info) = &properties.info.0 {
                    self.roles.insert(info.id.as_str(), info.role.as_str() == "assistant");
                }
            }
            "message.part.updated" => {
                if let Some(part) = &properties.part.0 {
                    self.part(part, out);
                }
            }
            "message.part.delta" if properties.field.as_str() == "text" => self.delta(properties, out),
            _ => {}
        }
    }

    fn asked(&mut self, properties: &Properties<'_>, out: &mut Vec<RuntimeEvent>) {
        let question = properties.questions.0.iter().find_map(|question| question.question.some());
        let about = properties.title.some().or(properties.patterns.some());
        let prompt = match (question, properties.permission.some(), about) {
            (Some(question), ..) => words::some_line(question),
            (None, Some(permission), Some(about)) => {
                words::some_line(&format!("Allow {permission}: {about}?"))
            }
            (None, Some(permission), None) => words::some_line(&format!("Allow {permission}?")),
            (None, None, about) => about.and_then(words::some_line),
        };
        self.turn.begin(out);
        self.requests.ask(properties.id.as_str(), "", prompt, out);
    }

    fn session_info(&mut self, properties: &Properties<'_>, out: &mut Vec<RuntimeEvent>) {
        let Some(info) = &properties.info.0 else { return };
        let id = words::id(info.id.as_str());
        if info.parent_id.some().is_some() {
            if self.children.get(&id).is_none() {
                self.children.insert(&id, true);
                out.push(RuntimeEvent::SubAgentStarted { id });
            }
        } else if self.session != id && !self.turn.is_open() && !id.is_empty() {
            self.session.clone_from(&id);
            out.push(RuntimeEvent::SessionStarted { runtime_session: Some(id), model: None });
        }
    }

    fn is_child(&self, properties: &Properties<'_>) -> bool {
        self.children.get(properties.session_id.as_str()).is_some()
    }

    fn child(&mut self, kind: &str, properties: &Properties<'_>, out: &mut Vec<RuntimeEvent>) {
        let idle = properties.status.0.as_ref().is_some_and(|status| status.kind.as_str() == "idle");
        if kind == "session.idle" || kind == "session.error" || (kind == "session.status" && idle) {
            let id = properties.session_id.as_str();
            if self.children.get_mut(id).is_some_and(std::mem::take) {
                out.push(RuntimeEvent::SubAgentEnded { id: words::id(id) });
            }
        }
    }

    fn idle(&mut self, out: &mut Vec<RuntimeEvent>) {
        if self.turn.is_open() {
            self.end_turn(None, out);
        }
    }

    fn failed(&mut self, properties: &Properties<'_>, out: &mut Vec<RuntimeEvent>) {
        let failure = properties.error.0.as_ref();
        let name = failure.and_then(|failure| failure.name.some());
        // The operator stopped it.
        if name == Some("MessageAbortedError") {
            return self.end_turn(None, out);
        }
        let told = failure.and_then(|failure| failure.data.some().or(failure.message.some())).or(name);
        self.end_turn(Some(told.and_then(words::some_line).unwrap_or_else(|| "failed".to_owned())), out);
    }

    fn end_turn(&mut self, error: Option<String>, out: &mut Vec<RuntimeEvent>) {
        // Sub-agents run within a tool call of the turn. They stay known as children: late events must not count.
        self.tools.clear();
        self.requests.clear();
        for (id, running) in self.children.iter_mut() {
            if std::mem::take(running) {
                out.push(RuntimeEvent::SubAgentEnded { id: id.to_owned() });
            }
        }
        self.turn.end(error, out);
    }

    fn part(&mut self, part: &Part<'_>, out: &mut Vec<RuntimeEvent>) {
        if self.roles.get(part.message_id.as_str()) != Some(&true) {
            return;
        }
        match part.kind.as_str() {
            "text" => {
                let id = words::id(part.id.as_str());
                let told = self.parts.get(&id).map_or(0, |part| part.told);
                let more = part.text.as_str().get(told..).unwrap_or_default();
                let end = part.time.0.as_ref().is_some_and(|time| time.end.0.is_some());
                self.tell(&id, more, end, out);
            }
            "tool" => {
                let (id, name) = (part.call_id.as_str(), part.tool.as_str());
                match part.state.0.as_ref().map_or("", |state| state.status.as_str()) {
                    status @ ("completed" | "error") => {
                        self.tools.finish_named(id, name, status == "error", out);
                    }
                    _ => self.tools.start(id, name, out),
                }
            }
            "step-finish" if self.counted.insert(part.id.as_str(), ()) => {
                out.extend(part.usage().map(RuntimeEvent::Usage));
            }
            _ => {}
        }
    }

    /// A piece of a part that an update has announced as text; pieces of reasoning are not told.
    fn delta(&mut self, properties: &Properties<'_>, out: &mut Vec<RuntimeEvent>) {
        let id = words::id(properties.part_id.as_str());
        let ours = self.roles.get(properties.message_id.as_str()) == Some(&true);
        if ours && self.parts.get(&id).is_some() {
            self.tell(&id, properties.delta.as_str(), false, out);
        }
    }

    fn tell(&mut self, id: &str, more: &str, end: bool, out: &mut Vec<RuntimeEvent>) {
        if self.parts.get(id).is_none() {
            self.parts.insert(id, TextPart::default());
        }
        let Some(part) = self.parts.get_mut(id) else { return };
        part.told += more.len();
        if more.is_empty() && (!end || part.ended) {
            return;
        }
        part.ended |= end;
        out.push(RuntimeEvent::AssistantText { message_id: id.to_owned(), chunk: more.to_owned(), end });
    }
}
