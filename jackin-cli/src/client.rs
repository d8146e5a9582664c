//! A capsule's control channel, for programs: over its socket, or over any other byte stream that leads there.
//!
//! ```no_run
//! use jackin_cli::client::Client;
//! use jackin_core::protocol::control::{Request, Status};
//!
//! # async fn example() -> Result<(), jackin_cli::client::ClientError> {
//! let mut client = Client::connect("/run/user/1000/jackin/capsule.sock").await?;
//! let status: Status = client.call(Request::Status {}).await?;
//! for session in status.sessions {
//!     println!("{} {} ({})", session.id, session.status, session.cause);
//! }
//! # Ok(())
//! # }
//! ```

use std::io;
use std::path::{Path, PathBuf};

use jackin_core::SessionId;
use jackin_core::protocol::control::{
    self, Call, ControlError, Decoder, MessageTooLong, PREFACE, Reply, Request, ScreenRows, StreamItem,
};
use serde::de::DeserializeOwned;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;

/// A byte stream to a capsule: its socket, or the standard streams of `jackin-capsule bridge` in a container or on
/// another machine. Everything that reads and writes is one.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// Why a call failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// Nobody answers at the socket.
    #[error("no capsule answers at {}: {error}", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The capsule refused.
    #[error(transparent)]
    Refused(#[from] ControlError),
    /// The capsule's answer makes no sense.
    #[error("the capsule's answer could not be read: {0}")]
    BadAnswer(#[from] serde_json::Error),
    /// The request or the answer is over the protocol's limit.
    #[error(transparent)]
    TooLong(#[from] MessageTooLong),
    /// The capsule went away.
    #[error("the capsule closed the connection")]
    Closed,
    /// The connection broke.
    #[error("connection to the capsule: {0}")]
    Io(#[from] io::Error),
}

/// A connection to a capsule's control channel. It carries any number of calls, one after another.
pub struct Client {
    stream: Box<dyn ByteStream>,
    decoder: Decoder,
    token: Option<String>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The token is a secret.
        f.debug_struct("Client").field("has_token", &self.token.is_some()).finish_non_exhaustive()
    }
}

impl Client {
    /// Connects to a capsule's socket.
    pub async fn connect(path: impl AsRef<Path>) -> Result<Self, ClientError> {
        let path = path.as_ref();
        let failed = |error| ClientError::Connect { path: path.to_owned(), error };
        Self::over(UnixStream::connect(path).await.map_err(failed)?).await
    }

    /// Speaks to a capsule over a stream that leads to it, and that nothing was sent over yet.
    ///
    /// ```
    /// use jackin_cli::client::Client;
    /// use jackin_core::protocol::control::Request;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), jackin_cli::client::ClientError> {
    /// let (ours, mut theirs) = tokio::io::duplex(1024);
    /// let mut client = Client::over(ours).await?;
    /// let call = client.call::<serde_json::Value>(Request::Status {});
    /// # use tokio::io::{AsyncReadExt, AsyncWriteExt};
    /// # let capsule = async {
    /// #     let mut asked = [0; 36];
    /// #     theirs.read_exact(&mut asked).await.unwrap();
    /// #     assert_eq!(asked[..5], [0, 0, 0, 0, 31], "the preface, then a message");
    /// #     theirs.write_all(b"\0\0\0\x12{\"result\":{\"a\":1}}").await.unwrap();
    /// # };
    /// # let (answer, ()) = tokio::join!(call, capsule);
    /// assert_eq!(answer?["a"], 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn over(stream: impl ByteStream + 'static) -> Result<Self, ClientError> {
        let mut stream: Box<dyn ByteStream> = Box::new(stream);
        stream.write_all(&[PREFACE]).await?;
        stream.flush().await?;
        Ok(Self { stream, decoder: Decoder::new(), token: None })
    }

    /// Shows a session's token with each call, as the agents' socket asks for.
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Asks for something and waits for the answer.
    pub async fn call<T: DeserializeOwned>(&mut self, request: Request) -> Result<T, ClientError> {
        self.send(request.into()).await?;
        self.answer().await
    }

    /// Subscribes to the capsule's events, from the sequence number `from` or from now on. Take them with
    /// [`Client::next_event`]; the connection carries nothing else afterwards.
    pub async fn subscribe(&mut self, from: Option<u64>) -> Result<(), ClientError> {
        self.send(Request::Events { from }.into()).await
    }

    /// The next event of a subscription; `None` when the capsule has ended.
    pub async fn next_event(&mut self) -> Result<Option<StreamItem>, ClientError> {
        match self.answer().await {
            Ok(item) => Ok(Some(item)),
            Err(ClientError::Closed) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Asks for the screen of a session as it is and whenever it changes, at most ten times a second. Take the rows with
    /// [`Client::next_rows`]; the connection carries nothing else afterwards.
    pub async fn watch_screen(&mut self, session_id: SessionId) -> Result<(), ClientError> {
        self.send(Request::Screen { session_id }.into()).await
    }

    /// The next rows of a screen that is watched; `None` when its session has ended. The first are all of them.
    pub async fn next_rows(&mut self) -> Result<Option<ScreenRows>, ClientError> {
        match self.answer().await {
            Ok(rows) => Ok(Some(rows)),
            Err(ClientError::Closed) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn send(&mut self, mut call: Call) -> Result<(), ClientError> {
        call.token = call.token.or_else(|| self.token.clone());
        let mut wire = Vec::new();
        control::encode(&call, &mut wire)?;
        self.stream.write_all(&wire).await?;
        // A bridge may keep bytes back until it is told not to.
        Ok(self.stream.flush().await?)
    }

    async fn answer<T: DeserializeOwned>(&mut self) -> Result<T, ClientError> {
        let mut buf = vec![0; 16 * 1024];
        loop {
            if let Some(json) = self.decoder.next_message()? {
                return Ok(serde_json::from_slice::<Reply<T>>(json)?.into_result()?);
            }
            let room = self.decoder.room().min(buf.len());
            let len = self.stream.read(&mut buf[..room]).await?;
            if len == 0 {
                return Err(ClientError::Closed);
            }
            let _ = self.decoder.feed(&buf[..len]);
        }
    }
}
