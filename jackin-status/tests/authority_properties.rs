//! What holds for every sequence of evidence.

use jackin_core::{AgentStatus, RuntimeEvent, Timestamp};
use jackin_status::{
    Authority, Channel, Confidence, Evidence, Foreground, Look, ProcessEnd, Progress, ScreenSays,
    ScreenVerdict, TerminalMark, Verdict,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn at(ms: u64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn channel() -> impl Strategy<Value = Channel> {
    prop_oneof![Just(Channel::Stream), Just(Channel::Hook), Just(Channel::Transcript)]
}

fn event() -> impl Strategy<Value = RuntimeEvent> {
    let id = "[ab]";
    prop_oneof![
        3 => Just(RuntimeEvent::TurnStarted),
        3 => proptest::option::of("[xy]").prop_map(|error| RuntimeEvent::TurnEnded { error }),
        3 => (proptest::option::of(id), proptest::option::of("[pq]"))
            .prop_map(|(id, prompt)| RuntimeEvent::Waiting { id, prompt }),
        2 => proptest::option::of(id).prop_map(|id| RuntimeEvent::WaitingResolved { id }),
        1 => Just(RuntimeEvent::SessionStarted { runtime_session: None, model: None }),
        1 => id.prop_map(|message_id| RuntimeEvent::AssistantText { message_id, chunk: "t".into(), end: true }),
        1 => id.prop_map(|id| RuntimeEvent::ToolStarted { id, name: "Bash".into() }),
        1 => id.prop_map(|id| RuntimeEvent::ToolFinished { id, failed: false }),
        1 => id.prop_map(|id| RuntimeEvent::SubAgentStarted { id }),
        1 => id.prop_map(|id| RuntimeEvent::SubAgentEnded { id }),
        1 => Just(RuntimeEvent::Ended),
    ]
}

fn look() -> impl Strategy<Value = Look> {
    let says = prop_oneof![
        Just(ScreenSays::Busy),
        Just(ScreenSays::Question),
        Just(ScreenSays::Idle),
        Just(ScreenSays::Hold)
    ];
    let confidence = prop_oneof![3 => Just(Confidence::Strong), 1 => Just(Confidence::Weak)];
    let verdict = (says, confidence, proptest::option::of("[pq]")).prop_map(|(says, confidence, prompt)| {
        ScreenVerdict { says, confidence, prompt, rule: "x/rule".into() }
    });
    (proptest::option::weighted(0.8, verdict), 0u64..3).prop_map(|(verdict, text)| Look { verdict, text })
}

/// Anything but the process's end, which is final.
fn evidence() -> impl Strategy<Value = Evidence> {
    let mark = prop_oneof![
        Just(TerminalMark::Prompt),
        Just(TerminalMark::Running),
        Just(TerminalMark::Finished),
        Just(TerminalMark::Progress(Progress::Indeterminate)),
        Just(TerminalMark::Progress(Progress::None)),
    ];
    prop_oneof![
        6 => (channel(), event()).prop_map(|(channel, event)| Evidence::Runtime { channel, event }),
        5 => look().prop_map(Evidence::Screen),
        2 => Just(Evidence::Output),
        2 => Just(Evidence::Input),
        1 => channel().prop_map(Evidence::Closed),
        1 => mark.prop_map(Evidence::Mark),
        1 => (any::<bool>(), 0u32..3).prop_map(|(is_agent, children)| {
            Evidence::Foreground(Foreground { name: "n".into(), is_agent, children })
        }),
    ]
}

/// Milliseconds until the next piece of evidence: within a frame, within a rule's patience, or long after.
fn gap() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..50, 100u64..3_000, 5_000u64..40_000, 300_000u64..1_200_000]
}

fn sequence() -> impl Strategy<Value = Vec<(u64, Evidence)>> {
    vec((gap(), evidence()), 0..40)
}

/// The evidence with its times, which begin at 0 and do not run backwards.
fn timed(steps: &[(u64, Evidence)]) -> impl Iterator<Item = (Timestamp, Evidence)> {
    steps.iter().scan(0, |now, (gap, evidence)| {
        *now += gap;
        Some((at(*now), evidence.clone()))
    })
}

fn play(steps: &[(u64, Evidence)]) -> Authority {
    let mut authority = Authority::for_agent(at(0));
    for (now, evidence) in timed(steps) {
        authority.observe(evidence, now);
    }
    authority
}

/// Everything that can be seen of an authority from outside.
fn seen(authority: &mut Authority, now: Timestamp) -> (Verdict, String) {
    let mut verdict = authority.look(now);
    // Whether the last call changed something depends on the calls, not on the evidence.
    verdict.changed = false;
    (verdict, format!("{:?}", authority.explain()))
}

fn since(status: &AgentStatus) -> Option<Timestamp> {
    match status {
        AgentStatus::Busy { since } | AgentStatus::Question { since, .. } => Some(*since),
        _ => None,
    }
}

proptest! {
    #[test]
    fn a_fresh_structured_report_corrects_every_state(steps in sequence(), channel in channel(), wait in 0u64..600_000) {
        let reports = [
            (RuntimeEvent::TurnStarted, "busy"),
            (RuntimeEvent::Waiting { id: Some("fresh".into()), prompt: None }, "question"),
            (RuntimeEvent::WaitingResolved { id: None }, "busy"),
            (RuntimeEvent::TurnEnded { error: Some("e".into()) }, "idle"),
            (RuntimeEvent::TurnEnded { error: None }, "idle"),
        ];
        for skip in 0..reports.len() {
            let mut authority = play(&steps);
            let now = at(authority.now().as_millis() + wait);
            // Sub-agents that nobody has seen the end of are work that goes on; here they have ended.
            for id in ["a", "b"] {
                let event = RuntimeEvent::SubAgentEnded { id: id.into() };
                authority.observe(Evidence::Runtime { channel, event }, now);
            }
            for (number, (event, word)) in reports.iter().enumerate().skip(skip) {
                // An answer to nothing is no news about whether the agent works.
                if number == skip && word == &"busy" && number == 2 {
                    continue;
                }
                let event = event.clone();
                let verdict = authority.observe(Evidence::Runtime { channel, event: event.clone() }, now);
                prop_assert_eq!(verdict.status.word(), *word, "{:?} on {:?}", event, channel);
            }
        }
    }

    #[test]
    fn time_never_runs_backwards(steps in vec((0u64..2_000_000, evidence()), 0..40)) {
        // These times do run backwards.
        let mut authority = Authority::for_agent(at(1_000_000));
        let mut last = authority.look(at(0));
        for (now, evidence) in steps {
            let verdict = authority.observe(evidence, at(now));
            prop_assert!(verdict.at >= last.at);
            prop_assert!(verdict.cause.at >= last.cause.at);
            prop_assert!(verdict.cause.at <= verdict.at);
            prop_assert!(verdict.look_again.is_none_or(|again| again > verdict.at));
            if let (Some(new), Some(old)) = (since(&verdict.status), since(&last.status)) {
                prop_assert!(new >= old);
            }
            prop_assert!(since(&verdict.status).is_none_or(|since| since <= verdict.at));
            last = verdict;
        }
    }

    #[test]
    fn looking_in_between_changes_nothing(steps in sequence(), looks in vec(0u64..2_000, 40), after in gap()) {
        let mut quiet = play(&steps);
        let mut watched = Authority::for_agent(at(0));
        let mut looks = looks.into_iter().cycle();
        for (now, evidence) in timed(&steps) {
            let mut look = watched.now().as_millis();
            for _ in 0..5 {
                look += looks.next().unwrap_or_default();
                if look < now.as_millis() {
                    watched.look(at(look));
                }
            }
            watched.observe(evidence, now);
        }
        let end = at(quiet.now().as_millis() + after);
        prop_assert_eq!(seen(&mut quiet, end), seen(&mut watched, end));
    }

    #[test]
    fn evidence_one_by_one_or_together_is_the_same(steps in vec(evidence(), 0..30), sizes in vec(1usize..6, 30), after in gap()) {
        let now = at(5_000);
        let mut single = Authority::for_agent(at(0));
        for evidence in &steps {
            single.observe(evidence.clone(), now);
        }
        let mut grouped = Authority::for_agent(at(0));
        let mut rest = &steps[..];
        for size in sizes {
            let (group, left) = rest.split_at(size.min(rest.len()));
            grouped.observe_all(group.iter().cloned(), now, now);
            rest = left;
        }
        prop_assert!(rest.is_empty());
        // Without evidence nobody has told the one that it is 5 seconds later.
        let end = at(5_000 + after);
        prop_assert_eq!(seen(&mut single, end), seen(&mut grouped, end));
    }

    #[test]
    fn being_woken_when_asked_is_enough(steps in sequence()) {
        // A caller that looks exactly when it was told to sees every change at the moment when it comes about.
        let mut authority = Authority::for_agent(at(0));
        let mut again = authority.look(at(0)).look_again;
        for (now, evidence) in timed(&steps) {
            while let Some(deadline) = again.filter(|deadline| *deadline < now) {
                // Nothing changes a moment before.
                let early = authority.look(at(deadline.as_millis() - 1));
                prop_assert!(!early.changed);
                again = authority.look(deadline).look_again;
            }
            again = authority.observe(evidence, now).look_again;
        }
    }

    #[test]
    fn the_end_is_final(steps in sequence(), more in sequence(), exit_code in 0i32..3) {
        let mut authority = play(&steps);
        let now = authority.now();
        let end = ProcessEnd { exit_code, oom_killed: false, on_purpose: false };
        let over = authority.observe(Evidence::Process(end), now).status;
        prop_assert_eq!(&over, &AgentStatus::from_exit_code(exit_code));
        for (gap, evidence) in more {
            let now = at(authority.now().as_millis() + gap);
            prop_assert_eq!(&authority.observe(evidence, now).status, &over);
        }
        prop_assert_eq!(authority.look(now).look_again, None);
    }

    #[test]
    fn only_an_answer_takes_a_question_away(gaps in vec((gap(), any::<bool>()), 1..30)) {
        // Output, marks and frames that show nothing known are no answer.
        let mut authority = Authority::for_agent(at(0));
        let event = RuntimeEvent::Waiting { id: None, prompt: None };
        authority.observe(Evidence::Runtime { channel: Channel::Hook, event }, at(0));
        for (gap, output) in gaps {
            let now = at(authority.now().as_millis() + gap);
            let evidence = if output { Evidence::Output } else { Evidence::Screen(Look::default()) };
            prop_assert_eq!(authority.observe(evidence, now).status.word(), "question");
        }
    }
}
