use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use jackin_core::RuntimeEvent;
use jackin_core::protocol::control::{self, Call, ControlError, Decoder, Done, PREFACE, Reply, Request};
use thiserror::Error;

/// How long an agent's hook may be held up by a capsule that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why a report did not arrive.
#[derive(Debug, Error)]
pub(crate) enum ReportError {
    #[error("{0} is not set: reports work inside a jackin session only")]
    NotInASession(&'static str),
    #[error("cannot tell the capsule")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Refused(#[from] ControlError),
    #[error("cannot tell the capsule: {0}")]
    Protocol(String),
}

/// Tells the capsule that this process runs in what its agent does. It blocks for as long as the capsule takes.
pub(crate) fn report(event: &RuntimeEvent) -> Result<(), ReportError> {
    let payload = serde_json::to_value(event).map_err(|error| ReportError::Protocol(error.to_string()))?;
    report_as("jackin", payload)
}

/// As [`report`], with a payload in the format of the given runtime.
pub(super) fn report_as(runtime: &str, payload: serde_json::Value) -> Result<(), ReportError> {
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
