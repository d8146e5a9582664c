//! Everything that can be pressed can be clicked.

use std::fs;

use serde_json::json;

use crate::operator::Operator;
use crate::support::{Terminal, eventually};

/// Clicks on the end of the first of these words on the screen.
fn click(terminal: &Terminal, words: &str) {
    terminal.wait_for(words);
    let text = terminal.text();
    let (row, line) = text.lines().enumerate().find(|(_, line)| line.contains(words)).unwrap();
    let column = line[..line.find(words).unwrap()].chars().count() + words.chars().count();
    press(terminal, row + 1, column);
}

/// Presses and releases the left button.
fn press(terminal: &Terminal, row: usize, column: usize) {
    terminal.type_in(format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
}

fn closed(terminal: &Terminal) {
    terminal.wait_until_text("it is closed", |text| !text.contains('╭'));
}

#[test]
fn the_mouse_does_what_the_keys_do() {
    let operator = Operator::new();
    operator.agent("one");
    operator.agent("two");
    let link = "https://x.example/a/b/pull/7";
    let chunk = format!("<jackin:pr>{link}</jackin:pr>");
    operator
        .reports("one", &json!({"event": "assistant-text", "message_id": "m", "chunk": chunk, "end": true}));
    let mut terminal = operator.terminal("console", 24, 80);
    terminal.wait_for("#7");
    terminal.wait_for("two");

    // A click selects, a second one attaches.
    click(&terminal, " two");
    terminal.wait_for("── two ");
    click(&terminal, " one");
    terminal.wait_for("── one ");
    click(&terminal, "#7");
    eventually("the link is opened", || {
        fs::read_to_string(operator.path("opened")).is_ok_and(|text| text == link)
    });
    terminal.wait_for("opening");
    click(&terminal, "ready");
    click(&terminal, "ready");
    terminal.wait_until_text("it is attached", |text| text.contains("ready") && !text.contains("2 agents"));
    terminal.type_in("\x02d");
    terminal.wait_for("one: detached");

    // The bar: a key, a tool.
    terminal.type_in("\x1b");
    click(&terminal, "? help");
    terminal.wait_for("attaches to the selected session");
    terminal.wait_for("1–22 of");
    terminal.type_in("\x1b[<65;40;12M");
    terminal.wait_for("4–25 of");
    terminal.type_in("\x1b[<64;40;12M");
    terminal.wait_for("1–22 of");
    click(&terminal, "Esc closes");
    closed(&terminal);
    click(&terminal, "Say so");
    terminal.wait_for("the tool ran for jackin-one");
    terminal.wait_for("done after");
    press(&terminal, 1, 1);
    closed(&terminal);

    // Lists, forms and questions.
    terminal.type_in(":");
    terminal.wait_for("Commands");
    terminal.type_in("repairs");
    terminal.wait_for("> repairs");
    click(&terminal, "Repairs the agent's tags");
    click(&terminal, "a adds");
    click(&terminal, "│ issue");
    terminal.wait_for("The issue of one");
    terminal.type_in("https://x.example/a/b/issues/8");
    // What was typed is not lost by a click beside it.
    press(&terminal, 1, 1);
    click(&terminal, "Enter sets it");
    terminal.wait_for("https://x.example/a/b/issues/8  operator");
    click(&terminal, "Esc closes");
    closed(&terminal);
    terminal.type_in("c");
    click(&terminal, "agent     the usual one");
    terminal.wait_for("◂ the usual one");
    click(&terminal, "the usual one ▸");
    terminal.wait_until_text("the next choice", |text| !text.contains("the usual one ▸"));
    click(&terminal, "Esc closes");
    closed(&terminal);

    // Nothing is ended by a click that was not meant.
    terminal.type_in("e");
    click(&terminal, "n no");
    closed(&terminal);
    terminal.type_in("e");
    click(&terminal, "y yes");
    terminal.wait_for("1 agent ");

    // A group closes and opens.
    click(&terminal, "▾ work");
    click(&terminal, "▾ work");
    terminal.wait_for("▸ work");
    click(&terminal, "▸ work");
    terminal.wait_for("▾ work");
    terminal.type_in("\x1b");
    click(&terminal, "q quit");
    assert_eq!(terminal.exit_code(), 0);
}
