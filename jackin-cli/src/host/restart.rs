//! `jackin restart`: an instance that has ended, or the sessions of one that runs.

use std::io::{self, IsTerminal};

use anyhow::{Result, bail, ensure};
use clap::Args;
use jackin_core::protocol::control::{Created, Request, Status};
use jackin_core::{InstanceName, SessionId};
use serde_json::json;

use super::backend::Life;
use super::fleet::{Fleet, Member};
use super::life::{self, say};
use super::load::{announce, attach, spawn_watcher};
use crate::capsule::print_line;
use crate::client::Client;
use crate::config::Loaded;

/// `jackin restart`
#[derive(Debug, Args)]
#[command(
    after_help = "An instance that has ended is made again. In one that runs, every session that ended badly and is kept is \
    started again, in a new tab and under a new number."
)]
pub(super) struct RestartArgs {
    /// The instance
    #[arg(value_parser = InstanceName::from_either)]
    instance: InstanceName,
    /// Only this session of an instance that runs
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
    /// Do not attach
    #[arg(long, short)]
    detach: bool,
    /// Print JSON instead of attaching
    #[arg(long)]
    json: bool,
}

/// Starts again what has ended.
pub(super) async fn restart(loaded: &Loaded, args: &RestartArgs) -> Result<u8> {
    let fleet = Fleet::new(loaded);
    let member = fleet.find(&args.instance).await?;
    if member.backend.inspect(&args.instance).await? == Life::Running {
        return restart_sessions(loaded, &fleet, &member, args).await;
    }
    ensure!(
        args.session.is_none(),
        "{0} has ended with all of its sessions: `jackin restart {0}`, without --session, makes it again",
        args.instance
    );
    let member = life::relaunch(&fleet, &args.instance, &mut |step| say(step)).await?;
    let watch = loaded.config.defaults.watch.unwrap_or(true);
    if stays_here(args) {
        announce(&member, args.json).await?;
        if watch {
            spawn_watcher(&member.instance);
        }
        return Ok(0);
    }
    attach(loaded, &fleet, &member, watch).await
}

/// Whether the operator's terminal is not wanted, or there is none.
fn stays_here(args: &RestartArgs) -> bool {
    args.detach || args.json || !io::stdout().is_terminal()
}

async fn restart_sessions(loaded: &Loaded, fleet: &Fleet, member: &Member, args: &RestartArgs) -> Result<u8> {
    let instance = &args.instance;
    let mut client = Client::over(member.backend.open(instance).await?).await?;
    let ended = match args.session {
        Some(session) => vec![session],
        None => ended_sessions(&mut client).await?,
    };
    if ended.is_empty() {
        bail!(
            "{instance} is running, and no session of it has ended badly: there is nothing to restart. Attach with \
             `jackin hardline {instance}`, or end it with `jackin eject {instance}`"
        );
    }
    let mut restarted = Vec::new();
    for session_id in ended {
        let Created { session_id: new } = client.call(Request::SessionRestart { session_id }).await?;
        say(&format!("session {session_id} is started again as session {new}"));
        restarted.push(json!({ "session": session_id, "as": new }));
    }
    if args.json {
        print_line(&json!({ "instance": instance, "restarted": restarted }).to_string())?;
        return Ok(0);
    }
    if stays_here(args) || life::is_inside(member).await {
        announce(member, false).await?;
        return Ok(0);
    }
    // Whoever made it left somebody who watches it.
    attach(loaded, fleet, member, false).await
}

/// The sessions that ended and are kept for the operator to see.
async fn ended_sessions(client: &mut Client) -> Result<Vec<SessionId>> {
    let status: Status = client.call(Request::Status {}).await?;
    let kept = status.sessions.iter().filter(|session| session.status.is_over() && session.pane.is_none());
    Ok(kept.map(|session| session.id).collect())
}
