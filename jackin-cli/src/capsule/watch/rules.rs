use std::fs;
use std::path::PathBuf;

use jackin_status::{Look, RuleSet, Screen};

/// The largest rule file that is read.
const LARGEST: u64 = 1 << 20;

/// The rules about screens, read when the first screen is looked at.
#[derive(Debug)]
pub(super) struct Rules {
    directories: Vec<PathBuf>,
    rules: Option<RuleSet>,
}

impl Rules {
    pub(super) fn new(directories: Vec<PathBuf>) -> Self {
        Self { directories, rules: None }
    }

    pub(super) fn look(&mut self, agent: &str, screen: &Screen) -> Look {
        self.rules.get_or_insert_with(|| load(&self.directories)).look(agent, screen)
    }
}

/// The built-in rules, and before them those of `*.toml` in the directories, in the order of their names.
fn load(directories: &[PathBuf]) -> RuleSet {
    let mut rules = RuleSet::builtin();
    for directory in directories {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
        files.sort();
        for file in files {
            let small = fs::metadata(&file).is_ok_and(|known| known.is_file() && known.len() <= LARGEST);
            match fs::read_to_string(&file) {
                Ok(text) if small => {
                    for problem in rules.add(&file.display().to_string(), &text) {
                        tracing::warn!("{problem}");
                    }
                }
                Ok(_) => tracing::warn!("{} is no rule file: it is too large", file.display()),
                Err(error) => tracing::warn!("cannot read {}: {error}", file.display()),
            }
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_ones_own_come_first_and_bad_ones_cost_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let own =
            "[[rule]]\nname = \"mine\"\nagent = \"robot\"\nstatus = \"busy\"\nwhen = [{ text = \"beep\" }]\n";
        fs::write(dir.path().join("robot.toml"), own).unwrap();
        fs::write(dir.path().join("broken.toml"), "[[rule]]\nname = 3\n").unwrap();
        let mut rules = Rules::new(vec![dir.path().to_owned(), dir.path().join("none")]);
        let look = rules.look("robot", &Screen::from_text("beep beep"));
        assert_eq!(&*look.verdict.unwrap().rule, "robot/mine");
        let look = rules.look("claude", &Screen::from_text("✻ Baking… (3s · esc to interrupt)\n\n❯\n"));
        assert!(look.verdict.is_some());
    }
}
