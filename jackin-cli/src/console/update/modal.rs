//! Keys while something is open. The one on top gets them.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jackin_core::TagKind;
use jackin_core::protocol::control::{Launch, Request};

use super::{Effect, Purpose, act, call, tools};
use crate::console::model::Model;
use crate::console::model::choose::{Choice, Choose, Chosen};
use crate::console::model::form::Field;
use crate::console::model::input::Input;
use crate::console::model::modal::{Ask, AskFor, Modal, Pick, Scroll};
use crate::console::model::rows::RowKey;

/// Takes a key.
pub(super) fn key(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    // It goes back unless the key closed it.
    let Some(modal) = model.modals.pop() else { return };
    let depth = model.modals.len();
    if let Some(kept) = take(model, modal, key, effects) {
        model.modals.insert(depth, kept);
    }
}

/// Whether a key closes whatever is open.
fn closes(key: KeyEvent) -> bool {
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    key.code == KeyCode::Esc || (ctrl && matches!(key.code, KeyCode::Char('c' | 'g' | '[')))
}

/// How far a key scrolls, given how many lines are shown.
fn scrolls(key: KeyEvent, page: usize) -> Option<isize> {
    let page = page.max(1) as isize;
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Up => -1,
        KeyCode::Down => 1,
        KeyCode::PageUp => -page,
        KeyCode::PageDown | KeyCode::Char(' ') => page,
        KeyCode::Char('u') if ctrl => -page,
        KeyCode::Char('d') if ctrl => page,
        KeyCode::Char('p') if ctrl => -1,
        KeyCode::Char('n') if ctrl => 1,
        KeyCode::Char('k') => -1,
        KeyCode::Char('j') => 1,
        KeyCode::Home => isize::MIN / 2,
        KeyCode::End => isize::MAX / 2,
        _ => return None,
    })
}

fn take(model: &mut Model, modal: Modal, key: KeyEvent, effects: &mut Vec<Effect>) -> Option<Modal> {
    let page = usize::from(model.scene.modal_rows);
    match modal {
        Modal::Help { scroll } => match scrolls(key, page) {
            Some(by) => {
                let last = model.scene.modal_lines.saturating_sub(page);
                Some(Modal::Help { scroll: scroll.saturating_add_signed(by).min(last) })
            }
            None if closes(key) || matches!(key.code, KeyCode::Char('q' | '?') | KeyCode::Enter) => None,
            None => Some(Modal::Help { scroll }),
        },
        Modal::Explain { of, told, scroll } => match scrolls(key, page) {
            Some(by) => {
                let last = model.scene.modal_lines.saturating_sub(page);
                Some(Modal::Explain { of, told, scroll: scroll.saturating_add_signed(by).min(last) })
            }
            None if closes(key) || matches!(key.code, KeyCode::Char('q' | 'x') | KeyCode::Enter) => None,
            None => Some(Modal::Explain { of, told, scroll }),
        },
        Modal::Choose { title, mut list } => match list.key(key, page) {
            Chosen::This(at) => {
                pick(model, list.choices.swap_remove(at).value, effects);
                None
            }
            Chosen::Nothing => None,
            Chosen::Open => Some(Modal::Choose { title, list }),
        },
        Modal::Confirm(confirm) => match key.code {
            KeyCode::Char('y' | 'Y') => {
                if confirm.yes == Effect::Quit {
                    model.quit = true;
                } else {
                    model.say("…");
                    effects.push(confirm.yes);
                }
                None
            }
            KeyCode::Char('n' | 'N' | 'q') => None,
            _ if closes(key) => None,
            // Enter is too near to everything else to end an agent.
            _ => Some(Modal::Confirm(confirm)),
        },
        Modal::Ask(ask) => ask_key(model, ask, key, effects),
        Modal::NewAgent(mut form) => match key.code {
            _ if closes(key) => None,
            KeyCode::Enter => {
                match form.inside().cloned() {
                    Some(instance) => {
                        let agent = form.choice().agent;
                        let launch = Launch { agent, focus: false, ..Launch::default() };
                        let purpose = Purpose::DoneAndLook(format!("started in {instance}"));
                        effects.push(call(&instance, Request::SessionCreate { launch }, purpose));
                    }
                    None if form.choice().target.is_empty() => {
                        model.complain("name a workspace or a directory");
                        return Some(Modal::NewAgent(form));
                    }
                    None => {
                        model.say("starting an agent");
                        effects.push(Effect::NewAgent(form.choice()));
                    }
                }
                None
            }
            KeyCode::Up | KeyCode::BackTab => {
                form.step(-1);
                Some(Modal::NewAgent(form))
            }
            KeyCode::Down | KeyCode::Tab => {
                form.step(1);
                Some(Modal::NewAgent(form))
            }
            KeyCode::Left if form.at != Field::Target || form.target.before().is_empty() => {
                form.turn(-1);
                Some(Modal::NewAgent(form))
            }
            KeyCode::Right if form.at != Field::Target || form.target.before() == form.target.text() => {
                form.turn(1);
                Some(Modal::NewAgent(form))
            }
            KeyCode::Char(' ') if form.at != Field::Target => {
                form.turn(1);
                Some(Modal::NewAgent(form))
            }
            _ => {
                if form.at == Field::Target {
                    form.target.key(key);
                }
                Some(Modal::NewAgent(form))
            }
        },
        Modal::Output { run, scroll } => {
            let lines = model.runs.get(run).map_or(0, |run| run.lines.len());
            match key.code {
                _ if closes(key) || key.code == KeyCode::Enter => return None,
                KeyCode::Char('q') => return None,
                KeyCode::Char('y') => {
                    if let Some(run) = model.runs.get(run) {
                        let (text, count) = (run.text(), run.lines.len());
                        model.say(format!("copied {count} lines"));
                        effects.push(Effect::Copy(text));
                    }
                }
                KeyCode::Char('w') => {
                    if let Some(run) = model.runs.get(run) {
                        effects.push(Effect::Keep { name: run.title.clone(), text: run.text() });
                    }
                }
                KeyCode::Char('x') => effects.push(Effect::Stop(run)),
                _ => {
                    if let Some(by) = scrolls(key, page) {
                        return Some(Modal::Output { run, scroll: scroll.by(by, lines, page) });
                    }
                }
            }
            Some(Modal::Output { run, scroll })
        }
        Modal::Tags { instance, at } => tags_key(model, &instance, at, key, effects),
    }
}

fn ask_key(model: &mut Model, mut ask: Ask, key: KeyEvent, effects: &mut Vec<Effect>) -> Option<Modal> {
    let new_line = key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT);
    match key.code {
        _ if closes(key) => return None,
        KeyCode::Enter if new_line => ask.input.insert("\n"),
        KeyCode::Enter => {
            return done_asking(model, &ask, effects).then_some(Modal::Ask(ask));
        }
        KeyCode::Tab => {
            let submits = ask.submits();
            if let AskFor::Answer { enter, .. } = &mut ask.purpose {
                *enter = Some(!submits);
            }
        }
        _ => {
            ask.input.key(key);
        }
    }
    Some(Modal::Ask(ask))
}

/// Does what the text was for. Whether it has to be asked again.
fn done_asking(model: &mut Model, ask: &Ask, effects: &mut Vec<Effect>) -> bool {
    let text = ask.input.text();
    match &ask.purpose {
        AskFor::Send(RowKey { instance, session: Some(session_id) }) => {
            if text.trim().is_empty() {
                model.complain("there is nothing to send");
                return true;
            }
            let request = Request::SessionSend {
                session_id: *session_id,
                text: text.to_owned(),
                submit: true,
                force: true,
                wait_ms: None,
            };
            // A question that came up while the prompt was typed must not be answered by it.
            let asks = model
                .fleet
                .session(instance, *session_id)
                .is_some_and(|session| session.question().is_some());
            if asks {
                model.complain("it asks a question by now: r answers it; the prompt is still here");
                return true;
            }
            effects.push(call(instance, request, Purpose::Done(format!("sent to {instance}"))));
        }
        AskFor::Answer { to: RowKey { instance, session: Some(session_id) }, .. } => {
            let request = Request::SessionSend {
                session_id: *session_id,
                text: text.to_owned(),
                submit: ask.submits(),
                force: true,
                wait_ms: None,
            };
            effects.push(call(instance, request, Purpose::Done(format!("answered {instance}"))));
        }
        AskFor::Send(_) | AskFor::Answer { .. } => {}
        AskFor::Tool { key, of } => tools::answered(model, *key, of.as_ref(), text, effects),
        AskFor::Tag { instance, kind, instead } => {
            let value = text.trim().to_owned();
            if value.is_empty() {
                model.complain("write a value");
                return true;
            }
            let tag = |value: String, set| Effect::Tag {
                instance: instance.clone(),
                kind: kind.clone(),
                value,
                set,
            };
            if let Some(instead) = instead.clone().filter(|instead| *instead != value) {
                effects.push(tag(instead, false));
            }
            effects.push(tag(value, true));
        }
    }
    false
}

fn tags_key(
    model: &mut Model,
    instance: &jackin_core::InstanceName,
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
                model.modals.push(ask_for_tag(instance, tag.kind, Some(tag.value)));
                return None;
            }
        }
        KeyCode::Char('o') => {
            if let Some(tag) = selected {
                act::open(model, &tag.value, effects);
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

fn ask_for_tag(instance: &jackin_core::InstanceName, kind: TagKind, instead: Option<String>) -> Modal {
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

/// Does what was chosen from a list.
pub(super) fn pick(model: &mut Model, pick: Pick, effects: &mut Vec<Effect>) {
    match pick {
        Pick::Do(action) => act::act(model, action, effects),
        Pick::Tool(key) => tools::fire(model, key, effects),
        Pick::Open { link, .. } => act::open(model, &link, effects),
        Pick::Copy(text) => {
            model.say(format!("copied {}", jackin_core::one_line(&text, 60)));
            effects.push(Effect::Copy(text));
        }
        Pick::Kind { instance, kind } => model.modals.push(ask_for_tag(&instance, kind, None)),
        Pick::Show(run) => model.modals.push(Modal::Output { run, scroll: Scroll::default() }),
        Pick::Outputs => {
            let choice = |run: &crate::console::model::runs::Run| Choice {
                text: run.title.clone(),
                hint: run.end.as_ref().map_or_else(|| "running".to_owned(), |(_, how)| how.clone()),
                value: Pick::Show(run.id),
            };
            let list = Choose::new(model.runs.all().iter().rev().map(choice).collect());
            model.modals.push(Modal::Choose { title: "What tools printed".to_owned(), list });
        }
    }
}
