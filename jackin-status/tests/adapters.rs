//! Adapters on a session's desk: what the operator hears.

use jackin_core::{InstanceName, Received, RuntimeEvent, SessionId, StatusBus, Timestamp};
use jackin_status::{
    Authority, Channel, ClaudeHookReports, ClaudeStreamJson, ClaudeTranscriptTail, Evidence, FeedItem,
    Heuristic, ProcessEnd, Reporter, ScriptedFeed, StatusAdapter,
};

fn at(ms: u64) -> Timestamp {
    Timestamp::from_millis(ms)
}

struct Desk {
    reporter: Reporter,
    bus: jackin_core::Subscription<(InstanceName, SessionId, jackin_core::StatusEvent)>,
}

impl Desk {
    fn new() -> Self {
        let bus = StatusBus::new(64);
        let subscription = bus.subscribe();
        let (instance, session) = (InstanceName::new("demo").unwrap(), SessionId::new(1).unwrap());
        Self {
            reporter: Reporter::new(instance, session, bus, Authority::for_agent(at(0))),
            bus: subscription,
        }
    }

    fn heard(&mut self) -> Vec<String> {
        let mut heard = Vec::new();
        while let Some(Received::Value((_, _, change))) = self.bus.try_next() {
            heard.push(format!("{} ({})", change.status, change.cause));
        }
        heard
    }
}

#[tokio::test(flavor = "current_thread")]
async fn the_heuristic_knows_idle_only_and_weakly() {
    let mut desk = Desk::new();
    let mut feed = ScriptedFeed::new([
        (at(1_000), FeedItem::bytes("Welcome\n")),
        (at(25_000), FeedItem::Tick),
        (at(40_000), FeedItem::Tick),
        (at(50_000), FeedItem::Input),
        (at(52_000), FeedItem::Output),
        (at(81_999), FeedItem::Tick),
        (at(82_000), FeedItem::Tick),
    ]);
    let tally = Heuristic::default().run(&mut feed, &desk.reporter).await;
    assert_eq!(tally.lines, 0);
    let quiet = "idle (quiet: no output and no input for 30 s)";
    assert_eq!(
        desk.heard(),
        ["unknown (launch: nothing conclusive after 20 s)", quiet, "busy (activity: output)", quiet]
    );
    // Anything that knows better counts for more.
    let event = RuntimeEvent::TurnStarted;
    desk.reporter.report(Evidence::Runtime { channel: Channel::Hook, event }, at(90_000));
    assert_eq!(desk.heard(), ["busy (hook: turn started)"]);
}

#[tokio::test(flavor = "current_thread")]
async fn a_stream_that_breaks_off_is_followed_by_the_end_of_the_process() {
    let mut desk = Desk::new();
    let mut events = desk.reporter.subscribe();
    let mut feed = ScriptedFeed::new([
        (at(10), FeedItem::bytes("{\"type\":\"system\",\"subtype\":\"init\"}\n{broken\n")),
        // The last line has no end.
        (
            at(20),
            FeedItem::bytes(
                r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"hi"}]}}"#,
            ),
        ),
    ]);
    let tally = ClaudeStreamJson::default().run(&mut feed, &desk.reporter).await;
    assert_eq!((tally.lines, tally.broken), (3, 1));
    let end = ProcessEnd { exit_code: 143, oom_killed: false, on_purpose: false };
    desk.reporter.report(Evidence::Process(end), at(30));
    assert_eq!(
        desk.heard(),
        ["busy (stream: turn started)", "crashed (exit code 143) (process: process ended, exit code 143)"]
    );
    let mut words = String::new();
    while let Some(Received::Value((_, event))) = events.try_next() {
        if let RuntimeEvent::AssistantText { chunk, .. } = event {
            words += &chunk;
        }
    }
    assert_eq!(words, "hi");
}

#[tokio::test(flavor = "current_thread")]
async fn two_adapters_share_a_desk_and_a_late_transcript_does_not_undo_a_hook() {
    let mut desk = Desk::new();
    let mut hooks = ScriptedFeed::new([
        (at(60_000), FeedItem::line(r#"{"hook_event_name":"UserPromptSubmit"}"#)),
        (at(65_000), FeedItem::line(r#"{"hook_event_name":"Stop","last_assistant_message":"done"}"#)),
    ]);
    let mut transcript = ScriptedFeed::new([(
        at(66_000),
        FeedItem::bytes(
            "{\"type\":\"assistant\",\"timestamp\":\"1970-01-01T00:01:04.000Z\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}\n",
        ),
    )]);
    ClaudeHookReports::default().run(&mut hooks, &desk.reporter).await;
    ClaudeTranscriptTail::default().run(&mut transcript, &desk.reporter).await;
    assert_eq!(desk.heard(), ["busy (hook: turn started)", "idle (hook: turn ended)"]);
    assert_eq!(desk.reporter.explain().considered[0].because, "another channel has spoken since");
}

#[tokio::test(flavor = "current_thread")]
async fn the_desk_says_when_to_tick() {
    let desk = Desk::new();
    assert_eq!(desk.reporter.look_again(), Some(at(20_000)));
    let event = RuntimeEvent::TurnStarted;
    desk.reporter.report(Evidence::Runtime { channel: Channel::Stream, event }, at(100));
    assert!(desk.reporter.look_again() > Some(at(100)));
    desk.reporter.acknowledge(at(200));
}
