//! Where each agent keeps its transcripts.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::capsule::agents::Family;

/// How many entries of a directory are looked at.
const MOST_ENTRIES: usize = 10_000;

/// Claude Code cuts longer names and puts a hash behind.
const LONGEST_NAME: usize = 200;

/// What of a session's environment decides where its transcripts are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::capsule) struct Surroundings {
    pub(in crate::capsule) home: Option<PathBuf>,
    pub(in crate::capsule) claude_config_dir: Option<PathBuf>,
    pub(in crate::capsule) codex_home: Option<PathBuf>,
    pub(in crate::capsule) xdg_data_home: Option<PathBuf>,
    pub(in crate::capsule) cwd: Option<PathBuf>,
}

impl Surroundings {
    /// Takes what a variable is set to where `of` tells it, and leaves the rest as it is.
    pub(in crate::capsule) fn read(&mut self, of: impl Fn(&str) -> Option<String>) {
        let path = |name: &str| of(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        for (place, name) in [
            (&mut self.home, "HOME"),
            (&mut self.claude_config_dir, "CLAUDE_CONFIG_DIR"),
            (&mut self.codex_home, "CODEX_HOME"),
            (&mut self.xdg_data_home, "XDG_DATA_HOME"),
        ] {
            if let Some(value) = path(name) {
                *place = Some(value);
            }
        }
    }

    fn in_home(&self, below: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(below))
    }
}

/// The directories in which an agent's transcripts may be now. They need not exist.
pub(super) fn directories(family: Family, around: &Surroundings) -> Vec<PathBuf> {
    match family {
        Family::Claude => claude(around),
        Family::Codex => codex(around),
        Family::Amp => {
            let data = around.xdg_data_home.clone().or_else(|| around.in_home(".local/share"));
            data.map(|data| data.join("amp/threads")).into_iter().collect()
        }
        Family::Gemini => gemini(around),
        Family::OpenCode => Vec::new(),
    }
}

/// Whether a path that an agent named is where its transcripts are. Anything else is not ours to read.
pub(super) fn is_known(family: Family, around: &Surroundings, path: &Path) -> bool {
    let base = match family {
        Family::Claude => around
            .claude_config_dir
            .clone()
            .or_else(|| around.in_home(".claude"))
            .map(|base| base.join("projects")),
        Family::Codex => {
            around.codex_home.clone().or_else(|| around.in_home(".codex")).map(|base| base.join("sessions"))
        }
        Family::Gemini => around.in_home(".gemini/tmp"),
        Family::Amp | Family::OpenCode => None,
    };
    let real = |path: &Path| fs::canonicalize(path).ok();
    let parent = path.parent().and_then(real);
    base.as_deref().and_then(real).zip(parent).is_some_and(|(base, parent)| parent.starts_with(base))
}

/// Whether a file in such a directory is a transcript by its name.
pub(super) fn is_transcript(family: Family, name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    match family {
        Family::Claude => name.ends_with(".jsonl") && !name.starts_with("agent-"),
        Family::Codex => name.starts_with("rollout-") && name.ends_with(".jsonl"),
        Family::Amp => name.starts_with("T-") && name.ends_with(".json"),
        // Older versions keep one document that is written anew; it tells nothing that could be read line by line.
        Family::Gemini => name.starts_with("session-") && name.ends_with(".jsonl"),
        Family::OpenCode => false,
    }
}

/// The files of a directory, as many as are looked at.
pub(super) fn files(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.take(MOST_ENTRIES).map(|entry| entry.path())
}

fn claude(around: &Surroundings) -> Vec<PathBuf> {
    let base = around.claude_config_dir.clone().or_else(|| around.in_home(".claude"));
    let (Some(base), Some(cwd)) = (base, &around.cwd) else { return Vec::new() };
    let projects = base.join("projects");
    let name = claude_project(&cwd.to_string_lossy());
    if name.len() <= LONGEST_NAME {
        return vec![projects.join(name)];
    }
    let beginning = name[..LONGEST_NAME].to_owned();
    files(&projects)
        .filter(|dir| dir.file_name().is_some_and(|dir| dir.to_string_lossy().starts_with(&beginning)))
        .collect()
}

/// The name that Claude Code gives a project's directory.
fn claude_project(cwd: &str) -> String {
    cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// Rollouts lie in a directory for each day. A session may have begun yesterday and an hour may be counted elsewhere
/// in the world, so the last three are looked at.
fn codex(around: &Surroundings) -> Vec<PathBuf> {
    let base = around.codex_home.clone().or_else(|| around.in_home(".codex"));
    let Some(base) = base else { return Vec::new() };
    let mut days = Vec::new();
    for year in latest(&base.join("sessions"), 2) {
        for month in latest(&year, 2) {
            days.extend(latest(&month, 3));
        }
    }
    days.sort();
    days.split_off(days.len().saturating_sub(3))
}

/// The last so many directories by name.
fn latest(directory: &Path, count: usize) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = files(directory).filter(|path| path.is_dir()).collect();
    found.sort();
    found.split_off(found.len().saturating_sub(count))
}

/// A project's directory is named after a hash or after the last part of the path; a file in newer ones tells the path.
fn gemini(around: &Surroundings) -> Vec<PathBuf> {
    let Some(base) = around.in_home(".gemini/tmp") else { return Vec::new() };
    let is_ours = |project: &PathBuf| {
        let told = fs::read_to_string(project.join(".project_root")).ok();
        told.is_none_or(|root| around.cwd.as_deref() == Some(Path::new(root.trim())))
    };
    let projects = files(&base).filter(|project| project.is_dir()).filter(is_ours);
    projects.map(|project| project.join("chats")).filter(|chats| chats.is_dir()).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_its_places_and_variables_move_them() {
        let home = tempfile::tempdir().unwrap();
        let at = |below: &str| home.path().join(below);
        let mut around = Surroundings { cwd: Some("/work/my_app".into()), ..Surroundings::default() };
        assert!(directories(Family::Claude, &around).is_empty(), "without a home there is no place");
        around.home = Some(home.path().to_owned());
        assert_eq!(directories(Family::Claude, &around), [at(".claude/projects/-work-my-app")]);
        assert_eq!(directories(Family::Amp, &around), [at(".local/share/amp/threads")]);
        for day in ["2025/12/31", "2026/01/01", "2026/01/02", "2026/01/03"] {
            fs::create_dir_all(at(".codex/sessions").join(day)).unwrap();
        }
        let days = directories(Family::Codex, &around);
        assert_eq!(days.last(), Some(&at(".codex/sessions/2026/01/03")));
        assert_eq!(days.len(), 3);
        fs::create_dir_all(at(".gemini/tmp/mine/chats")).unwrap();
        fs::create_dir_all(at(".gemini/tmp/other/chats")).unwrap();
        fs::write(at(".gemini/tmp/mine/.project_root"), "/work/my_app\n").unwrap();
        fs::write(at(".gemini/tmp/other/.project_root"), "/work/other").unwrap();
        assert_eq!(directories(Family::Gemini, &around), [at(".gemini/tmp/mine/chats")]);

        let set = |name: &str| (name == "CLAUDE_CONFIG_DIR").then(|| "/cfg".to_owned());
        around.read(set);
        assert_eq!(directories(Family::Claude, &around), [PathBuf::from("/cfg/projects/-work-my-app")]);
    }

    #[test]
    fn a_long_directory_is_found_by_its_beginning() {
        let config = tempfile::tempdir().unwrap();
        let cwd = format!("/{}", "a/".repeat(150));
        let name = claude_project(&cwd);
        let made = config.path().join("projects").join(format!("{}-x1y2", &name[..LONGEST_NAME]));
        fs::create_dir_all(&made).unwrap();
        let around = Surroundings {
            claude_config_dir: Some(config.path().to_owned()),
            cwd: Some(cwd.into()),
            ..Surroundings::default()
        };
        assert_eq!(directories(Family::Claude, &around), [made]);
    }

    #[test]
    fn transcripts_are_told_by_their_names() {
        for (family, name, is) in [
            (Family::Claude, "0b1c.jsonl", true),
            (Family::Claude, "agent-12.jsonl", false),
            (Family::Claude, "notes.txt", false),
            (Family::Codex, "rollout-2026-01-01T00-00-00-1.jsonl", true),
            (Family::Codex, "rollout-2026.jsonl.zst", false),
            (Family::Amp, "T-1.json", true),
            (Family::Gemini, "session-1.jsonl", true),
            (Family::Gemini, "logs.json", false),
        ] {
            assert_eq!(is_transcript(family, OsStr::new(name)), is, "{name}");
        }
    }
}
