//! Files that a crash, a full disk or an agent's mischief must not spoil.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use jackin_core::run::SinkError;
use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// Begins the name of a file that is not finished.
const UNFINISHED: &str = ".unfinished-";

/// Writes a file so that at every moment there is the old one or the new one, and never a piece of it.
pub(super) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put_atomically(path, |file| file.write_all(bytes))
}

/// Copies the beginning of a file likewise.
pub(super) fn copy_atomically(from: &mut File, most: u64, to: &Path) -> io::Result<()> {
    put_atomically(to, |file| io::copy(&mut from.take(most), file).map(drop))
}

/// The new file replaces whatever has its name, be it a link: an agent may have put one there.
fn put_atomically(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let unfinished = path.with_file_name(format!("{UNFINISHED}{}-{count}-{name}", std::process::id()));
    // Whatever is left under this name is of a process that is gone.
    let _ = fs::remove_file(&unfinished);
    let filled = (|| {
        let mut file = create_new(&unfinished)?;
        fill(&mut file)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    })();
    if filled.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    filled
}

/// Removes what a killed process left unfinished in a directory.
pub(super) fn remove_unfinished(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Creates a file that must not be there yet.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Makes what was done in a directory last.
pub(super) fn sync_directory(dir: &Path) -> io::Result<()> {
    match File::open(dir)?.sync_all() {
        // Some file systems know no such thing.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        done => done,
    }
}

/// Tries to lock a file for this process alone. False when another one has it.
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    lock_now(file, FlockOperation::NonBlockingLockExclusive)
}

/// Whether another process has locked a file.
pub(super) fn is_locked(file: &File) -> io::Result<bool> {
    lock_now(file, FlockOperation::NonBlockingLockShared).map(|free| !free)
}

fn lock_now(file: &File, operation: FlockOperation) -> io::Result<bool> {
    match rustix::fs::flock(file, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// What the system said, and what to do about it.
pub(super) fn advice(error: &io::Error) -> String {
    let what = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space and run it again; what was written before is kept"
        }
        ErrorKind::FileTooLarge => "the limit for files is reached; what was written before is kept",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "check the owner and the rights of the directory, or choose another with --root"
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "something else has that name: move it, or choose another directory with --root"
        }
        _ => return error.to_string(),
    };
    format!("{error}: {what}")
}

/// What could not be written, for the record.
pub(super) fn sink_error(path: &Path, error: &io::Error) -> SinkError {
    let file = path.file_name().map_or(PathBuf::from(path), PathBuf::from);
    SinkError { file: file.display().to_string(), reason: advice(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regular::{open_regular, read_regular};

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (outside, path) = (dir.path().join("outside"), dir.path().join("output.md"));
        std::os::unix::fs::symlink(&outside, &path).unwrap();
        assert!(open_regular(&path, OpenOptions::new().append(true).create(true)).is_err());
        write_atomically(&path, b"text").unwrap();
        assert!(!outside.exists());
        assert_eq!(read_regular(&path, 4).unwrap(), b"text");
        assert!(read_regular(&path, 3).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing unfinished is left");
    }

    #[test]
    fn a_failure_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run-info.yaml");
        write_atomically(&path, b"old").unwrap();
        let full = || io::Error::from(ErrorKind::StorageFull);
        let failed = put_atomically(&path, |file| file.write_all(b"ne").and(Err(full())));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(advice(&full()).contains("free some space"));
    }

    #[test]
    fn a_pipe_does_not_hang_us() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("TASK-MESSAGE-BUS.md");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(open_regular(&path, OpenOptions::new().append(true)).is_err());
        assert!(read_regular(&path, 10).is_err());
    }
}
