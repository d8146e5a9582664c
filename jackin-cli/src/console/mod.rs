//! The console: one screen over all agents.
//!
//! `model` is what is known and shown, `update` what a message does to it, `view` how it looks; these three do no I/O.
//! `effects` does what the update asks for, beside the loop in `run`, and answers with messages. Nothing in the loop waits
//! for a host or an instance.

mod actions;
mod background;
mod effects;
mod input;
mod model;
mod overview;
mod run;
mod terminal;
#[cfg(test)]
mod tests;
mod update;
mod view;

pub use actions::{Actions, NewAgent};
pub use overview::Overview;
pub use run::run;
