//! What the console's own keys do.

use jackin_core::Attention;
use jackin_core::protocol::control::Direction;
use jackin_tools::{ConsoleAction, Tool};

use super::{Effect, links, orders};
use crate::config::Grouping;
use crate::console::model::choose::{Choice, Choose};
use crate::console::model::input::Input;
use crate::console::model::modal::{Confirm, Modal, Pick};
use crate::console::model::rows::Row;
use crate::console::model::{Area, Model, Selected, keys};

/// Does what a key stands for.
pub(super) fn act(model: &mut Model, action: ConsoleAction, effects: &mut Vec<Effect>) {
    use ConsoleAction as A;
    match action {
        A::Up => step(model, -1),
        A::Down => step(model, 1),
        A::PageUp => step(model, -(page(model) as isize)),
        A::PageDown => step(model, page(model) as isize),
        A::First => step(model, isize::MIN),
        A::Last => step(model, isize::MAX),
        A::Collapse => open_group(model, false),
        A::Expand => open_group(model, true),
        A::NextWaiting => waiting(model, true),
        A::PreviousWaiting => waiting(model, false),
        A::NextArea | A::PreviousArea => {
            model.area = if model.area == Area::List { Area::Detail } else { Area::List };
        }
        A::Attach => enter(model, effects),
        A::NewAgent => orders::new_agent(model),
        A::SplitRight => orders::split(model, Direction::Right, effects),
        A::SplitDown => orders::split(model, Direction::Down, effects),
        A::Send => orders::send(model),
        A::Answer => orders::answer(model),
        A::Acknowledge => orders::acknowledge(model, effects),
        A::Restart => orders::restart(model, effects),
        A::Eject => orders::eject(model),
        A::Exile => orders::exile(model),
        A::Record => orders::record(model, effects),
        A::Copy => links::copy(model, effects),
        A::OpenLink => links::open_link(model, effects),
        A::RepairTags => {
            if let Some(instance) = orders::running(model, "R starts it again, and its tags can be repaired")
            {
                model.modals.push(Modal::Tags { instance, at: model.detail_at });
            }
        }
        A::Explain => orders::explain(model, effects),
        A::TogglePreview => model.show_preview = !model.show_preview,
        A::Mute => mute(model),
        A::Filter => model.filtering = Some(Input::new(&model.listing.filter)),
        A::Sort => {
            model.listing.sort = model.listing.sort.next();
            model.say(format!("sorted by {}", model.listing.sort.word()));
            model.refresh();
        }
        A::Group => group(model),
        A::Palette => palette(model),
        A::Help => model.modals.push(Modal::Help { scroll: 0 }),
        A::Redraw => effects.push(Effect::Redraw),
        A::Suspend => effects.push(Effect::Suspend),
        A::Back => {
            if model.area == Area::Detail {
                model.area = Area::List;
            } else if !model.listing.filter.is_empty() {
                model.listing.filter.clear();
                model.refresh();
            }
        }
        A::Quit => quit(model),
    }
}

fn page(model: &Model) -> usize {
    usize::from(model.scene.list.height).saturating_sub(1).max(1)
}

fn step(model: &mut Model, by: isize) {
    if model.area == Area::Detail {
        let tags = model.instance().map_or(0, |instance| instance.tags.len());
        model.detail_at = model.detail_at.saturating_add_signed(by).min(tags.saturating_sub(1));
        return;
    }
    let before = model.cursor;
    let to = model.cursor.saturating_add_signed(by);
    model.select(to);
    // Above the first row that can be selected there may be others.
    if by < 0 && model.cursor > before {
        model.select(before);
    }
}

fn open_group(model: &mut Model, open: bool) {
    let name = match &model.selected {
        Selected::Group(name) => name.clone(),
        Selected::Agent(_) if !open => {
            // From within a group, closing goes to its head first.
            let head = model.rows[..model.cursor].iter().rposition(|row| matches!(row, Row::Group(_)));
            if let Some(head) = head {
                model.select(head);
            }
            return;
        }
        _ => return,
    };
    if open {
        model.listing.closed.remove(&name);
    } else {
        model.listing.closed.insert(name);
    }
    model.refresh();
}

/// Goes to the next agent that needs the operator.
fn waiting(model: &mut Model, forward: bool) {
    let needs = |row: &Row| {
        let Row::Agent(key) = row else { return false };
        let Some(instance) = model.fleet.instances.get(&key.instance) else { return false };
        let session = key.session.and_then(|id| instance.sessions.get(&id));
        session.map_or_else(|| instance.attention(), |session| session.attention) >= Attention::Done
    };
    let len = model.rows.len();
    let mut places =
        (1..=len).map(|by| if forward { (model.cursor + by) % len } else { (model.cursor + len - by) % len });
    match places.find(|at| needs(&model.rows[*at])) {
        Some(at) => model.select(at),
        None => model.say("nobody needs you"),
    }
}

/// Enter: opens what is selected.
fn enter(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Selected::Group(name) = &model.selected {
        let open = model.listing.closed.contains(name);
        return open_group(model, open);
    }
    if model.area == Area::Detail {
        let tag = model.instance().and_then(|instance| instance.tags.get(model.detail_at));
        if let Some(tag) = tag.filter(|tag| tag.value.starts_with("http")) {
            let link = tag.value.clone();
            return links::open(model, &link, effects);
        }
    }
    orders::attach(model, effects);
}

fn mute(model: &mut Model) {
    let Some(instance) = model.key().map(|key| key.instance.clone()) else {
        return model.say("no agent is selected");
    };
    if model.muted.remove(&instance) {
        model.say(format!("{instance} notifies again"));
    } else {
        model.say(format!("{instance} is muted"));
        model.muted.insert(instance);
    }
}

fn group(model: &mut Model) {
    let (next, word) = match model.listing.grouping {
        Grouping::Workspace => (Grouping::Host, "host"),
        Grouping::Host => (Grouping::None, "nothing"),
        Grouping::None => (Grouping::Workspace, "workspace"),
    };
    model.listing.grouping = next;
    model.say(format!("grouped by {word}"));
    model.refresh();
}

/// Every action and every tool, to be found by its words.
fn palette(model: &mut Model) {
    let tool = |tool: &Tool| Choice {
        text: format!("Tool: {}", tool.name),
        hint: tool.key.to_string(),
        value: Pick::Tool(tool.key),
    };
    let mut choices: Vec<Choice<Pick>> = model.visible_tools().into_iter().map(tool).collect();
    if !model.runs.all().is_empty() {
        let text = "Show what tools printed".to_owned();
        choices.push(Choice { text, hint: String::new(), value: Pick::Outputs });
    }
    choices.extend(keys::actions().into_iter().map(|(action, hint)| Choice {
        text: capital(action.does()),
        hint,
        value: Pick::Do(action),
    }));
    model.modals.push(Modal::Choose { title: "Commands".to_owned(), list: Choose::new(choices) });
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Leaves, unless a tool would be cut short.
fn quit(model: &mut Model) {
    let running = model.runs.running();
    if running > 0 {
        let noun = if running == 1 { "A tool is" } else { "Tools are" };
        model.modals.push(Modal::Confirm(Confirm {
            title: "Quit".to_owned(),
            text: format!("{noun} still running and will be ended. The agents go on. Quit?"),
            yes: Effect::Quit,
            then: String::new(),
        }));
    } else {
        model.quit = true;
    }
}
