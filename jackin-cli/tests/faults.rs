//! Pulling the plug on everything that can be pulled. After each fault the daemon runs, other panes answer, memory is within
//! bounds, and nothing is left behind.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use jackin_core::protocol::attach::{Frame, Hello, encode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::{Capsule, Place, eventually};

/// Answers every line.
const ECHO: &str = "printf 'ready\\n'; while read -r line; do printf 'got <%s>\\n' \"$line\"; done";

/// What a pane may take to answer once a fault is over: the best of several tries, for the machine may be busy.
const ANSWER: Duration = Duration::from_millis(100);
const TRIES: usize = 30;

/// How much a daemon may have grown after a fault.
const GROWTH: u64 = 48 << 20;

/// A capsule whose first session answers, and what it was like before the fault.
struct Scene {
    place: Place,
    daemon: Capsule,
    memory: u64,
    /// A variable's value that every process of the sessions has.
    mark: String,
    asked: usize,
}

impl Scene {
    fn new() -> Self {
        let place = Place::new();
        let mark = format!("JACKIN_TEST_MARK={}", place.dir().display());
        let daemon = place
            .daemon_with(&["--", "sh", "-c", ECHO], &[("JACKIN_TEST_MARK", place.dir().to_str().unwrap())]);
        let mut scene = Self { place, daemon, memory: 0, mark, asked: 0 };
        scene.ask();
        scene.memory = scene.rss();
        scene
    }

    #[allow(clippy::needless_pass_by_value, reason = "a call reads better without a reference in each")]
    fn call(&self, method: &str, params: Value) -> Value {
        let answer = call(&self.place.socket(), &json!({ "method": method, "params": params })).unwrap();
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Starts a session beside the first, and returns its number and its first process.
    fn start(&self, script: &str) -> (u64, u32) {
        let before = children(self.daemon.id());
        let created = self.call("session.create", json!({ "command": ["sh", "-c", script], "focus": false }));
        let id = created["session_id"].as_u64().unwrap();
        let new = children(self.daemon.id()).into_iter().find(|pid| !before.contains(pid));
        (id, new.expect("a session is a process of the daemon's"))
    }

    fn screen(&self, session: u64) -> String {
        self.call("session.read", json!({ "session_id": session }))["text"].as_str().unwrap().to_owned()
    }

    /// Types a line into the first session and waits for its answer; how long that took.
    fn ask(&mut self) -> Duration {
        self.asked += 1;
        let (text, begin) = (format!("n{}", self.asked), Instant::now());
        self.call("session.send", json!({ "session_id": 1, "text": text, "force": true }));
        let wanted = format!("got <{text}>");
        eventually("the first session answers", || self.screen(1).contains(&wanted));
        begin.elapsed()
    }

    fn rss(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.daemon.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    /// Everything that must hold after a fault.
    fn assert_well(&mut self) {
        let pid = self.daemon.id();
        assert_eq!(self.call("status", json!({}))["pid"], pid, "the same daemon runs");
        let best = (0..TRIES).map(|_| self.ask()).find(|took| *took < ANSWER);
        assert!(best.is_some(), "no answer of {TRIES} within {ANSWER:?}");
        eventually("no zombie is left", || {
            children(pid).into_iter().all(|child| state(child).is_none_or(|state| state != 'Z'))
        });
        let limit = self.memory + GROWTH;
        eventually("memory is back", || self.rss() < limit);
    }

    /// The processes that came out of a session.
    fn marked(&self) -> Vec<u32> {
        let is_marked = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == self.mark.as_bytes())
        };
        let all = fs::read_dir("/proc").unwrap().flatten();
        let all = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        all.filter(|pid| *pid != self.daemon.id()).filter(is_marked).collect()
    }
}

fn call(socket: &Path, call: &Value) -> std::io::Result<Value> {
    let json = serde_json::to_vec(call)?;
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(&[0])?;
    stream.write_all(&u32::try_from(json.len()).unwrap().to_be_bytes())?;
    stream.write_all(&json)?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut answer)?;
    Ok(serde_json::from_slice(&answer)?)
}

fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.trim().chars().next()
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

#[test]
fn a_client_is_killed() {
    let mut scene = Scene::new();
    let mut terminal = scene.place.attach(24, 80);
    terminal.wait_for("ready");
    terminal.child.kill().unwrap();
    terminal.child.wait().unwrap();
    eventually("the capsule noticed", || scene.call("status", json!({}))["attached"] == false);
    let again = scene.place.attach(24, 80);
    again.wait_for("ready");
    again.type_in("typed\r");
    again.wait_for("got <typed>");
    scene.assert_well();
}

#[test]
fn an_agent_is_killed() {
    let mut scene = Scene::new();
    let (id, pid) = scene.start("echo here; while :; do sleep 1000; done");
    eventually("it runs", || scene.screen(id).contains("here"));
    signal(pid, Signal::KILL);
    eventually("its end is told", || {
        let status = scene.call("status", json!({}));
        status["sessions"][1]["status"] == json!({ "kind": "crashed", "exit_code": 137 })
    });
    assert!(scene.screen(id).contains("here"), "what it left can be read");
    eventually("nothing of it is left", || scene.marked().len() == 1);
    scene.assert_well();
}

/// With job control each job is a group of its own, which the kernel tells nothing.
#[test]
fn a_shell_with_children_is_killed() {
    let mut scene = Scene::new();
    let (_, pid) = scene.start(
        "set -m; sleep 1000 & sleep 1000 | cat & (sleep 1000 & sleep 1000) & nohup sleep 1000 >/dev/null 2>&1 & \
         echo started; sleep 1000",
    );
    eventually("its jobs run", || scene.marked().len() >= 9);
    signal(pid, Signal::KILL);
    eventually("only the job that asked to go on does", || {
        // The first session is one process.
        let left: Vec<u32> = scene.marked();
        let names =
            left.iter().map(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default());
        left.len() == 2 && names.filter(|name| name == "sleep\n").count() == 1
    });
    for pid in scene.marked().into_iter().filter(|pid| !children(scene.daemon.id()).contains(pid)) {
        signal(pid, Signal::KILL);
    }
    scene.assert_well();
}

/// Of a session that is told to end nothing is left, not even what ignores being told.
#[test]
fn a_stubborn_session_is_ended() {
    let mut scene = Scene::new();
    let (id, _) = scene.start("set -m; trap '' HUP TERM INT; nohup sleep 1000 >/dev/null 2>&1 & echo started; while :; do sleep 1000; done");
    eventually("it runs", || scene.screen(id).contains("started") && scene.marked().len() >= 3);
    scene.call("session.kill", json!({ "session_id": id }));
    eventually("nothing of it is left", || scene.marked().len() == 1);
    scene.assert_well();
}

/// One that has its terminal still, and one that does not read its socket.
#[test]
fn clients_are_stopped_while_a_pane_floods() {
    let mut scene = Scene::new();
    let terminal = scene.place.attach(24, 80);
    terminal.wait_for("ready");
    signal(terminal.child.id(), Signal::STOP);
    let (id, _) =
        scene.start("while :; do echo 'the quick brown fox jumps over the lazy dog 0123456789'; done");
    scene.call("session.focus", json!({ "session_id": id }));
    terminal.wait_for("quick brown");
    scene.ask();
    // The next one takes over and never reads.
    let mut deaf = UnixStream::connect(scene.place.socket()).unwrap();
    let mut wire = Vec::new();
    encode(&Frame::Hello(Hello::default()), &mut wire).unwrap();
    deaf.write_all(&wire).unwrap();
    for _ in 0..50 {
        scene.ask();
        assert!(scene.rss() < scene.memory + GROWTH, "a slow client is no reason to grow");
    }
    signal(terminal.child.id(), Signal::CONT);
    let mut terminal = terminal;
    assert_eq!(terminal.exit_code(), 0, "it hears that it was taken over");
    terminal.wait_for("another terminal attached");
    drop(deaf);
    scene.call("session.kill", json!({ "session_id": id }));
    eventually("the flood is over", || scene.marked().len() == 1);
    scene.assert_well();
}

/// A file system that holds next to nothing; none where that is not permitted.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn new(at: PathBuf) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&at).output();
        mount.is_ok_and(|output| output.status.success()).then_some(Self(at))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn the_disk_is_full_under_a_recording() {
    let mut scene = Scene::new();
    let Some(disk) = SmallDisk::new(scene.place.dir().join("disk")) else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    let file = disk.0.join("flood.cast");
    let (id, _) = scene.start("read -r x; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo \"line $i of a flood\"; done; echo over; read -r x");
    scene.call("record.start", json!({ "session_id": id, "path": file }));
    scene.call("session.send", json!({ "session_id": id, "text": "go", "force": true }));
    eventually("the program goes on", || scene.screen(id).contains("over"));
    eventually("the recording has ended", || {
        scene.call("status", json!({}))["sessions"][1].get("recording").is_none()
    });
    let written = fs::metadata(&file).unwrap().len();
    assert!(written > 0 && written <= 64 << 10, "{written} bytes");
    // What was written can be played: whole lines, the first of which is the header.
    let cast = fs::read_to_string(&file).unwrap();
    assert!(cast.ends_with('\n') && cast.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    let events = scene.place.ctl(&["snapshot"]);
    assert!(events.status.success());
    scene.call("session.kill", json!({ "session_id": id }));
    drop(disk);
    scene.assert_well();
}

/// A generator of bytes that is the same in every run.
fn noise(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    })
}

#[test]
fn strangers_send_garbage_to_both_sockets() {
    let mut scene = Scene::new();
    let mut hello = Vec::new();
    encode(&Frame::Hello(Hello { read_only: true, ..Hello::default() }), &mut hello).unwrap();
    let huge = |tag: &[u8]| [tag, &u32::MAX.to_be_bytes()[..], &[b'x'; 512]].concat();
    for socket in [scene.place.socket(), scene.place.agent_socket()] {
        for seed in 0..100 {
            let Ok(mut stream) = UnixStream::connect(&socket) else { continue };
            let random: Vec<u8> = noise(seed).take(64 + 40 * seed as usize).collect();
            let half = &hello[..hello.len() / 2];
            let said = match seed % 6 {
                0 => random,
                1 => [&[0][..], &random].concat(),
                2 => huge(&[0]),
                3 => huge(&[1]),
                4 => half.to_vec(),
                _ => [&hello[..], &random].concat(),
            };
            // It may have been turned away before it said everything.
            let _ = stream.write_all(&said);
            let _ = stream.shutdown(Shutdown::Write);
            let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
            let _ = stream.read(&mut [0; 4096]);
        }
        assert!(scene.rss() < scene.memory + GROWTH);
    }
    scene.assert_well();
}

/// Five hundred at once that say nothing, or one byte now and then.
#[test]
fn many_connections_that_take_their_time() {
    let mut scene = Scene::new();
    for socket in [scene.place.socket(), scene.place.agent_socket()] {
        let mut streams: Vec<UnixStream> =
            (0..500).filter_map(|_| UnixStream::connect(&socket).ok()).collect();
        for (at, stream) in streams.iter_mut().enumerate() {
            // A length that is never redeemed.
            let _ = stream.write_all(&[u8::from(at % 2 == 1), 0, 0, 0][..=(at % 4)]);
        }
        assert!(scene.rss() < scene.memory + GROWTH, "connections that say nothing cost nothing");
        // Those that were served are shown the door by and by; until then the operator has to wait, and no longer.
        eventually("the operator is served again", || {
            call(&scene.place.socket(), &json!({ "method": "status" })).is_ok()
        });
        let descriptors = || fs::read_dir(format!("/proc/{}/fd", scene.daemon.id())).unwrap().count();
        eventually("they were all let go", || descriptors() < 40);
    }
    scene.assert_well();
}

#[test]
fn many_sessions_flood_at_once() {
    let mut scene = Scene::new();
    let flood = "while :; do printf '\\033[3%dm%s\\033[m line after line after line\\n' 1 2; done";
    let floods: Vec<u64> = (0..64).map(|_| scene.start(flood).0).collect();
    let terminal = scene.place.attach(24, 80);
    terminal.wait_for("ready");
    let slowest = (0..10).map(|_| scene.ask()).max().unwrap();
    eprintln!("beside 64 floods the slowest of ten answers took {slowest:?}");
    terminal.type_in("typed\r");
    terminal.wait_for("got <typed>");
    // A pane's history is bounded, 64 of them are 64 times as much.
    assert!(scene.rss() < scene.memory + 64 * (4 << 20), "{} MiB", scene.rss() >> 20);
    for id in floods {
        scene.call("session.kill", json!({ "session_id": id }));
    }
    eventually("all of them have ended", || scene.marked().len() == 1);
    eventually("their panes are gone", || {
        scene.call("status", json!({}))["sessions"].as_array().unwrap().len() == 1
    });
    scene.memory += 64 << 20; // What the allocator keeps for the next time.
    scene.assert_well();
}

/// Everything that the fuzzers were given or found, printed by a program and by two at once.
#[test]
fn a_program_prints_whatever_was_ever_found_to_matter() {
    let mut scene = Scene::new();
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus");
    let files: Vec<PathBuf> = ["vt", "mux", "client_decoder", "tags"]
        .iter()
        .flat_map(|target| fs::read_dir(format!("{corpus}/{target}")).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(files.len() > 20);
    let print = format!(
        "stty -opost; for file in {corpus}/vt/* {corpus}/mux/* {corpus}/client_decoder/* {corpus}/tags/*; do cat \"$file\"; done; \
         printf '\\033c'; stty sane; echo; echo 'all of it'; read -r x"
    );
    let terminal = scene.place.attach(24, 80);
    terminal.wait_for("ready");
    for size in [(24, 80), (3, 9), (60, 200)] {
        terminal.resize(size.0, size.1);
        let (first, _) = scene.start(&print);
        scene.call("session.focus", json!({ "session_id": first }));
        let split = json!({ "session_id": first, "direction": "down", "command": ["sh", "-c", print] });
        // A tiny terminal has no room for two.
        let second =
            call(&scene.place.socket(), &json!({ "method": "session.split", "params": split })).unwrap();
        let second = second["result"]["session_id"].as_u64();
        for id in [Some(first), second].into_iter().flatten() {
            let finished = |text: &str| text.split_whitespace().collect::<String>().contains("allofit");
            eventually("all of it was printed", || {
                finished(
                    scene.call("session.read", json!({ "session_id": id, "history": 9 }))["text"]
                        .as_str()
                        .unwrap(),
                )
            });
            scene.ask();
            scene.call("session.kill", json!({ "session_id": id }));
        }
        eventually("both have ended", || scene.marked().len() == 1);
    }
    scene.call("session.focus", json!({ "session_id": 1 }));
    terminal.resize(24, 80);
    terminal.wait_for("got <");
    scene.assert_well();
}
