//! What is known of each session's agent: every sign of it goes to the session's authority, and what changes is
//! published.

use std::time::Duration;

use jackin_core::protocol::control::{ControlError, Done, ErrorCode, Explanation};
use jackin_core::{Attention, EventKind, RuntimeEvent, SessionId, Timestamp, Usage, one_line};
use jackin_mux::Input;
use jackin_mux::vt::{Progress as VtProgress, PromptMark};
use jackin_status::{
    Authority, Channel, Decoder, Evidence, LineDecoder, ProcessEnd, Progress, ReportedUsage, Runtime, Screen,
    TerminalMark, Verdict,
};
use jackin_tags::AgentTagEvent;

use super::agents::Family;
use super::daemon::Daemon;
use super::times::Times;
use super::watch::{Finding, Order};

/// A screen is looked at when nothing was printed for this long,
const QUIET_FRAME: Duration = Duration::from_millis(100);
/// or when it has been changing for this long.
const BUSY_FRAME: Duration = Duration::from_millis(500);

/// How often the watcher is told at once that the operator types.
const TYPED_INTERVAL: Duration = Duration::from_millis(250);

/// The most of an agent's words that is kept: the whole of it stands on the agent's screen.
const MAX_TOLD: usize = 1_000;

/// A session's agent, as far as it is known.
#[derive(Debug)]
pub(super) struct Observed {
    authority: Authority,
    /// The agent's name for people.
    agent: Option<String>,
    /// Its name in screen rules.
    rules: Option<String>,
    hooks: Option<Hooks>,
    usage: ReportedUsage,
    /// The best channel that text and usage came by: what a lesser one repeats is no news.
    best_text: Option<Channel>,
    best_usage: Option<Channel>,
    /// Whether the agent has said anything of itself.
    structured: bool,
    title: String,
    progress: Progress,
    pulse: Pulse,
    look_at: Option<Timestamp>,
    transcript: Option<String>,
    /// When the watcher was last told that the operator types.
    typed_told: Option<Timestamp>,
    times: Times,
}

/// The decoder of what an agent's hooks report.
struct Hooks {
    runtime: Runtime,
    decoder: LineDecoder<Box<dyn Decoder>>,
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hooks").field("runtime", &self.runtime).finish_non_exhaustive()
    }
}

/// When something was last printed or typed, and not yet looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Pulse {
    first: Option<Timestamp>,
    last: Timestamp,
    printed: bool,
    typed: Option<Timestamp>,
}

impl Pulse {
    fn beat(&mut self, now: Timestamp) {
        self.first.get_or_insert(now);
        self.last = now;
    }

    fn due(&self) -> Option<Timestamp> {
        self.first.map(|first| (self.last + QUIET_FRAME).min(first + BUSY_FRAME))
    }
}

impl Observed {
    /// A session that was started at `now`; `agent` where its program is one.
    pub(super) fn new(agent: Option<String>, rules: Option<String>, now: Timestamp) -> Self {
        let authority = if agent.is_some() { Authority::for_agent(now) } else { Authority::for_shell(now) };
        Self {
            times: Times::new(authority.status().word(), now),
            authority,
            agent,
            rules,
            hooks: None,
            usage: ReportedUsage::default(),
            best_text: None,
            best_usage: None,
            structured: false,
            title: String::new(),
            progress: Progress::None,
            pulse: Pulse::default(),
            look_at: Some(now),
            transcript: None,
            typed_told: None,
        }
    }

    pub(super) fn authority(&self) -> &Authority {
        &self.authority
    }

    pub(super) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    pub(super) fn attention(&self) -> Attention {
        self.authority.attention()
    }

    /// What it has used so far, as it says itself.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.best_usage.map(|_| self.usage.session())
    }

    /// How long it has been in each state, in the order in which it first was.
    pub(super) fn times(&self, now: Timestamp) -> impl Iterator<Item = (&'static str, Duration)> {
        self.times.until(now)
    }

    /// The session's program printed something. This is all that costs time while it does.
    pub(super) fn printed(&mut self, now: Timestamp) {
        self.pulse.beat(now);
        self.pulse.printed = true;
    }

    /// How long until something has to be done if nothing happens; both clocks as of now.
    pub(super) fn next_timeout(&self, steady: Timestamp, now: Timestamp) -> Option<Duration> {
        let pulse = self.pulse.due().map(|due| due.since(steady));
        let look = self.look_at.map(|at| at.since(now));
        [pulse, look].into_iter().flatten().min()
    }
}

impl Daemon {
    /// Does what is due for a session.
    pub(super) fn observe_timeouts(&mut self, id: SessionId) {
        let (steady, now) = (self.steady(), self.clock.now());
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.observed.pulse.due().is_some_and(|due| due <= steady) {
            self.take_pulse(id);
        }
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.observed.look_at.is_some_and(|at| at <= now) {
            let verdict = session.observed.authority.look(now);
            self.judge(id, verdict);
        }
    }

    /// Something was printed or typed a moment ago: time to look at the screen, the processes and the files.
    fn take_pulse(&mut self, id: SessionId) {
        let now = self.clock.now();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let observed = &mut session.observed;
        let pulse = std::mem::take(&mut observed.pulse);
        self.watcher.tell(id, Order::Look { typed: pulse.typed });
        if !observed.authority.is_agent() {
            return;
        }
        if let Some(agent) = observed.rules.clone() {
            let text = self.mux.text(session.pane, 0).unwrap_or_default();
            let screen = Screen {
                rows: text.lines().map(str::to_owned).collect(),
                title: observed.title.clone(),
                progress: observed.progress,
            };
            self.watcher.tell(id, Order::Screen { agent, screen: Box::new(screen) });
        }
        if pulse.printed {
            let verdict = observed.authority.observe(Evidence::Output, now);
            self.judge(id, verdict);
        }
    }

    /// The operator types into a session, or a program does for them.
    pub(super) fn typed(&mut self, id: SessionId, bytes: &[u8]) {
        let (steady, now) = (self.steady(), self.clock.now());
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let observed = &mut session.observed;
        observed.pulse.beat(steady);
        observed.pulse.typed = Some(now);
        // Whose a new transcript is depends on who was typed into last, so that is told before the agent can begin one.
        let is_agent = observed.authority.is_agent();
        if is_agent && observed.typed_told.is_none_or(|told| now >= told + TYPED_INTERVAL) {
            observed.typed_told = Some(now);
            self.watcher.tell(id, Order::TypedInto(now));
        }
        if session.plain_tags {
            self.watcher.tell(id, Order::Typed(bytes.to_vec()));
        }
        if observed.authority.is_agent() || observed.structured {
            let verdict = observed.authority.observe(Evidence::Input, now);
            self.judge(id, verdict);
        }
    }

    /// The operator looked at a session.
    pub(super) fn acknowledge(&mut self, id: SessionId) {
        let now = self.clock.now();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let verdict = session.observed.authority.acknowledge(now);
        self.judge(id, verdict);
    }

    pub(super) fn process_ended(&mut self, id: SessionId, end: ProcessEnd) {
        let now = self.clock.now();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let verdict = session.observed.authority.observe(Evidence::Process(end), now);
        self.watcher.tell(id, Order::Forget);
        self.judge(id, verdict);
    }

    pub(super) fn marked(&mut self, id: SessionId, mark: PromptMark) {
        let mark = match mark {
            PromptMark::Prompt | PromptMark::Command => TerminalMark::Prompt,
            PromptMark::Output => TerminalMark::Running,
            PromptMark::Done(_) => TerminalMark::Finished,
        };
        self.take_evidence(id, Evidence::Mark(mark));
    }

    pub(super) fn progressed(&mut self, id: SessionId, progress: VtProgress) {
        let progress = match progress {
            VtProgress::None => Progress::None,
            VtProgress::Normal(percent) => Progress::Percent(percent),
            VtProgress::Error(_) => Progress::Error,
            VtProgress::Indeterminate => Progress::Indeterminate,
            VtProgress::Paused(_) => Progress::Paused,
        };
        if let Some(session) = self.sessions.get_mut(&id) {
            session.observed.progress = progress;
        }
        self.take_evidence(id, Evidence::Mark(TerminalMark::Progress(progress)));
    }

    /// The title as the program set it, empty ones included: rules read it.
    pub(super) fn titled(&mut self, id: SessionId, title: &str) {
        if let Some(session) = self.sessions.get_mut(&id) {
            title.clone_into(&mut session.observed.title);
        }
    }

    /// Circumstances, which say nothing of a session that is no agent.
    fn take_evidence(&mut self, id: SessionId, evidence: Evidence) {
        let now = self.clock.now();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if session.observed.authority.is_agent() {
            let verdict = session.observed.authority.observe(evidence, now);
            self.judge(id, verdict);
        }
    }

    /// What was found out by watching.
    pub(super) fn found(&mut self, id: SessionId, finding: Finding) {
        let now = self.clock.now();
        match finding {
            Finding::Said { channel, at, events } => self.take_events(id, channel, at, events),
            Finding::Screen(look) => self.take_evidence(id, Evidence::Screen(look)),
            Finding::Foreground(foreground) => self.take_evidence(id, Evidence::Foreground(foreground)),
            Finding::Closed(channel) => self.take_evidence(id, Evidence::Closed(channel)),
            Finding::Tags(tags) => self.take_plain_tags(id, &tags),
            Finding::AgentStarted(family) => {
                let steady = self.steady();
                let Some(session) = self.sessions.get_mut(&id) else { return };
                let observed = &mut session.observed;
                observed.agent = Some(family.name().to_owned());
                observed.rules = Some(family.name().to_owned());
                // What it has drawn already was not looked at.
                observed.pulse.beat(steady);
                let verdict = observed.authority.agent_started(now);
                self.judge(id, verdict);
            }
            Finding::AgentLeft => {
                let Some(session) = self.sessions.get_mut(&id) else { return };
                let pulse = session.observed.pulse;
                let authority = &mut session.observed.authority;
                let verdict = authority.agent_left(now);
                let authority = std::mem::replace(authority, Authority::for_shell(now));
                let times = session.observed.times.clone();
                session.observed = Observed { authority, pulse, times, ..Observed::new(None, None, now) };
                self.judge(id, verdict);
            }
        }
    }

    /// What an agent says of itself, by whichever channel.
    fn take_events(
        &mut self,
        id: SessionId,
        channel: Channel,
        at: Option<Timestamp>,
        events: Vec<RuntimeEvent>,
    ) {
        let now = self.clock.now();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let observed = &mut session.observed;
        observed.structured = true;
        let mut news = Vec::new();
        for event in &events {
            let best = match event {
                RuntimeEvent::AssistantText { .. } => Some(&mut observed.best_text),
                RuntimeEvent::Usage(_) => Some(&mut observed.best_usage),
                _ => None,
            };
            if let Some(best) = best
                && best.is_none_or(|best| rank(channel) > rank(best))
            {
                *best = Some(channel);
            }
            if observed.best_usage == Some(channel) && observed.usage.observe(event) {
                news.push(EventKind::UsageUpdated { session_id: id, usage: observed.usage.session() });
            }
            if observed.best_text.is_none_or(|best| best == channel) {
                news.extend(self.tags.observe(id, event, now));
            }
        }
        let evidence = events.into_iter().map(|event| Evidence::Runtime { channel, event: bounded(event) });
        let verdict = observed.authority.observe_all(evidence, at.unwrap_or(now), now);
        let used = news.iter().any(|news| matches!(news, EventKind::UsageUpdated { .. }));
        for news in news {
            self.publish(news);
        }
        if used {
            self.tell_context();
        }
        self.judge(id, verdict);
    }

    /// Tags that were read off what a program printed count where the agent does not speak for itself.
    fn take_plain_tags(&mut self, id: SessionId, tags: &[AgentTagEvent]) {
        if self.sessions.get(&id).is_none_or(|session| session.observed.structured) {
            return;
        }
        for news in self.tags.record(tags) {
            self.publish(news);
        }
    }

    /// An agent's hook reports.
    pub(super) fn report(
        &mut self,
        id: Option<SessionId>,
        runtime: &str,
        payload: &serde_json::Value,
    ) -> Result<Done, ControlError> {
        let Some(id) = id else {
            return Err(ControlError::new(ErrorCode::BadRequest, "say which session the report is about"));
        };
        let events = if runtime == "jackin" {
            // As text: reading it from a value would be a second copy of all the readers.
            let event: RuntimeEvent =
                serde_json::from_slice(payload.to_string().as_bytes()).map_err(|error| {
                    ControlError::new(ErrorCode::BadRequest, format!("the report's payload: {error}"))
                })?;
            (Channel::Hook, None, vec![event])
        } else {
            self.decode_report(id, hook_runtime(runtime)?, payload)?
        };
        self.find(id)?;
        let (channel, at, events) = events;
        self.take_events(id, channel, at, events);
        Ok(Done {})
    }

    fn decode_report(
        &mut self,
        id: SessionId,
        runtime: Runtime,
        payload: &serde_json::Value,
    ) -> Result<(Channel, Option<Timestamp>, Vec<RuntimeEvent>), ControlError> {
        let not_found = self.find(id).map(drop);
        let Some(session) = self.sessions.get_mut(&id) else {
            return Err(not_found
                .err()
                .unwrap_or_else(|| ControlError::new(ErrorCode::NotFound, "no session")));
        };
        let observed = &mut session.observed;
        if let Some(path) = payload["transcript_path"].as_str()
            && observed.transcript.as_deref() != Some(path)
        {
            observed.transcript = Some(path.to_owned());
            self.watcher.tell(id, Order::Transcript(path.into()));
        }
        let hooks = match &mut observed.hooks {
            Some(hooks) if hooks.runtime == runtime => hooks,
            place => place.insert(Hooks { runtime, decoder: LineDecoder::new(runtime.decoder()) }),
        };
        let (mut events, mut at) = (Vec::new(), None);
        let broken = hooks.decoder.tally().broken;
        hooks.decoder.line(payload.to_string().as_bytes(), |decoded| {
            at = decoded.line_time;
            events.append(decoded.events);
        });
        if hooks.decoder.tally().broken > broken {
            return Err(ControlError::new(ErrorCode::BadRequest, "the report's payload is no JSON object"));
        }
        Ok((runtime.channel(), at, events))
    }

    pub(super) fn explain(&self, id: SessionId) -> Result<Explanation, ControlError> {
        Ok(self.find(id)?.observed.authority.explain())
    }

    /// Publishes a verdict if it is news.
    fn judge(&mut self, id: SessionId, verdict: Verdict) {
        let steady = self.steady();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.observed.look_at = verdict.look_again;
        if !verdict.changed {
            return;
        }
        let now = self.clock.now();
        session.observed.times.enter(verdict.status.word(), now);
        let Verdict { status, attention, cause, .. } = verdict;
        self.mux.handle_input(Input::Status { pane: session.pane, status: &status, attention }, steady);
        self.publish(EventKind::AgentStateChanged { session_id: id, state: attention, status, cause });
    }
}

/// The channels by how complete they are.
fn rank(channel: Channel) -> u8 {
    match channel {
        Channel::Hook => 0,
        Channel::Transcript => 1,
        Channel::Stream => 2,
    }
}

/// The format of an agent's hooks, by the agent's name or the format's own.
fn hook_runtime(name: &str) -> Result<Runtime, ControlError> {
    let by_family = Family::by_name(name).and_then(Family::hooks);
    let by_format = || {
        name.parse::<Runtime>()
            .ok()
            .filter(|runtime| runtime.name() == name && runtime.channel() == Channel::Hook)
    };
    by_family.or_else(by_format).ok_or_else(|| {
        let formats = Runtime::ALL.into_iter().filter(|runtime| runtime.channel() == Channel::Hook);
        let formats: Vec<&str> = formats.map(Runtime::name).collect();
        let message = format!(
            "reports of {name:?} are not understood: the runtimes are jackin, claude, codex, gemini, {}",
            formats.join(", ")
        );
        ControlError::new(ErrorCode::Unsupported, message)
    })
}

/// An agent's question or error as it is kept and shown.
fn bounded(event: RuntimeEvent) -> RuntimeEvent {
    let told = |text: Option<String>| text.map(|text| one_line(&text, MAX_TOLD));
    match event {
        RuntimeEvent::Waiting { id, prompt } => RuntimeEvent::Waiting { id, prompt: told(prompt) },
        RuntimeEvent::TurnEnded { error } => RuntimeEvent::TurnEnded { error: told(error) },
        event => event,
    }
}
