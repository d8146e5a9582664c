//! Answers and events in words for a person.

use jackin_core::protocol::control::{
    Explanation, OverrideAction, Overrides, Provider, Resources, ScreenRows, SessionResources, Status,
    TagEntry, TagOverride, Tags,
};
use jackin_core::{AgentStatus, Event, EventKind};

use super::super::output::printable;

pub(super) fn table(status: &Status) -> String {
    let mut lines = vec![format!(
        "instance {} (pid {}, {}, {})",
        status.instance,
        status.pid,
        status.attention,
        if status.attached { "attached" } else { "detached" }
    )];
    for session in &status.sessions {
        lines.push(format!(
            "  {:>3}  {:<8} {}  {}  ({})",
            session.id, session.attention, session.title, session.status, session.cause
        ));
    }
    lines.join("\n")
}

pub(crate) fn explain(explanation: &Explanation) -> String {
    let mut lines = vec![format!("{}  ({})", explanation.status, explanation.cause)];
    lines.extend(explanation.diagnosis.clone());
    for considered in &explanation.considered {
        lines.push(format!("  not {}  ({}): {}", considered.status, considered.cause, considered.because));
    }
    lines.join("\n")
}

pub(crate) fn tag_lines(tags: &Tags) -> String {
    let line = |entry: &TagEntry| {
        let by = match entry.provider {
            Provider::Agent => "agent",
            Provider::Operator => "operator",
        };
        format!("{:<7} {}  ({by})", entry.kind, entry.value)
    };
    tags.tags.iter().map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn override_lines(overrides: &Overrides) -> String {
    let line = |tag: &TagOverride| {
        let done = match tag.action {
            OverrideAction::Set => "set",
            OverrideAction::Unset => "hidden",
        };
        format!("{done:<6} {:<7} {}", tag.kind, tag.value)
    };
    overrides.overrides.iter().map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn resource_lines(used: &Resources) -> String {
    let line = |used: &SessionResources| {
        let SessionResources { session_id, cpu_ms, memory, processes } = used;
        let (seconds, mib) = (*cpu_ms as f64 / 1e3, *memory as f64 / f64::from(1 << 20));
        format!("{session_id:>5}  {seconds:>8.2} s  {mib:>8.1} MiB  {processes:>3} processes")
    };
    used.sessions.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Rows with their numbers, counted from 1.
pub(super) fn row_lines(rows: &ScreenRows) -> String {
    let lines = rows.rows.iter().map(|(row, text)| format!("{:>3} {}", row + 1, styled(text)));
    lines.collect::<Vec<_>>().join("\n")
}

/// A text of which nothing but colours and attributes reaches the terminal.
pub(super) fn styled(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        safe.push_str(&printable(&rest[..at]));
        rest = &rest[at + 1..];
        let sgr = rest.strip_prefix('[').and_then(|rest| {
            let end = rest.find(|c: char| !matches!(c, '0'..='9' | ';' | ':'))?;
            rest[end..].starts_with('m').then(|| &rest[..=end])
        });
        if let Some(sgr) = sgr {
            safe.push_str("\x1b[");
            safe.push_str(sgr);
            rest = &rest[1 + sgr.len()..];
        }
    }
    safe.push_str(&printable(rest));
    safe
}

/// An event in one line, for a person.
pub(crate) fn describe(event: &Event) -> String {
    let what = match &event.kind {
        EventKind::SessionStarted { session_id, title } => format!("session {session_id} started: {title}"),
        EventKind::SessionEnded { session_id, status } => format!("session {session_id} ended: {status}"),
        EventKind::AllSessionsEnded => "all sessions ended".to_owned(),
        // Whoever has ended is idle for those who count, and not for those who read.
        EventKind::AgentStateChanged {
            session_id,
            status: status @ AgentStatus::Ended { .. },
            cause,
            ..
        } => {
            format!("session {session_id} {status} [{cause}]")
        }
        EventKind::AgentStateChanged { session_id, state, status, cause } => {
            format!("session {session_id} {state}: {status} [{cause}]")
        }
        EventKind::TagObserved { session_id, tag, plain } => {
            let how = if *plain { " in what it printed" } else { "" };
            format!("session {session_id} declared{how} {}: {}", tag.kind, tag.value)
        }
        EventKind::TagOverridden { kind, value, action } => {
            let done = if *action == OverrideAction::Set { "set" } else { "hid" };
            format!("the operator {done} {kind}: {value}")
        }
        EventKind::TitleChanged { session_id, title } => format!("session {session_id} title: {title}"),
        EventKind::UsageUpdated { session_id, usage } => {
            let tokens = usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0));
            format!("session {session_id} used {tokens} tokens")
        }
        EventKind::Bell { session_id } => format!("session {session_id} rang the bell"),
        EventKind::RecordingStarted { session_id, path } => {
            format!("session {session_id} is recorded to {path}")
        }
        EventKind::RecordingEnded { session_id, path, trouble: None } => {
            format!("the recording of session {session_id} is complete: {path}")
        }
        EventKind::RecordingEnded { session_id, path, trouble: Some(trouble) } => {
            format!("the recording of session {session_id} ended early ({trouble}): {path}")
        }
        EventKind::ClientAttached => "a terminal attached".to_owned(),
        EventKind::ClientDetached => "the terminal detached".to_owned(),
        _ => "something that this version does not know".to_owned(),
    };
    // Titles and questions are an agent's words.
    printable(&what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_no_idleness() {
        let told = |status: &str| {
            let event = format!(
                r#"{{"seq":3,"at":1000,"instance":"api","event":"agent-state-changed","session_id":1,{status},"cause":{{"source":"process","evidence":"x","at":1000}}}}"#
            );
            describe(&serde_json::from_str(&event).unwrap())
        };
        let ended = r#""state":"idle","status":{"kind":"ended","exit_code":129}"#;
        assert_eq!(told(ended), "session 1 ended (stopped, exit code 129) [process: x]");
        let crashed = r#""state":"blocked","status":{"kind":"crashed","exit_code":3}"#;
        assert_eq!(told(crashed), "session 1 blocked: crashed (exit code 3) [process: x]");
        let idle = r#""state":"idle","status":{"kind":"idle"}"#;
        assert_eq!(told(idle), "session 1 idle: idle [process: x]");
    }

    #[test]
    fn only_colours_pass() {
        assert_eq!(styled("a \x1b[1;38:2::1:2:3mb\x1b[m c\n"), "a \x1b[1;38:2::1:2:3mb\x1b[m c\n");
        assert_eq!(styled("\x1b]52;c;eA==\x07x\x1b[2Jy\x1b[?1049hz\x1b"), "]52;c;eA== x[2Jy[?1049hz");
        assert_eq!(styled("\x1b[31\u{9b}2J"), "[31 2J");
    }
}
