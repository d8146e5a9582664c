//! Everything about the selected agent: what it asks, why it is said to be so, what it declared, its screen, and what
//! happened lately.

use jackin_core::protocol::control::{Provider, TagEntry};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::list::{counts, name_of, state};
use super::pencil::{Pencil, tint};
use super::scene::{Scene, Target};
use super::sgr;
use super::text::{clean, width, wrap};
use super::theme::Theme;
use crate::console::model::agent::{Instance, Presence, Session};
use crate::console::model::rows::Row;
use crate::console::model::{Area, Model, Selected, age};

/// The fewest lines of a screen that are worth showing.
const LEAST_SCREEN: u16 = 3;

/// Draws the details. `side` says whether they stand beside the list or below it.
pub(super) fn draw(
    buffer: &mut Buffer,
    area: Rect,
    side: bool,
    model: &Model,
    theme: Theme,
    scene: &mut Scene,
) {
    scene.detail = area;
    let inner = frame(buffer, area, side, model, theme, scene);
    match (&model.selected, model.instance()) {
        (Selected::Agent(_), Some(instance)) => agent(buffer, inner, instance, model, theme, scene),
        (Selected::Group(name), _) => group(buffer, inner, name, model, theme),
        _ => {}
    }
}

/// The line between list and details, with what the details are about.
fn frame(
    buffer: &mut Buffer,
    area: Rect,
    side: bool,
    model: &Model,
    theme: Theme,
    scene: &mut Scene,
) -> Rect {
    let rule = "─".repeat(usize::from(area.width));
    Pencil::new(buffer, area, 0).write(&rule, theme.quiet());
    let mut left = area;
    if side {
        for line in 0..area.height {
            Pencil::new(buffer, area, line).write("│", theme.quiet());
        }
        Pencil::new(buffer, area, 0).write("┬", theme.quiet());
        left = Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area };
    }
    let mut pencil = Pencil::new(buffer, left, 0);
    if !side {
        pencil.write("──", theme.quiet());
    }
    let focus = if model.area == Area::Detail { theme.selected() } else { theme.strong() };
    if let (Some(key), Some(instance)) = (model.key(), model.instance()) {
        let session = model.session();
        let (attention, status, since) = state(instance, session);
        let (glyph, style) = theme.state(attention, &status);
        pencil.write(&format!(" {} ", name_of(model, key)), focus);
        let agent = session.and_then(|session| session.agent.as_deref());
        if let Some(agent) = agent {
            pencil.write(&format!("· {agent} "), Style::new());
        }
        pencil.write(&format!("{glyph} {}", status.word()), style);
        pencil.write(&format!(" {} ", age::age(since, model.now)), style);
        scene.ages(since, model.now);
        if session.is_some_and(|session| session.recording.is_some()) {
            pencil.write("● rec ", theme.bad());
        }
        if model.is_muted(&key.instance, key.session) {
            pencil.write("muted ", theme.quiet());
        }
        if model.config.hosts.len() > 1 || instance.host != crate::host::LOCAL {
            pencil.write(&format!("on {} ", instance.host), theme.quiet());
        }
        let cause = session.map(|session| session.cause.to_string()).unwrap_or_default();
        if pencil.room() > 16 && !cause.is_empty() {
            pencil.write(&format!("({cause}"), theme.quiet());
            if pencil.room() > 0 {
                pencil.write(") ", theme.quiet());
            }
        }
    } else if let Selected::Group(name) = &model.selected {
        pencil.write(&format!(" {name} "), focus);
    }
    Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..left }
}

fn group(buffer: &mut Buffer, area: Rect, name: &str, model: &Model, theme: Theme) {
    let found = model.rows.iter().find_map(|row| match row {
        Row::Group(group) if group.name == name => Some(group),
        _ => None,
    });
    if let Some(group) = found {
        counts(&mut Pencil::new(buffer, area, 0), &group.counts, theme, true);
        let word = if group.closed { "Right opens the group." } else { "Left closes the group." };
        Pencil::new(buffer, area, 2).write(word, theme.quiet());
    }
}

/// What is left of an area below so many lines.
fn below(area: Rect, lines: u16) -> Rect {
    let lines = lines.min(area.height);
    Rect { y: area.y + lines, height: area.height - lines, ..area }
}

fn agent(
    buffer: &mut Buffer,
    mut area: Rect,
    instance: &Instance,
    model: &Model,
    theme: Theme,
    scene: &mut Scene,
) {
    let session = model.session();
    area = below(area, question(buffer, area, instance, session, theme));
    let wants_screen =
        model.show_preview && (session.is_some() || matches!(instance.presence, Presence::Ended(_)));
    let reserve = if wants_screen { LEAST_SCREEN + 1 } else { 0 };
    area = below(area, tags(buffer, area, reserve, instance, model, theme, scene));
    // What happened lately has its place where there is plenty, or where nobody wants the screen.
    let lately = match (wants_screen, area.height) {
        (false, height) => height,
        (true, height) if height >= 14 => (height / 4).min(8),
        _ => 0,
    };
    let (screen, recent) = (Rect { height: area.height - lately, ..area }, below(area, area.height - lately));
    if wants_screen {
        preview(buffer, screen, instance, model, theme, scene);
    }
    happened(buffer, recent, instance, session, model, theme, scene);
}

/// The question in full, or what went wrong; how many lines that took.
fn question(
    buffer: &mut Buffer,
    area: Rect,
    instance: &Instance,
    session: Option<&Session>,
    theme: Theme,
) -> u16 {
    use jackin_core::AgentStatus;
    let columns = usize::from(area.width).saturating_sub(2);
    let most = usize::from(area.height.saturating_sub(LEAST_SCREEN)).max(1);
    let (text, style) = match (&instance.presence, session) {
        (Presence::Silent(why), _) => (format!("It does not answer: {why}. It is tried again."), theme.bad()),
        (Presence::Starting, _) => return 0,
        (Presence::Ended(ending), _) => {
            let how = ending.status();
            let advice = if ending.is_kept() { " R starts it again, e takes it away." } else { "" };
            (format!("The instance has ended: {how}.{advice}"), theme.bad())
        }
        (Presence::Running, Some(session)) => match (&session.status, session.question()) {
            (_, Some(question)) => (question.to_owned(), theme.wait()),
            (AgentStatus::Crashed { .. } | AgentStatus::OomKilled, _) => (
                format!("It {}. R starts it again, Space clears it.", how_it_ended(&session.status)),
                theme.bad(),
            ),
            (AgentStatus::Idle { error: Some(error) }, _) => {
                (format!("The last turn failed: {error}"), theme.bad())
            }
            _ => return 0,
        },
        _ => return 0,
    };
    let lines = wrap(text.trim(), columns, most);
    for (line, text) in lines.iter().enumerate() {
        let mut pencil = Pencil::new(buffer, area, line as u16);
        pencil.write("▌ ", style);
        pencil.write(text, style);
    }
    lines.len() as u16
}

fn how_it_ended(status: &jackin_core::AgentStatus) -> String {
    match status {
        jackin_core::AgentStatus::OomKilled => "used too much memory and was killed".to_owned(),
        other => other.to_string(),
    }
}

/// What was declared, with who says so; how many lines that took.
fn tags(
    buffer: &mut Buffer,
    area: Rect,
    reserve: u16,
    instance: &Instance,
    model: &Model,
    theme: Theme,
    scene: &mut Scene,
) -> u16 {
    let all = &instance.tags;
    let most = usize::from(area.height.saturating_sub(reserve)).min(if reserve > 0 { 6 } else { 64 });
    let shown = all.len().min(most);
    if shown == 0 {
        return 0;
    }
    // The selected one is in sight, and otherwise the latest are.
    let first = if model.area == Area::Detail {
        model.detail_at.saturating_sub(shown - 1).min(all.len() - shown)
    } else {
        all.len() - shown
    };
    for (line, (place, tag)) in all.iter().enumerate().skip(first).take(shown).enumerate() {
        let line = line as u16;
        let row = Rect { y: area.y + line, height: 1, ..area };
        scene.targets.push((row, Target::Tag(place)));
        tag_line(buffer, row, tag, theme, scene);
        if model.area == Area::Detail && place == model.detail_at {
            tint(buffer, row, theme.selected());
        }
    }
    shown as u16
}

/// `pr     https://…  operator`
pub(super) fn tag_line(buffer: &mut Buffer, row: Rect, tag: &TagEntry, theme: Theme, scene: &mut Scene) {
    let mut pencil = Pencil::new(buffer, row, 0);
    pencil.column(tag.kind.as_str(), 7, false, theme.quiet());
    let is_link = tag.value.starts_with("http");
    let who = match tag.provider {
        Provider::Agent => "  agent",
        Provider::Operator => "  operator",
    };
    let room = pencil.room().saturating_sub(width(who));
    let cells = pencil.write_within(&tag.value, room, if is_link { theme.link() } else { Style::new() });
    if is_link {
        scene.link(cells, &tag.value);
    }
    let style = if tag.provider == Provider::Operator { theme.strong() } else { theme.quiet() };
    pencil.write(who, style);
}

/// The session's screen, its lower part where not all of it fits.
fn preview(
    buffer: &mut Buffer,
    area: Rect,
    instance: &Instance,
    model: &Model,
    theme: Theme,
    scene: &mut Scene,
) {
    if area.height == 0 {
        return;
    }
    scene.targets.push((area, Target::Preview));
    if let Presence::Ended(ending) = &instance.presence {
        let last = ending.record.as_ref().and_then(|record| record.sessions.last());
        // Blank rows below what was printed would push it out of a low area.
        let lines: Vec<&str> =
            last.map(|session| session.screen.trim_end().lines().collect()).unwrap_or_default();
        let first = lines.len().saturating_sub(usize::from(area.height));
        for (line, text) in lines[first..].iter().enumerate() {
            Pencil::new(buffer, area, line as u16).write(&clean(text), theme.quiet());
        }
        return;
    }
    if let Some(problem) = model.preview.problem.as_ref().filter(|_| model.preview.rows.is_empty()) {
        Pencil::new(buffer, area, 0).write(&format!("no screen: {problem}"), theme.quiet());
        return;
    }
    rows_of_screen(buffer, area, model, theme);
}

/// How many rows of the watched screen have something on them.
pub(super) fn used_rows(model: &Model) -> usize {
    model.preview.rows.iter().rposition(|row| !is_blank(row)).map_or(0, |at| at + 1)
}

/// The last rows of the watched screen that fit.
pub(super) fn rows_of_screen(buffer: &mut Buffer, area: Rect, model: &Model, theme: Theme) {
    let used = used_rows(model);
    let first = used.saturating_sub(usize::from(area.height));
    for (line, row) in model.preview.rows[first..used].iter().enumerate() {
        let mut pencil = Pencil::new(buffer, area, line as u16);
        sgr::pieces(row, |text, style| {
            // Cut at the edge without an ellipsis, as a window would be.
            let room = pencil.room();
            if room > 0 {
                let text = clean(text);
                pencil.write_within(fit(&text, room), room, theme.screen(style));
            }
        });
    }
}

fn is_blank(row: &str) -> bool {
    let mut blank = true;
    sgr::pieces(row, |text, style| {
        blank &= text.chars().all(char::is_whitespace)
            && style.bg.is_none()
            && !style.add_modifier.contains(Modifier::REVERSED);
    });
    blank
}

/// As much of a clean text as fits.
fn fit(text: &str, columns: usize) -> &str {
    use unicode_segmentation::UnicodeSegmentation;
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += width(grapheme);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

fn happened(
    buffer: &mut Buffer,
    area: Rect,
    instance: &Instance,
    session: Option<&Session>,
    model: &Model,
    theme: Theme,
    scene: &mut Scene,
) {
    if area.height == 0 {
        return;
    }
    let of_it = instance.recent.iter().rev().filter(|recent| {
        recent.session.is_none() || session.is_none_or(|session| recent.session == Some(session.id))
    });
    for (line, recent) in of_it.take(usize::from(area.height)).enumerate() {
        let mut pencil = Pencil::new(buffer, area, line as u16);
        pencil.column(&age::age(recent.at, model.now), 4, true, theme.quiet());
        pencil.skip(1);
        pencil.write(&recent.what, theme.quiet());
        scene.ages(recent.at, model.now);
    }
}
