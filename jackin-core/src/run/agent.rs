use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use thiserror::Error;

use super::environment::own_tokens;
use super::{Elsewhere, RunContext, RunLayout};
use crate::RuntimeEvent;

/// A backend: knows how to do one run with one kind of agent.
///
/// The runner makes the directory, the prompt and the environment, and records how it ended; an agent does what is in
/// between. It never touches the run's files other than by the sink, and it ends soon when `context.stop` asks for it,
/// with [`AgentError::Stopped`].
///
/// ```
/// use async_trait::async_trait;
/// use jackin_core::run::{Agent, AgentError, Ended, RunContext, RunSink};
///
/// struct Echo;
///
/// #[async_trait]
/// impl Agent for Echo {
///     fn name(&self) -> &str {
///         "echo"
///     }
///
///     async fn execute(&self, context: &RunContext, sink: &mut dyn RunSink) -> Result<Ended, AgentError> {
///         sink.stdout(context.prompt.as_bytes()).await?;
///         Ok(Ended::with_code(0))
///     }
/// }
/// ```
#[async_trait]
pub trait Agent: Send + Sync {
    /// Its name: what `--agent` takes and `run-info.yaml` tells.
    fn name(&self) -> &str;

    /// The token variables that are its own. The environment of its run has no other.
    fn tokens(&self) -> Vec<String> {
        own_tokens(self.name())
    }

    /// Variables that are set for it, over what it inherits.
    fn environment(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// What it runs or calls, for `run-info.yaml`: without the prompt, and without keys.
    fn command_line(&self, context: &RunContext) -> String {
        let _ = context;
        String::new()
    }

    /// Where its process runs, for `run-info.yaml`.
    fn place(&self) -> &'static str {
        "local"
    }

    /// Where it works, if that is not on this machine as it is: it is told paths that are true there, and of the runner's
    /// environment it has its own tokens alone.
    fn elsewhere(&self, run: &RunLayout, working_dir: &Path) -> Option<Elsewhere> {
        let _ = (run, working_dir);
        None
    }

    /// Its version, if it can tell. Asked for beside the run, so that nothing waits for it.
    async fn version(&self, context: &RunContext) -> Option<String> {
        let _ = context;
        None
    }

    /// Does the run.
    async fn execute(&self, context: &RunContext, sink: &mut dyn RunSink) -> Result<Ended, AgentError>;

    /// Takes away what the run made beside its files. Called when `execute` is over, however that came, even if it was
    /// dropped. The error is for people.
    async fn clear(&self, run: &RunLayout) -> Result<(), String> {
        let _ = run;
        Ok(())
    }
}

/// Where an agent puts what comes of its run.
#[async_trait]
pub trait RunSink: Send {
    /// Takes a piece of standard output, cut anywhere.
    async fn stdout(&mut self, bytes: &[u8]) -> Result<(), SinkError>;

    /// Takes a piece of standard error.
    async fn stderr(&mut self, bytes: &[u8]) -> Result<(), SinkError>;

    /// Takes what the agent said of itself, in the order in which it did.
    async fn events(&mut self, events: Vec<RuntimeEvent>);

    /// Is told that a process does the work from now on, and which.
    async fn process(&mut self, process: ProcessIds) -> Result<(), SinkError>;

    /// Is told what is being done before there is a process, for people.
    async fn note(&mut self, text: &str) {
        let _ = text;
    }

    /// Is told the agent's version, by a backend that learns it only while the agent runs.
    async fn version(&mut self, version: &str) {
        let _ = version;
    }
}

/// The process of a run; 0 where the numbers of this machine mean nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessIds {
    /// Its id.
    pub pid: i32,
    /// Its group's.
    pub pgid: i32,
}

/// How an agent ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code; 128 plus the signal where one ended it.
    pub exit_code: i32,
    /// What it said was wrong, where it did.
    pub error: Option<String>,
}

impl Ended {
    /// It ended with this code.
    pub fn with_code(exit_code: i32) -> Self {
        Self { exit_code, error: None }
    }

    /// A signal ended it.
    pub fn by_signal(signal: i32) -> Self {
        Self { exit_code: 128 + signal, error: Some(format!("the agent was ended by signal {signal}")) }
    }
}

/// What could not be kept.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cannot write {file}: {reason}")]
pub struct SinkError {
    /// The file.
    pub file: String,
    /// Why, and what to do.
    pub reason: String,
}

/// Why a run came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AgentError {
    /// It was asked to end, and did.
    #[error("stopped")]
    Stopped,
    /// Its program is not there.
    #[error("there is no program `{program}`: install it, or name it with its directory")]
    NotInstalled {
        /// The program.
        program: String,
    },
    /// The image that has its program is not there.
    #[error("there is no image {image}: {reason}")]
    NoImage {
        /// The image.
        image: String,
        /// Why, and what to do.
        reason: String,
    },
    /// Its program is not in the image.
    #[error(
        "there is no program `{program}` in the image {image}: install it there, or choose another image"
    )]
    NotInImage {
        /// The program.
        program: String,
        /// The image.
        image: String,
    },
    /// The directory to work in is not there.
    #[error("the working directory {dir} does not exist: make it, or name another with --cwd")]
    NoWorkdir {
        /// The directory.
        dir: String,
    },
    /// Its token is not there.
    #[error("{variable} is not set: put the key of {agent} into it")]
    NoToken {
        /// The agent.
        agent: String,
        /// The variable.
        variable: String,
    },
    /// The system refused to start it.
    #[error("cannot start `{program}`: {reason}")]
    CannotStart {
        /// The program.
        program: String,
        /// What the system says.
        reason: String,
    },
    /// A server refused the request.
    #[error("{server} answered {status}: {message}")]
    Refused {
        /// The server.
        server: String,
        /// The HTTP status.
        status: u16,
        /// What it said, and what to do.
        message: String,
    },
    /// A server cannot be reached.
    #[error("cannot reach {server}: {reason}")]
    Unreachable {
        /// The server.
        server: String,
        /// Why.
        reason: String,
    },
    /// A server said nothing for too long.
    #[error("{server} said nothing for {limit:?}")]
    Silent {
        /// The server.
        server: String,
        /// How long is too long.
        limit: Duration,
    },
    /// An answer ended before its end.
    #[error("the answer of {server} broke off: {reason}; what came is in agent-stdout.txt")]
    BrokenOff {
        /// The server.
        server: String,
        /// How it shows.
        reason: String,
    },
    /// What the agent produced could not be kept.
    #[error(transparent)]
    Record(#[from] SinkError),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl AgentError {
    /// The exit code that stands for it, as shells have them.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::NotInstalled { .. } | Self::NoImage { .. } | Self::NotInImage { .. } => 127,
            Self::CannotStart { .. } | Self::NoWorkdir { .. } => 126,
            Self::Stopped => 143,
            _ => 1,
        }
    }
}

/// A sink that keeps everything in memory: for tests of agents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollectedRun {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// What the agent said of itself.
    pub events: Vec<RuntimeEvent>,
    /// Its process.
    pub process: Option<ProcessIds>,
    /// What was told of it before there was one.
    pub notes: Vec<String>,
    /// Its version.
    pub version: Option<String>,
}

#[async_trait]
impl RunSink for CollectedRun {
    async fn stdout(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        self.stdout.extend_from_slice(bytes);
        Ok(())
    }

    async fn stderr(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        self.stderr.extend_from_slice(bytes);
        Ok(())
    }

    async fn events(&mut self, events: Vec<RuntimeEvent>) {
        self.events.extend(events);
    }

    async fn process(&mut self, process: ProcessIds) -> Result<(), SinkError> {
        self.process = Some(process);
        Ok(())
    }

    async fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    async fn version(&mut self, version: &str) {
        self.version = Some(version.to_owned());
    }
}
