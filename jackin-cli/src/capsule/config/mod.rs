//! `agent.toml`: what the host tells a capsule about its instance.

mod mux;
mod read;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jackin_core::AgentFile;

pub(super) use mux::mux_settings;
pub use read::{AgentFileMistake, AgentFileOutcome, read_agent_file};

/// The largest file that is read.
const LARGEST: u64 = 1 << 20;

/// Everything that is wrong with a file, each with its line and what to write instead.
#[derive(Debug)]
struct Mistakes {
    file: String,
    mistakes: Vec<AgentFileMistake>,
}

impl std::error::Error for Mistakes {}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mistake) in self.mistakes.iter().enumerate() {
            let end = if at == 0 { "" } else { "\n" };
            write!(f, "{end}{}:{}: {}", self.file, mistake.line, mistake.what)?;
        }
        Ok(())
    }
}

/// Where the user keeps what belongs to jackin: `$JACKIN_CONFIG_DIR`, else `~/.config/jackin`.
pub(super) fn user_directory() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("JACKIN_CONFIG_DIR").or_else(|| set("HOME").map(|home| home.join(".config/jackin")))
}

/// Whether a capsule would take these settings.
#[cfg(feature = "host")]
pub(crate) fn check_mux(entry: &jackin_core::MuxEntry) -> Result<()> {
    mux_settings(entry, &[], |_| None).map(|_| ())
}

/// Reads a file. Keys that it does not know are logged and ignored.
pub(super) fn load(path: &Path) -> Result<AgentFile> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text))
        .with_context(|| format!("cannot read {}", path.display()))?;
    anyhow::ensure!(
        text.len() as u64 <= LARGEST,
        "{} is longer than {LARGEST} bytes: no agent.toml is",
        path.display()
    );
    let read = read_agent_file(&text);
    let file = path.display().to_string();
    for unknown in &read.unknown {
        tracing::warn!("{file}:{}: {} is not known and is ignored", unknown.line, unknown.what);
    }
    read.result.map_err(|mistakes| Mistakes { file, mistakes }.into())
}
