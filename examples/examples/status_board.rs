//! A board of many agents with nothing but `jackin-core`: changes of status go over the bus, and the board shows who needs
//! the operator first.
//!
//! ```console
//! $ printf 'api busy\ndocs busy\napi question\ndocs idle\n' | cargo run -p jackin-examples --example status_board
//! ```
//!
//! A line of its input is an instance and what it does: `busy`, `question`, `idle`, or `seen` by the operator.
#![allow(clippy::disallowed_macros, reason = "an example prints")]

use std::collections::BTreeMap;
use std::io::{BufRead, stdin};

use jackin_core::{
    AgentStatus, Attention, Cause, InstanceName, Received, SessionId, Source, Standing, StatusBus,
    StatusEvent, Timestamp,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bus = StatusBus::new(64);
    let mut board = bus.subscribe();
    let session = SessionId::new(1).ok_or("sessions count from 1")?;
    let mut agents: BTreeMap<InstanceName, Standing> = BTreeMap::new();

    // A line is a second: nothing here reads a clock.
    for (now, line) in
        (1_u64..).map(|second| Timestamp::from_millis(second * 1_000)).zip(stdin().lock().lines())
    {
        let line = line?;
        let Some((name, word)) = line.split_once(' ') else { return Err("write: INSTANCE WORD".into()) };
        let instance: InstanceName = name.parse()?;
        let standing = agents.entry(instance.clone()).or_insert_with(|| Standing::new(now));
        let status = match word {
            "busy" => AgentStatus::Busy { since: now },
            "question" => AgentStatus::Question { prompt: None, since: now },
            "idle" => AgentStatus::idle(),
            "seen" => standing.status().clone(),
            _ => return Err(format!("{word:?} is no status: write busy, question, idle or seen").into()),
        };
        let changed = match word {
            "seen" => standing.acknowledge(),
            _ => standing.set(status.clone(), Cause::new(Source::Stream, word, now)),
        };
        if changed {
            let (attention, cause) = (standing.attention(), standing.cause().clone());
            bus.publish((instance, session, StatusEvent { status, attention, cause }));
        }
    }

    // A subscriber that was slow is told how many it missed; here none is.
    while let Some(Received::Value((instance, _, change))) = board.try_next() {
        println!("{instance}: {} -> {}", change.status, change.attention);
    }
    for attention in Attention::ALL {
        let those = agents.iter().filter(|(_, standing)| standing.attention() == attention);
        let names: Vec<&str> = those.map(|(name, _)| name.as_str()).collect();
        if !names.is_empty() {
            println!("{attention:<8} {}", names.join(" "));
        }
    }
    println!("all: {}", Attention::roll_up(agents.values().map(Standing::attention)));
    Ok(())
}
