use std::fmt;

use jackin_core::AgentTag;

use crate::namespace::Namespace;
use crate::value::{TagValue, ValueError};

/// What the parser has to say about a mark that it met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A tag.
    Tag(ParsedTag),
    /// Something that looked like a tag and is none. Reported only when asked for: see
    /// [`ParserOptions::explain`](crate::ParserOptions::explain).
    Skipped(SkippedTag),
}

impl Finding {
    /// Where it stands.
    pub fn place(&self) -> Place {
        match self {
            Self::Tag(tag) => tag.place,
            Self::Skipped(skipped) => skipped.place,
        }
    }
}

/// A tag, and where it stood in its message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedTag {
    /// The tag as the agent wrote it, its value trimmed.
    pub tag: AgentTag,
    /// The value, understood.
    pub value: TagValue,
    /// Where its `<` stands.
    pub place: Place,
}

/// A mark that yielded no tag.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedTag {
    /// The namespace that it was written in.
    pub namespace: Namespace,
    /// The kind, where there was one to read.
    pub kind: Option<String>,
    /// The value, where the tag was whole and its value was what was wrong; control characters are shown as escapes.
    pub value: Option<String>,
    /// Why it does not count.
    pub reason: SkipReason,
    /// Where its `<` stands.
    pub place: Place,
}

/// A position in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line, counted from 1.
    pub line: u64,
    /// The byte, counted from 0.
    pub offset: u64,
}

/// Why something that looks like a tag does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// It stands in a fenced code block, or on the line that opens one.
    Fenced,
    /// It stands in an inline code span, or its end does.
    CodeSpan,
    /// Something stands between the kind and `>`.
    Attributes,
    /// What follows the colon is not the name of a kind.
    BadKind,
    /// No closing mark follows before the message or the text around it ends.
    Unclosed,
    /// Another mark stands where its closing mark should.
    Nested,
    /// The closing mark is of another kind or namespace.
    Mismatched,
    /// A closing mark that closes nothing.
    StrayClose,
    /// The value is not UTF-8.
    NotUtf8,
    /// The value is not what its kind calls for.
    Value(ValueError),
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fenced => "in a fenced code block",
            Self::CodeSpan => "in an inline code span",
            Self::Attributes => "a tag takes no attributes: nothing may stand between the kind and `>`",
            Self::BadKind => {
                "a kind is a lower-case letter, then lower-case letters, digits, `-` or `_`, 32 at most"
            }
            Self::Unclosed => "never closed",
            Self::Nested => "another tag begins inside it",
            Self::Mismatched => "closed by the mark of another kind or namespace",
            Self::StrayClose => "closes nothing",
            Self::NotUtf8 => "the value is not UTF-8",
            Self::Value(error) => return error.fmt(f),
        })
    }
}
