//! Knows whether a coding agent works, waits for an answer or is done, and why.
//!
//! [`Decoder`]s turn the lines that agents write for programs into [`RuntimeEvent`](jackin_core::RuntimeEvent)s, and
//! [`RuleSet`]s say what stands on an agent's screen.
//!
//! This crate never opens a file or a socket, never starts a process or a task, and never reads a clock: bytes, screens
//! and the time come in as arguments. Nothing that an agent writes makes it panic, hang or grow without bound; a line over
//! [`MAX_LINE`] is skipped unread. Where the evidence is not enough it says "unknown" and does not guess.
#![forbid(unsafe_code)]

mod decode;
mod evidence;
mod lines;
mod screen;

pub use decode::{
    AmpStream, AmpThread, BrokenLine, ClaudeHooks, ClaudeStream, ClaudeTranscript, CodexAppServer,
    CodexExecStream, CodexHooks, CodexNotify, CodexRollout, Decoded, Decoder, GeminiChat, GeminiHooks,
    GeminiStream, LineDecoder, OpenCodeRun, OpenCodeSse, Runtime, Tally, UnknownRuntime,
};
pub use evidence::{Channel, ContainerState, Evidence, Foreground, ProcessEnd, TerminalMark};
pub use lines::{LineSplitter, MAX_LINE};
pub use screen::{Confidence, Look, Progress, RuleProblem, RuleSet, Screen, ScreenSays, ScreenVerdict};
