//! Processes as Linux shows them in /proc. Elsewhere there is nothing to read, and nothing is concluded.

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use jackin_core::Timestamp;

/// How much is read of a command line or an environment; a process can make both as long as it likes.
const LONGEST: u64 = 256 << 10;

/// How many processes below one are looked at.
const MOST_BELOW: usize = 256;

/// The kernel's unit of a process's starting time, the same on every Linux.
pub(super) const TICKS_PER_SECOND: u64 = 100;

/// What /proc/PID/stat tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) name: String,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// The foreground group of its terminal.
    pub(super) front: i32,
    /// When it started, in ticks since the system did. With the number this names a process for good.
    pub(super) started: u64,
    /// The processor time that it and its children that have ended used.
    pub(super) ticks: u64,
    /// How much of its memory is there.
    pub(super) resident_pages: u64,
}

pub(super) fn stat(pid: u32) -> Option<Stat> {
    parse(&read(pid, "stat")?)
}

/// The name is in parentheses and may hold anything, parentheses included.
fn parse(text: &[u8]) -> Option<Stat> {
    let open = text.iter().position(|byte| *byte == b'(')?;
    let close = text.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(text.get(open + 1..close)?).into_owned();
    let rest = String::from_utf8_lossy(text.get(close + 1..)?).into_owned();
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Counted from the state, which is field 3 of the manual page.
    let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
    let amount = |at: usize| number(at).and_then(|amount| u64::try_from(amount).ok()).unwrap_or(0);
    Some(Stat {
        name,
        parent: number(1)? as i32,
        group: number(2)? as i32,
        session: number(3)? as i32,
        front: number(5)? as i32,
        started: fields.get(19)?.parse().ok()?,
        ticks: (11..15).map(amount).fold(0, u64::saturating_add),
        resident_pages: amount(21),
    })
}

/// The numbers of all processes.
pub(super) fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

pub(super) fn command_line(pid: u32) -> Vec<String> {
    let text = read(pid, "cmdline").unwrap_or_default();
    let words = text.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    words.filter(|word| !word.is_empty()).take(16).collect()
}

/// A variable of the environment that a process was started with, where that may be read.
pub(super) fn variable(pid: u32, name: &str) -> Option<String> {
    let text = read(pid, "environ")?;
    let entry = |entry: &[u8]| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    };
    text.split(|byte| *byte == 0).find_map(entry)
}

/// Its working directory.
pub(super) fn directory(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// The files that it has open.
pub(super) fn open_files(pid: u32) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    entries.flatten().take(1_024).filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
}

/// The processes below one, nearest first.
pub(super) fn below(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut at = 0;
    while at < found.len() && found.len() < MOST_BELOW {
        found.extend(children(found[at]));
        at += 1;
    }
    found.remove(0);
    found.truncate(MOST_BELOW);
    found
}

/// A process's threads each have children of their own.
fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let mut children = Vec::new();
    for thread in threads.flatten().take(128) {
        let list = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        children.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    children
}

/// When a process started, by the wall clock; none where the system does not tell when it came up itself.
pub(super) fn wall_time(started: u64) -> Option<Timestamp> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let boot = text.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse::<u64>().ok())?;
    let since_boot = Duration::from_millis(started.saturating_mul(1_000) / TICKS_PER_SECOND);
    Some(Timestamp::from_millis(boot.saturating_mul(1_000)) + since_boot)
}

fn read(pid: u32, what: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(format!("/proc/{pid}/{what}")).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_the_rest_of_the_line() {
        let line = b"42 (a) R 1 (b) S 1 42 42 34816 77 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 0 0";
        let stat = parse(line).unwrap();
        assert_eq!(
            (stat.name.as_str(), stat.group, stat.front, stat.started),
            ("a) R 1 (b", 42, 77, 987_654)
        );
        assert_eq!(parse(b"nonsense"), None);
        assert_eq!(parse(b"1 (x) S 1"), None);
        assert_eq!(parse(b") ("), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_as_it_knows_itself() {
        let own = std::process::id();
        let stat = stat(own).unwrap();
        assert!(stat.started > 0);
        assert_eq!(directory(own), std::env::current_dir().ok());
        assert_eq!(variable(own, "PATH"), std::env::var("PATH").ok());
        assert_eq!(variable(own, "PAT"), None);
        assert!(command_line(own)[0].contains("jackin"));
        let since = wall_time(stat.started).unwrap();
        let age = crate::capsule::now().since(since);
        assert!(age < Duration::from_secs(3_600), "{age:?}");
    }
}
