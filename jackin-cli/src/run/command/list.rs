use std::io::{self, Write};

use anyhow::Result;
use jackin_core::one_line;

use super::duration;
use super::runs::ListArgs;
use crate::capsule::print_line;
use crate::run::{FoundRun, Store, clock};

/// Lists runs.
pub(super) fn list(store: &Store, wanted: &ListArgs, json: bool) -> Result<u8> {
    let (mut runs, bad) = store.runs()?;
    for error in &bad {
        writeln!(io::stderr(), "[jackin] {}", one_line(&error.to_string(), 500))?;
    }
    runs.retain(|run| {
        let task = run.layout.task();
        wanted.project.as_ref().is_none_or(|project| project == task.project())
            && wanted.task.as_ref().is_none_or(|id| id == task.task())
            && wanted.status.as_ref().is_none_or(|status| status == run.standing())
    });
    if json {
        return runs
            .iter()
            .try_for_each(|run| print_line(&super::show::to_json(run).to_string()))
            .map(|()| 0);
    }
    let rows: Vec<[String; 6]> = runs.iter().map(row).collect();
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        print_line(cells.join("  ").trim_end())?;
    }
    Ok(0)
}

fn row(run: &FoundRun) -> [String; 6] {
    let info = &run.info;
    let end = info.end_time.unwrap_or_else(clock::now);
    let note = match &info.live {
        Some(live) if run.alive => live.status.clone(),
        _ if run.is_abandoned() => "its runner has died: `jackin runs gc`".to_owned(),
        _ => info.error_summary.clone(),
    };
    [
        info.run_id.to_string(),
        run.standing().to_owned(),
        one_line(&info.agent, 20),
        format!("{}/{}", info.project_id, info.task_id),
        duration::show(end.since(info.start_time)),
        one_line(&note, 80),
    ]
}
