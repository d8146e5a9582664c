//! The team's own tools on their keys.

use jackin_tools::{Context, Key, Placeholder, Platform, Provenance, ResolvedCommand, Tool, ValueError};

use super::Effect;
use crate::console::model::Model;
use crate::console::model::agent::Instance;
use crate::console::model::input::Input;
use crate::console::model::modal::{Ask, AskFor, Modal, Scroll};
use crate::console::model::rows::RowKey;
use crate::console::model::runs::RunId;
use crate::host::tool_context;

/// Fires the tool of a key: runs it, or asks its question first.
pub(super) fn fire(model: &mut Model, key: Key, effects: &mut Vec<Effect>) {
    let Some(tool) = model.tools.find(key, model.role()).cloned() else {
        if model.tools.all().iter().any(|tool| tool.key == key) {
            model.say(format!("the tool on {key} is for another role"));
        }
        return;
    };
    let of = model.key().cloned();
    match &tool.prompt {
        Some(question) => {
            // What is missing is said before anybody types an answer.
            if let Err(error) = resolve(model, &tool, of.as_ref(), Some("")) {
                return model.complain(error);
            }
            let ask = Ask {
                title: tool.name.clone(),
                question: question.clone(),
                input: Input::default(),
                purpose: AskFor::Tool { key, of },
                until: Some(model.now + Tool::PROMPT_TIMEOUT),
            };
            model.modals.push(Modal::Ask(ask));
        }
        None => run(model, &tool, of.as_ref(), None, effects),
    }
}

/// Runs a tool whose question was answered.
pub(super) fn answered(
    model: &mut Model,
    key: Key,
    of: Option<&RowKey>,
    input: &str,
    effects: &mut Vec<Effect>,
) {
    let role = of.and_then(|of| model.fleet.instances.get(&of.instance)?.plan.as_ref()?.role.as_ref());
    match model.tools.find(key, role).cloned() {
        Some(tool) => run(model, &tool, of, Some(input), effects),
        None => model.complain("the instance that the tool was for is gone"),
    }
}

fn run(model: &mut Model, tool: &Tool, of: Option<&RowKey>, input: Option<&str>, effects: &mut Vec<Effect>) {
    match resolve(model, tool, of, input) {
        Ok(command) => {
            let run = model.runs.begin(tool.name.clone(), model.now);
            effects.push(Effect::Run { run, command: Box::new(command), limit: tool.timeout });
            model.modals.push(Modal::Output { run, scroll: Scroll::End });
        }
        Err(error) => model.complain(error),
    }
}

/// A tool's command with the values of an instance.
fn resolve(
    model: &Model,
    tool: &Tool,
    of: Option<&RowKey>,
    input: Option<&str>,
) -> Result<ResolvedCommand, String> {
    let instance = of.and_then(|of| model.fleet.instances.get(&of.instance));
    let mut context = context(instance).map_err(|error| error.to_string())?;
    if let Some(input) = input {
        context.set(Placeholder::Input, input, Provenance::Operator).map_err(|error| error.to_string())?;
    }
    let command = tool.command.resolve(&context).map_err(|error| error.to_string())?;
    if crate::tools::on_path(&command.program) {
        return Ok(command);
    }
    let platform = Platform::from_os(std::env::consts::OS);
    match model.tools.handlers().instead_of_open(&command, &context, platform) {
        Some(instead) => instead.map_err(|error| error.to_string()),
        None => Ok(command),
    }
}

/// What is known of an instance, for placeholders.
fn context(instance: Option<&Instance>) -> Result<Context, ValueError> {
    let Some(instance) = instance else { return Ok(Context::new()) };
    tool_context(&instance.name, instance.plan.as_deref(), &instance.tags)
}

/// A tool has ended.
pub(super) fn ended(model: &mut Model, run: RunId, well: bool, how: String) {
    let watched =
        model.modals.iter().any(|modal| matches!(modal, Modal::Output { run: shown, .. } if *shown == run));
    let title = model.runs.get(run).map(|run| run.title.clone());
    if let Some(title) = title.filter(|_| !watched) {
        let text = format!("{title}: {how}");
        if well { model.say(text) } else { model.complain(text) }
    }
    model.runs.ended(run, well, how);
}
