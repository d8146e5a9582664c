//! A recorded session of Claude Code, frame by frame: no wrong question and no wrong idle while the agent works.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "the corpus is read in place")]

use std::num::NonZero;

use jackin_core::{AgentStatus, Timestamp};
use jackin_status::{Authority, Evidence, RuleSet, Screen, ScreenSays, Verdict};
use serde::Deserialize;

const CAST: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus/casts/01-claude-code-v2.1.49-agentapi.cast");

/// When the agent works, in seconds, read off the recording: from the first spinner (a prompt was given on the command
/// line, or the operator pressed Enter) to the title that follows when the spinner is gone.
const WORKS: [(f64, f64); 2] = [(0.554, 4.568_3), (14.355, 16.466)];

#[derive(Deserialize)]
struct Event(f64, String, String);

#[derive(Default)]
struct Title(String);

impl vt100::Callbacks for Title {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.0 = String::from_utf8_lossy(title).into_owned();
    }
}

/// Calls `each` with every event: its time, whether it is the operator's input, and the screen after it. As in a real
/// pane, nobody looks in the middle of a synchronized update.
fn play(mut each: impl FnMut(f64, bool, Option<Screen>)) -> bool {
    let Ok(cast) = std::fs::read_to_string(CAST) else {
        println!("skipped: corpus missing");
        return false;
    };
    let mut lines = cast.lines();
    let header: serde_json::Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    let size = |key: &str| NonZero::new(header[key].as_u64().unwrap() as u16).unwrap();
    let mut parser = vt100::Parser::new_with_callbacks(size("height"), size("width"), 0, Title::default());
    let mut updating = false;
    for line in lines {
        let Event(at, kind, data) = serde_json::from_str(line).unwrap();
        if kind == "i" {
            each(at, true, None);
            continue;
        }
        parser.process(data.as_bytes());
        updating = match (data.rfind("\x1b[?2026h"), data.rfind("\x1b[?2026l")) {
            (Some(begin), end) => end.is_none_or(|end| end < begin),
            (None, Some(_)) => false,
            (None, None) => updating,
        };
        let rows = parser.screen().rows(0, size("width").get()).collect();
        let title = parser.callbacks().0.clone();
        each(at, false, (!updating).then_some(Screen { rows, title, ..Screen::default() }));
    }
    true
}

fn works(at: f64) -> bool {
    WORKS.iter().any(|(from, to)| (*from..*to).contains(&at))
}

#[test]
fn every_frame_gets_the_right_verdict() {
    let rules = RuleSet::builtin();
    let mut looks = 0;
    let played = play(|at, _, screen| {
        let Some(screen) = screen else { return };
        looks += 1;
        let verdict = rules.verdict("claude", &screen).unwrap_or_else(|| panic!("{at}: no rule matched"));
        let expected = if works(at) { ScreenSays::Busy } else { ScreenSays::Idle };
        assert_eq!(verdict.says, expected, "{at}: {verdict}\n{}", screen.rows.join("\n").trim_end());
    });
    assert!(!played || looks > 90);
}

#[test]
fn the_timeline_of_the_authority() {
    let rules = RuleSet::builtin();
    let at = |seconds: f64| Timestamp::from_millis((seconds * 1_000.0) as u64);
    let mut authority = Authority::for_agent(at(0.0));
    let mut told = Vec::new();
    let mut tell = |verdict: &Verdict| {
        if verdict.changed {
            let seconds = verdict.at.as_millis() as f64 / 1_000.0;
            match &verdict.status {
                AgentStatus::Busy { .. } => {}
                AgentStatus::Idle { .. } => assert!(!works(seconds), "idle at {seconds}"),
                other => panic!("{other} at {seconds}"),
            }
            told.push((verdict.status.word(), seconds));
        }
    };
    let played = play(|seconds, input, screen| {
        let now = at(seconds);
        // What time alone changes before the event.
        let mut verdict = authority.look(authority.now());
        while let Some(deadline) = verdict.look_again.filter(|deadline| *deadline <= now) {
            verdict = authority.look(deadline);
            tell(&verdict);
        }
        if input {
            tell(&authority.observe(Evidence::Input, now));
            return;
        }
        let look = screen.map(|screen| Evidence::Screen(rules.look("claude", &screen)));
        let evidence = [Evidence::Output].into_iter().chain(look);
        tell(&authority.observe_all(evidence, now, now));
    });
    if !played {
        return;
    }
    tell(&authority.look(at(60.0)));
    // The second idle is the same one, looked at: the operator typed.
    let expected = [("busy", 0.55), ("idle", 4.57), ("idle", 12.18), ("busy", 14.36), ("idle", 16.47)];
    assert_eq!(told.len(), expected.len(), "{told:?}");
    for ((word, seconds), (expected, near)) in told.iter().zip(expected) {
        assert_eq!(*word, expected, "{told:?}");
        assert!((seconds - near).abs() < 0.25, "{told:?}");
    }
}
