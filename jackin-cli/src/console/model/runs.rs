//! What the team's tools print, while they run and for a while after.

use std::collections::VecDeque;

use jackin_core::Timestamp;

/// How many lines of a tool's output are kept; of more, the last.
const MOST_LINES: usize = 10_000;

/// How many bytes of them.
const MOST_BYTES: usize = 4 << 20;

/// How many tools are remembered.
const MOST_RUNS: usize = 20;

/// Names a run.
pub(crate) type RunId = u64;

/// A tool that runs, or ran.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) id: RunId,
    pub(crate) title: String,
    pub(crate) started: Timestamp,
    pub(crate) lines: VecDeque<String>,
    bytes: usize,
    /// How many lines are no longer there.
    pub(crate) dropped: usize,
    /// How it ended, and whether well.
    pub(crate) end: Option<(bool, String)>,
}

/// The runs, the latest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    runs: Vec<Run>,
    last: RunId,
}

impl Runs {
    pub(crate) fn begin(&mut self, title: String, now: Timestamp) -> RunId {
        self.last += 1;
        // One that still runs is never forgotten.
        if self.runs.len() >= MOST_RUNS
            && let Some(oldest) = self.runs.iter().position(|run| run.end.is_some())
        {
            self.runs.remove(oldest);
        }
        self.runs.push(Run {
            id: self.last,
            title,
            started: now,
            lines: VecDeque::new(),
            bytes: 0,
            dropped: 0,
            end: None,
        });
        self.last
    }

    pub(crate) fn get(&self, id: RunId) -> Option<&Run> {
        self.runs.iter().find(|run| run.id == id)
    }

    pub(crate) fn all(&self) -> &[Run] {
        &self.runs
    }

    pub(crate) fn running(&self) -> usize {
        self.runs.iter().filter(|run| run.end.is_none()).count()
    }

    pub(crate) fn printed(&mut self, id: RunId, line: String) {
        if let Some(run) = self.runs.iter_mut().find(|run| run.id == id) {
            run.bytes += line.len();
            run.lines.push_back(line);
            while run.lines.len() > MOST_LINES || run.bytes > MOST_BYTES {
                let Some(line) = run.lines.pop_front() else { break };
                run.bytes -= line.len();
                run.dropped += 1;
            }
        }
    }

    pub(crate) fn ended(&mut self, id: RunId, well: bool, how: String) {
        if let Some(run) = self.runs.iter_mut().find(|run| run.id == id) {
            run.end = Some((well, how));
        }
    }
}

impl Run {
    /// Everything that it printed.
    pub(crate) fn text(&self) -> String {
        self.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_runs_are_bounded_and_what_runs_is_kept() {
        let mut runs = Runs::default();
        let first = runs.begin("first".into(), Timestamp::default());
        for n in 0..MOST_LINES + 7 {
            runs.printed(first, n.to_string());
        }
        let run = runs.get(first).unwrap();
        assert_eq!((run.lines.len(), run.dropped, run.lines[0].as_str()), (MOST_LINES, 7, "7"));
        for _ in 0..3 * MOST_RUNS {
            let id = runs.begin("more".into(), Timestamp::default());
            runs.ended(id, true, "done".into());
        }
        assert_eq!(runs.all().len(), MOST_RUNS);
        assert!(runs.get(first).is_some() && runs.running() == 1);
        let big = runs.begin("big".into(), Timestamp::default());
        for _ in 0..8 {
            runs.printed(big, "x".repeat(1 << 20));
        }
        assert_eq!(runs.get(big).unwrap().lines.len(), 4);
    }
}
