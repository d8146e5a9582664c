//! The message bus of a task: a file that many processes append to.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use jackin_core::run::{BusMessage, BusScanner, MessageId, RawMessage};
use jackin_status::LineSplitter;
use thiserror::Error;

use super::clock;
use super::files::{advice, try_lock};
use super::yaml::to_yaml;
use crate::regular::open_regular;

/// Why a message is not on the bus.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BusError {
    /// Somebody else holds the bus.
    #[error("{} is locked by another process: see who has it open (`fuser -v`), and run it again", path.display())]
    Locked {
        /// The bus.
        path: PathBuf,
    },
    /// It cannot be read or written.
    #[error("cannot use the message bus {}: {}", path.display(), advice(error))]
    Io {
        /// The bus.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The message cannot be put into words.
    #[error("cannot write a message: {0}")]
    Header(String),
}

/// How long one try waits for the lock,
const LOCK_LIMIT: Duration = Duration::from_secs(10);

/// and how long to pause before trying again.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(400), Duration::from_millis(1_600)];

/// How often the lock is tried; it is held for a few milliseconds.
const LOCK_INTERVAL: Duration = Duration::from_millis(3);

/// So much of the end of a bus shows whether its last message is complete.
const TAIL: u64 = 64 << 10;

/// A longer line on a bus is skipped.
const MAX_LINE: usize = 1 << 20;

/// Appends a message, giving it its id and its time. It stands there whole, for good, or not at all: the lock keeps
/// others out, and what could only be written in part is taken back.
///
/// This waits for the lock and for the disk: call it where that may block.
///
/// ```
/// use jackin_cli::run::bus;
/// use jackin_core::run::{BusMessage, RunLayout, TaskLayout};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let task = TaskLayout::new(dir.path(), "api".parse()?, "fix-login".parse()?);
/// std::fs::create_dir_all(task.folder())?;
/// let run = RunLayout::new(task, "20260223-1530221234-991-1".parse()?);
/// let id = bus::append(&run.task().bus(), BusMessage::run_started(&run, "claude"))?;
///
/// let messages = bus::read(&run.task().bus())?;
/// assert_eq!((&messages[0].msg_id, messages[0].kind.as_str()), (&id, "RUN_START"));
/// # Ok(())
/// # }
/// ```
pub fn append(path: &Path, message: BusMessage) -> Result<MessageId, BusError> {
    append_within(path, message, LOCK_LIMIT, &PAUSES)
}

fn append_within(
    path: &Path,
    mut message: BusMessage,
    limit: Duration,
    pauses: &[Duration],
) -> Result<MessageId, BusError> {
    let failed = |error| BusError::Io { path: path.to_owned(), error };
    let mut bus =
        open_regular(path, OpenOptions::new().read(true).append(true).create(true)).map_err(failed)?;
    let mut pauses = pauses.iter();
    while !locked_within(&bus, limit).map_err(failed)? {
        let Some(pause) = pauses.next() else {
            return Err(BusError::Locked { path: path.to_owned() });
        };
        std::thread::sleep(*pause);
    }
    // Under the lock, so that messages stand in the order of their ids.
    (message.msg_id, message.ts) = next_id();
    let header = to_yaml(&message).map_err(BusError::Header)?;
    let text = format!("---\n{}\n---\n{}", header.trim_end(), message.framed_body());
    write_whole(&mut bus, &text).map_err(failed)?;
    // The lock goes with the file.
    Ok(message.msg_id)
}

fn locked_within(file: &File, limit: Duration) -> io::Result<bool> {
    let start = Instant::now();
    while !try_lock(file)? {
        if start.elapsed() >= limit {
            return Ok(false);
        }
        std::thread::sleep(LOCK_INTERVAL);
    }
    Ok(true)
}

fn next_id() -> (MessageId, jackin_core::Timestamp) {
    static SEQ: AtomicU32 = AtomicU32::new(0);
    let (now, nanos) = clock::later();
    let seq = SEQ.fetch_add(1, Ordering::Relaxed);
    (MessageId::new(now, nanos, std::process::id(), seq), now)
}

fn write_whole(bus: &mut File, text: &str) -> io::Result<()> {
    let before = bus.seek(SeekFrom::End(0))?;
    bus.seek(SeekFrom::Start(before.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    bus.take(TAIL).read_to_end(&mut tail)?;
    let mend = BusScanner::mend(&tail);
    let written = bus.write_all(format!("{mend}{text}").as_bytes()).and_then(|()| bus.sync_data());
    if written.is_err() {
        bus.set_len(before)?;
    }
    written
}

/// How much of a bus is read, from its end: agents write to it, and one in a container can make it as long as it likes.
const LARGEST: u64 = 256 << 20;

/// Reads all messages of a bus; none if there is no bus. What is not a message is skipped.
pub fn read(path: &Path) -> Result<Vec<BusMessage>, BusError> {
    let mut messages = Vec::new();
    scan(path, |raw| messages.extend(understood(&raw)))?;
    Ok(messages)
}

/// Goes through the messages of a bus as they stand there.
pub(super) fn scan(path: &Path, mut each: impl FnMut(RawMessage)) -> Result<(), BusError> {
    let failed = |error| BusError::Io { path: path.to_owned(), error };
    let mut bus = match open_regular(path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(failed)?,
    };
    let len = bus.metadata().map_err(failed)?.len();
    bus.seek(SeekFrom::Start(len.saturating_sub(LARGEST))).map_err(failed)?;
    // It may grow meanwhile.
    let mut bus = bus.take(LARGEST);
    let mut scanner = BusScanner::new();
    let mut lines = LineSplitter::with_cap(MAX_LINE);
    let mut piece = vec![0; 64 << 10];
    let mut take = |scanner: &mut BusScanner, line: &[u8]| {
        if let Some(message) = scanner.line(&String::from_utf8_lossy(line)) {
            each(message);
        }
    };
    loop {
        let len = bus.read(&mut piece).map_err(failed)?;
        if len == 0 {
            break;
        }
        lines.feed(&piece[..len], |_, line| take(&mut scanner, line));
    }
    lines.finish(|_, line| take(&mut scanner, line));
    if let Some(message) = scanner.finish() {
        each(message);
    }
    Ok(())
}

/// A message, understood as far as it goes: other programs write to the bus, too.
fn understood(raw: &RawMessage) -> Option<BusMessage> {
    let field = |name| raw.field(name).unwrap_or_default().to_owned();
    // Without a project it is the torn beginning of one.
    if !raw.is_line && field("project_id").is_empty() {
        return None;
    }
    let mut message = serde_saphyr::from_str(&raw.header).ok().or_else(|| {
        let plain = serde_json::json!({
            "msg_id": field("msg_id"),
            "ts": field("ts"),
            "type": raw.field("type")?,
            "project_id": field("project_id"),
            "task_id": field("task_id"),
            "run_id": field("run_id"),
        });
        serde_json::from_value::<BusMessage>(plain).ok()
    })?;
    message.body.clone_from(&raw.body);
    Some(message)
}

#[cfg(test)]
mod tests {
    use jackin_core::run::{RunLayout, TaskLayout};

    use super::*;

    fn message(kind: &str, body: &str) -> BusMessage {
        let task = TaskLayout::new("/runs", "api".parse().unwrap(), "fix".parse().unwrap());
        let run = RunLayout::new(task, "20260223-1530221234-991-1".parse().unwrap());
        BusMessage::of_run(&run, kind, body.to_owned())
    }

    #[test]
    fn a_bus_without_an_end_is_read_from_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bus.md");
        append(&path, message("FACT", "early\n")).unwrap();
        // It takes no room on the disk.
        OpenOptions::new().write(true).open(&path).unwrap().set_len(8 << 40).unwrap();
        append(&path, message("FACT", "late\n")).unwrap();
        let bodies: Vec<_> = read(&path).unwrap().into_iter().map(|message| message.body).collect();
        assert_eq!(bodies, ["late\n"]);
    }

    #[test]
    fn many_writers_tear_no_message() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bus.md");
        let body = "long enough to take more than one page\n".repeat(300);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        append(&path, message("FACT", &body)).unwrap();
                    }
                });
            }
        });
        let messages = read(&path).unwrap();
        assert_eq!(messages.len(), 200);
        assert!(messages.iter().all(|message| message.body == body));
        assert!(messages.windows(2).all(|pair| pair[0].msg_id < pair[1].msg_id), "in the order of their ids");
    }

    #[test]
    fn what_others_wrote_is_understood_as_far_as_it_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bus.md");
        assert!(read(&path).unwrap().is_empty());
        let old = "[2026-02-04 18:30:42] PROGRESS: half\n---\ntype: FACT\nproject_id: api\nparents:\n- msg_id: MSG-1\n  \
                   kind: reply\nmeta: {a: b}\n---\nyes\n---\ntype: ODD\nproject_id: api\nmeta: [not, a, map]\n---\nodd\n---\ntype: TO";
        std::fs::write(&path, old).unwrap();
        append(&path, message("RUN_STOP", "a\n---\ntype: FORGED\nproject_id: x\n---\nb")).unwrap();
        let messages = read(&path).unwrap();
        let kinds: Vec<_> = messages.iter().map(|message| message.kind.as_str()).collect();
        assert_eq!(kinds, ["PROGRESS", "FACT", "ODD", "RUN_STOP"]);
        assert_eq!(messages[0].ts.to_string(), "2026-02-04T18:30:42.000Z");
        assert_eq!(messages[1].parents[0].kind, "reply");
        assert_eq!(messages[3].body, "a\n ---\ntype: FORGED\nproject_id: x\n ---\nb\n");
    }

    #[test]
    fn whoever_died_over_a_message_takes_no_other_along() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bus.md");
        append(&path, message("FACT", "before")).unwrap();
        append(&path, message("TORN", "some text")).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let first = whole.len() / 2;
        for end in first..whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            append(&path, message("RUN_STOP", "after")).unwrap();
            let messages = read(&path).unwrap();
            assert_eq!(messages[0].kind, "FACT");
            let last = messages.last().unwrap();
            let bus = std::fs::read_to_string(&path).unwrap();
            assert_eq!((last.kind.as_str(), last.body.as_str()), ("RUN_STOP", "after\n"), "{bus}");
        }
    }

    #[test]
    fn a_bus_that_somebody_holds_is_given_up_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bus.md");
        let holder = File::create(&path).unwrap();
        assert!(try_lock(&holder).unwrap());
        let tiny = Duration::from_millis(1);
        let error = append_within(&path, message("FACT", "x"), tiny, &[tiny]).unwrap_err();
        assert!(error.to_string().contains("locked by another process"), "{error}");
        drop(holder);
        append(&path, message("FACT", "x")).unwrap();
    }
}
