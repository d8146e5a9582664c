//! The pane's terminal, from outside.

mod alacritty;
mod behaviour;
mod differential;
mod generate;
mod golden;
mod jump;
mod prompts;
mod reading;
mod shown;
mod streams;
