//! Screens of which no recording is known, modelled on the agents' documentation and sources, and screens that only
//! look like something else.

use std::sync::LazyLock;

use jackin_status::{Confidence, RuleSet, Screen, ScreenSays};

static RULES: LazyLock<RuleSet> = LazyLock::new(RuleSet::builtin);

fn verdict(agent: &str, title: &str, text: &str) -> Option<(ScreenSays, String, Option<String>)> {
    let screen = Screen { title: title.into(), ..Screen::from_text(text) };
    let verdict = RULES.verdict(agent, &screen)?;
    Some((verdict.says, verdict.rule.to_string(), verdict.prompt))
}

fn says(agent: &str, title: &str, text: &str) -> Option<ScreenSays> {
    verdict(agent, title, text).map(|(says, ..)| says)
}

const BOX: &str = "──────────────────────────────\n❯ \n──────────────────────────────\n  ? for shortcuts\n";

#[test]
fn claude_dialogs() {
    for (rule, text, prompt) in [
        (
            "claude/trust",
            " Do you trust the files in this folder?\n\n ❯ 1. Yes, proceed\n   2. No, exit\n\n Enter to confirm · Esc to exit",
            Some("Do you trust the files in this folder?"),
        ),
        (
            "claude/trust",
            " Quick safety check: Is this a project you created or one you trust?\n\n ❯ 1. Yes, I trust this folder\n   2. No, exit\n\n Enter to confirm · Esc to cancel",
            Some("Is this a project you created or one you trust?"),
        ),
        (
            "claude/question",
            " ☐ Database\n\nWhich database should we use?\n\n❯ 1. Postgres\n   2. SQLite\n   3. Type something.\n\nEnter to select · Tab/Arrow keys to navigate · Esc to cancel",
            Some("Which database should we use?"),
        ),
        (
            "claude/plan",
            " Here is Claude's plan:\n 1. Do it\n\n Would you like to proceed?\n\n ❯ 1. Yes, and auto-accept edits\n   2. Yes, and manually approve edits\n   3. No, keep planning\n\n ctrl-g to edit in vim",
            Some("Would you like to proceed?"),
        ),
        (
            "claude/permission",
            " Do you want to create a.txt?\n   1. Yes\n ❯ 2. Yes, allow all edits during this session\n   3. No\n\n Esc to cancel · Tab to amend",
            Some("Do you want to create a.txt?"),
        ),
        (
            "claude/yes-no",
            " Allow the tool to run?\n ❯ 1. Yes\n   2. No, and tell Claude what to do differently (esc)\n",
            Some("Allow the tool to run?"),
        ),
    ] {
        let found = verdict("claude", "✳ topic", text);
        assert_eq!(found, Some((ScreenSays::Question, rule.to_owned(), prompt.map(str::to_owned))));
    }
}

#[test]
fn claude_work() {
    for row in [
        "✻ Baking… (12s · ↑ 1.2k tokens · esc to interrupt)",
        "· Thinking…",
        "✽ Fixing the failing tests… (esc to interrupt · ctrl+t to hide todos)",
        "* Razzle-dazzling… ",
        "✢ Compacting conversation… (40s)",
    ] {
        assert_eq!(says("claude", "✳ topic", &format!("{row}\n\n{BOX}")), Some(ScreenSays::Busy), "{row}");
    }
    let footer = "──────────────────────────────\n❯ \n──────────────────────────────\n  esc to interrupt\n";
    assert_eq!(says("claude", "", footer), Some(ScreenSays::Busy));
}

#[test]
fn claude_words_that_only_look_like_it() {
    for text in [
        // The agent talks about dialogs; its prompt box is there.
        "● Claude asks \"Do you want to proceed?\" like this:\n\n   Do you want to proceed?\n   ❯ 1. Yes\n     2. No\n\n   Esc to cancel · Tab to amend\n",
        // What is left when the work is over.
        "✻ Crunched for 3m 48s\n",
        "  ⎿  Running… in the background\n",
        "● Read 1 file… (ctrl+o to expand)\n",
        "  * a list…\n  · another…\n",
        "  ⎿  Interrupted · What should Claude do instead?\n",
    ] {
        assert_eq!(says("claude", "✳ topic", &format!("{text}\n{BOX}")), Some(ScreenSays::Idle), "{text}");
    }
    // What the operator has typed does not count either.
    let typed = BOX.replace("❯ ", "❯ why does it say esc to cancel?");
    assert_eq!(says("claude", "", &typed), Some(ScreenSays::Idle));
}

#[test]
fn an_unknown_screen_gets_no_verdict() {
    for agent in ["claude", "codex", "amp", "gemini", "opencode"] {
        assert_eq!(says(agent, "", ""), None);
        assert_eq!(says(agent, "user@host", "$ ls\nCargo.toml  src\n$ \n"), None, "{agent}");
    }
    assert_eq!(says("vim", "", BOX), None);
}

#[test]
fn codex() {
    let composer = "\n› Improve the docs\n\n  ? for shortcuts                    100% context left";
    assert_eq!(says("codex", "proj", composer), Some(ScreenSays::Idle));
    assert_eq!(says("codex", "⠋ proj", composer), Some(ScreenSays::Busy));
    for title in ["[ ! ] Action Required | proj", "[ . ] Action Required | proj"] {
        assert_eq!(says("codex", title, composer), Some(ScreenSays::Question));
    }
    let working = format!("• Exploring the code (1m 02s • esc to interrupt)\n{composer}");
    assert_eq!(says("codex", "proj", &working), Some(ScreenSays::Busy));
    let approval = "  Would you like to make the following edits?\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex (esc)\n\n  Press enter to confirm or esc to cancel";
    let prompt = Some("Would you like to make the following edits?".to_owned());
    assert_eq!(
        verdict("codex", "proj", approval),
        Some((ScreenSays::Question, "codex/approval".into(), prompt))
    );
    let menu =
        "  Select Model and Effort\n\n› 1. gpt-5\n  2. gpt-4\n\n  Press enter to confirm or esc to go back";
    assert_eq!(says("codex", "proj", menu), Some(ScreenSays::Hold));
}

#[test]
fn gemini() {
    let composer = "╭──────────────────────╮\n│ >   Type your message │\n╰──────────────────────╯\n\n~/x   no sandbox   gemini";
    assert_eq!(says("gemini", "", composer), Some(ScreenSays::Idle));
    assert_eq!(says("gemini", "◇  Ready (x)", composer), Some(ScreenSays::Idle));
    assert_eq!(says("gemini", "✦  Working… (x)", composer), Some(ScreenSays::Busy));
    assert_eq!(says("gemini", "⏲  Working… (x)", composer), Some(ScreenSays::Busy));
    assert_eq!(says("gemini", "✋  Action Required (x)", composer), Some(ScreenSays::Question));
    let busy = format!("⠏ Polishing the answer (esc to cancel, 3s)\n{composer}");
    assert_eq!(says("gemini", "", &busy), Some(ScreenSays::Busy));
    let dialog = "│ Apply this change?          │\n│ ● 1. Yes, allow once        │\n│   2. No (esc)               │\n\n⠏ Waiting for user confirmation...";
    let prompt = Some("Apply this change?".to_owned());
    assert_eq!(
        verdict("gemini", "", dialog),
        Some((ScreenSays::Question, "gemini/confirmation".into(), prompt))
    );
}

#[test]
fn opencode() {
    let foot = |left: &str| {
        format!(
            "  ┃\n  ┃  Build  Model\n  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀\n  {left}   tab switch agent  ctrl+p commands\n"
        )
    };
    assert_eq!(says("opencode", "OC | x", &foot("")), Some(ScreenSays::Idle));
    assert_eq!(says("opencode", "OC | x", &foot("⬝⬝⬝■■■⬝⬝  esc interrupt")), Some(ScreenSays::Busy));
    assert_eq!(says("opencode", "OC | x", &foot("esc again to interrupt")), Some(ScreenSays::Busy));
}

#[test]
fn amp_without_its_title_is_only_a_hint() {
    let text = "some words\n\n╭─smart──────────────╮\n│                    │\n╰──────────~/x (main)─╯";
    assert_eq!(says("amp", "⠋ thread - amp - x", text), Some(ScreenSays::Busy));
    assert_eq!(
        verdict("amp", "thread - amp - x", text).map(|(_, rule, _)| rule).as_deref(),
        Some("amp/title-idle")
    );
    let screen = Screen::from_text(text);
    let hint = RULES.verdict("amp", &screen).expect("the box is known");
    assert_eq!((hint.says, hint.confidence), (ScreenSays::Idle, Confidence::Weak));
    let asks = format!("Run this command?\n  $ make\n{text}");
    assert_eq!(says("amp", "thread - amp - x", &asks), Some(ScreenSays::Question));
}

#[test]
fn a_spinner_that_turns_is_nothing_new_and_a_line_of_output_is() {
    let look = |spinner: &str, output: &str| {
        RULES.look("claude", &Screen::from_text(&format!("{output}\n{spinner} Baking… (3s)\n\n{BOX}"))).text
    };
    assert_eq!(look("✻", "a"), look("✽", "a"));
    assert_ne!(look("✻", "a"), look("✻", "b"));
}
