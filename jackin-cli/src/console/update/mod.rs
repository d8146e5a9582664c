//! Message in, change of the model and effects out. Nothing in here waits for anything.

mod act;
mod effect;
mod keys;
mod links;
mod modal;
mod mouse;
mod orders;
mod reply;
mod sample;
mod tags;
mod text;
mod tools;

pub(crate) use effect::{Effect, Purpose, Unanswered};
pub(crate) use sample::INTERVAL as SAMPLING;

use crossterm::event::{Event as TerminalEvent, KeyEvent, KeyEventKind};
use jackin_core::protocol::control::{Request, ScreenRows};
use jackin_core::{InstanceName, Timestamp};
use jackin_tools::ConsoleAction;

use super::model::Model;
use super::model::agent::Presence;
use super::model::notice::Circumstances;
use super::model::preview::Watched;
use super::model::runs::RunId;
use crate::host::FleetEvent;

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Message {
    Terminal(TerminalEvent),
    /// The terminal says whether it is light.
    Light(bool),
    Fleet(FleetEvent),
    /// Rows of a watched screen, or why none come any more.
    Screen {
        of: Watched,
        rows: Result<ScreenRows, String>,
    },
    /// A capsule answered.
    Answer {
        instance: InstanceName,
        purpose: Purpose,
        answer: Result<serde_json::Value, Unanswered>,
    },
    /// A tool printed a line.
    Printed {
        run: RunId,
        line: String,
    },
    Ended {
        run: RunId,
        well: bool,
        how: String,
    },
    Branch {
        instance: InstanceName,
        branch: Option<String>,
    },
    PullRequest {
        url: String,
        found: Option<jackin_core::protocol::control::PullRequest>,
    },
    /// Something was done, or not; in words for people.
    Said {
        text: String,
        bad: bool,
    },
    /// An instance was made.
    Made(InstanceName),
    /// Bytes for the terminal, that draw nothing. The loop writes them.
    Write(String),
    /// What agents use is worth another look.
    Sample,
    /// The terminal is the console's again.
    Back {
        how: Result<String, String>,
    },
    /// Time has passed.
    Tick,
    /// A frame is about to be drawn.
    Settle,
}

/// Takes a message.
pub(crate) fn update(model: &mut Model, message: Message, now: Timestamp) -> Vec<Effect> {
    (model.now, model.changed) = (now, true);
    let mut effects = Vec::new();
    if !matches!(message, Message::Fleet(_)) {
        model.settle();
    }
    match message {
        Message::Terminal(event) => terminal(model, event, &mut effects),
        Message::Light(light) => model.theme.light = light,
        Message::Fleet(event) => fleet(model, event, &mut effects),
        Message::Screen { of, rows } => match rows {
            Ok(rows) => model.changed = model.preview.take(&of, rows),
            Err(why) if model.preview.of.as_ref() == Some(&of) => model.preview.problem = Some(why),
            Err(_) => {}
        },
        Message::Answer { instance, purpose, answer } => {
            reply::answer(model, &instance, purpose, answer, &mut effects);
        }
        Message::Printed { run, line } => model.runs.printed(run, line),
        Message::Ended { run, well, how } => tools::ended(model, run, well, how),
        Message::Branch { instance, branch } => {
            let known = model.fleet.instances.get_mut(&instance);
            model.changed = known.is_some_and(|known| {
                let different = known.branch != branch;
                known.branch = branch;
                different
            });
        }
        Message::PullRequest { url, found } => match found {
            Some(found) => {
                model.pulls.insert(url, found);
            }
            None => {
                model.pulls.remove(&url);
            }
        },
        Message::Said { text, bad: true } => model.complain(text),
        Message::Said { text, bad: false } => model.say(text),
        Message::Made(instance) => {
            model.say(format!("{instance} was started"));
            model.expected = Some(instance);
            model.refresh();
        }
        Message::Write(_) => model.changed = false,
        Message::Sample => {
            sample::sample(model, &mut effects);
            model.changed = false;
        }
        Message::Back { how } => {
            let attached = model.attached.take();
            match how {
                Ok(how) => model.say(how),
                Err(why) => model.complain(why),
            }
            if let Some(instance) = attached {
                look(&instance, &mut effects);
            }
        }
        Message::Tick => {}
        Message::Settle => model.changed = false,
    }
    expire(model);
    if let Some(watched) = watch(model) {
        // First, because the terminal may be lent next, and what was true before is not done after that.
        effects.insert(0, watched);
    }
    effects
}

fn terminal(model: &mut Model, event: TerminalEvent, effects: &mut Vec<Effect>) {
    match event {
        TerminalEvent::Key(key) if key.kind != KeyEventKind::Release => press(model, key, effects),
        TerminalEvent::Key(_) | TerminalEvent::Resize(..) => {}
        TerminalEvent::Paste(text) => text::paste(model, &text),
        TerminalEvent::Mouse(mouse) => mouse::mouse(model, mouse, effects),
        TerminalEvent::FocusGained => model.focused = true,
        TerminalEvent::FocusLost => model.focused = false,
    }
}

fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    model.attaching = None;
    // These are about the terminal, whatever is open.
    let action = keys::key_of(key).and_then(jackin_tools::reserved);
    if let Some(action @ (ConsoleAction::Suspend | ConsoleAction::Redraw)) = action {
        act::act(model, action, effects);
    } else if !model.modals.is_empty() {
        modal::key(model, key, effects);
    } else if model.filtering.is_some() {
        text::filter_key(model, key);
    } else {
        // An old message has been read when a key is pressed.
        model.message = None;
        model.expected = None;
        keys::press(model, key, effects);
    }
}

fn fleet(model: &mut Model, event: FleetEvent, effects: &mut Vec<Effect>) {
    if let FleetEvent::Ended { instance, ending } = &event
        && !ending.is_kept()
    {
        effects.push(Effect::TakeAway(instance.clone()));
    }
    let outcome = model.fleet.apply(event, model.now);
    if let Some(instance) = outcome.tags_of {
        effects.push(call(&instance, Request::TagsList {}, Purpose::Tags));
    }
    if let Some(name) = outcome.appeared {
        branch(model, &name, effects);
    }
    for turn in &outcome.turns {
        let how = Circumstances {
            now: model.now,
            started: model.started,
            on_screen: model.is_on_screen(&turn.instance, turn.session),
            muted: model.is_muted(&turn.instance, turn.session),
        };
        if let Some(notification) = model.notices.decide(turn, how) {
            effects.push(Effect::Notify(notification));
        }
    }
    model.stale = true;
}

/// Has the branch of an instance's directory looked up, where that is on this machine.
fn branch(model: &Model, name: &InstanceName, effects: &mut Vec<Effect>) {
    let plan = model.fleet.instances.get(name).and_then(|instance| instance.plan.as_ref());
    if let Some(dir) = plan.and_then(|plan| plan.host_workdir.clone()) {
        effects.push(Effect::Branch { instance: name.clone(), dir });
    }
}

/// Takes away what has had its time.
fn expire(model: &mut Model) {
    if model.message.as_ref().is_some_and(|message| message.until <= model.now) {
        (model.message, model.changed) = (None, true);
    }
    let (now, before) = (model.now, model.modals.len());
    model.modals.retain(|modal| match modal {
        super::model::modal::Modal::Ask(ask) => ask.until.is_none_or(|until| until > now),
        _ => true,
    });
    if model.modals.len() < before {
        model.changed = true;
        let seconds = jackin_tools::Tool::PROMPT_TIMEOUT.as_secs();
        model.complain(format!("nobody answered within {seconds} seconds: the tool was not run"));
    }
}

/// The screen to watch from now on, where that is another one.
fn watch(model: &mut Model) -> Option<Effect> {
    let watched = model.watchable();
    model.preview.look(watched.clone()).then_some(Effect::Watch(watched))
}

/// Asks a capsule for everything.
fn look(instance: &InstanceName, effects: &mut Vec<Effect>) {
    effects.push(call(instance, Request::Snapshot {}, Purpose::Look));
}

fn call(instance: &InstanceName, request: Request, purpose: Purpose) -> Effect {
    Effect::Call { instance: instance.clone(), request: Box::new(request), purpose }
}

/// Whether an instance's capsule can be asked.
fn runs(model: &Model, instance: &InstanceName) -> bool {
    model.fleet.instances.get(instance).is_some_and(|instance| instance.presence == Presence::Running)
}
