//! A console on a stage: agents that say what the test wants, an operator who presses keys, and a screen to look at.

use std::time::Duration;

use crossterm::event::{Event as TerminalEvent, KeyCode, KeyEvent, KeyModifiers};
use jackin_core::protocol::Version;
use jackin_core::protocol::control::{Provider, ScreenRows, SessionInfo, Snapshot, Status, TagEntry};
use jackin_core::{
    AgentStatus, Attention, Cause, Event, EventKind, InstanceName, SessionId, Size, Source, TagKind,
    Timestamp, Usage, UsageScope,
};
use jackin_tools::{Key, NamedKey, Tools};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use unicode_width::UnicodeWidthStr;

use crate::config::{BackendKind, Config, Loaded, Paths};
use crate::console::model::Model;
use crate::console::update::{Effect, Message, update};
use crate::console::view;
use crate::host::{FleetEvent, Plan};

/// When everything begins.
pub(super) const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// The sizes that the console has to be readable at.
pub(super) const SIZES: [(u16, u16); 4] = [(80, 24), (120, 40), (200, 50), (60, 15)];

pub(super) struct Stage {
    pub(super) model: Model,
    pub(super) now: Timestamp,
    pub(super) effects: Vec<Effect>,
    seq: u64,
}

pub(super) fn name(text: &str) -> InstanceName {
    text.parse().unwrap()
}

pub(super) fn session(number: u32) -> SessionId {
    SessionId::new(number).unwrap()
}

impl Stage {
    pub(super) fn new() -> Self {
        Self::with("")
    }

    /// With this configuration.
    pub(super) fn with(config: &str) -> Self {
        let loaded = Loaded {
            config: Config::parse(config).unwrap(),
            tools: Tools::parse(config).unwrap(),
            paths: Paths::new("/nowhere", "/nowhere"),
        };
        let model = Model::new(&loaded, START);
        Self { model, now: START, effects: Vec::new(), seq: 0 }
    }

    /// Takes a message, and whatever follows before the next frame.
    pub(super) fn message(&mut self, message: Message) {
        self.effects.extend(update(&mut self.model, message, self.now));
        let changed = self.model.changed;
        self.effects.extend(update(&mut self.model, Message::Settle, self.now));
        self.model.changed = changed;
    }

    pub(super) fn fleet(&mut self, event: FleetEvent) {
        self.message(Message::Fleet(event));
    }

    pub(super) fn later(&mut self, seconds: u64) {
        self.now = self.now + Duration::from_secs(seconds);
        self.message(Message::Tick);
    }

    pub(super) fn host(&mut self, host: &str, problem: Option<&str>) {
        self.fleet(FleetEvent::Host { host: host.to_owned(), problem: problem.map(str::to_owned) });
    }

    /// An instance of a workspace with one session that has just begun.
    pub(super) fn agent(&mut self, instance: &str, workspace: &str, agent: &str) {
        self.host("local", None);
        let mut plan = Plan::new(name(instance), BackendKind::Local, workspace, "/src");
        plan.agent = Some(agent.to_owned());
        plan.role = Some("the-architect".parse().unwrap());
        let plan = Some(Box::new(plan));
        self.fleet(FleetEvent::Appeared { host: "local".to_owned(), instance: name(instance), plan });
        let info = info(1, agent, AgentStatus::Initializing, Attention::Unknown, self.now);
        self.snapshot(instance, vec![info], Vec::new());
    }

    pub(super) fn snapshot(&mut self, instance: &str, sessions: Vec<SessionInfo>, tags: Vec<TagEntry>) {
        let status = Status {
            pid: 1,
            version: "0.1.0".to_owned(),
            protocol: Version::CURRENT,
            instance: name(instance),
            attached: false,
            attention: Attention::roll_up(sessions.iter().map(|session| session.attention)),
            sessions,
        };
        self.fleet(FleetEvent::Snapshot(Box::new(Snapshot { seq: self.seq, status, tags })));
    }

    pub(super) fn event(&mut self, instance: &str, kind: EventKind) {
        self.seq += 1;
        let event = Event { seq: self.seq, at: self.now, instance: name(instance), kind };
        self.fleet(FleetEvent::Event(Box::new(event)));
    }

    pub(super) fn state(&mut self, instance: &str, state: Attention, status: AgentStatus) {
        let cause = Cause::new(Source::Hook, "as the agent says", self.now);
        self.event(instance, EventKind::AgentStateChanged { session_id: session(1), state, status, cause });
    }

    pub(super) fn busy(&mut self, instance: &str) {
        self.state(instance, Attention::Working, AgentStatus::Busy { since: self.now });
    }

    pub(super) fn asks(&mut self, instance: &str, question: &str) {
        let status = AgentStatus::Question { prompt: Some(question.to_owned()), since: self.now };
        self.state(instance, Attention::Blocked, status);
    }

    pub(super) fn done(&mut self, instance: &str) {
        self.state(instance, Attention::Done, AgentStatus::idle());
    }

    pub(super) fn declares(&mut self, instance: &str, kind: TagKind, value: &str) {
        let tag = jackin_core::AgentTag { namespace: "jackin".into(), kind, value: value.to_owned() };
        self.event(instance, EventKind::TagObserved { session_id: session(1), tag, plain: false });
    }

    pub(super) fn used(&mut self, instance: &str, tokens: u64, cost: f64) {
        let usage = Usage {
            scope: UsageScope::Session,
            input_tokens: Some(tokens),
            output_tokens: Some(tokens / 10),
            cost_usd: Some(cost),
            ..Usage::default()
        };
        self.event(instance, EventKind::UsageUpdated { session_id: session(1), usage });
    }

    /// What the selected session's screen shows.
    pub(super) fn screen(&mut self, rows: &[&str]) {
        let of = self.model.preview.of.clone().expect("a session is watched");
        let rows = ScreenRows {
            size: Size::new(rows.len() as u16, 80),
            rows: rows.iter().enumerate().map(|(at, row)| (at as u16, (*row).to_owned())).collect(),
            more: false,
        };
        self.message(Message::Screen { of, rows: Ok(rows) });
    }

    /// Presses keys, named as the configuration names them.
    pub(super) fn keys(&mut self, keys: &str) {
        for key in keys.split_whitespace() {
            let event = match key.parse().unwrap_or_else(|_| panic!("{key} is no key")) {
                Key::Char(c) => KeyCode::Char(c).into(),
                Key::Ctrl(c) => KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL),
                Key::Alt(c) => KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT),
                Key::F(number) => KeyCode::F(number).into(),
                Key::Named(named) => match named {
                    NamedKey::Enter => KeyCode::Enter.into(),
                    NamedKey::Escape => KeyCode::Esc.into(),
                    NamedKey::Tab => KeyCode::Tab.into(),
                    NamedKey::Space => KeyCode::Char(' ').into(),
                    NamedKey::Up => KeyCode::Up.into(),
                    NamedKey::Down => KeyCode::Down.into(),
                    NamedKey::Left => KeyCode::Left.into(),
                    NamedKey::Right => KeyCode::Right.into(),
                    NamedKey::PageDown => KeyCode::PageDown.into(),
                    NamedKey::End => KeyCode::End.into(),
                    NamedKey::Delete => KeyCode::Delete.into(),
                    other => panic!("{} is not needed yet", other.as_str()),
                },
                other => panic!("{other} is not needed yet"),
            };
            self.message(Message::Terminal(TerminalEvent::Key(event)));
        }
    }

    pub(super) fn types(&mut self, text: &str) {
        for c in text.chars() {
            self.message(Message::Terminal(TerminalEvent::Key(KeyCode::Char(c).into())));
        }
    }

    /// The cells of a frame.
    pub(super) fn frame(&mut self, columns: u16, rows: u16) -> Buffer {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let mut scene = None;
        terminal.draw(|frame| scene = Some(view::draw(frame, &self.model))).unwrap();
        self.model.scene = scene.unwrap();
        terminal.backend().buffer().clone()
    }

    /// The text of a frame.
    pub(super) fn draw(&mut self, columns: u16, rows: u16) -> String {
        text_of(&self.frame(columns, rows))
    }

    /// Frames of every size, for a snapshot.
    pub(super) fn draw_all(&mut self) -> String {
        let frame = |(columns, rows)| format!("{columns}x{rows}\n{}\n", self.draw(columns, rows));
        SIZES.map(frame).join("\n")
    }

    pub(super) fn took(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }
}

pub(super) fn info(
    number: u32,
    agent: &str,
    status: AgentStatus,
    attention: Attention,
    since: Timestamp,
) -> SessionInfo {
    SessionInfo {
        id: session(number),
        pane: None,
        tab: Some(1),
        title: agent.to_owned(),
        agent: Some(agent.to_owned()),
        status,
        attention,
        since,
        cause: Cause::new(Source::Launch, "session started", since),
        size: Size::new(24, 80),
        cwd: None,
        usage: None,
        recording: None,
    }
}

pub(super) fn tag(kind: TagKind, value: &str, provider: Provider) -> TagEntry {
    TagEntry { kind, value: value.to_owned(), provider }
}

pub(super) fn text_of(buffer: &Buffer) -> String {
    let area = buffer.area;
    let row = |y| {
        let (mut text, mut x) = (String::new(), area.x);
        while x < area.right() {
            let symbol = buffer[(x, y)].symbol();
            text.push_str(symbol);
            x += (symbol.width() as u16).max(1);
        }
        text.trim_end().to_owned()
    };
    (area.y..area.bottom()).map(row).collect::<Vec<_>>().join("\n")
}
