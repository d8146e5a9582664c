//! The control plane beside the agents: a daemon that runs them under the multiplexer and serves a socket, and the
//! clients of that socket.

mod agents;
mod alarm;
mod args;
mod attach;
mod bridge;
mod clock;
mod config;
mod connection;
mod control;
mod ctl;
mod daemon;
mod device;
mod endings;
mod events;
mod exec_as;
mod guard;
mod init;
mod launch;
mod lend;
mod log;
mod memory;
mod output;
mod own;
mod peer;
mod places;
mod reader;
mod record;
mod refusals;
mod report;
mod session;
mod sieve;
mod socket;
mod spawn;
mod status;
mod sweep;
mod tags;
mod terminal;
mod times;
mod turns;
mod unstarted;
mod user;
mod watch;

#[cfg(feature = "host")]
pub(crate) use agents::{runtime_of, runtimes};
#[cfg(all(test, feature = "host"))]
pub(crate) use args::command;
pub use args::{CapsuleArgs, main, run};
#[cfg(feature = "host")]
pub(crate) use args::{block_on, exit};
pub use attach::{Part, Parting, attach, attach_over};
#[cfg(feature = "host")]
pub(crate) use config::check_mux;
pub use config::{AgentFileMistake, AgentFileOutcome, read_agent_file};
#[cfg(feature = "host")]
pub(crate) use ctl::{describe, explain, tag_lines};
#[cfg(feature = "host")]
pub(crate) use daemon::new_token;
#[cfg(feature = "host")]
pub(crate) use device::Device;
pub use endings::{EndRecord, EndedSession};
#[cfg(feature = "host")]
pub(crate) use launch::{HookSet, hook_set};
#[cfg(feature = "host")]
pub(crate) use output::{print_line, printable};
#[cfg(feature = "host")]
pub(crate) use own::Own;
#[cfg(feature = "host")]
pub(crate) use report::{ReportError, report};
#[cfg(feature = "host")]
pub(crate) use spawn::{SESSION_VARIABLES, SpawnOptions, fresh_dir, spawn_daemon};
#[cfg(feature = "host")]
pub(crate) use terminal::{Terminal, open_terminal};
#[cfg(feature = "host")]
pub(crate) use user::group_and_home;
#[cfg(feature = "host")]
pub(crate) use watch::branch;

use std::time::{SystemTime, UNIX_EPOCH};

use jackin_core::Timestamp;

/// Now, for the pure crates.
pub(crate) fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
}
