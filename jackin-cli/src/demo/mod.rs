//! What a newcomer runs first: a scripted agent in a real capsule. On a terminal it is shown there; without one its
//! events are printed until the script ends.

mod agent;

use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::{Context, Result};
use jackin_core::InstanceName;
use jackin_core::protocol::control::{Done, Request, StreamItem};

use crate::capsule::{self, SpawnOptions, spawn_daemon};
use crate::client::Client;

pub(crate) use agent::{AgentArgs, play};

/// Runs the demo.
pub(crate) fn run() -> Result<u8> {
    let on_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut command = vec![program.display().to_string(), "demo-agent".to_owned()];
    if !on_terminal {
        command.push("--unattended".to_owned());
    }
    let instance = Some(InstanceName::new("demo")?);
    let daemon = spawn_daemon(SpawnOptions { instance, command, socket: None, no_chrome: false })?;
    if on_terminal {
        let parting = capsule::block_on(capsule::attach(&daemon.socket, capsule::Part::Operator))?;
        // It may have ended by itself.
        let _ = capsule::block_on(shut_down(&daemon.socket));
        daemon.wait()?;
        println!("[jackin] the demo is over ({}); nothing is left running", parting.message);
        return Ok(parting.exit_code);
    }
    if let Err(error) = capsule::block_on(print_events(&daemon.socket)) {
        // Nobody watches any more; the capsule may have ended by itself.
        let _ = capsule::block_on(shut_down(&daemon.socket));
        return Err(error);
    }
    let exit_code = daemon.wait()?;
    Ok(u8::try_from(exit_code).unwrap_or(1))
}

async fn shut_down(socket: &Path) -> Result<()> {
    let Done {} = Client::connect(socket).await?.call(Request::Shutdown {}).await?;
    Ok(())
}

async fn print_events(socket: &Path) -> Result<()> {
    let mut client = Client::connect(socket).await?;
    client.subscribe(Some(0)).await?;
    let mut first = None;
    while let Some(item) = client.next_event().await? {
        if let StreamItem::Event(event) = item {
            let elapsed = event.at.since(*first.get_or_insert(event.at));
            capsule::print_line(&format!("{:>6.2}s  {}", elapsed.as_secs_f64(), capsule::describe(&event)))?;
        }
    }
    Ok(())
}
