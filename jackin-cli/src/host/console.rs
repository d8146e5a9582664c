//! `jackin console`, and what the console has the host do.

use std::sync::Arc;

use anyhow::{Result, ensure};
use async_trait::async_trait;
use futures_util::future::join_all;
use jackin_core::InstanceName;
use jackin_core::protocol::control::PullRequest;

use super::backend::Steps;
use super::courier::Courier;
use super::fleet::{Fleet, LOCAL};
use super::github::Github;
use super::life;
use super::planning::PlanArgs;
use crate::capsule;
use crate::config::{BackendKind, Loaded, Readable};
use crate::console::{self, Actions, NewAgent};

/// Shows all instances until the operator leaves; the exit code.
pub(super) async fn console(readable: Readable<Loaded>) -> Result<u8> {
    let fleet = Fleet::new(&readable.value);
    show(readable, fleet).await
}

/// The console over these hosts.
pub(crate) async fn show(readable: Readable<Loaded>, fleet: Fleet) -> Result<u8> {
    let Readable { value: loaded, wrong } = readable;
    let loaded = &loaded;
    let github = Arc::new(Github::new(&loaded.config.github));
    let events = Courier::new(loaded, &fleet, github.clone()).beside(fleet.follow());
    let actions =
        HostActions { loaded: loaded.clone(), is_wrong: wrong.is_some(), fleet: fleet.clone(), github };
    console::run(loaded, fleet, events, actions).await
}

/// The host, as the console needs it.
pub(crate) struct HostActions {
    loaded: Loaded,
    /// Whether something is wrong with the configuration, of which this is what could be read.
    is_wrong: bool,
    fleet: Fleet,
    github: Arc<Github>,
}

/// What is said of a configuration with mistakes.
const WRONG: &str = "the configuration has mistakes: see `jackin config check`";

#[async_trait]
impl Actions for HostActions {
    fn remark(&self) -> Option<String> {
        self.is_wrong.then(|| WRONG.to_owned())
    }

    async fn attach(&self, instance: &InstanceName) -> Result<String> {
        let member = self.fleet.find(instance).await?;
        let parting = life::attach_member(&member, capsule::Part::Operator).await?;
        Ok(format!("{instance}: {}", parting.message))
    }

    async fn new_agent(&self, choice: NewAgent, step: &mut Steps<'_>) -> Result<InstanceName> {
        ensure!(!self.is_wrong, "{WRONG}, and open the console again before you make agents");
        let NewAgent { target, role, agent, host } = choice;
        let (backend, host) = match host.as_deref() {
            None => (None, None),
            Some(LOCAL) => (Some(BackendKind::Local), None),
            Some(super::fleet::DOCKER) => (Some(BackendKind::Docker), None),
            Some(_) => (Some(BackendKind::Docker), host),
        };
        let (role, target) = (role.map(|role| role.to_string()), Some(target));
        let args = PlanArgs { role, target, agent, backend, host, ..PlanArgs::default() };
        let member = life::launch(&self.loaded, &self.fleet, &args, step).await?;
        Ok(member.instance)
    }

    async fn eject(&self, instance: &InstanceName) -> Result<Vec<String>> {
        Ok(life::eject(&self.fleet, instance).await?.lines())
    }

    async fn exile(&self) -> Result<usize> {
        // As on the command line: what others made on a shared engine is ejected by its name alone.
        let (manifests, _) = self.fleet.manifests().list();
        let ejected = manifests.iter().map(|manifest| async {
            let instance = &manifest.plan.instance;
            let error = life::eject(&self.fleet, instance).await.err()?;
            Some(format!("{instance} could not be ejected: {error:#}"))
        });
        // One that does not go keeps none of the others.
        let errors: Vec<String> = join_all(ejected).await.into_iter().flatten().collect();
        ensure!(errors.is_empty(), "{}", errors.join("; "));
        Ok(manifests.len())
    }

    async fn restart(&self, instance: &InstanceName) -> Result<()> {
        life::relaunch(&self.fleet, instance, &mut |_| {}).await.map(|_| ())
    }

    async fn ended(&self, instance: &InstanceName) -> Result<()> {
        life::reconcile(&self.fleet, instance, false).await.map(|_| ())
    }

    async fn pull_request(&self, url: &str) -> Option<PullRequest> {
        self.github.pull(url).await.map(|pull| pull.request)
    }
}
