//! All kinds of terminals: those that are light, have no colours, change their size, or are wanted by somebody else.

use std::fs;

use serde_json::json;

use crate::operator::{Operator, contains};
use crate::support::{JACKIN, Terminal, eventually};

/// The foreground of the sign of the selected agent's state, in the line above its details.
fn sign(terminal: &Terminal, sign: &str) -> Option<vt100::Color> {
    let cells = terminal.cells();
    let line = cells.iter().find(|line| line[0].text == "─")?;
    line.iter().find(|cell| cell.text == sign).map(|cell| cell.foreground)
}

#[test]
fn a_terminal_that_says_to_be_light_gets_colours_that_are_read_on_white() {
    let operator = Operator::new();
    operator.agent("one");
    operator.works("one");
    let mut terminal = operator.terminal("console", 24, 80);
    terminal.wait_for("● 1 working");
    assert_eq!(sign(&terminal, "●"), Some(vt100::Color::Idx(2)));
    terminal.wait_for_bytes(b"\x1b]11;?\x1b\\");
    terminal.type_in("\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\");
    eventually("the colours are dark", || sign(&terminal, "●") == Some(vt100::Color::Idx(28)));
    let text = terminal.text();
    assert!(!text.contains('╭') && text.contains("? help"), "the answer pressed keys:\n{text}");
    // What is typed after it is typed.
    terminal.type_in("?");
    terminal.wait_for("attaches to the selected session");
    terminal.type_in("\x07q");
    assert_eq!(terminal.exit_code(), 0);

    // What the environment says is believed as well, until the terminal says something else.
    let terminal = operator.terminal_with("COLORFGBG='0;15'", "console", 24, 80);
    terminal.wait_for("● 1 working");
    assert_eq!(sign(&terminal, "●"), Some(vt100::Color::Idx(28)));
    terminal.type_in("\x1b]11;rgb:1c/1c/1c\x07");
    eventually("the colours are bright", || sign(&terminal, "●") == Some(vt100::Color::Idx(2)));
}

#[test]
fn without_colours_the_signs_tell() {
    let operator = Operator::new();
    operator.agent("one");
    operator.says("one", "\x1b[31mred\x1b[0m");
    operator.asks("one", "May I?");
    let mut terminal = operator.terminal_with("NO_COLOR=1", "console", 24, 80);
    terminal.wait_for("? 1 need you");
    terminal.wait_for("red");
    assert_eq!(sign(&terminal, "?"), Some(vt100::Color::Default));
    let colored = |cell: &&crate::support::Cell| {
        cell.foreground != vt100::Color::Default || cell.background != vt100::Color::Default
    };
    let cells = terminal.cells();
    assert_eq!(cells.iter().flatten().find(colored), None);
    assert!(!contains(&terminal.bytes(), b"]11;?"), "there is no need to ask");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_fg_takes_it_again() {
    let operator = Operator::new();
    let (before, meanwhile) = (operator.path("before"), operator.path("meanwhile"));
    let script = format!(
        "set -m; stty -a > '{}'; {}; printf 'it has STOPPED'; stty -a > '{}'; read -r line; fg >/dev/null; printf 'it ENDED with %s' $?; stty -a > '{}.after'",
        before.display(),
        operator.command_line("", "console"),
        meanwhile.display(),
        meanwhile.display(),
    );
    let mut terminal = Terminal::start("sh", &["-c", &script], 24, 80);
    terminal.wait_for("No agents yet");
    // It works whatever is open.
    terminal.type_in("?");
    terminal.wait_for("attaches to the selected session");
    terminal.type_in("\x1a");
    terminal.wait_for("it has STOPPED");
    eventually("the shell has looked", || {
        fs::read_to_string(&meanwhile).is_ok_and(|text| text.contains("speed"))
    });
    let modes = |path: &std::path::Path| fs::read_to_string(path).unwrap();
    assert_eq!(modes(&before), modes(&meanwhile));
    let bytes = terminal.bytes();
    for mode in ["\x1b[?1049l", "\x1b[?1006l", "\x1b[?2004l", "\x1b[?1004l", "\x1b[?25h"] {
        assert!(contains(&bytes, mode.as_bytes()), "{}", mode.escape_debug());
    }
    terminal.type_in("\r");
    terminal.wait_for("attaches to the selected session");
    terminal.type_in("qq");
    terminal.wait_for("it ENDED with 0");
    assert_eq!(terminal.exit_code(), 0);
    assert_eq!(modes(&before), modes(&operator.path("meanwhile.after")));
}

#[test]
fn ctrl_z_without_a_shell_says_so() {
    let operator = Operator::new();
    let mut terminal = operator.terminal("console", 24, 80);
    terminal.wait_for("No agents yet");
    terminal.type_in("\x1a");
    terminal.wait_for("there is no shell to go back to");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
}

#[test]
fn whatever_is_open_follows_the_terminals_size() {
    let operator = Operator::new();
    operator.agent("one");
    operator.asks("one", "May I?");
    let mut terminal = operator.terminal("console", 24, 80);
    terminal.wait_for("▌ May I?");
    for (keys, title) in [
        ("?", "Help"),
        (":", "Commands"),
        ("c", "New agent"),
        ("t", "Tags of one"),
        ("r", "Answer one"),
        ("e", "Eject"),
        ("x", "Why one is said to be so"),
        ("y", "Copy"),
        ("n", "Ask"),
        ("l", "Say so"),
    ] {
        terminal.type_in(keys);
        for (rows, cols) in [(15, 60), (4, 12), (40, 120), (50, 200), (24, 80)] {
            terminal.resize(rows, cols);
            // It is drawn for this size when the box is whole and the last line has something on it.
            terminal.wait_until_text(&format!("{title} in {cols}x{rows}"), |text| {
                let boxed = text.contains(&format!("╭─ {title}")) && text.contains('╯');
                let last = text.lines().nth(usize::from(rows) - 1).is_some_and(|line| !line.is_empty());
                cols < 60 || (boxed && last)
            });
        }
        terminal.type_in("\x07");
        terminal.wait_until_text("it is closed", |text| !text.contains('╭') && text.contains("▌ May I?"));
    }
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);
}

/// What the console itself sends: looks, places, modes, frames, links to where agents lead, and one question.
fn without_what_is_ours(text: &str) -> Result<(), String> {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_control() && !matches!(c, '\r' | '\n')) {
        let here = &rest[at..];
        let sequence = here.strip_prefix("\x1b[").and_then(|after| {
            let end = after.find(|c: char| !matches!(c, '0'..=';' | '?'))?;
            let (arguments, last) = (&after[..end], after.as_bytes()[end]);
            let modes =
                ["?1049", "?1000", "?1002", "?1003", "?1015", "?1006", "?2004", "?1004", "?25", "?2026"];
            let ours = match last {
                b'm' | b'H' | b'J' => !arguments.contains('?'),
                b'h' | b'l' => modes.contains(&arguments),
                _ => false,
            };
            ours.then(|| &after[end + 1..])
        });
        let link = here.strip_prefix("\x1b]8;;").and_then(|after| {
            let (url, after) = after.split_once("\x1b\\")?;
            (url.is_empty() || url.starts_with("https://x.example/")).then_some(after)
        });
        let question = here.strip_prefix("\x1b]11;?\x1b\\");
        let Some(after) = sequence.or(link).or(question) else {
            return Err(here.chars().take(60).collect::<String>().escape_debug().to_string());
        };
        rest = after;
    }
    Ok(())
}

#[test]
fn an_agent_that_writes_sequences_everywhere_drives_no_terminal() {
    let operator = Operator::with("[notify]\nbell = false\nosc = 'none'\n");
    operator.agent("one");
    let terminal = operator.terminal("console", 24, 80);
    terminal.wait_for("── one ");
    let hostile: Vec<String> = serde_json::from_str(include_str!("../support/hostile.json")).unwrap();
    assert_eq!(hostile.len(), 20);
    for (number, text) in hostile.iter().enumerate() {
        // On its screen, as its title, as tags and as its question; at last something that can be waited for.
        operator.says("one", text);
        operator.says("one", &format!("\x1b]2;title {number} {}\x07", text.replace(char::is_control, " ")));
        let paths =
            [("repo", "a/b"), ("issue", "a/b/issues/1"), ("pr", "a/b/pull/1"), ("link", ""), ("status", "")];
        let tags = paths.map(|(kind, path)| {
            let value =
                if kind == "status" { text.clone() } else { format!("https://x.example/{path}?{text}") };
            format!("<jackin:{kind}>{value}</jackin:{kind}>")
        });
        let chunk = format!("{} <jackin:status>told {number}</jackin:status>", tags.join(" "));
        let event =
            json!({"event": "assistant-text", "message_id": number.to_string(), "chunk": chunk, "end": true});
        operator.reports("one", &event);
        operator.asks("one", &format!("{text} number {number}?"));
        terminal.wait_for("? 1 need you");
        terminal.type_in("r");
        terminal.wait_for("Answer one");
        terminal.type_in("\x07t");
        terminal.wait_for("Tags of one");
        terminal.type_in("\x07x");
        terminal.wait_for("Why one is said to be so");
        terminal.type_in("\x07");
        terminal.wait_until_text("it is closed", |text| !text.contains("Why one"));
        operator.reports("one", &json!({"event": "waiting-resolved"}));
        terminal.wait_for("● 1 working");
    }
    // Up to the end of a frame: the last one may be on its way.
    let (bytes, frame_end) = (terminal.bytes(), b"\x1b[?2026l");
    let end = bytes.windows(frame_end.len()).rposition(|sent| sent == frame_end).unwrap() + frame_end.len();
    let text = std::str::from_utf8(&bytes[..end]).expect("the console writes UTF-8");
    assert_eq!(without_what_is_ours(text), Ok(()), "{JACKIN} let it through");
}
