//! What the tool commands print, for people and for programs.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Result;
use jackin_core::RoleName;
use jackin_tools::{ConfigError, Context, Placeholder, ResolvedCommand, Tool, Tools};
use serde_json::{Value, json};

use super::runner::{End, Finished};

/// The tools, by key: all of them, or those for a role.
pub(super) fn list(tools: &Tools, role: Option<&RoleName>, path: &Path, as_json: bool) -> Result<()> {
    let mut listed: Vec<&Tool> = match role {
        Some(role) => tools.visible_to(Some(role)),
        None => tools.all().iter().collect(),
    };
    listed.sort_by_key(|tool| tool.key);
    if as_json {
        return print(&listed.into_iter().map(tool_json).collect::<Value>().to_string());
    }
    if listed.is_empty() {
        return print(&format!("no tools in {}", path.display()));
    }
    let rows: Vec<[String; 4]> = listed
        .iter()
        .map(|tool| {
            let scope = tool.scope.as_ref().map_or_else(|| "any role".to_owned(), ToString::to_string);
            [tool.key.to_string(), tool.name.clone(), scope, harmless(tool.command.source().trim())]
        })
        .collect();
    let widths =
        [0, 1, 2].map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for [key, name, scope, command] in &rows {
        let [key_width, name_width, scope_width] = widths;
        let _ = writeln!(text, "{key:<key_width$}  {name:<name_width$}  {scope:<scope_width$}  {command}");
    }
    print(text.trim_end())
}

/// That a configuration is sound.
pub(super) fn checked(tools: &Tools, path: &Path, as_json: bool) -> Result<()> {
    if as_json {
        let result =
            json!({ "file": path.display().to_string(), "tools": tools.all().len(), "mistakes": [] });
        return print(&result.to_string());
    }
    let count = tools.all().len();
    let noun = if count == 1 { "tool" } else { "tools" };
    print(&format!("{}: {count} {noun}, no mistakes", path.display()))
}

/// What is wrong with a configuration, for programs.
pub(super) fn mistakes(path: &Path, error: &ConfigError) -> Result<()> {
    let mistakes: Value = error
        .mistakes()
        .iter()
        .map(|mistake| {
            json!({
                "kind": mistake.kind.code(),
                "line": mistake.place.line,
                "column": mistake.place.column,
                "text": mistake.place.text,
                "message": mistake.kind.to_string(),
                "advice": mistake.kind.advice(),
                "other_line": mistake.other.as_ref().map(|other| other.line),
            })
        })
        .collect();
    print(
        &json!({ "file": path.display().to_string(), "mistakes": mistakes, "unlisted": error.unlisted() })
            .to_string(),
    )
}

/// What would be run.
pub(super) fn dry_run(
    tool: &Tool,
    command: &ResolvedCommand,
    context: &Context,
    as_json: bool,
) -> Result<()> {
    if as_json {
        let mut result = command_json(tool, command);
        let from = context.values().map(|(placeholder, value)| {
            (placeholder.variable().to_owned(), value.provenance().to_string().into())
        });
        result["provenance"] = Value::Object(from.collect());
        return print(&result.to_string());
    }
    let mut text = format!("tool       {} {:?}\n", tool.key, tool.name);
    for (at, argument) in command.argv().enumerate() {
        let _ = writeln!(text, "{:<10} {}", format!("argv[{at}]"), quoted(argument));
    }
    for variable in &command.env {
        let from = Placeholder::ALL
            .into_iter()
            .find(|placeholder| placeholder.variable() == variable.name)
            .and_then(|placeholder| context.get(placeholder))
            .map(|value| format!("  (from {})", value.provenance()));
        let _ = writeln!(
            text,
            "env        {}={}{}",
            variable.name,
            quoted(&variable.value),
            from.unwrap_or_default()
        );
    }
    let cwd = command
        .cwd
        .as_ref()
        .map_or_else(|| "where you are".to_owned(), |cwd| quoted(&cwd.display().to_string()));
    let _ = writeln!(text, "directory  {cwd}");
    let _ = write!(text, "time limit {} s", tool.timeout.as_secs());
    print(&text)
}

/// How it went, for programs.
pub(super) fn finished(tool: &Tool, command: &ResolvedCommand, finished: &Finished) -> Result<()> {
    let mut result = command_json(tool, command);
    let (end, signal) = match finished.end {
        End::Exited(_) => ("exited", None),
        End::Signaled(signal) => ("signaled", Some(signal)),
        End::TimedOut => ("timed-out", None),
        End::Stopped => ("stopped", None),
    };
    result["end"] = end.into();
    result["exit_code"] = finished.end.exit_code().into();
    result["signal"] = signal.into();
    result["duration_ms"] = u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX).into();
    result["output"] = finished.output.text().into();
    result["cut_bytes"] = finished.output.cut.into();
    print(&result.to_string())
}

fn tool_json(tool: &Tool) -> Value {
    json!({
        "key": tool.key.to_string(),
        "name": tool.name,
        "type": if tool.prompt.is_some() { "prompt" } else { "exec" },
        "prompt": tool.prompt,
        "exec": tool.command.source(),
        "scope": tool.scope.as_ref().map(ToString::to_string),
        "timeout": tool.timeout.as_secs(),
        "shell": tool.command.needs_shell(),
        "uses": tool.command.uses().iter().map(|placeholder| placeholder.name()).collect::<Vec<_>>(),
        "line": tool.line,
    })
}

fn command_json(tool: &Tool, command: &ResolvedCommand) -> Value {
    let env = command.env.iter().map(|variable| (variable.name.to_owned(), Value::from(&*variable.value)));
    json!({
        "key": tool.key.to_string(),
        "name": tool.name,
        "argv": command.argv().collect::<Vec<_>>(),
        "env": Value::Object(env.collect()),
        "cwd": command.cwd.as_ref().map(|cwd| cwd.display().to_string()),
        "shell": command.via_shell,
        "timeout": tool.timeout.as_secs(),
    })
}

/// A value exactly, in quotes, and harmless to a terminal.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A text in one line, harmless to a terminal.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    Ok(stdout.flush()?)
}
