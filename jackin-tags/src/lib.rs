//! How an agent tells its operator what it is working on: one line of its own text,
//! `<jackin:pr>https://github.com/o/r/pull/7</jackin:pr>`.
//!
//! This crate finds such tags in an agent's messages ([`TagParser`], and [`TagExtractor`] for whole runtimes), checks
//! and types their values ([`TagValue`]), keeps what an instance's agents have declared ([`TagIndex`]), and lays the
//! operator's corrections over it ([`Overrides`], [`TagView`]).
//!
//! It never does I/O, never reads a clock, and never fails on what an agent wrote: what is not a tag is skipped, and no
//! value ever has a control character. Its work is linear in the input and its memory bounded, whatever arrives.
//!
//! A whole program: the pieces of a message come in, and the operator asks what the agent works on.
//!
//! ```
//! use jackin_core::{RuntimeEvent, SessionId, TagKind, Timestamp};
//! use jackin_tags::{Overrides, TagExtractor, TagIndex, TagView};
//!
//! let mut extractor = TagExtractor::new("api-fix".parse()?, SessionId::new(1).unwrap());
//! let mut index = TagIndex::new();
//! let now = Timestamp::from_millis(1_763_251_200_000);
//! for (chunk, end) in [("Fixed it: <jackin:pr>https://github.com", false), ("/o/r/pull/7</jackin:pr>", true)] {
//!     let event = RuntimeEvent::AssistantText { message_id: "m1".into(), chunk: chunk.into(), end };
//!     for tag in extractor.handle(&event, now) {
//!         index.record(&tag);
//!     }
//! }
//! let view = TagView::new(&index, &Overrides::new());
//! assert_eq!(view.latest(&TagKind::Pr).unwrap().value, "https://github.com/o/r/pull/7");
//! # Ok::<(), jackin_core::NameError>(())
//! ```
//!
//! # What counts as a tag
//! - `<NAMESPACE:KIND>VALUE</NAMESPACE:KIND>`, exactly so: no attributes, no white space within a mark. Namespaces:
//!   [`Namespace`]. A kind is a lower-case letter followed by lower-case letters, digits, `-` and `_`, 32 at most.
//! - The value reaches to the next mark of any namespace, which must be its closing mark. `<` as such is no mark. White
//!   space around the value is trimmed, line feeds included; one within it is a control character, and drops the tag. So do
//!   more than [`VALUE_MAX`] bytes, and the characters that turn text around (U+202A–202E, U+2066–2069, U+2028–2029).
//! - Fenced code does not count, by [CommonMark]'s rules for fences, in block quotes and list items too. Indented code and
//!   HTML blocks are text. A fence ends a tag that is open.
//! - Inline code spans do not count, by the same rules, with two simplifications. A span is at most [`SPAN_MAX`]
//!   bytes long: a run of backticks that is not closed by then is literal. And a run after a backslash opens no span at
//!   all. A tag whose marks stand outside code may have code in its value.
//! - A tag behind a run of backticks that may yet open a span is reported when that is settled.
//! - Bounds on structure: quotes and lists count 32 deep; the markers of a line count within its first 256 bytes; a
//!   backtick in the first 256 bytes behind an opening fence of backticks makes that line text.
//! - Lines end with LF or CRLF.
//!
//! [CommonMark]: https://spec.commonmark.org
#![forbid(unsafe_code)]

/// The examples of the crate's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod block;
mod event;
mod extract;
mod finding;
mod index;
mod inline;
mod judge;
mod line;
mod markup;
mod namespace;
mod overrides;
mod parser;
mod plain;
mod scan;
mod snapshot;
mod value;
mod view;

pub use event::{AgentTagEvent, TagBus, TagSource};
pub use extract::TagExtractor;
pub use finding::{Finding, ParsedTag, Place, SkipReason, SkippedTag};
pub use index::{Declared, TagIndex, VALUES_MAX};
pub use inline::SPAN_MAX;
pub use namespace::Namespace;
pub use overrides::{Override, OverrideAction, OverrideError, Overrides};
pub use parser::{ParserOptions, TagParser};
pub use plain::PlainExtractor;
pub use snapshot::{TagDiff, TagSnapshot};
pub use value::{
    IssueUrl, Link, PrUrl, RepoRef, STATUS_COLUMNS, StatusHint, TagValue, VALUE_MAX, ValueError,
};
pub use view::{TagView, ViewedTag};
