//! Who is in the foreground of a session's terminal.

use jackin_core::Timestamp;
use jackin_status::Foreground;

use super::process;
use crate::capsule::agents::Family;

/// Processes that an agent starts as it comes up are its servers, not its tools.
const COMING_UP: u64 = 15 * 100;

/// A process that cannot be mistaken for a later one with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessId {
    pub(super) pid: u32,
    started: u64,
}

impl ProcessId {
    pub(super) fn of(pid: u32) -> Option<Self> {
        Some(Self { pid, started: process::stat(pid)?.started })
    }

    pub(super) fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    pub(super) fn started(self) -> Option<Timestamp> {
        process::wall_time(self.started)
    }
}

/// What is in front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Front {
    /// Its name.
    pub(super) name: String,
    /// The agent among the processes in front, where one is known.
    pub(super) agent: Option<(Family, ProcessId)>,
    /// Whether the session's first process is in front.
    pub(super) is_leader: bool,
}

/// Looks at the terminal whose session `leader` began.
pub(super) fn look(leader: u32) -> Option<Front> {
    let front = u32::try_from(process::stat(leader)?.front).ok().filter(|front| *front > 0)?;
    let stat = process::stat(front)?;
    let known = |pid: u32| Family::of_command(&process::command_line(pid)).zip(ProcessId::of(pid));
    // A script that starts an agent without job control is in front together with it.
    let agent = known(front).or_else(|| {
        let in_group =
            |pid: &u32| process::stat(*pid).is_some_and(|stat| u32::try_from(stat.group) == Ok(front));
        process::below(front).into_iter().take(16).filter(in_group).find_map(known)
    });
    Some(Front { name: stat.name, agent, is_leader: front == leader })
}

/// What runs below an agent: tools, if they were started after it had come up.
pub(super) fn busy_with(agent: ProcessId, name: &str) -> Foreground {
    let is_tool = |pid: &u32| {
        process::stat(*pid)
            .is_some_and(|stat| stat.started > agent.started + COMING_UP && !stat.name.starts_with("jackin"))
    };
    let children = process::below(agent.pid).into_iter().filter(is_tool).count();
    Foreground { name: name.to_owned(), is_agent: true, children: children as u32 }
}
