//! What is written on everything that is made for an instance, so that it is found again by whoever looks.

use std::collections::HashMap;

use jackin_core::InstanceName;

use super::super::BackendError;
use crate::host::plan::Plan;

/// The instance that something belongs to.
pub(super) const INSTANCE: &str = "jackin.instance";
/// Its workspace.
pub(super) const WORKSPACE: &str = "jackin.workspace";
/// Its role.
pub(super) const ROLE: &str = "jackin.role";
/// The version that made it.
pub(super) const VERSION: &str = "jackin.version";
/// The plan, as JSON. It holds no secrets.
pub(super) const PLAN: &str = "jackin.plan";
/// The name of a sidecar; the instance's own container has none.
pub(super) const SIDECAR: &str = "jackin.sidecar";
/// The version of the capsule that a volume holds. Such a volume belongs to no instance.
pub(super) const CAPSULE: &str = "jackin.capsule";

/// The headless run that something belongs to. Such a thing belongs to no instance.
pub(super) const RUN: &str = "jackin.run";
/// The directory with the records of that run and others.
pub(super) const ROOT: &str = "jackin.root";

/// This version.
pub(super) const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Labels by name.
pub(super) type Labels = HashMap<String, String>;

/// The labels of everything that a plan is made of.
pub(super) fn of(plan: &Plan) -> Result<Labels, BackendError> {
    let json =
        serde_json::to_string(plan).map_err(|error| BackendError::failed("write the plan down", error))?;
    let mut labels = Labels::from([
        (INSTANCE.to_owned(), plan.instance.to_string()),
        (WORKSPACE.to_owned(), plan.workspace.clone()),
        (VERSION.to_owned(), OWN_VERSION.to_owned()),
        (PLAN.to_owned(), json),
    ]);
    if let Some(role) = &plan.role {
        labels.insert(ROLE.to_owned(), role.to_string());
    }
    Ok(labels)
}

/// The instance that something with these labels belongs to.
pub(super) fn instance(labels: &Labels) -> Option<InstanceName> {
    InstanceName::new(labels.get(INSTANCE)?).ok()
}

/// The plan that something with these labels was made by, if this version understands it.
pub(super) fn plan(labels: &Labels) -> Option<Plan> {
    serde_json::from_str(labels.get(PLAN)?).ok()
}

/// What lists everything of one instance, or of all.
pub(super) fn filter(instance: Option<&InstanceName>) -> HashMap<&'static str, Vec<String>> {
    let label = instance.map_or_else(|| INSTANCE.to_owned(), |instance| format!("{INSTANCE}={instance}"));
    HashMap::from([("label", vec![label])])
}

/// What lists everything that has this value in a label.
pub(super) fn having(label: &str, value: &str) -> HashMap<&'static str, Vec<String>> {
    HashMap::from([("label", vec![format!("{label}={value}")])])
}

/// The name of an instance's container, and of its network.
pub(super) fn container(instance: &InstanceName) -> String {
    format!("jackin-{instance}")
}

/// The name of a sidecar or a volume of an instance. No instance's name has a dot in it, so that the parts of one are
/// never taken for another instance.
pub(super) fn part(instance: &InstanceName, part: &str) -> String {
    format!("jackin-{instance}.{part}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BackendKind;

    #[test]
    fn a_plan_reads_back_from_its_labels() {
        let mut plan = Plan::new("api".parse().unwrap(), BackendKind::Docker, "api", "/workspace");
        plan.role = Some("acme/smith".parse().unwrap());
        plan.limits.memory = Some("64m".parse().unwrap());
        let labels = of(&plan).unwrap();
        assert_eq!((instance(&labels), super::plan(&labels)), (Some(plan.instance.clone()), Some(plan)));
        assert_eq!(labels[ROLE], "acme/smith");
        let strange =
            Labels::from([(INSTANCE.to_owned(), "../x".to_owned()), (PLAN.to_owned(), "{".to_owned())]);
        assert_eq!((instance(&strange), super::plan(&strange)), (None, None));
    }
}
