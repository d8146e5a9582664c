//! The examples that the documentation gives, as they are written there.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "these tests run the resolved commands")]

use std::process::Command;

use jackin_core::RoleName;
use jackin_tools::{Context, Key, Placeholder, Provenance, Tool, Tools};

const EXAMPLES: &str = r#"
[[tool]]
key = "l"
name = "Run lint"
exec = "cargo clippy"
# Optional scope filter — only show this tool when the workspace is
# loaded against a matching role. Same selector grammar as
# [docker.mounts] scope.
scope = "the-architect"

[[tool]]
key = "i"
name = "Open emitted issue"
exec = "open {issue}"
# {issue} substitutes the agent's most-recent <jackin:issue> URL.
# Available substitutions: {repo}, {issue}, {pr}, {link}, {workspace},
# {instance}, {workdir}.

[[tool]]
key = "n"
name = "Note for ops log"
type = "prompt"
prompt = "What happened?"
exec = "echo {input} >> ~/jackin-ops.log"
"#;

fn names(tools: &[&Tool]) -> Vec<String> {
    tools.iter().map(|tool| tool.name.clone()).collect()
}

#[test]
fn scopes_and_order() {
    let tools = Tools::parse(EXAMPLES).unwrap();
    let architect = RoleName::new("the-architect").unwrap();
    let other = RoleName::new("acme/the-architect").unwrap();
    let unscoped = ["Open emitted issue", "Note for ops log"];
    assert_eq!(names(&tools.visible_to(None)), unscoped);
    assert_eq!(names(&tools.visible_to(Some(&other))), unscoped);
    assert_eq!(
        names(&tools.visible_to(Some(&architect))),
        ["Open emitted issue", "Run lint", "Note for ops log"],
        "by key"
    );
    assert_eq!(tools.all()[0].name, "Run lint", "as configured");
    assert!(tools.find(Key::Char('l'), None).is_none());
    assert!(tools.find(Key::Char('l'), Some(&architect)).is_some());
}

#[test]
fn the_three_examples_resolve() {
    let tools = Tools::parse(EXAMPLES).unwrap();
    let [lint, issue, note] = tools.all() else { panic!() };
    let mut context = Context::of("api-fix".parse().unwrap());
    assert_eq!(lint.command.resolve(&context).unwrap().argv().collect::<Vec<_>>(), ["cargo", "clippy"]);
    let missing = issue.command.resolve(&context).unwrap_err();
    assert_eq!(missing.to_string(), "no <jackin:issue> recorded for instance api-fix");
    context.set(Placeholder::Issue, "https://example.com/a/b/issues/7", Provenance::Agent).unwrap();
    let open = issue.command.resolve(&context).unwrap();
    assert_eq!(open.argv().collect::<Vec<_>>(), ["open", "https://example.com/a/b/issues/7"]);
    assert_eq!(note.prompt.as_deref(), Some("What happened?"));
}

#[test]
fn the_ops_log_gets_what_was_typed() {
    let tools = Tools::parse(EXAMPLES).unwrap();
    let note = tools.find(Key::Char('n'), None).unwrap();
    let home = tempfile::tempdir().unwrap();
    for answer in ["it's done; rm -rf \"$HOME\" `id` $(id) > x", "two\nlines é"] {
        let mut context = Context::new();
        context.set(Placeholder::Input, answer, Provenance::Operator).unwrap();
        let command = note.command.resolve(&context).unwrap();
        assert!(command.via_shell);
        let status = Command::new(&command.program)
            .args(&command.args)
            .env("HOME", home.path())
            .envs(command.env.iter().map(|variable| (variable.name, &*variable.value)))
            .status()
            .unwrap();
        assert!(status.success());
    }
    let log = std::fs::read_to_string(home.path().join("jackin-ops.log")).unwrap();
    assert_eq!(log, "it's done; rm -rf \"$HOME\" `id` $(id) > x\ntwo\nlines é\n");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1, "nothing else was written");
}
