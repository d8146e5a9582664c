use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use jackin_core::run::{Agent, AgentError, Elsewhere, Ended, RunContext, RunLayout, RunSink, own_tokens};

use super::process::{Work, carry_out};
use crate::run::place::{Local, Place, PlaceCommand};

/// Any command: it is run and recorded, and what it prints is not looked into.
///
/// It reads the prompt as its standard input, unless it is told not to.
pub struct Plain {
    name: String,
    words: Vec<String>,
    grace: Duration,
    reads_prompt: bool,
    place: Box<dyn Place>,
}

impl Plain {
    /// An agent of this name that runs this program with its arguments.
    pub fn new(name: impl Into<String>, words: Vec<String>, grace: Duration) -> Self {
        Self { name: name.into(), words, grace, reads_prompt: true, place: Box::new(Local) }
    }

    /// The same in another place.
    pub fn in_place(self, place: impl Place + 'static) -> Self {
        Self { place: Box::new(place), ..self }
    }

    /// The same with nothing to read.
    pub fn without_prompt(self) -> Self {
        Self { reads_prompt: false, ..self }
    }
}

#[async_trait]
impl Agent for Plain {
    fn name(&self) -> &str {
        &self.name
    }

    fn tokens(&self) -> Vec<String> {
        own_tokens(&self.name)
    }

    fn command_line(&self, _context: &RunContext) -> String {
        shell_words::join(&self.words)
    }

    fn place(&self) -> &'static str {
        self.place.name()
    }

    async fn execute(&self, context: &RunContext, sink: &mut dyn RunSink) -> Result<Ended, AgentError> {
        let Some((program, args)) = self.words.split_first() else {
            return Err(AgentError::Other("there is no command: write it after `--`".to_owned()));
        };
        let command = PlaceCommand {
            program: program.into(),
            args: args.iter().map(Into::into).collect(),
            env: context.environment.clone(),
            cwd: context.working_dir.clone(),
            stdin: self.reads_prompt.then(|| context.layout.prompt()),
        };
        let work =
            Work { place: &*self.place, command, decoder: None, version: Vec::new(), grace: self.grace };
        carry_out(work, context, sink).await
    }

    fn elsewhere(&self, run: &RunLayout, working_dir: &Path) -> Option<Elsewhere> {
        self.place.elsewhere(run, working_dir)
    }

    async fn clear(&self, run: &RunLayout) -> Result<(), String> {
        self.place.clear(run).await
    }
}
