//! What travels over a capsule's socket: [`attach`] for a terminal, [`control`] for programs.
//!
//! Both codecs are state machines over bytes: the caller reads the socket, feeds what it got in pieces of any size,
//! and takes whole messages out. The first byte that a client sends chooses the channel: [`control::PREFACE`] for
//! control, anything else for attach.
//!
//! The full layout, with examples, is in `docs/protocol.md` of the repository.

pub mod attach;
pub mod control;
mod inbox;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use inbox::Inbox;

/// The version of the protocol, in Hello, Welcome and the control channel's `status`.
///
/// The same major version talks: unknown frames and fields are ignored. Another major version is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Version {
    /// Changes when a peer of the previous version would misunderstand.
    pub major: u16,
    /// Changes when something was added.
    pub minor: u16,
}

impl Version {
    /// What this crate speaks.
    pub const CURRENT: Self = Self { major: 1, minor: 1 };

    /// Whether the two can talk.
    pub fn is_compatible(self, other: Self) -> bool {
        self.major == other.major
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
