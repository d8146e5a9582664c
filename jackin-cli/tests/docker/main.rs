//! The Docker backend against a real engine. Images have no capsule in them: it is put into each container.

#[path = "../support/mod.rs"]
mod support;

#[path = "../support/sshd.rs"]
mod sshd;

#[path = "../support/docker.rs"]
mod docker;

mod bench;
mod bytes;
mod command_line;
mod ends;
mod engines;
mod launch;
mod leftovers;
mod luggage;
mod operators;
mod read_only;
mod recordings;
mod refusals;
mod registry;
mod sidecars;
mod ssh;
mod worktrees;
