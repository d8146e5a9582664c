//! A capsule under noise for as long as you like: 16 panes that never stop, terminals and subscribers that come and go.
//!
//! ```console
//! $ cargo build --release --bins && cargo run --release -p jackin-cli --example soak -- --seconds 600
//! ```
//!
//! It ends with 1 if memory grew, an event was lost without being told, a snapshot contradicts the events, or the daemon
//! panicked or ended.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use jackin_core::Size;
use jackin_core::protocol::attach::{Decoder, Frame, Hello, encode};
use serde_json::{Value, json};

#[derive(Debug, Parser)]
struct Args {
    /// How long
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// How many panes make noise
    #[arg(long, default_value_t = 16)]
    panes: u64,
    /// The program `jackin-capsule` [default: the one built beside this]
    #[arg(long)]
    capsule: Option<PathBuf>,
}

/// What panes print, over and over.
const NOISES: [&str; 6] = [
    // Log lines, as fast as they go.
    "i=0; while :; do i=$((i+1)); echo \"2026-01-01T00:00:00 INFO request $i took $((i % 97)) ms\"; done",
    // Colours.
    "i=0; while :; do i=$((i+1)); printf '\\033[38;2;%d;%d;%dmcolour %d\\033[m\\n' $((i%256)) $((i/7%256)) $((i/3%256)) $i; done",
    // A full-screen program.
    "printf '\\033[?1049h'; i=0; while :; do i=$((i+1)); printf '\\033[H\\033[2Kframe %d\\r\\n\\033[7m%s\\033[m\\r\\n' $i status; j=0; \
     while [ $j -lt 15 ]; do j=$((j+1)); printf '\\033[2K\\033[3%dmrow %d of %d\\033[m\\r\\n' $((j%8)) $j $i; done; done",
    // Wide characters, marks, links.
    "i=0; while :; do i=$((i+1)); printf '日本語 wörter 👩‍👩‍👧 \\033]8;;https://example.com/%d\\033\\\\link\\033]8;;\\033\\\\ e\\314\\201\\n' $i; done",
    // Titles, bells, notifications, prompts, progress, synchronized blocks.
    "i=0; while :; do i=$((i+1)); printf '\\033]2;title %d\\007\\007\\033]9;note\\007\\033]133;A\\007\\033]9;4;1;%d\\007\\033[?2026hblock %d\\033[?2026l\\n' $i $((i%100)) $i; done",
    // Tags, and an agent that says what it does.
    "i=0; while :; do i=$((i+1)); printf '<jackin:pr>https://github.com/a/b/pull/%d</jackin:pr>\\n' $((i%300)); sleep 0.01; done",
];

/// What all threads share.
struct Soak {
    socket: PathBuf,
    over: AtomicBool,
    troubles: Mutex<Vec<String>>,
    attached: AtomicU64,
    events: AtomicU64,
    gaps: AtomicU64,
    compared: AtomicU64,
    started: AtomicU64,
}

impl Soak {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn trouble(&self, what: String) {
        eprintln!("TROUBLE: {what}");
        if let Ok(mut troubles) = self.troubles.lock() {
            troubles.push(what);
        }
    }

    fn call(&self, method: &str, params: &Value) -> io::Result<Value> {
        let mut stream = Control::open(&self.socket)?;
        stream.send(method, params)?;
        let answer = stream.next()?;
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(io::Error::other(format!("{method}: {answer}"))),
        }
    }
}

struct Control(UnixStream);

impl Control {
    fn open(socket: &Path) -> io::Result<Self> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        stream.write_all(&[0])?;
        Ok(Self(stream))
    }

    fn send(&mut self, method: &str, params: &Value) -> io::Result<()> {
        let call = json!({ "method": method, "params": params }).to_string();
        self.0.write_all(&u32::try_from(call.len()).map_err(io::Error::other)?.to_be_bytes())?;
        self.0.write_all(call.as_bytes())
    }

    fn next(&mut self) -> io::Result<Value> {
        let mut length = [0; 4];
        self.0.read_exact(&mut length)?;
        let mut answer = vec![0; u32::from_be_bytes(length) as usize];
        self.0.read_exact(&mut answer)?;
        serde_json::from_slice(&answer).map_err(io::Error::other)
    }
}

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % below
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let dir = std::env::temp_dir().join(format!("jackin-soak-{}", std::process::id()));
    match soak(&args, &dir) {
        Ok(true) => {
            let _ = fs::remove_dir_all(&dir);
            ExitCode::SUCCESS
        }
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn soak(args: &Args, dir: &Path) -> io::Result<bool> {
    fs::create_dir_all(dir)?;
    let own = std::env::current_exe()?;
    let built = own.parent().and_then(Path::parent).map(|target| target.join("jackin-capsule"));
    let capsule =
        args.capsule.clone().or(built).ok_or_else(|| io::Error::other("where is jackin-capsule?"))?;
    let socket = dir.join("j.sock");
    let mut daemon = Command::new(&capsule)
        .args(["daemon", "--socket"])
        .arg(&socket)
        .args(["--", "sh", "-c", "while read -r line; do echo \"got $line\"; done"])
        .current_dir(dir)
        .env("JACKIN_LOG", "warn")
        // What your own shell does when it starts must not be ended in the middle of it.
        .env("SHELL", "/bin/sh")
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}; build it first", capsule.display()))
        })?;
    let soak = Arc::new(Soak {
        socket,
        over: AtomicBool::new(false),
        troubles: Mutex::default(),
        attached: AtomicU64::new(0),
        events: AtomicU64::new(0),
        gaps: AtomicU64::new(0),
        compared: AtomicU64::new(0),
        started: AtomicU64::new(0),
    });
    listen_for_panics(&mut daemon, &soak);
    while soak.call("status", &json!({})).is_err() {
        thread::sleep(Duration::from_millis(20));
    }
    for at in 0..args.panes {
        let noise = NOISES[at as usize % NOISES.len()];
        soak.call("session.create", &json!({ "command": ["sh", "-c", noise], "focus": at % 3 == 0 }))?;
    }
    let actors: [fn(&Soak, u64); 5] = [come_and_go, look_on, subscribe, preview, start_and_end];
    let seeds = 1..;
    let threads: Vec<_> = actors
        .into_iter()
        .zip(seeds)
        .map(|(act, seed)| {
            let soak = Arc::clone(&soak);
            thread::spawn(move || act(&soak, seed))
        })
        .collect();
    let memory = measure(&soak, &mut daemon, args.seconds);
    soak.over.store(true, Ordering::Relaxed);
    for thread in threads {
        if thread.join().is_err() {
            soak.trouble("a thread of the soak itself panicked".to_owned());
        }
    }
    let _ = soak.call("shutdown", &json!({}));
    let status = daemon.wait()?;
    // Sessions that ended badly give it their code; a panic or a signal has another.
    if !status.code().is_some_and(|code| [0, 3, 128 + 9].contains(&code)) {
        soak.trouble(format!("the daemon ended with {status}"));
    }
    Ok(report(&soak, &memory))
}

/// Samples the daemon's memory, in KiB.
fn measure(soak: &Soak, daemon: &mut Child, seconds: u64) -> Vec<u64> {
    let begin = Instant::now();
    let mut samples = Vec::new();
    while begin.elapsed() < Duration::from_secs(seconds) {
        thread::sleep(Duration::from_secs(1));
        if let Ok(Some(status)) = daemon.try_wait() {
            soak.trouble(format!("the daemon ended in between with {status}"));
            break;
        }
        let status = fs::read_to_string(format!("/proc/{}/status", daemon.id())).unwrap_or_default();
        let rss = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        samples.extend(rss);
        if samples.len() % 30 == 0 {
            let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            println!(
                "{:>4} s: {} KiB, {} attached, {} events, {} gaps told, {} snapshots compared, {} sessions started",
                samples.len(),
                samples.last().copied().unwrap_or(0),
                count(&soak.attached),
                count(&soak.events),
                count(&soak.gaps),
                count(&soak.compared),
                count(&soak.started)
            );
        }
    }
    samples
}

/// Memory is flat if the last fifth is not above the second, in which everything has had time to fill, by more than a tenth.
fn report(soak: &Soak, memory: &[u64]) -> bool {
    let fifth = memory.len() / 5;
    let median = |samples: &[u64]| {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or(0)
    };
    if fifth > 0 {
        let (early, late) = (median(&memory[fifth..2 * fifth]), median(&memory[memory.len() - fifth..]));
        let highest = memory.iter().max().copied().unwrap_or(0);
        println!("memory: {early} KiB early, {late} KiB late, {highest} KiB at most");
        if late > early + early / 10 {
            soak.trouble(format!("memory grew from {early} to {late} KiB"));
        }
    }
    let troubles = soak.troubles.lock().map_or(1, |troubles| troubles.len());
    println!("{}", if troubles == 0 { "clean" } else { "NOT clean" });
    troubles == 0
}

fn listen_for_panics(daemon: &mut Child, soak: &Arc<Soak>) {
    let Some(stderr) = daemon.stderr.take() else { return };
    let soak = Arc::clone(soak);
    thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if line.contains("panicked") {
                soak.trouble(line);
            }
        }
    });
}

fn attach(soak: &Soak, hello: Hello) -> io::Result<UnixStream> {
    let mut stream = UnixStream::connect(&soak.socket)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut wire = Vec::new();
    encode(&Frame::Hello(hello), &mut wire).map_err(io::Error::other)?;
    stream.write_all(&wire)?;
    soak.attached.fetch_add(1, Ordering::Relaxed);
    Ok(stream)
}

/// Reads frames for a while; those that make no sense are troubles.
fn watch(soak: &Soak, stream: &mut UnixStream, decoder: &mut Decoder, until: Instant) {
    let mut buf = vec![0; 64 * 1024];
    while Instant::now() < until && !soak.is_over() {
        let room = decoder.room().min(buf.len());
        match stream.read(&mut buf[..room]) {
            Ok(0) => return,
            Ok(len) => {
                let _ = decoder.feed(&buf[..len]);
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(_) => return,
        }
        loop {
            match decoder.next_frame() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => return soak.trouble(format!("a frame cannot be read: {error}")),
            }
        }
    }
}

/// A terminal that attaches, types, resizes, reads more or less, and leaves one way or another.
fn come_and_go(soak: &Soak, seed: u64) {
    let mut dice = Dice::new(seed);
    while !soak.is_over() {
        let size = Size::new(10 + dice.roll(50) as u16, 20 + dice.roll(180) as u16);
        let hello = Hello { size, term: Some("xterm-256color".into()), ..Hello::default() };
        let Ok(mut stream) = attach(soak, hello) else { continue };
        let mut decoder = Decoder::new();
        for _ in 0..dice.roll(6) {
            let until = Instant::now() + Duration::from_millis(dice.roll(400));
            watch(soak, &mut stream, &mut decoder, until);
            let mut wire = Vec::new();
            let keys = [
                "\x02n",
                "\x02p",
                "\x02%",
                "\x02z",
                "\x02[",
                "q",
                "hello\r",
                "\x02w\x1b",
                "\x1b[<64;5;5M",
                "\x02:",
            ];
            let frame = match dice.roll(3) {
                0 => Frame::Resize(Size::new(5 + dice.roll(60) as u16, 10 + dice.roll(200) as u16)),
                _ => Frame::Input(keys[dice.roll(keys.len() as u64) as usize].as_bytes()),
            };
            if encode(&frame, &mut wire).is_err() || stream.write_all(&wire).is_err() {
                break;
            }
        }
        if dice.roll(2) == 0 {
            let mut wire = Vec::new();
            let _ = encode(&Frame::Detach, &mut wire);
            let _ = stream.write_all(&wire);
            watch(soak, &mut stream, &mut decoder, Instant::now() + Duration::from_millis(200));
        }
    }
}

/// Terminals that look on, some of which never read.
fn look_on(soak: &Soak, seed: u64) {
    let mut dice = Dice::new(seed);
    while !soak.is_over() {
        let viewers: Vec<_> = (0..=dice.roll(8))
            .filter_map(|_| attach(soak, Hello { read_only: true, ..Hello::default() }).ok())
            .collect();
        for mut viewer in viewers {
            let until = Instant::now() + Duration::from_millis(dice.roll(500));
            if dice.roll(3) > 0 {
                watch(soak, &mut viewer, &mut Decoder::new(), until);
            }
        }
    }
}

/// What is known of the sessions from the events, to be compared with snapshots.
#[derive(Default)]
struct Model {
    seq: u64,
    sessions: BTreeMap<u64, String>,
}

impl Model {
    fn of_snapshot(snapshot: &Value) -> Self {
        let live = snapshot["sessions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|session| !session["pane"].is_null());
        let state =
            |session: &Value| Some((session["id"].as_u64()?, session["attention"].as_str()?.to_owned()));
        Self { seq: snapshot["seq"].as_u64().unwrap_or(0), sessions: live.filter_map(state).collect() }
    }

    fn apply(&mut self, event: &Value) {
        self.seq = event["seq"].as_u64().unwrap_or(0);
        let Some(id) = event["session_id"].as_u64() else { return };
        match event["event"].as_str() {
            Some("session-started") => drop(self.sessions.insert(id, "unknown".to_owned())),
            Some("session-ended") => drop(self.sessions.remove(&id)),
            Some("agent-state-changed") => {
                if let Some(state) = self.sessions.get_mut(&id) {
                    event["state"].as_str().unwrap_or_default().clone_into(state);
                }
            }
            _ => {}
        }
    }
}

/// Follows the events: every number once and in order, or a gap that is told and healed by a snapshot. Now and then the
/// state that the events give is compared with a snapshot.
fn subscribe(soak: &Soak, seed: u64) {
    let mut dice = Dice::new(seed);
    while !soak.is_over() {
        if let Err(error) = follow(soak, &mut dice)
            && !soak.is_over()
            && !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionReset)
        {
            soak.trouble(format!("events: {error}"));
        }
    }
}

fn follow(soak: &Soak, dice: &mut Dice) -> io::Result<()> {
    let mut model = Model::of_snapshot(&soak.call("snapshot", &json!({}))?);
    if dice.roll(3) == 0 {
        // Whoever asks for what is no longer kept is told how much that is.
        model = Model::default();
    }
    let mut stream = Control::open(&soak.socket)?;
    stream.send("events", &json!({ "from": model.seq + 1 }))?;
    let mut goal: Option<Model> = None;
    let until = Instant::now() + Duration::from_secs(5 + dice.roll(20));
    while Instant::now() < until && !soak.is_over() {
        let item = stream.next()?;
        let item = &item["result"];
        if item["item"] == "missed" {
            // Whatever was lost is in the snapshot; events up to it are known already.
            soak.gaps.fetch_add(1, Ordering::Relaxed);
            let snapshot = Model::of_snapshot(&soak.call("snapshot", &json!({}))?);
            if snapshot.seq < model.seq + item["count"].as_u64().unwrap_or(0) {
                soak.trouble(format!(
                    "a snapshot at {} does not cover what was lost after {}",
                    snapshot.seq, model.seq
                ));
            }
            (model, goal) = (snapshot, None);
            continue;
        }
        let seq = item["seq"].as_u64().unwrap_or(0);
        soak.events.fetch_add(1, Ordering::Relaxed);
        if seq <= model.seq && goal.is_none() {
            // Before the snapshot that healed a gap.
            continue;
        }
        if seq != model.seq + 1 {
            soak.trouble(format!("event {seq} came after {}", model.seq));
        }
        model.apply(item);
        match &goal {
            Some(snapshot) if model.seq == snapshot.seq => {
                soak.compared.fetch_add(1, Ordering::Relaxed);
                if model.sessions != snapshot.sessions {
                    soak.trouble(format!(
                        "at {}: events say {:?}, the snapshot {:?}",
                        model.seq, model.sessions, snapshot.sessions
                    ));
                }
                goal = None;
            }
            Some(_) => {}
            None if dice.roll(200) == 0 => {
                goal = Some(Model::of_snapshot(&soak.call("snapshot", &json!({}))?))
                    .filter(|goal| goal.seq > model.seq);
            }
            None => {}
        }
        // A slow reader now and then, so that gaps happen.
        if dice.roll(5_000) == 0 {
            thread::sleep(Duration::from_millis(dice.roll(3_000)));
        }
    }
    Ok(())
}

/// Looks at screens.
fn preview(soak: &Soak, seed: u64) {
    let mut dice = Dice::new(seed);
    while !soak.is_over() {
        let Ok(mut stream) = Control::open(&soak.socket) else { continue };
        let _ = stream.send("screen", &json!({ "session_id": 1 + dice.roll(17) }));
        for _ in 0..dice.roll(30) {
            if stream.next().is_err() {
                break;
            }
        }
        let _ = soak.call("resources", &json!({}));
    }
}

/// Sessions that come, report, and end well, badly, or by force.
fn start_and_end(soak: &Soak, seed: u64) {
    let mut dice = Dice::new(seed);
    let scripts = [
        "echo short; exit 0",
        "echo bad; exit 3",
        "sleep 1000 & sleep 1000",
        "kill -9 $$",
        "yes | head -c 3000000",
    ];
    while !soak.is_over() {
        let script = scripts[dice.roll(scripts.len() as u64) as usize];
        let created =
            soak.call("session.create", &json!({ "command": ["sh", "-c", script], "focus": false }));
        if let Ok(created) = created {
            soak.started.fetch_add(1, Ordering::Relaxed);
            let id = created["session_id"].clone();
            // Many changes of state, so that the events of the past are soon no longer kept.
            if let Ok(mut stream) = Control::open(&soak.socket) {
                for event in ["turn-started", "waiting", "turn-ended"].into_iter().cycle().take(120) {
                    let report =
                        json!({ "session_id": id, "runtime": "jackin", "payload": { "event": event } });
                    let _ = stream.send("report", &report).and_then(|()| stream.next());
                }
            }
            thread::sleep(Duration::from_millis(dice.roll(300)));
            let _ = soak.call("session.kill", &json!({ "session_id": id }));
        }
        // What the terminal's keys opened must not pile up.
        let sessions =
            soak.call("status", &json!({})).map(|status| status["sessions"].clone()).unwrap_or_default();
        for session in sessions.as_array().into_iter().flatten().skip(40) {
            let _ = soak.call("session.kill", &json!({ "session_id": session["id"] }));
        }
    }
}
