//! Headless runs: the runner with scripted agents, real processes and a real HTTP server, and the commands from outside.
#![allow(unreachable_pub, reason = "the modules of a test are for each other")]

#[path = "../support/mod.rs"]
mod support;

#[path = "../support/docker.rs"]
mod docker;

mod commands;
mod container;
mod container_crash;
mod container_ends;
mod crash;
mod disk;
mod docs;
mod many;
mod processes;
mod rest;
mod scene;
mod server;
mod steps;
mod structured;
