//! An adapter for an agent that this project does not know: it prints `> working`, `> ask QUESTION` and `> done`.
#![allow(clippy::disallowed_macros, reason = "an example prints")]

use jackin_core::{InstanceName, Received, RuntimeEvent, SessionId, StatusBus, Timestamp};
use jackin_status::{
    Authority, BrokenLine, Channel, Decoder, FeedItem, LinesAdapter, Reporter, ScriptedFeed, StatusAdapter,
};

/// Knows the agent's words, and nothing of streams, status or time.
struct Parrot;

impl Decoder for Parrot {
    fn decode(&mut self, line: &[u8], out: &mut Vec<RuntimeEvent>) -> Result<(), BrokenLine> {
        let line = std::str::from_utf8(line).map_err(|_| BrokenLine)?;
        match line.split_once(' ') {
            Some((">", "working")) => out.push(RuntimeEvent::TurnStarted),
            Some((">", "done")) => out.push(RuntimeEvent::TurnEnded { error: None }),
            Some((">", command)) => {
                let prompt = command.strip_prefix("ask ").map(str::to_owned);
                out.push(RuntimeEvent::Waiting { id: None, prompt });
            }
            _ => {}
        }
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let at = Timestamp::from_millis;
    let bus = StatusBus::new(64);
    let mut operator = bus.subscribe();
    let session = SessionId::new(1).ok_or("sessions count from 1")?;
    let reporter = Reporter::new(InstanceName::new("parrot")?, session, bus, Authority::for_agent(at(0)));

    // A real feed reads the agent's output and gives the clock's time.
    let said = ["> working\nchirp\n> ask Crack", "ers?\n", "> working\n", "> done\n"];
    let times = (1..).map(|second| at(second * 1_000));
    let mut feed = ScriptedFeed::new(times.zip(said.map(FeedItem::bytes)));
    LinesAdapter::new(Parrot, Channel::Stream).run(&mut feed, &reporter).await;

    while let Some(Received::Value((instance, _, change))) = operator.try_next() {
        println!("{instance}: {} because {}", change.status, change.cause);
    }
    Ok(())
}
