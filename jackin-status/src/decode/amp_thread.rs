use std::fmt;

use jackin_core::RuntimeEvent;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json::{self, Maybe, Text};
use super::turn::Turn;
use super::{BrokenLine, Decoder, words};

/// Decodes a thread file of Amp, `~/.local/share/amp/threads/T-*.json`.
///
/// The file is one JSON document that is written anew each time; hand over all of it as one "line". What is told is
/// the difference to the last one.
#[derive(Debug, Default)]
pub struct AmpThread {
    thread: String,
    turn: Turn,
    ended: usize,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Thread<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    messages: Last<'a>,
}

/// How many messages there are, and the last of them. The others are not kept.
#[derive(Default)]
struct Last<'a> {
    count: usize,
    message: Maybe<ThreadMessage<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ThreadMessage<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    state: Maybe<State<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct State<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    stop_reason: Text<'a>,
}

struct LastVisitor;

impl<'de> Visitor<'de> for LastVisitor {
    type Value = Last<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Last<'de>, A::Error> {
        let mut last = Last::default();
        while let Some(message) = list.next_element()? {
            last = Last { count: last.count + 1, message };
        }
        Ok(last)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Last<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Last::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Last<'de>, E> {
        Ok(Last::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Last<'de>, E> {
        Ok(Last::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Last<'de>, E> {
        Ok(Last::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Last<'de>, E> {
        Ok(Last::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Last<'de>, E> {
        Ok(Last::default())
    }

    fn visit_unit<E>(self) -> Result<Last<'de>, E> {
        Ok(Last::default())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Last<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LastVisitor)
    }
}

impl Decoder for AmpThread {
    fn decode(&mut self, document: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let thread: Thread<'_> = json::parse(document)?;
        if let Some(id) = thread.id.some().map(words::id)
            && id != self.thread
        {
            *self = Self { thread: id.clone(), ..Self::default() };
            out.push(RuntimeEvent::SessionStarted { runtime_session: Some(id), model: None });
        }
        let Some(last) = &thread.messages.message.0 else { return Ok(()) };
        let state = last.state.0.as_ref();
        let kind = state.map_or("", |state| state.kind.as_str());
        let over = last.role.as_str() == "assistant"
            && match kind {
                "cancelled" | "error" => true,
                // Complete with a tool to run is half-way.
                "complete" => state.is_some_and(|state| state.stop_reason.as_str() != "tool_use"),
                _ => false,
            };
        if !over {
            self.turn.begin(out);
        } else if self.turn.is_open() || self.ended != thread.messages.count {
            self.ended = thread.messages.count;
            self.turn.end((kind == "error").then(|| "failed".to_owned()), out);
        }
        Ok(())
    }
}
