//! The attach channel: what an operator's terminal and a capsule say to each other.
//!
//! Every frame is `[tag: u8][length: u32, big endian][payload]`, at most [`MAX_PAYLOAD`] bytes of payload. Keys and
//! screen bytes travel raw; everything at human speed is JSON. A frame with a tag that this version does not know is
//! skipped and reported as [`Frame::Unknown`].
//!
//! ```
//! use jackin_core::protocol::attach::{Decoder, Frame, encode};
//!
//! let mut wire = Vec::new();
//! encode(&Frame::Input(b"ls\r"), &mut wire)?;
//! encode(&Frame::Detach, &mut wire)?;
//!
//! let mut decoder = Decoder::new();
//! // However the bytes are cut, the same frames come out.
//! for piece in wire.chunks(4) {
//!     let mut rest = piece;
//!     while !rest.is_empty() {
//!         rest = &rest[decoder.feed(rest)..];
//!         while let Some(frame) = decoder.next_frame()? {
//!             assert!(matches!(frame, Frame::Input(b"ls\r") | Frame::Detach));
//!         }
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use super::control::SessionInfo;
use super::{Inbox, Version};
use crate::{InstanceName, Size};

/// The largest payload of a frame. Longer output is sent as several frames.
pub const MAX_PAYLOAD: usize = 4 << 20;

/// The bytes before a payload: tag and length.
pub const HEADER_LEN: usize = 5;

/// One frame, borrowed from the decoder where it carries bytes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Frame<'a> {
    /// Client: here I am, this is my terminal.
    Hello(Hello),
    /// Client: my terminal has another size now.
    Resize(Size),
    /// Client: bytes from the operator's terminal.
    Input(&'a [u8]),
    /// Client: a command as a JSON object.
    Command(Map<String, Value>),
    /// Client: I leave; everything goes on running.
    Detach,
    /// Client: the operator's terminal got the focus.
    FocusIn,
    /// Client: the operator's terminal lost the focus.
    FocusOut,
    /// Server: you are attached.
    Welcome(Welcome),
    /// Server: bytes for the operator's terminal.
    Output(&'a [u8]),
    /// Server: what runs here.
    SessionList(Vec<SessionInfo>),
    /// Server: you are no longer attached.
    Shutdown(Shutdown),
    /// Server: ring the bell.
    Bell,
    /// A frame that this version does not know; its payload was skipped.
    Unknown {
        /// Its tag.
        tag: u8,
        /// How long its payload was.
        len: usize,
    },
}

/// The client's first frame: the version in binary, so that any version can read it, then a JSON object whose
/// unknown fields are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The version that the client speaks.
    #[serde(skip)]
    pub version: Version,
    /// The size of the client's terminal.
    pub size: Size,
    /// What to start when nothing runs yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spawn: Vec<String>,
    /// Variables for what is started on the client's behalf.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The client's `TERM`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub term: Option<String>,
    /// The client's `TERM_PROGRAM`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub term_program: Option<String>,
    /// The client's `COLORTERM`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colorterm: Option<String>,
    /// Whether the client only looks on. It then neither types, nor resizes, nor takes over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}

/// The server's first frame: the version in binary, then a JSON object whose unknown fields are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// The version that the server speaks.
    #[serde(skip)]
    pub version: Version,
    /// Which instance this is.
    pub instance: InstanceName,
    /// How many sessions run.
    pub session_count: usize,
    /// Whether the capsule took the terminal that was lent with the Hello: it then reads keys and draws by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminal_taken: bool,
}

impl Default for Version {
    fn default() -> Self {
        Self::CURRENT
    }
}

/// Why the server ends the attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shutdown {
    /// What happened.
    pub reason: ShutdownReason,
    /// The same for a person, with what to do about it.
    #[serde(default)]
    pub message: String,
}

/// What ended an attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ShutdownReason {
    /// Another client attached.
    TakenOver,
    /// The client asked to leave.
    Detached,
    /// The last session ended.
    AllSessionsEnded {
        /// The exit code of the whole.
        exit_code: i32,
    },
    /// The daemon was told to stop.
    Stopped,
    /// The two speak different versions.
    VersionMismatch {
        /// What the server speaks.
        server: Version,
    },
    /// The client sent something that makes no sense.
    ProtocolError,
    /// A reason that this version does not know.
    #[serde(other)]
    Other,
}

/// What was wrong with a frame.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The announced length is over the limit. The stream cannot be read any further.
    #[error(
        "{frame} frame announces {len} bytes, over the limit of {MAX_PAYLOAD}: the peer is not a jackin program"
    )]
    TooLong {
        /// Which frame.
        frame: &'static str,
        /// What it announced.
        len: usize,
    },
    /// The payload ends before its fixed part does.
    #[error("{frame} frame has {len} bytes of payload, at least {expected} are needed")]
    Truncated {
        /// Which frame.
        frame: &'static str,
        /// How long it is.
        len: usize,
        /// How long it must be.
        expected: usize,
    },
    /// The payload is not the JSON that belongs there.
    #[error("{frame} frame: {error}")]
    Json {
        /// Which frame.
        frame: &'static str,
        /// What the JSON reader says, with line and column.
        error: serde_json::Error,
    },
    /// The peer's Hello or Welcome is of another major version; the rest of it was not read.
    #[error(
        "{frame} frame speaks protocol {theirs}, this program speaks {}: use the same jackin release on both sides",
        Version::CURRENT
    )]
    Version {
        /// Which frame.
        frame: &'static str,
        /// What the peer speaks.
        theirs: Version,
    },
}

impl DecodeError {
    /// Whether the stream cannot be read any further. Otherwise the bad frame was skipped and the next one can be
    /// asked for.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::TooLong { .. })
    }
}

/// A frame that cannot be sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The payload is over [`MAX_PAYLOAD`].
    #[error("{frame} frame has {len} bytes of payload, over the limit of {MAX_PAYLOAD}")]
    TooLong {
        /// Which frame.
        frame: &'static str,
        /// How long it is.
        len: usize,
    },
    /// [`Frame::Unknown`] stands for something received; it cannot be sent.
    #[error("a frame of unknown kind (tag {tag:#04x}) cannot be sent")]
    Unknown {
        /// Its tag.
        tag: u8,
    },
}

/// Turns received bytes into frames.
///
/// The rule: [`feed`](Self::feed) some bytes, then call [`next_frame`](Self::next_frame) until it returns `None`,
/// then feed the rest. Memory never exceeds one frame of the largest size, and grows with what arrived, not with
/// what was announced. After a fatal error everything further is discarded and the same error is returned.
#[derive(Debug)]
pub struct Decoder {
    inbox: Inbox,
    /// The header that ended the stream: tag and announced length.
    fatal: Option<(u8, usize)>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder at the beginning of a stream.
    pub const fn new() -> Self {
        Self { inbox: Inbox::new(HEADER_LEN + MAX_PAYLOAD), fatal: None }
    }

    /// How many bytes of memory the decoder holds; at most one message of the largest size.
    pub fn memory(&self) -> usize {
        self.inbox.capacity()
    }

    /// How many bytes the next `feed` takes at least; never 0 once everything whole was taken out. Whoever reads no
    /// more than this at a time never has bytes left over.
    pub fn room(&self) -> usize {
        self.inbox.room()
    }

    /// Takes bytes and says how many. Fewer than all are taken only while whole frames wait to be read.
    #[must_use = "what was not taken must be fed again"]
    pub fn feed(&mut self, bytes: &[u8]) -> usize {
        if self.fatal.is_some() { bytes.len() } else { self.inbox.feed(bytes) }
    }

    /// The next whole frame; `None` when more bytes are needed.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, DecodeError> {
        if let Some((tag, len)) = self.fatal {
            return Err(DecodeError::TooLong { frame: tag_name(tag), len });
        }
        let pending = self.inbox.pending();
        let Some((&[tag, a, b, c, d], body)) = pending.split_first_chunk() else {
            return Ok(None);
        };
        let len = u32::from_be_bytes([a, b, c, d]) as usize;
        if len > MAX_PAYLOAD {
            self.fatal = Some((tag, len));
            self.inbox.discard();
            return Err(DecodeError::TooLong { frame: tag_name(tag), len });
        }
        if body.len() < len {
            return Ok(None);
        }
        decode(tag, &self.inbox.consume(HEADER_LEN + len)[HEADER_LEN..]).map(Some)
    }
}

mod tag {
    pub(super) const HELLO: u8 = 0x01;
    pub(super) const RESIZE: u8 = 0x02;
    pub(super) const INPUT: u8 = 0x03;
    pub(super) const COMMAND: u8 = 0x04;
    pub(super) const DETACH: u8 = 0x05;
    pub(super) const FOCUS_IN: u8 = 0x06;
    pub(super) const FOCUS_OUT: u8 = 0x07;
    pub(super) const WELCOME: u8 = 0x81;
    pub(super) const OUTPUT: u8 = 0x82;
    pub(super) const SESSION_LIST: u8 = 0x83;
    pub(super) const SHUTDOWN: u8 = 0x84;
    pub(super) const BELL: u8 = 0x85;
}

const fn tag_name(tag: u8) -> &'static str {
    match tag {
        tag::HELLO => "Hello",
        tag::RESIZE => "Resize",
        tag::INPUT => "Input",
        tag::COMMAND => "Command",
        tag::DETACH => "Detach",
        tag::FOCUS_IN => "FocusIn",
        tag::FOCUS_OUT => "FocusOut",
        tag::WELCOME => "Welcome",
        tag::OUTPUT => "Output",
        tag::SESSION_LIST => "SessionList",
        tag::SHUTDOWN => "Shutdown",
        tag::BELL => "Bell",
        _ => "unknown",
    }
}

fn decode(tag: u8, payload: &[u8]) -> Result<Frame<'_>, DecodeError> {
    Ok(match tag {
        tag::INPUT => Frame::Input(payload),
        tag::OUTPUT => Frame::Output(payload),
        tag::HELLO => {
            let (version, json) = versioned(tag, payload)?;
            Frame::Hello(Hello { version, ..from_json(tag, json)? })
        }
        tag::WELCOME => {
            let (version, json) = versioned(tag, payload)?;
            Frame::Welcome(Welcome { version, ..from_json(tag, json)? })
        }
        tag::RESIZE => match payload {
            // A newer peer may append to it.
            &[a, b, c, d, ..] => {
                Frame::Resize(Size { rows: u16::from_be_bytes([a, b]), cols: u16::from_be_bytes([c, d]) })
            }
            _ => return Err(truncated(tag, payload, 4)),
        },
        tag::COMMAND => Frame::Command(from_json(tag, payload)?),
        tag::SESSION_LIST => Frame::SessionList(from_json(tag, payload)?),
        tag::SHUTDOWN => Frame::Shutdown(from_json(tag, payload)?),
        tag::DETACH => Frame::Detach,
        tag::FOCUS_IN => Frame::FocusIn,
        tag::FOCUS_OUT => Frame::FocusOut,
        tag::BELL => Frame::Bell,
        tag => Frame::Unknown { tag, len: payload.len() },
    })
}

/// Splits the version off; only a compatible peer's rest is worth reading.
fn versioned(tag: u8, payload: &[u8]) -> Result<(Version, &[u8]), DecodeError> {
    let Some((&[a, b, c, d], json)) = payload.split_first_chunk() else {
        return Err(truncated(tag, payload, 4));
    };
    let theirs = Version { major: u16::from_be_bytes([a, b]), minor: u16::from_be_bytes([c, d]) };
    if !theirs.is_compatible(Version::CURRENT) {
        return Err(DecodeError::Version { frame: tag_name(tag), theirs });
    }
    Ok((theirs, json))
}

fn from_json<'a, T: Deserialize<'a>>(tag: u8, json: &'a [u8]) -> Result<T, DecodeError> {
    serde_json::from_slice(json).map_err(|error| DecodeError::Json { frame: tag_name(tag), error })
}

fn truncated(tag: u8, payload: &[u8], expected: usize) -> DecodeError {
    DecodeError::Truncated { frame: tag_name(tag), len: payload.len(), expected }
}

/// Appends a frame to `out`. Input and Output longer than [`MAX_PAYLOAD`] become several frames; another frame that
/// long is refused, and `out` is left as it was.
pub fn encode(frame: &Frame<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    match frame {
        Frame::Input(bytes) => encode_bytes(tag::INPUT, bytes, out),
        Frame::Output(bytes) => encode_bytes(tag::OUTPUT, bytes, out),
        Frame::Hello(hello) => return encode_versioned(tag::HELLO, hello.version, hello, out),
        Frame::Welcome(welcome) => return encode_versioned(tag::WELCOME, welcome.version, welcome, out),
        Frame::Resize(Size { rows, cols }) => {
            header(tag::RESIZE, 4, out);
            out.extend_from_slice(&rows.to_be_bytes());
            out.extend_from_slice(&cols.to_be_bytes());
        }
        Frame::Command(object) => return encode_json(tag::COMMAND, object, out),
        Frame::SessionList(sessions) => return encode_json(tag::SESSION_LIST, sessions, out),
        Frame::Shutdown(shutdown) => return encode_json(tag::SHUTDOWN, shutdown, out),
        Frame::Detach => header(tag::DETACH, 0, out),
        Frame::FocusIn => header(tag::FOCUS_IN, 0, out),
        Frame::FocusOut => header(tag::FOCUS_OUT, 0, out),
        Frame::Bell => header(tag::BELL, 0, out),
        Frame::Unknown { tag, .. } => return Err(EncodeError::Unknown { tag: *tag }),
    }
    Ok(())
}

fn header(tag: u8, len: usize, out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&(len as u32).to_be_bytes());
}

fn encode_bytes(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() + HEADER_LEN * (1 + bytes.len() / MAX_PAYLOAD));
    let mut rest = bytes;
    // An empty payload is a frame too.
    loop {
        let (piece, after) = rest.split_at(rest.len().min(MAX_PAYLOAD));
        header(tag, piece.len(), out);
        out.extend_from_slice(piece);
        if after.is_empty() {
            return;
        }
        rest = after;
    }
}

fn encode_json(tag: u8, value: &impl Serialize, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    encode_after(tag, &[], value, out)
}

fn encode_versioned(
    tag: u8,
    version: Version,
    value: &impl Serialize,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let [a, b] = version.major.to_be_bytes();
    let [c, d] = version.minor.to_be_bytes();
    encode_after(tag, &[a, b, c, d], value, out)
}

fn encode_after(
    tag: u8,
    prefix: &[u8],
    value: &impl Serialize,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let begin = out.len();
    header(tag, 0, out);
    out.extend_from_slice(prefix);
    serde_json::to_writer(&mut *out, value)
        .expect("the frames' types have string keys only, and a Vec takes every write");
    let len = out.len() - begin - HEADER_LEN;
    if len > MAX_PAYLOAD {
        out.truncate(begin);
        return Err(EncodeError::TooLong { frame: tag_name(tag), len });
    }
    out[begin + 1..begin + HEADER_LEN].copy_from_slice(&(len as u32).to_be_bytes());
    Ok(())
}
