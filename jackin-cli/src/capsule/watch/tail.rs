use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jackin_core::{RuntimeEvent, Timestamp};
use jackin_status::{Decoder, LineDecoder, MAX_LINE, Runtime};
use rustix::fs::OFlags;

/// How much is read at a time.
const CHUNK: usize = 256 << 10;

/// How much of one file is read before others get their turn.
const TURN: u64 = 4 << 20;

/// What one line of a transcript said.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    pub(super) at: Option<Timestamp>,
    pub(super) events: Vec<RuntimeEvent>,
}

/// What came of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Everything that is there was read.
    Done,
    /// There is more.
    More,
    /// The file cannot be read any more.
    Gone,
}

/// A transcript that grows.
pub(super) struct Tail {
    path: PathBuf,
    runtime: Runtime,
    lines: LineDecoder<Box<dyn Decoder>>,
    /// How far it was read; of a document, its length when it was.
    offset: u64,
    /// When a document was last changed.
    changed: Option<std::time::SystemTime>,
}

impl std::fmt::Debug for Tail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tail").field("path", &self.path).field("offset", &self.offset).finish_non_exhaustive()
    }
}

impl Tail {
    /// Follows a file from a place in it on; a document is read as a whole whenever it changes.
    pub(super) fn new(path: PathBuf, runtime: Runtime, offset: u64) -> Self {
        Self { path, runtime, lines: LineDecoder::new(runtime.decoder()), offset, changed: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn runtime(&self) -> Runtime {
        self.runtime
    }

    /// Reads what is new, as much as is one turn's share.
    pub(super) fn read(&mut self, mut each: impl FnMut(Line)) -> Progress {
        let Some(mut file) = open(&self.path) else { return Progress::Gone };
        let Ok(metadata) = file.metadata().and_then(|known| known.modified().map(|at| (known.len(), at)))
        else {
            return Progress::Gone;
        };
        let (len, modified) = metadata;
        if self.runtime.is_document() {
            self.read_document(&mut file, len, modified, each);
            return Progress::Done;
        }
        if len < self.offset {
            // It was written anew.
            self.lines = LineDecoder::new(self.runtime.decoder());
            self.offset = 0;
        }
        if file.seek(SeekFrom::Start(self.offset)).is_err() {
            return Progress::Gone;
        }
        let end = len.min(self.offset + TURN);
        let mut chunk = vec![0; CHUNK.min((end - self.offset) as usize)];
        while self.offset < end {
            let room = chunk.len().min((end - self.offset) as usize);
            match file.read(&mut chunk[..room]) {
                Ok(read @ 1..) => {
                    self.offset += read as u64;
                    self.lines.feed(&chunk[..read], |decoded| {
                        each(Line { at: decoded.line_time, events: std::mem::take(decoded.events) });
                    });
                }
                _ => return Progress::Done,
            }
        }
        if end < len { Progress::More } else { Progress::Done }
    }

    fn read_document(
        &mut self,
        file: &mut File,
        len: u64,
        modified: std::time::SystemTime,
        mut each: impl FnMut(Line),
    ) {
        if (len, Some(modified)) == (self.offset, self.changed) || len > MAX_LINE as u64 {
            return;
        }
        let mut document = Vec::new();
        if file.take(MAX_LINE as u64).read_to_end(&mut document).is_err() {
            return;
        }
        // Half a document is no JSON; the next change brings the rest.
        (self.offset, self.changed) = (len, Some(modified));
        self.lines.line(&document, |decoded| {
            each(Line { at: decoded.line_time, events: std::mem::take(decoded.events) });
        });
    }
}

/// Opens a plain file. An agent may put anything in its place: what is no file would block, and a link could lead to
/// what is not the agent's to show.
fn open(path: &Path) -> Option<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits() as i32).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// The working directory that a transcript names in its first lines.
pub(super) fn named_directory(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    open(path)?.take(64 << 10).read_to_end(&mut head).ok()?;
    head.split(|byte| *byte == b'\n').take(32).find_map(|line| {
        let value: serde_json::Value = serde_json::from_slice(line).ok()?;
        let cwd = value.get("cwd").or_else(|| value.get("payload")?.get("cwd"))?;
        Some(cwd.as_str()?.to_owned())
    })
}

/// Length, last change and, where the file system tells, birth of a file.
pub(super) fn times(path: &Path) -> Option<(u64, Timestamp, Option<Timestamp>)> {
    let metadata = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.len(), stamp(metadata.modified().ok()?), metadata.created().ok().map(stamp)))
}

fn stamp(at: std::time::SystemTime) -> Timestamp {
    let since = at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const STARTED: &str = "{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\"}}\n";

    fn events(tail: &mut Tail) -> Vec<RuntimeEvent> {
        let mut events = Vec::new();
        while tail.read(|line| events.extend(line.events)) == Progress::More {}
        events
    }

    #[test]
    fn lines_are_taken_when_they_are_whole_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rollout.jsonl");
        let (head, rest) = STARTED.split_at(40);
        fs::write(&path, head).unwrap();
        let mut tail = Tail::new(path.clone(), Runtime::CodexRollout, 0);
        assert_eq!(events(&mut tail), []);
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(rest.as_bytes()).unwrap();
        assert_eq!(events(&mut tail), [RuntimeEvent::TurnStarted]);
        assert_eq!(events(&mut tail), []);
    }

    #[test]
    fn a_file_that_is_written_anew_is_read_anew_and_one_that_is_gone_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rollout.jsonl");
        fs::write(&path, STARTED.repeat(2)).unwrap();
        let mut tail = Tail::new(path.clone(), Runtime::CodexRollout, 0);
        assert!(!events(&mut tail).is_empty());
        fs::write(&path, STARTED).unwrap();
        assert_eq!(events(&mut tail), [RuntimeEvent::TurnStarted]);
        fs::remove_file(&path).unwrap();
        assert_eq!(tail.read(|_| {}), Progress::Gone);
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe.jsonl");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let link = dir.path().join("link.jsonl");
        std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
        for path in [pipe, link, dir.path().to_owned()] {
            assert_eq!(Tail::new(path.clone(), Runtime::CodexRollout, 0).read(|_| {}), Progress::Gone);
            assert_eq!(times(&path), None);
        }
    }

    #[test]
    fn a_large_file_is_read_in_turns() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rollout.jsonl");
        let padding = format!("{{\"padding\":\"{}\"}}\n", "x".repeat(1 << 20));
        fs::write(&path, padding.repeat(9) + STARTED).unwrap();
        let mut tail = Tail::new(path, Runtime::CodexRollout, 0);
        assert_eq!(tail.read(|_| panic!("nothing yet")), Progress::More);
        assert_eq!(events(&mut tail), [RuntimeEvent::TurnStarted]);
    }

    #[test]
    fn a_transcript_names_its_directory_somewhere_at_its_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        fs::write(&path, "{\"type\":\"summary\"}\nnonsense\n{\"cwd\":\"/work/a\"}\n{\"cwd\":\"/b\"}\n")
            .unwrap();
        assert_eq!(named_directory(&path).as_deref(), Some("/work/a"));
        fs::write(&path, "{\"type\":\"session_meta\",\"payload\":{\"cwd\":\"/c\"}}\n").unwrap();
        assert_eq!(named_directory(&path).as_deref(), Some("/c"));
        fs::write(&path, "{}").unwrap();
        assert_eq!(named_directory(&path), None);
    }
}
