//! Making an instance, step by step. Everything that is made is labelled when it is made, so that whatever an
//! interrupted launch leaves is found and taken away.

use std::path::Path;

use bollard::Docker;
use bollard::models::{
    EndpointSettings, ImageInspect, NetworkConnectRequest, NetworkCreateRequest, VolumeCreateRequest,
};
use bollard::query_parameters::{
    ContainerArchiveInfoOptionsBuilder, CreateContainerOptionsBuilder, InspectNetworkOptions,
    RemoveContainerOptionsBuilder, StartContainerOptions,
};
use jackin_core::AgentFile;

use super::archive::{Access, Archive};
use super::capsule_binary::CapsuleBinary;
use super::connection::{ASK, CHANGE, Connection, Facts, LONG, Trouble, within};
use super::container::{self, Layout, Run, session_user};
use super::{AGENT_DIR, CAPSULE, CONFIG, DockerBackend, RUN_DIR, RUNTIME_DIR, STATE_DIR};
use super::{capsule_volume, image, labels, mounts, sidecars, started};
use crate::host::backend::{BackendError, Steps};
use crate::host::plan::{Plan, Secrets};

pub(super) async fn create(
    backend: &DockerBackend,
    plan: &Plan,
    secrets: &Secrets,
    step: &mut Steps<'_>,
) -> Result<(), BackendError> {
    let image_name = plan.image.as_deref().ok_or_else(|| {
        BackendError::Impossible(
            "a container needs an image: add --image, or `image = …` to the role".to_owned(),
        )
    })?;
    sidecars::check(plan)?;
    let engine = &*backend.engine;
    let mounts = mounts::mounts(plan, engine.socket().is_some())?;
    step(&format!("asking the Docker engine {}", engine.name()));
    let docker = engine.docker(LONG).await?;
    let facts = engine.facts(&docker).await?;
    let capsule = CapsuleBinary::find(&facts.arch, &backend.paths)?;
    for warning in warnings(backend, plan) {
        step(&warning);
    }
    let found = image::ensure(engine, &docker, image_name, step).await?;
    if let Some(warning) = check_image(image_name, &found, facts)? {
        step(&warning);
    }
    for sidecar in plan.sidecars.values() {
        image::ensure(engine, &docker, &sidecar.image, step).await?;
    }
    let making = Making { backend, docker: &docker, plan };
    making.make_network(step).await?;
    let run = backend.share_run_dir(plan, facts)?;
    making.make_volumes(&run).await?;
    for name in plan.sidecars.keys() {
        sidecars::start(engine, &docker, plan, name, step).await?;
    }
    step("making the container");
    let volume = plan.read_only.then(|| capsule_volume::name(&capsule, &facts.arch));
    if let Some(name) = &volume {
        capsule_volume::make(engine, &docker, name).await?;
    }
    let layout = Layout { run, capsule: volume, mounts };
    let layout = making.make_container(layout).await?;
    making.upload(&layout, &capsule, secrets, step).await?;
    step("starting the capsule");
    let name = labels::container(&plan.instance);
    let started = within(CHANGE, docker.start_container(&name, None::<StartContainerOptions>)).await;
    started.map_err(|trouble| engine.told(&format!("start {name}"), trouble))?;
    backend.wait_for_capsule(&docker, &plan.instance, &layout.run).await?;
    started::check(engine, &docker, plan).await
}

fn warnings(backend: &DockerBackend, plan: &Plan) -> Vec<String> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let mut warnings = mounts::warnings(plan, home.as_deref().map(Path::new), backend.engine.socket());
    if plan.user.as_ref().is_some_and(|user| user.uid == 0) {
        warnings.push(
            "warning: agents are root in this container: nothing keeps them from the capsule, and only the container \
             from the host"
                .to_owned(),
        );
    }
    // Of another machine's directories nothing is known.
    warnings.extend(mounts::closed(plan, &session_user(plan)).filter(|_| backend.engine.socket().is_some()));
    let privileged = plan.sidecars.iter().filter(|(_, sidecar)| sidecar.privileged);
    warnings.extend(privileged.map(|(name, _)| {
        format!("warning: the sidecar {name} is privileged: whoever takes it over is root on the host")
    }));
    warnings
}

/// Refuses a network that is not there.
pub(super) async fn check_network(
    engine: &Connection,
    docker: &Docker,
    plan: &Plan,
) -> Result<(), BackendError> {
    let Some(name) = container::named_network(plan) else { return Ok(()) };
    let found = within(ASK, docker.inspect_network(name, None::<InspectNetworkOptions>)).await;
    found.map(drop).map_err(|trouble| match trouble {
        trouble if trouble.is_missing() => BackendError::Impossible(format!(
            "the engine has no network {name}: make it (`docker network create {name}`), or write \
             `network = \"instance\"`"
        )),
        trouble => engine.told(&format!("look at the network {name}"), trouble),
    })
}

/// What is to be said about an image that may not run here.
pub(super) fn check_image(
    name: &str,
    image: &ImageInspect,
    facts: &Facts,
) -> Result<Option<String>, BackendError> {
    if let Some(os) = image.os.as_deref().filter(|os| !["linux", ""].contains(os)) {
        return Err(BackendError::Impossible(format!("the image {name} is for {os}: choose one for Linux")));
    }
    let kernel_name = match image.architecture.as_deref().unwrap_or_default() {
        "amd64" => "x86_64",
        "arm64" => "aarch64",
        other => other,
    };
    Ok((!kernel_name.is_empty() && kernel_name != facts.arch).then(|| {
        format!(
            "warning: the image {name} is for {kernel_name} and the engine is {}: its programs may not run",
            facts.arch
        )
    }))
}

pub(super) struct Making<'a> {
    pub(super) backend: &'a DockerBackend,
    pub(super) docker: &'a Docker,
    pub(super) plan: &'a Plan,
}

impl Making<'_> {
    pub(super) fn told(&self, what: &str, trouble: Trouble) -> BackendError {
        self.backend.engine.told(what, trouble)
    }

    async fn make_network(&self, step: &mut Steps<'_>) -> Result<(), BackendError> {
        check_network(&self.backend.engine, self.docker, self.plan).await?;
        if !container::has_own_network(self.plan) {
            return Ok(());
        }
        step("making the network");
        let name = labels::container(&self.plan.instance);
        let request = NetworkCreateRequest {
            name: name.clone(),
            driver: Some("bridge".to_owned()),
            labels: Some(labels::of(self.plan)?),
            ..NetworkCreateRequest::default()
        };
        let made = within(CHANGE, self.docker.create_network(request)).await;
        made.map(drop).map_err(|trouble| self.taken("network", &name, trouble))
    }

    async fn make_volumes(&self, run: &Run) -> Result<(), BackendError> {
        for name in container::own_volumes(self.plan, run) {
            let request = VolumeCreateRequest {
                name: Some(name.clone()),
                labels: Some(labels::of(self.plan)?),
                ..VolumeCreateRequest::default()
            };
            let made = within(CHANGE, self.docker.create_volume(request)).await;
            made.map_err(|trouble| self.told(&format!("make the volume {name}"), trouble))?;
        }
        Ok(())
    }

    /// Makes the container; with its socket inside, if the engine does not see the directory that it would be shared in.
    async fn make_container(&self, mut layout: Layout) -> Result<Layout, BackendError> {
        let name = labels::container(&self.plan.instance);
        loop {
            let body = container::body(self.plan, &layout, labels::of(self.plan)?)?;
            let options = CreateContainerOptionsBuilder::new().name(&name).build();
            match (within(CHANGE, self.docker.create_container(Some(options), body)).await, &layout.run) {
                (Ok(_), _) => break,
                (Err(Trouble::Refused(400, why)), Run::Shared { dir, .. })
                    if why.contains("bind source path does not exist")
                        && why.contains(&*dir.to_string_lossy()) =>
                {
                    layout.run = Run::Inside;
                    self.make_volumes(&layout.run).await?;
                }
                (Err(Trouble::Refused(400, why)), _) if why.contains("bind source path does not exist") => {
                    return Err(BackendError::Impossible(format!(
                        "the engine's machine does not have what is to be mounted ({why}): put it there at the same \
                         path, or choose another host"
                    )));
                }
                (Err(trouble), _) => return Err(self.taken("container", &name, trouble)),
            }
        }
        if container::named_network(self.plan).is_some() && container::has_own_network(self.plan) {
            let request = NetworkConnectRequest {
                container: name.clone(),
                endpoint_config: Some(EndpointSettings::default()),
            };
            let connected = within(CHANGE, self.docker.connect_network(&name, request)).await;
            connected.map_err(|trouble| self.told("connect the container to its sidecars", trouble))?;
        }
        Ok(layout)
    }

    fn taken(&self, what: &str, name: &str, trouble: Trouble) -> BackendError {
        if trouble.is_conflict() {
            let instance = &self.plan.instance;
            return BackendError::Impossible(format!(
                "the engine has a {what} {name} already: end it with `jackin eject {instance}`, or choose another --name"
            ));
        }
        self.told(&format!("make the {what} {name}"), trouble)
    }

    /// Puts everything into the container that the capsule needs to start.
    async fn upload(
        &self,
        layout: &Layout,
        capsule: &CapsuleBinary,
        secrets: &Secrets,
        step: &mut Steps<'_>,
    ) -> Result<(), BackendError> {
        let Self { backend, plan, docker } = self;
        let told = |trouble| self.told("put the capsule into the container", trouble);
        let container = labels::container(&plan.instance);
        let Some(volume) = &layout.capsule else {
            let archive = self.pack(layout, Some(capsule), &container, secrets, step).await?;
            return archive.unpack(docker, &container, "/").await.map_err(told);
        };
        let stand_in = labels::part(&plan.instance, container::STAND_IN);
        let body = container::stand_in(plan, layout, labels::of(plan)?)?;
        let options = CreateContainerOptionsBuilder::new().name(&stand_in).build();
        let made = within(CHANGE, docker.create_container(Some(options), body)).await;
        made.map_err(|trouble| self.taken("container", &stand_in, trouble))?;
        capsule_volume::fill(&backend.engine, docker, &stand_in, volume, capsule, &backend.paths.cache())
            .await?;
        let archive = self.pack(layout, None, &stand_in, secrets, step).await?;
        archive.unpack(docker, &stand_in, "/").await.map_err(told)?;
        let options = RemoveContainerOptionsBuilder::new().force(true).v(true).build();
        within(CHANGE, docker.remove_container(&stand_in, Some(options))).await.map_err(told)
    }

    /// The directories of a capsule with their owners, its configuration, rules and skills, and the capsule itself if it
    /// goes along.
    async fn pack(
        &self,
        layout: &Layout,
        capsule: Option<&CapsuleBinary>,
        container: &str,
        secrets: &Secrets,
        step: &mut Steps<'_>,
    ) -> Result<Archive, BackendError> {
        let plan = self.plan;
        let packed = |error: std::io::Error| BackendError::failed("pack what the capsule needs", error);
        let user = session_user(plan);
        let of_agent = Access { uid: user.uid, gid: user.gid.unwrap_or(user.uid), mode: 0o755 };
        let run = match layout.run {
            // The capsule has the group's right to it; the operator stays its owner, and can take it away. An image may
            // give its users root's group: the sticky bit keeps those from replacing the socket.
            Run::Shared { operator: Some(uid), .. } => Access { uid, gid: 0, mode: 0o1770 },
            Run::Shared { .. } | Run::Inside => Access::root(0o700),
        };
        let config = agent_toml(plan, secrets, layout)?;
        let mut archive = Archive::new();
        let below = |path: &str| path.trim_start_matches('/').to_owned();
        for (dir, access) in [
            ("/jackin", Access::root(0o755)),
            (RUNTIME_DIR, Access::root(0o755)),
            (AGENT_DIR, Access::root(0o755)),
            (STATE_DIR, Access::root(0o700)),
            (RUN_DIR, run),
        ] {
            archive.dir(&below(dir), access).map_err(packed)?;
        }
        if let Some(capsule) = capsule {
            archive.file(&below(CAPSULE), Access::root(0o755), &capsule.bytes).map_err(packed)?;
        }
        archive.file(&below(CONFIG), Access::root(0o600), config.as_bytes()).map_err(packed)?;
        self.add_rules(&mut archive, run, step).map_err(packed)?;
        // What an image brings along stays as it is; a volume is new, and root's.
        if plan.host_workdir.is_none() && (plan.read_only || !self.has(container, &plan.workdir).await?) {
            archive.dir(&below(&plan.workdir), of_agent).map_err(packed)?;
        }
        self.add_skills(&mut archive, container, step).await?;
        Ok(archive)
    }

    /// Whether there is such a path in a container.
    pub(super) async fn has(&self, container: &str, path: &str) -> Result<bool, BackendError> {
        let options = ContainerArchiveInfoOptionsBuilder::new().path(path).build();
        match within(ASK, self.docker.get_container_archive_info(container, Some(options))).await {
            Ok(_) => Ok(true),
            Err(trouble) if trouble.is_missing() => Ok(false),
            Err(trouble) => Err(self.told(&format!("look for {path} in the container"), trouble)),
        }
    }
}

/// What the capsule is told, secrets included.
fn agent_toml(plan: &Plan, secrets: &Secrets, layout: &Layout) -> Result<String, BackendError> {
    let mut file: AgentFile = plan.agent_file(secrets);
    if plan.read_only {
        file.user = Some(session_user(plan));
    }
    if let Run::Shared { operator, .. } = layout.run {
        // Whom the capsule lets in at the shared socket beside root.
        file.operator_uid = operator;
    }
    toml::to_string(&file).map_err(|error| BackendError::failed("write agent.toml", error))
}
