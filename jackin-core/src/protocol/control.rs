//! The control channel: what programs ask of a capsule.
//!
//! The client sends the byte [`PREFACE`], then messages; each message, in both directions, is
//! `[length: u32, big endian][JSON object]` of at most [`MAX_MESSAGE`] bytes. One [`Call`] gets one [`Reply`];
//! `events` and `screen` are followed by a stream of them. Method names are stable, unknown fields are
//! ignored, and a JSON Schema of all of it is in `docs/control.schema.json` of the repository.
//!
//! ```
//! use jackin_core::protocol::control::{Call, Decoder, Request, encode};
//!
//! let mut wire = Vec::new();
//! encode(&Call::from(Request::Status {}), &mut wire)?;
//! assert_eq!(&wire[4..], br#"{"method":"status","params":{}}"#);
//!
//! let mut decoder = Decoder::new();
//! assert_eq!(decoder.feed(&wire), wire.len());
//! let json = decoder.next_message()?.expect("all of it was fed");
//! assert_eq!(Call::from_json(json)?.request, Request::Status {});
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod context;
mod reply;
mod request;

use serde::Serialize;
use thiserror::Error;

pub use context::{Checks, Confidence, HostContext, PullRequest, Quota};
pub use reply::{
    Considered, ControlError, Created, Done, ErrorCode, Explanation, OverrideAction, Overrides, Provider,
    ReadText, Recording, Reply, Resources, ScreenRows, SessionInfo, SessionResources, Snapshot, Status,
    StreamItem, TagEntry, TagOverride, Tags, Title, Waited,
};
pub use request::{
    Call, CallError, Direction, Launch, METHODS, Match, Request, StatusWord, TextFormat, UnknownUntil, Until,
};

use super::Inbox;

/// The first byte that a client sends to open a control channel. No attach frame begins with it.
pub const PREFACE: u8 = 0x00;

/// The largest message.
pub const MAX_MESSAGE: usize = 4 << 20;

const HEADER_LEN: usize = 4;

/// A message is over [`MAX_MESSAGE`]; a stream with one cannot be read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a control message of {len} bytes is over the limit of {MAX_MESSAGE}")]
pub struct MessageTooLong {
    /// Its length.
    pub len: usize,
}

/// Appends one message to `out`. One that is too long is refused, and `out` is left as it was.
pub fn encode(message: &impl Serialize, out: &mut Vec<u8>) -> Result<(), MessageTooLong> {
    let begin = out.len();
    out.extend_from_slice(&[0; HEADER_LEN]);
    serde_json::to_writer(&mut *out, message)
        .expect("the protocol's types have string keys only, and a Vec takes every write");
    let len = out.len() - begin - HEADER_LEN;
    if len > MAX_MESSAGE {
        out.truncate(begin);
        return Err(MessageTooLong { len });
    }
    out[begin..begin + HEADER_LEN].copy_from_slice(&(len as u32).to_be_bytes());
    Ok(())
}

/// Turns received bytes, the preface not included, into messages.
///
/// The rule is that of the attach decoder: feed, then take messages until there is none, then feed the rest. Memory
/// never exceeds one message of the largest size.
#[derive(Debug)]
pub struct Decoder {
    inbox: Inbox,
    fatal: Option<MessageTooLong>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder at the beginning of a stream.
    pub const fn new() -> Self {
        Self { inbox: Inbox::new(HEADER_LEN + MAX_MESSAGE), fatal: None }
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

    /// Takes bytes and says how many. Fewer than all are taken only while whole messages wait to be read.
    #[must_use = "what was not taken must be fed again"]
    pub fn feed(&mut self, bytes: &[u8]) -> usize {
        if self.fatal.is_some() { bytes.len() } else { self.inbox.feed(bytes) }
    }

    /// The JSON of the next whole message; `None` when more bytes are needed.
    pub fn next_message(&mut self) -> Result<Option<&[u8]>, MessageTooLong> {
        if let Some(error) = self.fatal {
            return Err(error);
        }
        let Some((&length, body)) = self.inbox.pending().split_first_chunk() else {
            return Ok(None);
        };
        let len = u32::from_be_bytes(length) as usize;
        if len > MAX_MESSAGE {
            let error = MessageTooLong { len };
            self.fatal = Some(error);
            self.inbox.discard();
            return Err(error);
        }
        if body.len() < len {
            return Ok(None);
        }
        Ok(Some(&self.inbox.consume(HEADER_LEN + len)[HEADER_LEN..]))
    }
}
