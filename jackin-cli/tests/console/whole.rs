//! The console from its start to its end.

use std::fs;

use crate::operator::{Operator, contains, signal};
use crate::support::eventually;

/// The line of the screen that begins an agent's row.
fn line_of(screen: &str, agent: &str) -> usize {
    screen.lines().position(|line| line.contains(agent)).unwrap_or(usize::MAX)
}

#[test]
fn the_demo_from_the_first_question_to_the_end() {
    let operator = Operator::new();
    let mut terminal = operator.terminal("demo", 40, 120);
    for agent in ["fix-login", "write-docs", "build-release"] {
        terminal.wait_for(agent);
    }
    // The one that asks rises above the one that is done.
    terminal.wait_for("Do you want to run this command?");
    terminal.wait_for("✓ 1 done");
    let screen = terminal.text();
    assert!(line_of(&screen, "write-docs") < line_of(&screen, "fix-login"), "{screen}");

    // Selected, its screen is shown and its question in full.
    terminal.type_in("/write-docs\r");
    terminal.wait_for("── write-docs");
    terminal.wait_for("❯ 1. Yes");

    // Enter attaches: the console is gone and the agent's own screen is there. Detaching comes back.
    terminal.type_in("\r");
    terminal
        .wait_until_text("the console is gone", |text| text.contains("1. Yes") && !text.contains("need you"));
    terminal.type_in("\x02d");
    terminal.wait_for("write-docs: detached");
    terminal.wait_for("── write-docs");
    terminal.wait_for("❯ 1. Yes");

    // A tool runs and shows what it prints; another one asks first.
    terminal.type_in("l");
    terminal.wait_for("the tool ran for jackin-write-docs");
    terminal.wait_for("done after");
    terminal.type_in("\x07");
    terminal.wait_until_text("it is closed", |text| !text.contains("the tool ran"));
    terminal.type_in("n");
    terminal.wait_for("Who?");
    terminal.type_in("$(id) 'you'\r");
    terminal.wait_for("hello $(id) 'you'");
    terminal.type_in("\x07");
    terminal.wait_until_text("it is closed", |text| !text.contains("hello"));

    // A tag is repaired and says who said so; its link opens by the handler, byte for byte.
    let link = "https://github.com/example/shop/pull/77";
    terminal.type_in("ta");
    terminal.wait_for("Which kind");
    terminal.type_in("pr\r");
    terminal.wait_for("The pr of write-docs");
    terminal.type_in(format!("{link}\r"));
    terminal.wait_for(&format!("{link}  operator"));
    terminal.type_in("\x07");
    terminal.wait_until_text("it is closed", |text| !text.contains("Tags of"));
    terminal.type_in("o");
    eventually("the link is opened", || {
        fs::read_to_string(operator.path("opened")).is_ok_and(|text| text == link)
    });
    terminal.wait_for_bytes(format!("\x1b]8;;{link}\x1b\\").as_bytes());

    // The question is answered from the console.
    terminal.type_in("r");
    terminal.wait_for("Answer write-docs");
    terminal.type_in("1\r");
    terminal.wait_for("I wrote docs/routes.md");

    // What crashed is started again.
    terminal.type_in("\x7f/build-release\r");
    terminal.wait_for("── build-release");
    terminal.wait_for("The instance has ended");
    terminal.type_in("R");
    terminal.wait_until_text("it runs again", |text| !text.contains("The instance has ended"));

    // It leaves nothing behind.
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
    let bytes = terminal.bytes();
    assert!(
        contains(&bytes, b"\x1b[?1049l") && contains(&bytes, b"\x1b[?1006l"),
        "the terminal is given back"
    );
    assert!(contains(&bytes, b"\x1b]9;"), "the operator was told");
    terminal.wait_for("nothing is left running");
}

#[test]
fn an_instance_that_hangs_holds_up_nothing() {
    let operator = Operator::new();
    operator.load("well", "echo I am well; exec cat");
    operator.load("hangs", "echo I hang; exec cat");
    let mut terminal = operator.terminal("console", 24, 80);
    terminal.wait_for("well");
    terminal.wait_for("hangs");
    let pid = operator.pid("hangs");
    signal("STOP", &pid);
    terminal.type_in("/hangs\r");
    terminal.wait_for("── hangs");
    // Everything that asks the capsule is begun, and nothing of it is waited for; the terminal is not lent to it either.
    terminal.type_in("\r");
    terminal.wait_for("attaching to hangs");
    terminal.type_in("x\x07d");
    terminal.type_in("?");
    terminal.wait_for("attaches to the selected session");
    terminal.type_in("\x07");
    // It is marked, and found again.
    terminal.wait_for("▌ It does not answer");
    signal("CONT", &pid);
    terminal.wait_until_text("it answers", |text| {
        !text.contains("It does not answer") && text.contains("I hang")
    });
    terminal.type_in("\x7f");
    terminal.wait_for("well");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
}

#[test]
fn a_new_agent_appears_and_is_ejected_and_signals_restore_the_terminal() {
    let operator = Operator::new();
    let mut terminal = operator.terminal("", 24, 80);
    terminal.wait_for("No agents yet");
    terminal.type_in("c");
    terminal.wait_for("New agent");
    terminal.wait_for("the usual one");
    terminal.type_in("\x1b[B\x1b[Bs");
    terminal.wait_for("◂ shell ▸");
    terminal.type_in("\r");
    terminal.wait_for("work was started");
    terminal.wait_for("── work · Shell");
    terminal.resize(15, 60);
    terminal.wait_for("1 agent");
    terminal.type_in("e");
    terminal.wait_for("End work and its session?");
    terminal.type_in("y");
    terminal.wait_for("No agents yet");
    signal("TERM", &terminal.child.id().to_string());
    assert_eq!(terminal.exit_code(), 1);
    assert!(contains(&terminal.bytes(), b"\x1b[?1049l"));
}

#[test]
fn without_a_terminal_it_says_what_to_do_instead() {
    let operator = Operator::new();
    let output = operator.jackin(&["console"]);
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("needs a terminal") && error.contains("jackin ls"), "{error}");
    let bare = operator.jackin(&[]);
    assert_eq!(bare.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&bare.stderr).contains("Usage"));
}

#[test]
fn a_key_wakes_a_console_in_which_nothing_happens() {
    let operator = Operator::new();
    let mut terminal = operator.terminal("console", 24, 80);
    terminal.wait_for("No agents yet");
    // Without agents no clock ticks, and without the focus nothing is asked: only the key itself can wake it.
    terminal.type_in("\x1b[O");
    for _ in 0..5 {
        terminal.type_in("?");
        terminal.wait_for("attaches to the selected session");
        terminal.type_in("\x07");
        terminal.wait_for("No agents yet");
    }
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
}

#[test]
fn a_mistake_in_the_configuration_hides_no_agent() {
    let operator = Operator::new();
    operator.load("one", "cat");
    operator.configure("[defaults]\nagent = 7\n");
    let mut terminal = operator.terminal("console", 40, 120);
    terminal.wait_for("the configuration has mistakes: see `jackin config check`");
    terminal.wait_for("── one");
    terminal.type_in("c");
    terminal.wait_for("New agent");
    terminal.type_in("\r");
    terminal.wait_for("open the console again");
    terminal.type_in("\x07");
    terminal.wait_until_text("it is closed", |text| !text.contains("New agent"));
    terminal.type_in("e");
    terminal.wait_for("End one and its session?");
    terminal.type_in("y");
    terminal.wait_for("No agents yet");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
}
