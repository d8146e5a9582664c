//! `jackin play`: plays a recording on this terminal.
//!
//! What a program printed is not for this terminal: it goes into an emulator, and what that shows is drawn, as for whoever
//! looks on. So a recording can neither read the clipboard nor have the terminal answer anything, whoever made it.

mod cast;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use jackin_core::{PaneId, Size, Timestamp};
use jackin_mux::{Client, Forward, Input, Mux, Place, Settings, Viewer};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;

use self::cast::{Step, What};
use super::life::say;
use crate::capsule::{Device, Terminal, print_line, printable};
use crate::config::Seconds;

/// `jackin play`
#[derive(Debug, Args)]
#[command(
    after_help = "Space pauses and goes on, `.` goes on by one step while paused, + and - change the speed, q leaves.\n\
    Exit code 1 if the recording is damaged; it is played as far as it goes."
)]
pub(super) struct PlayArgs {
    /// The recording: asciicast, version 2 or 3; `-` is standard input, with --text
    file: PathBuf,
    /// How many times as fast as it was
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    speed: Speed,
    /// Make pauses no longer than this, such as 2s
    #[arg(long, value_name = "TIME")]
    idle: Option<Seconds>,
    /// Print what stands on the screen at the end, and play nothing
    #[arg(long)]
    text: bool,
}

/// How many times as fast as it was.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Speed(f64);

impl Speed {
    const SLOWEST: f64 = 1.0 / 64.0;
    const FASTEST: f64 = 1024.0;

    fn times(self, factor: f64) -> Self {
        Self((self.0 * factor).clamp(Self::SLOWEST, Self::FASTEST))
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let speed: Option<f64> = text.trim_end_matches('x').parse().ok();
        speed
            .filter(|speed| (Self::SLOWEST..=Self::FASTEST).contains(speed))
            .map(Self)
            .ok_or_else(|| "write a number such as 2 or 0.5, at most 1024".to_owned())
    }
}

/// How many steps wait to be played.
const WAITING: usize = 256;

/// How many steps are taken before keys are looked at again.
const AT_ONCE: usize = 64;

pub(super) async fn play(args: &PlayArgs) -> Result<u8> {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    ensure!(
        is_terminal || args.text,
        "there is no terminal to play on: add --text for what stands there at the end"
    );
    ensure!(
        args.text || args.file.as_os_str() != "-",
        "keys are read from standard input: name a file, or add --text"
    );
    let (size, steps) = open(args)?;
    let mut screen = Screen::new(size)?;
    let trouble = if args.text {
        let mut steps = steps;
        loop {
            match steps.recv().await {
                Some(Ok(step)) => screen.take(&step.what, Timestamp::default()),
                Some(Err(trouble)) => break Some(trouble),
                None => break None,
            }
        }
    } else {
        show(&mut screen, steps, args.speed).await?
    };
    // What was seen last stays.
    let text = if args.text {
        screen.mux.text(screen.pane, 0).map(|text| printable(text.trim_end()))
    } else {
        screen.mux.styled_text(screen.pane, 0).map(|text| format!("{}\x1b[0m", text.trim_end()))
    };
    print_line(&text.unwrap_or_default())?;
    let Some(trouble) = trouble else { return Ok(0) };
    say(&trouble);
    Ok(1)
}

type Steps = mpsc::Receiver<Result<Step, String>>;

/// Opens a recording. Its steps are read by a thread, as fast as they are taken.
fn open(args: &PlayArgs) -> Result<(Size, Steps)> {
    let name = args.file.display().to_string();
    let input: Box<dyn std::io::Read + Send> = if args.file.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(&args.file).with_context(|| format!("cannot open {name}"))?)
    };
    let mut cast = cast::Reader::open(input, args.idle.map(Seconds::duration))
        .map_err(|why| anyhow::anyhow!("{name}: {why}"))?;
    let size = cast.size();
    let (steps, receiver) = mpsc::channel(WAITING);
    std::thread::Builder::new().name("recording".to_owned()).spawn(move || {
        while let Some(step) = cast.next_step() {
            let ended = step.is_err();
            if steps.blocking_send(step.map_err(|why| format!("{name}: {why}"))).is_err() || ended {
                return;
            }
        }
    })?;
    Ok((size, receiver))
}

/// The screen that a recording is of.
struct Screen {
    mux: Mux,
    pane: PaneId,
}

impl Screen {
    fn new(size: Size) -> Result<Self> {
        let none = Forward {
            notifications: false,
            progress: false,
            clipboard: false,
            clipboard_read: false,
            graphics: false,
            other: false,
        };
        let mut mux =
            Mux::new(Settings { prefix: None, chrome: false, forward: none, ..Settings::default() });
        let now = Timestamp::default();
        let pane = mux.open(Place::Tab, "recording", true, now).context("there is no room for a screen")?;
        mux.handle_input(Input::Attached(Client::modern(size)), now);
        Ok(Self { mux, pane })
    }

    fn take(&mut self, what: &What, now: Timestamp) {
        match what {
            What::Output(text) => {
                self.mux.handle_input(Input::Pty { pane: self.pane, bytes: text.as_bytes() }, now);
            }
            What::Resize(size) => self.mux.handle_input(Input::Resized(*size), now),
        }
        while self.mux.backlog(self.pane) > 0 {
            self.mux.handle_input(Input::Tick, now);
        }
        // There is no program that an answer could go to.
        while self.mux.poll_output().is_some() {}
    }
}

/// What the operator wants.
enum Key {
    Pause,
    Step,
    Faster,
    Slower,
    Leave,
}

fn keys(bytes: &[u8]) -> impl Iterator<Item = Key> + '_ {
    bytes.iter().filter_map(|byte| match byte {
        b' ' => Some(Key::Pause),
        b'.' => Some(Key::Step),
        b'+' | b'=' => Some(Key::Faster),
        b'-' => Some(Key::Slower),
        b'q' | b'Q' | 0x03 | 0x04 => Some(Key::Leave),
        _ => None,
    })
}

/// Plays until the end, or until the operator has seen enough. What is wrong with the recording comes back.
async fn show(screen: &mut Screen, steps: Steps, speed: Speed) -> Result<Option<String>> {
    let mut ends = [signal(SignalKind::terminate())?, signal(SignalKind::hangup())?];
    let mut resized = signal(SignalKind::window_change())?;
    let terminal = Terminal::enter()?;
    let device = terminal.device()?;
    let (term, colorterm) = (std::env::var("TERM").ok(), std::env::var("COLORTERM").ok());
    let client = Client { size: terminal.size(), term: term.as_deref(), colorterm: colorterm.as_deref() };
    let mut playing = Playing {
        screen,
        viewer: Viewer::new(client),
        steps,
        next: None,
        over: false,
        trouble: None,
        progress: Progress::new(speed),
    };
    let mut buf = [0; 1024];
    loop {
        playing.advance();
        playing.draw(&device).await?;
        if playing.is_over() {
            return Ok(playing.trouble);
        }
        let wake = playing.wake();
        let wants_step = playing.next.is_none() && !playing.over;
        let [terminate, hangup] = &mut ends;
        tokio::select! {
            biased;
            read = device.read(&mut buf) => match read {
                Ok(len) if len > 0 => {
                    for key in keys(&buf[..len]) {
                        match key {
                            Key::Leave => return Ok(None),
                            Key::Pause => playing.progress.pause(),
                            Key::Step => playing.step(),
                            Key::Faster => playing.progress.change(2.0),
                            Key::Slower => playing.progress.change(0.5),
                        }
                    }
                }
                _ => return Ok(None),
            },
            _ = terminate.recv() => return Ok(None),
            _ = hangup.recv() => return Ok(None),
            _ = resized.recv() => playing.viewer.resize(terminal.size()),
            step = playing.steps.recv(), if wants_step => playing.got(step),
            () = tokio::time::sleep_until(wake) => {}
        }
    }
}

/// How far a recording was played.
struct Progress {
    at: Duration,
    looked: Instant,
    speed: Speed,
    paused: bool,
    began: Instant,
}

impl Progress {
    fn new(speed: Speed) -> Self {
        let now = Instant::now();
        Self { at: Duration::ZERO, looked: now, speed, paused: false, began: now }
    }

    /// Brings it up to date.
    fn look(&mut self) -> Duration {
        let now = Instant::now();
        if !self.paused {
            self.at += (now - self.looked).mul_f64(self.speed.0);
        }
        self.looked = now;
        self.at
    }

    fn pause(&mut self) {
        self.look();
        self.paused = !self.paused;
    }

    fn change(&mut self, factor: f64) {
        self.look();
        self.speed = self.speed.times(factor);
    }

    fn now(&self) -> Timestamp {
        Timestamp::default() + self.began.elapsed()
    }
}

struct Playing<'s> {
    screen: &'s mut Screen,
    viewer: Viewer,
    steps: Steps,
    next: Option<Step>,
    /// There are no more steps,
    over: bool,
    /// and this is why, where it is not the recording's end.
    trouble: Option<String>,
    progress: Progress,
}

impl Playing<'_> {
    fn is_over(&self) -> bool {
        self.over && self.next.is_none() && self.screen.mux.viewer_due(&self.viewer).is_none()
    }

    fn got(&mut self, step: Option<Result<Step, String>>) {
        match step {
            Some(Ok(step)) => self.next = Some(step),
            Some(Err(trouble)) => (self.over, self.trouble) = (true, Some(trouble)),
            None => self.over = true,
        }
    }

    /// Takes the steps whose time has come.
    fn advance(&mut self) {
        let at = self.progress.look();
        for _ in 0..AT_ONCE {
            match &self.next {
                Some(step) if step.at <= at => {
                    self.screen.take(&step.what, self.progress.now());
                    self.next = None;
                }
                Some(_) => return,
                None => {}
            }
            match self.steps.try_recv() {
                Ok(step) => self.got(Some(step)),
                Err(mpsc::error::TryRecvError::Empty) => return,
                Err(mpsc::error::TryRecvError::Disconnected) => {
                    self.over = true;
                    return;
                }
            }
        }
    }

    /// Goes on to the next step although it is paused.
    fn step(&mut self) {
        if let Some(step) = self.next.as_ref().filter(|_| self.progress.paused) {
            self.progress.at = self.progress.at.max(step.at);
        }
    }

    async fn draw(&mut self, device: &Device) -> Result<()> {
        let now = self.progress.now();
        if self.screen.mux.viewer_due(&self.viewer).is_none_or(|due| due > now) {
            return Ok(());
        }
        let mut frame = Vec::new();
        self.screen.mux.render_viewer(&mut self.viewer, now, &mut frame);
        device.write_all(&frame).await.context("the terminal is gone")
    }

    /// When something is to be done, if nothing happens.
    fn wake(&self) -> Instant {
        let now = Instant::now();
        let step = self.next.as_ref().filter(|_| !self.progress.paused);
        let step = step.map(|step| {
            let wait = step.at.saturating_sub(self.progress.at).div_f64(self.progress.speed.0);
            now + wait.min(LONGEST)
        });
        let stamp = |due: Timestamp| self.progress.began + due.since(Timestamp::default());
        let frame = self.screen.mux.viewer_due(&self.viewer).map(stamp);
        let timer = self.screen.mux.poll_timeout().map(stamp);
        [step, frame, timer].into_iter().flatten().min().unwrap_or(now + LONGEST)
    }
}

/// As long as is slept at once.
const LONGEST: Duration = Duration::from_secs(3_600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_a_number() {
        assert_eq!("2".parse(), Ok(Speed(2.0)));
        assert_eq!("0.5x".parse(), Ok(Speed(0.5)));
        for bad in ["0", "-1", "fast", "NaN", "inf", "1e9", ""] {
            assert!(bad.parse::<Speed>().is_err(), "{bad}");
        }
        assert_eq!(Speed(1000.0).times(2.0), Speed(Speed::FASTEST));
    }

    #[test]
    fn a_screen_answers_nothing_and_sends_nothing() {
        let mut screen = Screen::new(Size::new(5, 20)).unwrap();
        let hostile = "\x1b]52;c;aGk=\x07\x1b[c\x1b[6n\x1b]0;title\x07\x1bPq#0\x1b\\hello";
        screen.take(&What::Output(hostile.to_owned()), Timestamp::default());
        let mut viewer = Viewer::new(Client::modern(Size::new(5, 20)));
        let mut frame = Vec::new();
        screen.mux.render_viewer(&mut viewer, Timestamp::default(), &mut frame);
        let frame = String::from_utf8(frame).unwrap();
        assert!(frame.contains("hello"), "{frame:?}");
        for bad in ["\x1b]52", "\x1b[c", "\x1b[6n", "title", "\x1bP"] {
            assert!(!frame.contains(bad), "{bad:?} is in {frame:?}");
        }
        screen.take(&What::Resize(Size::new(3, 10)), Timestamp::default());
        assert_eq!(screen.mux.size(screen.pane), Some(Size::new(3, 10)));
    }
}
