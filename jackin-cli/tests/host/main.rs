//! The operator's command line over instances of this machine: real processes, real sockets, real files.

#[path = "../support/mod.rs"]
mod support;

mod context;
mod ended;
mod history;
mod hooks;
mod interrupted;
mod life;
mod mistakes;
mod operator;
mod scripts;
mod skills;
