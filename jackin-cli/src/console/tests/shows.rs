//! Every scene at every size, as a snapshot.

use jackin_core::protocol::control::{Checks, Provider, PullRequest};
use jackin_core::{AgentStatus, Attention, TagKind};

use super::stage::{Stage, info, name, tag};
use crate::console::update::Message;
use crate::host::{Ending, FleetEvent};

const TOOLS: &str = r#"
[[tool]]
key = "l"
name = "Run lint"
exec = "cargo clippy"

[[tool]]
key = "i"
name = "Open emitted issue"
exec = "open {issue}"

[[tool]]
key = "n"
name = "Note for ops log"
type = "prompt"
prompt = "What happened?"
exec = "echo {input} >> ~/jackin-ops.log"

[[tool]]
key = "b"
name = "For others"
exec = "true"
scope = "somebody-else"
"#;

const SCREEN: [&str; 7] = [
    "\x1b[1;35m✻ agent\x1b[0m  \x1b[2mthinking about it\x1b[0m",
    "",
    "● Reading tests/login.rs",
    "● Editing src/session.rs",
    "",
    "\x1b[1;33mRun the test suite?\x1b[0m",
    "❯ 1. Yes   2. No",
];

/// Three agents in two workspaces, one of which asks.
fn usual(config: &str) -> Stage {
    let mut stage = Stage::with(config);
    stage.agent("fix-login", "shop", "claude");
    stage.agent("write-docs", "shop", "codex");
    stage.agent("tune", "engine", "gemini");
    stage.busy("fix-login");
    stage.busy("tune");
    stage.declares("fix-login", TagKind::Issue, "https://github.com/example/shop/issues/41");
    stage.declares("fix-login", TagKind::Pr, "https://github.com/example/shop/pull/42");
    stage.declares("fix-login", TagKind::Status, "fixing the flaky login test");
    stage.used("fix-login", 12_300, 1.234);
    let pull = PullRequest {
        number: 42,
        checks: Some(Checks { passed: 3, failed: 1, pending: 0 }),
        ..PullRequest::default()
    };
    let url = "https://github.com/example/shop/pull/42".to_owned();
    stage.message(Message::PullRequest { url, found: Some(pull) });
    stage.later(200);
    stage.asks(
        "fix-login",
        "Run the test suite? It takes about ten minutes, writes to target/ and talks to the staging database at \
         db.example.com, which others use as well.",
    );
    stage.done("write-docs");
    stage.later(65);
    stage.keys("[");
    stage.keys("[");
    stage
}

fn blocked() -> Stage {
    let mut stage = usual(TOOLS);
    while stage.model.key().unwrap().instance != name("fix-login") {
        stage.keys("]");
    }
    stage.screen(&SCREEN);
    stage
}

#[test]
fn empty() {
    let mut stage = Stage::new();
    stage.host("local", None);
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn one() {
    let mut stage = Stage::new();
    stage.agent("api-fix", "api", "claude");
    stage.busy("api-fix");
    stage.later(7);
    stage.screen(&SCREEN);
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn fifty_instances() {
    let mut stage = Stage::with(TOOLS);
    for at in 0..50 {
        let (instance, workspace) = (format!("agent-{at:02}"), format!("workspace-{}", at % 7));
        stage.agent(&instance, &workspace, ["claude", "codex", "amp"][at % 3]);
        stage.later(3);
        match at % 6 {
            0 => stage.asks(&instance, "May I?"),
            1 | 2 => stage.busy(&instance),
            3 => stage.done(&instance),
            4 => stage.state(&instance, Attention::Idle, AgentStatus::idle()),
            _ => {}
        }
        stage.used(&instance, at as u64 * 1_234, at as f64 * 0.17);
    }
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn blocked_with_question() {
    insta::assert_snapshot!(blocked().draw_all());
}

#[test]
fn crashed() {
    let mut stage = usual(TOOLS);
    stage.agent("release", "shop", "claude");
    stage.state("release", Attention::Blocked, AgentStatus::Crashed { exit_code: 101 });
    let ending = Box::new(Ending { exit_code: None, oom: true, record: None });
    stage.fleet(FleetEvent::Ended { instance: name("tune"), ending });
    stage.later(30);
    while stage.model.key().is_none_or(|key| key.instance != name("release")) {
        stage.keys("]");
    }
    stage.screen(&["thread 'main' panicked: out of file descriptors"]);
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn output_modal() {
    let mut stage = blocked();
    stage.keys("l");
    for line in 0..60 {
        stage.message(Message::Printed { run: 1, line: format!("\x1b[33mwarning\x1b[0m: line {line}") });
    }
    stage.message(Message::Ended {
        run: 1,
        well: false,
        how: "failed with exit code 101 after 2.0 s".to_owned(),
    });
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn tool_prompt() {
    let mut stage = blocked();
    stage.keys("n");
    stage.types("the login works");
    stage.later(13);
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn answer() {
    let mut stage = blocked();
    stage.keys("r 1");
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn picker() {
    let config = "[workspaces.shop]\nworkdir = '/src/shop'\n[roles.the-architect]\n";
    let mut stage = usual(config);
    stage.keys("c down right");
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn help() {
    let mut stage = blocked();
    stage.keys("?");
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn palette() {
    let mut stage = blocked();
    stage.keys(":");
    stage.types("open");
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn filter() {
    let mut stage = usual("");
    stage.keys("/");
    stage.types("engine");
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn unreachable_host() {
    let mut stage = usual("");
    stage.host("builder", Some("it does not answer within 2 s"));
    stage.fleet(FleetEvent::Silent {
        instance: name("tune"),
        why: "it does not answer within 2 s".to_owned(),
    });
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn tags_dialog() {
    let mut stage = usual("");
    let working = info(1, "claude", AgentStatus::Busy { since: stage.now }, Attention::Working, stage.now);
    let tags = vec![
        tag(TagKind::Repo, "https://github.com/example/engine", Provider::Agent),
        tag(TagKind::Pr, "https://github.com/example/engine/pull/7", Provider::Operator),
    ];
    stage.snapshot("tune", vec![working], tags);
    while stage.model.key().is_none_or(|key| key.instance != name("tune")) {
        stage.keys("down");
    }
    stage.keys("t down");
    insta::assert_snapshot!(stage.draw_all());
}

#[test]
fn every_size_can_be_drawn() {
    let mut stage = blocked();
    for open in ["", "?", "esc n", "esc r", "esc c", "esc :", "esc t", "esc l", "esc x", "esc e"] {
        stage.keys(open);
        for columns in [1, 2, 3, 5, 9, 17, 31, 59, 149, 150, 300] {
            for rows in [1, 2, 3, 4, 5, 8, 13, 100] {
                stage.draw(columns, rows);
            }
        }
    }
}
