use async_trait::async_trait;

use super::{Agent, AgentError, Ended, RunContext, RunSink};
use crate::RuntimeEvent;

/// An agent that does what it was told to in advance: for tests of runners, and of what is built on them.
///
/// ```
/// use jackin_core::RuntimeEvent;
/// use jackin_core::run::ScriptedAgent;
///
/// let agent = ScriptedAgent::new("parrot")
///     .says(RuntimeEvent::TurnStarted)
///     .prints("half of it")
///     .complains("no crackers left\n")
///     .ends(3);
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedAgent {
    name: String,
    version: Option<String>,
    tokens: Option<Vec<String>>,
    acts: Vec<Act>,
    ending: Ending,
}

#[derive(Clone, Debug)]
enum Act {
    Print(Vec<u8>),
    Complain(Vec<u8>),
    Say(RuntimeEvent),
    PrintVariable(String),
}

#[derive(Clone, Debug)]
enum Ending {
    Code(i32),
    Error(AgentError),
    /// Not before it is asked to.
    WhenStopped,
    /// Not even then.
    Never,
    Panic,
}

impl ScriptedAgent {
    /// An agent that does nothing and ends well.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), version: None, tokens: None, acts: Vec::new(), ending: Ending::Code(0) }
    }

    /// It has a version.
    pub fn with_version(self, version: impl Into<String>) -> Self {
        Self { version: Some(version.into()), ..self }
    }

    /// These token variables are its own.
    pub fn with_tokens(self, tokens: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { tokens: Some(tokens.into_iter().map(Into::into).collect()), ..self }
    }

    /// It writes to standard output.
    pub fn prints(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.and(Act::Print(bytes.into()))
    }

    /// It writes to standard error.
    pub fn complains(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.and(Act::Complain(bytes.into()))
    }

    /// It tells something of itself.
    pub fn says(self, event: RuntimeEvent) -> Self {
        self.and(Act::Say(event))
    }

    /// It says a whole message to the operator.
    pub fn says_text(self, text: impl Into<String>) -> Self {
        let message_id = format!("m{}", self.acts.len());
        self.says(RuntimeEvent::AssistantText { message_id, chunk: text.into(), end: true })
    }

    /// It prints `NAME=VALUE` for a variable of its environment, or `NAME is not set`.
    pub fn prints_variable(self, name: impl Into<String>) -> Self {
        self.and(Act::PrintVariable(name.into()))
    }

    /// Then it ends with this code.
    pub fn ends(self, exit_code: i32) -> Self {
        Self { ending: Ending::Code(exit_code), ..self }
    }

    /// Then it fails.
    pub fn fails(self, error: AgentError) -> Self {
        Self { ending: Ending::Error(error), ..self }
    }

    /// Then it goes on until it is asked to end.
    pub fn goes_on(self) -> Self {
        Self { ending: Ending::WhenStopped, ..self }
    }

    /// Then it goes on, whatever it is asked.
    pub fn never_ends(self) -> Self {
        Self { ending: Ending::Never, ..self }
    }

    /// Then it panics.
    pub fn panics(self) -> Self {
        Self { ending: Ending::Panic, ..self }
    }

    fn and(mut self, act: Act) -> Self {
        self.acts.push(act);
        self
    }
}

#[async_trait]
impl Agent for ScriptedAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn tokens(&self) -> Vec<String> {
        self.tokens.clone().unwrap_or_else(|| super::own_tokens(&self.name))
    }

    fn command_line(&self, _context: &RunContext) -> String {
        format!("(scripted: {} acts)", self.acts.len())
    }

    async fn version(&self, _context: &RunContext) -> Option<String> {
        self.version.clone()
    }

    async fn execute(&self, context: &RunContext, sink: &mut dyn RunSink) -> Result<Ended, AgentError> {
        for act in &self.acts {
            match act {
                Act::Print(bytes) => sink.stdout(bytes).await?,
                Act::Complain(bytes) => sink.stderr(bytes).await?,
                Act::Say(event) => sink.events(vec![event.clone()]).await,
                Act::PrintVariable(name) => {
                    let line = match context.variable(name) {
                        Some(value) => format!("{name}={value}\n"),
                        None => format!("{name} is not set\n"),
                    };
                    sink.stdout(line.as_bytes()).await?;
                }
            }
        }
        match &self.ending {
            Ending::Code(code) => Ok(Ended::with_code(*code)),
            Ending::Error(error) => Err(error.clone()),
            Ending::WhenStopped => {
                context.stop.requested().await;
                Err(AgentError::Stopped)
            }
            Ending::Never => std::future::pending().await,
            Ending::Panic => panic!("the script says so"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{CollectedRun, RunLayout, StopReason, TaskLayout};

    #[tokio::test]
    async fn it_does_what_the_script_says_until_it_is_stopped() {
        let task = TaskLayout::new("/runs", "api".parse().unwrap(), "fix".parse().unwrap());
        let layout = RunLayout::new(task, "20260223-1530221234-991-1".parse().unwrap());
        let mut context = RunContext::new(layout, "x");
        context.environment.insert("MODE".into(), "fast".into());
        let agent = ScriptedAgent::new("parrot")
            .prints_variable("MODE")
            .prints_variable("NONE")
            .complains("e")
            .goes_on();
        context.stop.request(StopReason::Asked);
        let mut run = CollectedRun::default();
        assert_eq!(agent.execute(&context, &mut run).await, Err(AgentError::Stopped));
        assert_eq!(run.stdout, b"MODE=fast\nNONE is not set\n");
        assert_eq!(run.stderr, b"e");
    }
}
