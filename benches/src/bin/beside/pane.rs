//! What runs in the panes: this program itself, called again, so that every multiplexer has the same to show.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Subcommand;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// A pane says this when it is there.
pub(crate) const READY: &str = "PANE-IS-THERE";
/// And this when it has printed everything.
pub(crate) const DONE: &str = "ALL-WAS-PRINTED";
/// The lines of [`Pane::Screen`]; more than fit.
pub(crate) const SCREEN_LINES: usize = 200;

/// No pane lives longer, and a multiplexer ends with its last one: nothing is left of a run that was interrupted.
const LIFE: Duration = Duration::from_secs(300);

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Pane {
    /// Echo each key, in raw mode
    Echo,
    /// Print lines as fast as they are taken
    Flood,
    /// Fill the screen
    Screen,
    /// Print a file when another one appears
    Replay { file: PathBuf, go: PathBuf },
    /// Print so many lines of 100 characters, then make a file in a directory
    Fill { lines: usize, done: PathBuf },
}

impl Pane {
    /// The words after the program's name.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = vec!["pane".to_owned()];
        match self {
            Self::Echo => words.push("echo".into()),
            Self::Flood => words.push("flood".into()),
            Self::Screen => words.push("screen".into()),
            Self::Replay { file, go } => {
                words.extend(["replay".into(), file.display().to_string(), go.display().to_string()]);
            }
            Self::Fill { lines, done } => {
                words.extend(["fill".into(), lines.to_string(), done.display().to_string()]);
            }
        }
        words
    }

    pub(crate) fn run(&self) -> Result<()> {
        std::thread::spawn(|| {
            std::thread::sleep(LIFE);
            std::process::exit(0);
        });
        // Without a buffer: what is written is what the terminal gets, in as many writes.
        let mut out = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
        match self {
            Self::Echo => {
                let mut modes = tcgetattr(std::io::stdin())?;
                modes.make_raw();
                tcsetattr(std::io::stdin(), OptionalActions::Now, &modes)?;
                write!(out, "{READY}\r\n")?;
                let mut keys = [0; 64];
                loop {
                    let read = std::io::stdin().read(&mut keys)?;
                    if read == 0 {
                        return Ok(());
                    }
                    out.write_all(&keys[..read])?;
                }
            }
            Self::Flood => {
                let lines: Vec<String> =
                    (0..2000).map(|at| format!("{FLOOD} {at} of the pane beside")).collect();
                let lines = lines.join("\n") + "\n";
                loop {
                    out.write_all(lines.as_bytes())?;
                }
            }
            Self::Screen => {
                let lines: String = (0..SCREEN_LINES).map(|at| screen_line(at) + "\n").collect();
                write!(out, "{lines}{READY}")?;
            }
            Self::Replay { file, go } => {
                write!(out, "{READY}")?;
                while !go.exists() {
                    std::thread::sleep(Duration::from_micros(200));
                }
                let mut file = File::open(file)?;
                let mut chunk = vec![0; 128 * 1024];
                loop {
                    let read = file.read(&mut chunk)?;
                    if read == 0 {
                        break;
                    }
                    out.write_all(&chunk[..read])?;
                }
                write!(out, "\x1b[0m\x1b[2J\x1b[H{DONE}")?;
            }
            Self::Fill { lines, done } => {
                let mut pages = BufWriter::new(&mut out);
                for at in 0..*lines {
                    writeln!(pages, "{at:06} {:.93}", "abcdefg ".repeat(12))?;
                }
                write!(pages, "{DONE}")?;
                pages.flush()?;
                drop(pages);
                File::create(done.join(std::process::id().to_string()))?;
            }
        }
        std::thread::sleep(LIFE);
        Ok(())
    }
}

/// How every line of a flood begins. None of the keys that are typed beside it are in it.
pub(crate) const FLOOD: &str = "flood";

/// A line of [`Pane::Screen`].
pub(crate) fn screen_line(at: usize) -> String {
    format!("line <{at}> of the screen")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(subcommand)]
        pane: Pane,
    }

    #[test]
    fn the_words_are_read_as_what_they_were() {
        for pane in [
            Pane::Echo,
            Pane::Flood,
            Pane::Screen,
            Pane::Replay { file: "/a b".into(), go: "/g".into() },
            Pane::Fill { lines: 7, done: "/d".into() },
        ] {
            let again = Line::parse_from(pane.words()).pane;
            assert_eq!(format!("{again:?}"), format!("{pane:?}"));
        }
    }
}
