use std::fmt::{self, Write as _};

use thiserror::Error;

use super::source::Place;
use crate::handler::HandlerKind;
use crate::key::Key;
use crate::reserved::ConsoleAction;
use crate::template::FaultKind;

/// Everything that is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.render("configuration"))]
pub struct ConfigError {
    pub(super) mistakes: Vec<Mistake>,
    pub(super) unlisted: usize,
}

/// One mistake in a configuration, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mistake {
    /// What is wrong.
    pub kind: MistakeKind,
    /// Where.
    pub place: Place,
    /// The other place, where two do not go together.
    pub other: Option<Place>,
}

/// What can be wrong in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MistakeKind {
    /// It is not TOML.
    Syntax(String),
    /// It is larger than allowed.
    TooLarge {
        /// Its length in bytes.
        len: usize,
    },
    /// A field that does not exist.
    UnknownField {
        /// The table, as it is written.
        table: &'static str,
        /// The field.
        field: String,
        /// The ones that exist.
        known: &'static [&'static str],
    },
    /// A field that must be there.
    MissingField {
        /// The field.
        field: &'static str,
        /// A line that would do.
        example: &'static str,
    },
    /// A value of another type than the field has.
    WrongType {
        /// The field.
        field: String,
        /// What it takes.
        expected: &'static str,
        /// What it got.
        found: &'static str,
        /// A line that would do.
        example: &'static str,
    },
    /// A tool's `type` that does not exist.
    UnknownType(String),
    /// A question in a tool that is not of type `prompt`.
    PromptWithoutType,
    /// A key that is none.
    BadKey(String),
    /// A key that the console needs.
    ReservedKey {
        /// The key.
        key: Key,
        /// What it does there.
        action: ConsoleAction,
    },
    /// A key that another tool has, for a role that both are for.
    DuplicateKey {
        /// The key.
        key: Key,
        /// The other tool's name.
        other: String,
    },
    /// A scope that is no role selector.
    BadScope {
        /// What is wrong with it.
        reason: String,
    },
    /// A time limit that is out of range.
    BadTimeout(String),
    /// A text for people that is empty.
    EmptyText(&'static str),
    /// A text for people with characters that do something to a terminal.
    ControlCharacter(&'static str),
    /// A handler that is not given what it is to open.
    NoTarget(HandlerKind),
    /// A command that cannot be used.
    Command(FaultKind),
}

impl ConfigError {
    /// The mistakes, in the order of the text; at most [`MAX_MISTAKES`](crate::Tools::MAX_MISTAKES).
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    /// How many more there are.
    pub fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// The mistakes for a person, with the lines that they are in. `file` is the name to show.
    pub fn render(&self, file: &str) -> String {
        let mut rendered: Vec<_> = self.mistakes.iter().map(|mistake| mistake.render(file)).collect();
        if self.unlisted > 0 {
            rendered.push(format!("{file}: and {} more", self.unlisted));
        }
        rendered.join("\n\n")
    }
}

impl Mistake {
    /// The mistake for a person, with the line that it is in. `file` is the name to show.
    pub fn render(&self, file: &str) -> String {
        let Place { line, column, .. } = self.place;
        let width =
            self.other.iter().map(|other| other.line).chain([line]).max().unwrap_or(line).to_string().len();
        let mut text = format!("{file}:{line}:{column}: {}\n", self.kind);
        write_excerpt(&mut text, &self.place, width, "");
        if let Some(other) = &self.other {
            write_excerpt(&mut text, other, width, " and here");
        }
        let _ = write!(text, "{:width$} = {}", "", self.kind.advice());
        text
    }
}

fn write_excerpt(text: &mut String, place: &Place, width: usize, label: &str) {
    let carets = "^".repeat(place.marked.len().max(1));
    let _ = writeln!(text, "{:>width$} | {}", place.line, place.excerpt);
    let _ = writeln!(text, "{:width$} | {:indent$}{carets}{label}", "", "", indent = place.marked.start);
}

impl MistakeKind {
    /// A word for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Syntax(_) => "syntax",
            Self::TooLarge { .. } => "too-large",
            Self::UnknownField { .. } => "unknown-field",
            Self::MissingField { .. } => "missing-field",
            Self::WrongType { .. } => "wrong-type",
            Self::UnknownType(_) => "unknown-type",
            Self::PromptWithoutType => "prompt-without-type",
            Self::BadKey(_) => "bad-key",
            Self::ReservedKey { .. } => "reserved-key",
            Self::DuplicateKey { .. } => "duplicate-key",
            Self::BadScope { .. } => "bad-scope",
            Self::BadTimeout(_) => "bad-timeout",
            Self::EmptyText(_) => "empty-text",
            Self::ControlCharacter(_) => "control-character",
            Self::NoTarget(_) => "no-target",
            Self::Command(fault) => match fault {
                FaultKind::Empty => "empty-command",
                FaultKind::TooLong { .. } => "command-too-long",
                FaultKind::Nul => "nul-in-command",
                FaultKind::StrayBrace { .. } => "stray-brace",
                FaultKind::UnknownPlaceholder { .. } => "unknown-placeholder",
                FaultKind::InputOutsidePrompt { .. } => "input-outside-prompt",
                FaultKind::Unbalanced { .. } => "unbalanced-quote",
                FaultKind::Unsafe { .. } => "unsafe-place",
            },
        }
    }

    /// What to write instead.
    pub fn advice(&self) -> String {
        match self {
            Self::Syntax(_) => "mend the TOML here; what stands behind it may be read wrongly".to_owned(),
            Self::TooLarge { .. } => "is this the right file?".to_owned(),
            Self::UnknownField { known, .. } => format!("write one of {}", known.join(", ")),
            Self::MissingField { example, .. } => format!("add {example}"),
            Self::WrongType { example, .. } => format!("write {example}"),
            Self::UnknownType(_) => {
                "write type = \"exec\", which runs the command, or type = \"prompt\", which asks first"
                    .to_owned()
            }
            Self::PromptWithoutType => "add type = \"prompt\", or remove the question".to_owned(),
            Self::BadKey(_) => crate::key::KeyError.to_string(),
            Self::ReservedKey { .. } => "choose another key".to_owned(),
            Self::DuplicateKey { .. } => {
                "give one of them another key, or give both scopes that no role shares".to_owned()
            }
            Self::BadScope { .. } => {
                "write scope = \"the-architect\", \"acme/the-architect\" or \"acme/*\"".to_owned()
            }
            Self::BadTimeout(_) => "write seconds from 1 to 86400, such as timeout = 600".to_owned(),
            Self::EmptyText(_) => "write a few words for the operator".to_owned(),
            Self::ControlCharacter(_) => "remove it: it would reach the operator's terminal".to_owned(),
            Self::NoTarget(_) => "write {} where that stands, for example web = \"firefox {}\"".to_owned(),
            Self::Command(fault) => fault.advice(),
        }
    }
}

impl fmt::Display for MistakeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(message) => write!(f, "this is not TOML: {message}"),
            Self::TooLarge { len } => {
                write!(f, "it is {len} bytes long: at most {} are read", crate::Tools::MAX_CONFIG)
            }
            Self::UnknownField { table, field, .. } => write!(f, "{table} has no field `{}`", shown(field)),
            Self::MissingField { field, .. } => write!(f, "the tool has no `{field}`"),
            Self::WrongType { field, expected, found, .. } => {
                write!(f, "`{}` takes {expected}, not {found}", shown(field))
            }
            Self::UnknownType(given) => write!(f, "there is no type {:?}", shown(given)),
            Self::PromptWithoutType => f.write_str("a question in a tool that asks none"),
            Self::BadKey(given) => write!(f, "{:?} is no key", shown(given)),
            Self::ReservedKey { key, action } => {
                write!(f, "key `{key}` is the console's: it {}", action.does())
            }
            Self::DuplicateKey { key, other } => write!(f, "key `{key}` is already that of {other:?}"),
            Self::BadScope { reason } => write!(f, "bad scope: {reason}"),
            Self::BadTimeout(given) => write!(f, "{} is no time limit", shown(given)),
            Self::EmptyText(field) => write!(f, "`{field}` is empty"),
            Self::ControlCharacter(field) => write!(f, "`{field}` contains a control character"),
            Self::NoTarget(handler) => {
                write!(
                    f,
                    "the handler `{}` has no {{}}, so that it is not told what to open",
                    handler.as_str()
                )
            }
            Self::Command(fault) => fault.fmt(f),
        }
    }
}

/// A text of the file as a message may repeat it: short, and harmless to a terminal.
fn shown(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String =
        text.chars().take(SHOWN).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
