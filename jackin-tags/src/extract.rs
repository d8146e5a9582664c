use std::collections::VecDeque;

use jackin_core::{AgentTag, InstanceName, RuntimeEvent, SessionId, TagKind, Timestamp};

use crate::event::{AgentTagEvent, TagSource};
use crate::finding::ParsedTag;
use crate::parser::{ParserOptions, TagParser};

/// Messages that are in the making at the same time; with one more, the oldest is taken for complete.
const MESSAGES_MAX: usize = 8;

/// Tags of a turn that are remembered so as not to be reported twice.
const SEEN_MAX: usize = 256;

/// Status hints of a turn that are remembered for the same reason.
const STATUSES_MAX: usize = 64;

/// Makes tag events out of one session's runtime events, whichever runtime it is.
///
/// It reads the assistant's text and nothing else, joins it by message id, and reports nothing twice within a turn:
/// several runtimes repeat at the end of a message, or of a turn, what they have said already in pieces. Other than a
/// status hint, a tag therefore counts once a turn. Hints may come back (`testing`, `fixing`, `testing`), so for them a
/// message is a repetition if all its hints together are the last ones of the turn; as long as that is possible, they
/// wait for the end of the message.
///
/// The rule: give it every event in order; each call returns what is certain then.
///
/// ```
/// use jackin_core::{RuntimeEvent, SessionId, Timestamp};
/// use jackin_tags::TagExtractor;
///
/// let mut extractor = TagExtractor::new("api-fix".parse()?, SessionId::new(1).unwrap());
/// let now = Timestamp::from_millis(1_763_251_200_000);
/// let text = |message_id: &str, chunk: &str, end| RuntimeEvent::AssistantText {
///     message_id: message_id.into(),
///     chunk: chunk.into(),
///     end,
/// };
/// assert!(extractor.handle(&text("m1", "In <jackin:repo>/work", false), now).is_empty());
/// assert_eq!(extractor.handle(&text("m1", "space</jackin:repo>", true), now).len(), 1);
/// // The runtime closes the turn by repeating its last message.
/// assert!(extractor.handle(&text("result", "In <jackin:repo>/workspace</jackin:repo>", true), now).is_empty());
/// # Ok::<(), jackin_core::NameError>(())
/// ```
#[derive(Debug)]
pub struct TagExtractor {
    instance: InstanceName,
    session: SessionId,
    options: ParserOptions,
    /// Oldest first.
    messages: Vec<Message>,
    /// Of this turn, status hints apart.
    seen: VecDeque<AgentTag>,
    /// Hints reported in this turn, in order.
    statuses: VecDeque<AgentTag>,
}

#[derive(Debug)]
struct Message {
    id: String,
    parser: TagParser,
    /// Hints that may be a repetition.
    held: Vec<AgentTag>,
    /// Certainly not a repetition.
    new: bool,
}

impl TagExtractor {
    /// An extractor for one session.
    pub fn new(instance: InstanceName, session: SessionId) -> Self {
        Self::with_options(instance, session, ParserOptions::default())
    }

    /// The same with other rules for what counts; `explain` has no effect here.
    pub fn with_options(instance: InstanceName, session: SessionId, options: ParserOptions) -> Self {
        let options = ParserOptions { explain: false, ..options };
        Self {
            instance,
            session,
            options,
            messages: Vec::new(),
            seen: VecDeque::new(),
            statuses: VecDeque::new(),
        }
    }

    /// Takes in an event and returns the tags that are certain after it.
    pub fn handle(&mut self, event: &RuntimeEvent, now: Timestamp) -> Vec<AgentTagEvent> {
        let mut found = Vec::new();
        match event {
            RuntimeEvent::AssistantText { message_id, chunk, end } => {
                self.text(message_id, chunk, *end, &mut found);
            }
            RuntimeEvent::TurnStarted | RuntimeEvent::SessionStarted { .. } => {
                self.end_messages(&mut found);
                self.seen.clear();
                self.statuses.clear();
            }
            // What was seen is kept: some runtimes repeat the last message after the end of the turn.
            RuntimeEvent::TurnEnded { .. } | RuntimeEvent::Ended => self.end_messages(&mut found),
            _ => {}
        }
        let event = |tag| AgentTagEvent {
            instance: self.instance.clone(),
            session: self.session,
            tag,
            at: now,
            source: TagSource::Structured,
        };
        found.into_iter().map(event).collect()
    }

    fn text(&mut self, id: &str, chunk: &str, end: bool, found: &mut Vec<AgentTag>) {
        let known = self.messages.iter().position(|message| message.id == id);
        let index = known.unwrap_or_else(|| self.begin_message(id, found));
        let tags = self.messages[index].parser.feed(chunk);
        self.take(index, tags, found);
        if end {
            self.end_message(index, found);
        }
    }

    fn begin_message(&mut self, id: &str, found: &mut Vec<AgentTag>) -> usize {
        if self.messages.len() >= MESSAGES_MAX {
            self.end_message(0, found);
        }
        self.messages.push(Message {
            id: id.to_owned(),
            parser: TagParser::with_options(self.options),
            held: Vec::new(),
            new: false,
        });
        self.messages.len() - 1
    }

    fn end_messages(&mut self, found: &mut Vec<AgentTag>) {
        while !self.messages.is_empty() {
            self.end_message(0, found);
        }
    }

    fn end_message(&mut self, index: usize, found: &mut Vec<AgentTag>) {
        let tags = self.messages[index].parser.end_message();
        self.take(index, tags, found);
        let message = self.messages.remove(index);
        let repeated = self
            .statuses
            .len()
            .checked_sub(message.held.len())
            .is_some_and(|start| self.statuses.iter().skip(start).eq(message.held.iter()));
        if !repeated {
            self.report_statuses(message.held, found);
        }
    }

    fn take(&mut self, index: usize, tags: Vec<ParsedTag>, found: &mut Vec<AgentTag>) {
        for ParsedTag { tag, .. } in tags {
            if tag.kind == TagKind::Status {
                self.take_status(index, tag, found);
            } else if !self.seen.contains(&tag) {
                remember(&mut self.seen, tag.clone(), SEEN_MAX);
                found.push(tag);
            }
        }
    }

    fn take_status(&mut self, index: usize, tag: AgentTag, found: &mut Vec<AgentTag>) {
        let message = &mut self.messages[index];
        message.held.push(tag);
        if message.new || !may_repeat(&self.statuses, &message.held) {
            message.new = true;
            let held = std::mem::take(&mut message.held);
            self.report_statuses(held, found);
        }
    }

    fn report_statuses(&mut self, statuses: Vec<AgentTag>, found: &mut Vec<AgentTag>) {
        for status in statuses {
            remember(&mut self.statuses, status.clone(), STATUSES_MAX);
            found.push(status);
        }
    }
}

/// Whether some last stretch of `said` begins with `again`.
fn may_repeat(said: &VecDeque<AgentTag>, again: &[AgentTag]) -> bool {
    (0..said.len())
        .any(|start| said.len() - start >= again.len() && said.iter().skip(start).take(again.len()).eq(again))
}

fn remember(tags: &mut VecDeque<AgentTag>, tag: AgentTag, max: usize) {
    if tags.len() >= max {
        tags.pop_front();
    }
    tags.push_back(tag);
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(7);

    fn extractor() -> TagExtractor {
        TagExtractor::new("demo".parse().unwrap(), SessionId::new(1).unwrap())
    }

    fn text(id: &str, chunk: &str, end: bool) -> RuntimeEvent {
        RuntimeEvent::AssistantText { message_id: id.into(), chunk: chunk.into(), end }
    }

    fn status(words: &str) -> String {
        format!("<jackin:status>{words}</jackin:status>")
    }

    fn values(extractor: &mut TagExtractor, events: &[RuntimeEvent]) -> Vec<String> {
        events.iter().flat_map(|event| extractor.handle(event, NOW)).map(|event| event.tag.value).collect()
    }

    #[test]
    fn messages_are_joined_by_id_even_when_interleaved() {
        let events = [
            text("a", "<jackin:repo>/a", false),
            text("b", "```\n<jackin:repo>/b", false),
            text("a", "a</jackin:repo>", true),
            text("b", "b</jackin:repo>\n```\n<jackin:repo>/c</jackin:repo>", true),
        ];
        assert_eq!(values(&mut extractor(), &events), ["/aa", "/c"]);
    }

    #[test]
    fn an_event_says_where_and_when() {
        let found = extractor().handle(&text("a", &status("x"), true), NOW);
        assert_eq!(
            serde_json::to_string(&found).unwrap(),
            r#"[{"instance":"demo","session":1,"namespace":"jackin","kind":"status","value":"x","at":7,"source":"structured"}]"#
        );
    }

    #[test]
    fn a_message_that_never_ends_ends_with_its_turn() {
        let mut extractor = extractor();
        assert!(
            values(&mut extractor, &[text("a", "don`t <jackin:repo>/a</jackin:repo>", false)]).is_empty()
        );
        assert_eq!(values(&mut extractor, &[RuntimeEvent::TurnEnded { error: None }]), ["/a"]);
    }

    #[test]
    fn a_repetition_counts_once_whatever_its_id() {
        let whole = format!("{}<jackin:repo>/a</jackin:repo>{}", status("one"), status("two"));
        let (head, tail) = whole.split_at(30);
        let mut extractor = extractor();
        let events = [text("a", head, false), text("a", tail, true)];
        assert_eq!(values(&mut extractor, &events), ["one", "/a", "two"]);
        for id in ["a", "result"] {
            assert!(values(&mut extractor, &[text(id, &whole, true)]).is_empty(), "{id}");
        }
        let after_the_turn = [RuntimeEvent::TurnEnded { error: None }, text("last", &whole, true)];
        assert!(values(&mut extractor, &after_the_turn).is_empty());
        let next_turn = [RuntimeEvent::TurnStarted, text("b", &whole, true)];
        assert_eq!(values(&mut extractor, &next_turn), ["one", "/a", "two"]);
    }

    #[test]
    fn a_whole_turn_may_be_repeated_too() {
        let mut extractor = extractor();
        let events = [text("a", &status("one"), true), text("b", &status("two"), true)];
        assert_eq!(values(&mut extractor, &events), ["one", "two"]);
        let turn = status("one") + &status("two");
        assert!(values(&mut extractor, &[text("result", &turn, true)]).is_empty());
    }

    #[test]
    fn a_status_may_come_back() {
        let events =
            ["testing", "fixing", "testing", "fixing"].map(|words| text(words, &status(words), true));
        assert_eq!(values(&mut extractor(), &events), ["testing", "fixing", "testing", "fixing"]);
        let in_one = ["testing", "fixing", "testing"].map(status).concat();
        assert_eq!(values(&mut extractor(), &[text("a", &in_one, true)]), ["testing", "fixing", "testing"]);
    }

    #[test]
    fn nothing_but_the_assistants_text_is_read() {
        let tag = status("x");
        let events = [
            RuntimeEvent::ToolStarted { id: tag.clone(), name: tag.clone() },
            RuntimeEvent::Waiting { id: None, prompt: Some(tag.clone()) },
            RuntimeEvent::TurnEnded { error: Some(tag.clone()) },
            RuntimeEvent::SubAgentStarted { id: tag },
        ];
        assert!(values(&mut extractor(), &events).is_empty());
    }

    #[test]
    fn memory_is_bounded_whatever_arrives() {
        let mut extractor = extractor();
        for number in 0..2000 {
            let chunk = format!(
                "{}<jackin:link>https://h/{number}</jackin:link> <jackin:pr>",
                status(&number.to_string())
            );
            extractor.handle(&text(&number.to_string(), &chunk, false), NOW);
        }
        assert!(extractor.messages.len() <= MESSAGES_MAX);
        assert!(extractor.seen.len() <= SEEN_MAX && extractor.statuses.len() <= STATUSES_MAX);
    }
}
