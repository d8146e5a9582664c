//! What has to be asked again and again, because nobody tells: what agents use of their machines, and what became of pull
//! requests. Those who work are asked often, those who rest seldom.

use std::time::Duration;

use jackin_core::protocol::control::Request;
use jackin_core::{Attention, TagKind, Timestamp};

use super::{Effect, Purpose, call};
use crate::console::model::Model;
use crate::console::model::agent::{Instance, Presence};

/// How often a look is worth taking at all.
pub(crate) const INTERVAL: Duration = Duration::from_secs(5);

/// How often those who rest are asked.
const RESTING: Duration = Duration::from_secs(60);

/// How often a pull request is asked for while its checks run, and otherwise.
const CHECKING: Duration = Duration::from_secs(30);
const SETTLED: Duration = Duration::from_secs(300);

/// Asks for what is due. Nothing is due while nobody looks.
pub(super) fn sample(model: &mut Model, effects: &mut Vec<Effect>) {
    if !model.focused || model.attached.is_some() {
        return;
    }
    let now = model.now;
    let selected = model.key().map(|key| key.instance.clone());
    let mut urls = Vec::new();
    for instance in model.fleet.instances.values() {
        let busy = instance.attention() == Attention::Working || selected.as_ref() == Some(&instance.name);
        match &instance.presence {
            _ if instance.asked => {}
            Presence::Running if is_due(instance, now, busy) => {
                effects.push(call(&instance.name, Request::Resources {}, Purpose::Resources));
            }
            // It may have come back.
            Presence::Silent(_) => super::look(&instance.name, effects),
            _ => {}
        }
        if instance.presence != Presence::Running {
            continue;
        }
        if busy {
            super::branch(model, &instance.name, effects);
        }
        urls.extend(instance.latest(&TagKind::Pr).map(|tag| tag.value.clone()));
    }
    for effect in effects.iter() {
        if let Effect::Call { instance, .. } = effect
            && let Some(instance) = model.fleet.instances.get_mut(instance)
        {
            instance.asked = true;
        }
    }
    model.pulls.retain(|url, _| urls.contains(url));
    model.pulls_asked.retain(|url, _| urls.contains(url));
    for url in urls {
        let checking =
            model.pulls.get(&url).and_then(|pull| pull.checks).is_some_and(|checks| checks.pending > 0);
        let pause = if checking { CHECKING } else { SETTLED };
        let asked: Option<&Timestamp> = model.pulls_asked.get(&url);
        if asked.is_none_or(|at| now.since(*at) >= pause) {
            model.pulls_asked.insert(url.clone(), now);
            effects.push(Effect::PullRequest(url));
        }
    }
}

/// Whether what an instance uses was measured long ago.
fn is_due(instance: &Instance, now: Timestamp, busy: bool) -> bool {
    let measured = instance.sessions.values().map(|session| session.load.map(|load| load.at)).min().flatten();
    // A little early counts: the interval is not exact.
    let pause = if busy { INTERVAL / 2 } else { RESTING };
    !instance.sessions.is_empty() && measured.is_none_or(|at| now.since(at) >= pause)
}
