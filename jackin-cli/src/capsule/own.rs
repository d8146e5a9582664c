//! How this program starts itself again: as the daemon, as the guard of a terminal, as a session of another user.

use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::{Context, Result};

/// The program that this process is. Its file may have been renamed, so that only its `main` can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own {
    /// `jackin-capsule`, whatever its file is called.
    Capsule,
    #[cfg(feature = "host")]
    /// `jackin`, whose capsule commands are below `capsule`.
    Host,
}

static OWN: OnceLock<Own> = OnceLock::new();

impl Own {
    /// Says which program this is, first thing in its `main`.
    pub(crate) fn has_begun(self) {
        // Whoever calls both has one file with two doors, and came in by the first.
        let _ = OWN.set(self);
    }
}

/// Whether this is one of our programs, and not somebody else's that uses the library.
pub(super) fn is_ours() -> bool {
    OWN.get().is_some()
}

/// This program's own file, and what stands before the capsule's commands. Somebody else's program that
/// starts capsules has them below `capsule` too.
pub(super) fn own_program() -> Result<(PathBuf, Option<&'static str>)> {
    let program =
        std::env::current_exe().context("cannot find this program's own file: is /proc mounted?")?;
    Ok((program, (OWN.get() != Some(&Own::Capsule)).then_some("capsule")))
}
