//! `jackin ls`, and an instance in detail.

use anyhow::Result;
use clap::Args;
use jackin_core::protocol::control::{SessionInfo, TagEntry};
use jackin_core::{TagKind, Timestamp};
use serde_json::{Value, json};

use super::fleet::{Fleet, HostView, InstanceState, InstanceView, Member};
use super::life::{self, ago, say};
use crate::capsule::{self, branch, print_line, printable};
use crate::config::Loaded;

/// `jackin ls`
#[derive(Debug, Default, Args)]
pub(super) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only this host
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
}

/// Lists every instance of every host.
pub(super) async fn list(loaded: &Loaded, args: &ListArgs) -> Result<u8> {
    let fleet = Fleet::new(loaded);
    if let Some(host) = &args.host {
        fleet.host(host)?;
    }
    life::tidy(&fleet).await;
    let (_, problems) = fleet.manifests().list();
    let hosts: Vec<HostView> = fleet
        .list()
        .await
        .into_iter()
        .filter(|view| args.host.as_ref().is_none_or(|host| *host == view.host))
        .collect();
    if args.json {
        let instances: Vec<Value> =
            hosts.iter().flat_map(|view| view.instances.iter().flatten()).map(instance_json).collect();
        let silent: Vec<Value> = hosts
            .iter()
            .filter_map(|view| Some(json!({ "host": view.host, "problem": view.instances.as_ref().err()? })))
            .collect();
        print_line(&json!({ "instances": instances, "unreachable": silent }).to_string())?;
        return Ok(0);
    }
    let mut views: Vec<&InstanceView> =
        hosts.iter().flat_map(|view| view.instances.iter().flatten()).collect();
    // What needs the operator comes first.
    views.sort_by(|a, b| b.attention().cmp(&a.attention()).then_with(|| a.instance.cmp(&b.instance)));
    print_table(&views)?;
    for view in &hosts {
        if let Err(why) = &view.instances {
            say(&format!("{}: {why}", view.host));
        }
    }
    for line in problems.iter().map(ToString::to_string).chain(life::kept_work(loaded, &fleet)) {
        say(&line);
    }
    Ok(0)
}

const HEAD: [&str; 8] = ["INSTANCE", "HOST", "ROLE", "AGENT", "STATUS", "FOR", "BRANCH", "DECLARED"];

fn print_table(views: &[&InstanceView]) -> Result<()> {
    if views.is_empty() {
        return print_line("no instances: start one with `jackin load`, or see `jackin demo`");
    }
    let now = capsule::now();
    let rows = views.iter().flat_map(|view| rows(view, now));
    let mut table = vec![HEAD.map(str::to_owned)];
    table.extend(rows);
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|column| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    for row in &table {
        let cells =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect::<Vec<_>>();
        print_line(printable(&cells.join("  ")).trim_end())?;
    }
    Ok(())
}

/// A row for each session; an instance without one has a row all the same.
fn rows(view: &InstanceView, now: Timestamp) -> Vec<[String; 8]> {
    let plan = view.plan.as_ref();
    let role = plan.and_then(|plan| plan.role.as_ref()).map(ToString::to_string).unwrap_or_default();
    let branch = plan.and_then(|plan| branch(plan.host_workdir.as_deref()?)).unwrap_or_default();
    let row = |agent: &str, status: String, since: String, declared: String| {
        [
            view.instance.to_string(),
            view.host.clone(),
            role.clone(),
            agent.to_owned(),
            status,
            since,
            branch.clone(),
            declared,
        ]
    };
    match &view.state {
        InstanceState::Running(snapshot) if !snapshot.status.sessions.is_empty() => {
            let declared = declared(&snapshot.tags);
            let of_session = |session: &SessionInfo| {
                let agent = session.agent.as_deref().unwrap_or(&session.title);
                row(
                    &cut(agent, 20),
                    cut(&session.status.to_string(), 48),
                    ago(now, session.since),
                    declared.clone(),
                )
            };
            snapshot.status.sessions.iter().map(of_session).collect()
        }
        InstanceState::Running(_) => {
            vec![row("", "nothing runs in it yet".to_owned(), String::new(), String::new())]
        }
        InstanceState::Silent(why) => {
            vec![row("", format!("does not answer: {why}"), String::new(), String::new())]
        }
        InstanceState::Unfinished => vec![row("", "being made".to_owned(), String::new(), String::new())],
        InstanceState::Ended(ending) => {
            let since = ending.record.as_ref().map(|record| ago(now, record.at)).unwrap_or_default();
            let tags = ending.record.as_ref().map(|record| declared(&record.tags)).unwrap_or_default();
            vec![row("", ending.status().to_string(), since, tags)]
        }
    }
}

/// The latest of what matters most, in one cell.
fn declared(tags: &[TagEntry]) -> String {
    [TagKind::Pr, TagKind::Issue, TagKind::Link, TagKind::Status]
        .iter()
        .find_map(|kind| tags.iter().rev().find(|tag| tag.kind == *kind))
        .map(|tag| cut(&tag.value, 60))
        .unwrap_or_default()
}

fn cut(text: &str, len: usize) -> String {
    if text.chars().count() <= len {
        return text.to_owned();
    }
    text.chars().take(len - 1).chain(['…']).collect()
}

/// An instance for programs. Fields that are not known are null.
fn instance_json(view: &InstanceView) -> Value {
    let plan = view.plan.as_ref();
    let (sessions, tags) = match &view.state {
        InstanceState::Running(snapshot) => (json!(snapshot.status.sessions), json!(snapshot.tags)),
        InstanceState::Ended(ending) => (
            json!(ending.record.as_ref().map(|record| &record.sessions)),
            json!(ending.record.as_ref().map(|record| &record.tags)),
        ),
        InstanceState::Unfinished | InstanceState::Silent(_) => (Value::Null, Value::Null),
    };
    let state = match &view.state {
        InstanceState::Unfinished => "unfinished",
        InstanceState::Running(_) => "running",
        InstanceState::Silent(_) => "silent",
        InstanceState::Ended(_) => "ended",
    };
    let problem = match &view.state {
        InstanceState::Silent(why) => Some(why),
        _ => None,
    };
    json!({
        "instance": view.instance,
        "container": view.instance.container_name(),
        "host": view.host,
        "backend": plan.map(|plan| plan.backend),
        "state": state,
        "problem": problem,
        "role": plan.and_then(|plan| plan.role.as_ref()),
        "agent": plan.and_then(|plan| plan.agent.as_ref()),
        "workspace": plan.map(|plan| &plan.workspace),
        "workdir": plan.map(|plan| &plan.workdir),
        "host_workdir": plan.and_then(|plan| plan.host_workdir.as_ref()),
        "branch": plan.and_then(|plan| branch(plan.host_workdir.as_deref()?)),
        "status": view.status(),
        "attention": view.attention(),
        "since": since(view),
        "sessions": sessions,
        "tags": tags,
    })
}

/// Since when the instance is in its state.
fn since(view: &InstanceView) -> Option<Timestamp> {
    match &view.state {
        InstanceState::Running(snapshot) => {
            let urgent = snapshot
                .status
                .sessions
                .iter()
                .filter(|session| session.attention == snapshot.status.attention);
            urgent.map(|session| session.since).min()
        }
        InstanceState::Ended(ending) => ending.record.as_ref().map(|record| record.at),
        InstanceState::Unfinished | InstanceState::Silent(_) => None,
    }
}

/// Prints an instance in detail: its sessions, what they do, and how to reach them.
pub(super) async fn inspect(member: &Member, view: &InstanceView, json: bool) -> Result<()> {
    let socket = member.backend.socket(&member.instance).await;
    if json {
        let mut value = instance_json(view);
        value["socket"] = json!(socket);
        return print_line(&value.to_string());
    }
    let plan = view.plan.as_ref();
    let mut lines = vec![format!("{} on {}: {}", view.instance, view.host, view.status())];
    if let Some(plan) = plan {
        let host = plan.host_workdir.as_ref().map(|dir| format!(" ({})", dir.display())).unwrap_or_default();
        lines.push(format!("workspace {} at {}{host}", plan.workspace, plan.workdir));
    }
    match &view.state {
        InstanceState::Running(snapshot) => {
            for session in &snapshot.status.sessions {
                let SessionInfo { id, title, status, cause, .. } = session;
                lines.push(format!("  session {id}  {title}  {status}  ({cause})"));
            }
        }
        InstanceState::Ended(ending) => {
            for session in ending.record.iter().flat_map(|record| &record.sessions) {
                lines.push(format!("  session {}  {}  {}", session.id, session.title, session.status));
                let screen = session.screen.trim_end().lines().collect::<Vec<_>>();
                let last = screen.iter().skip(screen.len().saturating_sub(LAST_LINES));
                lines.extend(last.map(|line| format!("    | {line}")));
            }
        }
        InstanceState::Silent(why) => lines.push(format!("  it does not answer: {why}")),
        InstanceState::Unfinished => {}
    }
    if let (InstanceState::Running(_), Some(socket)) = (&view.state, socket) {
        lines.push(format!("attach: jackin hardline {}", view.instance));
        lines.push(format!("script: jackin capsule ctl --socket {} status --json", socket.display()));
    }
    lines.iter().try_for_each(|line| print_line(&printable(line)))
}

/// How much of a last screen is shown.
const LAST_LINES: usize = 12;
