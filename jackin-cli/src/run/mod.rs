//! Headless runs: the same agents without a terminal, for scripts, CI and queues, each leaving a complete record.
//!
//! A [`Runner`] takes a [`RunRequest`] through its steps and keeps the record in a [`Store`]; [`Agents`] knows the
//! backends; a [`Place`] is where their processes are. The contract is in [`jackin_core::run`]; `docs/runs.md` describes
//! every file.

mod agents;
pub mod bus;
mod clock;
mod command;

mod desk;
mod files;
mod observe;
mod place;
mod runner;
mod settings;
mod store;
mod yaml;

pub use agents::{Agents, Cli, Plain, Rest, UnknownAgent};

pub(crate) use command::{RunArgs, RunsArgs, run, runs};
pub use observe::{RunEvent, RunObserver};
pub use place::{Docker, Happened, Local, Notes, Place, PlaceCommand, PlaceProcess};
pub use runner::{FinishedRun, RunRequest, Runner};
pub use settings::{AgentCommand, AgentSettings, Backend, RestSettings, RunSettings, settings};
pub use store::{Collected, ContainerWas, Containers, FoundRun, RunDirectory, Store, StoreError};
