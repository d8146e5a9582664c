//! The fleet list.

use jackin_core::{AgentStatus, Attention, TagKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::columns::{Column, LEAD, bytes, columns, dollars, short};
use super::pencil::{Pencil, tint};
use super::scene::{Scene, Target};
use super::text::width;
use super::theme::Theme;
use crate::console::model::agent::{Instance, Presence, Session};
use crate::console::model::rows::{Counts, Group, Row, RowKey};
use crate::console::model::{Area, Model, age};

/// Draws the list.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, model: &Model, theme: Theme, scene: &mut Scene) {
    scene.list = area;
    if model.rows.is_empty() {
        return empty(buffer, area, model, theme);
    }
    let name = |row: &Row| match row {
        Row::Agent(key) => Some(width(&name_of(model, key))),
        _ => None,
    };
    let longest = model.rows.iter().filter_map(name).max();
    let columns = columns(usize::from(area.width), longest.unwrap_or(0));
    let (head, body) = if area.height > 2 { (1, area.height - 1) } else { (0, area.height) };
    if head == 1 {
        let mut pencil = Pencil::new(buffer, area, 0);
        pencil.column("", LEAD, false, theme.quiet());
        for (column, wide) in &columns {
            pencil.column(column.title(), *wide, column.is_right(), theme.quiet());
            pencil.skip(1);
        }
    }
    let room = usize::from(body);
    scene.first = first_row(model, room);
    let shown = model.rows.iter().enumerate().skip(scene.first).take(room);
    for (line, (place, row)) in shown.enumerate() {
        let line = line as u16 + head;
        let row_area = Rect { y: area.y + line, height: 1, ..area };
        scene.targets.push((row_area, Target::Row(place)));
        match row {
            Row::Trouble { host, why } => {
                let mut pencil = Pencil::new(buffer, area, line);
                pencil.write(" ! ", theme.bad());
                pencil.write(&format!("{host}: "), theme.bad());
                pencil.write(why, theme.bad());
            }
            Row::Group(group) => heading(buffer, area, line, group, theme),
            Row::Agent(key) => agent(buffer, area, line, key, &columns, model, theme, scene),
        }
        if place == model.cursor && !matches!(row, Row::Trouble { .. }) {
            let style = if model.area == Area::List { theme.selected() } else { theme.strong() };
            tint(buffer, row_area, style);
        }
    }
    let more = model.rows.len().saturating_sub(scene.first + room);
    if more > 0 && area.width > 12 {
        let text = format!(" {more} more ↓ ");
        let wide = width(&text) as u16;
        let corner = Rect { x: area.right() - wide, y: area.bottom() - 1, width: wide, height: 1 };
        Pencil::new(buffer, corner, 0).write(&text, theme.quiet());
    }
}

/// The first row to show: as before, unless the selection would be out of sight.
fn first_row(model: &Model, room: usize) -> usize {
    let first = model.scene.first.min(model.rows.len().saturating_sub(room));
    if model.cursor < first {
        // The head of the group comes with its first row.
        let head = model.cursor.checked_sub(1).filter(|above| matches!(model.rows[*above], Row::Group(_)));
        head.unwrap_or(model.cursor)
    } else if model.cursor >= first + room {
        model.cursor + 1 - room
    } else {
        first
    }
}

fn empty(buffer: &mut Buffer, area: Rect, model: &Model, theme: Theme) {
    let lines: &[&str] = if model.fleet.hosts.is_empty() {
        &["Looking for agents…"]
    } else if model.listing.filter.is_empty() {
        &["No agents yet.", "", "c starts one, ? shows every key."]
    } else {
        &["Nothing fits the filter.", "", "Esc clears it."]
    };
    let top = area.height.saturating_sub(lines.len() as u16) / 2;
    for (line, text) in lines.iter().enumerate() {
        let margin = usize::from(area.width).saturating_sub(width(text)) / 2;
        let mut pencil = Pencil::new(buffer, area, top + line as u16);
        pencil.skip(margin);
        pencil.write(text, if line == 0 { theme.strong() } else { theme.quiet() });
    }
}

fn heading(buffer: &mut Buffer, area: Rect, line: u16, group: &Group, theme: Theme) {
    let mut pencil = Pencil::new(buffer, area, line);
    pencil.write(if group.closed { "▸ " } else { "▾ " }, theme.quiet());
    pencil.write(if group.name.is_empty() { "(no name)" } else { &group.name }, theme.strong());
    pencil.skip(2);
    counts(&mut pencil, &group.counts, theme, false);
}

/// How many are how: `?1 ●2`, or in words.
pub(super) fn counts(pencil: &mut Pencil<'_>, counts: &Counts, theme: Theme, words: bool) {
    let at = jackin_core::Timestamp::default();
    let question = AgentStatus::Question { prompt: None, since: at };
    let crashed = AgentStatus::Crashed { exit_code: 1 };
    for (count, attention, status, word) in [
        (counts.blocked, Attention::Blocked, &question, "need you"),
        (counts.crashed, Attention::Blocked, &crashed, "crashed"),
        (counts.done, Attention::Done, &AgentStatus::idle(), "done"),
        (counts.working, Attention::Working, &AgentStatus::Busy { since: at }, "working"),
        (counts.idle, Attention::Idle, &AgentStatus::idle(), "idle"),
        (counts.unknown, Attention::Unknown, &AgentStatus::Unknown, "unknown"),
    ] {
        if count > 0 {
            let (glyph, style) = theme.state(attention, status);
            let text = if words { format!("{glyph} {count} {word}") } else { format!("{glyph}{count}") };
            pencil.write(&text, style);
            pencil.skip(if words { 2 } else { 1 });
        }
    }
}

/// The name that a row goes by: its instance's, and which of several sessions it is.
pub(super) fn name_of(model: &Model, key: &RowKey) -> String {
    let several =
        model.fleet.instances.get(&key.instance).is_some_and(|instance| instance.sessions.len() > 1);
    match key.session {
        Some(session) if several => format!("{}·{session}", key.instance),
        _ => key.instance.to_string(),
    }
}

#[expect(clippy::too_many_arguments, reason = "one row is everything that a row needs")]
fn agent(
    buffer: &mut Buffer,
    area: Rect,
    line: u16,
    key: &RowKey,
    columns: &[(Column, usize)],
    model: &Model,
    theme: Theme,
    scene: &mut Scene,
) {
    let Some(instance) = model.fleet.instances.get(&key.instance) else { return };
    let session = key.session.and_then(|id| instance.sessions.get(&id));
    let (attention, status, since) = state(instance, session);
    let (glyph, style) = match &instance.presence {
        Presence::Silent(_) => ("!", theme.bad()),
        _ => theme.state(attention, &status),
    };
    scene.ages(since, model.now);
    let mut pencil = Pencil::new(buffer, area, line);
    pencil.column(&format!(" {glyph}"), 2, false, style);
    pencil.column(&age::age(since, model.now), 5, true, style);
    pencil.skip(1);
    for (column, wide) in columns {
        let wide = *wide;
        match column {
            Column::Name => {
                let name = name_of(model, key);
                let muted = model.is_muted(&key.instance, key.session);
                let style = if attention >= Attention::Done { theme.strong() } else { Style::new() };
                let style = if muted { style.add_modifier(Modifier::DIM | Modifier::ITALIC) } else { style };
                pencil.column(&name, wide, false, style);
            }
            Column::Agent => {
                let agent = session.and_then(|session| session.agent.as_deref());
                let agent = agent.or_else(|| instance.planned_agent()).unwrap_or("");
                pencil.column(agent, wide, false, theme.quiet());
            }
            Column::Branch => {
                pencil.column(instance.branch().unwrap_or(""), wide, false, Style::new());
            }
            Column::Pull => pull(&mut pencil, wide, instance, model, theme, scene),
            Column::Issue => {
                let issue = instance.latest(&TagKind::Issue);
                let text = issue.map(|tag| number_of(&tag.value)).unwrap_or_default();
                let cells = pencil.column(&text, wide, false, theme.link());
                if let Some(tag) = issue {
                    scene.link(cells, &tag.value);
                }
            }
            Column::Hint => {
                let (text, style) = hint(instance, session, &status, style, theme);
                pencil.column(&text, wide, false, style);
            }
            Column::Cpu => {
                let percent = session.and_then(|session| session.load?.percent);
                pencil.column(
                    &percent.map_or_else(String::new, |p| format!("{p:.0}%")),
                    wide,
                    true,
                    theme.quiet(),
                );
            }
            Column::Memory => {
                let memory = session.and_then(|session| session.load).map(|load| bytes(load.memory));
                pencil.column(&memory.unwrap_or_default(), wide, true, theme.quiet());
            }
            Column::Tokens => {
                let tokens = session.and_then(|session| session.usage).map(|usage| {
                    let parts = [usage.input_tokens, usage.cached_tokens, usage.output_tokens];
                    short(parts.into_iter().flatten().fold(0, u64::saturating_add))
                });
                pencil.column(&tokens.unwrap_or_default(), wide, true, theme.quiet());
            }
            Column::Cost => {
                let cost = session.and_then(|session| session.usage?.cost_usd).map(dollars);
                pencil.column(&cost.unwrap_or_default(), wide, true, theme.quiet());
            }
        }
        pencil.skip(1);
    }
}

/// What a row shows, and since when.
pub(super) fn state(
    instance: &Instance,
    session: Option<&Session>,
) -> (Attention, AgentStatus, jackin_core::Timestamp) {
    match session {
        Some(session) => (session.attention, session.status.clone(), session.since),
        None => (instance.attention(), instance.status(), instance.since),
    }
}

fn pull(
    pencil: &mut Pencil<'_>,
    wide: usize,
    instance: &Instance,
    model: &Model,
    theme: Theme,
    scene: &mut Scene,
) {
    let Some(tag) = instance.latest(&TagKind::Pr) else {
        return pencil.skip(wide);
    };
    let number = number_of(&tag.value);
    let cells = pencil.write_within(&number, wide, theme.link());
    scene.link(cells, &tag.value);
    let left = wide.saturating_sub(usize::from(cells.width));
    let Some(pull) = model.pulls.get(&tag.value) else {
        return pencil.skip(left);
    };
    let (text, style) = match (pull.state.as_deref(), pull.checks) {
        (Some("merged"), _) => (" merged".to_owned(), theme.good()),
        (Some("closed"), _) => (" closed".to_owned(), theme.quiet()),
        (_, Some(checks)) if checks.failed > 0 => (format!(" ✗{}", checks.failed), theme.bad()),
        (_, Some(checks)) if checks.pending > 0 => (format!(" …{}", checks.pending), theme.wait()),
        (_, Some(_)) => (" ✓".to_owned(), theme.good()),
        (Some(state), None) => (format!(" {state}"), theme.quiet()),
        (None, None) => (String::new(), theme.quiet()),
    };
    pencil.column(&text, left, false, style);
}

/// `#42` of a link that ends in a number.
fn number_of(link: &str) -> String {
    let last = link.trim_end_matches('/').rsplit('/').next().unwrap_or(link);
    let digits = last.split(['?', '#']).next().unwrap_or(last);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { format!("#{digits}") } else { last.to_owned() }
}

/// What an agent is about, in a few words: its question, its trouble, its own hint, or its title.
fn hint(
    instance: &Instance,
    session: Option<&Session>,
    status: &AgentStatus,
    state: Style,
    theme: Theme,
) -> (String, Style) {
    match (&instance.presence, session.and_then(Session::question)) {
        (Presence::Silent(why), _) => return (why.clone(), theme.bad()),
        (Presence::Starting, _) => return ("is being made".to_owned(), theme.quiet()),
        (_, Some(question)) => return (question.to_owned(), state),
        _ => {}
    }
    match status {
        AgentStatus::Crashed { .. } | AgentStatus::OomKilled | AgentStatus::Ended { .. } => {
            return (status.to_string(), state);
        }
        AgentStatus::Idle { error: Some(error) } => return (format!("failed: {error}"), theme.bad()),
        _ => {}
    }
    if let Some(tag) = instance.latest(&TagKind::Status) {
        return (tag.value.clone(), Style::new());
    }
    (session.map_or_else(String::new, |session| session.title.clone()), theme.quiet())
}
