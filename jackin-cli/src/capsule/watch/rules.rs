use std::fs;
use std::path::{Path, PathBuf};

use jackin_status::{Look, RuleSet, Screen};

/// The largest rule file that is read.
const LARGEST: u64 = 1 << 20;

/// The rules about screens. Files are read at once, and made sense of when the first screen is looked at.
#[derive(Debug)]
pub(super) struct Rules {
    /// Names and texts of the operator's own files; those that come later count for more.
    files: Vec<(String, String)>,
    rules: Option<RuleSet>,
}

impl Rules {
    /// The built-in rules, and before them those of `*.toml` in the directories, in the order of their names.
    pub(super) fn read(directories: &[PathBuf]) -> Self {
        Self { files: directories.iter().flat_map(|directory| read(directory)).collect(), rules: None }
    }

    pub(super) fn look(&mut self, agent: &str, screen: &Screen) -> Look {
        self.rules.get_or_insert_with(|| understand(&self.files)).look(agent, screen)
    }
}

fn read(directory: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let mut texts = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let small = fs::metadata(&file).is_ok_and(|known| known.is_file() && known.len() <= LARGEST);
        if !small {
            tracing::warn!("{name} is no rule file: it is too large");
            continue;
        }
        match fs::read_to_string(&file) {
            Ok(text) => texts.push((name, text)),
            Err(error) => tracing::warn!("cannot read {name}: {error}"),
        }
    }
    texts
}

fn understand(files: &[(String, String)]) -> RuleSet {
    let mut rules = RuleSet::builtin();
    for (name, text) in files {
        for problem in rules.add(name, text) {
            tracing::warn!("{problem}");
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
        let mut rules = Rules::read(&[dir.path().to_owned(), dir.path().join("none")]);
        // Who looks may not be allowed to read any more.
        drop(dir);
        let look = rules.look("robot", &Screen::from_text("beep beep"));
        assert_eq!(&*look.verdict.unwrap().rule, "robot/mine");
        let look = rules.look("claude", &Screen::from_text("✻ Baking… (3s · esc to interrupt)\n\n❯\n"));
        assert!(look.verdict.is_some());
    }
}
