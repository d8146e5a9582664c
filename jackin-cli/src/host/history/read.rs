//! Reads the history, and tells it without saying anything twice.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use jackin_core::{AgentStatus, EventKind, InstanceName, SessionId, Timestamp};

use super::write::files_of;
use super::{Line, Noticed};
use crate::capsule::{describe, printable};
use crate::config::Paths;

/// More than a file of history has.
const LARGEST: u64 = 16 << 20;

/// Everything that is known of instances, in the order in which it happened; of all, if none is named.
pub(in crate::host) fn read(paths: &Paths, instances: &[InstanceName]) -> Vec<Line> {
    let named = if instances.is_empty() { all(paths) } else { instances.to_vec() };
    let mut lines = Vec::new();
    for file in named.iter().flat_map(|instance| files_of(paths, instance)) {
        let Ok(file) = File::open(file) else { continue };
        let texts = BufReader::new(file.take(LARGEST)).split(b'\n').map_while(Result::ok);
        // A line that was cut by a full disk, or that a later version wrote, is passed over.
        lines.extend(texts.filter_map(|text| serde_json::from_slice::<Line>(&text).ok()));
    }
    // What the last event says comes before the end that it was.
    let is_end = |line: &Line| matches!(line, Line::Noticed(Noticed::InstanceEnded { .. }));
    lines.sort_by_key(|line| (line.at(), is_end(line)));
    lines
}

fn all(paths: &Paths) -> Vec<InstanceName> {
    let entries = std::fs::read_dir(paths.history()).into_iter().flatten().flatten();
    let mut names: Vec<InstanceName> = entries
        .filter_map(|entry| InstanceName::new(entry.file_name().to_str()?.split('.').next()?).ok())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Tells lines one after another.
#[derive(Default)]
pub(in crate::host) struct Telling {
    /// What was told already: instance, number and time of an event.
    told: HashSet<(InstanceName, u64, Timestamp)>,
    /// What each session was last known to do.
    sessions: BTreeMap<(InstanceName, SessionId), AgentStatus>,
    /// How each ended that has not begun again: whoever finds it later tells it anew.
    ended: BTreeMap<InstanceName, AgentStatus>,
}

impl Telling {
    /// What a line says that was not said before, for people; nothing, if that is so of all of it.
    pub(in crate::host) fn tell(&mut self, line: &Line) -> Option<String> {
        let instance = line.instance().clone();
        let what = match line {
            Line::Happened(event) => {
                if !self.told.insert((instance.clone(), event.seq, event.at)) {
                    return None;
                }
                match &event.kind {
                    EventKind::SessionStarted { .. } => drop(self.ended.remove(&instance)),
                    EventKind::AgentStateChanged { session_id, status, .. }
                    | EventKind::SessionEnded { session_id, status } => {
                        self.sessions.insert((instance.clone(), *session_id), status.clone());
                    }
                    _ => {}
                }
                describe(event)
            }
            Line::Noticed(Noticed::Seen { sessions, .. }) => {
                self.ended.remove(&instance);
                let mut news = Vec::new();
                for seen in sessions {
                    let known =
                        self.sessions.insert((instance.clone(), seen.session_id), seen.status.clone());
                    if known.as_ref() != Some(&seen.status) {
                        let (id, since) = (seen.session_id, seconds(seen.since));
                        news.push(format!("session {id} {}: {} since {since}", seen.title, seen.status));
                    }
                }
                if news.is_empty() {
                    return None;
                }
                format!("seen: {}", news.join("; "))
            }
            Line::Noticed(Noticed::InstanceEnded { status, .. }) => {
                if self.ended.insert(instance.clone(), status.clone()).as_ref() == Some(status) {
                    return None;
                }
                self.sessions.retain(|(of, _), _| *of != instance);
                format!("the instance has ended: {status}")
            }
        };
        Some(format!("{} {instance}: {}", seconds(line.at()), printable(&what)))
    }
}

/// A time without its fraction.
fn seconds(at: Timestamp) -> String {
    let text = at.to_string();
    text.split_once('.').map_or_else(|| text.clone(), |(seconds, _)| format!("{seconds}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> Vec<String> {
        let mut telling = Telling::default();
        lines.iter().filter_map(|line| telling.tell(&serde_json::from_str(line).unwrap())).collect()
    }

    #[test]
    fn nothing_is_said_twice() {
        let busy = r#"{"seq":3,"at":1000,"instance":"api","event":"agent-state-changed","session_id":1,"state":"working","status":{"kind":"busy","since":1000},"cause":{"source":"structured","evidence":"x","at":1000}}"#;
        let seen = r#"{"event":"seen","at":2000,"instance":"api","sessions":[{"session_id":1,"title":"Robot","status":{"kind":"busy","since":1000},"since":1000}]}"#;
        let ended = r#"{"event":"instance-ended","at":3000,"instance":"api","status":{"kind":"crashed","exit_code":7}}"#;
        let later = ended.replace("3000", "3500");
        let again = busy.replace("1000", "9000").replace("\"seq\":3", "\"seq\":1");
        let told = told(&[busy, busy, seen, ended, &later, seen, &again]);
        assert_eq!(told.len(), 4, "{told:#?}");
        assert!(told[0].starts_with("1970-01-01T00:00:01Z api: session 1 working: busy"), "{}", told[0]);
        assert!(told[1].contains("has ended: crashed (exit code 7)"), "{}", told[1]);
        assert!(told[2].contains("seen: session 1 Robot: busy"), "{}", told[2]);
    }

    #[test]
    fn what_makes_no_sense_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::new(dir.path(), dir.path());
        std::fs::create_dir(paths.history()).unwrap();
        let file = files_of(&paths, &"api".parse().unwrap())[1].clone();
        let end = |at: u64| {
            format!(
                r#"{{"event":"instance-ended","at":{at},"instance":"api","status":{{"kind":"ended","exit_code":0}}}}"#
            )
        };
        std::fs::write(&file, format!("{}\nnonsense\n{{\"event\":\"\n\u{7}\n{}\n", end(2), end(1))).unwrap();
        let lines = read(&paths, &[]);
        assert_eq!(lines.iter().map(|line| line.at().as_millis()).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(read(&paths, &["other".parse().unwrap()]), []);
    }
}
