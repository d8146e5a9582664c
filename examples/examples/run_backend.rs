//! A backend of your own for headless runs: a "reviewer" that counts what it is asked to look at.
//!
//! Run it with a prompt: `cargo run -p jackin-examples --example run_backend -- "Look at TODO and FIXME"`.
#![allow(clippy::disallowed_macros, reason = "an example prints")]

use async_trait::async_trait;
use jackin_cli::run::{Agents, RunRequest, RunSettings, Runner, Store};
use jackin_core::RuntimeEvent;
use jackin_core::run::{Agent, AgentError, Ended, RunContext, RunSink};

/// The whole backend: a name, and what to do with a prompt.
struct Reviewer;

#[async_trait]
impl Agent for Reviewer {
    fn name(&self) -> &'static str {
        "reviewer"
    }

    fn command_line(&self, _context: &RunContext) -> String {
        "(built in)".to_owned()
    }

    async fn version(&self, _context: &RunContext) -> Option<String> {
        Some("reviewer 1.0".to_owned())
    }

    async fn execute(&self, context: &RunContext, sink: &mut dyn RunSink) -> Result<Ended, AgentError> {
        // What it does is told as events, so that the run has a live status, tags and last words.
        sink.events(vec![RuntimeEvent::TurnStarted]).await;
        let mut words = 0;
        for word in context.prompt.split_whitespace() {
            // An agent ends soon when it is asked to.
            if context.stop.reason().is_some() {
                return Err(AgentError::Stopped);
            }
            // What it prints goes to agent-stdout.txt as it comes; a full disk ends the run here.
            sink.stdout(format!("looked at {word}\n").as_bytes()).await?;
            words += 1;
        }
        if words == 0 {
            return Err(AgentError::Other("there is nothing to look at: write a prompt".to_owned()));
        }
        let text = format!("Looked at {words} words.");
        let message = RuntimeEvent::AssistantText { message_id: "m1".to_owned(), chunk: text, end: true };
        sink.events(vec![message, RuntimeEvent::TurnEnded { error: None }]).await;
        Ok(Ended::with_code(0))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let prompt = args.next().unwrap_or_else(|| "Look at this".to_owned());
    let root = args.next().map_or_else(|| std::env::temp_dir().join("jackin-example-runs"), Into::into);

    // The registration.
    let mut agents = Agents::new(&RunSettings::default());
    agents.register(Reviewer);

    let runner = Runner::new(Store::new(root)?);
    let request = RunRequest::new(agents.get("reviewer")?, "examples".parse()?, "review".parse()?, prompt);
    let run = runner.run(request, &mut ()).await?;
    println!("{} ({}) in {}", run.info.status, run.info.agent_version, run.layout.folder().display());
    print!("{}", std::fs::read_to_string(run.layout.output())?);
    std::process::exit(run.exit_code().into());
}
