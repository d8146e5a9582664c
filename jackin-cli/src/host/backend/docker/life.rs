//! How an instance is, by what the engine says of its container.

use std::collections::BTreeMap;

use bollard::Docker;
use bollard::container::LogOutput;
use bollard::models::{ContainerState, ContainerStateStatusEnum};
use bollard::query_parameters::{
    EventsOptionsBuilder, InspectContainerOptions, ListContainersOptionsBuilder, ListNetworksOptionsBuilder,
    ListVolumesOptionsBuilder, LogsOptionsBuilder,
};
use futures_util::StreamExt;
use jackin_core::{AgentStatus, InstanceName};

use super::connection::{ASK, Connection, Trouble, within};
use super::labels::{self, Labels};
use super::{END_RECORD, LOG, archive};
use crate::capsule::EndRecord;
use crate::host::backend::{BackendError, Changes, Ending, Found, Life};

/// The largest record of an end: so many screens are in it.
const LARGEST_RECORD: usize = 32 << 20;

/// How many of a container's last lines are told when it failed.
const LAST_LINES: &str = "12";

/// How much of a capsule's log is read, and how many lines of what a container printed.
const LONGEST_LOG: usize = 16 << 20;
const PRINTED_LINES: &str = "5000";

/// How many instances are looked at at a time.
const AT_ONCE: usize = 8;

/// How an instance is.
pub(super) async fn inspect(
    engine: &Connection,
    docker: &Docker,
    instance: &InstanceName,
) -> Result<Life, BackendError> {
    let told = |trouble| engine.told(&format!("look at {instance}"), trouble);
    let name = labels::container(instance);
    match within(ASK, docker.inspect_container(&name, None::<InspectContainerOptions>)).await {
        Ok(found) => {
            let labels = found.config.and_then(|config| config.labels).unwrap_or_default();
            // Somebody else's, which happens to be called so.
            if labels::instance(&labels).as_ref() != Some(instance) {
                return Ok(Life::Absent);
            }
            return life(docker, &name, &found.state.unwrap_or_default()).await.map_err(told);
        }
        Err(trouble) if trouble.is_missing() => {}
        Err(trouble) => return Err(told(trouble)),
    }
    let left = things(docker, Some(instance)).await.map_err(told)?;
    Ok(if left.is_empty() { Life::Absent } else { Life::Unfinished })
}

async fn life(docker: &Docker, container: &str, state: &ContainerState) -> Result<Life, Trouble> {
    use ContainerStateStatusEnum as Status;
    match state.status {
        Some(Status::CREATED | Status::EMPTY) | None => return Ok(Life::Unfinished),
        Some(Status::RUNNING | Status::PAUSED | Status::RESTARTING | Status::STOPPING) => {
            return Ok(Life::Running);
        }
        Some(Status::EXITED | Status::DEAD | Status::REMOVING) => {}
    }
    let record = match archive::read(docker, container, END_RECORD, LARGEST_RECORD).await {
        Ok(json) => json.and_then(|json| serde_json::from_slice::<EndRecord>(&json).ok()),
        // The engine gives nothing of a container that it is about to remove.
        Err(Trouble::Refused(..)) => None,
        Err(trouble) => return Err(trouble),
    };
    Ok(Life::Ended(ending(state, record)))
}

/// The exit code of what was killed.
const KILLED: i32 = 137;

fn ending(state: &ContainerState, record: Option<EndRecord>) -> Ending {
    let exit_code = state.exit_code.and_then(|code| i32::try_from(code).ok());
    let by_record = record.iter().flat_map(|record| &record.sessions);
    let by_record = by_record.into_iter().any(|session| session.status == AgentStatus::OomKilled);
    // The engine remembers that memory ran out even if everybody got over it.
    let by_engine = state.oom_killed == Some(true) && exit_code == Some(KILLED);
    Ending { exit_code, oom: exit_code != Some(0) && (by_record || by_engine), record }
}

/// Everything that is labelled as an instance's, or as anybody's: the labels of each thing.
async fn things(docker: &Docker, instance: Option<&InstanceName>) -> Result<Vec<Labels>, Trouble> {
    let filters = labels::filter(instance);
    let containers = ListContainersOptionsBuilder::new().all(true).filters(&filters).build();
    let networks = ListNetworksOptionsBuilder::new().filters(&filters).build();
    let volumes = ListVolumesOptionsBuilder::new().filters(&filters).build();
    let (containers, networks, volumes) = tokio::try_join!(
        within(ASK, docker.list_containers(Some(containers))),
        within(ASK, docker.list_networks(Some(networks))),
        within(ASK, docker.list_volumes(Some(volumes))),
    )?;
    let containers = containers.into_iter().filter_map(|found| found.labels);
    let networks = networks.into_iter().filter_map(|found| found.labels);
    let volumes = volumes.volumes.unwrap_or_default().into_iter().map(|found| found.labels);
    Ok(containers.chain(networks).chain(volumes).collect())
}

/// All instances of an engine, those that are only half there included.
pub(super) async fn list(engine: &Connection, docker: &Docker) -> Result<Vec<Found>, BackendError> {
    let told = |trouble| engine.told("list the instances", trouble);
    let mut plans = BTreeMap::new();
    for labels in things(docker, None).await.map_err(told)? {
        if let Some(instance) = labels::instance(&labels) {
            let plan = plans.entry(instance).or_insert(None);
            *plan = plan.take().or_else(|| labels::plan(&labels));
        }
    }
    let looked = futures_util::stream::iter(plans).map(|(instance, plan)| async move {
        let life = inspect(engine, docker, &instance).await?;
        Ok(Found { instance, plan, life })
    });
    let found: Vec<Result<Found, BackendError>> = looked.buffered(AT_ONCE).collect().await;
    // One may have gone since.
    found.into_iter().filter(|found| !matches!(found, Ok(Found { life: Life::Absent, .. }))).collect()
}

/// Tells of instances that began or ended.
pub(super) async fn watch(engine: &Connection, docker: &Docker) -> Result<Changes, BackendError> {
    // The stream is asked for when it is first looked at. What happens until then is told as well: from the engine's own
    // clock on.
    let asked = within(ASK, docker.info()).await;
    let info = asked.map_err(|trouble| engine.told("watch the engine", trouble))?;
    let now = info.system_time.as_deref().and_then(seconds);
    let filters = [
        ("type", vec!["container"]),
        ("label", vec![labels::INSTANCE]),
        ("event", vec!["create", "start", "die", "oom", "destroy"]),
    ]
    .into();
    let mut options = EventsOptionsBuilder::new().filters(&filters);
    if let Some(now) = now {
        options = options.since(&now.to_string());
    }
    let events = docker.events(Some(options.build()));
    let ours = events.take_while(|event| std::future::ready(event.is_ok())).filter_map(|event| {
        let labels = event.ok().and_then(|event| event.actor?.attributes).unwrap_or_default();
        let own = !labels.contains_key(labels::SIDECAR);
        std::future::ready(labels::instance(&labels).filter(|_| own))
    });
    Ok(Box::pin(ours))
}

/// The seconds since 1970 of a time such as `2026-03-01T10:20:30.5+01:00`.
fn seconds(time: &str) -> Option<i64> {
    let number = |at: std::ops::Range<usize>| time.get(at)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let clock = number(11..13)? * 3_600 + number(14..16)? * 60 + number(17..19)?;
    let zone = time.get(19..)?.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let offset = match zone.split_at_checked(1)? {
        ("Z" | "z", "") => 0,
        (sign @ ("+" | "-"), ahead) => {
            let (hours, minutes) = ahead.split_once(':')?;
            let seconds = hours.parse::<i64>().ok()? * 3_600 + minutes.parse::<i64>().ok()? * 60;
            if sign == "+" { seconds } else { -seconds }
        }
        _ => return None,
    };
    // Years begin in March here, so that a leap day is a year's last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = days + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + clock - offset)
}

/// What an instance's capsule logged: to its file, or else what its container printed.
pub(super) async fn log(
    engine: &Connection,
    docker: &Docker,
    instance: &InstanceName,
) -> Result<Option<Vec<u8>>, BackendError> {
    if matches!(inspect(engine, docker, instance).await?, Life::Absent) {
        return Err(BackendError::NotFound(instance.clone()));
    }
    let container = labels::container(instance);
    let file = archive::read(docker, &container, LOG, LONGEST_LOG).await;
    if let Some(text) = file.map_err(|trouble| engine.told("read its log", trouble))? {
        return Ok(Some(text));
    }
    let printed = printed(docker, &container, PRINTED_LINES).await;
    Ok(Some(printed).filter(|text| !text.is_empty()))
}

/// The last lines that a container printed, as the end of a sentence.
pub(super) async fn last_words(docker: &Docker, container: &str) -> String {
    let text = printed(docker, container, LAST_LINES).await;
    let text = String::from_utf8_lossy(&text);
    if text.trim().is_empty() { String::new() } else { format!("; its last words:\n{}", text.trim_end()) }
}

async fn printed(docker: &Docker, container: &str, lines: &str) -> Vec<u8> {
    let options = LogsOptionsBuilder::new().stdout(true).stderr(true).tail(lines).build();
    let collect = async {
        let mut text = Vec::new();
        let mut lines = Box::pin(docker.logs(container, Some(options)));
        while let Some(Ok(line)) = lines.next().await {
            if let LogOutput::StdOut { message }
            | LogOutput::StdErr { message }
            | LogOutput::Console { message } = line
            {
                text.extend_from_slice(&message[..message.len().min(1_024)]);
            }
        }
        Ok(text)
    };
    within(ASK, collect).await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(exit_code: i64, oom_killed: bool) -> ContainerState {
        ContainerState {
            exit_code: Some(exit_code),
            oom_killed: Some(oom_killed),
            ..ContainerState::default()
        }
    }

    #[test]
    fn memory_that_ran_out_is_told_from_a_kill() {
        assert_eq!(ending(&state(137, false), None).status(), AgentStatus::Crashed { exit_code: 137 });
        assert_eq!(ending(&state(137, true), None).status(), AgentStatus::OomKilled);
        assert_eq!(ending(&state(0, true), None).status(), AgentStatus::Ended { exit_code: 0 });
        assert_eq!(ending(&state(3, true), None).status(), AgentStatus::Crashed { exit_code: 3 });
    }

    #[test]
    fn the_engines_clock_is_read() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2024-02-29T12:34:56.789012345Z"), Some(1_709_210_096));
        assert_eq!(seconds("2024-02-29T13:34:56+01:00"), Some(1_709_210_096));
        assert_eq!(seconds("2024-02-29T07:04:56.5-05:30"), Some(1_709_210_096));
        for bad in ["", "today", "2024-02-29", "2024-02-29T12:34:56", "2024-02-29T12:34:56 é"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}
