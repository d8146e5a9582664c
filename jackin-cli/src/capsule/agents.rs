//! The agents that are known by name: how each is recognised, and where it says what it does.

use jackin_core::AgentEntry;
use jackin_status::Runtime;

/// A kind of agent, whichever way it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Family {
    Claude,
    Codex,
    Amp,
    Gemini,
    OpenCode,
}

/// The names of the agents that are known.
#[cfg(feature = "host")]
pub(crate) fn runtimes() -> [&'static str; 5] {
    Family::ALL.map(Family::name)
}

/// Which of the known agents an entry starts.
#[cfg(feature = "host")]
pub(crate) fn runtime_of(agent: &AgentEntry) -> Option<&'static str> {
    Family::of_agent(agent).map(Family::name)
}

impl Family {
    pub(super) const ALL: [Self; 5] = [Self::Claude, Self::Codex, Self::Amp, Self::Gemini, Self::OpenCode];

    /// Its name in configuration, screen rules and reports.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Amp => "amp",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
        }
    }

    pub(super) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// The names, for messages.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// What it writes on disk, where that can be read while it runs.
    pub(super) const fn transcript(self) -> Option<Runtime> {
        match self {
            Self::Claude => Some(Runtime::ClaudeTranscript),
            Self::Codex => Some(Runtime::CodexRollout),
            Self::Amp => Some(Runtime::AmpThread),
            Self::Gemini => Some(Runtime::GeminiChat),
            Self::OpenCode => None,
        }
    }

    /// What it hands to its hooks.
    pub(super) const fn hooks(self) -> Option<Runtime> {
        match self {
            Self::Claude => Some(Runtime::ClaudeHooks),
            Self::Codex => Some(Runtime::CodexHooks),
            Self::Gemini => Some(Runtime::GeminiHooks),
            Self::Amp | Self::OpenCode => None,
        }
    }

    /// The agent that an entry says it is, or that its command line starts.
    pub(super) fn of_agent(agent: &AgentEntry) -> Option<Self> {
        let named = agent.runtime.as_deref().and_then(Self::by_name);
        named.or_else(|| Self::of_command(&agent.command_line()))
    }

    /// The agent that a command line starts. Interpreters and `env` are looked behind.
    pub(super) fn of_command(words: &[impl AsRef<str>]) -> Option<Self> {
        Self::in_command(words).map(|(family, _)| family)
    }

    /// The same, and which of the words names it.
    pub(super) fn in_command(words: &[impl AsRef<str>]) -> Option<(Self, usize)> {
        let program = words.first()?.as_ref();
        if let Some(family) = Self::of_word(program) {
            return Some((family, 0));
        }
        let looked_behind = matches!(
            stem(program),
            "sh" | "bash"
                | "dash"
                | "zsh"
                | "env"
                | "node"
                | "nodejs"
                | "bun"
                | "bunx"
                | "deno"
                | "npx"
                | "npm"
                | "python"
                | "python3"
                | "uvx"
        );
        if !looked_behind {
            return None;
        }
        // Options and assignments stand before what is started; a word or two of a runner's own may, too.
        let own = |(_, word): &(usize, &str)| !word.starts_with('-') && !word.contains('=');
        let mut own = words.iter().map(AsRef::as_ref).enumerate().skip(1).filter(own).take(2);
        own.find_map(|(at, word)| Some((Self::of_word(word)?, at)))
    }

    fn of_word(word: &str) -> Option<Self> {
        let packages = [
            ("@anthropic-ai/claude-code", Self::Claude),
            ("@openai/codex", Self::Codex),
            ("@sourcegraph/amp", Self::Amp),
            ("@google/gemini-cli", Self::Gemini),
            ("opencode-ai", Self::OpenCode),
        ];
        if let Some((_, family)) = packages.into_iter().find(|(package, _)| word.contains(package)) {
            return Some(family);
        }
        match stem(word) {
            "claude" | "claude-code" => Some(Self::Claude),
            "codex" => Some(Self::Codex),
            "amp" => Some(Self::Amp),
            "gemini" | "gemini-cli" => Some(Self::Gemini),
            "opencode" => Some(Self::OpenCode),
            _ => None,
        }
    }
}

/// A path's last part without the endings that scripts have. A login shell's name begins with a hyphen.
fn stem(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    let name = name.strip_prefix('-').unwrap_or(name);
    [".js", ".mjs", ".cjs", ".py"].into_iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_known_by_their_command_lines() {
        for (line, family) in [
            ("claude", Some(Family::Claude)),
            ("/usr/local/bin/claude --resume", Some(Family::Claude)),
            ("node --no-warnings /usr/bin/gemini -m x", Some(Family::Gemini)),
            ("node /lib/node_modules/@openai/codex/bin/codex.js", Some(Family::Codex)),
            ("node /lib/node_modules/@anthropic-ai/claude-code/cli.js", Some(Family::Claude)),
            ("env -u X A=1 opencode", Some(Family::OpenCode)),
            ("npx @sourcegraph/amp", Some(Family::Amp)),
            ("npm exec @google/gemini-cli", Some(Family::Gemini)),
            ("/bin/sh /opt/wrappers/claude", Some(Family::Claude)),
            ("vim claude", None),
            ("-bash", None),
            ("claude-squad", None),
            ("node server.js claude-notes.txt", None),
            ("", None),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(Family::of_command(&words), family, "{line}");
        }
        assert_eq!(Family::of_command(&[] as &[&str]), None);
    }

    #[test]
    fn names_read_back() {
        for family in Family::ALL {
            assert_eq!(Family::by_name(family.name()), Some(family));
            for runtime in [family.transcript(), family.hooks()].into_iter().flatten() {
                assert_eq!(runtime.agent(), family.name());
            }
        }
    }
}
