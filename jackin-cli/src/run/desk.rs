use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jackin_core::run::{LiveStatus, ProcessIds, RunInfo, RunSink, SinkError, Step};
use jackin_core::{AgentTag, InstanceName, RuntimeEvent, SessionId, TagKind, Timestamp, one_line};
use jackin_status::{Authority, Channel, Evidence, ReportedUsage, Verdict};
use jackin_tags::{TagExtractor, TagIndex};

use super::clock;
use super::files::sink_error;
use super::observe::{Onlooker, RunEvent};
use super::runner::blocking;
use super::store::RunDirectory;

/// So many bytes of an agent's last message are kept; a longer one is only in what it printed.
const MAX_WORDS: usize = 8 << 20;

/// How long an agent's question or error may be where it is shown.
const MAX_TOLD: usize = 1_000;

/// What is known of a run while it goes on. The runner writes it down from time to time; the desk keeps it up to date.
#[derive(Clone)]
pub(super) struct Live {
    state: Arc<Mutex<State>>,
}

struct State {
    info: RunInfo,
    changed: bool,
    authority: Authority,
    extractor: TagExtractor,
    index: TagIndex,
    usage: ReportedUsage,
    words: LastWords,
    /// What the agent said was wrong with its last turn.
    turn_error: Option<String>,
}

/// The agent's last message.
#[derive(Default)]
struct LastWords {
    message: String,
    text: String,
    too_long: bool,
    /// The last one with something in it, while the next has nothing yet.
    complete: Option<String>,
}

impl Live {
    pub(super) fn new(info: RunInfo) -> Self {
        let now = info.start_time;
        let instance = InstanceName::new("run").expect("it is a name");
        let session = SessionId::new(1).expect("1 is not 0");
        let state = State {
            info,
            changed: false,
            authority: Authority::for_agent(now),
            extractor: TagExtractor::new(instance, session),
            index: TagIndex::new(),
            usage: ReportedUsage::default(),
            words: LastWords::default(),
            turn_error: None,
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Changes the record; it is written at the next occasion.
    pub(super) fn change(&self, change: impl FnOnce(&mut RunInfo)) {
        let mut state = self.lock();
        change(&mut state.info);
        state.changed = true;
    }

    pub(super) fn info(&self) -> RunInfo {
        self.lock().info.clone()
    }

    /// The record, if it has changed since it was last taken.
    pub(super) fn take_changed(&self) -> Option<RunInfo> {
        let mut state = self.lock();
        std::mem::take(&mut state.changed).then(|| state.info.clone())
    }

    /// The assistant's last message, where it is known.
    pub(super) fn last_words(&self) -> Option<String> {
        self.lock().words.take()
    }

    /// What the agent said was wrong, where it did.
    pub(super) fn turn_error(&self) -> Option<String> {
        self.lock().turn_error.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn observe(&self, event: &RuntimeEvent, now: Timestamp) -> News {
        let mut state = self.lock();
        let state = &mut *state;
        let mut news = News::default();
        state.words.observe(event);
        match event {
            RuntimeEvent::TurnStarted => state.turn_error = None,
            RuntimeEvent::TurnEnded { error } => {
                state.turn_error = error.as_ref().map(|error| one_line(error, MAX_TOLD));
            }
            _ => {}
        }
        if state.usage.observe(event) {
            news.usage = Some(state.usage.session());
            state.info.set_usage(&state.usage.session());
            state.changed = true;
        }
        for found in state.extractor.handle(event, now) {
            if state.index.record(&found) {
                state.info.tags = tags(&state.index);
                state.changed = true;
                news.tags.push(found.tag);
            } else if matches!(found.tag.kind, TagKind::Other(_)) {
                news.tags.push(found.tag);
            }
        }
        let evidence = Evidence::Runtime { channel: Channel::Stream, event: bounded(event) };
        let verdict = state.authority.observe(evidence, now);
        if verdict.changed {
            state.info.live = Some(LiveStatus {
                status: verdict.status.to_string(),
                cause: verdict.cause.to_string(),
                since: state.authority.since(),
            });
            state.changed = true;
            news.verdict = Some(verdict);
        }
        news
    }
}

/// What an event changed.
#[derive(Default)]
struct News {
    verdict: Option<Verdict>,
    tags: Vec<AgentTag>,
    usage: Option<jackin_core::Usage>,
}

/// An agent's question or error as it is kept and shown.
fn bounded(event: &RuntimeEvent) -> RuntimeEvent {
    let told = |text: &Option<String>| text.as_ref().map(|text| one_line(text, MAX_TOLD));
    match event {
        RuntimeEvent::Waiting { id, prompt } => {
            RuntimeEvent::Waiting { id: id.clone(), prompt: told(prompt) }
        }
        RuntimeEvent::TurnEnded { error } => RuntimeEvent::TurnEnded { error: told(error) },
        // The status does not depend on what is said.
        RuntimeEvent::AssistantText { message_id, end, .. } => {
            RuntimeEvent::AssistantText { message_id: message_id.clone(), chunk: String::new(), end: *end }
        }
        event => event.clone(),
    }
}

fn tags(index: &TagIndex) -> std::collections::BTreeMap<String, Vec<String>> {
    let snapshot = index.snapshot();
    let known = TagKind::KNOWN.iter();
    let values = known.map(|kind| (kind.to_string(), snapshot.values(kind).to_vec()));
    values.filter(|(_, values)| !values.is_empty()).collect()
}

impl LastWords {
    fn observe(&mut self, event: &RuntimeEvent) {
        let RuntimeEvent::AssistantText { message_id, chunk, .. } = event else { return };
        if *message_id != self.message {
            let text = std::mem::take(&mut self.text);
            if !text.trim().is_empty() && !self.too_long {
                self.complete = Some(text);
            }
            message_id.clone_into(&mut self.message);
            self.too_long = false;
        }
        if self.text.len() + chunk.len() > MAX_WORDS {
            self.too_long = true;
            self.text = String::new();
        } else if !self.too_long {
            self.text.push_str(chunk);
        }
    }

    fn take(&mut self) -> Option<String> {
        let text = std::mem::take(&mut self.text);
        match (self.too_long, text.trim().is_empty()) {
            (true, _) => None,
            (false, false) => Some(text),
            (false, true) => self.complete.take(),
        }
    }
}

/// Takes what comes of a run: keeps what is printed, follows what is told, and shows both.
pub(super) struct Desk<'a, 'b> {
    directory: Arc<RunDirectory>,
    live: Live,
    stdout: File,
    stderr: File,
    onlooker: &'a mut Onlooker<'b>,
}

impl<'a, 'b> Desk<'a, 'b> {
    pub(super) fn new(
        directory: Arc<RunDirectory>,
        live: Live,
        (stdout, stderr): (File, File),
        onlooker: &'a mut Onlooker<'b>,
    ) -> Self {
        Self { directory, live, stdout, stderr, onlooker }
    }

    /// Makes what was printed last.
    pub(super) async fn sync(self) -> Result<(), SinkError> {
        let Self { directory, stdout, stderr, .. } = self;
        blocking(move || {
            keep(&directory.layout().stdout(), stdout.sync_data())?;
            keep(&directory.layout().stderr(), stderr.sync_data())
        })
        .await
    }

    async fn show(&mut self, event: RunEvent<'_>) {
        self.onlooker.tell(self.directory.layout(), event).await;
    }
}

fn keep(path: &Path, done: std::io::Result<()>) -> Result<(), SinkError> {
    done.map_err(|error| sink_error(path, &error))
}

#[async_trait]
impl RunSink for Desk<'_, '_> {
    async fn stdout(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        keep(&self.directory.layout().stdout(), self.stdout.write_all(bytes))?;
        self.show(RunEvent::Stdout(bytes)).await;
        Ok(())
    }

    async fn stderr(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        keep(&self.directory.layout().stderr(), self.stderr.write_all(bytes))?;
        self.show(RunEvent::Stderr(bytes)).await;
        Ok(())
    }

    async fn events(&mut self, events: Vec<RuntimeEvent>) {
        for event in &events {
            let News { verdict, tags, usage } = self.live.observe(event, clock::now());
            self.show(RunEvent::Runtime(event)).await;
            for tag in &tags {
                self.show(RunEvent::Tag(tag)).await;
            }
            if let Some(usage) = usage {
                self.show(RunEvent::Usage(usage)).await;
            }
            if let Some(Verdict { status, cause, .. }) = &verdict {
                self.show(RunEvent::Status { status, cause }).await;
            }
        }
    }

    async fn process(&mut self, process: ProcessIds) -> Result<(), SinkError> {
        self.live.change(|info| (info.pid, info.pgid) = (process.pid, process.pgid));
        let (directory, info) = (Arc::clone(&self.directory), self.live.info());
        // At once: it is what tells whose process this is, should we die.
        blocking(move || directory.write_info(&info)).await?;
        self.show(RunEvent::Step(Step::Executing)).await;
        Ok(())
    }

    async fn note(&mut self, text: &str) {
        self.show(RunEvent::Note(text)).await;
    }

    async fn version(&mut self, version: &str) {
        self.live.change(|info| version.clone_into(&mut info.agent_version));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_the_last_message_that_says_something() {
        let mut words = LastWords::default();
        let mut say = |id: &str, chunk: &str| {
            words.observe(&RuntimeEvent::AssistantText {
                message_id: id.into(),
                chunk: chunk.into(),
                end: false,
            });
        };
        say("a", "first");
        say("b", "sec");
        say("b", "ond");
        say("c", " ");
        assert_eq!(words.take().as_deref(), Some("second"));

        let mut words = LastWords::default();
        let chunk = "x".repeat(1 << 20);
        for _ in 0..20 {
            words.observe(&RuntimeEvent::AssistantText {
                message_id: "a".into(),
                chunk: chunk.clone(),
                end: false,
            });
            assert!(words.text.len() <= MAX_WORDS);
        }
        assert_eq!(words.take(), None, "one that is too long is not known");
    }
}
