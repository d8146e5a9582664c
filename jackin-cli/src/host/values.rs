//! What tools are told of an instance.

use anyhow::Result;
use jackin_core::InstanceName;
use jackin_core::protocol::control::TagEntry;
use jackin_tools::{Context, Placeholder, Provenance, ValueError};

use super::fleet::{Fleet, InstanceState};
use super::plan::Plan;
use crate::config::Loaded;
use crate::tools::set_tags;

/// Everything that is known of an instance, for the placeholders of a tool.
pub(crate) fn tool_context(
    instance: &InstanceName,
    plan: Option<&Plan>,
    tags: &[TagEntry],
) -> Result<Context, ValueError> {
    let mut context = Context::of(instance.clone());
    if let Some(plan) = plan {
        context.set(Placeholder::Workspace, plan.workspace.as_str(), Provenance::Host)?;
        context.set(Placeholder::Workdir, plan.workdir.as_str(), Provenance::Host)?;
        if let Some(dir) = plan.host_workdir.as_ref().and_then(|dir| dir.to_str()) {
            context.set(Placeholder::HostWorkdir, dir, Provenance::Host)?;
        }
    }
    set_tags(&mut context, tags)?;
    Ok(context)
}

/// The same for an instance that has to be found first. One that nobody knows has its name alone: values can be given.
pub(super) async fn look_up(instance: InstanceName) -> Result<Context> {
    let fleet = Fleet::new(&Loaded::from_env()?);
    let Ok(member) = fleet.find(&instance).await else { return Ok(Context::of(instance)) };
    let view = member.look().await;
    let tags = match &view.state {
        InstanceState::Running(snapshot) => snapshot.tags.clone(),
        InstanceState::Ended(ending) => {
            ending.record.as_ref().map(|record| record.tags.clone()).unwrap_or_default()
        }
        InstanceState::Unfinished | InstanceState::Silent(_) => Vec::new(),
    };
    Ok(tool_context(&instance, view.plan.as_ref(), &tags)?)
}
