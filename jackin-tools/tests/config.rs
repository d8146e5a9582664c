//! Configurations that are wrong: each file in `mistakes/` and the messages that it gives.
#![allow(clippy::disallowed_methods, reason = "the cases are files")]

use std::fmt::Write as _;

use jackin_tools::{Key, MistakeKind, RESERVED_KEYS, Tools};
use proptest::prelude::*;

#[test]
fn messages() {
    insta::glob!("mistakes/*.toml", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        let file = path.file_name().unwrap().to_string_lossy();
        let error = Tools::parse(&text).expect_err(&file);
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "mistakes" }, {
            insta::assert_snapshot!(error.render(&file));
        });
    });
}

#[test]
fn every_kind_of_mistake_has_an_example() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mistakes");
    let mut codes: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .flat_map(|path| {
            let error = Tools::parse(&std::fs::read_to_string(path).unwrap()).unwrap_err();
            error.mistakes().iter().map(|mistake| mistake.kind.code()).collect::<Vec<_>>()
        })
        .collect();
    codes.sort_unstable();
    codes.dedup();
    let expected = [
        "bad-key",
        "bad-scope",
        "bad-timeout",
        "control-character",
        "duplicate-key",
        "empty-command",
        "empty-text",
        "input-outside-prompt",
        "missing-field",
        "no-target",
        "nul-in-command",
        "prompt-without-type",
        "reserved-key",
        "stray-brace",
        "syntax",
        "unbalanced-quote",
        "unknown-field",
        "unknown-placeholder",
        "unknown-type",
        "unsafe-place",
        "wrong-type",
    ];
    assert_eq!(codes, expected);
}

#[test]
fn no_tool_can_have_a_key_of_the_console() {
    for reserved in RESERVED_KEYS {
        for spelling in [reserved.key.to_string(), reserved.key.to_string().to_uppercase()] {
            // Case tells two plain keys apart, and is nothing in the name of any other.
            if matches!(reserved.key, Key::Char(_)) && spelling != reserved.key.to_string() {
                continue;
            }
            let text = format!("[[tool]]\nkey = {spelling:?}\nname = \"X\"\nexec = \"true\"\n");
            let error = Tools::parse(&text).expect_err(&spelling);
            let [mistake] = error.mistakes() else { panic!("{spelling}: {error}") };
            assert_eq!(mistake.kind, MistakeKind::ReservedKey { key: reserved.key, action: reserved.action });
            assert!(mistake.kind.to_string().contains(reserved.action.does()));
        }
    }
}

#[test]
fn one_key_may_serve_roles_that_do_not_meet() {
    let tool = |scope: &str| format!("[[tool]]\nkey = \"l\"\nname = \"Lint\"\nexec = \"true\"\n{scope}\n");
    for (one, other, fine) in [
        ("scope = 'rust'", "scope = 'js'", true),
        ("scope = 'acme/*'", "scope = 'other/*'", true),
        ("scope = 'acme/*'", "scope = 'rust'", true),
        ("scope = 'acme/*'", "scope = 'acme/rust'", false),
        ("scope = 'acme/*'", "scope = 'acme/*'", false),
        ("scope = 'rust'", "scope = 'rust'", false),
        ("scope = 'rust'", "", false),
        ("", "", false),
    ] {
        assert_eq!(Tools::parse(&(tool(one) + &tool(other))).is_ok(), fine, "{one} {other}");
    }
}

#[test]
fn other_tables_are_not_ours() {
    let tools = Tools::parse("[agents.claude]\ncommand = 3\n[handler]\nopen = 'gio open {}'\n").unwrap();
    assert!(tools.all().is_empty());
    assert_eq!(Tools::parse("").unwrap(), Tools::default());
}

#[test]
fn a_huge_file_is_refused() {
    let error = Tools::parse(&"#".repeat(Tools::MAX_CONFIG + 1)).unwrap_err();
    assert_eq!(error.mistakes()[0].kind.code(), "too-large");
}

#[test]
fn a_flood_of_mistakes_is_counted_and_not_listed() {
    let many = 20_000;
    for text in [format!("tool = [{}]", "{a=1},".repeat(many)), "=\n".repeat(many)] {
        let error = Tools::parse(&text).unwrap_err();
        assert_eq!(error.mistakes().len(), Tools::MAX_MISTAKES);
        assert!(error.unlisted() >= many - Tools::MAX_MISTAKES, "{}", error.unlisted());
        assert!(error.render("x").ends_with(&format!("x: and {} more", error.unlisted())));
    }
}

proptest! {
    #[test]
    fn any_text_gives_tools_or_messages(text in any::<String>()) {
        if let Err(error) = Tools::parse(&text) {
            prop_assert!(!error.render("x").is_empty());
        }
    }

    #[test]
    fn mistakes_point_into_the_text(
        lines in proptest::collection::vec(proptest::sample::select(vec![
            "[[tool]]", "[tool]", "[handler]", "key = \"l\"", "key = 'q'", "key = 3", "name = \"N\"", "name = \"\\u001b\"",
            "exec = \"a {isue} $(b {pr})\"", "exec = \"\\u00e9 '{pr}\"", "exec = '''\na {\n}'''", "exec = ", "type = \"prompt\"",
            "prompt = \"?\"", "scope = \"A b\"", "timeout = -1", "web = \"x\"", "bogus = 1", "= 4", "\"unclosed", "é = 1",
        ]), 0..12),
    ) {
        let text = lines.join("\n");
        if let Err(error) = Tools::parse(&text) {
            for mistake in error.mistakes() {
                let place = &mistake.place;
                prop_assert!(text.get(place.span.clone()).is_some());
                prop_assert!(place.line >= 1 && place.line <= text.matches('\n').count() + 1);
                prop_assert!(!mistake.kind.to_string().is_empty() && !mistake.kind.advice().is_empty());
            }
        }
    }
}

/// The table in the documentation is that of the code. `JACKIN_BLESS=1` writes it.
#[test]
fn the_documented_keys_are_the_reserved_ones() {
    const HEADING: &str = "## The console's own keys\n\n";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/tools.md");
    let text = std::fs::read_to_string(file).unwrap();
    let (before, documented) = text.split_once(HEADING).unwrap();
    let mut actions: Vec<_> = RESERVED_KEYS.iter().map(|reserved| reserved.action).collect();
    actions.sort();
    actions.dedup();
    let mut table = "| key | |\n|---|---|\n".to_owned();
    for action in actions {
        let keys: Vec<_> = RESERVED_KEYS
            .iter()
            .filter(|reserved| reserved.action == action)
            .map(|reserved| format!("`{}`", reserved.key).replace('|', "\\|"))
            .collect();
        writeln!(table, "| {} | {} |", keys.join(" "), action.does()).unwrap();
    }
    if std::env::var_os("JACKIN_BLESS").is_some() {
        std::fs::write(file, format!("{before}{HEADING}{table}")).unwrap();
    } else {
        assert_eq!(
            documented, table,
            "write it with JACKIN_BLESS=1 cargo test -p jackin-tools --test config"
        );
    }
}
