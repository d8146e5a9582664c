//! The vocabulary that all jackin crates share: names and ids, what an agent is doing and why, the events that
//! programs subscribe to, the bus that carries them, the protocol of a capsule's socket, and the contract of headless
//! runs ([`run`]).
//!
//! This crate never does I/O, never reads a clock and never starts a task. Time is an argument ([`Timestamp`]), bytes
//! come from the caller ([`protocol`]), and the bus ([`EventBus`]) only wakes whoever waits on it.
//!
//! A whole program: an agent's status changes, an operator hears of it.
//!
//! ```
//! use jackin_core::{
//!     AgentStatus, Attention, Cause, InstanceName, Received, SessionId, Source, Standing, StatusBus, StatusEvent,
//!     Timestamp,
//! };
//!
//! let bus = StatusBus::new(64);
//! let mut operator = bus.subscribe();
//!
//! let instance: InstanceName = "api-fix".parse()?;
//! let session = SessionId::new(1).unwrap();
//! let now = Timestamp::from_millis(1_763_251_200_000);
//!
//! let mut standing = Standing::new(now);
//! let question = AgentStatus::Question { prompt: Some("Run the tests?".into()), since: now };
//! if standing.set(question, Cause::new(Source::Hook, "PermissionRequest", now)) {
//!     let change = StatusEvent {
//!         status: standing.status().clone(),
//!         attention: standing.attention(),
//!         cause: standing.cause().clone(),
//!     };
//!     bus.publish((instance, session, change));
//! }
//!
//! let Some(Received::Value((instance, _, change))) = operator.try_next() else { panic!() };
//! assert_eq!(change.attention, Attention::Blocked);
//! assert_eq!(format!("{instance}: {} ({})", change.status, change.cause),
//!     "api-fix: question: Run the tests? (hook: PermissionRequest)");
//! # Ok::<(), jackin_core::NameError>(())
//! ```
//!
//! # Panics
//! Nothing that a peer sends panics. The functions that panic on a caller's mistake say so.
#![forbid(unsafe_code)]

/// The examples of the crate's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod agent_file;
mod attention;
mod bus;
mod event;
mod name;
pub mod protocol;
pub mod run;
mod size;
mod status;
mod tag;
mod text;
mod time;

pub use agent_file::{
    AgentEntry, AgentFile, ForwardEntry, GitIdentity, KeysEntry, Limits, MuxEntry, UserEntry,
};
pub use attention::{Attention, Standing, UnknownAttention};
pub use bus::{EventBus, Received, StatusBus, Subscription};
pub use event::{Event, EventKind, RuntimeEvent, StatusEvent, Usage, UsageScope};
pub use name::{InstanceName, NameError, PaneId, RoleName, RoleSelector, SessionId};
pub use run::RunId;
pub use size::Size;
pub use status::{AgentStatus, Cause, Source, Strength};
pub use tag::{AgentTag, TagKind};
pub use text::one_line;
pub use time::Timestamp;
