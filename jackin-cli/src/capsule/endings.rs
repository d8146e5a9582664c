//! What is left of a capsule when it has ended: how each of its sessions ended, for the host to read afterwards.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use jackin_core::protocol::control::{TagEntry, TagOverride};
use jackin_core::{AgentStatus, AgentTag, InstanceName, SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use super::socket::create_private_dir;

/// The file's name in the state directory.
const FILE: &str = "exit.json";

/// How many ended sessions are kept; of more, the latest.
const MOST: usize = 128;

/// How much of a last screen is kept.
const LONGEST_SCREEN: usize = 64 << 10;

/// How a capsule ended; `exit.json` in its state directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndRecord {
    /// The version of this record's form.
    pub version: u32,
    /// The capsule's instance.
    pub instance: InstanceName,
    /// When it ended.
    pub at: Timestamp,
    /// Its exit code: 0 if all sessions ended well or were stopped on purpose, else that of the first that did not.
    pub exit_code: i32,
    /// Whether a signal or a call ended it.
    pub stopped: bool,
    /// Whether it was a signal: somebody stopped the container, or the machine went down.
    #[serde(default)]
    pub signalled: bool,
    /// The sessions in the order of their ends.
    pub sessions: Vec<EndedSession>,
    /// What the agents declared, with what the operator made of it.
    pub tags: Vec<TagEntry>,
    /// What the operator set and hid, for the next life of the instance.
    #[serde(default)]
    pub tag_overrides: Vec<TagOverride>,
}

/// How one session ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedSession {
    /// The session.
    pub id: SessionId,
    /// Its last title.
    pub title: String,
    /// Its agent's name, where it had one.
    pub agent: Option<String>,
    /// The status that it ended with.
    pub status: AgentStatus,
    /// The code that its program ended with, unless a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended its program.
    pub signal: Option<i32>,
    /// Whether it was told to end.
    pub on_purpose: bool,
    /// When it ended.
    pub at: Timestamp,
    /// What stood on its screen.
    pub screen: String,
    /// What it declared.
    #[serde(default)]
    pub tags: Vec<AgentTag>,
}

impl EndedSession {
    /// Adds how the program ended.
    pub(super) fn with_wait_status(mut self, status: ExitStatus) -> Self {
        (self.exit_code, self.signal) = (status.code(), status.signal());
        self
    }
}

/// The sessions that have ended so far.
#[derive(Debug, Default)]
pub(super) struct Endings(Vec<EndedSession>);

impl Endings {
    pub(super) fn add(&mut self, mut session: EndedSession) {
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        cut(&mut session.screen, LONGEST_SCREEN);
        self.0.push(session);
    }

    pub(super) fn take(&mut self) -> Vec<EndedSession> {
        std::mem::take(&mut self.0)
    }
}

/// Shortens a text at its beginning: what was printed last tells most.
fn cut(text: &mut String, longest: usize) {
    if text.len() > longest {
        let mut from = text.len() - longest;
        while !text.is_char_boundary(from) {
            from += 1;
        }
        text.drain(..from);
    }
}

impl EndRecord {
    /// Writes the record: whole, or not at all.
    pub(super) fn write(&self, directory: &Path) -> io::Result<()> {
        create_private_dir(directory)?;
        let (file, new) = (directory.join(FILE), directory.join("exit.json.new"));
        let json = serde_json::to_vec(self)?;
        let mut options = OpenOptions::new();
        // Screens may show what is nobody else's business.
        let mut open = options.create(true).write(true).truncate(true).mode(0o600).open(&new)?;
        open.write_all(&json)?;
        open.sync_all()?;
        std::fs::rename(new, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(id: u32, screen: &str) -> EndedSession {
        EndedSession {
            id: SessionId::new(id).unwrap(),
            title: "sh".into(),
            agent: None,
            status: AgentStatus::Crashed { exit_code: 3 },
            exit_code: None,
            signal: None,
            on_purpose: false,
            at: Timestamp::from_millis(1),
            screen: screen.into(),
            tags: Vec::new(),
        }
        .with_wait_status(ExitStatus::from_raw(3 << 8))
    }

    #[test]
    fn the_record_reads_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let record = EndRecord {
            version: 1,
            instance: InstanceName::new("x").unwrap(),
            at: Timestamp::from_millis(2),
            exit_code: 3,
            stopped: false,
            signalled: false,
            sessions: vec![ended(1, "bye")],
            tags: Vec::new(),
            tag_overrides: Vec::new(),
        };
        record.write(&state).unwrap();
        record.write(&state).unwrap();
        let text = std::fs::read_to_string(state.join(FILE)).unwrap();
        assert_eq!(serde_json::from_str::<EndRecord>(&text).unwrap(), record);
        assert_eq!(std::fs::read_dir(&state).unwrap().count(), 1);
        assert_eq!(record.sessions[0].exit_code, Some(3));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut endings = Endings::default();
        for id in 1..=200 {
            endings.add(ended(id, &"é".repeat(LONGEST_SCREEN)));
        }
        let kept = endings.take();
        assert_eq!((kept.len(), kept[0].id.get()), (MOST, 73));
        assert!(kept.iter().all(|session| session.screen.len() <= LONGEST_SCREEN));
    }
}
