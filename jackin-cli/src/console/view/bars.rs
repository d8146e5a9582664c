//! The line at the top and the lines at the bottom.

use jackin_tools::ConsoleAction;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::list::counts;
use super::pencil::{Pencil, tint};
use super::scene::{Scene, Target};
use super::text::{cut, width, wrap};
use super::theme::Theme;
use crate::config::Grouping;
use crate::console::model::Model;
use crate::console::model::agent::Presence;
use crate::console::model::keys::key_of;
use crate::console::model::rows::Sort;

/// What the whole fleet does.
pub(super) fn top(buffer: &mut Buffer, area: Rect, model: &Model, theme: Theme) {
    let mut pencil = Pencil::new(buffer, area, 0);
    pencil.write(" jackin ", theme.strong());
    pencil.skip(1);
    let all = model.counts.all();
    let noun = if all == 1 { "agent" } else { "agents" };
    pencil.write(&format!("{all} {noun}  "), Style::new());
    let words = area.width >= 70;
    counts(&mut pencil, &model.counts, theme, words);
    let mut notes = Vec::new();
    if model.runs.running() > 0 {
        notes.push(format!(
            "{} running",
            if model.runs.running() == 1 {
                "1 tool".to_owned()
            } else {
                format!("{} tools", model.runs.running())
            }
        ));
    }
    if !model.listing.filter.is_empty() {
        notes.push(format!("filter {}", model.listing.filter));
    }
    if model.listing.sort != Sort::default() {
        notes.push(format!("sorted by {}", model.listing.sort.word()));
    }
    if model.listing.grouping == Grouping::Host {
        notes.push("grouped by host".to_owned());
    }
    let note = format!("{} ", notes.join(" · "));
    let room = pencil.room();
    let note = cut(&note, room.saturating_sub(1));
    pencil.skip(room.saturating_sub(width(&note)));
    pencil.write(&note, Style::new());
    tint(buffer, area, theme.selected());
}

/// The most lines that a message takes.
const MOST_LINES: u16 = 4;

/// How many lines the bottom takes.
pub(super) fn bottom_rows(model: &Model, screen: Rect) -> u16 {
    let tools = u16::from(screen.height >= 8 && !model.visible_tools().is_empty());
    tools + said(model, screen).len().max(1) as u16
}

/// What the operator is told, in as many lines as that takes.
fn said(model: &Model, screen: Rect) -> Vec<String> {
    let most = MOST_LINES.min(screen.height / 4).max(1);
    let told = model.message.as_ref().filter(|_| model.filtering.is_none());
    told.map_or_else(Vec::new, |message| {
        wrap(&message.text, usize::from(screen.width.saturating_sub(2)), usize::from(most))
    })
}

/// The tools on their keys, and a line for messages, the filter, or the most useful keys.
pub(super) fn bottom(buffer: &mut Buffer, area: Rect, model: &Model, theme: Theme, scene: &mut Scene) {
    let said = said(model, *buffer.area());
    if usize::from(area.height) > said.len().max(1) {
        let mut pencil = Pencil::new(buffer, area, 0);
        for tool in model.visible_tools() {
            let key = tool.key.to_string();
            // A name that does not fit as a whole would look like another one.
            if pencil.room() < width(&key) + width(&super::text::clean(&tool.name)) + 3 {
                pencil.write("…", theme.quiet());
                break;
            }
            let start = pencil.write(&format!(" {key} "), theme.key());
            let name = pencil.write(&format!(" {} ", tool.name), Style::new());
            let cells = Rect { width: start.width + name.width, ..start };
            scene.targets.push((cells, Target::Tool(tool.key)));
        }
    }
    let line = area.height.saturating_sub(1);
    if let Some(filter) = &model.filtering {
        let mut pencil = Pencil::new(buffer, area, line);
        pencil.write("/", theme.strong());
        let before = pencil.write(filter.before(), Style::new());
        scene.cursor = Some(Position { x: before.right().min(area.right().saturating_sub(1)), y: before.y });
        let after = &filter.text()[filter.before().len()..];
        pencil.write(after, Style::new());
        pencil.write("  Enter keeps it, Esc clears it", theme.quiet());
    } else if let Some(message) = &model.message {
        let style = if message.bad { theme.bad() } else { Style::new() };
        let first = area.height.saturating_sub(said.len() as u16);
        for (line, text) in said.iter().enumerate() {
            Pencil::new(buffer, area, first + line as u16).write(&format!(" {text}"), style);
        }
    } else {
        hints(buffer, area, line, model, theme, scene);
    }
}

fn hints(buffer: &mut Buffer, area: Rect, line: u16, model: &Model, theme: Theme, scene: &mut Scene) {
    use ConsoleAction as A;
    let asks = model.session().is_some_and(|session| session.question().is_some());
    let selected = model.key().is_some();
    let over = match (model.session(), model.instance()) {
        (Some(session), _) => session.status.is_over(),
        (None, Some(instance)) => matches!(instance.presence, Presence::Ended(_)),
        (None, None) => false,
    };
    let offered = [
        (selected && !over, A::Attach, "attach"),
        (asks, A::Answer, "answer"),
        (over, A::Restart, "restart"),
        (over, A::Eject, "eject"),
        (selected && !asks && !over, A::Send, "send"),
        (true, A::NewAgent, "new"),
        (selected, A::OpenLink, "open"),
        (true, A::Filter, "filter"),
        (selected, A::RepairTags, "tags"),
        (true, A::Palette, "commands"),
    ];
    let mut pencil = Pencil::new(buffer, area, line);
    let mut offer = |action, word: &str, reserve: usize| {
        let Some(key) = key_of(action) else { return };
        if pencil.room() >= width(&key) + width(word) + 3 + reserve {
            let start = pencil.write(&format!(" {key} "), theme.strong());
            let word = pencil.write(word, theme.quiet());
            pencil.skip(1);
            scene.targets.push((Rect { width: start.width + word.width, ..start }, Target::Action(action)));
        }
    };
    // The last two lead to everything else, so that there is room for them however narrow it is.
    for (_, action, word) in offered.into_iter().filter(|(offered, ..)| *offered) {
        offer(action, word, 16);
    }
    offer(A::Help, "help", 0);
    offer(A::Quit, "quit", 0);
}
