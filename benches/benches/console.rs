//! What the console costs with fifty instances, in processor time: an event, and a frame of 200×50. What it costs over real
//! capsules is measured by the example `console_load` of jackin-cli.

use criterion::{Criterion, criterion_group, criterion_main};
use jackin_benches::cpu::CpuTime;
use jackin_cli::backend::Plan;
use jackin_cli::config::{BackendKind, Config, Loaded, Paths};
use jackin_cli::console::Overview;
use jackin_cli::host::FleetEvent;
use jackin_core::protocol::Version;
use jackin_core::protocol::control::{SessionInfo, Snapshot, Status};
use jackin_core::{
    AgentStatus, Attention, Cause, Event, EventKind, InstanceName, SessionId, Size, Source, Timestamp,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const INSTANCES: u64 = 50;

fn name(at: u64) -> InstanceName {
    format!("agent-{at:02}").parse().expect("it is a name")
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + millis)
}

fn fleet() -> Overview {
    let loaded = Loaded {
        config: Config::default(),
        tools: jackin_tools::Tools::default(),
        paths: Paths::new("/nowhere", "/nowhere"),
    };
    let mut overview = Overview::new(&loaded, at(0));
    for number in 0..INSTANCES {
        let plan = Plan::new(name(number), BackendKind::Local, &format!("workspace-{}", number % 7), "/src");
        let plan = Some(Box::new(plan));
        overview.tell(FleetEvent::Appeared { host: "local".into(), instance: name(number), plan }, at(0));
        let session = SessionInfo {
            id: SessionId::new(1).expect("1 is not 0"),
            pane: None,
            tab: Some(1),
            title: "agent".into(),
            agent: Some("claude".into()),
            status: AgentStatus::Initializing,
            attention: Attention::Unknown,
            since: at(0),
            cause: Cause::new(Source::Launch, "session started", at(0)),
            size: Size::new(24, 80),
            cwd: None,
            usage: None,
            recording: None,
        };
        let status = Status {
            pid: 1,
            version: String::new(),
            protocol: Version::CURRENT,
            instance: name(number),
            attached: false,
            attention: Attention::Unknown,
            sessions: vec![session],
        };
        overview.tell(FleetEvent::Snapshot(Box::new(Snapshot { seq: 0, status, tags: Vec::new() })), at(0));
    }
    overview
}

/// The next of a stream in which all agents change what they do, one after another.
fn event(number: u64) -> FleetEvent {
    let session_id = SessionId::new(1).expect("1 is not 0");
    let (state, status) = match number % 3 {
        0 => (Attention::Working, AgentStatus::Busy { since: at(number) }),
        1 => (Attention::Blocked, AgentStatus::Question { prompt: Some("May I?".into()), since: at(number) }),
        _ => (Attention::Done, AgentStatus::idle()),
    };
    let cause = Cause::new(Source::Hook, "PermissionRequest", at(number));
    let kind = EventKind::AgentStateChanged { session_id, state, status, cause };
    let seq = number / INSTANCES + 1;
    FleetEvent::Event(Box::new(Event { seq, at: at(number), instance: name(number * 7 % INSTANCES), kind }))
}

fn bench(c: &mut Criterion<CpuTime>) {
    let mut group = c.benchmark_group("console");
    group.bench_function("a frame of 200x50 with nothing in it", |b| {
        let mut terminal = Terminal::new(TestBackend::new(200, 50)).expect("a test backend has a size");
        b.iter(|| terminal.draw(|_| {}).map(|_| ()).expect("it draws"));
    });
    let mut number = 0;
    group.bench_function("an event", |b| {
        let mut overview = fleet();
        b.iter(|| {
            number += 1;
            overview.tell(event(number), at(number));
        });
    });
    for (what, events) in [("nothing changed", 0), ("ten events", 10)] {
        group.bench_function(format!("a frame of fifty, {what}"), |b| {
            let mut overview = fleet();
            let mut terminal = Terminal::new(TestBackend::new(200, 50)).expect("a test backend has a size");
            b.iter(|| {
                for _ in 0..events {
                    number += 1;
                    overview.tell(event(number), at(number));
                }
                terminal.draw(|frame| overview.draw(frame)).map(|_| ()).expect("it draws");
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = bench
}
criterion_main!(benches);
