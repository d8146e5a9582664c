//! Text that is typed or pasted where no key is meant.

use crossterm::event::{KeyCode, KeyEvent};

use crate::console::model::Model;
use crate::console::model::form::Field;
use crate::console::model::input::closes;
use crate::console::model::modal::Modal;

/// Takes a paste. Over the bare list it means nothing: it must not run a dozen keys.
pub(super) fn paste(model: &mut Model, text: &str) {
    match model.modals.last_mut() {
        Some(Modal::Ask(ask)) => ask.input.insert(text),
        Some(Modal::Choose { list, .. }) => list.paste(text.lines().next().unwrap_or_default()),
        Some(Modal::NewAgent(form)) if form.at == Field::Target => {
            form.target.insert(text.lines().next().unwrap_or_default());
        }
        Some(_) => {}
        None => {
            if let Some(filter) = &mut model.filtering {
                filter.insert(text.lines().next().unwrap_or_default());
                apply_filter(model);
            }
        }
    }
}

/// Takes a key while the filter is typed. The list narrows with every letter.
pub(super) fn filter_key(model: &mut Model, key: KeyEvent) {
    let Some(filter) = &mut model.filtering else { return };
    match key.code {
        _ if closes(key) => {
            model.filtering = None;
            model.listing.filter.clear();
            model.refresh();
        }
        KeyCode::Enter => model.filtering = None,
        KeyCode::Up => model.select(model.cursor.saturating_sub(1)),
        KeyCode::Down => model.select(model.cursor + 1),
        _ => {
            if filter.key(key) {
                apply_filter(model);
            }
        }
    }
}

fn apply_filter(model: &mut Model) {
    let Some(filter) = &model.filtering else { return };
    model.listing.filter = filter.text().replace('\n', " ");
    model.refresh();
    // What is looked for is selected, not the head of its group.
    if model.key().is_none() {
        model.selected = crate::console::model::Selected::Nothing;
        model.refresh();
    }
}
