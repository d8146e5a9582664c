//! The events of an agent's own HTTP server on this machine: `GET /event`.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use jackin_core::SessionId;
use jackin_status::{Channel, Decoder, LineDecoder, Runtime};
use tokio::sync::mpsc::Sender;

use super::Finding;

/// How long a server may take to come up.
const PATIENCE: Duration = Duration::from_secs(60);
const RETRY: Duration = Duration::from_millis(250);
/// Servers send a heartbeat; one that is silent for so long is gone.
const SILENCE: Duration = Duration::from_secs(120);
/// The longest line of an answer's head, and how many there may be.
const LONGEST_HEAD: u64 = 16 << 10;

/// Follows a server's events in a thread of its own until it ends.
pub(super) fn follow(id: SessionId, port: u16, findings: Sender<(SessionId, Finding)>) {
    let run = move || {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE && !findings.is_closed() {
            if let Ok(body) = subscribe(port) {
                let mut lines = LineDecoder::new(Runtime::OpenCodeSse.decoder());
                let told =
                    read_all(body, &mut lines, |finding| findings.blocking_send((id, finding)).is_ok());
                tracing::debug!("session {id}: the agent's server ended: {told:?}");
                let _ = findings.blocking_send((id, Finding::Closed(Channel::Stream)));
                return;
            }
            std::thread::sleep(RETRY);
        }
        tracing::warn!("session {id}: no server answers at port {port}, so its events are not known");
    };
    // Without it there are other sources.
    let _ = std::thread::Builder::new().name("agent-events".to_owned()).spawn(run);
}

fn subscribe(port: u16) -> io::Result<Box<dyn Read>> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(SILENCE))?;
    write!(stream, "GET /event HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n\r\n")?;
    body(BufReader::new(stream))
}

/// Reads an answer's head and returns its body.
fn body(mut answer: impl BufRead + 'static) -> io::Result<Box<dyn Read>> {
    let mut head = (&mut answer).take(LONGEST_HEAD);
    let mut line = String::new();
    head.read_line(&mut line)?;
    if line.split_ascii_whitespace().nth(1) != Some("200") {
        return Err(io::Error::other(format!("the server answers {:?}", line.trim_end())));
    }
    let mut chunked = false;
    loop {
        line.clear();
        if head.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let field = line.trim_end().to_ascii_lowercase();
        if field.is_empty() {
            break;
        }
        chunked |= field.starts_with("transfer-encoding:") && field.contains("chunked");
    }
    Ok(if chunked { Box::new(Chunks { answer, left: 0 }) } else { Box::new(answer) })
}

/// A body that comes in chunks, each with its length before it.
struct Chunks<R> {
    answer: R,
    left: u64,
}

impl<R: BufRead> Read for Chunks<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.left == 0 {
            let mut line = String::new();
            (&mut self.answer).take(LONGEST_HEAD).read_line(&mut line)?;
            let size = line.trim().split(';').next().unwrap_or_default();
            if size.is_empty() && !line.is_empty() {
                // The line end after a chunk.
                continue;
            }
            self.left = u64::from_str_radix(size, 16).map_err(|_| io::ErrorKind::InvalidData)?;
            if self.left == 0 {
                return Ok(0);
            }
        }
        let room = buf.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.answer.read(&mut buf[..room])?;
        self.left -= read as u64;
        Ok(read)
    }
}

fn read_all(
    mut body: impl Read,
    lines: &mut LineDecoder<Box<dyn Decoder>>,
    mut tell: impl FnMut(Finding) -> bool,
) -> io::Result<()> {
    let mut chunk = vec![0; 64 << 10];
    let mut listens = true;
    while listens {
        let read = body.read(&mut chunk)?;
        if read == 0 {
            return Ok(());
        }
        lines.feed(&chunk[..read], |decoded| {
            let events = std::mem::take(decoded.events);
            listens &= tell(Finding::Said { channel: Channel::Stream, at: decoded.line_time, events });
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use jackin_core::RuntimeEvent;

    use super::*;

    fn events(answer: &'static str) -> Result<Vec<RuntimeEvent>, String> {
        let body = body(BufReader::with_capacity(7, answer.as_bytes())).map_err(|error| error.to_string())?;
        let mut told = Vec::new();
        let mut lines = LineDecoder::new(Runtime::OpenCodeSse.decoder());
        let read = read_all(body, &mut lines, |finding| {
            if let Finding::Said { events, .. } = finding {
                told.extend(events);
            }
            true
        });
        read.map(|()| told).map_err(|error| error.to_string())
    }

    const BUSY: &str = "data: {\"type\":\"session.status\",\"properties\":{\"sessionID\":\"s\",\"status\":{\"type\":\"busy\"}}}\n\n";

    #[test]
    fn events_are_read_with_and_without_chunks() {
        let plain = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n{BUSY}");
        assert!(events(plain.leak()).unwrap().contains(&RuntimeEvent::TurnStarted));
        let (head, tail) = BUSY.split_at(30);
        let chunks = format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{head}\r\n{:X};x=1\r\n{tail}\r\n0\r\n\r\n",
            head.len(),
            tail.len()
        );
        assert!(events(chunks.leak()).unwrap().contains(&RuntimeEvent::TurnStarted));
    }

    #[test]
    fn what_is_no_event_stream_is_an_error() {
        assert!(events("HTTP/1.1 404 Not Found\r\n\r\n").unwrap_err().contains("404"));
        assert!(events("SSH-2.0\r\n").is_err());
        assert!(events("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").is_err());
        assert!(events("HTTP/1.1 200 OK\r\n").is_err());
    }
}
