//! What is open, drawn.

use crossterm::event::KeyCode;
use jackin_core::protocol::control::Explanation;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::detail::tag_line;
use super::panel::{CLOSE, Hint, corner, lines, panel, seen};
use super::pencil::{Pencil, tint};
use super::scene::{Scene, Target};
use super::text::{clean, typed, width, wrap};
use super::theme::Theme;
use crate::console::model::choose::Choose;
use crate::console::model::form::{Field, Form};
use crate::console::model::modal::{Ask, AskFor, Confirm, Modal, Pick, Scroll};
use crate::console::model::rows::RowKey;
use crate::console::model::runs::RunId;
use crate::console::model::{Model, age, keys};

/// Draws what is open, the last one on top.
pub(super) fn draw(buffer: &mut Buffer, screen: Rect, model: &Model, theme: Theme, scene: &mut Scene) {
    let Some(modal) = model.modals.last() else { return };
    scene.cursor = None;
    match modal {
        Modal::Help { scroll } => help(buffer, screen, *scroll, model, theme, scene),
        Modal::Choose { title, list } => choose(buffer, screen, title, list, theme, scene),
        Modal::Ask(ask_for) => ask(buffer, screen, ask_for, model, theme, scene),
        Modal::Confirm(question) => confirm(buffer, screen, question, theme, scene),
        Modal::NewAgent(form) => new_agent(buffer, screen, form, theme, scene),
        Modal::Output { run, scroll } => output(buffer, screen, *run, *scroll, model, theme, scene),
        Modal::Tags { instance, at } => tags(buffer, screen, instance, *at, model, theme, scene),
        Modal::Explain { of, told, scroll } => {
            explain(buffer, screen, of, told.as_ref(), *scroll, model, theme, scene);
        }
    }
}

/// Every key, and the team's.
fn help(buffer: &mut Buffer, screen: Rect, scroll: usize, model: &Model, theme: Theme, scene: &mut Scene) {
    let own = keys::actions().into_iter().map(|(action, keys)| (keys, action.does().to_owned()));
    let mut sections: Vec<(&str, Vec<(String, String)>)> = vec![("", own.collect())];
    let tools = model.visible_tools().into_iter().map(|tool| (tool.key.to_string(), tool.name.clone()));
    sections.push(("The team's tools", tools.collect()));
    let mouse = [
        ("click", "selects; opens a link; presses a key that is shown"),
        ("double click", "attaches"),
        ("wheel", "scrolls"),
    ];
    sections.push(("Mouse", mouse.map(|(what, does)| (what.to_owned(), does.to_owned())).to_vec()));
    let widest = sections.iter().flat_map(|(_, lines)| lines).map(|(keys, _)| width(keys)).max().unwrap_or(0);
    let room = usize::from(screen.width).saturating_sub(widest + 6).clamp(1, 60);
    let mut text: Vec<(String, Style)> = Vec::new();
    for (title, lines) in sections.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        if !title.is_empty() {
            text.extend([(String::new(), Style::new()), (title.to_owned(), theme.strong())]);
        }
        for (keys, does) in lines {
            for (line, part) in wrap(&does, room, 3).into_iter().enumerate() {
                let keys = if line == 0 { keys.as_str() } else { "" };
                text.push((format!("{keys:<widest$}  {part}"), Style::new()));
            }
        }
    }
    let columns = text.iter().map(|(line, _)| width(line)).max().unwrap_or(0) as u16;
    let size = (columns, text.len() as u16);
    let hints = [("↑", "up", KeyCode::Up), ("↓", "down", KeyCode::Down), CLOSE];
    let area = panel(buffer, screen, size, "Help", &hints, theme, scene);
    lines(buffer, area, scroll, &text, theme, scene);
}

fn choose(
    buffer: &mut Buffer,
    screen: Rect,
    title: &str,
    list: &Choose<Pick>,
    theme: Theme,
    scene: &mut Scene,
) {
    let widest = |choice: &crate::console::model::choose::Choice<Pick>| {
        width(&clean(&choice.text)) + width(&clean(&choice.hint)) + 2
    };
    let columns = list.choices.iter().map(widest).max().unwrap_or(0).clamp(30, 100) as u16;
    let rows = (list.choices.len() as u16).clamp(1, 18) + 1;
    let hints = [("Enter", "takes it", KeyCode::Enter), CLOSE];
    let area = panel(buffer, screen, (columns, rows), title, &hints, theme, scene);
    let mut pencil = Pencil::new(buffer, area, 0);
    pencil.write("> ", theme.quiet());
    let typed = pencil.write(list.filter.text(), Style::new());
    scene.cursor = Some(Position { x: typed.right().min(area.right().saturating_sub(1)), y: area.y });
    let room = usize::from(area.height.saturating_sub(1));
    scene.modal_rows = room as u16;
    let first = list.at.saturating_sub(room.saturating_sub(1));
    for (line, place) in (first..list.found.len()).take(room).enumerate() {
        let choice = &list.choices[list.found[place]];
        let row = Rect { y: area.y + 1 + line as u16, height: 1, ..area };
        scene.targets.push((row, Target::Choice(place)));
        let mut pencil = Pencil::new(buffer, row, 0);
        // What is chosen comes first; its hint has the rest, of a long one at least half.
        let half = pencil.room() / 2;
        let hint = width(&clean(&choice.hint));
        let rest = pencil.room().saturating_sub(width(&clean(&choice.text)) + 1).max(hint.min(half));
        let hint = hint.min(rest);
        pencil.column(&choice.text, pencil.room().saturating_sub(hint + 1), false, Style::new());
        pencil.skip(1);
        pencil.column(&choice.hint, hint, true, theme.quiet());
        if place == list.at {
            tint(buffer, row, theme.selected());
        }
    }
    if list.found.is_empty() {
        Pencil::new(buffer, area, 1).write("nothing fits", theme.quiet());
    }
}

fn ask(buffer: &mut Buffer, screen: Rect, ask: &Ask, model: &Model, theme: Theme, scene: &mut Scene) {
    let columns = screen.width.saturating_sub(8).min(90);
    let wide = usize::from(columns.max(1));
    let most = usize::from(screen.height.saturating_sub(6) / 2).max(1);
    let question = wrap(&ask.question, wide, most);
    let (text, (row, column)) = typed(ask.input.text(), ask.input.before().len(), wide);
    let typed_rows = text.len().clamp(1, most.max(3));
    let enter = |does| ("Enter", does, KeyCode::Enter);
    let hints: &[Hint] = match &ask.purpose {
        AskFor::Answer { .. } if ask.submits() => {
            &[enter("sends it as a line"), ("Tab", "as keys", KeyCode::Tab), CLOSE]
        }
        AskFor::Answer { .. } => &[enter("sends it as a key"), ("Tab", "as a line", KeyCode::Tab), CLOSE],
        AskFor::Send(_) => &[enter("sends"), CLOSE, ("Alt+Enter", "breaks the line", KeyCode::Null)],
        AskFor::Tool { .. } => &[enter("runs it"), CLOSE],
        AskFor::Tag { .. } => &[enter("sets it"), CLOSE],
    };
    let gap = u16::from(!question.is_empty());
    // Whoever answers has to see what can be answered.
    let taken = question.len() as u16 + 2 * gap + typed_rows as u16 + 2;
    let seen = match &ask.purpose {
        AskFor::Answer { to, .. } if is_shown(model, to) => {
            screen.height.saturating_sub(taken).min(MOST_SCREEN)
        }
        _ => 0,
    };
    let seen = seen.min(super::detail::used_rows(model) as u16);
    let gaps = gap + u16::from(seen > 0);
    let rows = question.len() as u16 + gaps + seen + typed_rows as u16;
    let area = panel(buffer, screen, (columns, rows), &ask.title, hints, theme, scene);
    if let Some(until) = ask.until {
        let left = until.since(model.now).as_millis().div_ceil(1_000);
        corner(buffer, area, &format!("{left} s left"), theme);
    }
    for (line, text) in question.iter().enumerate() {
        Pencil::new(buffer, area, line as u16).write(text, theme.wait());
    }
    let below = question.len() as u16 + gap;
    let window = Rect { y: area.y + below, height: seen.min(area.height.saturating_sub(below)), ..area };
    super::detail::rows_of_screen(buffer, window, model, theme);
    let top = question.len() as u16 + gaps + seen;
    // The line with the cursor is always in sight.
    let first = (row + 1).saturating_sub(typed_rows);
    for (line, text) in text.iter().skip(first).take(typed_rows).enumerate() {
        Pencil::new(buffer, area, top + line as u16).write(text, Style::new());
    }
    let y = (area.y + top + (row - first) as u16).min(area.bottom().saturating_sub(1));
    scene.cursor = Some(Position { x: (area.x + column as u16).min(area.right().saturating_sub(1)), y });
}

/// The most rows of a session's screen that are shown with its question.
const MOST_SCREEN: u16 = 14;

/// Whether the screen that is known is this session's.
fn is_shown(model: &Model, key: &RowKey) -> bool {
    model.preview.of.as_ref().is_some_and(|of| of.instance == key.instance && Some(of.session) == key.session)
}

fn confirm(buffer: &mut Buffer, screen: Rect, confirm: &Confirm, theme: Theme, scene: &mut Scene) {
    let columns = screen.width.saturating_sub(8).min(64);
    let text = wrap(&confirm.text, usize::from(columns.max(1)), 12);
    let hints = [("y", "yes", KeyCode::Char('y')), ("n", "no", KeyCode::Char('n'))];
    let area = panel(buffer, screen, (columns, text.len() as u16), &confirm.title, &hints, theme, scene);
    for (line, text) in text.iter().enumerate() {
        Pencil::new(buffer, area, line as u16).write(text, Style::new());
    }
}

fn new_agent(buffer: &mut Buffer, screen: Rect, form: &Form, theme: Theme, scene: &mut Scene) {
    let fields = form.fields();
    let hints = [
        ("Enter", "starts", KeyCode::Enter),
        ("↑↓", "field", KeyCode::Down),
        ("←→", "choice", KeyCode::Right),
        CLOSE,
    ];
    let columns = screen.width.saturating_sub(8).min(64);
    let size = (columns, fields.len() as u16 + 2);
    let area = panel(buffer, screen, size, "New agent", &hints, theme, scene);
    Pencil::new(buffer, area, fields.len() as u16 + 1).write(form.at.about(), theme.quiet());
    for (line, field) in fields.iter().enumerate() {
        let row = Rect { y: area.y + line as u16, height: 1, ..area };
        if line as u16 >= area.height {
            break;
        }
        scene.targets.push((row, Target::Choice(line)));
        let (name, value) = form.show(*field);
        let chosen = form.at == *field;
        let mut pencil = Pencil::new(buffer, row, 0);
        pencil.column(name, 8, false, if chosen { theme.strong() } else { theme.quiet() });
        pencil.write(if chosen { "◂ " } else { "  " }, theme.quiet());
        let cells = pencil.write(&value, if chosen { theme.strong() } else { Style::new() });
        if chosen && *field == Field::Target {
            let before = width(&clean(form.target.before())) as u16;
            let x = (cells.x + before).min(row.right().saturating_sub(1));
            scene.cursor = Some(Position { x, y: row.y });
        }
        pencil.write(if chosen { " ▸" } else { "" }, theme.quiet());
    }
}

fn output(
    buffer: &mut Buffer,
    screen: Rect,
    run: RunId,
    scroll: Scroll,
    model: &Model,
    theme: Theme,
    scene: &mut Scene,
) {
    let Some(run) = model.runs.get(run) else { return };
    let title = match &run.end {
        None => format!("{} · running {}", run.title, age::age(run.started, model.now)),
        Some((_, how)) => format!("{} · {how}", run.title),
    };
    let (copy, keep) = (("y", "copies", KeyCode::Char('y')), ("w", "saves it", KeyCode::Char('w')));
    let hints: &[Hint] = match &run.end {
        None => &[("x", "ends it", KeyCode::Char('x')), ("Esc", "hides it", KeyCode::Esc), copy, keep],
        Some(_) => &[CLOSE, copy, keep],
    };
    let size = (screen.width.saturating_sub(8), screen.height.saturating_sub(4));
    let area = panel(buffer, screen, size, &title, hints, theme, scene);
    scene.modal_lines = run.lines.len();
    let room = usize::from(area.height);
    let first = scroll.first(run.lines.len(), room);
    if run.lines.is_empty() {
        let text = if run.end.is_some() { "it printed nothing" } else { "nothing printed yet" };
        Pencil::new(buffer, area, 0).write(text, theme.quiet());
    }
    for (line, text) in run.lines.iter().skip(first).take(room).enumerate() {
        let mut pencil = Pencil::new(buffer, area, line as u16);
        super::sgr::pieces(text, |piece, style| {
            pencil.write(piece, theme.screen(style));
        });
    }
    seen(buffer, area, first + run.dropped, run.lines.len() + run.dropped, theme);
}

fn tags(
    buffer: &mut Buffer,
    screen: Rect,
    instance: &jackin_core::InstanceName,
    at: usize,
    model: &Model,
    theme: Theme,
    scene: &mut Scene,
) {
    let tags =
        model.fleet.instances.get(instance).map(|instance| instance.tags.as_slice()).unwrap_or_default();
    let rows = (tags.len() as u16).clamp(1, 16);
    let columns = screen.width.saturating_sub(8).min(96);
    let title = format!("Tags of {instance}");
    let hint = |key, does, c| (key, does, KeyCode::Char(c));
    let hints = [
        hint("a", "adds", 'a'),
        hint("e", "changes", 'e'),
        hint("u", "hides", 'u'),
        hint("s", "sets", 's'),
        CLOSE,
        hint("o", "opens", 'o'),
        hint("y", "copies", 'y'),
    ];
    let area = panel(buffer, screen, (columns, rows), &title, &hints, theme, scene);
    if tags.is_empty() {
        Pencil::new(buffer, area, 0).write("nothing was declared yet", theme.quiet());
    }
    let room = usize::from(area.height);
    let at = at.min(tags.len().saturating_sub(1));
    let first = at.saturating_sub(room.saturating_sub(1));
    for (line, (place, tag)) in tags.iter().enumerate().skip(first).take(room).enumerate() {
        let row = Rect { y: area.y + line as u16, height: 1, ..area };
        // Within the dialog a click selects; what it leads to is opened by `o`.
        let targets = scene.targets.len();
        tag_line(buffer, row, tag, theme, scene);
        scene.targets.truncate(targets);
        scene.targets.push((row, Target::Choice(place)));
        if place == at {
            tint(buffer, row, theme.selected());
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "it is shown, scrolled and aged")]
fn explain(
    buffer: &mut Buffer,
    screen: Rect,
    of: &RowKey,
    told: Option<&Result<Box<Explanation>, String>>,
    scroll: usize,
    model: &Model,
    theme: Theme,
    scene: &mut Scene,
) {
    let columns = screen.width.saturating_sub(8).min(96);
    let wide = usize::from(columns.max(1));
    let mut text: Vec<(String, Style)> = Vec::new();
    let mut add = |words: &str, style: Style| {
        text.extend(wrap(words, wide, 200).into_iter().map(|line| (line, style)));
    };
    match told {
        None => add("asking…", theme.quiet()),
        Some(Err(why)) => add(why, theme.bad()),
        Some(Ok(explanation)) => {
            let when = |at| format!("{} ago", age::age(at, model.now));
            add(&explanation.status.to_string(), theme.strong());
            add(&format!("because of {} ({})", explanation.cause, when(explanation.cause.at)), Style::new());
            if let Some(diagnosis) = &explanation.diagnosis {
                add("", Style::new());
                add(diagnosis, theme.wait());
            }
            if !explanation.considered.is_empty() {
                add("", Style::new());
                add("Also seen, and not believed:", theme.strong());
            }
            for other in &explanation.considered {
                let line = format!("{} — {} ({})", other.status, other.cause, when(other.cause.at));
                add(&line, Style::new());
                add(&format!("    {}", other.because), theme.quiet());
            }
        }
    }
    let title = format!("Why {} is said to be so", of.instance);
    let hints = [CLOSE, ("↑", "up", KeyCode::Up), ("↓", "down", KeyCode::Down)];
    let area = panel(buffer, screen, (columns, text.len() as u16), &title, &hints, theme, scene);
    lines(buffer, area, scroll, &text, theme, scene);
}
