//! Reads the tags.
#![forbid(unsafe_code)]

mod block;
mod finding;
mod inline;
mod judge;
mod line;
mod markup;
mod namespace;
mod parser;
mod value;

pub use finding::{Finding, ParsedTag, Place, SkipReason, SkippedTag};
pub use inline::SPAN_MAX;
pub use namespace::Namespace;
pub use parser::{ParserOptions, TagParser};
pub use value::{
    IssueUrl, Link, PrUrl, RepoRef, STATUS_COLUMNS, StatusHint, TagValue, VALUE_MAX, ValueError,
};
