//! What keys, clicks and events do.

use crossterm::event::{Event as TerminalEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use jackin_core::protocol::control::{Provider, Request};
use jackin_core::{AgentStatus, Attention, EventKind, TagKind};
use ratatui::style::{Color, Modifier};

use super::stage::{START, Stage, info, name, session, tag};
use crate::console::model::Selected;
use crate::console::model::modal::Modal;
use crate::console::update::{Effect, Message, Purpose, Unanswered, update};
use crate::console::view::{Target, Theme};
use crate::host::FleetEvent;

fn selected(stage: &Stage) -> String {
    match &stage.model.selected {
        Selected::Nothing => "nothing".to_owned(),
        Selected::Group(name) => format!("group {name}"),
        Selected::Agent(key) => key.instance.to_string(),
    }
}

fn three() -> Stage {
    let mut stage = Stage::new();
    for instance in ["alpha", "beta", "gamma"] {
        stage.agent(instance, "shop", "claude");
        stage.busy(instance);
        stage.later(10);
    }
    stage.took();
    stage
}

/// The instances in the order in which they are listed.
fn order(stage: &Stage) -> Vec<String> {
    let instance = |row: &crate::console::model::rows::Row| match row {
        crate::console::model::rows::Row::Agent(key) => Some(key.instance.to_string()),
        _ => None,
    };
    stage.model.rows.iter().filter_map(instance).collect()
}

#[test]
fn whoever_needs_the_operator_rises_and_the_selection_stays_on_its_row() {
    let mut stage = three();
    assert_eq!((order(&stage).join(" "), selected(&stage)), ("alpha beta gamma".into(), "alpha".into()));
    stage.asks("gamma", "May I?");
    assert_eq!((order(&stage).join(" "), selected(&stage)), ("gamma alpha beta".into(), "alpha".into()));
    stage.done("beta");
    assert_eq!((order(&stage).join(" "), selected(&stage)), ("gamma beta alpha".into(), "alpha".into()));
    stage.keys("]");
    assert_eq!(selected(&stage), "gamma");
    stage.fleet(FleetEvent::Gone { instance: name("gamma") });
    assert_eq!(selected(&stage), "beta", "what takes the place of what is gone is selected");
}

/// Presses Enter and has the capsule answer.
fn attach(stage: &mut Stage) {
    stage.keys("enter");
    let Some(Effect::Call { instance, request, purpose }) = stage.took().pop() else { panic!("it is asked") };
    assert!(matches!(*request, Request::SessionFocus { .. }));
    assert!(stage.model.attached.is_none(), "one that hangs would keep the terminal");
    let answer = Ok(serde_json::json!({}));
    stage.message(Message::Answer { instance: instance.clone(), purpose, answer });
    // What was watched is let go before the terminal is lent, not when it has come back.
    assert_eq!(stage.effects[..], [Effect::Watch(None), Effect::Attach(instance)]);
}

#[test]
fn what_answers_too_late_does_not_take_the_terminal() {
    for key in ["down", "?", "esc"] {
        let mut stage = three();
        stage.keys("enter");
        let Some(Effect::Call { instance, purpose, .. }) = stage.took().pop() else { panic!("it is asked") };
        stage.keys(key);
        stage.took();
        stage.message(Message::Answer { instance, purpose, answer: Ok(serde_json::json!({})) });
        assert!(stage.took().is_empty() && stage.model.attached.is_none(), "{key}");
    }
    let mut stage = three();
    stage.keys("enter");
    let Some(Effect::Call { instance, purpose, .. }) = stage.took().pop() else { panic!("it is asked") };
    let answer = Err(Unanswered::Silent("it does not answer within 10 s".to_owned()));
    stage.message(Message::Answer { instance, purpose, answer });
    assert!(stage.draw(80, 24).contains("alpha: it does not answer within 10 s"));
    assert!(stage.model.attached.is_none());
}

#[test]
fn enter_attaches_and_what_is_attached_does_not_notify() {
    let mut stage = three();
    attach(&mut stage);
    stage.asks("alpha", "May I?");
    let told =
        |effects: &[Effect]| effects.iter().filter(|effect| matches!(effect, Effect::Notify(_))).count();
    assert_eq!(told(&stage.took()), 0);
    stage.asks("beta", "May I?");
    assert_eq!(told(&stage.took()), 1, "another one notifies while one is attached");
    stage.message(Message::Back { how: Ok("detached".to_owned()) });
    assert!(stage.model.attached.is_none());
    assert!(stage.draw(80, 24).contains("detached"));
}

#[test]
fn what_is_on_the_screen_notifies_only_when_the_terminal_lost_the_focus() {
    let mut stage = three();
    let notified = |stage: &mut Stage| stage.took().iter().any(|effect| matches!(effect, Effect::Notify(_)));
    stage.asks("alpha", "May I?");
    assert!(!notified(&mut stage));
    stage.busy("alpha");
    stage.message(Message::Terminal(TerminalEvent::FocusLost));
    stage.asks("alpha", "May I?");
    assert!(notified(&mut stage));
    stage.keys("down m");
    stage.done(&selected(&stage));
    assert!(!notified(&mut stage), "it is muted");
}

#[test]
fn a_key_that_comes_before_the_frame_finds_the_list_as_it_is() {
    let mut stage = three();
    for gone in ["alpha", "beta"] {
        // Two events between two frames.
        let event = Message::Fleet(FleetEvent::Gone { instance: name(gone) });
        let effects = update(&mut stage.model, event, stage.now);
        stage.effects.extend(effects);
    }
    stage.keys("e y");
    assert!(stage.took().contains(&Effect::Eject(name("gamma"))));
}

#[test]
fn one_that_hangs_is_marked_asked_once_at_a_time_and_found_again() {
    let mut stage = three();
    let asked = |stage: &mut Stage| -> Vec<(String, Purpose)> {
        stage.later(5);
        stage.message(Message::Sample);
        let of = |effect| match effect {
            Effect::Call { instance, purpose, .. } => Some((instance.to_string(), purpose)),
            _ => None,
        };
        stage.took().into_iter().filter_map(of).filter(|(instance, _)| instance == "alpha").collect()
    };
    assert_eq!(asked(&mut stage), [("alpha".to_owned(), Purpose::Resources)]);
    assert_eq!(asked(&mut stage), [], "it has not answered yet");
    let (instance, answer) = (name("alpha"), Err(Unanswered::Silent("it hangs".to_owned())));
    stage.message(Message::Answer { instance, purpose: Purpose::Resources, answer });
    assert!(stage.draw(80, 24).contains("It does not answer: it hangs. It is tried again."));
    assert_eq!(asked(&mut stage), [("alpha".to_owned(), Purpose::Look)]);
    let (instance, answer) = (name("alpha"), Err(Unanswered::Silent("it hangs".to_owned())));
    stage.message(Message::Answer { instance, purpose: Purpose::Look, answer });
    assert_eq!(asked(&mut stage), [("alpha".to_owned(), Purpose::Look)]);
    let busy = info(1, "claude", AgentStatus::Busy { since: START }, Attention::Working, START);
    stage.snapshot("alpha", vec![busy], Vec::new());
    assert!(!stage.draw(80, 24).contains("It does not answer"));
}

#[test]
fn a_closed_group_tells_what_is_in_it() {
    let mut stage = three();
    stage.agent("other", "engine", "codex");
    stage.asks("beta", "May I?");
    stage.keys("left");
    assert_eq!(selected(&stage), "group shop");
    stage.keys("left");
    assert_eq!(order(&stage), ["other"]);
    let screen = stage.draw(80, 24);
    assert!(screen.contains("▸ shop  ?1 ●2"), "{screen}");
    stage.keys("enter");
    assert_eq!(order(&stage).len(), 4);
}

#[test]
fn a_prompt_is_not_sent_into_a_question() {
    let mut stage = three();
    stage.keys("s");
    stage.types("go on");
    stage.asks("alpha", "Delete everything?");
    stage.took();
    stage.keys("enter");
    assert!(stage.took().is_empty(), "the question came up while the prompt was typed");
    assert!(stage.draw(80, 24).contains("go on"), "and the prompt is not lost");
    stage.keys("esc s");
    assert!(stage.model.modals.is_empty() && stage.draw(80, 24).contains("r answers it"));
}

#[test]
fn an_answer_of_one_character_is_a_key_and_a_longer_one_a_line() {
    for (keys, text, enter) in
        [("r 1 enter", "1", false), ("r y e s enter", "yes", true), ("r 1 tab enter", "1", true)]
    {
        let mut stage = three();
        stage.asks("alpha", "May I?");
        stage.took();
        stage.keys(keys);
        let Some(Effect::Call { request, .. }) = stage.took().pop() else { panic!("{keys}") };
        let Request::SessionSend { text: sent, submit, force, .. } = *request else { panic!("{keys}") };
        assert_eq!((sent.as_str(), submit, force), (text, enter, true), "{keys}");
    }
}

#[test]
fn a_prompt_tool_closes_after_its_time_and_counts_down() {
    let tool =
        "[[tool]]\nkey = 'n'\nname = 'Note'\ntype = 'prompt'\nprompt = 'What?'\nexec = 'echo {input}'\n";
    let mut stage = Stage::with(tool);
    stage.agent("alpha", "shop", "claude");
    stage.keys("n");
    stage.later(1);
    assert!(stage.draw(80, 24).contains("299 s left"));
    let next = stage.model.next_change().unwrap();
    assert!(next.since(stage.now).as_millis() <= 1_000, "it ticks while it is open");
    stage.later(299);
    assert!(stage.model.modals.is_empty());
    assert!(stage.draw(80, 24).contains("nobody answered within 300 seconds"));
    stage.keys("n h i enter");
    assert!(stage.took().iter().any(|effect| matches!(effect, Effect::Run { .. })));
}

#[test]
fn a_tool_without_its_value_says_what_is_missing() {
    let mut stage = Stage::with("[[tool]]\nkey = 'i'\nname = 'Open'\nexec = 'echo {issue}'\n");
    stage.agent("alpha", "shop", "claude");
    stage.took();
    stage.keys("i");
    assert!(stage.took().is_empty());
    assert!(stage.draw(80, 24).contains("no <jackin:issue> recorded for instance alpha"));
    stage.declares("alpha", TagKind::Issue, "https://github.com/a/b/issues/7");
    stage.took();
    stage.keys("i");
    let Some(Effect::Run { command, .. }) = stage.took().pop() else { panic!("it runs") };
    assert_eq!(command.argv().collect::<Vec<_>>(), ["echo", "https://github.com/a/b/issues/7"]);
}

#[test]
fn links_open_by_the_handler_with_the_exact_address() {
    let mut stage = Stage::with("[handler]\nweb = 'fake-browser --new {}'\n");
    stage.agent("alpha", "shop", "claude");
    let link = "https://github.com/a/b/pull/7?x='\"$(id)&y=1";
    stage.declares("alpha", TagKind::Pr, link);
    stage.took();
    stage.keys("o");
    let opened = |stage: &mut Stage| match stage.took().pop() {
        Some(Effect::Open { command, .. }) => command.argv().map(str::to_owned).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(opened(&mut stage), ["fake-browser", "--new", link]);
    stage.draw(80, 24);
    let (area, _) = stage
        .model
        .scene
        .targets
        .iter()
        .find(|(_, target)| matches!(target, Target::Link(_)))
        .expect("the list has a link")
        .clone();
    click(&mut stage, area.x, area.y);
    assert_eq!(opened(&mut stage), ["fake-browser", "--new", link]);
    stage.keys("tab enter");
    assert_eq!(opened(&mut stage), ["fake-browser", "--new", link]);
    assert!(stage.model.scene.links.iter().any(|shown| shown.url == link), "OSC 8 leads there as well");
}

fn click(stage: &mut Stage, column: u16, row: u16) {
    let kind = MouseEventKind::Down(MouseButton::Left);
    let mouse = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    stage.message(Message::Terminal(TerminalEvent::Mouse(mouse)));
}

#[test]
fn a_click_selects_and_a_second_one_attaches() {
    let mut stage = three();
    stage.draw(80, 24);
    let row = |stage: &Stage, place: usize| {
        let target = stage.model.scene.targets.iter().find(|(_, target)| *target == Target::Row(place));
        target.unwrap().0
    };
    let beta = row(&stage, 2);
    click(&mut stage, 12, beta.y);
    assert_eq!(selected(&stage), "beta");
    stage.took();
    click(&mut stage, 12, beta.y);
    assert!(
        stage.took().iter().any(|effect| matches!(effect, Effect::Call { purpose: Purpose::Attach(_), .. }))
    );
    stage.message(Message::Back { how: Ok(String::new()) });
    stage.later(5);
    click(&mut stage, 12, beta.y);
    stage.later(5);
    stage.took();
    click(&mut stage, 12, beta.y);
    assert!(stage.took().is_empty(), "two clicks with a pause are no double click");
    let kind = MouseEventKind::ScrollUp;
    let mouse = MouseEvent { kind, column: 12, row: beta.y, modifiers: KeyModifiers::NONE };
    stage.message(Message::Terminal(TerminalEvent::Mouse(mouse)));
    assert_ne!(selected(&stage), "beta", "the wheel moves through the list");
}

#[test]
fn tags_are_repaired_in_a_dialog_and_say_who_said_so() {
    let mut stage = three();
    let busy = info(1, "claude", AgentStatus::Busy { since: START }, Attention::Working, START);
    stage.snapshot("alpha", vec![busy], vec![tag(TagKind::Pr, "https://x/a/b/pull/1", Provider::Agent)]);
    stage.took();
    stage.keys("t e ctrl+u");
    stage.types("https://x/a/b/pull/2");
    stage.keys("enter");
    let tag_effect = |value: &str, set| Effect::Tag {
        instance: name("alpha"),
        kind: TagKind::Pr,
        value: value.to_owned(),
        set,
    };
    assert_eq!(
        stage.took(),
        [tag_effect("https://x/a/b/pull/1", false), tag_effect("https://x/a/b/pull/2", true)]
    );
    let tags = serde_json::json!({"tags": [{"kind": "pr", "value": "https://x/a/b/pull/2", "provider": "operator"}]});
    stage.message(Message::Answer { instance: name("alpha"), purpose: Purpose::Tags, answer: Ok(tags) });
    assert!(stage.draw(80, 24).contains("https://x/a/b/pull/2  operator"));
    stage.keys("u");
    assert_eq!(stage.took(), [tag_effect("https://x/a/b/pull/2", false)]);
    stage.keys("a");
    stage.types("issue");
    stage.keys("enter");
    stage.types("https://x/a/b/issues/3");
    stage.keys("enter");
    assert!(matches!(&stage.took()[..], [Effect::Tag { kind: TagKind::Issue, set: true, .. }]));
    assert!(matches!(stage.model.modals.last(), Some(Modal::Tags { .. })), "the dialog is still there");
}

#[test]
fn every_action_of_the_palette_can_be_found_and_does_what_its_key_does() {
    let mut stage = three();
    stage.keys(":");
    stage.types("explains");
    stage.keys("enter");
    assert!(matches!(stage.model.modals.last(), Some(Modal::Explain { .. })));
    let [Effect::Call { request, .. }] = &stage.took()[..] else { panic!("it asks") };
    assert!(matches!(**request, Request::SessionExplain { .. }));
    stage.keys("esc : esc");
    assert!(stage.model.modals.is_empty());
}

#[test]
fn an_eject_has_to_be_confirmed_with_a_letter() {
    let mut stage = three();
    let ejected =
        |stage: &mut Stage| stage.took().into_iter().any(|effect| matches!(effect, Effect::Eject(_)));
    for no in ["enter", "esc", "n", "q"] {
        stage.keys("e");
        stage.keys(no);
        assert!(!ejected(&mut stage) && stage.model.modals.is_empty(), "{no}");
    }
    stage.keys("e y");
    assert_eq!(stage.took(), [Effect::Eject(name("alpha"))]);
}

#[test]
fn a_word_that_is_typed_to_nobody_ejects_nobody() {
    let mut stage = three();
    // It asks nothing, so that the word goes to the list.
    stage.types("ready");
    assert!(!stage.took().iter().any(|effect| matches!(effect, Effect::Eject(_))));
}

#[test]
fn what_was_just_made_is_selected_when_it_appears() {
    let mut stage = three();
    stage.message(Message::Made(name("delta")));
    assert_eq!(stage.model.key().unwrap().instance, name("alpha"));
    stage.agent("delta", "shop", "claude");
    stage.model.settle();
    assert_eq!(stage.model.key().unwrap().instance, name("delta"));
    // Whoever has gone elsewhere meanwhile stays there.
    stage.message(Message::Made(name("epsilon")));
    stage.keys("up");
    let at = stage.model.key().unwrap().instance.clone();
    stage.agent("epsilon", "shop", "claude");
    stage.model.settle();
    assert_eq!(stage.model.key().unwrap().instance, at);
}

#[test]
fn the_screen_is_watched_where_the_selection_is_and_nowhere_else() {
    let mut stage = three();
    let watched = |stage: &mut Stage| {
        stage.took().into_iter().rev().find_map(|effect| match effect {
            Effect::Watch(of) => Some(of.map(|of| of.instance.to_string())),
            _ => None,
        })
    };
    stage.keys("down");
    assert_eq!(watched(&mut stage), Some(Some("beta".to_owned())));
    stage.keys("p");
    assert_eq!(watched(&mut stage), Some(None));
    stage.keys("p");
    assert_eq!(watched(&mut stage), Some(Some("beta".to_owned())));
    attach(&mut stage);
    assert_eq!(watched(&mut stage), Some(None), "nobody sees it while the terminal is lent");
}

#[test]
fn old_answers_do_not_undo_newer_events() {
    let mut stage = three();
    let old = jackin_core::protocol::control::Snapshot {
        seq: 0,
        status: jackin_core::protocol::control::Status {
            pid: 1,
            version: String::new(),
            protocol: jackin_core::protocol::Version::CURRENT,
            instance: name("alpha"),
            attached: false,
            attention: Attention::Unknown,
            sessions: Vec::new(),
        },
        tags: Vec::new(),
    };
    let answer = Ok(serde_json::to_value(old).unwrap());
    stage.message(Message::Answer { instance: name("alpha"), purpose: Purpose::Look, answer });
    assert!(stage.model.fleet.session(&name("alpha"), session(1)).is_some());
}

#[test]
fn an_ended_session_goes_and_a_crashed_one_stays() {
    let mut stage = three();
    stage.event("alpha", EventKind::SessionStarted { session_id: session(2), title: "shell".into() });
    assert_eq!(stage.model.rows.len(), 5);
    stage.event(
        "alpha",
        EventKind::SessionEnded { session_id: session(2), status: AgentStatus::Ended { exit_code: 0 } },
    );
    assert_eq!(stage.model.rows.len(), 4);
    stage.event(
        "alpha",
        EventKind::SessionEnded { session_id: session(1), status: AgentStatus::Crashed { exit_code: 9 } },
    );
    assert_eq!(order(&stage)[0], "alpha");
    stage.took();
    stage.keys("R");
    assert!(matches!(&stage.took()[..], [Effect::Call { request, .. }]
        if matches!(**request, Request::SessionRestart { .. })));
}

#[test]
fn states_have_their_colours_and_no_color_has_none() {
    let mut stage = Stage::new();
    for (instance, state, status) in [
        ("a-question", Attention::Blocked, AgentStatus::Question { prompt: None, since: START }),
        ("b-crashed", Attention::Blocked, AgentStatus::Crashed { exit_code: 1 }),
        ("c-done", Attention::Done, AgentStatus::idle()),
        ("d-busy", Attention::Working, AgentStatus::Busy { since: START }),
        ("e-idle", Attention::Idle, AgentStatus::idle()),
    ] {
        stage.agent(instance, "shop", "claude");
        stage.state(instance, state, status);
    }
    stage.agent("f-new", "shop", "claude");
    stage.keys("end");
    let glyph = |stage: &mut Stage, row: u16| {
        let frame = stage.frame(80, 24);
        let cell = &frame[(1, 3 + row)];
        (cell.symbol().to_owned(), cell.fg, cell.modifier)
    };
    for (row, symbol, color) in [
        (0, "?", Color::Yellow),
        (1, "✗", Color::Red),
        (2, "✓", Color::Cyan),
        (3, "●", Color::Green),
        (4, "○", Color::Indexed(208)),
        (5, "◌", Color::Reset),
    ] {
        let (shown, fg, _) = glyph(&mut stage, row);
        assert_eq!((shown.as_str(), fg), (symbol, color), "{row}");
    }
    stage.model.theme = Theme::new(|name| (name == "TERM").then(|| "xterm".to_owned()));
    let (_, fg, modifier) = glyph(&mut stage, 4);
    assert_eq!((fg, modifier.contains(Modifier::DIM)), (Color::Yellow, true));
    stage.model.theme = Theme::new(|name| (name == "NO_COLOR").then(|| "1".to_owned()));
    let frame = stage.frame(80, 24);
    assert!(frame.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
}

#[test]
fn fifty_clocks_tick_as_one() {
    let mut stage = Stage::new();
    for at in 0..50 {
        stage.agent(&format!("agent-{at}"), "shop", "claude");
        stage.now = stage.now + std::time::Duration::from_millis(37);
    }
    let (end, mut frames) = (stage.now + std::time::Duration::from_secs(300), 0);
    while stage.now < end {
        stage.draw(120, 80);
        let next = stage.model.next_change().unwrap();
        assert!(next > stage.now);
        stage.now = next;
        stage.message(Message::Tick);
        frames += 1;
    }
    assert!(frames <= 62 + 24 + 2, "{frames} frames in five minutes");
}

#[test]
fn nothing_ticks_when_nothing_changes() {
    let mut stage = three();
    stage.later(7_000);
    stage.draw(80, 24);
    let next = stage.model.next_change().unwrap();
    assert!(next.since(stage.now).as_secs() > 60, "the ages of hours change once an hour");
    let mut empty = Stage::new();
    empty.host("local", None);
    empty.draw(80, 24);
    assert_eq!(empty.model.next_change(), None);
}

#[test]
fn what_looks_the_same_is_not_drawn_again() {
    let mut stage = three();
    let resources = |cpu_ms: u64, at: u64, memory: u64| {
        let used = serde_json::json!({"session_id": 1, "cpu_ms": cpu_ms, "memory": memory, "processes": 1});
        Ok(serde_json::json!({"at": at, "sessions": [used]}))
    };
    let mut measured = |answer| {
        let (instance, purpose) = (name("alpha"), Purpose::Resources);
        stage.message(Message::Answer { instance, purpose, answer });
        stage.model.changed
    };
    assert!(measured(resources(0, 1_000, 50 << 20)));
    assert!(measured(resources(10, 2_000, 50 << 20)), "now there is a load");
    assert!(!measured(resources(20, 3_000, (50 << 20) + 5)));
    assert!(measured(resources(530, 4_000, 50 << 20)));
    let branch = |branch: &str| Message::Branch { instance: name("alpha"), branch: Some(branch.to_owned()) };
    stage.message(branch("main"));
    assert!(stage.model.changed);
    stage.message(branch("main"));
    assert!(!stage.model.changed);
    stage.message(Message::Sample);
    assert!(!stage.model.changed);
    stage.busy("alpha");
    assert!(stage.model.changed);
}
