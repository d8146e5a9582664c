//! What has to be done outside: said by the update, done by `effects`, and answered by another message.

use jackin_core::protocol::control::Request;
use jackin_core::{InstanceName, SessionId, TagKind};
use jackin_tools::ResolvedCommand;
use std::time::Duration;

use crate::console::NewAgent;
use crate::console::model::notice::Notification;
use crate::console::model::preview::Watched;
use crate::console::model::rows::RowKey;
use crate::console::model::runs::RunId;

/// Something to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Gives the terminal to an instance.
    Attach(InstanceName),
    /// Asks an instance's capsule.
    Call {
        instance: InstanceName,
        request: Box<Request>,
        purpose: Purpose,
    },
    /// Ends a session's recording, and brings it here where only its capsule has it.
    EndRecording {
        instance: InstanceName,
        session: SessionId,
    },
    /// Begins to record a session, into a file that outlives an instance of this machine.
    Record {
        instance: InstanceName,
        session: SessionId,
        here: bool,
    },
    /// Sets or hides a tag, and keeps that in the instance's record.
    Tag {
        instance: InstanceName,
        kind: TagKind,
        value: String,
        set: bool,
    },
    /// Watches this screen, and no other.
    Watch(Option<Watched>),
    /// Runs a tool's command and streams what it prints.
    Run {
        run: RunId,
        command: Box<ResolvedCommand>,
        limit: Duration,
    },
    /// Ends a tool's command.
    Stop(RunId),
    /// Runs a handler's command for a link.
    Open {
        command: Box<ResolvedCommand>,
        what: String,
    },
    /// Puts text into the terminal's clipboard.
    Copy(String),
    /// Writes a tool's output to a file.
    Keep {
        name: String,
        text: String,
    },
    Notify(Notification),
    NewAgent(NewAgent),
    Eject(InstanceName),
    Exile,
    Restart(InstanceName),
    /// Takes away what an instance that ended well has left.
    TakeAway(InstanceName),
    /// Looks which branch is checked out in a directory.
    Branch {
        instance: InstanceName,
        dir: std::path::PathBuf,
    },
    /// Asks what became of a pull request.
    PullRequest(String),
    Redraw,
    Suspend,
    Quit,
}

/// Why a capsule was asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Purpose {
    /// To bring a session to the front before its instance gets the terminal.
    Attach(RowKey),
    /// To have something done; these words tell that it was.
    Done(String),
    /// The same, after which everything is asked for anew.
    DoneAndLook(String),
    /// To have a session started, which is selected then.
    Started(String),
    /// The instance as it is.
    Look,
    Tags,
    Explain(RowKey),
    Resources,
    /// A recording that began or ended.
    Recorded {
        began: bool,
    },
}

/// Why a capsule's answer is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// It says why.
    Refused(String),
    /// It says nothing, or cannot be reached.
    Silent(String),
}

impl std::fmt::Display for Unanswered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Refused(why) | Self::Silent(why)) = self;
        f.write_str(why)
    }
}
