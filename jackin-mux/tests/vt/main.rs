//! The pane's terminal, from outside.

mod behaviour;
mod shown;
mod streams;
