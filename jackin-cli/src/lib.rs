//! Everything behind the commands `jackin` and `jackin-capsule`, usable without them. This is the only crate of the
//! workspace that touches PTYs, sockets, files, processes and clocks.
//!
//! | module | |
//! |---|---|
//! | [`backend`] | makes instances, as processes or in containers, finds them and takes them away |
//! | [`client`] | talks to a running capsule: asks, tells, follows its events |
//! | [`capsule`] | is a capsule: runs agents under the multiplexer and serves the socket |
//! | [`run`] | does headless runs and keeps their records |
//! | [`tools`] | runs the team's own actions |
//! | [`config`] | reads the operator's configuration, and tells everything that is wrong with it |
//! | [`host`], [`console`] | the operator's command line, and the screen over all agents |
//!
//! An instance from its beginning to its end, with a question to its capsule between:
//!
//! ```no_run
//! use jackin_cli::backend::{Backend, LocalBackend, Plan, Secrets};
//! use jackin_cli::client::Client;
//! use jackin_cli::config::{BackendKind, Paths};
//! use jackin_core::protocol::control::{Request, Status};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let backend = LocalBackend::new(Paths::new("/srv/agents", "/srv/agents/config"));
//! let mut plan = Plan::new("fix-login".parse()?, BackendKind::Local, "shop", "/srv/shop");
//! plan.command = vec!["claude".to_owned()];
//! backend.create(&plan, &Secrets::default(), &mut |step| println!("{step}")).await?;
//!
//! let mut capsule = Client::over(backend.open(&plan.instance).await?).await?;
//! let status: Status = capsule.call(Request::Status {}).await?;
//! println!("{}", status.sessions[0].status);
//!
//! backend.remove(&plan.instance).await?;
//! # Ok(())
//! # }
//! ```
//!
//! A capsule of this machine is the running program once more: one that embeds this crate hands `capsule` and what follows
//! on to [`host::main`], as `examples/examples/orchestrator.rs` in the repository does.

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
mod group;
#[cfg(feature = "host")]
pub mod host;
#[cfg(feature = "host")]
mod leftovers;
/// Where instances live, for programs that make their own.
#[cfg(feature = "host")]
pub mod backend {
    pub use crate::host::{
        Backend, BackendError, Brought, ByteStream, Changes, DockerBackend, Ending, FakeBackend, Found, Life,
        LocalBackend, Plan, Secrets, Steps, Worktree,
    };
}
#[cfg(feature = "host")]
mod regular;
#[cfg(feature = "host")]
pub mod run;
#[cfg(feature = "host")]
pub mod tools;
