use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{
    AmpStream, AmpThread, ClaudeHooks, ClaudeStream, ClaudeTranscript, CodexAppServer, CodexExecStream,
    CodexHooks, CodexNotify, CodexRollout, Decoder, GeminiChat, GeminiHooks, GeminiStream, OpenCodeRun,
    OpenCodeSse,
};
use crate::Channel;

/// A format that this crate decodes.
///
/// ```
/// use jackin_status::Runtime;
///
/// let runtime: Runtime = "claude-stream".parse()?;
/// assert_eq!(runtime.agent(), "claude");
/// assert_eq!("codex".parse(), Ok(Runtime::CodexExec));
/// # Ok::<(), jackin_status::UnknownRuntime>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Runtime {
    /// `claude -p --output-format stream-json`.
    ClaudeStream,
    /// A session file of Claude Code on disk.
    ClaudeTranscript,
    /// What Claude Code hands to its hooks.
    ClaudeHooks,
    /// `codex exec --json`.
    CodexExec,
    /// What `codex app-server` sends.
    CodexAppServer,
    /// A rollout file of Codex on disk.
    CodexRollout,
    /// What Codex hands to its `notify` program.
    CodexNotify,
    /// What Codex hands to its hooks.
    CodexHooks,
    /// `amp -x --stream-json`.
    AmpStream,
    /// A thread file of Amp on disk; each "line" is the whole file.
    AmpThread,
    /// `gemini --output-format stream-json`.
    GeminiStream,
    /// What Gemini CLI hands to its hooks.
    GeminiHooks,
    /// A chat file of Gemini CLI on disk.
    GeminiChat,
    /// `GET /event` of an `opencode` server.
    OpenCodeSse,
    /// `opencode run --format json`.
    OpenCodeRun,
}

/// Name, agent, channel.
type Row = (Runtime, &'static str, &'static str, Channel);

const TABLE: [Row; 15] = [
    (Runtime::ClaudeStream, "claude-stream", "claude", Channel::Stream),
    (Runtime::ClaudeTranscript, "claude-transcript", "claude", Channel::Transcript),
    (Runtime::ClaudeHooks, "claude-hooks", "claude", Channel::Hook),
    (Runtime::CodexExec, "codex-exec", "codex", Channel::Stream),
    (Runtime::CodexAppServer, "codex-app-server", "codex", Channel::Stream),
    (Runtime::CodexRollout, "codex-rollout", "codex", Channel::Transcript),
    (Runtime::CodexNotify, "codex-notify", "codex", Channel::Hook),
    (Runtime::CodexHooks, "codex-hooks", "codex", Channel::Hook),
    (Runtime::AmpStream, "amp-stream", "amp", Channel::Stream),
    (Runtime::AmpThread, "amp-thread", "amp", Channel::Transcript),
    (Runtime::GeminiStream, "gemini-stream", "gemini", Channel::Stream),
    (Runtime::GeminiHooks, "gemini-hooks", "gemini", Channel::Hook),
    (Runtime::GeminiChat, "gemini-chat", "gemini", Channel::Transcript),
    (Runtime::OpenCodeSse, "opencode-sse", "opencode", Channel::Stream),
    (Runtime::OpenCodeRun, "opencode-run", "opencode", Channel::Stream),
];

impl Runtime {
    /// Every format.
    pub const ALL: [Self; 15] = {
        let mut all = [Self::ClaudeStream; 15];
        let mut i = 0;
        while i < all.len() {
            all[i] = TABLE[i].0;
            i += 1;
        }
        all
    };

    /// Its name in commands.
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// The agent that writes it, as in screen rules.
    pub const fn agent(self) -> &'static str {
        self.row().2
    }

    /// Which channel of the agent it is.
    pub const fn channel(self) -> Channel {
        self.row().3
    }

    /// Whether it is one document and not lines: hand it over whole.
    pub const fn is_document(self) -> bool {
        matches!(self, Self::AmpThread)
    }

    /// A decoder at the beginning of a stream.
    pub fn decoder(self) -> Box<dyn Decoder> {
        match self {
            Self::ClaudeStream => Box::<ClaudeStream>::default(),
            Self::ClaudeTranscript => Box::<ClaudeTranscript>::default(),
            Self::ClaudeHooks => Box::<ClaudeHooks>::default(),
            Self::CodexExec => Box::<CodexExecStream>::default(),
            Self::CodexAppServer => Box::<CodexAppServer>::default(),
            Self::CodexRollout => Box::<CodexRollout>::default(),
            Self::CodexNotify => Box::<CodexNotify>::default(),
            Self::CodexHooks => Box::<CodexHooks>::default(),
            Self::AmpStream => Box::<AmpStream>::default(),
            Self::AmpThread => Box::<AmpThread>::default(),
            Self::GeminiStream => Box::<GeminiStream>::default(),
            Self::GeminiHooks => Box::<GeminiHooks>::default(),
            Self::GeminiChat => Box::<GeminiChat>::default(),
            Self::OpenCodeSse => Box::<OpenCodeSse>::default(),
            Self::OpenCodeRun => Box::<OpenCodeRun>::default(),
        }
    }

    const fn row(self) -> &'static Row {
        // The table is in the order of the variants; a test says so.
        &TABLE[self as usize]
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No format has that name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name:?} is not a runtime: write one of {}", known())]
pub struct UnknownRuntime {
    name: String,
}

fn known() -> String {
    Runtime::ALL.map(Runtime::name).join(", ")
}

impl FromStr for Runtime {
    type Err = UnknownRuntime;

    /// Takes a name, or an agent's name for the first of its formats.
    fn from_str(text: &str) -> Result<Self, UnknownRuntime> {
        TABLE
            .iter()
            .find(|(_, name, ..)| *name == text)
            .or_else(|| TABLE.iter().find(|(_, _, agent, _)| *agent == text))
            .map(|row| row.0)
            .ok_or_else(|| UnknownRuntime { name: super::words::cut(text, 100).to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_variants() {
        for (i, row) in TABLE.iter().enumerate() {
            assert_eq!(row.0 as usize, i);
            assert_eq!(row.1.parse(), Ok(row.0));
            assert!(row.1.starts_with(row.2));
        }
        assert_eq!("claude".parse(), Ok(Runtime::ClaudeStream));
        assert!("perl".parse::<Runtime>().unwrap_err().to_string().contains("opencode-sse"));
    }
}
