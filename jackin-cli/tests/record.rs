//! Recordings: what they hold, and what becomes of them when the disk does not do its part.

mod support;

use std::path::Path;

use serde_json::{Value, json};
use support::{Place, eventually};

/// A session of a full-screen program: colours, moves, a scrolling region, wide characters.
const PROGRAM: &str = r#"printf 'ready\n'
while read -r line; do case $line in
draw) printf '\033[2J\033[3;5H\033[31mred \033[1mbold\033[m\033[5;1H漢字 é\033[2;6r\033[6;1Hlast\n\n\033[?25l' ;;
flood) i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "line $i of the flood"; done ;;
half) printf '\033[4' ;;
rest) printf '5mmagenta' ;;
*) printf 'got <%s>' "$line" ;;
esac; done"#;

fn read(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "it ends with a whole line");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Plays a recording on an emulator that is not ours; its last screen.
fn play(path: &Path) -> String {
    let lines = read(path);
    assert_eq!(lines[0]["version"], 2);
    let number = |value: &Value| u16::try_from(value.as_u64().unwrap()).unwrap();
    let (rows, cols) = (number(&lines[0]["height"]), number(&lines[0]["width"]));
    let mut screen = vt100::Parser::new(rows.try_into().unwrap(), cols.try_into().unwrap(), 0);
    let mut before = 0.0;
    for event in &lines[1..] {
        let at = event[0].as_f64().unwrap();
        assert!(at >= before, "time goes on");
        before = at;
        let data = event[2].as_str().unwrap();
        match event[1].as_str().unwrap() {
            "o" => screen.process(data.as_bytes()),
            "r" => {
                let (cols, rows) = data.split_once('x').unwrap();
                let side = |text: &str| text.parse::<u16>().unwrap().try_into().unwrap();
                screen.screen_mut().set_size(side(rows), side(cols));
            }
            other => panic!("an event {other:?}"),
        }
    }
    screen.screen().contents()
}

fn screen(place: &Place) -> String {
    place.ctl_json(&["read"])["text"].as_str().unwrap().trim_end().to_owned()
}

fn send(place: &Place, text: &str, until: &str) {
    assert!(place.ctl(&["send", text]).status.success());
    eventually(until, || screen(place).contains(until));
}

#[test]
fn a_recording_plays_to_the_same_screen_whenever_it_began() {
    let place = Place::new();
    let _daemon = place.daemon(PROGRAM);
    eventually("it runs", || screen(&place).contains("ready"));
    let files = ["early", "late"].map(|name| place.dir().join(format!("{name}.cast")));
    let start = |file: &Path| {
        let started = place.ctl_json(&["record", "start", file.to_str().unwrap()]);
        assert_eq!(started, json!({ "path": file }));
    };
    start(&files[0]);
    assert_eq!(place.ctl_json(&["status"])["sessions"][0]["recording"], json!(files[0]));
    send(&place, "draw", "last");
    send(&place, "one", "got <one>");
    place.ctl_json(&["record", "stop"]);
    assert_eq!(play(&files[0]).trim_end(), screen(&place));
    assert!(place.ctl_json(&["status"])["sessions"][0].get("recording").is_none());

    // In the middle of a sequence, with a scrolling region set and text on the screen.
    send(&place, "half", "half");
    start(&files[1]);
    send(&place, "rest", "magenta");
    send(&place, "two", "got <two>");
    let terminal = place.attach(20, 60);
    terminal.wait_for("got <two>");
    eventually("it has the new size", || {
        place.ctl_json(&["read"])["size"] == json!({ "rows": 19, "cols": 60 })
    });
    send(&place, "flood", "line 3000 of the flood");
    let stopped = place.ctl_json(&["record", "stop"]);
    assert_eq!(stopped, json!({ "path": files[1] }));
    assert_eq!(play(&files[1]).trim_end(), screen(&place));
    assert!(read(&files[1])[1..].iter().any(|event| event[1] == "r" && event[2] == "60x19"));
}

#[test]
fn what_cannot_be_recorded_is_said() {
    let place = Place::new();
    let _daemon = place.daemon(PROGRAM);
    let error = |args: &[&str]| {
        let output = place.ctl(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(error(&["record", "stop"]).contains("session 1 is not being recorded"));
    assert!(error(&["record", "start", "--session", "7"]).contains("there is no session 7"));
    assert!(error(&["record", "start", "/no/such/directory/x.cast"]).contains("cannot make"));
    let file = place.dir().join("there");
    std::fs::write(&file, "precious").unwrap();
    eventually("the failed one is over", || {
        let message = error(&["record", "start", file.to_str().unwrap()]);
        message.contains("exists already: choose another file")
    });
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    eventually("a name is chosen", || place.ctl(&["record", "start"]).status.success());
    assert!(error(&["record", "start"]).contains("session 1 is being recorded to"));
}

/// The end of a recording, as an event tells it.
fn trouble(place: &Place) -> Option<String> {
    let socket = place.socket();
    let mut events = std::process::Command::new(support::JACKIN)
        .args(["capsule", "ctl", "--socket", socket.to_str().unwrap(), "--json", "events", "--from", "1"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(events.stdout.take().unwrap()));
    let ended = lines
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .find(|event| event["event"] == "recording-ended");
    events.kill().unwrap();
    events.wait().unwrap();
    ended.unwrap()["trouble"].as_str().map(str::to_owned)
}

#[test]
fn a_limit_ends_the_recording_and_nothing_else() {
    let place = Place::new();
    let _daemon = place.daemon(PROGRAM);
    eventually("it runs", || screen(&place).contains("ready"));
    let file = place.dir().join("small.cast");
    place.ctl_json(&["record", "start", "--limit", "5000", file.to_str().unwrap()]);
    send(&place, "flood", "line 3000 of the flood");
    assert_eq!(trouble(&place).as_deref(), Some("the limit of 5000 bytes is reached"));
    assert!(std::fs::metadata(&file).unwrap().len() <= 5_000);
    play(&file);
    send(&place, "on", "got <on>");
}

#[test]
fn a_full_disk_ends_the_recording_and_nothing_else() {
    let place = Place::new();
    let _daemon = place.daemon_with_small_files(40, PROGRAM);
    eventually("it runs", || screen(&place).contains("ready"));
    let file = place.dir().join("full.cast");
    place.ctl_json(&["record", "start", file.to_str().unwrap()]);
    send(&place, "flood", "line 3000 of the flood");
    let trouble = trouble(&place).expect("something went wrong");
    assert!(trouble.contains("cannot write to"), "{trouble}");
    assert!(std::fs::metadata(&file).unwrap().len() <= 40 * 512);
    play(&file);
    send(&place, "on", "got <on>");
    let again = place.dir().join("again.cast");
    place.ctl_json(&["record", "start", again.to_str().unwrap()]);
    place.ctl_json(&["record", "stop"]);
    assert_eq!(play(&again).trim_end(), screen(&place));
}

#[test]
fn the_operator_records_by_a_key_and_the_file_outlives_the_session() {
    let place = Place::new();
    let mut terminal = place.run("printf 'ready\n'; read -r line; printf 'the end\n'", 24, 80);
    terminal.wait_for("ready");
    terminal.type_in(b"\x02R");
    terminal.wait_for_bytes(b"\x07");
    let recording = || place.ctl_json(&["status"])["sessions"][0]["recording"].as_str().map(str::to_owned);
    eventually("it records", || recording().is_some());
    let file = recording().unwrap();
    assert!(Path::new(&file).starts_with(place.dir()) && file.contains("local-1-"), "{file}");
    terminal.type_in("\r");
    assert_eq!(terminal.exit_code(), 0);
    assert!(play(Path::new(&file)).contains("the end"));
}
