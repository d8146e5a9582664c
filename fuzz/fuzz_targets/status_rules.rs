//! Any text as a rule file, and what is loaded of it on any screen: no panic, and every problem has a line of the file.
//! The input is both, with a NUL between them.
#![no_main]

use std::sync::LazyLock;

use jackin_status::{RuleSet, Screen};
use libfuzzer_sys::fuzz_target;

/// Compiled once: that is not what is looked for here.
static BUILTIN: LazyLock<RuleSet> = LazyLock::new(RuleSet::builtin);

fuzz_target!(|input: &str| {
    let (toml, text) = input.split_once('\0').unwrap_or((input, ""));
    let mut rules = BUILTIN.clone();
    let lines = toml.split('\n').count();
    for problem in rules.add("fuzz.toml", toml) {
        assert!((1..=lines).contains(&problem.line), "{problem}");
    }
    let screen = Screen { title: text.lines().next().unwrap_or_default().to_owned(), ..Screen::from_text(text) };
    for agent in ["claude", "codex", "amp", "gemini", "opencode", "x"] {
        let look = rules.look(agent, &screen);
        assert_eq!(look.verdict, rules.verdict(agent, &screen));
    }
});
