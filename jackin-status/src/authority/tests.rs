use super::*;
use crate::{Look, ProcessEnd, ScreenVerdict};
use jackin_core::RuntimeEvent;

fn at(ms: u64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn on(channel: Channel, event: RuntimeEvent) -> Evidence {
    Evidence::Runtime { channel, event }
}

fn waiting(id: &str) -> RuntimeEvent {
    RuntimeEvent::Waiting { id: Some(id.into()), prompt: Some("Run it?".into()) }
}

fn ended() -> RuntimeEvent {
    RuntimeEvent::TurnEnded { error: None }
}

fn text() -> RuntimeEvent {
    RuntimeEvent::AssistantText { message_id: "m".into(), chunk: "words".into(), end: true }
}

fn screen(says: ScreenSays) -> Evidence {
    sure(says, Confidence::Strong, says as u64)
}

fn sure(says: ScreenSays, confidence: Confidence, text: u64) -> Evidence {
    let prompt = (says == ScreenSays::Question).then(|| "Do you want to proceed?".to_owned());
    let verdict = Some(ScreenVerdict { says, confidence, prompt, rule: "x/rule".into() });
    Evidence::Screen(Look { verdict, text })
}

fn blank() -> Evidence {
    Evidence::Screen(Look { verdict: None, text: 99 })
}

/// Hands over each piece of evidence at its time and writes down what the status is then.
fn words(steps: impl IntoIterator<Item = (u64, Evidence)>) -> (Vec<&'static str>, Authority) {
    let mut authority = Authority::for_agent(at(0));
    let words =
        steps.into_iter().map(|(ms, evidence)| authority.observe(evidence, at(ms)).status.word()).collect();
    (words, authority)
}

use Channel::{Hook, Stream, Transcript};
use RuntimeEvent::TurnStarted;
use ScreenSays::{Busy, Hold, Idle, Question};

#[test]
fn starting_then_unknown() {
    let mut authority = Authority::for_agent(at(0));
    let verdict = authority.look(at(19_999));
    assert_eq!((verdict.status, verdict.look_again), (AgentStatus::Initializing, Some(at(20_000))));
    assert_eq!(authority.look(at(20_000)).status, AgentStatus::Unknown);
}

#[test]
fn a_shell_is_unknown_whatever_it_prints() {
    let mut shell = Authority::for_shell(at(0));
    for (ms, evidence) in [
        (30_000, Evidence::Output),
        (31_000, screen(Question)),
        (32_000, Evidence::Mark(TerminalMark::Running)),
    ] {
        assert_eq!(shell.observe(evidence, at(ms)).status, AgentStatus::Unknown);
    }
    assert_eq!(shell.look(at(100_000)).status, AgentStatus::Unknown);
    assert_eq!(shell.observe(on(Hook, TurnStarted), at(100_001)).status.word(), "busy");
}

#[test]
fn thirty_seconds_of_silence_are_a_weak_idle_and_nothing_more() {
    let (_, mut authority) = words([(25_000, Evidence::Output)]);
    assert_eq!(authority.status().word(), "busy");
    assert_eq!(authority.look(at(54_999)).status.word(), "busy");
    let verdict = authority.look(at(55_000));
    assert_eq!((verdict.status.word(), verdict.cause.source), ("idle", Source::Quiet));
    // Typing is not silence.
    let (_, mut authority) = words([(25_000, Evidence::Output), (50_000, Evidence::Input)]);
    assert_eq!(authority.look(at(79_999)).status.word(), "busy");
    assert_eq!(authority.look(at(80_000)).status.word(), "idle");
}

#[test]
fn silence_does_not_contradict_a_tool_that_runs_or_a_structured_busy() {
    let front = Foreground { name: "claude".into(), is_agent: true, children: 2 };
    let (_, mut authority) = words([(25_000, Evidence::Output), (26_000, Evidence::Foreground(front))]);
    assert_eq!(authority.look(at(99_000)).cause.source, Source::Foreground);
    let (_, mut authority) = words([(25_000, Evidence::Output), (26_000, on(Hook, TurnStarted))]);
    assert_eq!(authority.look(at(99_000)).cause.source, Source::Hook);
}

#[test]
fn what_a_program_prints_as_it_comes_up_is_no_work_and_an_echo_is_none() {
    assert_eq!(words([(100, Evidence::Output)]).0, ["initializing"]);
    let steps = [(30_000, Evidence::Input), (30_100, Evidence::Output), (30_600, Evidence::Output)];
    assert_eq!(words(steps).0, ["unknown", "unknown", "busy"]);
}

#[test]
fn the_end_is_final_until_the_session_is_started_again() {
    let crash = Evidence::Process(ProcessEnd { exit_code: 1, oom_killed: false, on_purpose: false });
    let steps = [
        (10, on(Stream, TurnStarted)),
        (20, crash.clone()),
        (30, on(Stream, text())),
        (40, screen(Question)),
        (50, Evidence::Relaunched),
        (60, on(Stream, TurnStarted)),
    ];
    assert_eq!(words(steps).0, ["busy", "crashed", "crashed", "crashed", "initializing", "busy"]);
    let oom = ProcessEnd { exit_code: 137, oom_killed: true, on_purpose: false };
    let steps = [(20, crash), (30, Evidence::Container(ContainerState::Exited(oom)))];
    assert_eq!(words(steps).0, ["crashed", "oom-killed"]);
    let stopped = ProcessEnd { exit_code: 143, oom_killed: false, on_purpose: true };
    assert_eq!(words([(20, Evidence::Process(stopped))]).0, ["ended"]);
}

#[test]
fn a_stream_that_ends_leaves_idle_alone_and_takes_busy_back() {
    let (_, mut authority) = words([(10, on(Stream, TurnStarted)), (20, Evidence::Closed(Stream))]);
    assert_eq!(authority.look(at(2_019)).status.word(), "busy");
    assert_eq!(authority.look(at(2_020)).status.word(), "unknown");
    let (_, mut authority) = words([(10, on(Stream, ended())), (20, Evidence::Closed(Stream))]);
    assert_eq!(authority.look(at(60_000)).status.word(), "idle");
}

#[test]
fn of_two_channels_the_one_that_spoke_last_counts_by_the_lines_own_time() {
    let mut authority = Authority::for_agent(at(0));
    authority.observe(on(Hook, TurnStarted), at(1_000));
    authority.observe(on(Hook, ended()), at(5_000));
    // The transcript is read late: its line is older than the hook's report.
    let verdict = authority.observe_late(on(Transcript, text()), at(4_900), at(6_000));
    assert_eq!(verdict.status.word(), "idle");
    let verdict = authority.observe_late(on(Transcript, TurnStarted), at(6_900), at(7_000));
    assert_eq!(verdict.status.word(), "busy");
}

#[test]
fn busy_goes_stale_by_each_channels_own_rule() {
    for (channel, event, last, minutes) in
        [(Hook, TurnStarted, 0, 15), (Transcript, TurnStarted, 0, 10), (Transcript, text(), 10, 0)]
    {
        let (_, mut authority) = words([(0, on(channel, event))]);
        let stale = last * 1_000 + minutes * 60_000;
        assert_eq!(authority.look(at(stale - 1)).status.word(), "busy");
        assert_eq!(authority.look(at(stale)).status.word(), "unknown");
        assert!(!authority.explain().considered.is_empty());
    }
    let (_, mut authority) = words([(0, on(Stream, TurnStarted))]);
    assert_eq!(authority.look(at(86_400_000)).status.word(), "busy");
    // The agent's word before a tool is not its last.
    let tool = RuntimeEvent::ToolStarted { id: "t".into(), name: "Bash".into() };
    let (_, mut authority) = words([(0, on(Transcript, text())), (1, on(Transcript, tool))]);
    assert_eq!(authority.look(at(60_000)).status.word(), "busy");
}

#[test]
fn work_behind_a_finished_turn_keeps_it_busy() {
    let start = RuntimeEvent::SubAgentStarted { id: "a".into() };
    let stop = RuntimeEvent::SubAgentEnded { id: "a".into() };
    let steps = [
        (10, on(Stream, TurnStarted)),
        (20, on(Stream, start)),
        (30, on(Stream, ended())),
        (5_000, on(Stream, stop)),
    ];
    let (told, mut authority) = words(steps.clone());
    assert_eq!(told, ["busy", "busy", "busy", "busy"]);
    assert_eq!(authority.look(at(7_000)).status.word(), "idle");
    // The task wakes another turn.
    let (_, mut authority) = words(steps.into_iter().chain([(5_500, on(Stream, TurnStarted))]));
    assert_eq!(authority.look(at(7_000)).status.word(), "busy");
}

#[test]
fn a_screen_must_stand_for_two_frames() {
    let steps = [
        (100, screen(Idle)),
        (150, screen(Busy)),
        (160, screen(Idle)),
        (170, screen(Busy)),
        (180, screen(Question)),
    ];
    assert_eq!(words(steps).0, ["initializing", "busy", "busy", "busy", "busy"]);
    let (_, mut authority) = words([(100, screen(Idle))]);
    assert_eq!(authority.look(at(299)).status.word(), "initializing");
    assert_eq!(authority.look(at(300)).status.word(), "idle");
}

#[test]
fn one_frame_without_a_rule_changes_nothing() {
    let steps = [(100, screen(Busy)), (200, blank()), (250, screen(Busy)), (300, blank())];
    let (told, mut authority) = words(steps);
    assert_eq!(told, ["busy"; 4]);
    assert_eq!(authority.look(at(500)).status.word(), "unknown");
}

#[test]
fn a_menu_holds_what_was_before() {
    let (told, mut authority) = words([(100, screen(Busy)), (200, screen(Hold))]);
    assert_eq!(told, ["busy", "busy"]);
    assert_eq!(authority.look(at(10_000)).status.word(), "busy");
}

#[test]
fn the_screen_overrules_a_hook_that_missed_an_interruption() {
    let (told, mut authority) =
        words([(1_000, on(Hook, TurnStarted)), (1_100, screen(Busy)), (5_000, screen(Idle))]);
    assert_eq!(told, ["busy"; 3]);
    assert_eq!(authority.look(at(6_999)).status.word(), "busy");
    let verdict = authority.look(at(7_000));
    assert_eq!((verdict.status.word(), verdict.cause.source), ("idle", Source::Screen));
    let hook = &authority.explain().considered[0];
    assert_eq!(
        (hook.cause.source, hook.because.as_str()),
        (Source::Hook, "the screen has shown something else since")
    );
    // The next report is believed again.
    assert_eq!(authority.observe(on(Hook, TurnStarted), at(8_000)).status.word(), "busy");
}

#[test]
fn the_screen_overrules_no_stream() {
    let (_, mut authority) = words([(1_000, on(Stream, TurnStarted)), (5_000, screen(Idle))]);
    assert_eq!(authority.look(at(60_000)).status.word(), "busy");
}

#[test]
fn a_dialog_that_no_hook_tells_of_is_seen() {
    let (_, mut authority) = words([(1_000, on(Hook, TurnStarted)), (2_000, screen(Question))]);
    let verdict = authority.look(at(2_500));
    assert_eq!(
        verdict.status,
        AgentStatus::Question { prompt: Some("Do you want to proceed?".into()), since: at(2_500) }
    );
}

#[test]
fn output_does_not_answer_a_question_and_neither_does_a_key_that_leaves_the_dialog_open() {
    let steps = [
        (1_000, screen(Question)),
        (1_300, Evidence::Output),
        (2_000, screen(Question)),
        (3_000, Evidence::Input),
        (3_050, screen(Question)),
        (9_000, Evidence::Output),
    ];
    let (told, mut authority) = words(steps);
    assert_eq!(told[1..], ["question"; 5]);
    // One frame without it is not enough, two are.
    assert_eq!(authority.observe(blank(), at(10_000)).status.word(), "question");
    assert_eq!(authority.look(at(10_199)).status.word(), "question");
    assert_ne!(authority.look(at(10_200)).status.word(), "question");
}

#[test]
fn a_dialog_that_a_hook_tells_of_late_is_the_same_dialog() {
    // The screen shows it once and stands still; the report comes a second later.
    let steps = [
        (1_000, on(Hook, TurnStarted)),
        (2_000, screen(Question)),
        (3_000, on(Hook, waiting("a"))),
        (4_000, Evidence::Input),
        (4_050, blank()),
    ];
    let (told, mut authority) = words(steps);
    assert_eq!(told[4], "question");
    assert_eq!(authority.look(at(4_250)).status.word(), "busy");
}

#[test]
fn without_a_key_only_work_that_lasts_answers_a_question() {
    let steps = [(1_000, screen(Question)), (2_000, screen(Question)), (3_000, screen(Idle))];
    let (_, mut authority) = words(steps.clone());
    assert_eq!(authority.look(at(60_000)).status.word(), "question");
    let (_, mut authority) = words(steps.into_iter().chain([(4_000, screen(Busy))]));
    assert_eq!(authority.look(at(8_999)).status.word(), "question");
    assert_eq!(authority.look(at(9_000)).status.word(), "busy");
}

#[test]
fn a_question_of_a_hook_that_the_rules_do_not_see_needs_more_than_a_key() {
    let steps = [
        (1_000, on(Hook, TurnStarted)),
        (2_000, on(Hook, waiting("a"))),
        (2_500, blank()),
        (3_000, Evidence::Input),
    ];
    let (_, mut authority) = words(steps);
    assert_eq!(authority.look(at(60_000)).status.word(), "question");
    authority.observe(screen(Busy), at(60_000));
    assert_eq!(authority.look(at(60_200)).status.word(), "busy");
}

#[test]
fn structured_answers() {
    let resolved = |id: Option<&str>| RuntimeEvent::WaitingResolved { id: id.map(str::to_owned) };
    let asked = [(10, on(Hook, TurnStarted)), (20, on(Hook, waiting("a"))), (30, on(Hook, waiting("b")))];
    for (answer, expected) in [
        (resolved(Some("a")), "question"),
        (resolved(None), "busy"),
        (TurnStarted, "busy"),
        (ended(), "idle"),
        (text(), "question"),
    ] {
        let (told, _) = words(asked.clone().into_iter().chain([(40, on(Hook, answer.clone()))]));
        assert_eq!(told[3], expected, "{answer:?}");
    }
    // Another channel may know it first.
    let (told, _) = words(asked.into_iter().chain([(40, on(Transcript, ended()))]));
    assert_eq!(told[3], "idle");
}

#[test]
fn a_screens_question_is_over_when_the_agent_goes_on() {
    let steps = [
        (100, screen(Question)),
        (400, Evidence::Output),
        (500, on(Hook, text())),
        (600, blank()),
        (900, on(Hook, text())),
    ];
    // While the dialog stands, words of the agent do not take it away.
    assert_eq!(words(steps).0[1..], ["question", "question", "question", "busy"]);
}

#[test]
fn idle_is_done_until_somebody_looks() {
    let (_, mut authority) = words([(10, on(Stream, TurnStarted)), (20, on(Stream, ended()))]);
    assert_eq!(authority.attention(), Attention::Done);
    let verdict = authority.observe(Evidence::Input, at(30));
    assert_eq!((verdict.attention, verdict.changed), (Attention::Idle, true));
    authority.observe_all([on(Stream, TurnStarted), on(Stream, ended())], at(40), at(40));
    assert_eq!(authority.attention(), Attention::Done);
    assert_eq!(authority.dwell_deadline(at(100)), Some(at(2_100)));
    assert_eq!(authority.dwell(at(100), at(2_100)).attention, Attention::Idle);
    assert!(!authority.acknowledge(at(2_200)).changed);
}

#[test]
fn stuck_is_work_by_every_weak_sign_with_nothing_new() {
    let minute = 60_000;
    let mut authority = Authority::for_agent(at(0));
    authority.observe(on(Hook, TurnStarted), at(0));
    for turn in 0..(11 * 60) {
        // The spinner turns; the text beside it stays the same.
        let verdict = authority.observe_all(
            [Evidence::Output, sure(Busy, Confidence::Strong, 7)],
            at(turn * 1_000),
            at(turn * 1_000),
        );
        assert_eq!(verdict.stuck.is_some(), turn >= 600, "{turn}");
    }
    assert!(authority.explain().diagnosis.unwrap().contains("10 minutes"));
    let verdict = authority.observe(sure(Busy, Confidence::Strong, 8), at(11 * minute));
    assert_eq!((verdict.stuck, verdict.status.word()), (None, "busy"));
    assert!(authority.explain().diagnosis.is_none());
}

#[test]
fn explain_names_the_winner_and_why_the_others_lost() {
    let front = Foreground { name: "node".into(), is_agent: true, children: 1 };
    let steps = [
        (20_000, Evidence::Output),
        (20_100, Evidence::Foreground(front)),
        (20_200, Evidence::Mark(TerminalMark::Progress(Progress::Indeterminate))),
        (20_300, screen(Busy)),
        (20_400, on(Transcript, TurnStarted)),
        (20_500, on(Hook, waiting("a"))),
    ];
    let explanation = words(steps).1.explain();
    assert_eq!(explanation.cause.to_string(), "hook: asks: Run it?");
    let told: Vec<_> = explanation
        .considered
        .iter()
        .map(|considered| {
            format!("{} ({}) - {}", considered.status.word(), considered.cause, considered.because)
        })
        .collect();
    assert_eq!(
        told,
        [
            "busy (transcript: turn started) - another channel has spoken since",
            "busy (screen: rule x/rule) - hook is stronger than screen",
            "busy (terminal-mark: OSC 9;4 progress) - hook is stronger than terminal-mark",
            "busy (foreground: node has 1 child processes) - hook is stronger than foreground",
            "busy (activity: output) - hook is stronger than activity",
            "unknown (launch: no evidence is left) - hook is stronger than launch",
        ]
    );
}

#[test]
fn the_screen_tells_what_a_channel_only_knows_to_be_asked() {
    let asked = on(Hook, RuntimeEvent::Waiting { id: None, prompt: None });
    let (_, mut authority) = words([(10, asked), (20, screen(Question))]);
    authority.look(at(300));
    assert_eq!(authority.status().to_string(), "question: Do you want to proceed?");
    assert_eq!(authority.explain().cause.source, Source::Hook);
}

#[test]
fn time_that_runs_backwards_is_taken_as_now() {
    let (_, mut authority) = words([(50_000, on(Hook, TurnStarted))]);
    let verdict = authority.observe(on(Hook, ended()), at(10));
    assert_eq!((verdict.at, verdict.status.word()), (at(50_000), "idle"));
}

#[test]
fn an_agent_comes_and_goes_in_a_shell() {
    let mut authority = Authority::for_shell(at(0));
    assert!(authority.look(at(25_000)).changed);
    assert_eq!(authority.status(), &AgentStatus::Unknown);

    let verdict = authority.agent_started(at(30_000));
    assert_eq!((verdict.changed, verdict.status), (true, AgentStatus::Initializing));
    assert!(!authority.agent_started(at(30_500)).changed);
    let event = RuntimeEvent::TurnStarted;
    authority.observe(Evidence::Runtime { channel: Channel::Transcript, event }, at(31_000));
    assert_eq!(authority.attention(), Attention::Working);

    let verdict = authority.agent_left(at(32_000));
    assert_eq!((verdict.changed, verdict.status), (true, AgentStatus::Unknown));
    assert_eq!(authority.cause().to_string(), "foreground: the agent has ended");
    assert!(!authority.observe(Evidence::Output, at(33_000)).changed, "a shell's output says nothing");
}

#[test]
fn what_an_agent_said_before_it_was_recognised_stays() {
    let mut authority = Authority::for_shell(at(0));
    let event = RuntimeEvent::Waiting { id: None, prompt: None };
    authority.observe(Evidence::Runtime { channel: Channel::Hook, event }, at(10));
    assert!(!authority.agent_started(at(20)).changed);
    assert_eq!(authority.attention(), Attention::Blocked);
}
