//! The lines of the fleet list: groups, and a row for each session.

use std::collections::{BTreeMap, BTreeSet};

use jackin_core::{AgentStatus, Attention, InstanceName, SessionId, TagKind, Timestamp};

use super::agent::{Instance, Session};
use super::fleet::Fleet;
use crate::config::Grouping;

/// What a row is about. It outlives the row: a selection stays on its agent wherever that goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RowKey {
    pub(crate) instance: InstanceName,
    /// None for an instance that has no sessions to show.
    pub(crate) session: Option<SessionId>,
}

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// A host that cannot be used.
    Trouble {
        host: String,
        why: String,
    },
    Group(Group),
    Agent(RowKey),
}

/// The head of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) counts: Counts,
    pub(crate) closed: bool,
}

/// How many agents are how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) blocked: usize,
    pub(crate) crashed: usize,
    pub(crate) done: usize,
    pub(crate) working: usize,
    pub(crate) idle: usize,
    pub(crate) unknown: usize,
}

/// The order of rows within a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Who needs the operator, the longest first.
    #[default]
    Attention,
    Name,
    /// Whatever changed last.
    Recent,
}

/// How the list is made.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    pub(crate) grouping: Grouping,
    pub(crate) sort: Sort,
    pub(crate) filter: String,
    pub(crate) closed: BTreeSet<String>,
}

impl Default for Listing {
    fn default() -> Self {
        Self {
            grouping: Grouping::Workspace,
            sort: Sort::default(),
            filter: String::new(),
            closed: BTreeSet::new(),
        }
    }
}

impl Sort {
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Attention => Self::Name,
            Self::Name => Self::Recent,
            Self::Recent => Self::Attention,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Attention => "who needs you",
            Self::Name => "name",
            Self::Recent => "last change",
        }
    }
}

impl Counts {
    pub(crate) fn add(&mut self, attention: Attention, status: &AgentStatus) {
        let count = match attention {
            Attention::Blocked if is_crash(status) => &mut self.crashed,
            Attention::Blocked => &mut self.blocked,
            Attention::Done => &mut self.done,
            Attention::Working => &mut self.working,
            Attention::Idle => &mut self.idle,
            Attention::Unknown => &mut self.unknown,
        };
        *count += 1;
    }

    pub(crate) fn all(&self) -> usize {
        self.blocked + self.crashed + self.done + self.working + self.idle + self.unknown
    }
}

/// Whether a status is a bad end.
pub(crate) fn is_crash(status: &AgentStatus) -> bool {
    matches!(status, AgentStatus::Crashed { .. } | AgentStatus::OomKilled)
}

/// An agent with what it is sorted by.
struct Listed<'a> {
    key: RowKey,
    attention: Attention,
    status: AgentStatus,
    since: Timestamp,
    group: &'a str,
}

impl Listing {
    /// The lines for a fleet, and how all of its agents are, whether they are listed or not.
    pub(crate) fn rows(&self, fleet: &Fleet) -> (Vec<Row>, Counts) {
        let mut counts = Counts::default();
        let mut groups: BTreeMap<&str, Vec<Listed<'_>>> = BTreeMap::new();
        let wanted: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        for instance in fleet.instances.values() {
            for listed in self.agents(instance) {
                counts.add(listed.attention, &listed.status);
                let session = listed.key.session.and_then(|id| instance.sessions.get(&id));
                if wanted.is_empty() || fits(&wanted, instance, session, &listed) {
                    groups.entry(listed.group).or_default().push(listed);
                }
            }
        }
        let mut rows: Vec<Row> = (fleet.hosts.iter())
            .filter_map(|(host, why)| Some(Row::Trouble { host: host.clone(), why: why.clone()? }))
            .collect();
        let mut groups: Vec<(&str, Vec<Listed<'_>>)> = groups.into_iter().collect();
        // Groups are in the order of their most urgent agent, so that what needs the operator is on top.
        groups.sort_by_key(|(name, agents)| {
            let urgent = Attention::roll_up(agents.iter().map(|agent| agent.attention));
            (
                if self.sort == Sort::Attention {
                    std::cmp::Reverse(urgent)
                } else {
                    std::cmp::Reverse(Attention::Unknown)
                },
                *name,
            )
        });
        for (name, mut agents) in groups {
            self.order(&mut agents);
            let closed = self.closed.contains(name);
            if self.grouping != Grouping::None {
                let mut counts = Counts::default();
                for agent in &agents {
                    counts.add(agent.attention, &agent.status);
                }
                rows.push(Row::Group(Group { name: name.to_owned(), counts, closed }));
                if closed {
                    continue;
                }
            }
            rows.extend(agents.into_iter().map(|agent| Row::Agent(agent.key)));
        }
        (rows, counts)
    }

    fn agents<'a>(&self, instance: &'a Instance) -> Vec<Listed<'a>> {
        let group = match self.grouping {
            Grouping::Workspace => instance.workspace(),
            Grouping::Host => &instance.host,
            Grouping::None => "",
        };
        let key = |session| RowKey { instance: instance.name.clone(), session };
        if instance.sessions.is_empty() || !matches!(instance.presence, super::agent::Presence::Running) {
            return vec![Listed {
                key: key(None),
                attention: instance.attention(),
                status: instance.status(),
                since: instance.since,
                group,
            }];
        }
        let listed = |session: &Session| Listed {
            key: key(Some(session.id)),
            attention: session.attention,
            status: session.status.clone(),
            since: session.since,
            group,
        };
        instance.sessions.values().map(listed).collect()
    }

    fn order(&self, agents: &mut [Listed<'_>]) {
        match self.sort {
            // The one that has waited longest is first.
            Sort::Attention => agents.sort_by(|a, b| {
                (std::cmp::Reverse(a.attention), a.since, &a.key).cmp(&(
                    std::cmp::Reverse(b.attention),
                    b.since,
                    &b.key,
                ))
            }),
            Sort::Name => agents.sort_by(|a, b| a.key.cmp(&b.key)),
            Sort::Recent => agents.sort_by(|a, b| {
                (std::cmp::Reverse(a.since), &a.key).cmp(&(std::cmp::Reverse(b.since), &b.key))
            }),
        }
    }
}

/// Whether an agent has every wanted word somewhere.
fn fits(wanted: &[String], instance: &Instance, session: Option<&Session>, listed: &Listed<'_>) -> bool {
    let mut text = format!(
        "{} {} {} {} {}",
        instance.name,
        instance.host,
        instance.workspace(),
        listed.attention.word(),
        listed.status.word()
    );
    let plan = instance.plan.as_ref();
    let role = plan.and_then(|plan| plan.role.as_ref()).map(ToString::to_string);
    let kinds = [TagKind::Pr, TagKind::Issue, TagKind::Status, TagKind::Repo];
    let tags = kinds.iter().filter_map(|kind| instance.latest(kind)).map(|tag| tag.value.as_str());
    let of_session = session.into_iter().flat_map(|session| {
        [Some(session.title.as_str()), session.agent.as_deref(), session.question()].into_iter().flatten()
    });
    for part in role.as_deref().into_iter().chain(instance.branch()).chain(tags).chain(of_session) {
        text.push(' ');
        text.push_str(part);
    }
    let text = text.to_lowercase();
    wanted.iter().all(|word| text.contains(word))
}
