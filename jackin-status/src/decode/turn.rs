use jackin_core::RuntimeEvent;

use super::recent::Recent;
use super::words;

/// Whether a turn is open, so that its beginning and end are told once.
#[derive(Debug, Default)]
pub(super) struct Turn {
    open: bool,
}

impl Turn {
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// The agent works: tells that a turn began unless one is open.
    pub(super) fn begin(&mut self, out: &mut Vec<RuntimeEvent>) {
        if !std::mem::replace(&mut self.open, true) {
            out.push(RuntimeEvent::TurnStarted);
        }
    }

    /// A prompt was given: tells that a turn began even if one is open, because formats exist that never tell an end.
    pub(super) fn begin_anew(&mut self, out: &mut Vec<RuntimeEvent>) {
        self.open = true;
        out.push(RuntimeEvent::TurnStarted);
    }

    /// The turn is over. An end without a beginning is told too: the reader may have come late.
    pub(super) fn end(&mut self, error: Option<String>, out: &mut Vec<RuntimeEvent>) {
        self.open = false;
        out.push(RuntimeEvent::TurnEnded { error });
    }

    /// The same, but only if a turn is open: for signs of an end that repeat one already told.
    pub(super) fn end_if_open(&mut self, out: &mut Vec<RuntimeEvent>) {
        if self.open {
            self.end(None, out);
        }
    }
}

/// The assistant's message that is being told piece by piece.
#[derive(Debug, Default)]
pub(super) struct Message {
    open: Option<String>,
}

impl Message {
    /// A piece of the message `id`; another message that was open is ended first.
    pub(super) fn piece(&mut self, id: &str, chunk: &str, out: &mut Vec<RuntimeEvent>) {
        if !self.is(id) {
            self.end(out);
            self.open = Some(words::id(id));
        }
        if !chunk.is_empty() {
            let message_id = self.open.clone().unwrap_or_default();
            out.push(RuntimeEvent::AssistantText { message_id, chunk: chunk.to_owned(), end: false });
        }
    }

    /// Whether `id` is the open message.
    pub(super) fn is(&self, id: &str) -> bool {
        self.open.as_deref() == Some(words::cut(id, words::MAX_ID))
    }

    /// Nothing more comes of the open message.
    pub(super) fn end(&mut self, out: &mut Vec<RuntimeEvent>) {
        if let Some(message_id) = self.open.take() {
            // The last piece may still be here; then it is the one that ends.
            if let Some(RuntimeEvent::AssistantText { message_id: last, end, .. }) = out.last_mut()
                && *last == message_id
            {
                *end = true;
                return;
            }
            out.push(RuntimeEvent::AssistantText { message_id, chunk: String::new(), end: true });
        }
    }
}

/// Tools that run, so that an end without a beginning still comes as a pair.
#[derive(Debug, Default)]
pub(super) struct Tools {
    open: Recent<()>,
}

impl Tools {
    pub(super) fn start(&mut self, id: &str, name: &str, out: &mut Vec<RuntimeEvent>) {
        let id = words::id(id);
        if self.open.insert(&id, ()) {
            out.push(RuntimeEvent::ToolStarted { id, name: words::line(name) });
        }
    }

    pub(super) fn finish(&mut self, id: &str, failed: bool, out: &mut Vec<RuntimeEvent>) {
        let id = words::id(id);
        self.open.remove(&id);
        out.push(RuntimeEvent::ToolFinished { id, failed });
    }

    /// For formats that may tell a tool's end only.
    pub(super) fn finish_named(&mut self, id: &str, name: &str, failed: bool, out: &mut Vec<RuntimeEvent>) {
        self.start(id, name, out);
        self.finish(id, failed, out);
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }
}

/// Requests to the operator that nobody has answered yet.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// Request id, and the id of the tool call that it is about.
    open: Recent<String>,
}

impl Requests {
    pub(super) fn ask(&mut self, id: &str, about: &str, prompt: Option<String>, out: &mut Vec<RuntimeEvent>) {
        let id = words::id(id);
        self.open.insert(&id, words::id(about));
        out.push(RuntimeEvent::Waiting { id: Some(id), prompt });
    }

    /// Whether the request was open.
    pub(super) fn answer(&mut self, id: &str, out: &mut Vec<RuntimeEvent>) -> bool {
        let id = words::id(id);
        let known = self.open.remove(&id).is_some();
        if known {
            out.push(RuntimeEvent::WaitingResolved { id: Some(id) });
        }
        known
    }

    /// The tool call came back, so a request about it was answered.
    pub(super) fn answer_about(&mut self, about: &str, out: &mut Vec<RuntimeEvent>) {
        let about = words::cut(about, words::MAX_ID);
        if about.is_empty() {
            return;
        }
        if let Some(id) = self.open.latest_key(|of| of == about).map(str::to_owned) {
            self.answer(&id, out);
        }
    }

    /// Everything was answered or is moot.
    pub(super) fn answer_all(&mut self, out: &mut Vec<RuntimeEvent>) {
        if !self.open.is_empty() {
            self.open.clear();
            out.push(RuntimeEvent::WaitingResolved { id: None });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }
}
