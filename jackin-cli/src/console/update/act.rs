//! What the console's own keys do.

use jackin_core::protocol::control::{Direction, Launch, Request};
use jackin_core::{InstanceName, TagKind};
use jackin_tools::{ConsoleAction, Context, HandlerKind, Platform};

use super::{Effect, Purpose, call, runs};
use crate::config::Grouping;
use crate::console::model::agent::{Presence, Session};
use crate::console::model::choose::{Choice, Choose};
use crate::console::model::form::Form;
use crate::console::model::input::Input;
use crate::console::model::modal::{Ask, AskFor, Confirm, Modal, Pick};
use crate::console::model::rows::{Row, RowKey};
use crate::console::model::{Area, Model, Selected};
use jackin_core::Attention;

/// Does what a key stands for.
pub(super) fn act(model: &mut Model, action: ConsoleAction, effects: &mut Vec<Effect>) {
    use ConsoleAction as A;
    match action {
        A::Up => step(model, -1),
        A::Down => step(model, 1),
        A::PageUp => step(model, -(page(model) as isize)),
        A::PageDown => step(model, page(model) as isize),
        A::First => step(model, isize::MIN),
        A::Last => step(model, isize::MAX),
        A::Collapse => open_group(model, false),
        A::Expand => open_group(model, true),
        A::NextWaiting => waiting(model, true),
        A::PreviousWaiting => waiting(model, false),
        A::NextArea | A::PreviousArea => {
            model.area = if model.area == Area::List { Area::Detail } else { Area::List };
        }
        A::Attach => enter(model, effects),
        A::NewAgent => new_agent(model),
        A::SplitRight => split(model, Direction::Right, effects),
        A::SplitDown => split(model, Direction::Down, effects),
        A::Send => send(model),
        A::Answer => answer(model),
        A::Acknowledge => acknowledge(model, effects),
        A::Restart => restart(model, effects),
        A::Eject => eject(model),
        A::Exile => exile(model),
        A::Record => record(model, effects),
        A::Copy => copy(model, effects),
        A::OpenLink => open_link(model, effects),
        A::RepairTags => {
            if let Some(instance) = running(model, "its tags can be repaired while it runs") {
                model.modals.push(Modal::Tags { instance, at: model.detail_at });
            }
        }
        A::Explain => explain(model, effects),
        A::TogglePreview => model.show_preview = !model.show_preview,
        A::Mute => mute(model),
        A::Filter => model.filtering = Some(Input::new(&model.listing.filter)),
        A::Sort => {
            model.listing.sort = model.listing.sort.next();
            model.say(format!("sorted by {}", model.listing.sort.word()));
            model.refresh();
        }
        A::Group => group(model),
        A::Palette => palette(model),
        A::Help => model.modals.push(Modal::Help { scroll: 0 }),
        A::Redraw => effects.push(Effect::Redraw),
        A::Suspend => effects.push(Effect::Suspend),
        A::Back => {
            if model.area == Area::Detail {
                model.area = Area::List;
            } else if !model.listing.filter.is_empty() {
                model.listing.filter.clear();
                model.refresh();
            }
        }
        A::Quit => quit(model),
    }
}

fn page(model: &Model) -> usize {
    usize::from(model.scene.list.height).saturating_sub(1).max(1)
}

fn step(model: &mut Model, by: isize) {
    if model.area == Area::Detail {
        let tags = model.instance().map_or(0, |instance| instance.tags.len());
        model.detail_at = model.detail_at.saturating_add_signed(by).min(tags.saturating_sub(1));
        return;
    }
    let before = model.cursor;
    let to = model.cursor.saturating_add_signed(by);
    model.select(to);
    // Above the first row that can be selected there may be others.
    if by < 0 && model.cursor > before {
        model.select(before);
    }
}

fn open_group(model: &mut Model, open: bool) {
    let name = match &model.selected {
        Selected::Group(name) => name.clone(),
        Selected::Agent(_) if !open => {
            // From within a group, closing goes to its head first.
            let head = model.rows[..model.cursor].iter().rposition(|row| matches!(row, Row::Group(_)));
            if let Some(head) = head {
                model.select(head);
            }
            return;
        }
        _ => return,
    };
    if open {
        model.listing.closed.remove(&name);
    } else {
        model.listing.closed.insert(name);
    }
    model.refresh();
}

/// Goes to the next agent that needs the operator.
fn waiting(model: &mut Model, forward: bool) {
    let needs = |row: &Row| {
        let Row::Agent(key) = row else { return false };
        let Some(instance) = model.fleet.instances.get(&key.instance) else { return false };
        let session = key.session.and_then(|id| instance.sessions.get(&id));
        session.map_or_else(|| instance.attention(), |session| session.attention) >= Attention::Done
    };
    let len = model.rows.len();
    let mut places =
        (1..=len).map(|by| if forward { (model.cursor + by) % len } else { (model.cursor + len - by) % len });
    match places.find(|at| needs(&model.rows[*at])) {
        Some(at) => model.select(at),
        None => model.say("nobody needs you"),
    }
}

/// Enter: opens what is selected.
fn enter(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Selected::Group(name) = &model.selected {
        let open = model.listing.closed.contains(name);
        return open_group(model, open);
    }
    if model.area == Area::Detail {
        let tag = model.instance().and_then(|instance| instance.tags.get(model.detail_at));
        if let Some(tag) = tag.filter(|tag| tag.value.starts_with("http")) {
            let link = tag.value.clone();
            return open(model, &link, effects);
        }
    }
    attach(model, effects);
}

/// Gives the terminal to the selected session.
pub(super) fn attach(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(key) = model.key().cloned() else {
        return model.say("nothing is selected");
    };
    match model.instance().map(|instance| &instance.presence) {
        Some(Presence::Running | Presence::Silent(_)) => {
            model.attached = Some(key.instance.clone());
            effects.push(Effect::Attach { instance: key.instance, session: key.session });
        }
        Some(Presence::Starting) => model.say("it is still being made"),
        Some(Presence::Ended(_)) => model.complain("it has ended: R starts it again, e ejects it"),
        None => {}
    }
}

fn new_agent(model: &mut Model) {
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

/// The selected instance, if its capsule can be asked.
fn running(model: &mut Model, why: &str) -> Option<InstanceName> {
    let instance = model.key().map(|key| key.instance.clone());
    match instance {
        Some(instance) if runs(model, &instance) => Some(instance),
        Some(instance) => {
            model.complain(format!("{instance} does not run: {why}"));
            None
        }
        None => {
            model.say("no agent is selected");
            None
        }
    }
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

fn split(model: &mut Model, direction: Direction, effects: &mut Vec<Effect>) {
    let Some((key, session)) = session(model, "start it again first") else { return };
    let agent = session.agent.clone();
    let what = agent.clone().unwrap_or_else(|| "a shell".to_owned());
    let request = Request::SessionSplit {
        session_id: key.session,
        direction,
        launch: Launch { agent, focus: false, ..Launch::default() },
    };
    effects.push(call(&key.instance, request, Purpose::DoneAndLook(format!("{what} started beside it"))));
}

fn send(model: &mut Model) {
    let Some((key, session)) = session(model, "start it again first") else { return };
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

fn answer(model: &mut Model) {
    let Some((key, session)) = session(model, "start it again first") else { return };
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

fn acknowledge(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((key, session)) = session(model, "e takes it away") else { return };
    let request = Request::Ack { session_id: session.id };
    // An ended session is gone once it was seen.
    let purpose = Purpose::DoneAndLook(format!("{} was marked as seen", key.instance));
    effects.push(call(&key.instance, request, purpose));
}

fn restart(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(key) = model.key().cloned() else { return model.say("no agent is selected") };
    let presence = model.instance().map(|instance| instance.presence.clone());
    match (presence, model.session()) {
        (Some(Presence::Ended(_)), _) => {
            model.say(format!("starting {} again", key.instance));
            effects.push(Effect::Restart(key.instance));
        }
        (Some(Presence::Running), Some(session)) if session.status.is_over() => {
            let request = Request::SessionRestart { session_id: session.id };
            effects.push(call(&key.instance, request, Purpose::DoneAndLook("started again".to_owned())));
        }
        (Some(Presence::Running), Some(_)) => model.say("it runs: only what has ended can be started again"),
        _ => model.say("there is nothing to start again"),
    }
}

fn eject(model: &mut Model) {
    let Some(key) = model.key().cloned() else { return model.say("no agent is selected") };
    let sessions = model.instance().map_or(0, |instance| instance.sessions.len());
    let text = match sessions {
        0 => format!("Remove {}? Its worktree and recordings stay.", key.instance),
        1 => format!("End {} and its session? Its worktree and recordings stay.", key.instance),
        many => format!("End {} and its {many} sessions? Its worktree and recordings stay.", key.instance),
    };
    model.modals.push(Modal::Confirm(Confirm {
        title: "Eject".to_owned(),
        text,
        yes: Effect::Eject(key.instance),
    }));
}

fn exile(model: &mut Model) {
    let count = model.fleet.instances.len();
    if count == 0 {
        return model.say("there is nobody to eject");
    }
    let text = format!("End all {count} instances? Their worktrees and recordings stay.");
    model.modals.push(Modal::Confirm(Confirm { title: "Exile".to_owned(), text, yes: Effect::Exile }));
}

fn record(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((key, session)) = session(model, "start it again first") else { return };
    let session_id = session.id;
    let (request, began) = match session.recording {
        Some(_) => (Request::RecordStop { session_id }, false),
        None => (Request::RecordStart { session_id, path: None, limit: None }, true),
    };
    effects.push(call(&key.instance, request, Purpose::Recorded { began }));
}

fn copy(model: &mut Model, effects: &mut Vec<Effect>) {
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

fn open_link(model: &mut Model, effects: &mut Vec<Effect>) {
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

fn explain(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((key, session)) = session(model, "what is known stands beside it") else { return };
    let request = Request::SessionExplain { session_id: session.id };
    effects.push(call(&key.instance, request, Purpose::Explain(key.clone())));
    model.modals.push(Modal::Explain { of: key, told: None, scroll: 0 });
}

fn mute(model: &mut Model) {
    let Some(instance) = model.key().map(|key| key.instance.clone()) else {
        return model.say("no agent is selected");
    };
    if model.muted.remove(&instance) {
        model.say(format!("{instance} notifies again"));
    } else {
        model.say(format!("{instance} is muted"));
        model.muted.insert(instance);
    }
}

fn group(model: &mut Model) {
    let (next, word) = match model.listing.grouping {
        Grouping::Workspace => (Grouping::Host, "host"),
        Grouping::Host => (Grouping::None, "nothing"),
        Grouping::None => (Grouping::Workspace, "workspace"),
    };
    model.listing.grouping = next;
    model.say(format!("grouped by {word}"));
    model.refresh();
}

/// Every action and every tool, to be found by its words.
fn palette(model: &mut Model) {
    let mut choices: Vec<Choice<Pick>> = Vec::new();
    for reserved in jackin_tools::RESERVED_KEYS {
        let text = capital(reserved.action.does());
        match choices.iter_mut().find(|choice| choice.text == text) {
            Some(choice) => choice.hint = format!("{} {}", choice.hint, reserved.key),
            None => choices.push(Choice {
                text,
                hint: reserved.key.to_string(),
                value: Pick::Do(reserved.action),
            }),
        }
    }
    for tool in model.visible_tools().into_iter().rev() {
        let choice = Choice {
            text: format!("Tool: {}", tool.name),
            hint: tool.key.to_string(),
            value: Pick::Tool(tool.key),
        };
        choices.insert(0, choice);
    }
    if !model.runs.all().is_empty() {
        let text = "Show what tools printed".to_owned();
        choices.push(Choice { text, hint: String::new(), value: Pick::Outputs });
    }
    model.modals.push(Modal::Choose { title: "Commands".to_owned(), list: Choose::new(choices) });
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Leaves, unless a tool would be cut short.
fn quit(model: &mut Model) {
    let running = model.runs.running();
    if running > 0 {
        let noun = if running == 1 { "A tool is" } else { "Tools are" };
        model.modals.push(Modal::Confirm(Confirm {
            title: "Quit".to_owned(),
            text: format!("{noun} still running and will be ended. The agents go on. Quit?"),
            yes: Effect::Quit,
        }));
    } else {
        model.quit = true;
    }
}
