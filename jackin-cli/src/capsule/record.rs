//! A recording of one session: an asciicast file, version 2, written by a thread beside the loop. Whatever becomes of the
//! disk, the loop goes on and the file can be played as far as it goes.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use jackin_core::{SessionId, Size, Timestamp};
use serde_json::json;
use tokio::sync::{mpsc as tokio_mpsc, oneshot};

/// How large a recording gets unless it is said otherwise.
pub(super) const DEFAULT_LIMIT: u64 = 256 << 20;

/// How much may wait for a slow disk; then the recording ends.
const MOST_PENDING: usize = 16 << 20;

/// What is gathered for one write.
const WRITE_SIZE: usize = 64 * 1024;

/// How a recording ended.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) session: SessionId,
    pub(super) path: PathBuf,
    /// Why, where nobody asked for it.
    pub(super) trouble: Option<String>,
}

/// A recording that goes on.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) path: PathBuf,
    entries: Sender<Entry>,
    pending: Arc<AtomicUsize>,
    started: Instant,
    /// The first entry is written when the screen can be told.
    begun: bool,
    decoder: Utf8,
    size: Size,
    done: oneshot::Receiver<()>,
}

#[derive(Debug)]
enum Entry {
    Header {
        size: Size,
        title: String,
        at: Timestamp,
    },
    Output(Duration, String),
    Resize(Duration, Size),
    /// The loop gave up, and says why.
    Abandoned(String),
}

/// The recording cannot go on: what would have to wait for the disk is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooSlow;

/// What the thread is given.
struct Job {
    session: SessionId,
    path: PathBuf,
    limit: u64,
    entries: Receiver<Entry>,
    pending: Arc<AtomicUsize>,
}

impl Recorder {
    /// Starts a recording. `opened` is told whether its file could be made, `endings` when it has ended.
    pub(super) fn start(
        session: SessionId,
        path: PathBuf,
        limit: u64,
        opened: oneshot::Sender<Result<PathBuf, String>>,
        endings: tokio_mpsc::UnboundedSender<Ending>,
    ) -> io::Result<Self> {
        let (entries, received) = channel();
        let (finished, done) = oneshot::channel();
        let pending = Arc::new(AtomicUsize::new(0));
        let job =
            Job { session, path: path.clone(), limit, entries: received, pending: Arc::clone(&pending) };
        std::thread::Builder::new().name("recording".to_owned()).spawn(move || {
            let (session, path) = (job.session, job.path.clone());
            let trouble = job.run(opened);
            // The daemon may be gone.
            let _ = endings.send(Ending { session, path, trouble });
            let _ = finished.send(());
        })?;
        Ok(Self {
            path,
            entries,
            pending,
            started: Instant::now(),
            begun: false,
            decoder: Utf8::default(),
            size: Size::default(),
            done,
        })
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Writes what stands on the screen; what is printed from now on follows.
    pub(super) fn begin(
        &mut self,
        size: Size,
        title: &str,
        at: Timestamp,
        screen: &[u8],
    ) -> Result<(), TooSlow> {
        self.begun = true;
        self.size = size;
        self.started = Instant::now();
        self.send(Entry::Header { size, title: title.to_owned(), at }, 0)?;
        self.print(screen)
    }

    pub(super) fn print(&mut self, bytes: &[u8]) -> Result<(), TooSlow> {
        let text = self.decoder.decode(bytes);
        let len = text.len();
        if len == 0 {
            return Ok(());
        }
        self.send(Entry::Output(self.started.elapsed(), text), len)
    }

    pub(super) fn resize(&mut self, size: Size) -> Result<(), TooSlow> {
        if !self.begun || size == self.size {
            return Ok(());
        }
        self.size = size;
        self.send(Entry::Resize(self.started.elapsed(), size), 0)
    }

    /// Ends the recording; its file is complete once the receiver is told.
    pub(super) fn finish(self) -> oneshot::Receiver<()> {
        self.done
    }

    /// Ends the recording because something is wrong.
    pub(super) fn abandon(self, why: &str) -> oneshot::Receiver<()> {
        let _ = self.entries.send(Entry::Abandoned(why.to_owned()));
        self.done
    }

    fn send(&self, entry: Entry, len: usize) -> Result<(), TooSlow> {
        if self.pending.fetch_add(len, Ordering::Relaxed) + len > MOST_PENDING {
            return Err(TooSlow);
        }
        // A thread that has ended says so by itself.
        let _ = self.entries.send(entry);
        Ok(())
    }
}

impl Job {
    /// Writes until there is nothing more to write. Returns what went wrong.
    fn run(self, opened: oneshot::Sender<Result<PathBuf, String>>) -> Option<String> {
        let file = match create(&self.path) {
            Ok(file) => file,
            Err(error) => {
                let why = match error.kind() {
                    io::ErrorKind::AlreadyExists => {
                        format!("{} exists already: choose another file", self.path.display())
                    }
                    _ => format!("cannot make {}: {error}", self.path.display()),
                };
                let _ = opened.send(Err(why.clone()));
                return Some(why);
            }
        };
        let _ = opened.send(Ok(self.path.clone()));
        let mut cast = Cast { file, written: 0, buffer: Vec::new() };
        let mut trouble = None;
        while let Ok(entry) = self.entries.recv() {
            let mut next = Some(entry);
            while let Some(entry) = next.take() {
                if let Err(why) = self.take(entry, &mut cast) {
                    trouble = Some(why);
                    break;
                }
                next = self.entries.try_recv().ok();
            }
            if trouble.is_some() {
                break;
            }
            if let Err(error) = cast.flush() {
                return Some(disk_trouble(&self.path, &error));
            }
        }
        match cast.flush() {
            Err(error) if trouble.is_none() => Some(disk_trouble(&self.path, &error)),
            _ => trouble,
        }
    }

    fn take(&self, entry: Entry, cast: &mut Cast) -> Result<(), String> {
        let line = match entry {
            Entry::Header { size, title, at } => json!({
                "version": 2,
                "width": size.cols,
                "height": size.rows,
                "timestamp": at.as_millis() / 1000,
                "title": title,
                "env": { "TERM": "xterm-256color" },
            }),
            Entry::Output(at, text) => {
                self.pending.fetch_sub(text.len(), Ordering::Relaxed);
                json!([seconds(at), "o", text])
            }
            Entry::Resize(at, size) => json!([seconds(at), "r", format!("{}x{}", size.cols, size.rows)]),
            Entry::Abandoned(why) => return Err(why),
        };
        let mut line = line.to_string();
        line.push('\n');
        if cast.len() + line.len() as u64 > self.limit {
            return Err(format!("the limit of {} bytes is reached", self.limit));
        }
        cast.buffer.extend_from_slice(line.as_bytes());
        if cast.buffer.len() >= WRITE_SIZE {
            cast.flush().map_err(|error| disk_trouble(&self.path, &error))?;
        }
        Ok(())
    }
}

fn disk_trouble(path: &Path, error: &io::Error) -> String {
    format!("cannot write to {}: {error}", path.display())
}

/// Microseconds are as precise as anybody needs.
fn seconds(at: Duration) -> f64 {
    at.as_micros() as f64 / 1e6
}

/// A file of nobody else's that did not exist: a recording shows what was on the screen.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// The file, which always ends with a whole line.
struct Cast {
    file: File,
    written: u64,
    buffer: Vec<u8>,
}

impl Cast {
    fn len(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.file.write_all(&self.buffer);
        match outcome {
            Ok(()) => self.written += self.buffer.len() as u64,
            // A part of it may have been written, and half a line cannot be played.
            Err(_) => drop(self.file.set_len(self.written)),
        }
        self.buffer.clear();
        outcome
    }
}

/// Turns bytes into text, wherever they are cut.
#[derive(Debug, Default)]
struct Utf8 {
    /// The beginning of a character.
    cut: Vec<u8>,
}

impl Utf8 {
    fn decode(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.cut);
        all.extend_from_slice(bytes);
        let whole = all.len() - unfinished(&all);
        self.cut = all.split_off(whole);
        match String::from_utf8(all) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }
    }
}

/// How many bytes at the end begin a character that is not whole.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let needed = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if needed > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_survive_any_cut() {
        let text = "aé漢😀z";
        for cut in 0..=text.len() {
            let mut decoder = Utf8::default();
            let (first, second) = text.as_bytes().split_at(cut);
            assert_eq!(decoder.decode(first) + &decoder.decode(second), text, "{cut}");
        }
        assert_eq!(Utf8::default().decode(b"a\xffb\x80"), "a\u{fffd}b\u{fffd}");
        let mut decoder = Utf8::default();
        assert_eq!(decoder.decode(b"\xf0\x9f") + &decoder.decode(b"x"), "\u{fffd}x");
    }

    fn record(path: &Path, limit: u64, prints: &[&[u8]]) -> (Result<PathBuf, String>, Option<String>) {
        let (opened, was_opened) = oneshot::channel();
        let (endings, mut ended) = tokio_mpsc::unbounded_channel();
        let session = SessionId::new(1).unwrap();
        let mut recorder = Recorder::start(session, path.to_owned(), limit, opened, endings).unwrap();
        recorder.begin(Size::new(2, 10), "t", Timestamp::from_millis(5_000), b"hi").unwrap();
        for bytes in prints {
            recorder.print(bytes).unwrap();
        }
        recorder.resize(Size::new(3, 20)).unwrap();
        recorder.finish().blocking_recv().unwrap();
        (was_opened.blocking_recv().unwrap(), ended.blocking_recv().unwrap().trouble)
    }

    fn lines(path: &Path) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_file_is_written_that_others_can_play() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.cast");
        assert_eq!(record(&path, DEFAULT_LIMIT, &[b"\x1b[31mred"]), (Ok(path.clone()), None));
        let lines = lines(&path);
        assert_eq!(
            (&lines[0]["version"], &lines[0]["width"], &lines[0]["timestamp"]),
            (&json!(2), &json!(10), &json!(5))
        );
        let events: Vec<_> = lines[1..].iter().map(|line| (line[1].as_str(), line[2].as_str())).collect();
        let [o, r] = [Some("o"), Some("r")];
        assert_eq!(events, [(o, Some("hi")), (o, Some("\x1b[31mred")), (r, Some("20x3"))]);
        assert!(lines[1][0].as_f64().unwrap() <= lines[2][0].as_f64().unwrap());
        let (opened, trouble) = record(&path, DEFAULT_LIMIT, &[]);
        assert!(opened.unwrap_err().contains("exists already") && trouble.is_some());
    }

    #[test]
    fn a_limit_is_kept_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.cast");
        let print = [b'x'; 500];
        let (_, trouble) = record(&path, 2_000, &[&print, &print, &print, &print, &print]);
        assert_eq!(trouble.as_deref(), Some("the limit of 2000 bytes is reached"));
        assert!(std::fs::metadata(&path).unwrap().len() <= 2_000);
        assert_eq!(lines(&path).len(), 5);
    }

    #[test]
    fn what_waits_for_a_disk_is_bounded() {
        let (entries, _received) = channel();
        let (_, done) = oneshot::channel();
        let mut recorder = Recorder {
            path: PathBuf::new(),
            entries,
            pending: Arc::new(AtomicUsize::new(0)),
            started: Instant::now(),
            begun: true,
            decoder: Utf8::default(),
            size: Size::default(),
            done,
        };
        let print = vec![b'x'; MOST_PENDING / 2];
        assert_eq!(recorder.print(&print), Ok(()));
        assert_eq!(recorder.print(&print), Ok(()));
        assert_eq!(recorder.print(b"x"), Err(TooSlow));
    }
}
