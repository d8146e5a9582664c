use std::collections::VecDeque;

use async_trait::async_trait;
use jackin_core::{RuntimeEvent, Timestamp};

/// Where an adapter's input comes from: a pipe, a file that grows, a socket. The waiting is done in here.
#[async_trait]
pub trait Feed: Send {
    /// Waits for the next thing and says when it came; `None` when nothing more can come.
    ///
    /// Between the things that come by themselves a feed gives a [`FeedItem::Tick`] now and then, once a second or when
    /// [`Reporter::look_again`](crate::Reporter::look_again) says so, because silence means something too.
    async fn next(&mut self) -> Option<(Timestamp, FeedItem)>;
}

/// What comes out of a [`Feed`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FeedItem {
    /// A piece of a stream, cut anywhere.
    Bytes(Vec<u8>),
    /// One whole line or document, such as a hook's report.
    Line(Vec<u8>),
    /// An event that somebody else has decoded.
    Event(RuntimeEvent),
    /// The agent printed something that is not for programs.
    Output,
    /// The operator typed.
    Input,
    /// Time passed.
    Tick,
}

impl FeedItem {
    /// A piece of a stream.
    pub fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        Self::Bytes(bytes.as_ref().to_vec())
    }

    /// A whole line or document.
    pub fn line(line: impl AsRef<[u8]>) -> Self {
        Self::Line(line.as_ref().to_vec())
    }
}

/// A feed for tests: gives what it was made of, at once and in order.
#[derive(Clone, Debug, Default)]
pub struct ScriptedFeed {
    items: VecDeque<(Timestamp, FeedItem)>,
}

impl ScriptedFeed {
    /// A feed of these items.
    pub fn new(items: impl IntoIterator<Item = (Timestamp, FeedItem)>) -> Self {
        Self { items: items.into_iter().collect() }
    }
}

#[async_trait]
impl Feed for ScriptedFeed {
    async fn next(&mut self) -> Option<(Timestamp, FeedItem)> {
        self.items.pop_front()
    }
}
