//! Everything behind the commands `jackin` and `jackin-capsule`, usable without them.
//!
//! [`capsule`] runs agents under the multiplexer and serves the socket; [`client`] talks to such a socket from a
//! program; [`run`] does headless runs; [`tools`] runs the operator's own actions; [`host`] is the operator's command line. This is the only crate
//! of the workspace that touches PTYs, sockets, files, processes and clocks.

#[cfg(feature = "capsule")]
pub mod capsule;
#[cfg(feature = "capsule")]
pub mod client;
#[cfg(feature = "host")]
pub mod config;
#[cfg(feature = "host")]
pub mod console;
#[cfg(feature = "host")]
mod demo;
#[cfg(feature = "host")]
pub mod host;
/// Where instances live, for programs that make their own.
#[cfg(feature = "host")]
pub mod backend {
    pub use crate::host::{
        Backend, BackendError, ByteStream, Changes, DockerBackend, Ending, FakeBackend, Found, Life,
        LocalBackend, Plan, Secrets, Steps, Worktree,
    };
}
#[cfg(feature = "host")]
pub mod run;
#[cfg(feature = "host")]
pub mod tools;
