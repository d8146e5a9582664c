//! Fires one tool from the command line.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use jackin_core::protocol::control::{ErrorCode, Provider, Request, Status, TagEntry, Tags};
use jackin_tools::{Context, Placeholder, Platform, Provenance, ResolvedCommand, Tool, Tools, ValueError};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::signal::unix::{SignalKind, signal};

use super::args::{LookUp, RunArgs};
use super::runner::{End, Limits, RunError, Running, on_path};
use super::show;
use crate::client::{Client, ClientError};

/// The exit code of a shell for a program that it does not find.
const NO_PROGRAM: u8 = 127;

/// Resolves a tool's command and runs or shows it; the exit code.
pub(super) async fn fire(
    tools: &Tools,
    tool: &Tool,
    args: &RunArgs,
    json: bool,
    look_up: LookUp,
) -> Result<u8> {
    let mut context = known_values(args, look_up).await?;
    if let Some(answer) = answer(tool, args).await? {
        context.set(Placeholder::Input, answer, Provenance::Operator)?;
    }
    let command = resolve(tools, tool, &context)?;
    if args.dry_run {
        show::dry_run(tool, &command, &context, json)?;
        return Ok(0);
    }
    let limits =
        Limits { timeout: args.timeout.map_or(tool.timeout, Duration::from_secs), ..Limits::default() };
    let running = match Running::start(&command, limits) {
        Ok(running) => running,
        Err(error @ RunError::NoProgram(_)) => {
            writeln!(io::stderr(), "error: {error}")?;
            return Ok(NO_PROGRAM);
        }
        Err(error) => bail!(error),
    };
    watch(running, tool, &command, json).await
}

async fn known_values(args: &RunArgs, look_up: LookUp) -> Result<Context> {
    let mut context = match (&args.socket, &args.instance) {
        (Some(socket), named) => {
            let (name, tags) = ask_capsule(socket).await?;
            let mut context = Context::of(named.clone().unwrap_or(name));
            set_tags(&mut context, &tags.tags)?;
            context
        }
        (None, Some(instance)) => look_up(instance.clone()).await?,
        (None, None) => Context::new(),
    };
    for setting in &args.values {
        context.set(setting.placeholder, setting.value.as_str(), Provenance::Operator)?;
    }
    Ok(context)
}

/// Adds what an instance's agents declared and its operator set.
pub(crate) fn set_tags(context: &mut Context, tags: &[TagEntry]) -> Result<(), ValueError> {
    // The latest of each kind is last, and stays.
    for tag in tags {
        if let Some(placeholder) = Placeholder::from_tag(&tag.kind) {
            let provenance = match tag.provider {
                Provider::Agent => Provenance::Agent,
                Provider::Operator => Provenance::Operator,
            };
            context.set(placeholder, tag.value.as_str(), provenance)?;
        }
    }
    Ok(())
}

/// The instance's name and what its agents declared. A capsule that keeps no tags has none.
async fn ask_capsule(socket: &Path) -> Result<(jackin_core::InstanceName, Tags)> {
    let mut client = Client::connect(socket).await?;
    let status: Status = client.call(Request::Status {}).await?;
    let tags = match client.call(Request::TagsList {}).await {
        Ok(tags) => tags,
        Err(ClientError::Refused(error))
            if matches!(error.code, ErrorCode::Unsupported | ErrorCode::UnknownMethod) =>
        {
            Tags { tags: Vec::new() }
        }
        Err(error) => return Err(error).context("cannot ask the capsule for its tags"),
    };
    Ok((status.instance, tags))
}

/// The operator's answer to the tool's question: given, or asked for on the terminal.
async fn answer(tool: &Tool, args: &RunArgs) -> Result<Option<String>> {
    match (&tool.prompt, &args.input) {
        (None, None) => Ok(None),
        (None, Some(_)) => bail!("the tool {:?} asks no question: leave --input out", tool.name),
        (Some(_), Some(answer)) => Ok(Some(answer.clone())),
        (Some(question), None) if args.dry_run => {
            bail!("the tool asks {question:?}: give an answer with --input")
        }
        (Some(question), None) if io::stdin().is_terminal() => {
            write!(io::stderr(), "{question} ")?;
            let mut line = String::new();
            let mut stdin = BufReader::new(tokio::io::stdin());
            let read = tokio::time::timeout(Tool::PROMPT_TIMEOUT, stdin.read_line(&mut line)).await;
            let seconds = Tool::PROMPT_TIMEOUT.as_secs();
            let len = read
                .with_context(|| format!("nobody answered within {seconds} seconds"))?
                .context("no answer")?;
            if len == 0 {
                bail!("no answer was given");
            }
            Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned()))
        }
        (Some(question), None) => bail!("the tool asks {question:?}: give the answer with --input"),
    }
}

/// The tool's command; where it is `open …` and there is no such program, the handler that opens things here.
fn resolve(tools: &Tools, tool: &Tool, context: &Context) -> Result<ResolvedCommand> {
    let command = tool.command.resolve(context)?;
    if on_path(&command.program) {
        return Ok(command);
    }
    match tools.handlers().instead_of_open(&command, context, Platform::from_os(std::env::consts::OS)) {
        Some(instead) => Ok(instead?),
        None => Ok(command),
    }
}

/// Prints what the command prints until it ends, or until we are asked to end.
async fn watch(mut running: Running, tool: &Tool, command: &ResolvedCommand, json: bool) -> Result<u8> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut stdout = tokio::io::stdout();
    let mut asked_to_end = None;
    let mut broken = None;
    loop {
        let signal = tokio::select! {
            line = running.next_line() => {
                let Some(mut line) = line else { break };
                if !json && broken.is_none() {
                    line.push('\n');
                    let printed = stdout.write_all(line.as_bytes()).await;
                    if let Err(error) = match printed { Ok(()) => stdout.flush().await, failed => failed } {
                        broken = Some(error);
                        running.stop();
                    }
                }
                continue;
            }
            _ = interrupt.recv() => SignalKind::interrupt(),
            _ = terminate.recv() => SignalKind::terminate(),
            _ = hang_up.recv() => SignalKind::hangup(),
        };
        asked_to_end = Some(signal);
        running.stop();
    }
    let finished = running.finish().await;
    if let Some(error) = broken {
        return Err(error.into());
    }
    if json {
        show::finished(tool, command, &finished)?;
    } else if finished.end != End::Exited(0) {
        let after = finished.duration.as_secs_f64();
        writeln!(io::stderr(), "[jackin] {:?} {} ({after:.1} s)", tool.name, finished.end)?;
    }
    Ok(match asked_to_end {
        Some(signal) => 128 + u8::try_from(signal.as_raw_value()).unwrap_or(2),
        None => finished.end.exit_code(),
    })
}
