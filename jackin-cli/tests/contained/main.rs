//! The capsule as the first process: in a PID namespace of its own, and in a container.

#[path = "../support/mod.rs"]
mod support;

#[path = "../support/docker.rs"]
mod docker;

mod container;
mod namespace;
mod red_team;

/// How many sessions run; those that ended badly are listed as well, without a pane.
fn live(status: &serde_json::Value) -> usize {
    status["sessions"].as_array().unwrap().iter().filter(|session| !session["pane"].is_null()).count()
}
