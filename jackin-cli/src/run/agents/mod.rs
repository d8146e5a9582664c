//! The backends. A new one is a file in here, or anywhere, and a line in [`Agents::new`] or a call of
//! [`Agents::register`].

mod cli;
mod plain;
mod process;
mod rest;

use std::collections::BTreeMap;
use std::sync::Arc;

use jackin_core::run::Agent;
use thiserror::Error;

pub use cli::Cli;
pub use plain::Plain;
pub use rest::Rest;

use super::settings::{Backend, RunSettings};

/// The agents that runs can be done with, by name.
///
/// ```
/// use jackin_cli::run::{Agents, RunSettings};
/// use jackin_core::run::ScriptedAgent;
///
/// let mut agents = Agents::new(&RunSettings::default());
/// agents.register(ScriptedAgent::new("parrot").prints("hello\n"));
/// assert!(agents.get("parrot").is_ok() && agents.get("claude").is_ok());
/// assert!(agents.get("clod").err().unwrap().to_string().contains("claude, codex"));
/// ```
#[derive(Clone, Default)]
pub struct Agents {
    known: BTreeMap<String, Arc<dyn Agent>>,
}

/// Nobody has that name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no agent {name:?}: write one of {known}, or record any command with --wrap")]
pub struct UnknownAgent {
    name: String,
    known: String,
}

impl Agents {
    /// Those of the settings.
    pub fn new(settings: &RunSettings) -> Self {
        let mut agents = Self::default();
        for (name, agent) in &settings.agents {
            match &agent.backend {
                Backend::Command(command) => agents.register(Cli::new(name, agent, command, settings.grace)),
                Backend::Rest(rest) => agents.register(Rest::new(name, agent, rest)),
            }
        }
        agents
    }

    /// Adds an agent, or replaces the one of its name.
    pub fn register(&mut self, agent: impl Agent + 'static) {
        self.known.insert(agent.name().to_owned(), Arc::new(agent));
    }

    /// The agent of this name.
    pub fn get(&self, name: &str) -> Result<Arc<dyn Agent>, UnknownAgent> {
        self.known.get(name).cloned().ok_or_else(|| UnknownAgent {
            name: jackin_core::one_line(name, 60),
            known: self.known.keys().cloned().collect::<Vec<_>>().join(", "),
        })
    }
}
