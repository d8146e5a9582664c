//! What the operator is told, and when not.

use std::fs;

use crate::operator::Operator;
use crate::support::eventually;

/// A question that tries to be something else.
const HOSTILE: &str = "--icon=/etc/passwd <a href='x'>\u{1b}]0;owned\u{7}\u{9c};`id` $(id)?";

#[test]
fn a_desktop_program_gets_title_and_text_and_nothing_else() {
    let operator = Operator::new();
    let told = operator.path("told");
    let program = operator.program(
        "notify-send",
        &format!("for word in \"$@\"; do printf '[%s]' \"$word\"; done >> '{}'", told.display()),
    );
    let config = format!(
        "\n[notify]\nbell = false\nosc = 'none'\ndesktop = ['{}', '-a', 'jackin']\n",
        program.display()
    );
    operator.configure(&config);
    operator.agent("seen");
    operator.agent("other");
    let mut terminal = operator.terminal("console", 24, 80);
    terminal.wait_for("2 agents");
    terminal.type_in("/seen\r");
    terminal.wait_for("── seen ");
    // What is on the screen needs no notification.
    operator.asks("seen", "Do you see me?");
    terminal.wait_for("▌ Do you see me?");
    operator.asks("other", HOSTILE);
    eventually("the program is called", || fs::read_to_string(&told).is_ok_and(|text| text.ends_with(']')));
    let expected = "[-a][jackin][other needs you][ --icon=/etc/passwd ‹a href='x'› ]0;owned ;`id` $(id)?]";
    assert_eq!(fs::read_to_string(&told).unwrap(), expected);

    // One that cannot be called is told once and holds up nothing.
    fs::remove_file(&program).unwrap();
    operator.finishes("other");
    terminal.wait_for("cannot notify with");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
    assert!(!terminal.bytes().contains(&7), "no bell");
}

#[test]
fn terminals_are_told_by_their_own_sequences() {
    let operator = Operator::new();
    operator.agent("one");
    operator.agent("two");
    for (osc, sequence) in [
        ("9", "\x1b]9;two needs you: May I, or not?\x1b\\\x07"),
        ("777", "\x1b]777;notify;two needs you;May I, or not?\x1b\\\x07"),
        (
            "99",
            "\x1b]99;i=jackin:d=0;two needs you\x1b\\\x1b]99;i=jackin:d=1:p=body;May I, or not?\x1b\\\x07",
        ),
    ] {
        operator.configure(&format!("[notify]\nosc = '{osc}'\n"));
        operator.works("two");
        let mut terminal = operator.terminal_with("TMUX=", "console", 24, 80);
        terminal.wait_for("● 1 working");
        terminal.type_in("/one\r");
        terminal.wait_for("── one ");
        operator.asks("two", "May I; or not?");
        terminal.wait_for_bytes(sequence.as_bytes());
        terminal.type_in("q");
        assert_eq!(terminal.exit_code(), 0);
    }
    // Through tmux, which would keep it for itself.
    operator.works("two");
    let terminal = operator.terminal_with("TMUX=/somewhere", "console", 24, 80);
    terminal.wait_for("● 1 working");
    terminal.type_in("/one\r");
    terminal.wait_for("── one ");
    operator.asks("two", "May I?");
    terminal.wait_for_bytes(b"\x1bPtmux;\x1b\x1b]99;i=jackin:d=0;two needs you\x1b\x1b\\");
}

#[test]
fn nobody_is_told_in_quiet_time_or_of_what_is_muted() {
    let operator = Operator::new();
    let (told, clock, asked) = (operator.path("told"), operator.path("clock"), operator.path("asked"));
    let program = operator.program("tell", &format!("printf '%s\\n' \"$1\" >> '{}'", told.display()));
    operator.program("date", &format!("cat '{}'; echo >> '{}'", clock.display(), asked.display()));
    operator.configure(&format!(
        "[notify]\nbell = false\ndesktop = ['{}']\nquiet = '22:00-07:30'\nmute = ['muted']\n",
        program.display()
    ));
    for name in ["asks", "muted", "later", "mute-me", "zz-seen"] {
        operator.agent(name);
        operator.works(name);
    }
    fs::write(&clock, "23:15\n").unwrap();
    let variables = format!("PATH='{}':$PATH", operator.path("").display());
    let mut terminal = operator.terminal_with(&variables, "console", 30, 80);
    terminal.wait_for("● 5 working");
    terminal.type_in("/mute-me\r");
    terminal.wait_for("── mute-me ");
    terminal.type_in("m");
    terminal.wait_for("mute-me is muted");
    terminal.type_in("\x7f/zz-seen\r");
    terminal.wait_for("── zz-seen ");

    operator.asks("asks", "in the night?");
    eventually("the time is looked at", || fs::read_to_string(&asked).is_ok_and(|text| text == "\n"));
    fs::write(&clock, "07:30\n").unwrap();
    operator.asks("muted", "as configured?");
    operator.asks("mute-me", "by its key?");
    terminal.wait_for("? 3 need you");
    operator.asks("later", "in the morning?");
    eventually("the morning has come", || fs::read_to_string(&told).is_ok_and(|text| text.contains("later")));
    assert_eq!(fs::read_to_string(&told).unwrap(), "later needs you\n");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
}
