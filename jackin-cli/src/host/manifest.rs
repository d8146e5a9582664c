//! What this machine knows of its instances: a file for each, written before anything else is made, so that whatever an
//! interrupted command left behind can be found and taken away.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jackin_core::{InstanceName, Timestamp};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::plan::Plan;
use crate::config::Paths;

/// The record of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The form of this file.
    pub version: u32,
    /// When the instance was made.
    pub created: Timestamp,
    /// How far it got.
    pub phase: Phase,
    /// The process that makes it, while it is being made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launcher: Option<u32>,
    /// What it is made of.
    pub plan: Plan,
}

/// How far an instance got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It is being made.
    Launching,
    /// It was made.
    Ready,
}

impl Manifest {
    /// The form that this version reads and writes.
    pub const VERSION: u32 = 1;

    /// An instance that this process begins to make.
    pub fn launching(plan: Plan, now: Timestamp) -> Self {
        let launcher = Some(std::process::id());
        Self { version: Self::VERSION, created: now, phase: Phase::Launching, launcher, plan }
    }
}

/// Why a record could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The file cannot be read or written.
    #[error("cannot {what} {}: {error}", path.display())]
    Io {
        /// What was being done.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The file is not understood.
    #[error("{} is not understood ({why}): remove it, then run `jackin gc`", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The name is taken.
    #[error("there is an instance {0} already: choose another --name, or end it with `jackin eject {0}`")]
    Exists(InstanceName),
    /// Another command is at work.
    #[error("another jackin command is at work on {0}: try again when it is done")]
    Locked(InstanceName),
}

/// The records of all instances.
#[derive(Clone, Debug)]
pub struct Manifests {
    dir: PathBuf,
}

/// The right to change an instance, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Whoever waits for it finds that the file is gone, and makes a new one.
        let _ = fs::remove_file(&self.path);
    }
}

/// How long a command waits for another one.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it looks.
const PAUSE: Duration = Duration::from_millis(50);

impl Manifests {
    /// Those in the operator's directory.
    pub fn new(paths: &Paths) -> Self {
        Self { dir: paths.instances() }
    }

    /// The directory that they are in.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn path(&self, instance: &InstanceName) -> PathBuf {
        self.dir.join(format!("{instance}.toml"))
    }

    /// All records, by name, and why others could not be read.
    pub fn list(&self) -> (Vec<Manifest>, Vec<ManifestError>) {
        let (mut manifests, mut problems) = (Vec::new(), Vec::new());
        let mut names: Vec<InstanceName> = match fs::read_dir(&self.dir) {
            Ok(entries) => entries.flatten().filter_map(|entry| name_of(&entry.path())).collect(),
            Err(_) => Vec::new(),
        };
        names.sort();
        for name in names {
            match self.read(&name) {
                Ok(Some(manifest)) => manifests.push(manifest),
                Ok(None) => {}
                Err(problem) => problems.push(problem),
            }
        }
        (manifests, problems)
    }

    /// The record of an instance, if it has one.
    pub fn read(&self, instance: &InstanceName) -> Result<Option<Manifest>, ManifestError> {
        let path = self.path(instance);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ManifestError::Io { what: "read", path, error }),
        };
        let manifest: Manifest = match toml::from_str(&text) {
            Ok(manifest) => manifest,
            Err(error) => return Err(ManifestError::Bad { path, why: error.message().to_owned() }),
        };
        if manifest.version != Manifest::VERSION || manifest.plan.instance != *instance {
            let why = format!("it is version {} of {}", manifest.version, manifest.plan.instance);
            return Err(ManifestError::Bad { path, why });
        }
        Ok(Some(manifest))
    }

    /// Writes a record. Readers see the old one or the new one, never a part.
    pub fn write(&self, manifest: &Manifest) -> Result<(), ManifestError> {
        let path = self.path(&manifest.plan.instance);
        let text = toml::to_string(manifest)
            .map_err(|error| ManifestError::Bad { path: path.clone(), why: error.to_string() })?;
        self.make_dir()?;
        write_atomically(&path, text.as_bytes()).map_err(|error| ManifestError::Io {
            what: "write",
            path,
            error,
        })
    }

    /// Removes a record; none is no error.
    pub fn remove(&self, instance: &InstanceName) -> Result<(), ManifestError> {
        let path = self.path(instance);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(ManifestError::Io { what: "remove", path, error })
            }
            _ => Ok(()),
        }
    }

    /// What tells these records from those of others who use the same engines. It is made up when it is first asked for.
    pub fn owner(&self) -> Result<String, ManifestError> {
        let path = self.dir.with_file_name("owner");
        let failed = |error| ManifestError::Io { what: "read", path: path.clone(), error };
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            read => return read.map_err(failed),
        }
        self.make_dir()?;
        let made = crate::capsule::new_token().map_err(io::Error::other).and_then(|owner| {
            let own = self.dir.with_file_name(format!("owner.{owner}"));
            write_atomically(&own, owner.as_bytes())?;
            // The first one to come stays.
            match fs::hard_link(&own, &path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
                _ => fs::remove_file(&own),
            }
        });
        made.and_then(|()| fs::read_to_string(&path)).map_err(failed)
    }

    /// Waits for the right to change an instance.
    pub async fn lock(&self, instance: &InstanceName) -> Result<Lock, ManifestError> {
        let begin = tokio::time::Instant::now();
        loop {
            if let Some(lock) = self.try_lock(instance)? {
                return Ok(lock);
            }
            if begin.elapsed() > PATIENCE {
                return Err(ManifestError::Locked(instance.clone()));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The right to change an instance, unless another command has it. It goes with the process that has it.
    pub fn try_lock(&self, instance: &InstanceName) -> Result<Option<Lock>, ManifestError> {
        self.make_dir()?;
        let path = self.dir.join(format!("{instance}.lock"));
        let failed = |error| ManifestError::Io { what: "lock", path: path.clone(), error };
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(None),
            Err(fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The one before may have removed the file between our opening and locking it.
        let (own, there) =
            (file.metadata().map_err(failed)?.ino(), fs::metadata(&path).map(|there| there.ino()));
        Ok((there.ok() == Some(own)).then(|| Lock { path, _file: file }))
    }

    fn make_dir(&self) -> Result<(), ManifestError> {
        private_dir(&self.dir).map_err(|error| ManifestError::Io {
            what: "make",
            path: self.dir.clone(),
            error,
        })
    }
}

fn name_of(path: &Path) -> Option<InstanceName> {
    if path.extension()? != "toml" {
        return None;
    }
    InstanceName::new(path.file_stem()?.to_str()?).ok()
}

/// Makes a directory that only its owner can enter.
pub(super) fn private_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Puts a file that only its owner can read in the place of another.
pub(super) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    let written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new).and_then(
        |mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        },
    );
    let done = written.and_then(|()| fs::rename(&new, path));
    if done.is_err() {
        let _ = fs::remove_file(&new);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BackendKind;

    fn store() -> (tempfile::TempDir, Manifests) {
        let dir = tempfile::tempdir().unwrap();
        let manifests = Manifests::new(&Paths::new(dir.path(), dir.path()));
        (dir, manifests)
    }

    fn manifest(name: &str) -> Manifest {
        let plan = Plan::new(name.parse().unwrap(), BackendKind::Local, "api", "/src");
        Manifest::launching(plan, Timestamp::from_millis(1))
    }

    #[test]
    fn an_owner_is_made_up_once() {
        let (dir, manifests) = store();
        let asked: Vec<_> = (0..8)
            .map(|_| {
                let manifests = manifests.clone();
                std::thread::spawn(move || manifests.owner().unwrap())
            })
            .collect();
        let owners: std::collections::BTreeSet<_> =
            asked.into_iter().map(|asked| asked.join().unwrap()).collect();
        assert_eq!(owners.len(), 1);
        assert_eq!(owners.first().unwrap().len(), 32);
        let left: std::collections::BTreeSet<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["instances", "owner"].map(Into::into).into());
    }

    #[test]
    fn records_read_back_and_bad_ones_are_told_apart() {
        let (_dir, manifests) = store();
        assert!(manifests.list().0.is_empty());
        let one = manifest("one");
        manifests.write(&one).unwrap();
        fs::write(manifests.dir().join("two.toml"), "version = 1\n").unwrap();
        fs::write(manifests.dir().join("note.txt"), "x").unwrap();
        let (list, problems) = manifests.list();
        assert_eq!(list, [one]);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].to_string().contains("two.toml"), "{}", problems[0]);
        manifests.remove(&"one".parse().unwrap()).unwrap();
        manifests.remove(&"one".parse().unwrap()).unwrap();
        assert!(manifests.read(&"one".parse().unwrap()).unwrap().is_none());
    }

    #[test]
    fn a_lock_has_one_owner_and_leaves_nothing() {
        let (_dir, manifests) = store();
        let name: InstanceName = "one".parse().unwrap();
        let lock = manifests.try_lock(&name).unwrap().unwrap();
        assert!(manifests.try_lock(&name).unwrap().is_none());
        assert!(manifests.try_lock(&"two".parse().unwrap()).unwrap().is_some());
        drop(lock);
        assert!(manifests.try_lock(&name).unwrap().is_some());
        assert_eq!(fs::read_dir(manifests.dir()).unwrap().count(), 0);
    }
}
