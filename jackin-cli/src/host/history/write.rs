//! Writes the history, on a thread of its own.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use jackin_core::InstanceName;

use super::{Line, Noticed};
use crate::config::Paths;
use crate::host::backend::Ending;
use crate::host::follow::FleetEvent;
use crate::host::manifest::private_dir;

/// A file that is larger is put aside, and the one that was put aside before it goes.
const LARGEST: u64 = 4 << 20;

/// The longest line that is written. An agent decides how long its questions are.
const LONGEST: usize = 64 << 10;

/// How many instances have a history; the oldest goes.
const MOST: usize = 500;

/// How many lines wait for a slow disk; those beyond are left out.
const WAITING: usize = 1_024;

/// The ending of the file that is written to, and of the one that was put aside.
const CURRENT: &str = "jsonl";
const ASIDE: &str = "old.jsonl";

/// A line on its way.
#[derive(Debug)]
struct Entry {
    instance: InstanceName,
    text: String,
    /// Whether a history may begin with it. What comes late, of an instance whose history was deleted, begins none.
    begins: bool,
}

/// Writes what happens. It is written when this value is gone.
#[derive(Debug)]
pub(in crate::host) struct History {
    lines: Option<SyncSender<Entry>>,
    writer: Option<JoinHandle<()>>,
}

impl History {
    /// Begins to write. Where that cannot be done, nothing is.
    pub(in crate::host) fn begin(paths: &Paths) -> Self {
        let directory = paths.history();
        if private_dir(&directory).is_err() {
            return Self { lines: None, writer: None };
        }
        let (lines, waiting) = sync_channel(WAITING);
        let writer = std::thread::Builder::new().name("history".to_owned());
        let writer = writer.spawn(move || write(&directory, &waiting)).ok();
        Self { lines: writer.is_some().then_some(lines), writer }
    }

    /// Keeps an event, if it is one to be kept.
    pub(in crate::host) fn note(&self, event: &FleetEvent) {
        if let Some(line) = Line::of(event) {
            self.keep(&line);
        }
    }

    /// Keeps how an instance ended.
    pub(in crate::host) fn ended(&self, instance: &InstanceName, ending: &Ending) {
        let (instance, ending) = (instance.clone(), Box::new(ending.clone()));
        self.note(&FleetEvent::Ended { instance, ending });
    }

    fn keep(&self, line: &Line) {
        let Some(lines) = &self.lines else { return };
        if let Ok(text) = serde_json::to_string(line)
            && text.len() < LONGEST
        {
            let begins = matches!(line, Line::Noticed(Noticed::Seen { .. }));
            let _ = lines.try_send(Entry { instance: line.instance().clone(), text, begins });
        }
    }
}

impl Drop for History {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// The files of an instance's history, the older first.
pub(in crate::host) fn files_of(paths: &Paths, instance: &InstanceName) -> [PathBuf; 2] {
    [ASIDE, CURRENT].map(|ending| paths.history().join(format!("{instance}.{ending}")))
}

fn write(directory: &Path, waiting: &Receiver<Entry>) {
    while let Ok(entry) = waiting.recv() {
        // A full disk, or a directory that somebody removed: the history has a gap then.
        let _ = append(directory, &entry);
    }
}

fn append(directory: &Path, Entry { instance, text, begins }: &Entry) -> io::Result<()> {
    let path = directory.join(format!("{instance}.{CURRENT}"));
    if *begins && !path.exists() {
        make_room(directory);
    }
    let open = |create: bool| OpenOptions::new().create(create).append(true).mode(0o600).open(&path);
    let mut file = open(*begins)?;
    if file.metadata()?.len() >= LARGEST {
        put_aside(directory, instance, &path, &file)?;
        file = open(true)?;
    }
    // One write, so that the lines of two who write stay whole.
    file.write_all(format!("{text}\n").as_bytes())
}

/// Whoever has the lock and finds the file still there puts it aside.
fn put_aside(directory: &Path, instance: &InstanceName, path: &Path, file: &File) -> io::Result<()> {
    file.lock()?;
    if fs::metadata(path).is_ok_and(|known| known.len() >= LARGEST) {
        fs::rename(path, directory.join(format!("{instance}.{ASIDE}")))?;
    }
    Ok(())
}

/// Forgets the oldest histories if there are too many.
fn make_room(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<_> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort();
    let surplus = (files.len() + 1).saturating_sub(MOST);
    for (_, file) in files.iter().take(surplus) {
        let _ = fs::remove_file(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let name: InstanceName = "api".parse().unwrap();
        let line = "x".repeat(LONGEST - 1);
        let entry =
            |instance: InstanceName, text: &str, begins| Entry { instance, text: text.to_owned(), begins };
        assert!(append(dir.path(), &entry(name.clone(), "late", false)).is_err(), "that begins no history");
        append(dir.path(), &entry(name.clone(), "first", true)).unwrap();
        for _ in 0..200 {
            append(dir.path(), &entry(name.clone(), &line, false)).unwrap();
        }
        let sizes: u64 =
            fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert!((LARGEST..2 * LARGEST + 2 * LONGEST as u64).contains(&sizes), "{sizes}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        for number in 0..MOST + 10 {
            append(dir.path(), &entry(format!("i-{number}").parse().unwrap(), "x", true)).unwrap();
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), MOST);
    }
}
