//! What the kernel tells of processes.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// Memory in bytes that is a program's own: no files, which others have mapped as well, and come and go.
pub(crate) fn memory(pids: &[u32]) -> Result<u64> {
    pids.iter().map(|pid| Ok(anonymous(&read(*pid, "smaps_rollup")?).context("no Pss_Anon")? * 1024)).sum()
}

fn anonymous(rollup: &str) -> Option<u64> {
    let line = rollup.lines().find(|line| line.starts_with("Pss_Anon:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Processor time so far, of threads that have ended too; in hundredths of a second.
pub(crate) fn processor_time(pids: &[u32]) -> Result<Duration> {
    let ticks: u64 = pids
        .iter()
        .map(|pid| ticks(&read(*pid, "stat")?).context("a process has a time"))
        .sum::<Result<u64>>()?;
    Ok(Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second()))
}

fn ticks(stat: &str) -> Option<u64> {
    // A name in brackets may contain anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

/// What the living threads of some processes did: exact to the nanosecond, for processes that do next to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Activity {
    pub(crate) ran: Duration,
    pub(crate) switches: u64,
}

impl Activity {
    pub(crate) fn of(pids: &[u32]) -> Result<Self> {
        let (mut nanoseconds, mut switches) = (0, 0);
        for pid in pids {
            for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
                let thread = thread?.path();
                let file = |name: &str| fs::read_to_string(thread.join(name));
                // A thread may end while it is looked at.
                let (Ok(times), Ok(status)) = (file("schedstat"), file("status")) else { continue };
                let ran = times.split(' ').next().and_then(|first| first.parse::<u64>().ok());
                nanoseconds += ran.context("schedstat")?;
                switches += context_switches(&status);
            }
        }
        Ok(Self { ran: Duration::from_nanos(nanoseconds), switches })
    }
}

fn context_switches(status: &str) -> u64 {
    let lines = status.lines().filter_map(|line| line.split_once("ctxt_switches:"));
    lines.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).sum()
}

/// The processes whose command line is as asked for.
pub(crate) fn with_words(wanted: impl Fn(&[String]) -> bool) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            let line = read(*pid, "cmdline").unwrap_or_default();
            let words: Vec<String> = line.split_terminator('\0').map(str::to_owned).collect();
            wanted(&words)
        })
        .collect()
}

fn read(pid: u32, file: &str) -> Result<String> {
    let path = format!("/proc/{pid}/{file}");
    let bytes = fs::read(&path).with_context(|| format!("cannot read {path}: has the program ended?"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_files_are_understood() {
        assert_eq!(anonymous("Rss:  9 kB\nPss:  7 kB\nPss_Anon:    1462 kB\nPss_File: 3 kB\n"), Some(1462));
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 12 30 5 6 20 0 1 0 1 1 1";
        assert_eq!(ticks(stat), Some(42));
        assert_eq!(context_switches("voluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n"), 42);
    }

    #[test]
    fn this_process_is_seen() {
        let me = [std::process::id()];
        assert!(memory(&me).unwrap() > 100_000);
        assert!(Activity::of(&me).unwrap().switches > 0);
        let name = std::env::current_exe().unwrap().display().to_string();
        assert!(with_words(|words| words.first() == Some(&name)).contains(&me[0]));
        assert!(memory(&[u32::MAX]).is_err());
        processor_time(&me).unwrap();
    }
}
