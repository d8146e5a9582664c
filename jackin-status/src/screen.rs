//! What stands on an agent's screen, and what rules say of it.

mod load;
mod rule;

use std::fmt;
use std::sync::Arc;

pub use load::RuleProblem;
pub use rule::RuleSet;

/// A rendered screen: text as a person sees it, not the bytes that drew it.
///
/// Rows are given top to bottom, padded with spaces or not. A caller that looks often keeps one and rewrites its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// The grid's rows.
    pub rows: Vec<String>,
    /// The title that the program set (OSC 0 or 2); empty if none.
    pub title: String,
    /// The progress that it set (OSC 9;4).
    pub progress: Progress,
}

impl Screen {
    /// A screen of the lines of `text`, without title and progress.
    pub fn from_text(text: &str) -> Self {
        Self { rows: text.lines().map(str::to_owned).collect(), ..Self::default() }
    }
}

/// A program's progress, as OSC 9;4 tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// Never set, or taken away.
    #[default]
    None,
    /// So many per cent.
    Percent(u8),
    /// At work, for how long nobody knows.
    Indeterminate,
    /// Failed.
    Error,
    /// Waits.
    Paused,
}

impl Progress {
    /// The word that a rule's `progress` region is matched on.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Percent(_) => "percent",
            Self::Indeterminate => "indeterminate",
            Self::Error => "error",
            Self::Paused => "paused",
        }
    }
}

/// What one look at a screen gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// What the rules say; none when none matched.
    pub verdict: Option<ScreenVerdict>,
    /// Changes when the screen's text does, the rows that the rule matched left aside: a spinner that turns is nothing
    /// new, a line of output is.
    pub text: u64,
}

/// What a rule says of a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenVerdict {
    /// What the screen implies.
    pub says: ScreenSays,
    /// How sure the rule is.
    pub confidence: Confidence,
    /// What is asked, where the rule captures it.
    pub prompt: Option<String>,
    /// The rule, as `agent/name`.
    pub rule: Arc<str>,
}

impl fmt::Display for ScreenVerdict {
    /// One line for a person: what it says, the prompt, the rule and how sure it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.says.word())?;
        if let Some(prompt) = &self.prompt {
            write!(f, ": {prompt}")?;
        }
        let confidence = match self.confidence {
            Confidence::Strong => "strong",
            Confidence::Weak => "weak",
        };
        write!(f, " ({confidence}, rule {})", self.rule)
    }
}

/// What a screen can imply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScreenSays {
    /// The agent works.
    Busy,
    /// A dialog waits for the operator.
    Question,
    /// The agent waits for a prompt.
    Idle,
    /// A menu that the operator opened covers the screen: what was true before it is still true.
    Hold,
}

impl ScreenSays {
    /// The word for it in rule files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Question => "question",
            Self::Idle => "idle",
            Self::Hold => "hold",
        }
    }
}

/// How sure a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Confidence {
    /// Nothing else looks like this. Counts as screen evidence.
    Strong,
    /// Could be coincidence. Counts no more than silence does.
    Weak,
}
