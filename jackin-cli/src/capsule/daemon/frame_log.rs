//! A log line for each frame, for those who look for needless drawing: `JACKIN_DEBUG=1`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use jackin_core::PaneId;
use jackin_mux::FrameCounts;

/// What is noted for the next line. It costs nothing unless it is switched on.
#[derive(Debug, Default)]
pub(super) struct FrameLog {
    on: bool,
    /// The panes that printed something since the last frame.
    dirty: BTreeSet<PaneId>,
}

impl FrameLog {
    pub(super) fn new() -> Self {
        Self { on: super::super::log::is_debugging(), ..Self::default() }
    }

    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    pub(super) fn printed(&mut self, pane: PaneId) {
        if self.on {
            self.dirty.insert(pane);
        }
    }

    /// Logs a frame of so many bytes, by how the counts changed.
    pub(super) fn drew(&mut self, before: FrameCounts, after: FrameCounts, bytes: usize, took: Duration) {
        let dirty = std::mem::take(&mut self.dirty);
        tracing::debug!("{}", line(&dirty, before, after, bytes, took));
    }
}

fn line(
    dirty: &BTreeSet<PaneId>,
    before: FrameCounts,
    after: FrameCounts,
    bytes: usize,
    took: Duration,
) -> String {
    let mut line = String::from("frame");
    // Writing to a string does not fail.
    let _ = match after.last_reason.filter(|_| after.full > before.full) {
        Some(reason) => write!(line, " full, reason {reason:?}"),
        None => write!(line, " partial"),
    };
    let panes: Vec<String> = dirty.iter().map(ToString::to_string).collect();
    let panes = if panes.is_empty() { "none".to_owned() } else { panes.join(" ") };
    let _ =
        write!(line, ", dirty panes {panes}, {} rows, {bytes} bytes, {} µs", after.rows, took.as_micros());
    line
}

#[cfg(test)]
mod tests {
    use jackin_mux::FullRedrawReason;

    use super::*;

    #[test]
    fn a_line_tells_what_was_drawn_and_why() {
        let before = FrameCounts::default();
        let took = Duration::from_micros(7);
        let dirty = BTreeSet::from([PaneId::new(1).unwrap(), PaneId::new(3).unwrap()]);
        let partial = FrameCounts { partial: 1, rows: 2, ..before };
        assert_eq!(
            line(&dirty, before, partial, 90, took),
            "frame partial, dirty panes 1 3, 2 rows, 90 bytes, 7 µs"
        );
        let full = FrameCounts { full: 1, rows: 24, last_reason: Some(FullRedrawReason::Attach), ..before };
        let told = line(&BTreeSet::new(), before, full, 1_234, took);
        assert_eq!(told, "frame full, reason Attach, dirty panes none, 24 rows, 1234 bytes, 7 µs");
    }
}
