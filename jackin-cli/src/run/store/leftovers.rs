use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use jackin_core::RunId;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// How long a leftover has to end by itself.
const GRACE: Duration = Duration::from_secs(3);

/// The processes of this machine that belong to runs, by what their environment says. Their numbers are used again
/// sooner or later; this cannot be mistaken. Without a `/proc` none are found.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    of_run: BTreeMap<String, Vec<Pid>>,
}

impl Leftovers {
    pub(super) fn look() -> Self {
        let mut of_run: BTreeMap<String, Vec<Pid>> = BTreeMap::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
            let Some(pid) = number.and_then(Pid::from_raw) else { continue };
            // Whoever cleans up may itself run inside of a run.
            if pid == rustix::process::getpid() {
                continue;
            }
            let Ok(environ) = fs::read(entry.path().join("environ")) else { continue };
            let run = environ.split(|byte| *byte == 0).find_map(|pair| pair.strip_prefix(b"JRUN_ID="));
            if let Some(run) = run.and_then(|run| std::ffi::OsStr::from_bytes(run).to_str()) {
                of_run.entry(run.to_owned()).or_default().push(pid);
            }
        }
        Self { of_run }
    }

    /// Ends what is left of a run; how many processes that were.
    pub(super) fn end(&mut self, run: &RunId) -> usize {
        let pids = self.of_run.remove(run.as_str()).unwrap_or_default();
        let signal = |signal| {
            for pid in &pids {
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
            std::thread::sleep(Duration::from_millis(10));
        }
        pids.len()
    }
}

/// One that has ended but was not waited for has no more environment.
fn lives(pid: Pid) -> bool {
    test_kill_process(pid).is_ok()
        && fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()))
            .is_ok_and(|environ| !environ.is_empty())
}
