//! Where agents look for skills.

use jackin_core::AgentEntry;

use crate::capsule::runtime_of;
use crate::host::plan::Plan;

/// Where one kind of agent looks, the place of its own first.
struct Reader {
    runtime: &'static str,
    /// Below a project's directory.
    project: &'static [&'static str],
    /// Below the user's home.
    home: &'static [&'static str],
}

/// Those that also look in others' places come last: a skill that is there already is not put into a second one, which
/// they would complain about.
const READERS: [Reader; 5] = [
    Reader { runtime: "claude", project: &[".claude/skills"], home: &[".claude/skills"] },
    Reader { runtime: "codex", project: &[".agents/skills"], home: &[".agents/skills"] },
    Reader { runtime: "gemini", project: &[".gemini/skills"], home: &[".gemini/skills"] },
    Reader {
        runtime: "amp",
        project: &[".agents/skills", ".claude/skills"],
        home: &[".config/agents/skills", ".claude/skills"],
    },
    Reader {
        runtime: "opencode",
        project: &[".opencode/skills", ".claude/skills", ".agents/skills"],
        home: &[".config/opencode/skills", ".claude/skills", ".agents/skills"],
    },
];

/// A variable that moves everything of Claude's.
const CLAUDE_DIR: &str = "CLAUDE_CONFIG_DIR";

/// A directory of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::host) enum Place {
    /// Below the user's home.
    Home(&'static str),
    /// Where a variable of the agent's says.
    At(String),
}

/// The directories below a project that the agents of a plan look in.
pub(super) fn in_project(agents: &[AgentEntry]) -> Vec<&'static str> {
    let mut places: Vec<&'static str> = Vec::new();
    for reader in readers(agents) {
        if !reader.project.iter().any(|place| places.contains(place)) {
            places.extend(reader.project.first());
        }
    }
    places
}

/// The directories of the user that the agents of a plan look in.
pub(in crate::host) fn in_home(plan: &Plan) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for reader in readers(&plan.agents) {
        let moved = plan
            .agents
            .iter()
            .filter(|agent| runtime_of(agent) == Some(reader.runtime))
            .find_map(|agent| agent.env.get(CLAUDE_DIR).or_else(|| plan.env.get(CLAUDE_DIR)));
        let place = match moved.filter(|dir| reader.runtime == "claude" && dir.starts_with('/')) {
            Some(dir) => Some(Place::At(format!("{}/skills", dir.trim_end_matches('/')))),
            None if reader.home.iter().any(|place| places.contains(&Place::Home(place))) => None,
            None => reader.home.first().map(|place| Place::Home(place)),
        };
        places.extend(place);
    }
    places
}

fn readers(agents: &[AgentEntry]) -> impl Iterator<Item = &'static Reader> {
    READERS.iter().filter(|reader| agents.iter().any(|agent| runtime_of(agent) == Some(reader.runtime)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BackendKind;

    fn agents(ids: &[&str]) -> Vec<AgentEntry> {
        ids.iter().map(|id| AgentEntry { id: (*id).to_owned(), ..AgentEntry::default() }).collect()
    }

    fn plan(ids: &[&str]) -> Plan {
        let mut plan = Plan::new("api".parse().unwrap(), BackendKind::Docker, "api", "/workspace");
        plan.agents = agents(ids);
        plan
    }

    #[test]
    fn every_agent_finds_a_skill_and_none_finds_it_twice() {
        assert_eq!(in_project(&agents(&["claude"])), [".claude/skills"]);
        assert_eq!(in_project(&agents(&["opencode"])), [".opencode/skills"]);
        assert_eq!(in_project(&agents(&["opencode", "codex"])), [".agents/skills"]);
        assert_eq!(
            in_project(&agents(&["claude", "codex", "amp", "gemini", "opencode", "shell"])),
            [".claude/skills", ".agents/skills", ".gemini/skills"]
        );
        assert!(in_project(&agents(&["shell", "robot"])).is_empty());
        let wrapped = AgentEntry {
            id: "mine".into(),
            command: vec!["npx".into(), "@openai/codex".into()],
            ..AgentEntry::default()
        };
        assert_eq!(in_project(&[wrapped]), [".agents/skills"]);
        assert_eq!(
            in_home(&plan(&["amp", "codex"])),
            [Place::Home(".agents/skills"), Place::Home(".config/agents/skills")]
        );
    }

    #[test]
    fn what_was_moved_is_found_where_it_was_moved_to() {
        let mut plan = plan(&["claude", "opencode"]);
        plan.agents[0].env.insert(CLAUDE_DIR.into(), "/data/claude/".into());
        assert_eq!(
            in_home(&plan),
            [Place::At("/data/claude/skills".into()), Place::Home(".config/opencode/skills")]
        );
        plan.agents[0].env.insert(CLAUDE_DIR.into(), "relative".into());
        assert_eq!(in_home(&plan), [Place::Home(".claude/skills")]);
    }
}
