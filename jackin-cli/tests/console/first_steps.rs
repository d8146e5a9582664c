//! The newcomer's script, `docs/first-steps.md`, key by key.

use std::fs;
use std::path::Path;

use crate::operator::Operator;
use crate::support::{JACKIN, eventually};

const PAGE: &str = include_str!("../../../docs/first-steps.md");

/// What the page writes into a file, up to this word.
fn written(end: &str) -> String {
    let (_, after) = PAGE.split_once(&format!("<<'{end}'\n")).unwrap();
    let (text, _) = after.split_once(&format!("> {end}\n")).unwrap();
    let lines = text.lines().map(|line| line.trim_start_matches('>').trim_start());
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn an_agent_of_ones_own_from_its_question_to_its_pull_request() {
    let operator = Operator::new();
    operator.configure(&written("CONFIG"));
    fs::create_dir(operator.path("work/shop")).unwrap();
    fs::write(operator.path("work/shop/robot.sh"), written("ROBOT")).unwrap();
    let programs = Path::new(JACKIN).parent().unwrap().display().to_string();
    let mut terminal = operator.terminal_with(&format!("PATH='{programs}':$PATH"), "", 24, 80);
    terminal.wait_for("No agents yet");
    terminal.type_in("c");
    terminal.wait_for("New agent");
    terminal.type_in("\x15shop\x1b[B\x1b[Br");
    terminal.wait_for("◂ robot ▸");
    terminal.type_in("\r");
    terminal.wait_for("▌ Push the branch?");
    terminal.type_in("r");
    terminal.wait_for("Answer shop");
    terminal.type_in("yes\r");
    terminal.wait_for("✓ 1 done");
    terminal.wait_for("#7");
    let link = "https://github.com/acme/shop/pull/7";
    terminal.type_in("v");
    terminal.wait_for("Show the pull request · done");
    terminal.wait_for(&format!("│ {link}"));
    terminal.type_in("\x07");
    terminal.wait_until_text("it is closed", |text| !text.contains('╭'));
    terminal.type_in("o");
    eventually("the browser opens it", || {
        fs::read_to_string(operator.path("opened")).is_ok_and(|text| text == link)
    });
    terminal.type_in(" ");
    terminal.wait_for("○ 1 idle");
    terminal.type_in("e");
    terminal.wait_for("End shop and its session?");
    terminal.type_in("y");
    terminal.wait_for("No agents yet");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
}
