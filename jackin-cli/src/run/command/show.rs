use anyhow::Result;
use jackin_core::one_line;
use serde_json::{Value, json};

use super::view::ended;
use crate::capsule::{print_line, printable};
use crate::run::{FoundRun, bus};

/// Shows what is known of a run.
pub(super) fn show(run: &FoundRun, json: bool) -> Result<u8> {
    if json {
        print_line(&to_json(run).to_string())?;
        return Ok(0);
    }
    let info = &run.info;
    let line = |name: &str, value: &str| {
        if value.is_empty() { Ok(()) } else { print_line(&format!("{name:<10} {}", one_line(value, 2_000))) }
    };
    line("run", info.run_id.as_str())?;
    line("status", run.standing())?;
    match &info.live {
        Some(live) if run.alive => line("agent is", &format!("{} ({})", live.status, live.cause))?,
        _ => {}
    }
    line("agent", &format!("{} {}", info.agent, info.agent_version))?;
    line("task", &format!("{}/{}", info.project_id, info.task_id))?;
    line("parent", info.parent_run_id.as_ref().map(jackin_core::RunId::as_str).unwrap_or_default())?;
    line("command", &info.commandline)?;
    line("cwd", &info.cwd)?;
    if let Some(container) = &info.container {
        let told = format!("{} of {} on {}", container.name, container.image, container.address);
        line("container", &told)?;
    }
    line("started", &info.start_time.to_string())?;
    if info.end_time.is_some() {
        line("ended", &printable(&ended(info)))?;
        line("exit code", &info.exit_code.to_string())?;
    }
    for warning in &info.warnings {
        line("warning", warning)?;
    }
    for (kind, values) in &info.tags {
        for value in values {
            line(kind, value)?;
        }
    }
    let files = [
        run.layout.prompt(),
        run.layout.stdout(),
        run.layout.stderr(),
        run.layout.output(),
        run.layout.info(),
    ];
    for file in files {
        let size = std::fs::symlink_metadata(&file).map(|found| format!("{} bytes", found.len()));
        print_line(&format!("{:>14}  {}", size.unwrap_or_else(|_| "missing".to_owned()), file.display()))?;
    }
    for message in bus::read(&run.layout.task().bus())? {
        if message.run_id == info.run_id.as_str() {
            print_line(&printable(&format!("{}  {}", message.ts, one_line(&message.kind, 40))))?;
        }
    }
    Ok(0)
}

/// The record, and what is not in it.
pub(super) fn to_json(run: &FoundRun) -> Value {
    let mut value = serde_json::to_value(&run.info).unwrap_or_default();
    value["folder"] = json!(run.layout.folder());
    value["standing"] = json!(run.standing());
    value
}
