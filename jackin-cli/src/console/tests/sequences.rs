//! Events and keys in any order, against a slow and obvious model of what is listed.

use std::collections::BTreeMap;

use jackin_core::{AgentStatus, Attention, EventKind};
use proptest::prelude::*;

use super::stage::{Stage, name, session};
use crate::console::model::Selected;
use crate::console::model::rows::Row;
use crate::host::{Ending, FleetEvent};

#[derive(Clone, Debug)]
enum Step {
    Appear(u8),
    Gone(u8),
    Silent(u8),
    Ended(u8, i32),
    Started(u8, u8),
    SessionEnded(u8, u8, bool),
    State(u8, u8, u8),
    Key(&'static str),
    Later(u64),
    Draw(u16, u16),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let instance = 0..4_u8;
    let id = 1..4_u8;
    let keys = prop::sample::select(vec![
        "up", "down", "left", "right", "end", "pagedown", "]", "[", "tab", "p", "S", "g", "m", "?", "esc",
        "t", "o", "y", "x", "c", "r", "s", "e", "enter", "R", "w", ":", "/", "z", "space", "|",
    ]);
    let step = prop_oneof![
        3 => instance.clone().prop_map(Step::Appear),
        1 => instance.clone().prop_map(Step::Gone),
        1 => instance.clone().prop_map(Step::Silent),
        1 => (instance.clone(), 0..2).prop_map(|(at, code)| Step::Ended(at, code)),
        3 => (instance.clone(), id.clone()).prop_map(|(at, id)| Step::Started(at, id)),
        1 => (instance.clone(), id.clone(), any::<bool>()).prop_map(|(at, id, well)| Step::SessionEnded(at, id, well)),
        4 => (instance, id, 0..5_u8).prop_map(|(at, id, state)| Step::State(at, id, state)),
        6 => keys.prop_map(Step::Key),
        1 => (0..4_000_u64).prop_map(Step::Later),
        2 => (1..130_u16, 1..40_u16).prop_map(|(columns, rows)| Step::Draw(columns, rows)),
    ];
    prop::collection::vec(step, 1..60)
}

/// What is listed: each instance with its sessions and whether its capsule runs.
#[derive(Default)]
struct Simple(BTreeMap<String, (bool, BTreeMap<u8, Attention>)>);

impl Simple {
    /// Instance, session and attention of every row.
    fn rows(&self) -> Vec<(String, Option<u8>)> {
        let mut rows = Vec::new();
        for (instance, (runs, sessions)) in &self.0 {
            if *runs && !sessions.is_empty() {
                rows.extend(sessions.keys().map(|id| (instance.clone(), Some(*id))));
            } else {
                rows.push((instance.clone(), None));
            }
        }
        rows
    }
}

fn take(stage: &mut Stage, simple: &mut Simple, step: &Step) {
    let called = |at: u8| format!("agent-{at}");
    match step {
        Step::Appear(at) => {
            stage.agent(&called(*at), "shop", "claude");
            simple.0.insert(called(*at), (true, [(1, Attention::Unknown)].into()));
        }
        Step::Gone(at) => {
            stage.fleet(FleetEvent::Gone { instance: name(&called(*at)) });
            simple.0.remove(&called(*at));
        }
        Step::Silent(at) => {
            let why = "it hangs".to_owned();
            stage.fleet(FleetEvent::Silent { instance: name(&called(*at)), why });
            if let Some((runs, _)) = simple.0.get_mut(&called(*at)) {
                *runs = false;
            }
        }
        Step::Ended(at, code) => {
            let ending = Box::new(Ending { exit_code: Some(*code), ..Ending::default() });
            stage.fleet(FleetEvent::Ended { instance: name(&called(*at)), ending });
            if let Some((runs, sessions)) = simple.0.get_mut(&called(*at)) {
                *runs = false;
                sessions.clear();
            }
        }
        Step::Started(at, id) => {
            let session_id = session(u32::from(*id));
            stage.event(&called(*at), EventKind::SessionStarted { session_id, title: "x".into() });
            if let Some((_, sessions)) = simple.0.get_mut(&called(*at)) {
                sessions.insert(*id, Attention::Unknown);
            }
        }
        Step::SessionEnded(at, id, well) => {
            let status = AgentStatus::from_exit_code(i32::from(!well));
            stage
                .event(&called(*at), EventKind::SessionEnded { session_id: session(u32::from(*id)), status });
            if let Some((_, sessions)) = simple.0.get_mut(&called(*at)) {
                if *well {
                    sessions.remove(id);
                } else if let Some(attention) = sessions.get_mut(id) {
                    *attention = Attention::Blocked;
                }
            }
        }
        Step::State(at, id, state) => {
            let now = stage.now;
            let (state, status) = [
                (Attention::Blocked, AgentStatus::Question { prompt: None, since: now }),
                (Attention::Done, AgentStatus::idle()),
                (Attention::Working, AgentStatus::Busy { since: now }),
                (Attention::Idle, AgentStatus::idle()),
                (Attention::Unknown, AgentStatus::Unknown),
            ][usize::from(*state)]
            .clone();
            let cause = jackin_core::Cause::new(jackin_core::Source::Hook, "x", now);
            let session_id = session(u32::from(*id));
            stage.event(&called(*at), EventKind::AgentStateChanged { session_id, state, status, cause });
            let known = simple.0.get_mut(&called(*at)).and_then(|(_, sessions)| sessions.get_mut(id));
            if let Some(attention) = known {
                *attention = state;
            }
        }
        Step::Key(key) => stage.keys(key),
        Step::Later(seconds) => stage.later(*seconds),
        Step::Draw(columns, rows) => {
            stage.draw(*columns, *rows);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn the_list_has_every_agent_once_and_the_selection_is_on_a_row(steps in steps()) {
        let (mut stage, mut simple) = (Stage::new(), Simple::default());
        for step in &steps {
            take(&mut stage, &mut simple, step);
            // Closed groups and filters hide rows; the whole list is what the model without them gives.
            let whole = crate::console::model::rows::Listing { sort: stage.model.listing.sort, ..Default::default() };
            let (rows, counts) = whole.rows(&stage.model.fleet);
            let mut listed: Vec<(String, Option<u8>)> = rows
                .iter()
                .filter_map(|row| match row {
                    Row::Agent(key) => Some((key.instance.to_string(), key.session.map(|id| id.get() as u8))),
                    _ => None,
                })
                .collect();
            listed.sort();
            prop_assert_eq!(&listed, &simple.rows());
            prop_assert_eq!(counts.all(), listed.len());
            for (instance, (runs, sessions)) in &simple.0 {
                if *runs {
                    let shown = &stage.model.fleet.instances[&name(instance)].sessions;
                    let attentions: BTreeMap<u8, Attention> =
                        shown.iter().map(|(id, session)| (id.get() as u8, session.attention)).collect();
                    prop_assert_eq!(&attentions, sessions);
                }
            }
            let at_cursor = stage.model.rows.get(stage.model.cursor);
            match &stage.model.selected {
                Selected::Nothing => prop_assert!(stage.model.rows.is_empty()),
                Selected::Group(group) => {
                    prop_assert!(matches!(at_cursor, Some(Row::Group(row)) if row.name == *group));
                }
                Selected::Agent(key) => prop_assert_eq!(at_cursor, Some(&Row::Agent(key.clone()))),
            }
            // The operator left; a new console is a new test.
            stage.model.quit = false;
            stage.model.attached = None;
        }
    }
}
