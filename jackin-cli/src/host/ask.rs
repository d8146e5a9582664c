//! `jackin send`, `read`, `explain`, `ack`, `record`, `wait`, `events` and `tags list|set|unset`: what is asked of
//! running instances.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use jackin_core::protocol::control::{
    Done, ErrorCode, Explanation, Match, Overrides, ReadText, Recording, Request, Snapshot, Status, Tags,
    TextFormat, Until, Waited,
};
use jackin_core::{AgentStatus, Attention, InstanceName, SessionId, TagKind};
use serde::Serialize;
use serde_json::json;

use super::FleetEvent;
use super::backend::{BackendError, Life};
use super::fleet::{Fleet, Member};
use super::life::say;
use crate::capsule::{self, describe, explain, print_line, printable, tag_lines};
use crate::client::{Client, ClientError};
use crate::config::{Loaded, Seconds};

/// The exit code of a wait whose time ran out, as of `timeout`.
const TIMED_OUT: u8 = 124;

/// Which session of which instance.
#[derive(Debug, Args)]
pub(super) struct SessionArgs {
    /// The instance
    #[arg(value_parser = InstanceName::from_either)]
    instance: InstanceName,
    /// The session [default: the only one, else the first that still runs]
    #[arg(long, value_name = "ID", global = true)]
    session: Option<SessionId>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

/// A control connection to an instance.
async fn connect(loaded: &Loaded, instance: &InstanceName) -> Result<(Member, Client)> {
    let member = Fleet::new(loaded).find(instance).await?;
    let client = open(&member).await?;
    Ok((member, client))
}

async fn open(member: &Member) -> Result<Client> {
    let stream = member.backend.open(&member.instance).await?;
    Ok(Client::over(stream).await?)
}

/// The session that is meant.
async fn session(client: &mut Client, args: &SessionArgs) -> Result<SessionId> {
    if let Some(session) = args.session {
        return Ok(session);
    }
    let status: Status = client.call(Request::Status {}).await?;
    let live = status.sessions.iter().find(|session| !session.status.is_over());
    let session = live.or(status.sessions.first());
    session.map(|session| session.id).with_context(|| format!("nothing runs in {} yet", args.instance))
}

fn print(json: bool, value: &impl Serialize, human: impl FnOnce() -> String) -> Result<u8> {
    let text = if json { serde_json::to_string(value)? } else { human() };
    if !text.is_empty() {
        print_line(&text)?;
    }
    Ok(0)
}

/// `jackin send`
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 1 and a reason if the agent is busy or waits for an answer: a text would be taken for \
                        the answer."
)]
pub(super) struct SendArgs {
    #[command(flatten)]
    of: SessionArgs,
    /// The text
    text: String,
    /// Do not press Enter afterwards
    #[arg(long)]
    no_enter: bool,
    /// Send even if the agent is busy or waits for an answer
    #[arg(long)]
    force: bool,
    /// Wait so long until the agent can take it, such as 30s or 5m
    #[arg(long, value_name = "TIME", conflicts_with = "force")]
    wait: Option<Seconds>,
}

pub(super) async fn send(loaded: &Loaded, args: SendArgs) -> Result<u8> {
    let (_, mut client) = connect(loaded, &args.of.instance).await?;
    let session_id = session(&mut client, &args.of).await?;
    let wait_ms = args.wait.map(|wait| wait.0.saturating_mul(1_000));
    let (text, submit, force) = (args.text, !args.no_enter, args.force);
    let done: Done = client.call(Request::SessionSend { session_id, text, submit, force, wait_ms }).await?;
    print(args.of.json, &done, String::new)
}

/// `jackin read`
#[derive(Debug, Args)]
pub(super) struct ReadArgs {
    #[command(flatten)]
    of: SessionArgs,
    /// So many lines of history above the screen
    #[arg(long, value_name = "LINES", default_value = "0")]
    history: u32,
    /// With colours, as escape sequences
    #[arg(long)]
    sgr: bool,
}

pub(super) async fn read(loaded: &Loaded, args: ReadArgs) -> Result<u8> {
    let mut client = match connect(loaded, &args.of.instance).await {
        Ok((_, client)) => client,
        Err(error) => return read_ended(error, &args.of),
    };
    let session_id = session(&mut client, &args.of).await?;
    let format = if args.sgr { TextFormat::Sgr } else { TextFormat::Text };
    let read: ReadText =
        client.call(Request::SessionRead { session_id, format, history: args.history }).await?;
    print(args.of.json, &read, || {
        let text = read.text.trim_end();
        if args.sgr { text.to_owned() } else { printable(text) }
    })
}

/// Prints the last screen of an instance that has ended, as far as its capsule came to write that down.
fn read_ended(error: anyhow::Error, args: &SessionArgs) -> Result<u8> {
    let Some(BackendError::Ended { ending, .. }) = error.downcast_ref() else { return Err(error) };
    let sessions = ending.record.as_ref().map(|record| record.sessions.as_slice()).unwrap_or_default();
    let found = match args.session {
        Some(id) => sessions.iter().find(|session| session.id == id),
        // What failed is what is looked for.
        None => sessions.iter().find(|session| session.exit_code != Some(0)).or(sessions.first()),
    };
    let Some(session) = found else {
        return Err(match args.session {
            Some(id) if !sessions.is_empty() => error.context(format!("nothing is kept of session {id}")),
            _ => error,
        });
    };
    say(&format!("{} has ended: {}; this is its last screen", args.instance, session.status));
    let kept = json!({ "text": session.screen, "session": session.id, "status": session.status });
    print(args.json, &kept, || printable(session.screen.trim_end()))
}

pub(super) async fn explain_status(loaded: &Loaded, args: SessionArgs) -> Result<u8> {
    let (_, mut client) = connect(loaded, &args.instance).await?;
    let session_id = session(&mut client, &args).await?;
    let explanation: Explanation = client.call(Request::SessionExplain { session_id }).await?;
    print(args.json, &explanation, || printable(&explain(&explanation)))
}

pub(super) async fn ack(loaded: &Loaded, args: SessionArgs) -> Result<u8> {
    let (_, mut client) = connect(loaded, &args.instance).await?;
    let session_id = session(&mut client, &args).await?;
    let done: Done = client.call(Request::Ack { session_id }).await?;
    print(args.json, &done, String::new)
}

/// `jackin record`
#[derive(Debug, Args)]
pub(super) struct RecordArgs {
    #[command(flatten)]
    of: SessionArgs,
    #[command(subcommand)]
    command: RecordCommand,
}

#[derive(Debug, Subcommand)]
enum RecordCommand {
    /// Begin, and print the file's name
    Start {
        /// The file, as the instance sees it [default: in `recordings` of jackin's home, where that of a container is brought at the end]
        file: Option<PathBuf>,
    },
    /// End, and print the file's name
    Stop,
}

pub(super) async fn record(loaded: &Loaded, args: RecordArgs) -> Result<u8> {
    let (member, mut client) = connect(loaded, &args.of.instance).await?;
    let session_id = session(&mut client, &args.of).await?;
    let stop = matches!(args.command, RecordCommand::Stop);
    let capsule_chooses =
        matches!(args.command, RecordCommand::Start { file: None }) && member.host != super::LOCAL;
    let request = match args.command {
        RecordCommand::Stop => Request::RecordStop { session_id },
        RecordCommand::Start { file } => {
            let path = match file {
                Some(file) => Some(std::path::absolute(file)?),
                None if member.host == super::LOCAL => {
                    Some(new_recording(loaded, &args.of.instance, session_id)?)
                }
                None => None,
            };
            let path = path
                .map(|path| path.to_str().map(str::to_owned).context("the path is not UTF-8"))
                .transpose()?;
            Request::RecordStart { session_id, path, limit: None }
        }
    };
    let mut recording: Recording = client.call(request).await?;
    if stop {
        recording.path = bring_recording(&member, recording.path).await?;
    } else if capsule_chooses {
        let dir = loaded.paths.recordings().join(args.of.instance.as_str());
        say(&format!("it is brought to {} when the recording or the instance ends", dir.display()));
    }
    print(args.of.json, &recording, || printable(&recording.path))
}

/// Where the operator finds a recording that is complete: one that its capsule has for itself is brought here first.
pub(crate) async fn bring_recording(member: &Member, path: String) -> Result<String> {
    let brought = member.backend.bring_recordings(&member.instance, Some(&path)).await?;
    if let Some(why) = brought.trouble {
        bail!("the recording is complete, but could not be brought here ({why}): `jackin eject` tries again");
    }
    Ok(brought.files.first().map_or(path, |file| file.display().to_string()))
}

/// Where a recording of an instance of this machine goes: it outlives the instance.
pub(crate) fn new_recording(loaded: &Loaded, instance: &InstanceName, session: SessionId) -> Result<PathBuf> {
    let dir = loaded.paths.recordings().join(instance.as_str());
    super::manifest::private_dir(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    Ok(dir.join(format!("{}-{session}.cast", capsule::now().as_millis())))
}

/// `jackin wait`
#[derive(Debug, Args)]
#[command(
    after_help = "It looks first: a state that is there already ends it at once. Exit code 124 if the time ran out."
)]
pub(super) struct WaitArgs {
    /// The instances [default: all of them]
    #[arg(value_parser = InstanceName::from_either)]
    instances: Vec<InstanceName>,
    /// A state: blocked, done, working, idle, unknown, or status:WORD; may be repeated
    #[arg(long, required = true, value_name = "STATE")]
    until: Vec<Until>,
    /// Until one of them is in the state; this is the default
    #[arg(long, conflicts_with = "all")]
    any: bool,
    /// Until every one of them is in the state
    #[arg(long)]
    all: bool,
    /// Give up after this time, such as 30s or 5m
    #[arg(long, value_name = "TIME")]
    timeout: Option<Seconds>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn wait(loaded: &Loaded, args: WaitArgs) -> Result<u8> {
    let fleet = Fleet::new(loaded);
    let mut members = Vec::new();
    for instance in &args.instances {
        members.push(fleet.find(instance).await?);
    }
    if args.instances.is_empty() {
        for view in fleet.list().await.into_iter().flat_map(|host| host.instances.into_iter().flatten()) {
            members.push(fleet.find(&view.instance).await?);
        }
    }
    if members.is_empty() {
        bail!("there are no instances to wait for");
    }
    let waits: Vec<_> = members.iter().map(|member| Box::pin(wait_for(member, &args))).collect();
    let waiting = async {
        if args.all {
            return futures_util::future::try_join_all(waits).await;
        }
        futures_util::future::select_ok(waits).await.map(|(met, _)| vec![met])
    };
    let met = match args.timeout {
        Some(limit) => tokio::time::timeout(limit.duration(), waiting).await.ok().transpose()?,
        None => Some(waiting.await?),
    };
    let Some(met) = met else {
        say("the time ran out");
        return Ok(TIMED_OUT);
    };
    let report: Vec<_> = met
        .iter()
        .map(|Met { instance, sessions }| json!({ "instance": instance, "sessions": sessions }))
        .collect();
    print(args.json, &json!({ "met": report }), || {
        met.iter().map(|met| met.instance.to_string()).collect::<Vec<_>>().join("\n")
    })
}

/// An instance that is in the state.
struct Met {
    instance: InstanceName,
    sessions: Vec<SessionId>,
}

/// How long until an instance that does not answer is asked again.
const PAUSE: Duration = Duration::from_millis(200);

async fn wait_for(member: &Member, args: &WaitArgs) -> Result<Met> {
    let matching = if args.all { Match::All } else { Match::Any };
    loop {
        let asked = async {
            let mut client = open(member).await?;
            let (sessions, timeout_ms) = (Vec::new(), None);
            let request = Request::Wait { sessions, until: args.until.clone(), matching, timeout_ms };
            anyhow::Ok(client.call::<Waited>(request).await?)
        };
        let error = match asked.await {
            Ok(waited) => return Ok(Met { instance: member.instance.clone(), sessions: waited.sessions }),
            Err(error) => error,
        };
        // One that ends says so to whoever waits, if it still can.
        if let Some(ClientError::Refused(refusal)) = error.downcast_ref()
            && refusal.code != ErrorCode::NotFound
        {
            return Err(error);
        }
        // The capsule went away; how it ended may be what is waited for.
        let instance = &member.instance;
        match member.backend.inspect(instance).await {
            Ok(Life::Ended(ending)) => {
                let status = ending.status();
                let attention = if ending.is_clean() { Attention::Idle } else { Attention::Blocked };
                return met_by(args, instance, &status, attention);
            }
            Ok(Life::Absent) | Err(BackendError::NotFound(_)) => {
                // Only what ended well is taken away by itself.
                return met_by(args, instance, &AgentStatus::Ended { exit_code: 0 }, Attention::Idle);
            }
            Ok(Life::Running | Life::Unfinished) | Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

fn met_by(
    args: &WaitArgs,
    instance: &InstanceName,
    status: &AgentStatus,
    attention: Attention,
) -> Result<Met> {
    if args.until.iter().any(|until| until.is_met(status, attention)) {
        return Ok(Met { instance: instance.clone(), sessions: Vec::new() });
    }
    bail!("{instance} has ended ({status}), so it will not be in that state")
}

/// `jackin events`
#[derive(Debug, Args)]
pub(super) struct EventsArgs {
    /// Only these instances
    #[arg(value_parser = InstanceName::from_either)]
    instances: Vec<InstanceName>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) async fn events(loaded: &Loaded, args: EventsArgs) -> Result<u8> {
    let fleet = Fleet::new(loaded);
    for instance in &args.instances {
        fleet.find(instance).await?;
    }
    let wanted = |instance: &InstanceName| args.instances.is_empty() || args.instances.contains(instance);
    let mut events = fleet.follow();
    let mut gone = 0;
    while let Some(event) = events.recv().await {
        let (line, json) = match event {
            FleetEvent::Event(event) if wanted(&event.instance) => {
                (format!("{}: {}", event.instance, describe(&event)), serde_json::to_value(&*event)?)
            }
            FleetEvent::Ended { instance, ending } if wanted(&instance) => (
                format!("{instance}: {}", ending.status()),
                json!({ "event": "instance-ended", "instance": instance, "status": ending.status() }),
            ),
            FleetEvent::Gone { instance } if wanted(&instance) => {
                gone += 1;
                (format!("{instance}: gone"), json!({ "event": "instance-gone", "instance": instance }))
            }
            FleetEvent::Snapshot(snapshot) if wanted(&snapshot.status.instance) => {
                let Snapshot { seq, status, .. } = &*snapshot;
                (
                    format!("{}: {}, {} sessions", status.instance, status.attention, status.sessions.len()),
                    json!({ "event": "snapshot", "instance": status.instance, "seq": seq, "attention": status.attention, "sessions": status.sessions }),
                )
            }
            FleetEvent::Silent { instance, why } if wanted(&instance) => (
                format!("{instance}: does not answer: {why}"),
                json!({ "event": "instance-silent", "instance": instance, "problem": why }),
            ),
            FleetEvent::Host { host, problem: Some(problem) } => (
                format!("{host}: {problem}"),
                json!({ "event": "host-unreachable", "host": host, "problem": problem }),
            ),
            _ => continue,
        };
        print_line(&if args.json { json.to_string() } else { printable(&line) })?;
        if !args.instances.is_empty() && gone == args.instances.len() {
            break;
        }
    }
    Ok(0)
}

/// `jackin tags list|set|unset`
#[derive(Debug, Subcommand)]
pub(super) enum TagsCommand {
    /// List what an instance's agents declared, and what you made of it
    List {
        /// The instance
        #[arg(value_parser = InstanceName::from_either)]
        instance: InstanceName,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Put a value on top of its kind
    Set(TagArgs),
    /// Hide a value until it is set again
    Unset(TagArgs),
}

#[derive(Debug, Args)]
pub(super) struct TagArgs {
    /// The instance
    #[arg(value_parser = InstanceName::from_either)]
    instance: InstanceName,
    /// repo, issue, pr, link or status
    kind: TagKind,
    /// The value
    value: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn tags(loaded: &Loaded, command: TagsCommand) -> Result<u8> {
    let (args, set) = match command {
        TagsCommand::List { instance, json } => {
            let (_, mut client) = connect(loaded, &instance).await?;
            let tags: Tags = client.call(Request::TagsList {}).await?;
            return print(json, &tags, || printable(&tag_lines(&tags)));
        }
        TagsCommand::Set(args) => (args, true),
        TagsCommand::Unset(args) => (args, false),
    };
    let TagArgs { instance, kind, value, json } = args;
    repair_tag(&Fleet::new(loaded), &instance, kind, value, set).await?;
    print(json, &Done {}, String::new)
}

/// Corrects what an instance's agents declared. The record keeps it, so that it outlives the capsule.
pub(crate) async fn repair_tag(
    fleet: &Fleet,
    instance: &InstanceName,
    kind: TagKind,
    value: String,
    set: bool,
) -> Result<()> {
    let member = fleet.find(instance).await?;
    let mut client = open(&member).await?;
    let request = if set { Request::TagsSet { kind, value } } else { Request::TagsUnset { kind, value } };
    let Done {} = client.call(request).await?;
    let _lock = fleet.manifests().lock(instance).await?;
    if let Some(mut manifest) = fleet.manifests().read(instance)? {
        let said: Overrides = client.call(Request::TagsOverrides {}).await?;
        manifest.plan.tag_overrides = said.overrides;
        fleet.manifests().write(&manifest)?;
    }
    Ok(())
}
