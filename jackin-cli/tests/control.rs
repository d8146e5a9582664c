//! The control channel of a real capsule, for the operator and for an agent.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::{JACKIN, Place, eventually};

const IDLE: &str = "printf 'here I am\\n'; while read -r line; do printf 'got <%s>\\n' \"$line\"; done";

/// Sends one call to a socket and reads the answer.
fn call(socket: &std::path::Path, call: &Value) -> Value {
    let json = serde_json::to_vec(call).unwrap();
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(&[0]).unwrap();
    stream.write_all(&u32::try_from(json.len()).unwrap().to_be_bytes()).unwrap();
    stream.write_all(&json).unwrap();
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut answer).unwrap();
    serde_json::from_slice(&answer).unwrap()
}

/// Tells the capsule in the agent's name what it does, with the operator's rights.
fn report(place: &Place, payload: &Value) {
    let params = json!({ "runtime": "jackin", "payload": payload });
    let answer = call(&place.socket(), &json!({ "method": "report", "params": params }));
    assert_eq!(answer, json!({ "result": {} }));
}

#[test]
fn status_and_screen_of_a_session() {
    let place = Place::new();
    let mut daemon = place.daemon(IDLE);
    let status = place.ctl_json(&["status"]);
    assert_eq!(status["pid"], daemon.id());
    assert_eq!(status["instance"], "local");
    let session = &status["sessions"][0];
    assert_eq!((&session["id"], &session["pane"], &session["tab"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!(session["status"], json!({ "kind": "initializing" }));
    assert_eq!(session["size"], json!({ "rows": 23, "cols": 80 }));
    eventually("the program printed", || {
        place.ctl_json(&["read"])["text"].as_str().unwrap().contains("here I am")
    });
    assert!(place.ctl(&["send", "a b"]).status.success());
    eventually("the program got it", || {
        place.ctl_json(&["read"])["text"].as_str().unwrap().contains("got <a b>")
    });
    assert!(place.ctl(&["kill"]).status.success());
    assert!(daemon.wait().success(), "ended on purpose");
}

#[test]
fn a_session_heeds_the_signals_that_its_capsule_was_started_to_ignore() {
    let place = Place::new();
    // As `nohup` and a script's `&` start it.
    let _capsule =
        place.daemon_after("trap '' HUP INT QUIT", "grep SigIgn /proc/self/status; echo told; read -r x");
    let screen = || place.ctl_json(&["read", "--session", "1"])["text"].as_str().unwrap().to_owned();
    eventually("it tells what it ignores", || screen().contains("told"));
    let screen = screen();
    let ignored = screen.split_whitespace().nth(1).and_then(|mask| u64::from_str_radix(mask, 16).ok());
    // The three are the lowest; what else the tests' own starter ignores is not asked here.
    assert_eq!(ignored.unwrap() & 0b111, 0, "{screen}");
}

#[test]
fn the_events_of_a_life() {
    let place = Place::new();
    let mut daemon = place.daemon("read -r line; exit 3");
    report(&place, &json!({ "event": "turn-started" }));
    report(&place, &json!({ "event": "waiting", "prompt": "Go on?" }));
    let mut events = Command::new(JACKIN)
        .args([
            "capsule",
            "ctl",
            "--socket",
            place.socket().to_str().unwrap(),
            "--json",
            "events",
            "--from",
            "0",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(events.stdout.take().unwrap());
    let mut output = String::new();
    stdout.read_line(&mut output).unwrap();
    assert!(place.ctl(&["send", "--force", "x"]).status.success());
    assert_eq!(daemon.wait().code(), Some(3));
    stdout.read_to_string(&mut output).unwrap();
    assert!(events.wait().unwrap().success());
    let events: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sequence: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(sequence, (1..=6).collect::<Vec<_>>());
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "session-started",
            "agent-state-changed",
            "agent-state-changed",
            "agent-state-changed",
            "session-ended",
            "all-sessions-ended"
        ]
    );
    assert_eq!((&events[1]["state"], &events[1]["status"]["kind"]), (&json!("working"), &json!("busy")));
    assert_eq!((&events[2]["state"], &events[2]["status"]["prompt"]), (&json!("blocked"), &json!("Go on?")));
    assert_eq!(events[4]["status"], json!({ "kind": "crashed", "exit_code": 3 }));
}

#[test]
fn text_is_not_sent_to_an_agent_that_waits_for_an_answer() {
    let place = Place::new();
    let _daemon = place.daemon(IDLE);
    report(&place, &json!({ "event": "waiting", "prompt": "Delete everything?" }));
    let refused = place.ctl(&["send", "yes"]);
    assert_eq!(refused.status.code(), Some(1));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("session 1 is blocked (question: Delete everything?)"), "{message}");
    assert!(place.ctl(&["send", "--force", "no"]).status.success());
    eventually("it was sent", || place.ctl_json(&["read"])["text"].as_str().unwrap().contains("got <no>"));
    assert!(!place.ctl_json(&["read"])["text"].as_str().unwrap().contains("yes"));
}

#[test]
fn waiting_is_for_a_state_that_is_or_will_be() {
    let place = Place::new();
    let _daemon = place.daemon(IDLE);
    let timed_out = place.ctl(&["wait", "--until", "blocked", "--timeout", "1"]);
    assert_eq!(timed_out.status.code(), Some(124));
    assert!(String::from_utf8(timed_out.stderr).unwrap().contains("not so after 1 ms"));

    let waiter = Command::new(JACKIN)
        .args(["capsule", "ctl", "--socket", place.socket().to_str().unwrap(), "--json"])
        .args(["wait", "--until", "blocked", "--until", "status:idle"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    report(&place, &json!({ "event": "turn-started" }));
    report(&place, &json!({ "event": "waiting" }));
    assert_eq!(waiter.wait_with_output().unwrap().stdout, b"{\"sessions\":[1]}\n");
    assert_eq!(place.ctl_json(&["wait", "--all", "--until", "blocked"]), json!({ "sessions": [1] }));

    let wrong = place.ctl(&["wait", "--until", "bored"]);
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("write blocked, done, working"));
    let missing = place.ctl(&["wait", "--until", "idle", "--session", "9"]);
    assert!(String::from_utf8(missing.stderr).unwrap().contains("there is no session 9"));
}

#[test]
fn finished_work_is_done_until_somebody_looks() {
    let place = Place::new();
    let _daemon = place.daemon(IDLE);
    report(&place, &json!({ "event": "turn-started" }));
    report(&place, &json!({ "event": "turn-ended", "error": "overloaded" }));
    let status = place.ctl_json(&["status"]);
    assert_eq!(status["attention"], "done");
    assert_eq!(status["sessions"][0]["status"], json!({ "kind": "idle", "error": "overloaded" }));
    assert!(place.ctl(&["ack"]).status.success());
    assert_eq!(place.ctl_json(&["status"])["attention"], "idle");
}

#[test]
fn declared_values_are_kept_and_the_operator_has_the_last_word() {
    let place = Place::new();
    let _daemon = place.daemon(IDLE);
    let pr = |number: u32| format!("https://github.com/o/r/pull/{number}");
    let text = |id: &str, chunk: &str, end: bool| {
        report(&place, &json!({ "event": "assistant-text", "message_id": id, "chunk": chunk, "end": end }));
    };
    report(&place, &json!({ "event": "turn-started" }));
    text("a", &format!("I opened <jackin:pr>{}</jack", pr(7)), false);
    text("a", "in:pr>, see `<jackin:pr>not this</jackin:pr>`", true);
    text("b", &format!("<multicode:pr>{}</multicode:pr>", pr(7)), true);
    let entry = |value: &str, provider: &str| json!({ "kind": "pr", "value": value, "provider": provider });
    let list = || place.ctl_json(&["tags"])["tags"].clone();
    assert_eq!(list(), json!([entry(&pr(7), "agent")]), "once, however often it is said");
    assert!(place.ctl(&["tags", "set", "pr", &pr(8)]).status.success());
    assert_eq!(list(), json!([entry(&pr(7), "agent"), entry(&pr(8), "operator")]));
    assert!(place.ctl(&["tags", "unset", "pr", &pr(7)]).status.success());
    text("c", &format!("<jackin:pr>{}</jackin:pr>", pr(7)), true);
    assert_eq!(list(), json!([entry(&pr(8), "operator")]), "hidden stays hidden");
    assert_eq!(place.ctl_json(&["snapshot"])["tags"], list());
    let refused = place.ctl(&["tags", "set", "pr", "not a URL"]);
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn an_agent_may_report_about_itself_and_nothing_else() {
    let place = Place::new();
    let script = r#"printf '%s' "$JACKIN_AGENT_TOKEN" > "$0.tmp"; mv "$0.tmp" "$0"
        printf '{"event":"turn-started"}' | "$1" capsule report; echo "rc=$?"; read -r line"#;
    let token_file = place.dir().join("token");
    let socket = place.socket();
    let mut daemon = Command::new(JACKIN)
        .args(["capsule", "daemon", "--socket", socket.to_str().unwrap(), "--", "sh", "-c", script])
        .args([token_file.to_str().unwrap(), JACKIN])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the agent reported", || {
        let status = place.ctl(&["status"]);
        String::from_utf8(status.stdout).unwrap().contains("busy")
    });
    let token = std::fs::read_to_string(&token_file).unwrap();
    let as_agent = |token: &str, method: &str, params: Value| {
        let answer =
            call(&place.agent_socket(), &json!({ "token": token, "method": method, "params": params }));
        answer["error"]["code"].as_str().unwrap_or("allowed").to_owned()
    };
    let report = || json!({ "runtime": "jackin", "payload": { "event": "turn-ended" } });
    assert_eq!(as_agent("guess", "report", report()), "forbidden");
    assert_eq!(
        as_agent(&token, "report", json!({ "session_id": 2, "runtime": "jackin", "payload": {} })),
        "forbidden"
    );
    for (method, params) in [
        ("snapshot", json!({})),
        ("events", json!({})),
        ("wait", json!({ "until": ["idle"] })),
        ("shutdown", json!({})),
        ("session.kill", json!({ "session_id": 1 })),
        ("session.read", json!({ "session_id": 1 })),
        ("session.send", json!({ "session_id": 1, "text": "x" })),
        ("screen", json!({ "session_id": 1 })),
        ("resources", json!({})),
        ("context.set", json!({})),
        ("tags.overrides", json!({})),
        ("tags.restore", json!({ "overrides": [] })),
    ] {
        assert_eq!(as_agent(&token, method, params), "forbidden", "{method}");
    }
    assert_eq!(as_agent(&token, "report", report()), "allowed");
    assert_eq!(place.ctl_json(&["status"])["sessions"][0]["status"], json!({ "kind": "idle" }));

    // The agents' socket attaches nobody either.
    let mut stream = UnixStream::connect(place.agent_socket()).unwrap();
    stream.write_all(b"\x01\x00\x00\x00\x04\x00\x01\x00\x00").unwrap();
    assert_eq!(stream.read(&mut [0; 16]).unwrap_or(0), 0);
    place.ctl(&["shutdown"]);
    daemon.wait().unwrap();
}

#[test]
fn whatever_a_stranger_sends_the_capsule_answers_the_next_one() {
    let place = Place::new();
    let _daemon = place.daemon(IDLE);
    let garbage: [&[u8]; 9] = [
        b"",
        b"\x00",
        b"\x00\xff\xff\xff\xff",
        b"\x00\x00\x00\x00\x02[]",
        b"\x00\x00\x00\x00\x04nope",
        b"\x00\x00\x00\x00\x10half a message",
        b"\x01\xff\xff\xff\xff",
        b"\x01\x00\x00\x00\x06\x00\x09\x00\x00{}",
        b"GET / HTTP/1.1\r\n\r\n",
    ];
    for socket in [place.socket(), place.agent_socket()] {
        for bytes in garbage {
            let mut stream = UnixStream::connect(&socket).unwrap();
            stream.write_all(bytes).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            // An answer or none: in any case the connection ends.
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            assert!(place.ctl(&["status"]).status.success(), "after {bytes:?}");
        }
    }
    let refused = call(&place.socket(), &json!({ "method": "dance" }));
    assert_eq!(refused["error"]["code"], "unknown-method");
    let refused = call(&place.socket(), &json!({ "method": "session.kill", "params": { "session_id": 5 } }));
    assert_eq!(refused["error"]["code"], "not-found");
}

#[test]
fn waiting_for_the_end_succeeds_when_it_comes() {
    let place = Place::new();
    let mut daemon = place.daemon("read -r line; exit 3");
    let waiter = Command::new(JACKIN)
        .args(["capsule", "ctl", "--socket", place.socket().to_str().unwrap(), "--json"])
        .args(["wait", "--until", "status:crashed"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // A second one is through only when the first one was heard.
    assert_eq!(place.ctl(&["wait", "--until", "blocked", "--timeout", "50"]).status.code(), Some(124));
    assert!(place.ctl(&["send", "x"]).status.success());
    assert_eq!(daemon.wait().code(), Some(3));
    assert_eq!(waiter.wait_with_output().unwrap().stdout, b"{\"sessions\":[1]}\n");
}

#[test]
fn waiters_that_left_hold_no_place() {
    let place = Place::new();
    let _daemon = place.daemon(IDLE);
    for _ in 0..70 {
        let mut stream = UnixStream::connect(place.socket()).unwrap();
        let call = br#"{"method":"wait","params":{"until":["blocked"]}}"#;
        // The last ones may be turned away while the first ones are still noticed to be gone.
        let _ = stream.write_all(&[0, 0, 0, 0, u8::try_from(call.len()).unwrap()]);
        let _ = stream.write_all(call);
    }
    eventually("there is room again", || place.ctl(&["status"]).status.success());
}

#[test]
fn what_an_agent_says_neither_drives_the_terminal_nor_fills_a_frame() {
    let place = Place::new();
    let title =
        |length: u32| format!("printf '\\033]2;'; head -c {length} /dev/zero | tr '\\0' t; printf '\\007'");
    let script = format!("{}; {}; {IDLE}", title(5_000_000), title(300));
    let _daemon = place.daemon(&script);
    let prompt = format!("\u{1b}]0;pwned\u{7}\u{1b}[31mred\r\nsecond line{}", "x".repeat(1_000_000));
    report(&place, &json!({ "event": "waiting", "prompt": prompt }));
    let shown = String::from_utf8(place.ctl(&["status"]).stdout).unwrap();
    assert!(shown.contains("question: ]0;pwned [31mred second linexxx"), "{}", &shown[..200]);
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\r']) && shown.len() < 3_000);
    eventually("the title arrived", || {
        place.ctl_json(&["status"])["sessions"][0]["title"].as_str().unwrap().starts_with("tt")
    });
    let title = place.ctl_json(&["status"])["sessions"][0]["title"].as_str().unwrap().chars().count();
    assert!(title <= 200, "{title}");
    let terminal = place.attach(24, 80);
    terminal.wait_for("here I am");
}

#[test]
fn the_largest_frame_is_followed_by_the_next_one() {
    let place = Place::new();
    let _daemon = place.daemon("stty raw -echo; exec cat > /dev/null");
    let mut stream = UnixStream::connect(place.socket()).unwrap();
    let frame = |tag: u8, payload: &[u8]| {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&[tag][..], &length, payload].concat()
    };
    let hello = [&b"\0\x01\0\0"[..], br#"{"size":{"rows":24,"cols":80}}"#].concat();
    let wire = [frame(1, &hello), frame(3, &vec![b'x'; 4 << 20]), frame(2, b"\0\x0a\0\x14")].concat();
    stream.write_all(&wire).unwrap();
    eventually("the size arrived behind it", || {
        place.ctl_json(&["status"])["sessions"][0]["size"]["cols"] == 20
    });
}

#[test]
fn more_connections_than_allowed_are_turned_away_and_the_rest_is_served_again() {
    let place = Place::new();
    let _daemon = place.daemon(IDLE);
    let mut crowd: Vec<UnixStream> = (0..100).map(|_| UnixStream::connect(place.socket()).unwrap()).collect();
    // The first ones hold a place without saying anything; the last ones were closed at once.
    let mut last = crowd.pop().unwrap();
    assert_eq!(last.read(&mut [0; 1]).unwrap_or(0), 0);
    drop(crowd);
    eventually("there is room again", || place.ctl(&["status"]).status.success());
}

/// An agent may ask how it is seen, and hears of nobody else.
#[test]
fn an_agent_reads_its_own_status() {
    let place = Place::new();
    let script = format!(
        "'{JACKIN}' capsule ctl --socket \"$JACKIN_AGENT_SOCKET\" --json status >{0}/status; read -r x",
        place.dir().display()
    );
    let _daemon = place.daemon(IDLE);
    place.ctl(&["create", "--", "sh", "-c", &script]);
    let told = place.dir().join("status");
    let mut status = Value::Null;
    eventually("it was told", || {
        status = std::fs::read(&told)
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or(Value::Null);
        !status.is_null()
    });
    let sessions = status["sessions"].as_array().unwrap();
    assert_eq!((sessions.len(), &sessions[0]["id"], &status["attached"]), (1, &json!(2), &json!(false)));
    let stranger = call(&place.agent_socket(), &json!({ "method": "status", "token": "guessed" }));
    assert_eq!(stranger["error"]["code"], "forbidden");
}

#[test]
fn a_screen_is_read_with_colours_and_history() {
    let place = Place::new();
    let _daemon = place.daemon("i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo \"line $i\"; done; printf '\\033[1;31mred\\033[m'; read -r x");
    eventually("it printed", || place.ctl_json(&["read"])["text"].as_str().unwrap().contains("red"));
    let text = |args: &[&str]| String::from_utf8(place.ctl(args).stdout).unwrap();
    assert!(!text(&["read"]).contains('\u{1b}') && !text(&["read"]).contains("line 1\n"));
    assert!(
        text(&["read", "--sgr"]).contains("\u{1b}[0;1;31mred\u{1b}[m")
            || text(&["read", "--sgr"]).contains("\u{1b}[1;31mred")
    );
    let whole = text(&["read", "--history", "100"]);
    assert!(whole.starts_with("line 1\n"), "{whole}");
    assert_eq!(place.ctl_json(&["read", "--history", "5"])["history"], 5);
}

/// The program of `docs/control-api.md`, as a reader would save it.
#[test]
fn the_documented_program_tells_what_a_capsule_does() {
    let page = include_str!("../../docs/control-api.md");
    let (_, program) = page.split_once("```python\n").unwrap();
    let (program, _) = program.split_once("```").unwrap();
    let place = Place::new();
    let _daemon = place.daemon(IDLE);
    eventually("the program printed", || {
        place.ctl_json(&["read"])["text"].as_str().unwrap().contains("here I am")
    });
    let started = Command::new("python3")
        .args(["-c", program])
        .arg(place.socket())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut python) = started else { return println!("skipped: there is no python3") };
    let (said, lines) = std::sync::mpsc::channel();
    let stdout = BufReader::new(python.stdout.take().unwrap());
    std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| said.send(line)));
    assert_eq!(lines.recv().unwrap(), "session 1 initializing because of launch");
    let mut told = Vec::new();
    // It hears what happens after it has subscribed, and says nothing about when that is.
    eventually("it told of the question, and what stands on the screen", || {
        report(&place, &json!({ "event": "turn-started" }));
        report(&place, &json!({ "event": "waiting", "prompt": "Go on?" }));
        told.extend(lines.try_iter());
        told.iter().any(|line| line.ends_with(" agent-state-changed"))
            && told.iter().any(|line| line == "here I am")
    });
    python.kill().unwrap();
    python.wait().unwrap();
}
