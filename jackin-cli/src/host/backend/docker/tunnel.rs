//! The way to an engine behind ssh: a process `ssh … docker system dial-stdio` for each connection, as `docker` itself
//! has it. It ends with the connection, and with this program, however that ends. Who wants one login for all of them says
//! so in the configuration of ssh (`ControlMaster`).

use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::task::{Context, Poll, ready};

use bollard::errors::Error;
use bollard::{API_DEFAULT_VERSION, BollardRequest, Docker};
use http::Uri;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tower_service::Service;

/// How long ssh may try to connect, in seconds.
const CONNECT: u8 = 15;

/// How much of what ssh complains about is told.
const MOST_COMPLAINTS: u64 = 4 << 10;

/// What ssh is told to go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Destination {
    host: String,
    user: Option<String>,
    port: Option<u16>,
}

impl Destination {
    /// `[user@]host[:port]`; the error is for people.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("ssh://{text} is no engine: write ssh://user@host, or ssh://user@host:port");
        let (user, rest) = match text.rsplit_once('@') {
            Some((user, rest)) => (Some(user), rest),
            None => (None, text),
        };
        let (host, port) = match rest.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']').ok_or_else(bad)?;
                (host, after.strip_prefix(':').filter(|_| !after.is_empty()))
            }
            None => match rest.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (rest, None),
            },
        };
        let port = port.map(|port| port.parse().map_err(|_| bad())).transpose()?;
        // What begins like an option would be one.
        let is_name = |name: &str| {
            !name.is_empty()
                && !name.starts_with('-')
                && !name.contains(|c: char| c.is_whitespace() || c.is_control())
        };
        if !is_name(host) || user.is_some_and(|user| !is_name(user)) {
            return Err(bad());
        }
        Ok(Self { host: host.to_owned(), user: user.map(str::to_owned), port })
    }

    fn command(&self) -> Command {
        let mut command = Command::new("ssh");
        // Nobody is there to be asked.
        command.args(["-T", "-o", "BatchMode=yes", "-o", &format!("ConnectTimeout={CONNECT}")]);
        if let Some(user) = &self.user {
            command.args(["-l", user]);
        }
        if let Some(port) = self.port {
            command.args(["-p", &port.to_string()]);
        }
        command.args(["--", &self.host, "docker", "system", "dial-stdio"]);
        command
    }
}

/// An engine that is reached that way. Nothing is started yet.
pub(super) fn connect(to: Destination, timeout: u64) -> Result<Docker, Error> {
    let client = Client::builder(TokioExecutor::new()).build(Tunnels { to });
    let transport = move |request: BollardRequest| {
        let client = client.clone();
        async move { client.request(request).await.map_err(Error::from) }
    };
    // Where it is, ssh is told; this is a name for the connections that are kept.
    Docker::connect_with_custom_transport(transport, Some("ssh://engine"), timeout, API_DEFAULT_VERSION)
}

/// Opens tunnels.
#[derive(Clone)]
struct Tunnels {
    to: Destination,
}

impl Service<Uri> for Tunnels {
    type Response = TokioIo<Tunnel>;
    type Error = io::Error;
    type Future = std::future::Ready<io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        std::future::ready(Tunnel::open(&self.to).map(TokioIo::new))
    }
}

/// The standard streams of one ssh.
struct Tunnel {
    /// Ends with this value.
    _ssh: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    /// Collects what ssh complains about.
    complaints: JoinHandle<String>,
    /// Whether the engine has said anything.
    spoken: bool,
}

impl Tunnel {
    fn open(to: &Destination) -> io::Result<Self> {
        let mut command = to.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl+C is for this program, which may have something to take away by that tunnel.
        command.process_group(0).kill_on_drop(true);
        let started = command.spawn();
        let mut ssh = started.map_err(|error| io::Error::other(format!("cannot start ssh: {error}")))?;
        let missing = || io::Error::other("ssh was started without its streams");
        let (input, output) = (ssh.stdin.take().ok_or_else(missing)?, ssh.stdout.take().ok_or_else(missing)?);
        let errors = ssh.stderr.take().ok_or_else(missing)?;
        let complaints = tokio::spawn(async move {
            let (mut said, mut errors) = (Vec::new(), errors);
            let _ = (&mut errors).take(MOST_COMPLAINTS).read_to_end(&mut said).await;
            // It must not be held up by what nobody reads.
            tokio::spawn(async move { tokio::io::copy(&mut errors, &mut tokio::io::sink()).await });
            String::from_utf8_lossy(&said).trim().to_owned()
        });
        Ok(Self { _ssh: ssh, input: Some(input), output, complaints, spoken: false })
    }
}

impl AsyncRead for Tunnel {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.output).poll_read(context, buf))?;
        if buf.filled().len() > before {
            self.spoken = true;
        } else if !self.spoken {
            // There never was an engine at the other end; ssh says why.
            let said = ready!(Pin::new(&mut self.complaints).poll(context)).unwrap_or_default();
            self.spoken = true;
            return Poll::Ready(Err(io::Error::other(explained(&said))));
        }
        Poll::Ready(Ok(()))
    }
}

/// What ssh said, and what to do about it.
fn explained(said: &str) -> String {
    let hints = [
        ("Permission denied", "it must let you in with a key that asks for no password: try `ssh` by hand"),
        ("Host key verification failed", "connect once by hand with `ssh`, so that its key is known"),
        ("not found", "`docker` has to be installed there, and on the PATH of a login without a terminal"),
        ("Could not resolve", "check the name"),
    ];
    // Greetings come first; what is wrong stands at the end.
    let said =
        said.lines().rev().take(3).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("; ");
    match hints.iter().find(|(part, _)| said.contains(part)) {
        _ if said.is_empty() => "ssh ended without a word".to_owned(),
        Some((_, hint)) => format!("{said}: {hint}"),
        None => said,
    }
}

impl AsyncWrite for Tunnel {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.input {
            Some(input) => Pin::new(input).poll_write(context, buf),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.input {
            Some(input) => Pin::new(input).poll_flush(context),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The other side learns that nothing more comes by the pipe's end.
        self.input = None;
        Poll::Ready(Ok(()))
    }
}

impl Connection for Tunnel {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let command = Destination::parse(text).unwrap().command();
        command.as_std().get_args().skip(5).map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn ssh_is_told_where_to_go_and_nothing_else() {
        let dial = ["docker", "system", "dial-stdio"];
        assert_eq!(words("big"), [&["--", "big"], &dial[..]].concat());
        assert_eq!(words("me@big:2222"), [&["-l", "me", "-p", "2222", "--", "big"], &dial[..]].concat());
        assert_eq!(words("[::1]:22"), [&["-p", "22", "--", "::1"], &dial[..]].concat());
        assert_eq!(words("a@b@big"), [&["-l", "a@b", "--", "big"], &dial[..]].concat());
        for bad in ["", "me@", "-oProxyCommand=x", "-x@big", "big:port", "a b", "[::1", "me@big:99999"] {
            assert!(Destination::parse(bad).unwrap_err().contains("ssh://user@host"), "{bad}");
        }
    }

    #[test]
    fn what_ssh_says_comes_with_what_to_do() {
        let told = explained("Welcome!\nYou are watched.\nPlease.\nme@big: Permission denied (publickey).");
        assert!(told.ends_with("try `ssh` by hand") && !told.contains("Welcome"), "{told}");
        assert!(explained("sh: docker: not found").contains("installed there"));
        assert_eq!(explained(""), "ssh ended without a word");
    }
}
