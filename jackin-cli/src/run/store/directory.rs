use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use jackin_core::run::{RunInfo, RunLayout, SinkError, TaskLayout};
use jackin_core::{RunId, Timestamp};
use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;

use super::{StoreError, failed};
use crate::regular::open_regular;
use crate::run::clock;
use crate::run::files::{
    copy_atomically, create_new, sink_error, sync_directory, try_lock, write_atomically,
};
use crate::run::yaml::to_yaml;

/// The name of a directory that is not a run's yet.
pub(super) const NEW: &str = ".new-";

/// How many ids are tried. One is enough unless processes with the same number share a root from different machines.
const TRIES: usize = 1_000;

/// The lock's file is so large that the last word of a run fits into its place when the disk is full.
const RESERVE: usize = 16 << 10;

/// The directory of a run that this process runs. Its lock shows everybody that somebody does; when the process dies,
/// the lock goes with it.
#[derive(Debug)]
pub struct RunDirectory {
    layout: RunLayout,
    lock: File,
}

impl RunDirectory {
    pub(super) fn create(
        task: &TaskLayout,
        begin: impl Fn(&RunLayout, Timestamp) -> RunInfo,
    ) -> Result<(Self, RunInfo), StoreError> {
        static SEQ: AtomicU32 = AtomicU32::new(0);
        let ids = std::iter::repeat_with(|| {
            let start = clock::now();
            let seq = SEQ.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            (start, RunId::new(start, std::process::id(), seq))
        });
        Self::create_as(ids.take(TRIES), task, begin)
    }

    /// The same with the first of these ids that nobody has.
    fn create_as(
        ids: impl Iterator<Item = (Timestamp, RunId)>,
        task: &TaskLayout,
        begin: impl Fn(&RunLayout, Timestamp) -> RunInfo,
    ) -> Result<(Self, RunInfo), StoreError> {
        for (start, id) in ids {
            let layout = RunLayout::new(task.clone(), id);
            let new = task.runs().join(format!("{NEW}{}", layout.run()));
            match fs::create_dir(&new) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(|error| failed(&new, error))?,
            }
            let info = begin(&layout, start);
            let furnished = furnish(&new, &layout, &info);
            match furnished.and_then(|lock| move_to_free(&new, &layout.folder()).map(|()| lock)) {
                Ok(lock) => {
                    let synced = sync_directory(&task.runs());
                    synced.map_err(|error| failed(&task.runs(), error))?;
                    return Ok((Self { layout, lock }, info));
                }
                Err(error) => {
                    let _ = fs::remove_dir_all(&new);
                    if !is_taken(&error) {
                        return Err(failed(&layout.folder(), error));
                    }
                }
            }
        }
        Err(StoreError::NoFreeId(task.runs()))
    }

    /// Takes over the directory of a runner that is gone; none while it lives.
    pub(super) fn take_over(layout: &RunLayout) -> Option<Self> {
        let lock = super::open_lock(layout)?;
        try_lock(&lock).is_ok_and(|free| free).then(|| Self { layout: layout.clone(), lock })
    }

    /// Where the files are.
    pub fn layout(&self) -> &RunLayout {
        &self.layout
    }

    /// Writes a file of the run for good.
    pub fn write(&self, path: &Path, text: &str) -> Result<(), SinkError> {
        write_atomically(path, text.as_bytes()).map_err(|error| sink_error(path, &error))
    }

    /// Writes the record.
    pub fn write_info(&self, info: &RunInfo) -> Result<(), SinkError> {
        self.put_info(info).map_err(|error| sink_error(&self.layout.info(), &error))
    }

    /// Writes the last record. With no space left, it takes the place that was kept for it.
    pub fn write_last_info(&self, info: &RunInfo) -> Result<(), SinkError> {
        let written = self.put_info(info).or_else(|error| {
            let full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
            if full && self.lock.set_len(0).is_ok() { self.put_info(info) } else { Err(error) }
        });
        let lasting = written.and_then(|()| sync_directory(&self.layout.folder()));
        lasting.map_err(|error| sink_error(&self.layout.info(), &error))
    }

    fn put_info(&self, info: &RunInfo) -> io::Result<()> {
        write_atomically(&self.layout.info(), to_yaml(info).map_err(io::Error::other)?.as_bytes())
    }

    /// Opens the files that the agent's output goes to.
    pub fn open_streams(&self) -> Result<(File, File), SinkError> {
        let open = |path: &Path| {
            open_regular(path, OpenOptions::new().append(true)).map_err(|error| sink_error(path, &error))
        };
        Ok((open(&self.layout.stdout())?, open(&self.layout.stderr())?))
    }

    /// Makes sure that there is an `output.md`: the agent's own, else its last words where they are known, else what it
    /// printed.
    pub fn ensure_output(&self, last_words: Option<&str>) -> Result<(), SinkError> {
        let path = self.layout.output();
        let found = fs::symlink_metadata(&path);
        if found.as_ref().is_ok_and(fs::Metadata::is_file) {
            return Ok(());
        }
        // A link, or a pipe: whoever reads it later must not be led astray, even if nothing can take its place.
        let _ = fs::remove_file(&path);
        let written = match last_words {
            Some(text) => write_atomically(&path, format!("{}\n", text.trim_end()).as_bytes()),
            None => open_regular(&self.layout.stdout(), OpenOptions::new().read(true))
                .and_then(|mut stdout| copy_atomically(&mut stdout, LARGEST_OUTPUT, &path)),
        };
        written.map_err(|error| sink_error(&path, &error))
    }

    /// Whether somebody asked to stop the run.
    pub fn is_stop_requested(&self) -> bool {
        self.layout.stop_request().exists()
    }

    /// The run is over: nothing is left but its record.
    pub fn close(self) {
        let _ = fs::remove_file(self.layout.stop_request());
        let _ = fs::remove_file(self.layout.lock());
        let _ = sync_directory(&self.layout.folder());
    }
}

/// How much of what an agent printed becomes its `output.md`. In a container the file is the agent's to make as long as it
/// likes, without any disk being that large.
const LARGEST_OUTPUT: u64 = 1 << 30;

/// Puts into a new directory what every run's directory has from the beginning.
fn furnish(new: &Path, layout: &RunLayout, info: &RunInfo) -> io::Result<File> {
    let inside = |path: &Path| new.join(path.file_name().unwrap_or_default());
    let mut lock = create_new(&inside(&layout.lock()))?;
    if !try_lock(&lock)? {
        return Err(io::Error::other("somebody else locked a new file"));
    }
    let mut text = format!("{}\n", std::process::id()).into_bytes();
    text.resize(RESERVE, b'\n');
    lock.write_all(&text)?;
    create_new(&inside(&layout.stdout()))?;
    create_new(&inside(&layout.stderr()))?;
    write_atomically(&inside(&layout.info()), to_yaml(info).map_err(io::Error::other)?.as_bytes())?;
    Ok(lock)
}

/// Renames a directory, and never over another: an empty one may be somebody's who is about to fill it.
fn move_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not every file system knows this; then a directory with something in it is safe at least.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => fs::rename(from, to),
        renamed => Ok(renamed?),
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(root: &Path) -> TaskLayout {
        let task = TaskLayout::new(root, "api".parse().unwrap(), "fix".parse().unwrap());
        fs::create_dir_all(task.runs()).unwrap();
        task
    }

    fn id(seq: u32) -> (Timestamp, RunId) {
        let start = Timestamp::from_millis(1_763_251_200_123);
        (start, RunId::new(start, 4711, seq))
    }

    fn begin(layout: &RunLayout, start: Timestamp) -> RunInfo {
        RunInfo::begun(layout, "parrot", start)
    }

    #[test]
    fn an_id_that_somebody_has_is_left_to_them() {
        let dir = tempfile::tempdir().unwrap();
        let task = task(dir.path());
        let folder = |seq| task.runs().join(id(seq).1.as_str());
        // A run of another machine, one that has just begun, one that is being furnished, and a file in the way.
        fs::create_dir(folder(1)).unwrap();
        fs::write(folder(1).join("run-info.yaml"), "theirs").unwrap();
        fs::create_dir(folder(2)).unwrap();
        let new = task.runs().join(format!("{NEW}{}", id(3).1));
        fs::create_dir(&new).unwrap();
        fs::write(folder(4), "a file").unwrap();

        let (made, info) = RunDirectory::create_as((1..=9).map(id), &task, begin).unwrap();
        assert_eq!((made.layout().run(), &info.run_id), (&id(5).1, &id(5).1));
        assert_eq!(super::super::read_info(made.layout()).unwrap(), info);
        assert_eq!(fs::read_to_string(folder(1).join("run-info.yaml")).unwrap(), "theirs");
        assert_eq!(fs::read_dir(folder(2)).unwrap().count(), 0, "nothing was put into it");
        assert!(new.exists(), "it is somebody's who is just making it");
        let left = fs::read_dir(task.runs()).unwrap().count();
        assert_eq!(left, 5, "what was furnished in vain is gone");
    }

    #[test]
    fn with_every_id_taken_it_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let task = task(dir.path());
        let first = RunDirectory::create_as([id(1)].into_iter(), &task, begin).unwrap();
        let again = RunDirectory::create_as([id(1), id(1)].into_iter(), &task, begin);
        assert!(matches!(again, Err(StoreError::NoFreeId(runs)) if runs == task.runs()));
        assert!(first.0.layout().lock().exists());
        assert_eq!(fs::read_dir(task.runs()).unwrap().count(), 1);
    }
}
