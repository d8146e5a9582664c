//! What an agent declared and showed, on its way to the clipboard or the browser.

use jackin_core::TagKind;
use jackin_tools::{Context, HandlerKind, Platform};

use super::Effect;
use crate::console::model::agent::Session;
use crate::console::model::choose::{Choice, Choose};
use crate::console::model::modal::{Modal, Pick};
use crate::console::model::{Area, Model};

pub(super) fn copy(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(instance) = model.instance() else { return model.say("nothing is selected") };
    if model.area == Area::Detail
        && let Some(tag) = instance.tags.get(model.detail_at)
    {
        let value = tag.value.clone();
        model.say(format!("copied {value}"));
        return effects.push(Effect::Copy(value));
    }
    let mut choices = Vec::new();
    let mut offer = |text: &str, value: String| {
        let hint = jackin_core::one_line(&value, 40);
        choices.push(Choice { text: text.to_owned(), hint, value: Pick::Copy(value) });
    };
    for kind in [TagKind::Pr, TagKind::Issue, TagKind::Link, TagKind::Repo, TagKind::Status] {
        if let Some(tag) = instance.latest(&kind) {
            offer(kind.as_str(), tag.value.clone());
        }
    }
    if let Some(question) = model.session().and_then(Session::question) {
        offer("question", question.to_owned());
    }
    let screen = model.preview.text();
    if !screen.is_empty() {
        offer("screen", screen);
    }
    offer("instance", instance.name.to_string());
    offer("container", instance.name.container_name());
    if let Some(dir) = instance.plan.as_ref().and_then(|plan| plan.host_workdir.as_ref()) {
        offer("directory", dir.display().to_string());
    }
    model.modals.push(Modal::Choose { title: "Copy".to_owned(), list: Choose::new(choices) });
}

pub(super) fn open_link(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(instance) = model.instance() else { return model.say("nothing is selected") };
    if model.area == Area::Detail
        && let Some(tag) = instance.tags.get(model.detail_at).filter(|tag| tag.value.starts_with("http"))
    {
        let link = tag.value.clone();
        return open(model, &link, effects);
    }
    let name = instance.name.clone();
    let links: Vec<(TagKind, String)> =
        instance.links().into_iter().map(|tag| (tag.kind.clone(), tag.value.clone())).collect();
    match links.as_slice() {
        [] => model.say(format!("{name} has declared no link")),
        [(_, link)] => {
            let link = link.clone();
            open(model, &link, effects);
        }
        several => {
            let choice = |(kind, link): &(TagKind, String)| Choice {
                text: format!("{:<5}  {link}", kind.as_str()),
                hint: String::new(),
                value: Pick::Open { instance: name.clone(), link: link.clone() },
            };
            let list = Choose::new(several.iter().map(choice).collect());
            model.modals.push(Modal::Choose { title: "Open".to_owned(), list });
        }
    }
}

/// Opens a link of the selected instance with the operator's handler.
pub(super) fn open(model: &mut Model, link: &str, effects: &mut Vec<Effect>) {
    // A link is an agent's word: it is opened as a web page or not at all.
    if !(link.starts_with("http://") || link.starts_with("https://")) || link.contains(char::is_control) {
        return model.complain("that is no web address");
    }
    let context = model.key().map_or_else(Context::new, |key| Context::of(key.instance.clone()));
    let platform = Platform::from_os(std::env::consts::OS);
    match model.tools.handlers().resolve(HandlerKind::Web, link, &context, platform) {
        Ok(command) => {
            model.say(format!("opening {link}"));
            effects.push(Effect::Open { command: Box::new(command), what: link.to_owned() });
        }
        Err(error) => model.complain(error.to_string()),
    }
}
