//! Every recorded screen gets the right verdict.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "the corpus is read in place")]

use std::num::NonZero;
use std::path::Path;

use jackin_status::{RuleSet, Screen, ScreenSays};

const SCREENS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus/screens");

/// The text that a terminal of 400 columns shows after the file's bytes.
fn render(bytes: &[u8]) -> Screen {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\n', "\r\n");
    let rows = NonZero::new(text.lines().count() as u16 + 2).unwrap();
    let mut parser = vt100::Parser::new(rows, NonZero::new(400).unwrap(), 0);
    parser.process(text.as_bytes());
    Screen { rows: parser.screen().rows(0, 400).collect(), ..Screen::default() }
}

fn expected(file: &str) -> (&'static str, ScreenSays, &'static str, Option<&'static str>) {
    use ScreenSays::{Busy, Hold, Idle, Question};
    const PROCEED: Option<&str> = Some("Do you want to proceed?");
    match file.strip_prefix("claude-v2.1.29-").and_then(|file| file.split('.').next()) {
        Some("after_response" | "initial_state" | "permission_plan") => {
            return ("claude", Idle, "claude/prompt-box", None);
        }
        // Named for a trust dialog, it shows a permission prompt.
        Some("bash_permission_dialog" | "trust_folder_dialog") => {
            return ("claude", Question, "claude/permission", PROCEED);
        }
        Some("edit_permission_dialog") => {
            return (
                "claude",
                Question,
                "claude/permission",
                Some("Do you want to make this edit to test.txt?"),
            );
        }
        Some("compact_during") => return ("claude", Busy, "claude/compaction", None),
        Some("model_picker") => return ("claude", Hold, "claude/menu", None),
        _ => {}
    }
    match file {
        "amp-first_message-agentapi.txt" => ("amp", Idle, "amp/welcome", None),
        "claude-remove-task-tool-call-agentapi.txt" | "claude-v2.1.38-pane-ansi-spotter.txt" => {
            ("claude", Idle, "claude/prompt-box", None)
        }
        "codex-first_message-agentapi.txt" => ("codex", Idle, "codex/composer", None),
        "codex-thinking-agentapi.txt" => ("codex", Busy, "codex/working", None),
        "codex_tui__status_indicator_widget__tests__renders_with_working_header.snap" => {
            ("codex", Busy, "codex/working", None)
        }
        "gemini-second_message-agentapi.txt" => ("gemini", Idle, "gemini/composer", None),
        "opencode-second_message-agentapi.txt" | "opencode-v1.1.8-idle-001_startup.txt" => {
            ("opencode", Idle, "opencode/composer", None)
        }
        "opencode-v1.1.8-waiting_permission-001_bash_command.txt" => (
            "opencode",
            Question,
            "opencode/permission",
            Some("Write 'hi' to /tmp/hi.txt using bash — $ echo 'hi' > /tmp/hi.txt"),
        ),
        other => panic!("write down what {other} must give"),
    }
}

#[test]
fn every_screen_of_the_corpus() {
    if !Path::new(SCREENS).exists() {
        println!("skipped: corpus missing");
        return;
    }
    let rules = RuleSet::builtin();
    let mut seen = 0;
    for entry in std::fs::read_dir(SCREENS).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(&path).unwrap();
        let mut screen = render(&bytes);
        if path.extension().is_some_and(|extension| extension == "snap") {
            // A snapshot quotes the rows.
            screen.rows.retain(|row| row.starts_with('"'));
            for row in &mut screen.rows {
                *row = row.trim().trim_matches('"').to_owned();
            }
        }
        let (agent, says, rule, prompt) = expected(&file);
        let verdict = rules.verdict(agent, &screen).unwrap_or_else(|| panic!("{file}: no rule matched"));
        assert_eq!((&*verdict.rule, verdict.says), (rule, says), "{file}");
        assert_eq!(verdict.prompt.as_deref(), prompt, "{file}");
        seen += 1;
    }
    assert!(seen >= 25, "{seen}");
}

/// The same sessions, as they looked when their transcripts ended.
#[test]
fn screens_beside_transcripts_are_idle() {
    for file in ["22-disk-short.terminal.txt", "23-disk-tool-heavy.terminal.txt"] {
        let path = Path::new(SCREENS).join("../transcripts/claude").join(file);
        let Ok(bytes) = std::fs::read(path) else {
            println!("skipped: corpus missing");
            return;
        };
        let verdict = RuleSet::builtin().verdict("claude", &render(&bytes)).unwrap();
        assert_eq!(verdict.says, ScreenSays::Idle, "{file}");
    }
}
