use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ProjectId, RunContainer, RunId, RunLayout, TaskId};
use crate::{Timestamp, Usage, one_line};

/// How long the reason for a failure may be in `run-info.yaml`.
const MAX_SUMMARY: usize = 1_000;

/// The exit code of a run that has none: it still runs, or nobody saw its end.
const NO_EXIT_CODE: i32 = -1;

/// What `run-info.yaml` holds. The keys up to `agent_version` are the contract's, which other programs read; those after
/// it are ours.
///
/// ```
/// use jackin_core::Timestamp;
/// use jackin_core::run::{RunInfo, RunLayout, RunStatus, TaskLayout};
///
/// let task = TaskLayout::new("/runs", "api".parse()?, "fix-login".parse()?);
/// let layout = RunLayout::new(task, "20260223-1530221234-991-1".parse()?);
/// let mut info = RunInfo::begun(&layout, "claude", Timestamp::from_millis(1_000));
/// assert_eq!(info.status, RunStatus::Running);
/// info.end(Timestamp::from_millis(9_000), 3, Some("it failed"));
/// assert_eq!((info.status, info.exit_code), (RunStatus::Failed, 3));
/// # Ok::<(), jackin_core::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The version of this format.
    #[serde(default)]
    pub version: u32,
    /// The run.
    pub run_id: RunId,
    /// The run that started it.
    #[serde(default, with = "no_id", skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<RunId>,
    /// The run that it follows, where a task is tried again.
    #[serde(default, with = "no_id", skip_serializing_if = "Option::is_none")]
    pub previous_run_id: Option<RunId>,
    /// The project.
    pub project_id: ProjectId,
    /// The task.
    pub task_id: TaskId,
    /// The agent's name.
    #[serde(default)]
    pub agent: String,
    /// `managed`: the runner started the process; `external`: it only looks on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub process_ownership: String,
    /// The agent's process; 0 as long as, or where, there is none.
    #[serde(default)]
    pub pid: i32,
    /// The agent's process group.
    #[serde(default)]
    pub pgid: i32,
    /// When the run began.
    #[serde(default, with = "time")]
    pub start_time: Timestamp,
    /// When it ended; year 1 while it runs.
    #[serde(default, with = "no_time")]
    pub end_time: Option<Timestamp>,
    /// The agent's exit code, 128 plus the signal where one ended it, 124 where its time was over; -1 while it runs and
    /// where nobody saw its end.
    #[serde(default = "no_exit_code")]
    pub exit_code: i32,
    /// How it stands.
    pub status: RunStatus,
    /// Where the agent works.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// `prompt.md`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt_path: String,
    /// `output.md`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output_path: String,
    /// `agent-stdout.txt`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout_path: String,
    /// `agent-stderr.txt`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr_path: String,
    /// What was run, without the prompt.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub commandline: String,
    /// Why it failed, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error_summary: String,
    /// The agent's version, as it tells it.
    #[serde(default)]
    pub agent_version: String,
    /// Who runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<RunnerInfo>,
    /// The container that the agent works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<RunContainer>,
    /// What the agent does at the moment, where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<LiveStatus>,
    /// Tokens, as the agent reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<RunUsage>,
    /// Cost in US dollars, as the agent reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// What the agent declared with tags: the values of each kind, oldest first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, Vec<String>>,
    /// What went wrong without making the run fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// It runs, or its runner died.
    Running,
    /// Its agent ended with 0.
    Completed,
    /// Anything else.
    Failed,
}

/// The runner of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerInfo {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// Where the agent's process is: `local`, `docker`, …
    #[serde(default)]
    pub place: String,
}

/// What an agent does while it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveStatus {
    /// One of the words for a status: busy, idle, question, …
    pub status: String,
    /// Why it is taken for that.
    #[serde(default)]
    pub cause: String,
    /// Since when.
    #[serde(default, with = "time")]
    pub since: Timestamp,
}

/// Tokens of a run. Absent is not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunUsage {
    /// Tokens read, cached ones not included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

impl RunInfo {
    /// The version that we write.
    pub const VERSION: u32 = 1;

    /// A run that has just begun.
    pub fn begun(layout: &RunLayout, agent: &str, start: Timestamp) -> Self {
        let path = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
        Self {
            version: Self::VERSION,
            run_id: layout.run().clone(),
            parent_run_id: None,
            previous_run_id: None,
            project_id: layout.task().project().clone(),
            task_id: layout.task().task().clone(),
            agent: agent.to_owned(),
            process_ownership: "managed".to_owned(),
            pid: 0,
            pgid: 0,
            start_time: start,
            end_time: None,
            exit_code: NO_EXIT_CODE,
            status: RunStatus::Running,
            cwd: String::new(),
            prompt_path: path(layout.prompt()),
            output_path: path(layout.output()),
            stdout_path: path(layout.stdout()),
            stderr_path: path(layout.stderr()),
            commandline: String::new(),
            error_summary: String::new(),
            agent_version: String::new(),
            runner: None,
            container: None,
            live: None,
            usage: None,
            cost_usd: None,
            tags: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// The run is over: completed if the code is 0 and there is no error, failed otherwise.
    pub fn end(&mut self, end: Timestamp, exit_code: i32, error: Option<&str>) {
        self.end_time = Some(end);
        self.exit_code = exit_code;
        let failed = exit_code != 0 || error.is_some();
        self.status = if failed { RunStatus::Failed } else { RunStatus::Completed };
        self.error_summary = error.map(|error| one_line(error, MAX_SUMMARY)).unwrap_or_default();
        self.live = None;
    }

    /// The run's runner died, and nobody saw its end.
    pub fn abandoned(&mut self, end: Timestamp, reason: &str) {
        self.end(end, NO_EXIT_CODE, Some(reason));
    }

    /// Takes in what the agent used.
    pub fn set_usage(&mut self, usage: &Usage) {
        let Usage { input_tokens, cached_tokens, output_tokens, cost_usd, .. } = *usage;
        let tokens = RunUsage { input_tokens, cached_tokens, output_tokens };
        self.usage = (tokens != RunUsage::default()).then_some(tokens);
        self.cost_usd = cost_usd;
    }
}

impl RunStatus {
    /// One word for it, as in `run-info.yaml`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

impl std::fmt::Display for RunStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

fn no_exit_code() -> i32 {
    NO_EXIT_CODE
}

/// A time as RFC 3339 text; what cannot be read is the epoch.
pub(super) mod time {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::Timestamp;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(in crate::run) fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(time)
    }

    pub(in crate::run) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(from)?;
        Ok(Timestamp::from_rfc3339(&text).unwrap_or_default())
    }
}

/// The same where there may be none, which is written as year 1.
mod no_time {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::Timestamp;

    const NONE: &str = "0001-01-01T00:00:00Z";

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(time: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => to.collect_str(time),
            None => to.serialize_str(NONE),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
        let text = String::deserialize(from)?;
        Ok(Timestamp::from_rfc3339(&text))
    }
}

/// An id that others may have written as an empty text.
mod no_id {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::RunId;

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(id: &Option<RunId>, to: S) -> Result<S::Ok, S::Error> {
        id.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<RunId>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        Ok(text.and_then(|text| text.parse().ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::TaskLayout;

    fn info() -> RunInfo {
        let task = TaskLayout::new("/runs", "api".parse().unwrap(), "fix".parse().unwrap());
        let layout = RunLayout::new(task, "20260223-1530221234-991-1".parse().unwrap());
        RunInfo::begun(&layout, "claude", Timestamp::from_millis(1_763_251_200_123))
    }

    #[test]
    fn a_running_run_has_the_contract_s_empty_values() {
        let json = serde_json::to_value(info()).unwrap();
        assert_eq!(json["status"], "running");
        assert_eq!(json["end_time"], "0001-01-01T00:00:00Z");
        assert_eq!(json["exit_code"], -1);
        assert_eq!((&json["pid"], &json["pgid"]), (&0.into(), &0.into()));
        assert_eq!(json["start_time"], "2025-11-16T00:00:00.123Z");
        assert_eq!(json["agent_version"], "");
        assert!(json.get("parent_run_id").is_none());
        assert_eq!(serde_json::from_value::<RunInfo>(json).unwrap(), info());
    }

    #[test]
    fn an_end_is_a_failure_unless_it_is_0_and_nothing_is_wrong() {
        let mut ended = info();
        ended.end(Timestamp::from_millis(5), 0, None);
        assert_eq!((ended.status, ended.error_summary.as_str()), (RunStatus::Completed, ""));
        ended.end(Timestamp::from_millis(5), 0, Some("the disk\nis full"));
        assert_eq!((ended.status, ended.error_summary.as_str()), (RunStatus::Failed, "the disk is full"));
        ended.end(Timestamp::from_millis(5), 7, Some(&"x".repeat(5_000)));
        assert_eq!(ended.status, RunStatus::Failed);
        assert!(ended.error_summary.chars().count() <= MAX_SUMMARY);
        ended.abandoned(Timestamp::from_millis(5), "the runner died");
        assert_eq!((ended.exit_code, ended.status), (-1, RunStatus::Failed));
    }

    #[test]
    fn the_record_of_another_runner_is_read() {
        let json = serde_json::json!({
            "run_id": "20260204-1830425699-12345-1",
            "parent_run_id": "",
            "project_id": "swarm",
            "task_id": "task-20260131-205800-planning",
            "agent": "claude",
            "start_time": "2026-02-04T18:30:42.569912+01:00",
            "end_time": "0001-01-01T00:00:00Z",
            "status": "running",
            "something_new": 7,
        });
        let info: RunInfo = serde_json::from_value(json).unwrap();
        assert_eq!((info.exit_code, info.end_time, info.parent_run_id), (-1, None, None));
        assert_eq!(info.start_time.to_string(), "2026-02-04T17:30:42.569Z");
    }
}
