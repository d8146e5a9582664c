//! What it looks like, at four sizes.

use std::fmt::Write;

use jackin_core::{AgentStatus, Attention, Size, Timestamp};

use super::Place;
use super::stage::Stage;
use crate::input::{Context, Input};
use crate::settings::{Agent, Settings};

const SIZES: [(u16, u16); 4] = [(24, 80), (50, 200), (10, 40), (5, 20)];

fn settings() -> Settings {
    let agents = [("claude", "Claude"), ("codex", "Codex")];
    let agents = agents.map(|(id, display)| Agent { id: id.into(), display: display.into() });
    Settings { agents: agents.to_vec(), ..Settings::default() }
}

/// Several tabs and panes with states, and a context row.
fn busy(size: Size) -> Stage {
    let mut stage = Stage::new(size, settings());
    let first = stage.focused();
    let at = stage.at();
    stage.mux.open(Place::Right(first), "Codex", true, at);
    stage.mux.open(Place::Tab, "Claude", false, at);
    stage.mux.open(Place::Tab, "A tab with quite a long label, longer than anyone needs", false, at);
    let since = Timestamp::default();
    for (at, pane) in stage.mux.panes().collect::<Vec<_>>().into_iter().enumerate() {
        let (status, attention) = match at {
            0 => (AgentStatus::Busy { since }, Attention::Working),
            1 => (AgentStatus::idle(), Attention::Done),
            2 => (AgentStatus::Question { prompt: None, since }, Attention::Blocked),
            _ => (AgentStatus::Unknown, Attention::Unknown),
        };
        stage.input(Input::Status { pane, status: &status, attention });
        stage.print_in(pane, &format!("\x1b]2;title {at}\x07$ echo pane {at}\r\npane {at} 日本語\r\n$ "));
    }
    let context = Context {
        workspace: Some("web".into()),
        branch: Some("feature/login".into()),
        pull_request: Some("#12 checks pass".into()),
        instance: Some("api-fix".into()),
        usage: Some("Codex 12%".into()),
        ..Context::default()
    };
    stage.input(Input::Context(&context));
    stage
}

/// One text with the scene at every size; a scene is the keys that lead to it.
fn at_every_size(make: impl Fn(Size) -> Stage, keys: &str) -> String {
    let mut text = String::new();
    for (rows, cols) in SIZES {
        let mut stage = make(Size::new(rows, cols));
        stage.types(keys);
        stage.draw();
        stage.check();
        let _ = writeln!(text, "{cols}x{rows}");
        for line in stage.shown().lines() {
            let _ = writeln!(text, "|{line}");
        }
        // How it looks is the same at every size; one tells it.
        if (rows, cols) == (10, 40) {
            let _ = write!(text, "{cols}x{rows}, looks\n{}", stage.terminal.looks());
        }
    }
    text
}

#[test]
fn bar_borders_and_context() {
    insta::assert_snapshot!(at_every_size(busy, ""));
}

#[test]
fn zoomed() {
    insta::assert_snapshot!(at_every_size(busy, "\x02z"));
}

#[test]
fn palette() {
    insta::assert_snapshot!(at_every_size(busy, "\x02 ta"));
}

#[test]
fn picker() {
    insta::assert_snapshot!(at_every_size(busy, "\x02c"));
}

#[test]
fn tab_list() {
    insta::assert_snapshot!(at_every_size(busy, "\x02w"));
}

#[test]
fn rename() {
    insta::assert_snapshot!(at_every_size(busy, "\x02,"));
}

#[test]
fn confirm() {
    insta::assert_snapshot!(at_every_size(busy, "\x02x"));
}

#[test]
fn help() {
    insta::assert_snapshot!(at_every_size(busy, "\x02?"));
}

#[test]
fn usage_and_details() {
    insta::assert_snapshot!(at_every_size(busy, "\x02u"));
    insta::assert_snapshot!(at_every_size(busy, "\x02i"));
}

#[test]
fn copy_mode() {
    let long = |size| {
        let mut stage = busy(size);
        stage.print(&crate::copy::numbered_lines(100));
        stage
    };
    insta::assert_snapshot!(at_every_size(long, "\x02["));
    insta::assert_snapshot!(at_every_size(long, "\x02[kkv0k"));
    insta::assert_snapshot!(at_every_size(long, "\x02[?line 7"));
}

#[test]
fn empty() {
    let make = |size| Stage::empty(size, Settings::default());
    let attached = |size| {
        let mut stage = make(size);
        stage.attach(crate::Client::modern(size));
        stage
    };
    insta::assert_snapshot!(at_every_size(attached, ""));
    let with_agents = |size| {
        let mut stage = Stage::empty(size, settings());
        stage.attach(crate::Client::modern(size));
        stage
    };
    insta::assert_snapshot!(at_every_size(with_agents, ""));
}
