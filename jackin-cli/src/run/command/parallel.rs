use std::num::NonZeroUsize;

use anyhow::{Result, ensure};
use futures_util::StreamExt;
use jackin_core::run::{Stop, StopReason};

use super::progress::{Bar, Counts};
use super::signals;
use super::view::{How, Shown, View, ended, warnings};
use crate::run::{FinishedRun, RunRequest, Runner};

/// So many failures are told one by one; `jackin runs list --status failed` lists all.
const MAX_TOLD: usize = 20;

/// Does a run for every prompt, some at a time; the exit code of the first that failed. When asked to end, no more are
/// begun.
pub(super) async fn run(
    runner: &Runner,
    request: &RunRequest,
    prompts: Vec<String>,
    at_a_time: NonZeroUsize,
    json: bool,
) -> Result<u8> {
    ensure!(
        !prompts.is_empty(),
        "the file has no prompts: write one a line, or separate them by lines of `---`"
    );
    let all = signals::listen()?;
    let total = prompts.len();
    let bar = Bar::new(Counts { total, ..Counts::default() });
    let runs = prompts.into_iter().enumerate().map(|(at, prompt)| {
        let request = RunRequest { prompt, stop: Stop::new(), ..request.clone() };
        let (all, bar) = (&all, &bar);
        async move { (at, one(runner, request, all, bar, json).await) }
    });
    let mut finished: Vec<(usize, Result<Option<FinishedRun>>)> =
        futures_util::stream::iter(runs).buffer_unordered(at_a_time.get()).collect().await;
    finished.sort_by_key(|(at, _)| *at);
    let Counts { done, failed, .. } = bar.counts();
    let drawn = bar.is_drawn();
    bar.finish().await;
    if drawn && !json {
        // Without a bar, each was told when it ended.
        let runs = finished.iter().filter_map(|(_, run)| run.as_ref().ok()?.as_ref());
        for run in runs.filter(|run| run.exit_code() != 0).take(MAX_TOLD) {
            tell_end(run, "", &all).await;
        }
    }
    let line = format!("[jackin] {done} of {total} runs done, {failed} failed");
    tell(&line, &all).await;
    if let Some(reason) = all.reason() {
        return Ok(u8::try_from(reason.exit_code()).unwrap_or(1));
    }
    first_failure(finished)
}

/// One of many; none if it was not begun.
async fn one(
    runner: &Runner,
    request: RunRequest,
    all: &Stop,
    bar: &Bar,
    json: bool,
) -> Result<Option<FinishedRun>> {
    if matches!(all.reason(), Some(StopReason::Signal(_))) {
        return Ok(None);
    }
    bar.change(|counts| counts.running += 1);
    let stop = request.stop.clone();
    let run = if json {
        signals::passing_on(all, &stop, runner.run(request, &mut View::new(How::Json, false))).await
    } else {
        signals::passing_on(all, &stop, runner.run(request, &mut ())).await
    };
    let code = run.as_ref().map_or(1, FinishedRun::exit_code);
    bar.change(|counts| {
        counts.running -= 1;
        counts.done += 1;
        counts.failed += usize::from(code != 0);
    });
    if let Ok(run) = &run
        && !json
        && !bar.is_drawn()
    {
        let Counts { done, total, .. } = bar.counts();
        tell_end(run, &format!(" ({done}/{total})"), all).await;
    }
    Ok(run.map(Some)?)
}

async fn tell_end(run: &FinishedRun, count: &str, all: &Stop) {
    tell(&format!("[jackin] {}: {}{count}", run.info.run_id, ended(&run.info)), all).await;
    for warning in warnings(&run.info) {
        tell(&warning, all).await;
    }
}

async fn tell(line: &str, all: &Stop) {
    let mut shown = Shown::stderr();
    tokio::select! {
        biased;
        () = shown.line(line) => {}
        () = signals::no_patience(all) => {}
    }
}

fn first_failure(runs: Vec<(usize, Result<Option<FinishedRun>>)>) -> Result<u8> {
    for (_, run) in runs {
        if let Some(code @ 1..) = run?.map(|run| run.exit_code()) {
            return Ok(code);
        }
    }
    Ok(0)
}
