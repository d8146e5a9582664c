//! The contract of headless runs: the same agents without a terminal, leaving a complete record.
//!
//! A run belongs to a task of a project. Its directory holds the prompt, what the agent printed, its summary and what
//! is known of the run ([`RunLayout`], [`RunInfo`]); the task's message bus tells when runs begin and end
//! ([`BusMessage`]). A backend is an [`Agent`]: it is given a [`RunContext`] and a [`RunSink`] and does one run.
//!
//! Here are the types and the rules, which need no file, process or clock. What carries them out is `jackin_cli::run`.
//!
//! ```
//! use jackin_core::run::{Agent, CollectedRun, Ended, RunContext, RunLayout, ScriptedAgent, TaskLayout};
//! use jackin_core::{RunId, Timestamp};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let id = RunId::new(Timestamp::from_millis(1_763_251_200_123), 4711, 1);
//! let task = TaskLayout::new("/runs", "api".parse()?, "fix-login".parse()?);
//! let context = RunContext::new(RunLayout::new(task, id), "Fix the login");
//!
//! let agent = ScriptedAgent::new("parrot").prints("Fixed.\n").ends(0);
//! let mut run = CollectedRun::default();
//! let ended = agent.execute(&context, &mut run).await?;
//! assert_eq!((ended, &run.stdout[..]), (Ended::with_code(0), &b"Fixed.\n"[..]));
//! # Ok(())
//! # }
//! ```

mod agent;
mod bus;
mod context;
mod elsewhere;
mod environment;
mod id;
mod info;
mod layout;
mod message;
mod name;
mod preamble;
mod scripted;
mod step;
mod stop;

pub use agent::{Agent, AgentError, CollectedRun, Ended, ProcessIds, RunSink, SinkError};
pub use bus::{BusScanner, RawMessage};
pub use context::RunContext;
pub use elsewhere::{Elsewhere, RunContainer};
pub use environment::{Environment, KNOWN_TOKENS, TOKENS, own_tokens};
pub use id::RunId;
pub use info::{LiveStatus, RunInfo, RunStatus, RunUsage, RunnerInfo};
pub use layout::{RunLayout, TaskLayout};
pub use message::{BusMessage, MessageId, MessageLink, MessageParent, RUN_CRASH, RUN_START, RUN_STOP};
pub use name::{ProjectId, TaskId};
pub use preamble::preamble;
pub use scripted::ScriptedAgent;
pub use step::Step;
pub use stop::{Stop, StopReason};
