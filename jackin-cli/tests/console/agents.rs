//! What is done with agents.

use std::fs;

use crate::operator::Operator;

#[test]
fn a_pane_is_split_and_what_was_started_is_selected() {
    let operator = Operator::new();
    operator.agent("one");
    let mut terminal = operator.terminal("console", 24, 80);
    terminal.wait_for("ready");
    terminal.type_in("|");
    terminal.wait_for("a shell started beside it");
    terminal.wait_for("── one·2 ");
    terminal.type_in("-");
    terminal.wait_for("── one·3 ");
    terminal.wait_for("3 agents");
    // Both are beside it in the same tab.
    terminal.type_in("\r");
    terminal.wait_until_text("the panes", |text| {
        text.contains('│') && text.contains('─') && text.contains("ready")
    });
    terminal.type_in("\x02d");
    terminal.wait_for("one: detached");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
}

#[test]
fn a_pane_is_split_for_an_agent_whose_name_for_people_is_another() {
    let operator = Operator::new();
    operator.configure(
        "[agents.robot]\ncommand = [\"sh\", \"-c\", \"echo ready; read -r x\"]\ndisplay = \"My Robot\"\n",
    );
    assert!(operator.jackin(&["load", "--detach", "--name", "one", "--agent", "robot"]).status.success());
    let mut terminal = operator.terminal("console", 24, 80);
    terminal.wait_for("ready");
    terminal.type_in("|");
    terminal.wait_for("My Robot started beside it");
    terminal.wait_for("── one·2 ");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
}

#[test]
fn a_recording_outlives_its_instance() {
    let operator = Operator::new();
    operator.agent("one");
    let mut terminal = operator.terminal("console", 24, 80);
    terminal.wait_for("ready");
    terminal.type_in("w");
    terminal.wait_for("● rec");
    operator.says("one", "heard by the recorder");
    terminal.wait_for("heard by the recorder");
    terminal.type_in("w");
    terminal.wait_for("recorded:");
    terminal.wait_until_text("it is over", |text| !text.contains("● rec"));
    terminal.type_in("E");
    terminal.wait_for("End every instance");
    terminal.type_in("\r");
    terminal.wait_until_text("it is not done", |text| !text.contains("End every") && text.contains("one"));
    terminal.type_in("Ey");
    terminal.wait_for("No agents yet");
    terminal.wait_for("1 ejected");
    let recordings = fs::read_dir(operator.path("home/recordings/one")).unwrap();
    let texts: Vec<String> =
        recordings.map(|recording| fs::read_to_string(recording.unwrap().path()).unwrap()).collect();
    assert!(texts.len() == 1 && texts[0].contains("heard by the recorder"), "{texts:?}");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
}

#[test]
fn a_result_is_marked_as_seen_and_a_crash_is_cleared_or_started_again() {
    let operator = Operator::new();
    operator.agent("one");
    let mut terminal = operator.terminal("console", 24, 80);
    operator.works("one");
    terminal.wait_for("● 1 working");
    operator.finishes("one");
    terminal.wait_for("✓ 1 done");
    terminal.type_in(" ");
    terminal.wait_for("○ 1 idle");
    terminal.wait_for("one was marked as seen");

    // A second session keeps the instance alive while the first one crashes.
    terminal.type_in("-");
    terminal.wait_for("── one·2 ");
    operator.tells_session("one", 1, "say the last words");
    operator.tells_session("one", 1, "crash");
    terminal.wait_for("✗ 1 crashed");
    terminal.type_in("]");
    terminal.wait_for("It crashed (exit code 7). R starts it again, Space clears it.");
    terminal.wait_for("the last words");
    terminal.type_in("R");
    terminal.wait_for("── one·3 ");
    terminal.wait_until_text("it runs", |text| !text.contains("crashed (exit") && text.contains("ready"));
    operator.tells_session("one", 3, "crash");
    terminal.wait_for("It crashed (exit code 7)");
    terminal.type_in(" ");
    terminal
        .wait_until_text("it is gone", |text| !text.contains("crashed (exit") && text.contains("1 agent"));

    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
}
