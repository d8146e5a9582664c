//! What the console costs over real capsules, through a real terminal of 200×50: with fifty agents that never rest, with
//! twenty that do, and from its start to its first full screen.
//!
//! ```console
//! $ cargo build --release --bins && cargo run --release -p jackin-cli --example console_load
//! ```
//!
//! Each agent reports a turn over and over (it works, declares a pull request and a status, asks, goes on, is done) and
//! prints meanwhile. What arrives is counted by `jackin events`.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use jackin_core::protocol::control::{Call, PREFACE, Request, encode};
use pty_process::blocking::Pty;
use serde_json::{Value, json};
use tempfile::TempDir;

#[derive(Debug, Parser)]
struct Args {
    /// How many agents work
    #[arg(long, default_value_t = 50)]
    busy: u32,
    /// How many agents rest
    #[arg(long, default_value_t = 20)]
    quiet: u32,
    /// How many events a second all of them cause
    #[arg(long, default_value_t = 200)]
    rate: u32,
    /// How long is measured
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// The program `jackin` [default: the one built beside this]
    #[arg(long)]
    jackin: Option<PathBuf>,
    /// To be one of the agents, with this pause between two reports in milliseconds
    #[arg(long, hide = true)]
    agent: Option<u64>,
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const ROWS: u16 = 50;
const COLUMNS: u16 = 200;

/// Nothing takes longer unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(pause) = args.agent {
        return play(Duration::from_millis(pause));
    }
    let beside = std::env::current_exe()?.ancestors().nth(2).map(|dir| dir.join("jackin"));
    let jackin = args.jackin.or(beside).filter(|path| path.exists());
    let operator = Operator::new(jackin.ok_or("build jackin first: cargo build --release --bins")?)?;
    if args.quiet > 0 {
        operator.rest(args.quiet, args.seconds)?;
    }
    if args.busy > 0 {
        operator.load(args.busy, args.rate, args.seconds)?;
    }
    Ok(())
}

/// Somebody with a home of their own, which goes with them.
struct Operator {
    jackin: PathBuf,
    dir: TempDir,
}

impl Operator {
    fn new(jackin: PathBuf) -> Result<Self> {
        Ok(Self { jackin, dir: tempfile::tempdir()? })
    }

    fn environment(&self) -> [(&'static str, PathBuf); 2] {
        // No engine of this machine has a part in it.
        let no_engine = format!("unix://{}", self.dir.path().join("no-engine").display());
        [("JACKIN_HOME", self.dir.path().join("home")), ("DOCKER_HOST", no_engine.into())]
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.jackin);
        let config = self.dir.path().join("config");
        command.args(args).envs(self.environment()).env("JACKIN_CONFIG_DIR", config).stdin(Stdio::null());
        command
    }

    /// Starts so many agents that run this.
    fn start(&self, count: u32, agent: &[&str]) -> Result<()> {
        for number in 0..count {
            let (name, work) =
                (format!("agent-{number:02}"), self.dir.path().join(format!("shop-{}", number % 7)));
            std::fs::create_dir_all(&work)?;
            let mut args =
                vec!["load", "--detach", "--no-watch", "--name", &name, work.to_str().ok_or("UTF-8")?, "--"];
            args.extend(agent);
            let output = self.command(&args).output()?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into());
            }
        }
        Ok(())
    }

    fn console(&self) -> Result<Terminal> {
        let environment = self.environment().to_vec();
        let config = ("JACKIN_CONFIG_DIR", self.dir.path().join("config"));
        Terminal::run(&self.jackin, &["console"], &[&environment[..], &[config]].concat())
    }

    /// Agents that do nothing: the start, a key, and what the console costs when nothing happens.
    fn rest(&self, count: u32, seconds: u64) -> Result<()> {
        self.start(count, &["cat"])?;
        let listed = |screen: &str| (0..count).all(|number| screen.contains(&format!("agent-{number:02}")));
        let starts = (0..7).map(|_| self.console()?.wait(listed)).collect::<Result<Vec<_>>>()?;
        println!("start to all {count} agents listed: median of seven {}", median(&starts));
        if let Some(attach) = attach_of_tmux()? {
            println!("  beside `tmux attach` to a full screen: median of seven {}", median(&attach));
        }
        let mut console = self.console()?;
        console.wait(listed)?;
        println!("a key, to the frame that answers it: {}", console.keys(60)?);
        // In its first minute an agent's age is told in seconds, and each of them is a frame.
        thread::sleep(Duration::from_secs(75));
        println!(
            "{count} quiet agents, CPU over {seconds} s: {:.2} %",
            console.cpu(Duration::from_secs(seconds))?
        );
        drop(console);
        self.exile()
    }

    /// Agents that never rest.
    fn load(&self, count: u32, rate: u32, seconds: u64) -> Result<()> {
        let pause = (1_000 * count / rate.max(1)).to_string();
        let program = std::env::current_exe()?.display().to_string();
        self.start(count, &[&program, "--agent", &pause])?;
        let mut console = self.console()?;
        console.wait(|screen| screen.contains(&format!("{count} agents")))?;
        let counted = Counted::begin(self.command(&["events", "--json"]))?;
        thread::sleep(Duration::from_secs(5));
        let (before, begin) = (counted.total(), Instant::now());
        let bytes = console.bytes();
        let cpu = console.cpu(Duration::from_secs(seconds))?;
        let per_second = |count: u64| count as f64 / begin.elapsed().as_secs_f64();
        println!(
            "{count} busy agents, {:.0} events a second ({}), {:.0} kB a second drawn: CPU {cpu:.1} %",
            per_second(counted.total() - before),
            counted.kinds(),
            per_second(console.bytes() - bytes) / 1_000.0,
        );
        println!("a key under that load, to the frame that answers it: {}", console.keys(60)?);
        drop(counted);
        drop(console);
        self.exile()
    }

    fn exile(&self) -> Result<()> {
        let ended = self.command(&["exile"]).stderr(Stdio::null()).stdout(Stdio::null()).status()?;
        if ended.success() { Ok(()) } else { Err("some agents could not be ended".into()) }
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.exile();
    }
}

/// A program on a terminal of its own, and what it shows.
struct Terminal {
    child: Child,
    pty: Arc<Pty>,
    started: Instant,
    shown: Arc<(Mutex<(vt100::Parser, u64)>, Condvar)>,
}

impl Terminal {
    fn run(program: &Path, args: &[&str], environment: &[(&'static str, PathBuf)]) -> Result<Self> {
        let (pty, pts) = pty_process::blocking::open()?;
        pty.resize(pty_process::Size::new(ROWS, COLUMNS))?;
        let started = Instant::now();
        let child = pty_process::blocking::Command::new(program)
            .args(args)
            .env("TERM", "xterm-256color")
            .envs(environment.iter().cloned())
            .spawn(pts)?;
        let size = |side: u16| std::num::NonZeroU16::new(side).ok_or("a terminal has a size");
        let emulator = vt100::Parser::new(size(ROWS)?, size(COLUMNS)?, 0);
        let (pty, shown) = (Arc::new(pty), Arc::new((Mutex::new((emulator, 0)), Condvar::new())));
        let (reader, written) = (Arc::clone(&pty), Arc::clone(&shown));
        thread::spawn(move || {
            let mut buf = vec![0; 64 * 1024];
            while let Ok(len @ 1..) = (&*reader).read(&mut buf) {
                let Ok(mut shown) = written.0.lock() else { return };
                shown.0.process(&buf[..len]);
                shown.1 += len as u64;
                written.1.notify_all();
            }
        });
        Ok(Self { child, pty, started, shown })
    }

    /// Waits until the screen is as wanted; how long that took since the start.
    fn wait(&mut self, wanted: impl Fn(&str) -> bool) -> Result<Duration> {
        let shown = self.shown.0.lock().map_err(|_| "the reader has ended")?;
        let waiting = |shown: &mut (vt100::Parser, u64)| !wanted(&shown.0.screen().contents());
        let (shown, timeout) =
            self.shown.1.wait_timeout_while(shown, PATIENCE, waiting).map_err(|_| "the reader has ended")?;
        if timeout.timed_out() {
            return Err(format!("it never came:\n{}", shown.0.screen().contents()).into());
        }
        Ok(self.started.elapsed())
    }

    fn bytes(&self) -> u64 {
        self.shown.0.lock().map_or(0, |shown| shown.1)
    }

    /// Presses keys that open and close the help; how long each took to be answered.
    fn keys(&mut self, count: usize) -> Result<String> {
        let help = |screen: &str| screen.contains("attaches to the selected session");
        let mut times = Vec::new();
        for number in 0..count {
            thread::sleep(Duration::from_millis(50 + 7 * (number as u64 % 10)));
            let open = number % 2 == 0;
            self.started = Instant::now();
            (&*self.pty).write_all(if open { b"?" } else { b"\x07" })?;
            times.push(self.wait(|screen| help(screen) == open)?);
        }
        times.sort();
        let at = |part: usize| millis(times[(times.len() * part / 100).min(times.len() - 1)]);
        Ok(format!("p50 {}, p95 {}, worst of {count} {}", at(50), at(95), at(100)))
    }

    /// How much of a processor it uses, in percent.
    fn cpu(&self, time: Duration) -> Result<f64> {
        let (before, begin) = (self.ticks()?, Instant::now());
        thread::sleep(time);
        // A tick is a hundredth of a second everywhere that Linux runs.
        Ok((self.ticks()? - before) as f64 / begin.elapsed().as_secs_f64())
    }

    /// Its processor time so far.
    fn ticks(&self) -> Result<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let after = stat.rsplit_once(')').ok_or("no such process")?.1;
        Ok(after.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The events of all agents.
struct Counted {
    child: Child,
    states: Arc<AtomicU64>,
    tags: Arc<AtomicU64>,
    others: Arc<AtomicU64>,
}

impl Counted {
    fn begin(mut command: Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let counts: [Arc<AtomicU64>; 3] = Default::default();
        let [states, tags, others] = counts.clone();
        thread::spawn(move || {
            for line in lines.map_while(io::Result::ok) {
                let kind = ["\"agent-state-changed\"", "\"tag-observed\""]
                    .iter()
                    .position(|kind| line.contains(kind));
                counts[kind.unwrap_or(2)].fetch_add(1, Ordering::Relaxed);
            }
        });
        Ok(Self { child, states, tags, others })
    }

    fn total(&self) -> u64 {
        [&self.states, &self.tags, &self.others].map(|count| count.load(Ordering::Relaxed)).iter().sum()
    }

    /// What they were, in percent.
    fn kinds(&self) -> String {
        let part = |count: &AtomicU64| 100 * count.load(Ordering::Relaxed) / self.total().max(1);
        let (states, tags) = (part(&self.states), part(&self.tags));
        format!("{states} % states, {tags} % tags, {} % others", part(&self.others))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An agent that never rests, as its capsule hears of it.
fn play(pause: Duration) -> Result<()> {
    let variable =
        |name| std::env::var(name).map_err(|_| format!("{name} is not set: this runs in a session"));
    let (socket, token) = (variable("JACKIN_AGENT_SOCKET")?, variable("JACKIN_AGENT_TOKEN")?);
    let report = |payload: Value| -> Result<()> {
        let request = Request::Report { session_id: None, runtime: "jackin".to_owned(), payload };
        let mut wire = vec![PREFACE];
        encode(&Call { token: Some(token.clone()), request }, &mut wire)?;
        let mut stream = UnixStream::connect(&socket)?;
        stream.write_all(&wire)?;
        stream.read_exact(&mut [0; 4])?;
        Ok(())
    };
    let says = |id: u64, text: String| json!({"event": "assistant-text", "message_id": id.to_string(), "chunk": text, "end": true});
    let mut next = Instant::now();
    for turn in 0.. {
        let link = format!("https://github.com/example/shop/pull/{turn}");
        for (step, payload) in [
            json!({"event": "turn-started"}),
            says(2 * turn, format!("<jackin:pr>{link}</jackin:pr>")),
            says(2 * turn + 1, format!("<jackin:status>turn {turn}</jackin:status>")),
            json!({"event": "waiting", "prompt": format!("Go on with {turn}?")}),
            json!({"event": "waiting-resolved"}),
            json!({"event": "turn-ended"}),
        ]
        .into_iter()
        .enumerate()
        {
            println!("\x1b[3{}m● turn {turn}\x1b[0m step {step}: reading, editing, running", step + 1);
            report(payload)?;
            next += pause;
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }
    Ok(())
}

/// How long tmux takes to show a full screen again; none where there is no tmux.
fn attach_of_tmux() -> Result<Option<Vec<Duration>>> {
    let dir = tempfile::tempdir()?;
    let socket = dir.path().join("tmux").display().to_string();
    let tmux = |args: &[&str]| {
        let server = ["-S", &socket, "-f", "/dev/null"];
        Command::new("tmux").args(server).args(args).stdin(Stdio::null()).output()
    };
    let size = [&COLUMNS.to_string(), &ROWS.to_string()].map(ToOwned::to_owned);
    let full = "i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo line $i; done; exec cat";
    let Ok(made) = tmux(&["new-session", "-d", "-x", &size[0], "-y", &size[1], full]) else {
        return Ok(None);
    };
    if !made.status.success() {
        return Ok(None);
    }
    let attach = || -> Result<Duration> {
        let mut terminal = Terminal::run(Path::new("tmux"), &["-S", &socket, "attach"], &[])?;
        terminal.wait(|screen| screen.contains("line 50") && screen.contains("line 10"))
    };
    let times = (0..7).map(|_| attach()).collect::<Result<Vec<_>>>();
    tmux(&["kill-server"])?;
    times.map(Some)
}

fn median(times: &[Duration]) -> String {
    let mut times = times.to_vec();
    times.sort();
    millis(times[times.len() / 2])
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1_000.0)
}
