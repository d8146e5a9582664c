//! Knows whether a coding agent works, waits for an answer or is done, and why.
//!
//! Three layers, each usable without the next:
//! - [`Decoder`]s turn the lines that agents write for programs into [`RuntimeEvent`](jackin_core::RuntimeEvent)s, and
//!   [`RuleSet`]s say what stands on an agent's screen.
//! - The [`Authority`] weighs such [`Evidence`] by strength and age, and says what is true, why, and when to look again.
//! - [`StatusAdapter`]s drive the two and publish what changes on a [`StatusBus`](jackin_core::StatusBus).
//!
//! This crate never opens a file or a socket, never starts a process or a task, and never reads a clock: bytes, screens
//! and the time come in as arguments. Nothing that an agent writes makes it panic, hang or grow without bound; a line over
//! [`MAX_LINE`] is skipped unread. Where the evidence is not enough it says "unknown" and does not guess.
//!
//! A whole program: what a recording of `claude -p --output-format stream-json` tells, line by line.
//!
//! ```
//! use jackin_status::{Replay, Runtime};
//!
//! let recording = r#"{"type":"system","subtype":"init","session_id":"s1","model":"opus"}
//! {"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"make"}}}
//! {"type":"control_response","response":{"request_id":"r1"}}
//! {"type":"result","subtype":"success","is_error":true,"result":"overloaded"}
//! "#;
//!
//! let mut told = Vec::new();
//! Replay::new(Runtime::ClaudeStream).feed(recording.as_bytes(), |change| told.push(change.to_string()));
//! assert_eq!(told, [
//!     "line 1: busy [stream: turn started]",
//!     "line 2: question: Allow Bash: make? [stream: asks: Allow Bash: make?]",
//!     "line 3: busy [stream: answered]",
//!     "line 4: idle (last turn failed: overloaded) [stream: turn failed: overloaded]",
//! ]);
//! ```
#![forbid(unsafe_code)]

/// The examples of the crate's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod adapter;
mod authority;
mod decode;
mod evidence;
mod lines;
mod replay;
mod screen;
mod usage;

pub use adapter::{
    AmpStreamJson, AmpThreadFile, ClaudeHookReports, ClaudeStreamJson, ClaudeTranscriptTail,
    CodexAppServerEvents, CodexExec, CodexHookReports, CodexNotifyReports, CodexRolloutTail, Feed, FeedItem,
    Format, GeminiChatTail, GeminiHookReports, GeminiStreamJson, Heuristic, LinesAdapter, OpenCodeEvents,
    OpenCodeRunJson, Reporter, ScriptedFeed, StatusAdapter,
};
pub use authority::{Authority, Verdict};
pub use decode::{
    AmpStream, AmpThread, BrokenLine, ClaudeHooks, ClaudeStream, ClaudeTranscript, CodexAppServer,
    CodexExecStream, CodexHooks, CodexNotify, CodexRollout, Decoded, Decoder, GeminiChat, GeminiHooks,
    GeminiStream, LineDecoder, OpenCodeRun, OpenCodeSse, Runtime, Tally, UnknownRuntime,
};
pub use evidence::{Channel, ContainerState, Evidence, Foreground, ProcessEnd, TerminalMark};
pub use lines::{LineSplitter, MAX_LINE};
pub use replay::{Replay, Transition};
pub use screen::{Confidence, Look, Progress, RuleProblem, RuleSet, Screen, ScreenSays, ScreenVerdict};
pub use usage::ReportedUsage;
