use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use jackin_core::run::{RunInfo, RunLayout, SinkError, TaskLayout};
use jackin_core::{RunId, Timestamp};

use super::{StoreError, failed};
use crate::run::clock;
use crate::run::files::{
    copy_atomically, create_new, open_regular, sink_error, sync_directory, try_lock, write_atomically,
};
use crate::run::yaml::to_yaml;

/// The name of a directory that is not a run's yet.
pub(super) const NEW: &str = ".new-";

/// How many ids are tried. One is enough unless processes with the same number share a root from different machines.
const TRIES: u32 = 1_000;

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
        for _ in 0..TRIES {
            let start = clock::now();
            let seq = SEQ.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            let id = RunId::new(start, std::process::id(), seq);
            let layout = RunLayout::new(task.clone(), id);
            let new = task.runs().join(format!("{NEW}{}", layout.run()));
            match fs::create_dir(&new) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(|error| failed(&new, error))?,
            }
            let info = begin(&layout, start);
            let furnished = furnish(&new, &layout, &info);
            // A directory with something in it is not replaced by renaming.
            let renamed = furnished.and_then(|lock| fs::rename(&new, layout.folder()).map(|()| lock));
            match renamed {
                Ok(lock) => {
                    let synced = sync_directory(&task.runs());
                    synced.map_err(|error| failed(&task.runs(), error))?;
                    return Ok((Self { layout, lock }, info));
                }
                Err(error) => {
                    let _ = fs::remove_dir_all(&new);
                    let taken = matches!(
                        error.kind(),
                        io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists
                    );
                    if !taken {
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
        let written = match (fs::symlink_metadata(&path), last_words) {
            (Ok(found), _) if found.is_file() => Ok(()),
            (_, Some(text)) => write_atomically(&path, format!("{}\n", text.trim_end()).as_bytes()),
            (_, None) => open_regular(&self.layout.stdout(), OpenOptions::new().read(true))
                .and_then(|mut stdout| copy_atomically(&mut stdout, &path)),
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
