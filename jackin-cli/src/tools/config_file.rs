use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use jackin_tools::{ConfigError, Tools};
use thiserror::Error;

/// Why there is no configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigFileError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It cannot be understood.
    #[error("{}", error.render(&path.display().to_string()))]
    Mistakes {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: ConfigError,
    },
    /// Nobody knows where it would be.
    #[error("neither JACKIN_CONFIG_DIR nor HOME is set: name the file with --config")]
    NoPlace,
}

/// Where the configuration is unless a file is named: `$JACKIN_CONFIG_DIR/config.toml`, else
/// `~/.config/jackin/config.toml`.
pub fn config_path() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("JACKIN_CONFIG_DIR")
        .or_else(|| set("HOME").map(|home| home.join(".config/jackin")))
        .map(|dir| dir.join("config.toml"))
}

/// Reads the tools and handlers of this file, or of the usual one. Only the usual one may be missing: then there are
/// no tools. Returns the file that was looked at, too.
pub fn load(file: Option<&Path>) -> Result<(Tools, PathBuf), ConfigFileError> {
    let path = match file {
        Some(file) => file.to_owned(),
        None => config_path().ok_or(ConfigFileError::NoPlace)?,
    };
    let text = match read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound && file.is_none() => String::new(),
        Err(error) => return Err(ConfigFileError::Read { path, error }),
    };
    match Tools::parse(&text) {
        Ok(tools) => Ok((tools, path)),
        Err(error) => Err(ConfigFileError::Mistakes { path, error }),
    }
}

/// Reads no more than shows that a file is too large.
fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(Tools::MAX_CONFIG as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}
