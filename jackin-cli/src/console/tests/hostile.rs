//! An agent that writes escape sequences wherever it can.

use jackin_core::{AgentStatus, Attention, Cause, EventKind, Source, TagKind};
use ratatui::backend::Backend;
use ratatui::buffer::Buffer;
use ratatui::style::Modifier;

use super::stage::{SIZES, Stage, name, session};
use crate::console::terminal::Screen;
use crate::console::update::{Message, Purpose};
use crate::console::view;

/// Twenty ways to drive a terminal.
fn hostile() -> Vec<String> {
    let texts: Vec<String> =
        serde_json::from_str(include_str!("../../../tests/support/hostile.json")).unwrap();
    assert_eq!(texts.len(), 20);
    texts
}

/// A console in which everything that an agent can say is one of the strings.
fn stage(text: &str) -> Stage {
    let mut stage = Stage::new();
    stage.agent("alpha", "shop", "claude");
    stage.event("alpha", EventKind::TitleChanged { session_id: session(1), title: text.to_owned() });
    for kind in [TagKind::Repo, TagKind::Issue, TagKind::Pr, TagKind::Link, TagKind::Status] {
        stage.declares("alpha", kind.clone(), text);
        stage.declares("alpha", kind, &format!("https://x.example/{text}"));
    }
    stage.event("alpha", EventKind::RecordingStarted { session_id: session(1), path: text.to_owned() });
    let cause = Cause::new(Source::Hook, text, stage.now);
    let status = AgentStatus::Question { prompt: Some(text.to_owned()), since: stage.now };
    stage.event(
        "alpha",
        EventKind::AgentStateChanged { session_id: session(1), state: Attention::Blocked, status, cause },
    );
    stage.screen(&[text, "plain", text]);
    stage.message(Message::Branch { instance: name("alpha"), branch: Some(text.to_owned()) });
    stage.host("far", Some(text));
    stage
}

/// What a terminal is sent for a frame.
fn bytes(stage: &mut Stage, columns: u16, rows: u16) -> Vec<u8> {
    let frame = stage.frame(columns, rows);
    let mut bytes = Vec::new();
    let links = std::rc::Rc::new(std::cell::RefCell::new(stage.model.scene.links.clone()));
    let mut screen = Screen::new(&mut bytes, links);
    screen.draw(Buffer::empty(frame.area).diff(&frame).into_iter()).unwrap();
    drop(screen);
    bytes
}

/// Every sequence in a frame is one that the console writes itself: SGR, cursor positions, and links that were meant.
fn assert_harmless(bytes: &[u8], what: &str) {
    let text = std::str::from_utf8(bytes).expect("a frame is UTF-8");
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_control()) {
        let here = &rest[at..];
        let sgr_or_move = here.strip_prefix("\x1b[").and_then(|after| {
            let end = after.find(|c: char| !matches!(c, '0'..=';'))?;
            matches!(after.as_bytes()[end], b'm' | b'H').then(|| &after[end + 1..])
        });
        let link = here.strip_prefix("\x1b]8;;").and_then(|after| {
            let (url, after) = after.split_once("\x1b\\")?;
            (url.is_empty() || url.starts_with("https://x.example/")).then_some(after)
        });
        rest = sgr_or_move.or(link).unwrap_or_else(|| {
            panic!("{what:?} got through: {:?}", here.chars().take(40).collect::<String>())
        });
    }
}

#[test]
fn no_text_of_an_agent_drives_the_operators_terminal() {
    for text in &hostile() {
        let mut stage = stage(text);
        for open in ["", "r", "esc t", "esc x", "esc y", "esc o", "esc :", "esc s", "esc tab"] {
            stage.keys(open);
            if open == "esc x" {
                let explanation = serde_json::json!({
                    "status": {"kind": "question", "prompt": text, "since": 1},
                    "cause": {"source": "hook", "evidence": text, "at": 1},
                    "considered": [{
                        "status": {"kind": "idle", "error": text},
                        "cause": {"source": "screen", "evidence": text, "at": 1},
                        "because": text,
                    }],
                    "diagnosis": text,
                });
                let of = stage.model.key().unwrap().clone();
                let purpose = Purpose::Explain(of);
                stage.message(Message::Answer { instance: name("alpha"), purpose, answer: Ok(explanation) });
            }
            for (columns, rows) in SIZES {
                assert_harmless(&bytes(&mut stage, columns, rows), text);
            }
        }
    }
}

#[test]
fn what_a_tool_prints_does_not_either() {
    for text in &hostile() {
        let mut stage = Stage::with("[[tool]]\nkey = 'l'\nname = 'Lint'\nexec = 'true'\n");
        stage.agent("alpha", "shop", "claude");
        stage.keys("l");
        stage.message(Message::Printed { run: 1, line: text.to_owned() });
        stage.message(Message::Ended { run: 1, well: false, how: text.to_owned() });
        assert_harmless(&bytes(&mut stage, 80, 24), text);
    }
}

#[test]
fn an_emulator_shows_what_the_frame_says() {
    for text in &hostile() {
        let mut stage = stage(text);
        for (columns, rows) in SIZES {
            let frame = super::stage::text_of(&stage.frame(columns, rows));
            let mut emulator = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
            emulator.process(&bytes(&mut stage, columns, rows));
            let shown = emulator.screen().contents();
            let trimmed =
                |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
            assert_eq!(trimmed(&shown), trimmed(frame.trim_end()), "{text:?} at {columns}x{rows}");
        }
    }
}

#[test]
fn an_agents_screen_keeps_its_attributes_and_stays_in_its_place() {
    let mut stage = Stage::new();
    stage.agent("alpha", "shop", "claude");
    stage.screen(&["\x1b[1;32mgreen\x1b[0m and \x1b[7mreversed\x1b[0m"]);
    let frame = stage.frame(80, 24);
    let text = super::stage::text_of(&frame);
    let row = text.lines().position(|line| line.starts_with("green and reversed")).unwrap() as u16;
    assert_eq!(frame[(0, row)].fg, ratatui::style::Color::Indexed(2));
    assert!(frame[(0, row)].modifier.contains(Modifier::BOLD));
    assert!(frame[(10, row)].modifier.contains(Modifier::REVERSED));
    let plain = view::plain("\x1b[1;32mgreen\x1b[0m");
    assert_eq!(plain, "green");
}
