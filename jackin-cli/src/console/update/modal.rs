//! Keys while something is open. The one on top gets them.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jackin_core::protocol::control::{Launch, Request};
use jackin_tags::TagValue;

use super::{Effect, Purpose, act, call, links, tags, tools};
use crate::console::model::Model;
use crate::console::model::choose::{Choice, Choose, Chosen};
use crate::console::model::form::{Field, Form};
use crate::console::model::input::closes;
use crate::console::model::modal::{Ask, AskFor, Modal, Pick, Scroll};
use crate::console::model::rows::RowKey;
use crate::console::model::runs::{Run, RunId};

/// Takes a key.
pub(super) fn key(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    // It goes back unless the key closed it.
    let Some(modal) = model.modals.pop() else { return };
    let depth = model.modals.len();
    if let Some(kept) = take(model, modal, key, effects) {
        model.modals.insert(depth, kept);
    }
}

/// How far a key scrolls, given how many lines are shown.
pub(super) fn scrolls(key: KeyEvent, page: usize) -> Option<isize> {
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
        Modal::Help { scroll } => read(model, scroll, key).map(|scroll| Modal::Help { scroll }),
        Modal::Explain { of, told, scroll } => {
            read(model, scroll, key).map(|scroll| Modal::Explain { of, told, scroll })
        }
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
                    model.say(confirm.then);
                    effects.push(confirm.yes);
                }
                None
            }
            // Whatever else is pressed may be meant for something else altogether: it must not lead to the `y` of a word.
            _ => None,
        },
        Modal::Ask(ask) => ask_key(model, ask, key, effects),
        Modal::NewAgent(form) => form_key(model, form, key, effects),
        Modal::Output { run, scroll } => {
            output_key(model, run, scroll, key, effects).map(|scroll| Modal::Output { run, scroll })
        }
        Modal::Tags { instance, at } => tags::key(model, &instance, at, key, effects),
    }
}

/// A key for a text that is read: how far it is scrolled then, unless that closes it.
fn read(model: &Model, scroll: usize, key: KeyEvent) -> Option<usize> {
    let page = usize::from(model.scene.modal_rows);
    if let Some(by) = scrolls(key, page) {
        let last = model.scene.modal_lines.saturating_sub(page);
        return Some(scroll.saturating_add_signed(by).min(last));
    }
    let closed = closes(key) || matches!(key.code, KeyCode::Char('q' | '?' | 'x') | KeyCode::Enter);
    (!closed).then_some(scroll)
}

fn form_key(model: &mut Model, mut form: Form, key: KeyEvent, effects: &mut Vec<Effect>) -> Option<Modal> {
    let typing = form.at == Field::Target;
    let (before, text) = (form.target.before(), form.target.text());
    let (at_start, at_end) = (before.is_empty(), before == text);
    match key.code {
        _ if closes(key) => return None,
        KeyCode::Enter => return start(model, &form, effects).then_some(Modal::NewAgent(form)),
        KeyCode::Up | KeyCode::BackTab => form.step(-1),
        KeyCode::Down | KeyCode::Tab => form.step(1),
        KeyCode::Left if !typing || at_start => form.turn(-1),
        KeyCode::Right if !typing || at_end => form.turn(1),
        KeyCode::Char(' ') if !typing => form.turn(1),
        KeyCode::Char(letter) if !typing => form.jump(letter),
        _ if typing => {
            form.target.key(key);
        }
        _ => {}
    }
    Some(Modal::NewAgent(form))
}

/// Starts what the picker says. Whether something is missing in it.
fn start(model: &mut Model, form: &Form, effects: &mut Vec<Effect>) -> bool {
    let choice = form.choice();
    if let Some(instance) = form.inside() {
        let launch = Launch { agent: choice.agent, focus: false, ..Launch::default() };
        let purpose = Purpose::Started(format!("started in {instance}"));
        effects.push(call(instance, Request::SessionCreate { launch }, purpose));
    } else if choice.target.is_empty() {
        model.complain("name a workspace or a directory");
        return true;
    } else {
        model.say("starting an agent");
        effects.push(Effect::NewAgent(choice));
    }
    false
}

/// A key for what a tool printed: where that is looked at then, unless it is closed.
fn output_key(
    model: &mut Model,
    run: RunId,
    scroll: Scroll,
    key: KeyEvent,
    effects: &mut Vec<Effect>,
) -> Option<Scroll> {
    let page = usize::from(model.scene.modal_rows);
    let known = model.runs.get(run)?;
    let closed = closes(key) || matches!(key.code, KeyCode::Enter | KeyCode::Char('q'));
    match key.code {
        _ if closed => {
            if known.end.is_none() {
                model
                    .say(format!("{} goes on; : and \"show what tools printed\" bring it back", known.title));
            }
            return None;
        }
        KeyCode::Char('y') => {
            let (text, count) = (known.text(), known.lines.len());
            model.say(if count == 1 { "copied a line".to_owned() } else { format!("copied {count} lines") });
            effects.push(Effect::Copy(text));
        }
        KeyCode::Char('w') => effects.push(Effect::Keep { name: known.title.clone(), text: known.text() }),
        KeyCode::Char('x') => effects.push(Effect::Stop(run)),
        _ => {
            if let Some(by) = scrolls(key, page) {
                return Some(scroll.by(by, known.lines.len(), page));
            }
        }
    }
    Some(scroll)
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
            // What the capsule would refuse can be mended here.
            if let Err(error) = TagValue::parse(kind, &value) {
                model.complain(format!("not a value for {kind}: {error}"));
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

/// Does what was chosen from a list.
pub(super) fn pick(model: &mut Model, pick: Pick, effects: &mut Vec<Effect>) {
    match pick {
        Pick::Do(action) => act::act(model, action, effects),
        Pick::Tool(key) => tools::fire(model, key, effects),
        Pick::Open { link, .. } => links::open(model, &link, effects),
        Pick::Copy(text) => {
            model.say(format!("copied {}", jackin_core::one_line(&text, 60)));
            effects.push(Effect::Copy(text));
        }
        Pick::Kind { instance, kind } => model.modals.push(tags::ask(&instance, kind, None)),
        Pick::Show(run) => model.modals.push(Modal::Output { run, scroll: Scroll::default() }),
        Pick::Outputs => {
            let choice = |run: &Run| Choice {
                text: run.title.clone(),
                hint: run.end.as_ref().map_or_else(|| "running".to_owned(), |(_, how)| how.clone()),
                value: Pick::Show(run.id),
            };
            let list = Choose::new(model.runs.all().iter().rev().map(choice).collect());
            model.modals.push(Modal::Choose { title: "What tools printed".to_owned(), list });
        }
    }
}
