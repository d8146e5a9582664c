//! The mouse: a click selects, a second one attaches, the wheel scrolls, a link opens.

use std::time::Duration;

use crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::{Effect, act, links, modal, orders, tools};
use crate::console::model::modal::Modal;
use crate::console::model::{Area, Model, Selected};
use crate::console::view::Target;

/// Two clicks within this time on one cell are a double click.
const DOUBLE: Duration = Duration::from_millis(400);

/// How many lines one notch of the wheel is.
const NOTCH: isize = 3;

pub(super) fn mouse(model: &mut Model, mouse: MouseEvent, effects: &mut Vec<Effect>) {
    let at = Position { x: mouse.column, y: mouse.row };
    match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => click(model, at, effects),
        MouseEventKind::ScrollUp => wheel(model, at, -NOTCH, effects),
        MouseEventKind::ScrollDown => wheel(model, at, NOTCH, effects),
        _ => {}
    }
}

fn click(model: &mut Model, at: Position, effects: &mut Vec<Effect>) {
    model.attaching = None;
    let double = model
        .last_click
        .is_some_and(|(when, x, y)| model.now.since(when) <= DOUBLE && (x, y) == (at.x, at.y));
    model.last_click = if double { None } else { Some((model.now, at.x, at.y)) };
    let target = model.scene.target(at);
    if !model.modals.is_empty() {
        return match target {
            Some(Target::Choice(place)) => choose(model, place, effects),
            Some(Target::Press(code)) => modal::key(model, code.into(), effects),
            // A click beside it closes it, unless something that was typed would be lost.
            Some(Target::Outside) => {
                model
                    .modals
                    .pop_if(|modal| !matches!(modal, Modal::Ask(ask) if !ask.input.text().is_empty()));
            }
            _ => {}
        };
    }
    match target {
        Some(Target::Link(link)) => links::open(model, &link, effects),
        Some(Target::Tool(key)) => tools::fire(model, key, effects),
        Some(Target::Action(action)) => act::act(model, action, effects),
        Some(Target::Row(place)) => {
            model.area = Area::List;
            let same = model.cursor == place;
            model.select(place);
            match &model.selected {
                Selected::Group(name) => {
                    let name = name.clone();
                    if same && !model.listing.closed.remove(&name) {
                        model.listing.closed.insert(name);
                    }
                    model.refresh();
                }
                Selected::Agent(_) if double => orders::attach(model, effects),
                _ => {}
            }
        }
        Some(Target::Tag(place)) => {
            model.area = Area::Detail;
            model.detail_at = place;
        }
        Some(Target::Preview) if double => orders::attach(model, effects),
        _ => {}
    }
}

/// Clicks a line of what is open.
fn choose(model: &mut Model, place: usize, effects: &mut Vec<Effect>) {
    match model.modals.last_mut() {
        Some(Modal::Choose { list, .. }) => {
            list.at = place;
            modal::key(model, KeyCode::Enter.into(), effects);
        }
        Some(Modal::Tags { at, .. }) => *at = place,
        Some(Modal::NewAgent(form)) => {
            if let Some(field) = form.fields().get(place).copied() {
                if form.at == field {
                    form.turn(1);
                }
                form.at = field;
            }
        }
        _ => {}
    }
}

fn wheel(model: &mut Model, at: Position, by: isize, effects: &mut Vec<Effect>) {
    if !model.modals.is_empty() {
        let code = if by < 0 { KeyCode::Up } else { KeyCode::Down };
        for _ in 0..by.unsigned_abs() {
            modal::key(model, code.into(), effects);
        }
        return;
    }
    if model.scene.list.contains(at) {
        let to = model.cursor.saturating_add_signed(by);
        model.select(to);
    } else if model.scene.detail.contains(at) {
        let tags = model.instance().map_or(0, |instance| instance.tags.len());
        model.detail_at = model.detail_at.saturating_add_signed(by.signum()).min(tags.saturating_sub(1));
    }
}
