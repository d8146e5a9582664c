//! The dialog in which tags are repaired.

use crossterm::event::{KeyCode, KeyEvent};
use jackin_core::{InstanceName, TagKind};

use super::modal::scrolls;
use super::{Effect, links};
use crate::console::model::Model;
use crate::console::model::choose::{Choice, Choose};
use crate::console::model::input::{Input, closes};
use crate::console::model::modal::{Ask, AskFor, Modal, Pick};

/// Takes a key.
pub(super) fn key(
    model: &mut Model,
    instance: &InstanceName,
    at: usize,
    key: KeyEvent,
    effects: &mut Vec<Effect>,
) -> Option<Modal> {
    let tags = model.fleet.instances.get(instance).map(|instance| instance.tags.clone()).unwrap_or_default();
    let at = at.min(tags.len().saturating_sub(1));
    let stay = |at| Some(Modal::Tags { instance: instance.clone(), at });
    let selected = tags.get(at).cloned();
    match key.code {
        _ if closes(key) => return None,
        KeyCode::Char('q' | 't') => return None,
        KeyCode::Char('a' | 'n') | KeyCode::Insert => {
            let choice = |kind: TagKind| Choice {
                text: kind.as_str().to_owned(),
                hint: String::new(),
                value: Pick::Kind { instance: instance.clone(), kind },
            };
            let list = Choose::new(TagKind::KNOWN.map(choice).to_vec());
            model.modals.push(Modal::Tags { instance: instance.clone(), at });
            model.modals.push(Modal::Choose { title: "Which kind".to_owned(), list });
            return None;
        }
        KeyCode::Char('u' | 'd') | KeyCode::Delete => {
            if let Some(tag) = selected {
                let instance = instance.clone();
                effects.push(Effect::Tag { instance, kind: tag.kind, value: tag.value, set: false });
            }
        }
        KeyCode::Char('s') => {
            if let Some(tag) = selected {
                let instance = instance.clone();
                effects.push(Effect::Tag { instance, kind: tag.kind, value: tag.value, set: true });
            }
        }
        KeyCode::Char('e') | KeyCode::Enter => {
            if let Some(tag) = selected {
                model.modals.push(Modal::Tags { instance: instance.clone(), at });
                model.modals.push(ask(instance, tag.kind, Some(tag.value)));
                return None;
            }
        }
        KeyCode::Char('o') => {
            if let Some(tag) = selected {
                links::open(model, &tag.value, effects);
            }
        }
        KeyCode::Char('y') => {
            if let Some(tag) = selected {
                model.say(format!("copied {}", tag.value));
                effects.push(Effect::Copy(tag.value));
            }
        }
        _ => {
            if let Some(by) = scrolls(key, usize::from(model.scene.modal_rows)) {
                return stay(at.saturating_add_signed(by).min(tags.len().saturating_sub(1)));
            }
        }
    }
    stay(at)
}

/// Asks for a value, in place of another one or as a new one.
pub(super) fn ask(instance: &InstanceName, kind: TagKind, instead: Option<String>) -> Modal {
    let question = match &instead {
        Some(old) => format!("In place of {old}, which is hidden:"),
        None => format!("The {kind} of {instance}:"),
    };
    Modal::Ask(Ask {
        title: format!("Set {kind}"),
        question,
        input: Input::new(instead.as_deref().unwrap_or_default()),
        purpose: AskFor::Tag { instance: instance.clone(), kind, instead },
        until: None,
    })
}
