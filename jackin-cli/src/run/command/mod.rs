//! `jackin run` and `jackin runs`.

mod args;
mod duration;
mod list;
mod parallel;
mod progress;
mod prompt;
mod runs;
mod show;
mod signals;
mod single;
mod tail;
mod view;

pub(crate) use args::{RunArgs, run};
pub(crate) use runs::{RunsArgs, runs};
