//! Whether the program of an instance could be started. A capsule starts it as another user, and learns only afterwards
//! that the image does not have it.

use std::time::Duration;

use bollard::Docker;
use bollard::query_parameters::TopOptions;
use tokio::time::Instant;

use super::connection::{ASK, Connection, within};
use super::{CAPSULE, labels, life};
use crate::capsule::EndRecord;
use crate::host::backend::{BackendError, Life};
use crate::host::plan::Plan;

/// How long is waited for the program, or for the end of a capsule that has none.
const PATIENCE: Duration = Duration::from_secs(3);

const PAUSE: Duration = Duration::from_millis(20);

/// What a session ends with whose program is not there, or is none.
const UNSTARTED: [i32; 2] = [127, 126];

/// How the capsule says so on the session's screen.
const WORDS: &str = "cannot start ";

/// Waits for a moment until the program of an instance runs, and refuses one that cannot be started. Where that cannot be
/// told, it is taken to run: its end is told as any other.
pub(super) async fn check(engine: &Connection, docker: &Docker, plan: &Plan) -> Result<(), BackendError> {
    if plan.command.is_empty() && plan.agent.is_none() {
        // The operator chooses later.
        return Ok(());
    }
    let (begin, container) = (Instant::now(), labels::container(&plan.instance));
    while begin.elapsed() < PATIENCE {
        match life::inspect(engine, docker, &plan.instance).await? {
            Life::Ended(ending) => {
                let why = ending.record.as_ref().and_then(why_unstarted);
                return why.map_or(Ok(()), |why| Err(BackendError::Impossible(why)));
            }
            Life::Absent | Life::Unfinished => return Ok(()),
            Life::Running => {}
        }
        let processes = match within(ASK, docker.top_processes(&container, None::<TopOptions>)).await {
            Ok(listed) => listed.processes.unwrap_or_default(),
            // It may have ended just now.
            Err(trouble) if trouble.is_conflict() => Vec::new(),
            Err(_) => return Ok(()),
        };
        if processes.iter().filter_map(|columns| columns.last()).any(|command| !is_capsules(command)) {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

/// Whether a process is the capsule's own: the daemon, a bridge, or one that has not become a program yet.
fn is_capsules(command: &str) -> bool {
    let word = command.strip_prefix(CAPSULE).and_then(|rest| rest.split_whitespace().next());
    word.is_some_and(|word| ["daemon", "bridge", "exec-as"].contains(&word))
}

/// What the capsule says about the only session, if its program could not be started.
fn why_unstarted(record: &EndRecord) -> Option<String> {
    let [session] = record.sessions.as_slice() else { return None };
    session.exit_code.filter(|code| UNSTARTED.contains(code))?;
    let screen = session.screen.lines().map(str::trim_end).collect::<Vec<_>>().join(" ");
    let said = &screen[screen.find(WORDS)?..];
    Some(format!("{}: is it in the image?", said.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_from_the_capsule() {
        for own in ["daemon --config /jackin/run/agent.toml -- sh", "bridge", "exec-as --uid 1000 -- sh"] {
            assert!(is_capsules(&format!("{CAPSULE} {own}")), "{own}");
        }
        for other in [format!("{CAPSULE} report --strict"), "sh -c daemon".to_owned(), CAPSULE.to_owned()] {
            assert!(!is_capsules(&other), "{other}");
        }
    }

    #[test]
    fn only_what_could_not_be_started_is_refused() {
        let record = |exit_code: i32, screen: &str| {
            let session = serde_json::json!({
                "id": 1, "title": "x", "agent": null, "status": { "kind": "crashed", "exit_code": exit_code },
                "exit_code": exit_code, "signal": null, "on_purpose": false, "at": 1, "screen": screen,
            });
            let record = serde_json::json!({
                "version": 1, "instance": "x", "at": 1, "exit_code": exit_code, "stopped": false, "sessions": [session], "tags": [],
            });
            serde_json::from_value::<EndRecord>(record).unwrap()
        };
        let why = why_unstarted(&record(127, "error: cannot start nosuch: No such file\n\n")).unwrap();
        assert_eq!(why, "cannot start nosuch: No such file: is it in the image?");
        assert_eq!(why_unstarted(&record(127, "sh: nosuch: not found\n")), None);
        assert_eq!(why_unstarted(&record(3, "error: cannot start the engine\n")), None);
    }
}
