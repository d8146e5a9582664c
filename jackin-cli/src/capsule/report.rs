use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use clap::Args;
#[cfg(feature = "host")]
use jackin_core::RuntimeEvent;
use jackin_core::protocol::control::{self, Call, ControlError, Decoder, Done, PREFACE, Reply, Request};
use thiserror::Error;

/// How long an agent's hook may be held up by a capsule that does not answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The longest report that is read.
const MAX_REPORT: u64 = 16 << 20;

/// What hooks hand over that says nothing of what the agent does, and may be as long as a tool's output.
const NOT_SENT: [&str; 4] = ["tool_response", "tool_result", "llm_request", "llm_response"];

/// A report of an agent's hook.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Whose format the report has: jackin, claude, codex, gemini or codex-notify
    #[arg(long, default_value = "jackin")]
    runtime: String,
    /// What happened, where the report itself does not say so; alone, it is the report
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// End with an error when the report does not arrive; otherwise a hook never fails because of it
    #[arg(long)]
    strict: bool,
    /// The report, a JSON object [default: standard input]
    #[arg(value_name = "JSON")]
    json: Option<String>,
}

/// Passes a hook's report on. An agent must not suffer from a capsule that is gone: what goes wrong is told on standard
/// error, and is an error only if that is asked for. Nothing is written to standard output, which agents read.
pub(super) fn report_for_hook(args: &ReportArgs) -> anyhow::Result<()> {
    let result = payload(args).and_then(|payload| report_as(&args.runtime, payload));
    match result {
        Err(error) if args.strict => Err(error.into()),
        Err(error) => {
            // Nobody may be there to read it.
            let _ = writeln!(io::stderr(), "jackin: not reported: {error}");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

fn payload(args: &ReportArgs) -> Result<serde_json::Value, ReportError> {
    let text = match (&args.json, &args.event) {
        (Some(json), _) => json.clone(),
        // A hook's input is a pipe; a person at a terminal gives none.
        (None, Some(_)) if io::IsTerminal::is_terminal(&io::stdin()) => String::new(),
        (None, _) => {
            let mut text = String::new();
            io::stdin().take(MAX_REPORT + 1).read_to_string(&mut text)?;
            text
        }
    };
    if text.len() as u64 > MAX_REPORT {
        return Err(ReportError::Payload(format!("it is longer than {MAX_REPORT} bytes")));
    }
    make_payload(&args.runtime, args.event.as_deref(), &text)
}

fn make_payload(runtime: &str, event: Option<&str>, text: &str) -> Result<serde_json::Value, ReportError> {
    let mut payload = match (text.trim(), event) {
        ("", Some(_)) => serde_json::Map::new(),
        (text, _) => serde_json::from_slice(text.as_bytes())
            .map_err(|error| ReportError::Payload(format!("it is no JSON object: {error}")))?,
    };
    if let Some(event) = event {
        let field = if runtime == "jackin" { "event" } else { "hook_event_name" };
        payload.entry(field).or_insert_with(|| event.into());
    }
    for field in NOT_SENT {
        payload.remove(field);
    }
    Ok(payload.into())
}

/// Why a report did not arrive.
#[derive(Debug, Error)]
pub(crate) enum ReportError {
    #[error("{0} is not set: reports work inside a jackin session only")]
    NotInASession(&'static str),
    #[error("cannot tell the capsule: {0}")]
    Io(#[from] io::Error),
    #[error("the report: {0}")]
    Payload(String),
    #[error(transparent)]
    Refused(#[from] ControlError),
    #[error("cannot tell the capsule: {0}")]
    Protocol(String),
}

/// Tells the capsule that this process runs in what its agent does. It blocks for as long as the capsule takes.
#[cfg(feature = "host")]
pub(crate) fn report(event: &RuntimeEvent) -> Result<(), ReportError> {
    let payload = serde_json::to_value(event).map_err(|error| ReportError::Protocol(error.to_string()))?;
    report_as("jackin", payload)
}

/// As [`report`], with a payload in the format of the given runtime.
fn report_as(runtime: &str, payload: serde_json::Value) -> Result<(), ReportError> {
    let variable = |name| std::env::var(name).map_err(|_| ReportError::NotInASession(name));
    let (socket, token) = (variable("JACKIN_AGENT_SOCKET")?, variable("JACKIN_AGENT_TOKEN")?);
    let request = Request::Report { session_id: None, runtime: runtime.to_owned(), payload };
    let mut wire = vec![PREFACE];
    control::encode(&Call { token: Some(token), request }, &mut wire)
        .map_err(|error| ReportError::Protocol(error.to_string()))?;

    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&wire)?;
    let (mut decoder, mut buf) = (Decoder::new(), [0; 4096]);
    loop {
        let len = stream.read(&mut buf)?;
        if len == 0 || decoder.feed(&buf[..len]) < len {
            return Err(ReportError::Protocol("the capsule closed the connection".to_owned()));
        }
        let message = decoder.next_message().map_err(|error| ReportError::Protocol(error.to_string()))?;
        if let Some(json) = message {
            let reply: Reply<Done> =
                serde_json::from_slice(json).map_err(|error| ReportError::Protocol(error.to_string()))?;
            reply.into_result()?;
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_names_what_the_report_does_not() {
        let payload =
            |runtime, event, text| make_payload(runtime, event, text).map_err(|error| error.to_string());
        assert_eq!(payload("jackin", Some("turn-started"), ""), Ok(json!({ "event": "turn-started" })));
        assert_eq!(payload("claude", Some("Stop"), "{}"), Ok(json!({ "hook_event_name": "Stop" })));
        let own = r#"{ "hook_event_name": "PreToolUse", "tool_response": "long", "tool_name": "Bash" }"#;
        assert_eq!(
            payload("claude", Some("Stop"), own),
            Ok(json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash" }))
        );
        assert!(payload("claude", None, "").unwrap_err().contains("no JSON object"));
        assert!(payload("claude", None, "[1]").unwrap_err().contains("no JSON object"));
    }
}
