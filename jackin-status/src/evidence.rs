use jackin_core::{AgentStatus, RuntimeEvent, Source};

use crate::{Look, Progress};

/// Something seen of a session. The watching is the caller's; this is what it hands over.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Evidence {
    /// The agent said something of itself, in a format made for programs.
    Runtime {
        /// Where it said so.
        channel: Channel,
        /// What it said.
        event: RuntimeEvent,
    },
    /// Nothing more comes from there: the stream ended, the file is gone.
    Closed(Channel),
    /// The screen changed, and this is what the rules say of it now.
    Screen(Look),
    /// The program set a mark in its terminal's stream.
    Mark(TerminalMark),
    /// Who is in the foreground of the session's terminal.
    Foreground(Foreground),
    /// Bytes came out of the session's terminal.
    Output,
    /// The operator typed into the session.
    Input,
    /// The session's process ended.
    Process(ProcessEnd),
    /// What became of the container that the session is in.
    Container(ContainerState),
    /// The session was started again, as it was.
    Relaunched,
}

/// Where an agent says what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Its own output or server. It is complete: what it says last is true until it says otherwise.
    Stream,
    /// Hooks that report. They miss an interruption.
    Hook,
    /// Its file on disk. It lags and misses questions.
    Transcript,
}

impl Channel {
    /// The kind of source that a cause names.
    pub const fn source(self) -> Source {
        match self {
            Self::Stream => Source::Stream,
            Self::Hook => Source::Hook,
            Self::Transcript => Source::Transcript,
        }
    }
}

/// A mark in the terminal's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TerminalMark {
    /// OSC 133;A or B: a prompt is shown.
    Prompt,
    /// OSC 133;C: a command runs.
    Running,
    /// OSC 133;D: it ended.
    Finished,
    /// OSC 9;4.
    Progress(Progress),
}

/// The foreground process of a session's terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreground {
    /// Its name.
    pub name: String,
    /// Whether it is the session's agent, not a shell or an editor in front of it.
    pub is_agent: bool,
    /// How many processes it has below it: tools that run.
    pub children: u32,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEnd {
    /// Its exit code; 128 plus the signal where a signal ended it.
    pub exit_code: i32,
    /// Whether the kernel ended it because memory ran out.
    pub oom_killed: bool,
    /// Whether it was told to end.
    pub on_purpose: bool,
}

impl ProcessEnd {
    /// The status that it gives.
    pub fn status(self) -> AgentStatus {
        match self {
            Self { oom_killed: true, .. } => AgentStatus::OomKilled,
            Self { on_purpose: true, exit_code, .. } => AgentStatus::Ended { exit_code },
            Self { exit_code, .. } => AgentStatus::from_exit_code(exit_code),
        }
    }
}

/// What became of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContainerState {
    /// It runs; nothing follows for the agent.
    Running,
    /// It is frozen; nothing follows either, and nothing will be heard.
    Paused,
    /// It ended, and everything in it.
    Exited(ProcessEnd),
    /// It is no longer there and nobody knows how it ended.
    Gone,
}
