//! A tiny orchestrator on top of all the crates: it starts two agents in the background, answers what they ask, collects
//! what they declare, prepares a command out of that, and cleans up.
//!
//! ```console
//! $ cargo run -p jackin-examples --example orchestrator
//! ```
//!
//! Its agents are scripts. With `plan.agent` and `plan.agents` they would be real ones, with a `DockerBackend` in containers.
#![allow(clippy::disallowed_macros, reason = "an example prints")]

use std::error::Error;
use std::process::ExitCode;

use jackin_cli::backend::{Backend, LocalBackend, Plan, Secrets};
use jackin_cli::client::Client;
use jackin_cli::config::{BackendKind, Paths};
use jackin_core::protocol::control::{Done, Request, StreamItem};
use jackin_core::{AgentStatus, Event, EventKind, InstanceName, TagKind};
use jackin_tags::{AgentTagEvent, Overrides, TagIndex, TagSource, TagView};
use jackin_tools::{Context, Placeholder, Provenance, Tools};

/// What an agent's hooks would tell: it works, asks, and goes on with the answer.
const AGENT: &str = r#"
report() { "$ORCHESTRATOR" capsule report "$1"; }
report '{"event":"turn-started"}'
report '{"event":"waiting","prompt":"Push the branch?"}'
read -r answer
report '{"event":"waiting-resolved"}'
report '{"event":"assistant-text","message_id":"m1","chunk":"'"$WORDS"'","end":true}'
report '{"event":"turn-ended"}'
"#;

/// The team's own action.
const TOOLS: &str = r#"
[[tool]]
key = "v"
name = "View the pull request"
exec = "gh pr view {pr}"
"#;

fn main() -> ExitCode {
    // A capsule is this program once more: it is called with `capsule` and what the capsule is to do.
    if std::env::args().nth(1).is_some_and(|word| word == "capsule") {
        return jackin_cli::host::main();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(orchestrate())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn orchestrate() -> Result<(), Box<dyn Error>> {
    // Directories of its own, so that it sees none of the operator's instances.
    let home = std::env::temp_dir().join(format!("jackin-orchestrator-{}", std::process::id()));
    let backend = LocalBackend::new(Paths::new(&home, home.join("config")));
    let (first, second) = tokio::join!(
        tend(&backend, "fix-login", "Fixed in <jackin:pr>https://github.com/acme/shop/pull/7</jackin:pr>."),
        tend(&backend, "write-docs", "See `<jackin:pr>`. <jackin:status>docs written</jackin:status>"),
    );
    let removed = std::fs::remove_dir_all(&home);
    first?;
    second?;
    Ok(removed?)
}

/// One agent from its beginning to its end.
async fn tend(backend: &LocalBackend, name: &str, words: &str) -> Result<(), Box<dyn Error>> {
    let instance: InstanceName = name.parse()?;
    let workdir = std::env::current_dir()?;
    let mut plan = Plan::new(instance.clone(), BackendKind::Local, "shop", &workdir.display().to_string());
    plan.command = ["sh", "-c", AGENT].map(str::to_owned).to_vec();
    plan.env.insert("ORCHESTRATOR".to_owned(), std::env::current_exe()?.display().to_string());
    plan.env.insert("WORDS".to_owned(), words.to_owned());
    let made = backend.create(&plan, &Secrets::default(), &mut |step| println!("{name}: {step}")).await;
    let index = match made {
        Ok(()) => follow(backend, &instance).await,
        Err(error) => Err(error.into()),
    };
    // Whatever happened, nothing is left.
    backend.remove(&instance).await?;
    act(&instance, &index?)
}

/// Answers questions and collects tags until the agent has ended.
async fn follow(backend: &LocalBackend, instance: &InstanceName) -> Result<TagIndex, Box<dyn Error>> {
    let mut operator = Client::over(backend.open(instance).await?).await?;
    let mut events = Client::over(backend.open(instance).await?).await?;
    // From the first event on: some may have happened already.
    events.subscribe(Some(1)).await?;
    let mut index = TagIndex::new();
    while let Some(item) = events.next_event().await? {
        let StreamItem::Event(Event { at, kind, .. }) = item else { continue };
        match kind {
            EventKind::AgentStateChanged { session_id, status, cause, .. } => {
                println!("{instance}: {status} ({cause})");
                if let AgentStatus::Question { .. } = status {
                    let text = "yes".to_owned();
                    let answer =
                        Request::SessionSend { session_id, text, submit: true, force: true, wait_ms: None };
                    operator.call::<Done>(answer).await?;
                }
            }
            EventKind::TagObserved { session_id, tag, plain } => {
                let source = if plain { TagSource::Plain } else { TagSource::Structured };
                index.record(&AgentTagEvent {
                    instance: instance.clone(),
                    session: session_id,
                    tag,
                    at,
                    source,
                });
            }
            EventKind::AllSessionsEnded => break,
            _ => {}
        }
    }
    Ok(index)
}

/// What is done with what an agent has declared.
fn act(instance: &InstanceName, index: &TagIndex) -> Result<(), Box<dyn Error>> {
    let view = TagView::new(index, &Overrides::new());
    if let Some(status) = view.latest(&TagKind::Status) {
        println!("{instance}: says {:?}", status.value);
    }
    let Some(pr) = view.latest(&TagKind::Pr) else { return Ok(()) };
    let tools = Tools::parse(TOOLS)?;
    let mut context = Context::of(instance.clone());
    context.set(Placeholder::Pr, pr.value.clone(), Provenance::Agent)?;
    for tool in tools.visible_to(None) {
        let command = tool.command.resolve(&context)?;
        println!("{instance}: would run {:?}", command.argv().collect::<Vec<_>>());
    }
    Ok(())
}
