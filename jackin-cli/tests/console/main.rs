//! The console end to end: the real program on a real terminal, over real capsules.

#[path = "../support/mod.rs"]
mod support;

#[path = "../support/sshd.rs"]
mod sshd;

mod agents;
mod first_steps;
mod mouse;
mod notified;
mod operator;
mod over_ssh;
mod terminals;
mod whole;
