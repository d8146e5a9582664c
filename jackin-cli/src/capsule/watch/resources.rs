//! What sessions use of the machine.

use std::collections::BTreeMap;

use jackin_core::SessionId;
use jackin_core::protocol::control::SessionResources;

use super::process::{self, Stat, TICKS_PER_SECOND};

/// How many processes are looked at.
const MOST_PROCESSES: usize = 32 * 1024;

/// How far up a process's ancestors are looked at.
const MOST_ANCESTORS: usize = 256;

/// Measures the sessions, each named with its first process. Looks at every process of the system once.
pub(in crate::capsule) fn measure(leaders: &[(SessionId, u32)]) -> Vec<SessionResources> {
    let processes: BTreeMap<u32, Stat> =
        process::all().take(MOST_PROCESSES).filter_map(|pid| Some((pid, process::stat(pid)?))).collect();
    sum(leaders, &processes, rustix::param::page_size() as u64)
}

/// A process belongs to the session that it is in or came from; one that left both cannot be told from a stranger.
fn sum(leaders: &[(SessionId, u32)], processes: &BTreeMap<u32, Stat>, page: u64) -> Vec<SessionResources> {
    let mut sessions: BTreeMap<u32, SessionResources> = leaders
        .iter()
        .map(|&(session_id, leader)| {
            (leader, SessionResources { session_id, cpu_ms: 0, memory: 0, processes: 0 })
        })
        .collect();
    for (pid, stat) in processes {
        let Some(leader) = leader_of(*pid, processes, |pid| sessions.contains_key(&pid)) else { continue };
        let Some(session) = sessions.get_mut(&leader) else { continue };
        session.cpu_ms += stat.ticks.saturating_mul(1_000) / TICKS_PER_SECOND;
        session.memory = session.memory.saturating_add(stat.resident_pages.saturating_mul(page));
        session.processes += 1;
    }
    let mut sessions: Vec<SessionResources> = sessions.into_values().collect();
    sessions.sort_by_key(|session| session.session_id);
    sessions
}

fn leader_of(pid: u32, processes: &BTreeMap<u32, Stat>, is_leader: impl Fn(u32) -> bool) -> Option<u32> {
    let mut at = pid;
    for _ in 0..MOST_ANCESTORS {
        if is_leader(at) {
            return Some(at);
        }
        let stat = processes.get(&at)?;
        if let Some(session) = u32::try_from(stat.session).ok().filter(|session| is_leader(*session)) {
            return Some(session);
        }
        at = u32::try_from(stat.parent).ok().filter(|parent| *parent > 1)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(parent: i32, session: i32, ticks: u64) -> Stat {
        Stat { name: "x".into(), parent, group: 0, session, front: 0, started: 0, ticks, resident_pages: 2 }
    }

    #[test]
    fn a_session_has_what_is_in_it_and_below_it() {
        let processes = BTreeMap::from([
            (10, process(1, 10, 1)),
            (11, process(10, 10, 2)),
            // Left the session, but has its parent there.
            (12, process(11, 12, 4)),
            // Lost its parent, but is still in the session.
            (13, process(1, 10, 8)),
            (20, process(1, 20, 16)),
            (30, process(1, 30, 32)),
            // Two that say to be each other's parent.
            (40, process(41, 0, 1)),
            (41, process(40, 0, 1)),
        ]);
        let id = |id| SessionId::new(id).unwrap();
        let sessions = sum(&[(id(2), 20), (id(1), 10), (id(3), 99)], &processes, 4_096);
        let told: Vec<_> = sessions
            .iter()
            .map(|used| (used.session_id.get(), used.cpu_ms, used.memory, used.processes))
            .collect();
        assert_eq!(told, [(1, 150, 4 * 8_192, 4), (2, 160, 8_192, 1), (3, 0, 0, 0)]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_uses_something() {
        let used = measure(&[(SessionId::new(1).unwrap(), std::process::id())]);
        assert!(used[0].memory > 1 << 20 && used[0].processes >= 1, "{used:?}");
    }
}
