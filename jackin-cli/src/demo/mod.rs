//! What a newcomer runs first: three scripted agents in real capsules. On a terminal they are shown there; without one
//! what they do is printed until their scripts are over.

mod agent;
mod stage;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use jackin_core::protocol::control::{Done, Request};
use jackin_core::{AgentStatus, EventKind, InstanceName, SessionId, Timestamp};

use crate::capsule::{self, block_on, describe, print_line, printable};
use crate::client::Client;
use crate::config::Readable;
use crate::host::{self, FleetEvent, relaunch};

pub(crate) use agent::{AgentArgs, play};
use stage::Stage;

/// Runs the demo.
pub(crate) fn run() -> Result<u8> {
    let on_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    block_on(async {
        let stage = Stage::set(!on_terminal).await?;
        let outcome = if on_terminal { show(&stage).await } else { print(&stage).await };
        stage.strike().await;
        drop(stage);
        if on_terminal {
            // The terminal may be gone.
            let _ = print_line("[jackin] the demo is over; nothing is left running");
        }
        outcome
    })
}

/// The console over them, until the operator leaves it.
async fn show(stage: &Stage) -> Result<u8> {
    let readable = Readable { value: stage.loaded.clone(), wrong: None };
    host::show(readable, stage.fleet.clone()).await
}

/// A demo that takes longer than this has failed.
const LIMIT: Duration = Duration::from_secs(60);

/// How long the operator of the printed demo thinks.
const THINKING: Duration = Duration::from_secs(1);

/// Prints what happens, answers the question and restarts what crashed, as an operator would.
async fn print(stage: &Stage) -> Result<u8> {
    let played = tokio::time::timeout(LIMIT, operate(stage)).await;
    played.context("the demo did not end: something is wrong")??;
    Ok(0)
}

async fn operate(stage: &Stage) -> Result<()> {
    let mut events = stage.fleet.follow();
    let mut begin: Option<Timestamp> = None;
    let mut elapsed = move |at: Timestamp| at.since(*begin.get_or_insert(at)).as_secs_f64();
    let mut playing: BTreeSet<InstanceName> =
        stage.fleet.manifests().list().0.into_iter().map(|manifest| manifest.plan.instance).collect();
    let width = playing.iter().map(|name| name.as_str().len()).max().unwrap_or(0);
    let mut reactions = FuturesUnordered::new();
    let think = |reaction| async move {
        tokio::time::sleep(THINKING).await;
        reaction
    };
    loop {
        let event = tokio::select! {
            event = events.recv() => event.context("the instances could not be followed")?,
            Some(reaction) = reactions.next() => {
                let (instance, said) = match &reaction {
                    Reaction::Answer(instance, _) => (instance, "you answer: 1"),
                    Reaction::Restart(instance) => (instance, "you start it again"),
                };
                print_line(&format!("{:>6.2}s  {instance:<width$}  {said}", elapsed(capsule::now())))?;
                react(stage, reaction).await?;
                continue;
            }
        };
        let mut tell = |at: Timestamp, instance: &InstanceName, what: &str| {
            print_line(&printable(&format!("{:>6.2}s  {instance:<width$}  {what}", elapsed(at))))
        };
        match event {
            FleetEvent::Snapshot(snapshot) => {
                for session in &snapshot.status.sessions {
                    tell(
                        session.since,
                        &snapshot.status.instance,
                        &format!(
                            "session {} {}: {} [{}]",
                            session.id, session.attention, session.status, session.cause
                        ),
                    )?;
                }
                let tags = snapshot.tags.iter();
                tags.clone().try_for_each(|tag| {
                    tell(
                        capsule::now(),
                        &snapshot.status.instance,
                        &format!("declared {}: {}", tag.kind, tag.value),
                    )
                })?;
            }
            FleetEvent::Event(event) => {
                tell(event.at, &event.instance, &describe(&event))?;
                if let EventKind::AgentStateChanged {
                    session_id, status: AgentStatus::Question { .. }, ..
                } = event.kind
                {
                    reactions.push(think(Reaction::Answer(event.instance, session_id)));
                }
            }
            FleetEvent::Ended { instance, ending } if ending.is_clean() => {
                playing.remove(&instance);
            }
            FleetEvent::Ended { instance, ending } => {
                tell(capsule::now(), &instance, &ending.status().to_string())?;
                reactions.push(think(Reaction::Restart(instance)));
            }
            FleetEvent::Gone { instance } => {
                playing.remove(&instance);
            }
            FleetEvent::Host { problem: Some(problem), .. } => bail!(problem),
            _ => {}
        }
        if playing.is_empty() {
            return Ok(());
        }
    }
}

/// What the operator of the printed demo does.
enum Reaction {
    Answer(InstanceName, SessionId),
    Restart(InstanceName),
}

async fn react(stage: &Stage, reaction: Reaction) -> Result<()> {
    let (instance, session_id) = match reaction {
        Reaction::Answer(instance, session_id) => (instance, session_id),
        Reaction::Restart(instance) => {
            relaunch(&stage.fleet, &instance, &mut |_| {}).await?;
            return Ok(());
        }
    };
    let member = stage.fleet.find(&instance).await?;
    let mut client = Client::over(member.backend.open(&instance).await?).await?;
    let (text, submit, force, wait_ms) = ("1".to_owned(), false, true, None);
    let Done {} = client.call(Request::SessionSend { session_id, text, submit, force, wait_ms }).await?;
    Ok(())
}
