//! Becoming a session's program. The capsule starts this program again for each session of another user; it gives up
//! whatever its own user may do and becomes the program. So nothing of it has to happen between fork and exec in a
//! process with threads.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use super::unstarted::Unstarted;
use super::user::SessionUser;

/// How much rather a session is ended than the daemon when memory runs out, of 1,000.
const OOM_SCORE: &str = "300";

/// Whom to become, and what to run.
#[derive(Debug, Args)]
pub(super) struct ExecAsArgs {
    #[arg(long)]
    uid: u32,
    #[arg(long)]
    gid: u32,
    #[arg(long, value_delimiter = ',')]
    groups: Vec<u32>,
    /// Where it starts, entered with that user's rights
    #[arg(long)]
    cwd: Option<PathBuf>,
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// The arguments that make `jackin-capsule` run a program as a user.
pub(super) fn arguments(user: &SessionUser, cwd: Option<&Path>) -> Vec<OsString> {
    let groups: Vec<String> = user.groups.iter().map(ToString::to_string).collect();
    let mut arguments: Vec<OsString> = [
        "exec-as".into(),
        "--uid".into(),
        user.uid.to_string().into(),
        "--gid".into(),
        user.gid.to_string().into(),
    ]
    .into();
    if !groups.is_empty() {
        arguments.extend(["--groups".into(), groups.join(",").into()]);
    }
    if let Some(cwd) = cwd {
        arguments.extend(["--cwd".into(), cwd.into()]);
    }
    arguments.push("--".into());
    arguments
}

/// Becomes the program. Returns only if that fails.
pub(super) fn exec_as(args: &ExecAsArgs) -> Result<u8> {
    // Not every system has it.
    let _ = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE);
    become_user(args).with_context(|| format!("cannot become user {}", args.uid))?;
    if let Some(cwd) = &args.cwd {
        std::env::set_current_dir(cwd)
            .with_context(|| format!("user {} cannot start in {}", args.uid, cwd.display()))?;
    }
    let (program, rest) = args.command.split_first().context("there is no command to start")?;
    let error = Command::new(program).args(rest).exec();
    Err(Unstarted::new(&Path::new(program).display().to_string(), &error).into())
}

#[cfg(target_os = "linux")]
fn become_user(args: &ExecAsArgs) -> Result<()> {
    use rustix::process::{Gid, Uid};
    use rustix::thread::{
        CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_groups,
        set_thread_res_gid, set_thread_res_uid,
    };

    let (uid, gid) = (Uid::from_raw(args.uid), Gid::from_raw(args.gid));
    // The terminal is the session's own: its programs open it by name.
    if let Err(error) = rustix::fs::fchown(rustix::stdio::stdin(), Some(uid), Some(gid)) {
        tracing::debug!("the session's terminal keeps its owner: {error}");
    }
    let held = capabilities(None).context("cannot tell what this process may do")?;
    // Whoever insists on root keeps what root may do here; there is no wall to build.
    let gives_up = args.uid != 0;
    if gives_up && held.effective.contains(CapabilitySet::SETPCAP) {
        for capability in CapabilitySet::all().iter() {
            // An older kernel does not know the newest ones.
            let _ = remove_capability_from_bounding_set(capability);
        }
    }
    let groups: Vec<Gid> = args.groups.iter().copied().map(Gid::from_raw).collect();
    set_thread_groups(&groups).context("cannot set its groups")?;
    set_thread_res_gid(gid, gid, gid).context("cannot set its group")?;
    set_thread_res_uid(uid, uid, uid).context("cannot set its user")?;
    if gives_up {
        let none = CapabilitySet::empty();
        clear_ambient_capability_set().context("cannot give up capabilities")?;
        set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
            .context("cannot give up capabilities")?;
    }
    // A program with a set-user-id bit would undo all of it.
    set_no_new_privs(true).context("cannot refuse new privileges")
}

#[cfg(not(target_os = "linux"))]
fn become_user(_: &ExecAsArgs) -> Result<()> {
    anyhow::bail!("running sessions as another user works on Linux only")
}

/// Lets this thread, and no other, use files with the rights of a session's user. Only the effective user changes: the
/// thread still belongs to root where it matters who may end or trace it.
#[cfg(target_os = "linux")]
pub(super) fn read_as(user: &SessionUser) -> std::io::Result<()> {
    use rustix::process::{Gid, Uid};
    use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

    let groups: Vec<Gid> = user.groups.iter().copied().map(Gid::from_raw).collect();
    set_thread_groups(&groups)?;
    set_thread_res_gid(None, Gid::from_raw(user.gid), None)?;
    set_thread_res_uid(None, Uid::from_raw(user.uid), None)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn read_as(_: &SessionUser) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
