//! What is done with agents: the selected one, a new one, or all of them.

use jackin_core::protocol::control::{Direction, Launch, Request};
use jackin_core::{Attention, InstanceName};

use super::{Effect, Purpose, call, runs};
use crate::console::model::Model;
use crate::console::model::agent::{Presence, Session};
use crate::console::model::form::Form;
use crate::console::model::input::Input;
use crate::console::model::modal::{Ask, AskFor, Confirm, Modal};
use crate::console::model::rows::RowKey;
use crate::host::LOCAL;

/// Brings the selected session to the front of its instance, which gets the terminal when it has answered: one that hangs
/// would keep it.
pub(super) fn attach(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(key) = model.key().cloned() else {
        return model.say("nothing is selected");
    };
    let Some(instance) = running(model, "R starts it again, e ejects it") else { return };
    if model.session().is_some_and(|session| session.status.is_over()) {
        return model.complain("it has ended: R starts it again, Space clears it");
    }
    let request = key.session.map_or(Request::Status {}, |session_id| Request::SessionFocus { session_id });
    effects.push(call(&instance, request, Purpose::Attach(key.clone())));
    model.say(format!("attaching to {instance}"));
    model.attaching = Some(key);
}

pub(super) fn new_agent(model: &mut Model) {
    let hosts = model.fleet.hosts.keys().cloned().collect();
    let mut targets: Vec<String> = model.config.workspaces.keys().cloned().collect();
    let plan = model.instance().and_then(|instance| instance.plan.as_ref());
    let of_selected = plan.map(|plan| {
        if model.config.workspaces.contains_key(&plan.workspace) {
            return plan.workspace.clone();
        }
        let dir = plan.host_workdir.as_ref();
        dir.map_or_else(|| plan.workdir.clone(), |dir| dir.display().to_string())
    });
    // The selected agent's directory is the most likely one, then the one that the console was started in.
    if let Some(target) = of_selected {
        targets.retain(|other| *other != target);
        targets.insert(0, target);
    }
    targets.push(".".to_owned());
    let selected = model.key().map(|key| key.instance.clone()).filter(|name| runs(model, name));
    model.modals.push(Modal::NewAgent(Form::new(&model.config, hosts, targets, selected)));
}

/// The selected instance, if its capsule can be asked; else the operator is told why not. `ended` is what can be done
/// when it has ended.
pub(super) fn running(model: &mut Model, ended: &str) -> Option<InstanceName> {
    let Some(instance) = model.instance() else {
        model.say("no agent is selected");
        return None;
    };
    let name = instance.name.clone();
    match &instance.presence {
        Presence::Running => return Some(name),
        Presence::Starting => model.say(format!("{name} is still being made")),
        Presence::Silent(why) => {
            let text = format!("{name} does not answer: {why}");
            model.complain(text);
        }
        Presence::Ended(_) => model.complain(format!("{name} has ended: {ended}")),
    }
    None
}

/// The selected session, if its capsule can be asked.
fn session(model: &mut Model, why: &str) -> Option<(RowKey, Session)> {
    let instance = running(model, why)?;
    let session = model.session().cloned();
    if session.is_none() {
        model.say(format!("{instance} has no session yet"));
    }
    session.map(|session| (RowKey { instance, session: Some(session.id) }, session))
}

pub(super) fn split(model: &mut Model, direction: Direction, effects: &mut Vec<Effect>) {
    let Some((key, session)) = session(model, "R starts it again") else { return };
    let agent = session.agent.clone();
    let what = agent.clone().unwrap_or_else(|| "a shell".to_owned());
    let request = Request::SessionSplit {
        session_id: key.session,
        direction,
        launch: Launch { agent, focus: false, ..Launch::default() },
    };
    effects.push(call(&key.instance, request, Purpose::Started(format!("{what} started beside it"))));
}

pub(super) fn send(model: &mut Model) {
    let Some((key, session)) = session(model, "R starts it again") else { return };
    if session.question().is_some() {
        return model.complain("it asks a question: r answers it");
    }
    let ask = Ask {
        title: format!("Prompt for {}", key.instance),
        question: match session.attention {
            Attention::Working => "It is at work: the prompt is sent all the same.".to_owned(),
            _ => String::new(),
        },
        input: Input::default(),
        purpose: AskFor::Send(key),
        until: None,
    };
    model.modals.push(Modal::Ask(ask));
}

pub(super) fn answer(model: &mut Model) {
    let Some((key, session)) = session(model, "R starts it again") else { return };
    let Some(question) = session.question() else {
        return model.say("it asks nothing: s sends a prompt");
    };
    let ask = Ask {
        title: format!("Answer {}", key.instance),
        question: question.to_owned(),
        input: Input::default(),
        purpose: AskFor::Answer { to: key, enter: None },
        until: None,
    };
    model.modals.push(Modal::Ask(ask));
}

pub(super) fn acknowledge(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((key, session)) = session(model, "e takes it away") else { return };
    let request = Request::Ack { session_id: session.id };
    // An ended session is gone once it was seen.
    let purpose = Purpose::DoneAndLook(format!("{} was marked as seen", key.instance));
    effects.push(call(&key.instance, request, purpose));
}

pub(super) fn restart(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(key) = model.key().cloned() else { return model.say("no agent is selected") };
    let presence = model.instance().map(|instance| instance.presence.clone());
    match (presence, model.session()) {
        (Some(Presence::Ended(_)), _) => {
            model.say(format!("starting {} again", key.instance));
            effects.push(Effect::Restart(key.instance));
        }
        (Some(Presence::Running), Some(session)) if session.status.is_over() => {
            let request = Request::SessionRestart { session_id: session.id };
            effects.push(call(&key.instance, request, Purpose::Started("started again".to_owned())));
        }
        (Some(Presence::Running), Some(_)) => model.say("it runs: only what has ended can be started again"),
        _ => model.say("there is nothing to start again"),
    }
}

pub(super) fn eject(model: &mut Model) {
    let Some(key) = model.key().cloned() else { return model.say("no agent is selected") };
    let Some(instance) = model.instance() else { return };
    let what = match instance.sessions.len() {
        0 if matches!(instance.presence, Presence::Ended(_)) => format!("Remove {}?", key.instance),
        0 => format!("End {}?", key.instance),
        1 => format!("End {} and its session?", key.instance),
        many => format!("End {} and its {many} sessions?", key.instance),
    };
    let has_worktree = instance.plan.as_ref().is_some_and(|plan| plan.worktree.is_some());
    let kept = if has_worktree { "Work in no commit and recordings stay." } else { "Its recordings stay." };
    let text = format!("{what} {kept}");
    model.modals.push(Modal::Confirm(Confirm {
        title: "Eject".to_owned(),
        text,
        then: format!("ejecting {}", key.instance),
        yes: Effect::Eject(key.instance),
    }));
}

pub(super) fn exile(model: &mut Model) {
    if model.fleet.instances.is_empty() {
        return model.say("there is nobody to eject");
    }
    let text =
        "End every instance that was started from here? Work in no commit and recordings stay.".to_owned();
    let (title, then) = ("Exile".to_owned(), "ejecting all of them".to_owned());
    model.modals.push(Modal::Confirm(Confirm { title, text, yes: Effect::Exile, then }));
}

pub(super) fn record(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((key, session)) = session(model, "R starts it again") else { return };
    if session.recording.is_some() {
        return effects.push(Effect::EndRecording { instance: key.instance, session: session.id });
    }
    let here = model.instance().is_some_and(|instance| instance.host == LOCAL);
    effects.push(Effect::Record { instance: key.instance, session: session.id, here });
}

pub(super) fn explain(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((key, session)) = session(model, "what is known is shown already") else { return };
    let request = Request::SessionExplain { session_id: session.id };
    effects.push(call(&key.instance, request, Purpose::Explain(key.clone())));
    model.modals.push(Modal::Explain { of: key, told: None, scroll: 0 });
}
