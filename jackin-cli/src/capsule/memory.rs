use std::fs;
use std::path::PathBuf;

/// How often the kernel has ended a process of our group because memory ran out.
#[derive(Debug)]
pub(super) struct OomKills {
    file: Option<PathBuf>,
    seen: u64,
}

impl OomKills {
    /// Counts from now on. Without control groups there is nothing to count.
    pub(super) fn new() -> Self {
        let file = fs::read_to_string("/proc/self/cgroup").ok().and_then(|groups| events_file(&groups));
        let seen = file.as_ref().and_then(count).unwrap_or(0);
        Self { file, seen }
    }

    /// Whether it has happened again since this was last asked.
    pub(super) fn again(&mut self) -> bool {
        let Some(now) = self.file.as_ref().and_then(count) else { return false };
        now > std::mem::replace(&mut self.seen, now)
    }
}

/// The file of our own group; one line without a controller names it.
fn events_file(groups: &str) -> Option<PathBuf> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(PathBuf::from("/sys/fs/cgroup").join(group).join("memory.events"))
}

fn count(file: &PathBuf) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_further_kill_is_noticed_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("memory.events");
        fs::write(&file, "low 0\noom 3\noom_kill 2\noom_group_kill 0\n").unwrap();
        let mut kills = OomKills { seen: count(&file).unwrap(), file: Some(file.clone()) };
        assert!(!kills.again());
        fs::write(&file, "oom 4\noom_kill 3\n").unwrap();
        assert!(kills.again());
        assert!(!kills.again());
        fs::remove_file(&file).unwrap();
        assert!(!kills.again());
    }

    #[test]
    fn the_group_is_that_of_the_unified_hierarchy() {
        let groups = "1:name=systemd:/x\n0::/user.slice/a.scope\n";
        let file = PathBuf::from("/sys/fs/cgroup/user.slice/a.scope/memory.events");
        assert_eq!(events_file(groups), Some(file));
        assert_eq!(events_file("0::/\n"), Some("/sys/fs/cgroup/memory.events".into()));
        assert_eq!(events_file("1:memory:/x\n"), None);
    }
}
