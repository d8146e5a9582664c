//! What a real capsule finds out about scripted agents: by their transcripts, hooks, screens, servers and processes.

#[path = "../support/mod.rs"]
mod support;

mod config;
mod hooks;
mod output;
mod recognition;
mod scene;
mod screens;
mod sending;
mod server;
mod transcripts;
