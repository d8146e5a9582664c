use std::collections::BTreeMap;

use jackin_core::RunId;
use rustix::process::Pid;

use crate::leftovers;

/// The processes of this machine that belong to runs, by what their environment says.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    of_run: BTreeMap<String, Vec<Pid>>,
}

impl Leftovers {
    pub(super) fn look() -> Self {
        let mut of_run: BTreeMap<String, Vec<Pid>> = BTreeMap::new();
        for (pid, environment) in leftovers::processes() {
            if let Some(run) = environment.get("JRUN_ID") {
                of_run.entry(run.to_owned()).or_default().push(pid);
            }
        }
        Self { of_run }
    }

    /// Ends what is left of a run; how many processes that were.
    pub(super) fn end(&mut self, run: &RunId) -> usize {
        let pids = self.of_run.remove(run.as_str()).unwrap_or_default();
        leftovers::end(&pids);
        pids.len()
    }
}
