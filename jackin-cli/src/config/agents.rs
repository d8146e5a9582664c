//! The agents that are known without being written down.

use std::collections::BTreeMap;

use jackin_core::AgentEntry;

use super::schema::{AgentConfig, Config};

/// The agents of a machine on which nothing was configured, in the order in which they are looked for.
const BUILT_IN: [(&str, &str, &[&str]); 6] = [
    ("claude", "Claude Code", &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"]),
    ("codex", "Codex", &["OPENAI_API_KEY", "CODEX_API_KEY"]),
    ("amp", "Amp", &["AMP_API_KEY"]),
    ("gemini", "Gemini CLI", &["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
    ("opencode", "OpenCode", &[]),
    (SHELL, "Shell", &[]),
];

/// The agent that is none.
pub(crate) const SHELL: &str = "shell";

fn built_in(name: &str) -> Option<AgentConfig> {
    let (id, display, tokens) = BUILT_IN.into_iter().find(|(id, ..)| *id == name)?;
    Some(AgentConfig {
        display: Some(display.to_owned()),
        runtime: (id != SHELL).then(|| id.to_owned()),
        tokens: tokens.iter().map(ToString::to_string).collect(),
        ..AgentConfig::default()
    })
}

/// The names that an agent can be asked for by: first the built-in ones, then the operator's own.
pub(super) fn names(config: &Config) -> Vec<String> {
    let own = config.agents.keys().filter(|name| built_in(name).is_none()).cloned();
    let mut names: Vec<String> = BUILT_IN.iter().map(|(id, ..)| (*id).to_owned()).chain(own).collect();
    names.sort();
    names
}

impl Config {
    /// An agent: what is written, above what is known of it anyway.
    pub fn agent(&self, name: &str) -> Option<AgentConfig> {
        let (written, known) = (self.agents.get(name).cloned(), built_in(name));
        let (Some(mut agent), Some(known)) = (written.clone(), known.clone()) else {
            return written.or(known);
        };
        agent.display = agent.display.or(known.display);
        agent.runtime = agent.runtime.or(known.runtime);
        if agent.tokens.is_empty() {
            agent.tokens = known.tokens;
        }
        Some(agent)
    }

    /// The names of all agents, in the order in which they are looked for; the shell is last.
    pub fn agent_names(&self) -> Vec<String> {
        let usual = BUILT_IN.iter().map(|(id, ..)| *id).filter(|id| *id != SHELL);
        let own = self.agents.keys().map(String::as_str).filter(|name| built_in(name).is_none());
        usual.chain(own).chain([SHELL]).map(str::to_owned).collect()
    }

    /// Every variable that is some agent's token.
    pub fn tokens(&self) -> BTreeMap<String, Vec<String>> {
        let names = self.agent_names();
        names.into_iter().filter_map(|name| Some((name.clone(), self.agent(&name)?.tokens))).collect()
    }
}

impl AgentConfig {
    /// The agent as a capsule is told of it.
    pub fn entry(&self, id: &str, observable: bool) -> AgentEntry {
        // Without a command, a capsule starts the user's shell.
        let command = match (id, self.command.is_empty()) {
            (SHELL, true) => vec!["sh".to_owned(), "-c".to_owned(), "exec \"${SHELL:-sh}\"".to_owned()],
            _ => self.command.clone(),
        };
        AgentEntry {
            id: id.to_owned(),
            display: self.display.clone(),
            command,
            runtime: self.runtime.clone(),
            env: self.env.clone(),
            without: Vec::new(),
            observable: self.observable.unwrap_or(observable),
            transcripts: self.transcripts.clone(),
            plain_tags: self.plain_tags,
        }
    }

    /// The program that must be there.
    pub fn program<'a>(&'a self, id: &'a str) -> &'a str {
        self.command.first().map_or(id, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_above_what_is_known() {
        let config =
            Config::parse("[agents.claude]\ncommand = [\"claude\", \"-c\"]\n[agents.robot]\n").unwrap();
        let claude = config.agent("claude").unwrap();
        assert_eq!((claude.command.len(), claude.display.as_deref()), (2, Some("Claude Code")));
        assert!(claude.tokens.contains(&"ANTHROPIC_API_KEY".to_owned()));
        assert_eq!(config.agent("robot").unwrap().entry("robot", false).command_line(), ["robot"]);
        assert!(config.agent("nobody").is_none());
        assert_eq!(config.agent_names().last().unwrap(), "shell");
    }
}
