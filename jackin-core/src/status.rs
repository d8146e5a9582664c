use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// What an agent is doing, as far as the evidence tells.
///
/// On the wire it is an object whose `kind` is the word that [`AgentStatus::word`] returns. A reader that meets a
/// word from a newer writer gets [`AgentStatus::Unknown`].
///
/// ```
/// use jackin_core::{AgentStatus, Timestamp};
///
/// let busy = AgentStatus::Busy { since: Timestamp::from_millis(1_000) };
/// assert_eq!(serde_json::to_string(&busy)?, r#"{"kind":"busy","since":1000}"#);
/// assert_eq!(serde_json::from_str::<AgentStatus>(r#"{"kind":"dreaming"}"#)?, AgentStatus::Unknown);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AgentStatus {
    /// Started; nothing is known yet.
    Initializing,
    /// The agent's turn is over and it waits for the next prompt.
    Idle {
        /// Why the last turn failed, where it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The agent generates or runs a tool.
    Busy {
        /// When that began.
        since: Timestamp,
    },
    /// The agent cannot go on before somebody answers.
    Question {
        /// What it asks, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
        /// When it asked.
        since: Timestamp,
    },
    /// The process ended with success, or because it was told to.
    Ended {
        /// Its exit code: 0, or what stopping it on purpose gave.
        exit_code: i32,
    },
    /// The process ended otherwise.
    Crashed {
        /// Its exit code; 128 plus the signal where a signal ended it.
        exit_code: i32,
    },
    /// The kernel ended the process because memory ran out.
    OomKilled,
    /// No evidence worth a verdict. Better than a guess.
    #[serde(other)]
    Unknown,
}

impl AgentStatus {
    /// The status that a process's own exit gives.
    pub fn from_exit_code(exit_code: i32) -> Self {
        if exit_code == 0 { Self::Ended { exit_code } } else { Self::Crashed { exit_code } }
    }

    /// An idle agent whose last turn went well.
    pub const fn idle() -> Self {
        Self::Idle { error: None }
    }

    /// The status in one word, as on the wire and in `status:WORD` of `wait`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Initializing => "initializing",
            Self::Unknown => "unknown",
            Self::Idle { .. } => "idle",
            Self::Busy { .. } => "busy",
            Self::Question { .. } => "question",
            Self::Ended { .. } => "ended",
            Self::Crashed { .. } => "crashed",
            Self::OomKilled => "oom-killed",
        }
    }

    /// Whether the process is gone.
    pub const fn is_over(&self) -> bool {
        matches!(self, Self::Ended { .. } | Self::Crashed { .. } | Self::OomKilled)
    }
}

impl fmt::Display for AgentStatus {
    /// One line for a person: the word, and what is known beside it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle { error: Some(error) } => write!(f, "idle (last turn failed: {error})"),
            Self::Question { prompt: Some(prompt), .. } => write!(f, "question: {prompt}"),
            Self::Ended { exit_code } if *exit_code != 0 => {
                write!(f, "ended (stopped, exit code {exit_code})")
            }
            Self::Crashed { exit_code } => write!(f, "crashed (exit code {exit_code})"),
            _ => f.pad(self.word()),
        }
    }
}

/// Why a status is what it is: which source said so, by what evidence, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause {
    /// Who said so.
    pub source: Source,
    /// What was seen, in words for a person.
    pub evidence: String,
    /// When it was seen.
    pub at: Timestamp,
}

impl Cause {
    /// A cause seen at `at`.
    pub fn new(source: Source, evidence: impl Into<String>, at: Timestamp) -> Self {
        Self { source, evidence: evidence.into(), at }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source.word(), self.evidence)
    }
}

/// Where evidence about an agent comes from.
///
/// On the wire it is the word that [`Source::word`] returns; a word from a newer writer reads as [`Source::Other`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(from = "String", into = "&'static str")]
#[non_exhaustive]
pub enum Source {
    /// The process's wait status or the container's end.
    Process,
    /// Structured events on the agent's own output or server.
    Stream,
    /// A hook of the agent that reports to us.
    Hook,
    /// The agent's transcript on disk.
    Transcript,
    /// A rule matched on the emulated screen, title or progress.
    Screen,
    /// Shell marks (OSC 133) and progress (OSC 9;4).
    TerminalMark,
    /// The foreground process and its children.
    Foreground,
    /// Output arrived.
    Activity,
    /// Nothing arrived for a while.
    Quiet,
    /// The session was started; nothing else is known.
    Launch,
    /// A source that this version does not know.
    Other,
}

impl Source {
    /// How much the source counts against another one.
    pub const fn strength(self) -> Strength {
        match self {
            Self::Process => Strength::Final,
            Self::Stream | Self::Hook | Self::Transcript => Strength::Structured,
            Self::Screen => Strength::Screen,
            Self::TerminalMark => Strength::Mark,
            Self::Foreground | Self::Activity | Self::Quiet | Self::Launch | Self::Other => Strength::Weak,
        }
    }

    const KNOWN: [Self; 10] = [
        Self::Process,
        Self::Stream,
        Self::Hook,
        Self::Transcript,
        Self::Screen,
        Self::TerminalMark,
        Self::Foreground,
        Self::Activity,
        Self::Quiet,
        Self::Launch,
    ];

    /// The source in a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Stream => "stream",
            Self::Hook => "hook",
            Self::Transcript => "transcript",
            Self::Screen => "screen",
            Self::TerminalMark => "terminal-mark",
            Self::Foreground => "foreground",
            Self::Activity => "activity",
            Self::Quiet => "quiet",
            Self::Launch => "launch",
            Self::Other => "other",
        }
    }
}

impl From<String> for Source {
    fn from(word: String) -> Self {
        Self::KNOWN.into_iter().find(|source| source.word() == word).unwrap_or(Self::Other)
    }
}

impl From<Source> for &'static str {
    fn from(source: Source) -> Self {
        source.word()
    }
}

/// The order in which contradicting sources are believed; the greater wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// Circumstances: activity, silence, who is in the foreground.
    Weak,
    /// Marks that the program set in the terminal's stream.
    Mark,
    /// What stands on the screen.
    Screen,
    /// What the agent says of itself in a format made for programs.
    Structured,
    /// The process is gone.
    Final,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_what_goes_over_the_wire() {
        let at = Timestamp::from_millis(5);
        let all = [
            AgentStatus::Initializing,
            AgentStatus::Unknown,
            AgentStatus::idle(),
            AgentStatus::Idle { error: Some("overloaded".into()) },
            AgentStatus::Busy { since: at },
            AgentStatus::Question { prompt: Some("Proceed?".into()), since: at },
            AgentStatus::Question { prompt: None, since: at },
            AgentStatus::Ended { exit_code: 143 },
            AgentStatus::Crashed { exit_code: 1 },
            AgentStatus::OomKilled,
        ];
        for status in all {
            let json = serde_json::to_value(&status).unwrap();
            assert_eq!(json["kind"], status.word());
            assert_eq!(serde_json::from_value::<AgentStatus>(json).unwrap(), status);
        }
    }

    #[test]
    fn exit_codes() {
        assert_eq!(AgentStatus::from_exit_code(0), AgentStatus::Ended { exit_code: 0 });
        assert_eq!(AgentStatus::from_exit_code(137), AgentStatus::Crashed { exit_code: 137 });
        assert!(AgentStatus::OomKilled.is_over() && !AgentStatus::idle().is_over());
    }

    #[test]
    fn sources_are_believed_in_the_stated_order() {
        let strongest_first =
            [Source::Process, Source::Hook, Source::Screen, Source::TerminalMark, Source::Activity];
        assert!(strongest_first.windows(2).all(|pair| pair[0].strength() > pair[1].strength()));
        for source in Source::KNOWN {
            let json = serde_json::to_string(&source).unwrap();
            assert_eq!(serde_json::from_str::<Source>(&json).unwrap(), source);
        }
        assert_eq!(serde_json::from_str::<Source>("\"telepathy\"").unwrap(), Source::Other);
    }
}
