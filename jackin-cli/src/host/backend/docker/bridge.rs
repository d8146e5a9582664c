//! A stream to a capsule's socket by `docker exec`: for engines on other machines, and wherever a socket cannot cross.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bollard::Docker;
use bollard::container::LogOutput;
use bollard::errors::Error;
use bollard::exec::{CreateExecOptions, StartExecOptions, StartExecResults};
use futures_util::Stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::CAPSULE;
use super::connection::{ASK, Trouble, within};

/// How much the bridge may say about what went wrong.
const MOST_COMPLAINTS: usize = 4 << 10;

/// How much is read from the engine at once.
const CAPACITY: usize = 64 << 10;

type Output = Pin<Box<dyn Stream<Item = Result<LogOutput, Error>> + Send>>;

/// The standard streams of `jackin-capsule bridge` in a container.
pub(super) struct Bridge {
    output: Output,
    input: Pin<Box<dyn AsyncWrite + Send>>,
    /// What came and was not taken yet, from `taken` on.
    chunk: Vec<u8>,
    taken: usize,
    complaints: Vec<u8>,
    over: bool,
}

impl Bridge {
    /// Starts the bridge in a container. The stream goes with the value, and the bridge with the stream.
    pub(super) async fn open(docker: &Docker, container: &str) -> Result<Self, Trouble> {
        let options = CreateExecOptions {
            attach_stdin: Some(true),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            // A terminal in between would change bytes.
            tty: Some(false),
            cmd: Some(vec![CAPSULE, "bridge"]),
            user: Some("0"),
            ..CreateExecOptions::default()
        };
        let exec = within(ASK, docker.create_exec(container, options)).await?;
        let options = StartExecOptions { detach: false, tty: false, output_capacity: Some(CAPACITY) };
        match within(ASK, docker.start_exec(&exec.id, Some(options))).await? {
            StartExecResults::Attached { output, input } => {
                Ok(Self { output, input, chunk: Vec::new(), taken: 0, complaints: Vec::new(), over: false })
            }
            StartExecResults::Detached => {
                Err(Trouble::Refused(500, "the engine did not attach to the bridge".to_owned()))
            }
        }
    }

    /// The end of the stream, or why there never was one.
    fn end(&mut self) -> io::Result<()> {
        self.over = true;
        let said = String::from_utf8_lossy(&std::mem::take(&mut self.complaints)).trim().to_owned();
        if said.is_empty() { Ok(()) } else { Err(io::Error::other(said)) }
    }
}

impl AsyncRead for Bridge {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            let rest = &this.chunk[this.taken..];
            if !rest.is_empty() {
                let len = rest.len().min(buf.remaining());
                buf.put_slice(&rest[..len]);
                this.taken += len;
                return Poll::Ready(Ok(()));
            }
            if this.over {
                return Poll::Ready(Ok(()));
            }
            match std::task::ready!(this.output.as_mut().poll_next(context)) {
                Some(Ok(LogOutput::StdOut { message })) => {
                    (this.chunk, this.taken) = (message.into(), 0);
                }
                // The engine's own complaints come without saying which stream they are of.
                Some(Ok(LogOutput::StdErr { message } | LogOutput::Console { message })) => {
                    let room = MOST_COMPLAINTS.saturating_sub(this.complaints.len());
                    this.complaints.extend_from_slice(&message[..message.len().min(room)]);
                }
                Some(Ok(LogOutput::StdIn { .. })) => {}
                Some(Err(error)) => {
                    this.over = true;
                    return Poll::Ready(Err(io::Error::other(error)));
                }
                None => return Poll::Ready(this.end()),
            }
        }
    }
}

impl AsyncWrite for Bridge {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.input.as_mut().poll_write(context, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.input.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.input.as_mut().poll_shutdown(context)
    }
}
