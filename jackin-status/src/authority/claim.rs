use jackin_core::{AgentStatus, Cause, Source, Timestamp};

/// What one source says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Claim {
    pub(super) says: Says,
    pub(super) source: Source,
    pub(super) evidence: String,
    pub(super) at: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Says {
    Initializing,
    Unknown,
    Busy,
    Question(Option<String>),
    Idle(Option<String>),
    Over(AgentStatus),
}

impl Says {
    pub(super) fn is_question(&self) -> bool {
        matches!(self, Self::Question(_))
    }

    /// Whether both mean the same to an operator at a glance.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    pub(super) fn status(&self, since: Timestamp) -> AgentStatus {
        match self {
            Self::Initializing => AgentStatus::Initializing,
            Self::Unknown => AgentStatus::Unknown,
            Self::Busy => AgentStatus::Busy { since },
            Self::Question(prompt) => AgentStatus::Question { prompt: prompt.clone(), since },
            Self::Idle(error) => AgentStatus::Idle { error: error.clone() },
            Self::Over(status) => status.clone(),
        }
    }
}

impl Claim {
    pub(super) fn new(says: Says, source: Source, evidence: impl Into<String>, at: Timestamp) -> Self {
        Self { says, source, evidence: evidence.into(), at }
    }

    pub(super) fn cause(&self) -> Cause {
        Cause::new(self.source, self.evidence.clone(), self.at)
    }
}

/// A claim and what became of it.
#[derive(Clone, Debug)]
pub(super) struct Weighed {
    pub(super) claim: Claim,
    pub(super) lost: String,
}
