use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::info::time;
use super::{RunInfo, RunLayout, RunStatus};
use crate::Timestamp;
use crate::time::Civil;

/// A run begins.
pub const RUN_START: &str = "RUN_START";
/// A run has ended well.
pub const RUN_STOP: &str = "RUN_STOP";
/// A run has failed.
pub const RUN_CRASH: &str = "RUN_CRASH";

/// A message on a bus. The fields but the body stand in its header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BusMessage {
    /// Its id, which sorts by time.
    #[serde(default)]
    pub msg_id: MessageId,
    /// When it was written.
    #[serde(default, with = "time")]
    pub ts: Timestamp,
    /// What it is: `RUN_START`, `FACT`, … Anybody may use a new one.
    #[serde(rename = "type")]
    pub kind: String,
    /// The project.
    pub project_id: String,
    /// The task.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task_id: String,
    /// The run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run_id: String,
    /// The messages that it answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<MessageParent>,
    /// Where there is more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<MessageLink>,
    /// Whatever else.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meta: BTreeMap<String, String>,
    /// Its text.
    #[serde(skip)]
    pub body: String,
}

/// A message that another one answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageParent {
    /// Which.
    pub msg_id: String,
    /// In what way: `reply`, `depends_on`, …
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Whatever else.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meta: BTreeMap<String, String>,
}

/// A link of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageLink {
    /// Where to.
    pub url: String,
    /// What to call it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// What it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

/// The id of a message: `MSG-YYYYMMDD-HHMMSS-<ns>-PID<pid>-<seq>`, UTC.
///
/// ```
/// use jackin_core::Timestamp;
/// use jackin_core::run::MessageId;
///
/// let id = MessageId::new(Timestamp::from_millis(1_763_251_200_123), 123_456_789, 991, 7);
/// assert_eq!(id.as_str(), "MSG-20251116-000000-123456789-PID00991-0007");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(String);

impl MessageId {
    /// The id of a message written at this time, so many nanoseconds after the second, as the `seq`th of a process.
    pub fn new(at: Timestamp, nanos: u32, pid: u32, seq: u32) -> Self {
        let Civil { year, month, day, hour, minute, second, .. } = at.civil();
        // The form has four digits for the counter; the time before it keeps ids apart when it starts over.
        let (nanos, seq) = (nanos % 1_000_000_000, seq % 10_000);
        Self(format!(
            "MSG-{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}-{nanos:09}-PID{pid:05}-{seq:04}"
        ))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl BusMessage {
    /// A message of a run; whoever writes it gives it its id and its time.
    pub fn of_run(layout: &RunLayout, kind: &str, body: String) -> Self {
        Self {
            msg_id: MessageId::default(),
            ts: Timestamp::default(),
            kind: kind.to_owned(),
            project_id: layout.task().project().to_string(),
            task_id: layout.task().task().to_string(),
            run_id: layout.run().to_string(),
            parents: Vec::new(),
            links: Vec::new(),
            meta: BTreeMap::new(),
            body,
        }
    }

    /// `RUN_START`.
    pub fn run_started(layout: &RunLayout, agent: &str) -> Self {
        let body = format!("run started\nagent: {agent}\nrun folder: {}\n", layout.folder().display());
        let mut message = Self::of_run(layout, RUN_START, body);
        message.meta.insert("agent".to_owned(), agent.to_owned());
        message
    }

    /// `RUN_STOP` or `RUN_CRASH`, by how the run ended.
    pub fn run_ended(layout: &RunLayout, info: &RunInfo) -> Self {
        let RunInfo { agent, exit_code, error_summary, .. } = info;
        let (kind, first) = match info.status {
            RunStatus::Completed => (RUN_STOP, "run completed".to_owned()),
            _ => (RUN_CRASH, format!("run failed: {error_summary}")),
        };
        let output = layout.output();
        let body = format!("{first}\nagent: {agent}\nexit code: {exit_code}\noutput: {}\n", output.display());
        let mut message = Self::of_run(layout, kind, body);
        message.meta.insert("agent".to_owned(), agent.clone());
        message.meta.insert("exit_code".to_owned(), exit_code.to_string());
        message
    }

    /// The body as it may stand on a bus: a line of `---` would end it, so such a line is moved in by a space.
    pub fn framed_body(&self) -> String {
        let mut framed = String::with_capacity(self.body.len() + 1);
        for line in self.body.lines() {
            if line.trim_end() == "---" {
                framed.push(' ');
            }
            framed.push_str(line);
            framed.push('\n');
        }
        framed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time() {
        let at = |ms, nanos| MessageId::new(Timestamp::from_millis(ms), nanos, 1, 0);
        assert!(at(1_000, 5) < at(1_000, 6));
        assert!(at(1_999, 999_999_999) < at(2_000, 0));
    }
}
