//! What capsules answered.

use jackin_core::InstanceName;
use jackin_core::protocol::control::{Created, Explanation, Recording, Request, Resources, Snapshot, Tags};
use serde_json::Value;

use super::{Effect, Purpose, Unanswered, call, look};
use crate::console::model::agent::Session;
use crate::console::model::modal::Modal;
use crate::console::model::rows::RowKey;
use crate::console::model::{Model, Selected};
use crate::host::FleetEvent;

/// Takes an answer.
pub(super) fn answer(
    model: &mut Model,
    instance: &InstanceName,
    purpose: Purpose,
    answer: Result<Value, Unanswered>,
    effects: &mut Vec<Effect>,
) {
    if let Some(known) = model.fleet.instances.get_mut(instance)
        && matches!(purpose, Purpose::Resources | Purpose::Look)
    {
        known.asked = false;
    }
    let value = match answer {
        Ok(value) => value,
        Err(why) => return failed(model, instance, purpose, &why, effects),
    };
    match purpose {
        // Whoever pressed another key in the meantime has changed their mind.
        Purpose::Attach(key) => {
            if model.attaching.take() == Some(key) {
                model.attached = Some(instance.clone());
                effects.push(Effect::Attach(instance.clone()));
            }
        }
        Purpose::Done(words) => model.say(words),
        Purpose::DoneAndLook(words) => {
            model.say(words);
            look(instance, effects);
        }
        Purpose::Started(words) => {
            if let Some(Created { session_id }) = read(model, value)
                && let Some(known) = model.fleet.instances.get_mut(instance)
            {
                // Its event may still be under way.
                let new = || Session::started(session_id, String::new(), model.now);
                known.sessions.entry(session_id).or_insert_with(new);
                let key = RowKey { instance: instance.clone(), session: Some(session_id) };
                model.selected = Selected::Agent(key);
                model.refresh();
                model.say(words);
            }
            look(instance, effects);
        }
        Purpose::Look => {
            if let Some(snapshot) = read::<Snapshot>(model, value) {
                // Events that came in the meantime are newer than what was asked for before them.
                let known = model.fleet.instances.get(instance).map_or(0, |instance| instance.seq);
                if snapshot.seq >= known && snapshot.status.instance == *instance {
                    super::fleet(model, FleetEvent::Snapshot(Box::new(snapshot)), effects);
                }
            }
        }
        Purpose::Tags => {
            if let Some(tags) = read::<Tags>(model, value)
                && let Some(instance) = model.fleet.instances.get_mut(instance)
            {
                instance.set_tags(tags.tags);
                model.refresh();
            }
        }
        Purpose::Explain(of) => {
            let told = serde_json::from_value::<Explanation>(value).map(Box::new);
            show(model, &of, &told.map_err(|error| error.to_string()));
        }
        Purpose::Resources => {
            if let Ok(resources) = serde_json::from_value::<Resources>(value) {
                model.changed = model.fleet.measured(instance, &resources);
            }
        }
        Purpose::Recorded { began } => {
            if let Some(Recording { path }) = read(model, value) {
                model.say(if began { format!("recording to {path}") } else { format!("recorded: {path}") });
            }
            effects.push(call(instance, Request::Snapshot {}, Purpose::Look));
        }
    }
}

fn failed(
    model: &mut Model,
    instance: &InstanceName,
    purpose: Purpose,
    why: &Unanswered,
    effects: &mut Vec<Effect>,
) {
    match purpose {
        Purpose::Explain(of) => show(model, &of, &Err(why.to_string())),
        // Nobody asked for these.
        Purpose::Resources | Purpose::Look | Purpose::Tags => {}
        Purpose::Attach(_)
        | Purpose::Done(_)
        | Purpose::DoneAndLook(_)
        | Purpose::Started(_)
        | Purpose::Recorded { .. } => model.complain(format!("{instance}: {why}")),
    }
    // A capsule that hangs keeps its connections, and whoever follows its events waits for the next one.
    if let Unanswered::Silent(why) = why
        && super::runs(model, instance)
    {
        let silent = FleetEvent::Silent { instance: instance.clone(), why: why.clone() };
        super::fleet(model, silent, effects);
    }
}

fn show(model: &mut Model, about: &RowKey, answer: &Result<Box<Explanation>, String>) {
    for modal in &mut model.modals {
        if let Modal::Explain { of, told, .. } = modal
            && of == about
        {
            *told = Some(answer.clone());
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(model: &mut Model, value: Value) -> Option<T> {
    match serde_json::from_value(value) {
        Ok(read) => Some(read),
        Err(error) => {
            model.complain(format!("the capsule's answer could not be read: {error}"));
            None
        }
    }
}
