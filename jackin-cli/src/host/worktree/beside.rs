//! Directories of our own beside a clone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// A directory beside a clone, for one purpose; it goes when it is done with.
pub(super) struct Beside(PathBuf);

impl Beside {
    /// Its place, where nothing is: what somebody left who was killed is cleared away.
    pub(super) fn new(clone: &Path, purpose: &str) -> Result<Self> {
        let path = place(clone, purpose);
        clear(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = clear(&self.0);
    }
}

pub(super) fn place(clone: &Path, purpose: &str) -> PathBuf {
    let name = clone.file_name().unwrap_or_default().to_string_lossy();
    clone.with_file_name(format!(".{name}.{purpose}"))
}

fn clear(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // Of directories in directories more may be open at once than we may have; this one knows how to do without.
        Err(error) => {
            let mut rm = Command::new("rm");
            let rm = rm.args(["-rf", "--"]).arg(path).stdin(Stdio::null()).stderr(Stdio::null());
            rm.status()?.success().then_some(()).ok_or(error)
        }
        Ok(()) => Ok(()),
    }
}
