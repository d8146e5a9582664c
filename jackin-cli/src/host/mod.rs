//! The operator's command line.

mod ask;
mod backend;
mod cli;
mod console;
mod courier;
mod doctor;
mod fleet;
mod follow;
mod github;
mod history;
mod hooks;
mod input;
mod inside;
mod life;
mod list;
mod load;
mod log;
mod manifest;
mod plan;
mod planning;
mod play;
mod restart;
mod run_plan;
mod skills;
mod status;
mod tags;
mod values;
mod worktree;

pub(crate) use ask::{bring_recording, new_recording, repair_tag};
pub use backend::{
    Backend, BackendError, Brought, ByteStream, Changes, DockerBackend, Ending, FakeBackend, Found, Life,
    LocalBackend, Steps,
};
pub(crate) use backend::{RunAttachment, RunEngine, RunLife, RunSpec, container_name};
pub use cli::main;
pub(crate) use console::show;
pub use fleet::{DOCKER, Fleet, HostView, InstanceState, InstanceView, LOCAL, Member, PATIENCE};
pub use follow::FleetEvent;
pub(crate) use life::{eject, launch_plan, relaunch};
pub use manifest::{Lock, Manifest, ManifestError, Manifests, Phase};
pub use plan::{Plan, Secrets, Worktree};
pub(crate) use run_plan::{RunPlanArgs, plan_run};
pub(crate) use values::tool_context;
