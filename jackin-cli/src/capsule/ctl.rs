//! The control client's commands: one call each, printed for a person or as JSON.

mod words;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use jackin_core::protocol::control::{
    Created, Direction, Done, Explanation, HostContext, Launch, Match, Overrides, ReadText, Recording,
    Request, Resources, Snapshot, Status, StreamItem, Tags, TextFormat, Title, Until, Waited,
};
use jackin_core::{SessionId, TagKind};
use serde::Serialize;

use super::output::{print_line, printable};
use crate::client::Client;
use words::{override_lines, resource_lines, row_lines, styled, table};

pub(crate) use words::{describe, explain, tag_lines};

/// What can be asked of a capsule.
#[derive(Debug, Subcommand)]
pub(super) enum CtlCommand {
    /// List what runs
    Status,
    /// Print everything that a subscriber would start from
    Snapshot,
    /// Print what happens, as it happens
    Events {
        /// Begin with the event of this number, if it is still kept
        #[arg(long, value_name = "SEQ")]
        from: Option<u64>,
    },
    /// Wait until a session is in a state
    Wait {
        /// A state: blocked, done, working, idle, unknown, or status:WORD; may be repeated
        #[arg(long, required = true, value_name = "STATE")]
        until: Vec<Until>,
        /// Only these sessions
        #[arg(long, value_name = "ID")]
        session: Vec<SessionId>,
        /// Until every session is in the state, not just one
        #[arg(long)]
        all: bool,
        /// Give up after so many milliseconds
        #[arg(long, value_name = "MS")]
        timeout: Option<u64>,
    },
    /// Start a session in a new tab and print its id
    Create {
        #[command(flatten)]
        launch: LaunchArgs,
    },
    /// Start a session beside another one and print its id
    Split {
        /// At the right
        #[arg(long, required_unless_present = "down")]
        right: bool,
        /// Below
        #[arg(long, conflicts_with = "right")]
        down: bool,
        /// The session to split [default: the focused one]
        #[arg(long, value_name = "ID")]
        session: Option<SessionId>,
        #[command(flatten)]
        launch: LaunchArgs,
    },
    /// Show a session to the operator
    Focus {
        /// Which session
        #[arg(long, value_name = "ID")]
        session: SessionId,
    },
    /// Print what stands on a session's screen
    Read {
        /// Which session
        #[arg(long, value_name = "ID", default_value = "1")]
        session: SessionId,
        /// With colours and attributes, as SGR sequences
        #[arg(long)]
        sgr: bool,
        /// With so many lines of history before the screen
        #[arg(long, value_name = "LINES", default_value_t = 0)]
        history: u32,
    },
    /// Print a session's screen, and its changed rows as they change
    Screen {
        /// Which session
        #[arg(long, value_name = "ID", default_value = "1")]
        session: SessionId,
    },
    /// Print what the sessions use of processor and memory
    Resources,
    /// Tell the capsule what the host knows: pull request, checks, quotas
    Context {
        /// A JSON object as in the parameters of `context.set`; {} takes everything back
        #[arg(value_name = "JSON")]
        text: String,
    },
    /// Report what an agent does, in its name
    Report {
        /// Whose format the payload has
        #[arg(long, default_value = "jackin")]
        runtime: String,
        /// Which session [default: the only one]
        #[arg(long, value_name = "ID")]
        session: Option<SessionId>,
        /// What the agent's hook was given, as JSON
        payload: String,
    },
    /// Type a text and Enter into a session
    Send {
        /// The text
        text: String,
        /// Which session
        #[arg(long, value_name = "ID", default_value = "1")]
        session: SessionId,
        /// Do not press Enter afterwards
        #[arg(long)]
        no_enter: bool,
        /// Send even if the agent is busy or waits for an answer
        #[arg(long)]
        force: bool,
        /// Wait for so many milliseconds until the agent can take it
        #[arg(long, value_name = "MS", conflicts_with = "force")]
        wait: Option<u64>,
    },
    /// Print why a session's status is what it is
    Explain {
        /// Which session
        #[arg(long, value_name = "ID", default_value = "1")]
        session: SessionId,
    },
    /// Print a session's title, or give it one
    Title {
        /// The new title
        title: Option<String>,
        /// Which session
        #[arg(long, value_name = "ID", default_value = "1")]
        session: SessionId,
    },
    /// List what the agents declared, or correct it
    Tags {
        #[command(subcommand)]
        command: Option<TagsCommand>,
    },
    /// Record a session as asciicast, which asciinema plays
    Record {
        #[command(subcommand)]
        command: RecordCommand,
    },
    /// Mark a session's result as seen
    Ack {
        /// Which session
        #[arg(long, value_name = "ID", default_value = "1")]
        session: SessionId,
    },
    /// Start a session that ended badly again, as it was, and print its new id
    Restart {
        /// Which session
        #[arg(long, value_name = "ID", default_value = "1")]
        session: SessionId,
    },
    /// End a session
    Kill {
        /// Which session
        #[arg(long, value_name = "ID", default_value = "1")]
        session: SessionId,
    },
    /// End every session and the capsule
    Shutdown,
}

/// What to start.
#[derive(Debug, Args)]
pub(super) struct LaunchArgs {
    /// The label of its tab
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The configured agent to start
    #[arg(long, value_name = "ID", conflicts_with = "command")]
    agent: Option<String>,
    /// Leave the operator's focus where it is
    #[arg(long)]
    no_focus: bool,
    /// The directory to start it in [default: the instance's]
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// A variable of its environment; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,
    /// The program and its arguments [default: your shell]
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

impl From<LaunchArgs> for Launch {
    fn from(args: LaunchArgs) -> Self {
        Self {
            command: args.command,
            agent: args.agent,
            name: args.name,
            focus: !args.no_focus,
            cwd: args.cwd,
            env: args.env.into_iter().collect(),
        }
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// What can be done about recordings.
#[derive(Debug, Subcommand)]
pub(super) enum RecordCommand {
    /// Begin with what stands on the session's screen, and print the file's name
    Start {
        /// A file that does not exist [default: one in the capsule's state directory, or beside its socket]
        file: Option<PathBuf>,
        /// Which session
        #[arg(long, value_name = "ID", default_value = "1")]
        session: SessionId,
        /// End the recording when it has so many bytes [default: 256 MiB]
        #[arg(long, value_name = "BYTES")]
        limit: Option<u64>,
    },
    /// Complete the file, and print its name
    Stop {
        /// Which session
        #[arg(long, value_name = "ID", default_value = "1")]
        session: SessionId,
    },
}

impl RecordCommand {
    fn request(self) -> Result<Request> {
        Ok(match self {
            Self::Start { file, session, limit } => {
                // The capsule has another directory than whoever asks.
                let file =
                    file.map(std::path::absolute).transpose().context("cannot tell where the file goes")?;
                let path = file.map(|file| file.display().to_string());
                Request::RecordStart { session_id: session, path, limit }
            }
            Self::Stop { session } => Request::RecordStop { session_id: session },
        })
    }
}

/// What can be done about tags.
#[derive(Debug, Subcommand)]
pub(super) enum TagsCommand {
    /// List the values and who provided each
    List,
    /// Put a value on top for its kind
    Set {
        /// repo, issue, pr, link or status
        kind: TagKind,
        /// The value
        value: String,
    },
    /// Hide a value until it is set again
    Unset {
        /// repo, issue, pr, link or status
        kind: TagKind,
        /// The value
        value: String,
    },
    /// List what was set and hidden
    Overrides,
    /// Replace what was set and hidden
    Restore {
        /// What `tags overrides --json` printed
        #[arg(value_name = "JSON")]
        text: String,
    },
}

/// Carries a command out.
pub(super) async fn ctl(socket: &Path, command: CtlCommand, json: bool) -> Result<()> {
    let mut client = Client::connect(socket).await?;
    // An agent that asks at its own socket says who it is.
    let own = |name| std::env::var(name).ok();
    if let Some(token) = own("JACKIN_AGENT_TOKEN")
        .filter(|_| own("JACKIN_AGENT_SOCKET").is_some_and(|at| Path::new(&at) == socket))
    {
        client = client.with_token(token);
    }
    match command {
        CtlCommand::Status => {
            let status: Status = client.call(Request::Status {}).await?;
            print(json, &status, || table(&status))
        }
        CtlCommand::Snapshot => {
            let snapshot: Snapshot = client.call(Request::Snapshot {}).await?;
            print(json, &snapshot, || format!("event {}\n{}", snapshot.seq, table(&snapshot.status)))
        }
        CtlCommand::Events { from } => {
            client.subscribe(from).await?;
            while let Some(item) = client.next_event().await? {
                print(json, &item, || match &item {
                    StreamItem::Event(event) => describe(event),
                    StreamItem::Missed { count } => format!("… {count} events were lost"),
                    _ => "… something that this version does not know".to_owned(),
                })?;
            }
            Ok(())
        }
        CtlCommand::Wait { until, session, all, timeout } => {
            let matching = if all { Match::All } else { Match::Any };
            let request = Request::Wait { sessions: session, until, matching, timeout_ms: timeout };
            let waited: Waited = client.call(request).await?;
            print(json, &waited, || {
                waited.sessions.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            })
        }
        CtlCommand::Create { launch } => {
            created(&mut client, Request::SessionCreate { launch: launch.into() }, json).await
        }
        CtlCommand::Split { down, session, launch, .. } => {
            let direction = if down { Direction::Down } else { Direction::Right };
            let request = Request::SessionSplit { session_id: session, direction, launch: launch.into() };
            created(&mut client, request, json).await
        }
        CtlCommand::Focus { session } => {
            done(&mut client, Request::SessionFocus { session_id: session }, json).await
        }
        CtlCommand::Read { session, sgr, history } => {
            let format = if sgr { TextFormat::Sgr } else { TextFormat::Text };
            let read: ReadText =
                client.call(Request::SessionRead { session_id: session, format, history }).await?;
            if json {
                return print(json, &read, String::new);
            }
            let text = read.text.trim_end();
            print_line(&if sgr { styled(text) } else { printable(text) })
        }
        CtlCommand::Screen { session } => {
            client.watch_screen(session).await?;
            while let Some(rows) = client.next_rows().await? {
                if json {
                    print(json, &rows, String::new)?;
                } else if !rows.rows.is_empty() {
                    print_line(&row_lines(&rows))?;
                }
            }
            Ok(())
        }
        CtlCommand::Resources => {
            let used: Resources = client.call(Request::Resources {}).await?;
            print(json, &used, || resource_lines(&used))
        }
        CtlCommand::Context { text } => {
            let context: HostContext = serde_json::from_slice(text.as_bytes())
                .context("the context is not what context.set takes")?;
            done(&mut client, Request::ContextSet { context }, json).await
        }
        CtlCommand::Report { runtime, session, payload } => {
            let payload = serde_json::from_slice(payload.as_bytes()).context("the payload is not JSON")?;
            done(&mut client, Request::Report { session_id: session, runtime, payload }, json).await
        }
        CtlCommand::Send { text, session, no_enter, force, wait } => {
            let request =
                Request::SessionSend { session_id: session, text, submit: !no_enter, force, wait_ms: wait };
            done(&mut client, request, json).await
        }
        CtlCommand::Explain { session } => {
            let explanation: Explanation =
                client.call(Request::SessionExplain { session_id: session }).await?;
            print(json, &explanation, || explain(&explanation))
        }
        CtlCommand::Title { title, session } => {
            let request = Request::SessionTitle { session_id: session, rename: title };
            let title: Title = client.call(request).await?;
            print(json, &title, || title.title.clone())
        }
        CtlCommand::Tags { command } => match command.unwrap_or(TagsCommand::List) {
            TagsCommand::List => {
                let tags: Tags = client.call(Request::TagsList {}).await?;
                print(json, &tags, || tag_lines(&tags))
            }
            TagsCommand::Set { kind, value } => {
                done(&mut client, Request::TagsSet { kind, value }, json).await
            }
            TagsCommand::Unset { kind, value } => {
                done(&mut client, Request::TagsUnset { kind, value }, json).await
            }
            TagsCommand::Overrides => {
                let overrides: Overrides = client.call(Request::TagsOverrides {}).await?;
                print(json, &overrides, || override_lines(&overrides))
            }
            TagsCommand::Restore { text } => {
                let Overrides { overrides } = serde_json::from_slice(text.as_bytes())
                    .context("this is not what `tags overrides --json` prints")?;
                done(&mut client, Request::TagsRestore { overrides }, json).await
            }
        },
        CtlCommand::Ack { session } => done(&mut client, Request::Ack { session_id: session }, json).await,
        CtlCommand::Record { command } => {
            let recording: Recording = client.call(command.request()?).await?;
            print(json, &recording, || recording.path.clone())
        }
        CtlCommand::Restart { session } => {
            created(&mut client, Request::SessionRestart { session_id: session }, json).await
        }
        CtlCommand::Kill { session } => {
            done(&mut client, Request::SessionKill { session_id: session }, json).await
        }
        CtlCommand::Shutdown => done(&mut client, Request::Shutdown {}, json).await,
    }
}

async fn created(client: &mut Client, request: Request, json: bool) -> Result<()> {
    let created: Created = client.call(request).await?;
    print(json, &created, || created.session_id.to_string())
}

async fn done(client: &mut Client, request: Request, json: bool) -> Result<()> {
    let done: Done = client.call(request).await?;
    if json { print(json, &done, String::new) } else { Ok(()) }
}

fn print(json: bool, value: &impl Serialize, human: impl FnOnce() -> String) -> Result<()> {
    let text = if json { serde_json::to_string(value)? } else { printable(&human()) };
    print_line(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_a_name() {
        assert_eq!(variable("A=b=c"), Ok(("A".into(), "b=c".into())));
        assert!(variable("=x").is_err() && variable("x").is_err());
    }
}
