use std::fmt;

/// How far a run has come. A runner takes the steps in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Its directory and `run-info.yaml` are there, in the state `running`.
    Created,
    /// `prompt.md` is there.
    Prompted,
    /// The agent's environment is made up.
    Equipped,
    /// `RUN_START` is on the bus; the agent is started next.
    Begun,
    /// The agent's process runs. Agents without a process leave this step out.
    Executing,
    /// The agent has ended.
    Executed,
    /// `output.md` is there.
    Summarised,
    /// `run-info.yaml` tells how it ended.
    Recorded,
    /// `RUN_STOP` or `RUN_CRASH` is on the bus: the run is over.
    Closed,
}

impl Step {
    /// All of them, in order.
    pub const ALL: [Self; 9] = [
        Self::Created,
        Self::Prompted,
        Self::Equipped,
        Self::Begun,
        Self::Executing,
        Self::Executed,
        Self::Summarised,
        Self::Recorded,
        Self::Closed,
    ];

    /// One word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Prompted => "prompted",
            Self::Equipped => "equipped",
            Self::Begun => "begun",
            Self::Executing => "executing",
            Self::Executed => "executed",
            Self::Summarised => "summarised",
            Self::Recorded => "recorded",
            Self::Closed => "closed",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
