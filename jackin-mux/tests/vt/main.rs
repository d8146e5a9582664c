//! The pane's terminal, from outside.

mod alacritty;
mod behaviour;
mod differential;
mod golden;
mod prompts;
mod reading;
mod shown;
mod streams;
