//! Skills of a role, for agents without a container.

use std::path::Path;
use std::process::Command;

use crate::operator::{Operator, git};
use crate::support::eventually;

const ROLE: &str =
    "[roles.smith]\nagents = [\"claude\", \"codex\"]\nskills = [\"jackin-machine-readable-pr\", \"mine\"]\n";

/// An operator with a role that has one of jackin's skills and one of their own, and agents that say what they find.
fn operator() -> Operator {
    let operator = Operator::new();
    operator
        .install("claude", "#!/bin/sh\nls .claude/skills\ncat .claude/skills/mine/SKILL.md\nread -r line\n");
    operator.install("codex", "#!/bin/sh\nread -r line\n");
    operator.configure(ROLE);
    let mine = operator.config().join("skills/mine/scripts");
    std::fs::create_dir_all(&mine).unwrap();
    std::fs::write(mine.join("go"), "#!/bin/sh\n").unwrap();
    std::fs::write(mine.parent().unwrap().join("SKILL.md"), "how we do it").unwrap();
    operator
}

fn changes(dir: &Path) -> String {
    let output = Command::new("git").arg("-C").arg(dir).args(["status", "--porcelain"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn skills_are_where_the_agents_look_and_go_with_the_instance() {
    let operator = operator();
    let shop = operator.shop();
    let is_repository = git(&shop, &["init", "--quiet", "-b", "main"]);
    operator.ok(&["load", "smith", "--detach", "--name", "one"]);
    eventually("the agent reads it", || operator.ok(&["read", "one"]).contains("how we do it"));
    assert!(operator.ok(&["read", "one"]).contains("jackin-machine-readable-pr"));
    for place in [".claude/skills", ".agents/skills"] {
        assert!(shop.join(place).join("mine/scripts/go").exists(), "{place}");
    }
    assert!(!operator.home().parent().unwrap().join(".claude").exists(), "nothing is in the operator's home");
    if is_repository {
        assert_eq!(changes(&shop), "", "nothing of it can be committed by mistake");
    }
    operator.ok(&["load", "smith", "--detach", "--name", "two"]);
    operator.ok(&["eject", "one"]);
    assert!(shop.join(".claude/skills/mine/SKILL.md").exists(), "the other one has it still");
    operator.ok(&["eject", "two"]);
    assert!(!shop.join(".claude").exists() && !shop.join(".agents").exists());
}

#[test]
fn a_worktree_with_skills_in_it_is_not_taken_for_work() {
    let operator = operator();
    let shop = operator.shop();
    if !git(&shop, &["init", "--quiet", "-b", "main"]) {
        println!("skipped: git is not installed");
        return;
    }
    assert!(git(&shop, &["commit", "--quiet", "--allow-empty", "-m", "first"]));
    let loaded = operator.json(&["load", "smith", "--json", "--worktree", "--name", "tree"]);
    let tree = Path::new(loaded["workdir"].as_str().unwrap()).to_owned();
    assert!(tree.join(".claude/skills/mine/SKILL.md").exists());
    assert!(!shop.join(".claude").exists());
    operator.ok(&["eject", "tree"]);
    assert!(!tree.exists());
}

#[test]
fn what_cannot_be_copied_is_told() {
    let operator = operator();
    let config = operator.config();
    // The operator's own home is no project.
    let mut load = operator.command(&["load", "smith", "--detach", "--name", "own"]);
    let output = load.env("HOME", operator.shop()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("no skills were copied: this is your home"), "{told}");
    assert!(!operator.shop().join(".claude").exists());
    std::fs::remove_file(config.join("skills/mine/SKILL.md")).unwrap();
    let (code, told) = operator.refused(&["load", "smith", "--detach"]);
    assert!(code == 1 && told.contains("the skill mine has no SKILL.md"), "{told}");
    std::fs::remove_dir_all(config.join("skills/mine")).unwrap();
    let (_, told) = operator.refused(&["load", "smith", "--detach"]);
    assert!(told.contains("there is no skill \"mine\"") && told.contains("machine-readable-issue"), "{told}");
    operator.configure(&ROLE.replace("mine", "../mine"));
    let (code, told) = operator.refused(&["load", "smith", "--detach"]);
    assert!(code == 2 && told.contains("config.toml:3: ") && told.contains("no skill's name"), "{told}");
    operator.configure("");
}
