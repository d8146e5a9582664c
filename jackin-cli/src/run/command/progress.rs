use std::io::IsTerminal;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::duration;
use super::view::Shown;

/// How far many runs are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) total: usize,
    pub(super) running: usize,
    pub(super) done: usize,
    pub(super) failed: usize,
}

/// A bar on the last line of the terminal; nothing where standard error is none. It is drawn beside the runs, which never
/// wait for it.
pub(super) struct Bar {
    counts: watch::Sender<Counts>,
    drawing: Option<JoinHandle<()>>,
}

impl Bar {
    pub(super) fn new(counts: Counts) -> Self {
        let (counts, seen) = watch::channel(counts);
        let drawing = std::io::stderr().is_terminal().then(|| tokio::spawn(draw(seen)));
        Self { counts, drawing }
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Counts)) {
        self.counts.send_modify(change);
    }

    pub(super) fn counts(&self) -> Counts {
        *self.counts.borrow()
    }

    /// Whether it is seen.
    pub(super) fn is_drawn(&self) -> bool {
        self.drawing.is_some()
    }

    /// Draws it for the last time.
    pub(super) async fn finish(self) {
        drop(self.counts);
        if let Some(drawing) = self.drawing {
            // A terminal that is held up must not hold up the end.
            let _ = tokio::time::timeout(Duration::from_secs(1), drawing).await;
        }
    }
}

async fn draw(mut counts: watch::Receiver<Counts>) {
    let start = Instant::now();
    let mut shown = Shown::stderr();
    loop {
        let text = line(*counts.borrow_and_update(), start.elapsed(), columns());
        shown.exact(format!("\r\x1b[2K{text}").as_bytes()).await;
        tokio::select! {
            changed = counts.changed() => if changed.is_err() { break },
            // The time goes on.
            () = tokio::time::sleep(Duration::from_secs(1)) => {}
        }
    }
    let text = line(*counts.borrow(), start.elapsed(), columns());
    shown.exact(format!("\r\x1b[2K{text}\n").as_bytes()).await;
}

fn columns() -> usize {
    rustix::termios::tcgetwinsize(std::io::stderr()).map_or(80, |size| usize::from(size.ws_col).max(1))
}

/// The bar as text, no wider than the terminal.
fn line(counts: Counts, time: Duration, columns: usize) -> String {
    let Counts { total, running, done, failed } = counts;
    let some = |count: usize, what: &str| {
        if count > 0 { format!(" · {count} {what}") } else { String::new() }
    };
    let time = duration::show(Duration::from_secs(time.as_secs())).replace(".0 s", " s");
    let words = format!(" {done}/{total}{}{} · {time}", some(running, "running"), some(failed, "failed"));
    let width = columns.saturating_sub(words.chars().count() + 3).min(40);
    if width < 4 {
        return words.trim_start().chars().take(columns.saturating_sub(1)).collect();
    }
    let filled = (width * done).checked_div(total).unwrap_or(width);
    format!("[{}{}]{words}", "█".repeat(filled), "░".repeat(width - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fits_any_terminal() {
        let counts = Counts { total: 200, running: 16, done: 50, failed: 2 };
        let at = |columns| line(counts, Duration::from_secs(75), columns);
        assert_eq!(at(60), "[████░░░░░░░░░░░░░░░] 50/200 · 16 running · 2 failed · 1:15");
        for columns in 0..200 {
            assert!(at(columns).chars().count() < columns.max(1), "{columns}");
        }
        assert!(line(Counts::default(), Duration::ZERO, 80).starts_with("[█"));
    }
}
