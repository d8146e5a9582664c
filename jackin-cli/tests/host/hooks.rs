//! `jackin hooks` over the agents' own files.

use std::path::PathBuf;
use std::process::Output;

use crate::operator::Operator;

fn hooks(operator: &Operator, args: &[&str]) -> Output {
    let mut command = operator.command(&[&["hooks"], args].concat());
    command.env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME").output().unwrap()
}

fn printed(operator: &Operator, args: &[&str]) -> String {
    let output = hooks(operator, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The settings of an agent, in a directory that is there.
fn settings(operator: &Operator, agent: &str) -> PathBuf {
    let name = if agent == "codex" { "config.toml" } else { "settings.json" };
    let file = operator.home().parent().unwrap().join(format!(".{agent}")).join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    file
}

#[test]
fn what_was_made_from_nothing_is_gone_again() {
    let operator = Operator::new();
    for agent in ["claude", "codex", "gemini"] {
        let file = settings(&operator, agent);
        printed(&operator, &["install", agent]);
        assert!(file.exists());
        let told = printed(&operator, &["uninstall", agent]);
        assert!(told.contains("no longer in"), "{told}");
        assert!(!file.exists(), "{agent}");
        let told = printed(&operator, &["uninstall", agent]);
        assert!(told.starts_with("there are no hooks of ours in "), "{told}");
    }
}

#[test]
fn what_was_there_stays_and_can_be_read() {
    let operator = Operator::new();
    for agent in ["claude", "gemini"] {
        let file = settings(&operator, agent);
        for theirs in ["{}", "{\"hooks\":{}}", "{\"hooks\": {}}\n"] {
            std::fs::write(&file, theirs).unwrap();
            printed(&operator, &["install", agent]);
            printed(&operator, &["uninstall", agent]);
            let left = std::fs::read_to_string(&file).unwrap();
            assert_eq!(left, "{}\n", "{agent}: {theirs}");
        }
        std::fs::remove_file(&file).unwrap();
        let target = file.with_file_name("elsewhere.json");
        std::fs::write(&target, "").unwrap();
        std::os::unix::fs::symlink(&target, &file).unwrap();
        printed(&operator, &["install", agent]);
        printed(&operator, &["uninstall", agent]);
        assert!(file.is_symlink(), "{agent}: a link stays a link");
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "{}\n", "{agent}");
    }
}

#[test]
fn one_file_that_cannot_be_read_hides_no_other() {
    let operator = Operator::new();
    let file = settings(&operator, "claude");
    std::fs::write(&file, "{ // mine\n}").unwrap();
    printed(&operator, &["install", "gemini"]);
    let output = hooks(&operator, &["status"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    let row = told.lines().find(|line| line.starts_with("claude")).unwrap();
    assert!(row.contains("unreadable") && row.contains(file.to_str().unwrap()), "{told}");
    assert!(told.contains("→ the settings are not plain JSON"), "{told}");
    assert!(told.lines().any(|line| line.starts_with("gemini  installed")), "{told}");

    let output = hooks(&operator, &["status", "--json"]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&first["agent"], &first["state"]), (&"claude".into(), &"unreadable".into()));
    assert_eq!(first["file"], file.to_str().unwrap());
    assert!(first["error"].as_str().unwrap().contains("not plain JSON"), "{first}");
    assert_eq!(lines.lines().count(), 3, "{lines}");
}
