//! Processes of this machine that outlived what they were started for, found by what their environment says. Their
//! numbers are used again sooner or later; this cannot be mistaken. Without a `/proc` none are found.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// How long a leftover has to end by itself.
const GRACE: Duration = Duration::from_secs(3);

/// How often is looked whether it has.
const PAUSE: Duration = Duration::from_millis(10);

/// The variables that a process was started with.
pub(crate) struct Environment(Vec<u8>);

impl Environment {
    /// The value of a variable, if it is text.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.split(|byte| *byte == 0);
        let value = pairs.find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
        std::str::from_utf8(value?).ok()
    }
}

/// Every process whose environment can be read, but this one: whoever cleans up may itself have been started there.
pub(crate) fn processes() -> impl Iterator<Item = (Pid, Environment)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        let environ = fs::read(entry.path().join("environ")).ok()?;
        (pid != rustix::process::getpid()).then_some((pid, Environment(environ)))
    })
}

/// Ends processes: those that do not want to by force. It waits for them.
pub(crate) fn end(pids: &[Pid]) {
    let signal = |signal| {
        for pid in pids {
            // It may have ended in the meantime.
            let _ = kill_process(*pid, signal);
        }
    };
    signal(Signal::TERM);
    signal(Signal::CONT);
    let asked = Instant::now();
    while pids.iter().any(|pid| lives(*pid)) {
        if asked.elapsed() > GRACE {
            signal(Signal::KILL);
            break;
        }
        std::thread::sleep(PAUSE);
    }
}

/// One that has ended but was not waited for has no more environment.
fn lives(pid: Pid) -> bool {
    test_kill_process(pid).is_ok()
        && fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()))
            .is_ok_and(|environ| !environ.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_found_by_its_whole_name() {
        let environment = Environment(b"AB=no\0A=b=c\0\xff=x\0".to_vec());
        assert_eq!((environment.get("A"), environment.get("B")), (Some("b=c"), None));
        assert_eq!(Environment(Vec::new()).get("A"), None);
    }
}
