//! The whole way: a program in a capsule's PTY, through the multiplexer and the socket, to an operator's terminal.

mod support;

use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use jackin_core::Size;
use jackin_core::protocol::attach::{Decoder, Frame, Hello, Welcome, encode};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{InputModes, LocalModes, OutputModes, SpecialCodeIndex};
use support::{Place, Terminal, eventually};

/// Echoes lines until it is told to end.
const ECHO: &str = r#"printf 'ready\n'; while read -r line; do [ "$line" = bye ] && exit 7; printf 'got <%s>\n' "$line"; done"#;

#[test]
fn keys_reach_the_program_and_its_output_the_screen() {
    let place = Place::new();
    let mut terminal = place.run(ECHO, 24, 80);
    terminal.wait_for("ready");
    terminal.type_in("hello wörld\r");
    terminal.wait_for("got <hello wörld>");
    terminal.type_in("bye\r");
    assert_eq!(terminal.exit_code(), 7, "the exit code of the program is that of `run`");
    terminal.wait_for("[jackin] sh: crashed (exit code 7)");
    eventually("the sockets are gone", || !place.socket().exists() && !place.agent_socket().exists());
}

/// As a download is called, or what somebody keeps beside the last version.
#[test]
fn the_name_of_its_file_does_not_matter() {
    let place = Place::new();
    let renamed = place.dir().join("jackin-capsule-0.1.0-linux");
    std::fs::copy(env!("CARGO_BIN_EXE_jackin-capsule"), &renamed).unwrap();
    let socket = place.socket().display().to_string();
    let args = ["run", "--socket", &socket, "--", "sh", "-c", ECHO];
    let mut terminal = Terminal::start(renamed.to_str().unwrap(), &args, 24, 80);
    terminal.wait_for("ready");
    terminal.type_in("bye\r");
    assert_eq!(terminal.exit_code(), 7);
}

#[test]
fn detaching_keeps_the_program_and_attaching_shows_the_same_screen() {
    let place = Place::new();
    let mut terminal = place.run(ECHO, 12, 50);
    terminal.wait_for("ready");
    terminal.type_in("one\r");
    terminal.wait_for("got <one>");
    let before = terminal.text();
    terminal.type_in(b"\x02d");
    assert_eq!(terminal.exit_code(), 0);
    terminal.wait_for("[jackin] attach again");

    let mut again = place.attach(12, 50);
    again.wait_for("got <one>");
    assert_eq!(again.text(), before);
    again.type_in("two\r");
    again.wait_for("got <two>");
    // A prefix pressed twice is one for the program: here the terminal echoes it.
    again.type_in(b"\x02\x02");
    again.wait_for("^B");
    again.type_in("\rbye\r");
    assert_eq!(again.exit_code(), 7);
}

#[test]
fn the_program_follows_the_size_of_the_terminal() {
    let place = Place::new();
    let script = r"trap 'stty size' WINCH; stty size; while :; do read -r line || :; done";
    let terminal = place.run(script, 10, 40);
    // The bar takes a row.
    terminal.wait_for("9 40");
    terminal.resize(7, 33);
    terminal.wait_for("6 33");
    terminal.resize(20, 90);
    terminal.wait_for("19 90");
}

#[test]
fn panes_are_split_by_keys_and_by_calls_and_end_one_by_one() {
    let place = Place::new();
    let mut terminal = place.run(ECHO, 24, 80);
    terminal.wait_for("ready");
    terminal.type_in(b"\x02%");
    eventually("a shell runs beside it", || sessions(&place) == [1, 2]);
    terminal.type_in("echo $((40 + 2)); exit\r");
    eventually("the shell has ended", || sessions(&place) == [1]);
    place.ctl(&["split", "--down", "--session", "1", "--", "sh", "-c", "echo below; read x"]);
    terminal.wait_for("below");
    place.ctl(&["create", "--no-focus", "--name", "hidden", "--", "sh", "-c", "echo in a tab; read x"]);
    terminal.wait_for("hidden");
    place.ctl(&["focus", "--session", "4"]);
    terminal.wait_for("in a tab");
    for id in ["4", "3"] {
        place.ctl(&["kill", "--session", id]);
    }
    eventually("only the first is left", || sessions(&place) == [1]);
    terminal.wait_for("ready");
    terminal.type_in("bye\r");
    assert_eq!(terminal.exit_code(), 7);
}

fn sessions(place: &Place) -> Vec<u64> {
    let status = place.ctl_json(&["status"]);
    status["sessions"].as_array().unwrap().iter().map(|session| session["id"].as_u64().unwrap()).collect()
}

#[test]
fn a_second_terminal_takes_over_and_the_first_is_told() {
    let place = Place::new();
    let mut first = place.run(ECHO, 24, 80);
    first.wait_for("ready");
    let second = place.attach(24, 80);
    second.wait_for("ready");
    assert_eq!(first.exit_code(), 0);
    first.wait_for("another terminal attached to this capsule");
    second.type_in("mine\r");
    second.wait_for("got <mine>");
}

#[test]
fn every_way_out_of_the_client_restores_the_terminal() {
    let place = Place::new();
    let mut terminal = place.run(ECHO, 24, 80);
    terminal.wait_for("ready");
    assert!(terminal.bytes().windows(8).any(|bytes| bytes == b"\x1b[?1049h"));
    let pid = rustix::process::Pid::from_child(&terminal.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(terminal.exit_code(), 1);
    terminal.wait_for("[jackin] detached by a signal");
    let bytes = terminal.bytes();
    let left =
        bytes.windows(8).rposition(|bytes| bytes == b"\x1b[?1049l").expect("it left the alternate screen");
    assert!(bytes[..left].ends_with(b"\x1b[?25h"), "with a visible cursor");

    let mut again = place.attach(24, 80);
    again.wait_for("ready");
    let daemon = place.ctl_json(&["status"])["pid"].as_i64().unwrap();
    let daemon = rustix::process::Pid::from_raw(i32::try_from(daemon).unwrap()).unwrap();
    rustix::process::kill_process(daemon, rustix::process::Signal::KILL).unwrap();
    assert_eq!(again.exit_code(), 1);
    again.wait_for("[jackin] lost the connection");
}

/// Whatever a program had switched on, and however the terminal was drawn on: by the capsule, to which the operator's
/// terminal is lent, or by the client, as over a bridge and for those who look on.
#[test]
fn the_terminal_of_a_killed_client_is_restored() {
    for part in ["", "--read-only"] {
        let place = Place::new();
        let _daemon = place.daemon(
            r"printf '\033[?1003h\033[?1006h\033[?2004h\033[?25l\033[>1u\033]2;a title\007ready\n'; read -r line",
        );
        let (jackin, socket) = (support::JACKIN, place.socket());
        // A shell that lives on, and has settings of its own.
        let script = format!(
            "stty -echo min 3; '{jackin}' capsule attach --socket '{}' {part}; echo ended $?; sleep 1000",
            socket.display()
        );
        let terminal = support::Terminal::start("sh", &["-c", &script], 24, 80);
        terminal.wait_for("ready");
        let client = eventually_some("the client", || children(terminal.child.id()).first().copied());
        eventually("it has a guard", || children(client).len() == 1);
        let guard = children(client)[0];
        terminal.wait_for_bytes(b"\x1b[?25l");
        let before = terminal.bytes().len();
        kill(client, Signal::KILL);
        terminal.wait_for_bytes(b"ended 137");
        eventually("the guard has ended", || !std::path::Path::new(&format!("/proc/{guard}")).exists());
        let settings = terminal.settings();
        assert!(settings.local_modes.contains(LocalModes::ICANON | LocalModes::ISIG | LocalModes::ECHOE));
        assert!(!settings.local_modes.contains(LocalModes::ECHO), "as it was");
        assert!(settings.output_modes.contains(OutputModes::OPOST));
        assert!(settings.input_modes.contains(InputModes::ICRNL));
        assert_eq!(settings.special_codes[SpecialCodeIndex::VMIN], 3);
        for sequence in ["[?1049l", "[?1003l", "[?1006l", "[?2004l", "[?25h", "[<99u", "[23;2t"] {
            eventually(sequence, || {
                let after = terminal.bytes().split_off(before);
                after.windows(sequence.len()).any(|bytes| bytes == sequence.as_bytes())
            });
        }
        eventually("the capsule noticed", || place.ctl_json(&["status"])["attached"] == false);
        let again = place.attach(24, 80);
        again.wait_for("ready");
    }
}

/// A guard that has nothing to do leaves nothing behind and writes nothing.
#[test]
fn a_client_that_leaves_in_order_takes_its_guard_along() {
    let place = Place::new();
    let _daemon = place.daemon(ECHO);
    let mut terminal = place.attach(24, 80);
    terminal.wait_for("ready");
    eventually("it has a guard", || children(terminal.child.id()).len() == 1);
    let guard = children(terminal.child.id())[0];
    terminal.type_in(b"\x02d");
    assert_eq!(terminal.exit_code(), 0);
    assert!(!std::path::Path::new(&format!("/proc/{guard}")).exists());
    let left = terminal.bytes().windows(8).filter(|bytes| bytes == b"\x1b[?1049l").count();
    assert_eq!(left, 1, "the terminal is restored once");
}

fn children(pid: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_ascii_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn eventually_some<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let mut found = None;
    eventually(what, || {
        found = look();
        found.is_some()
    });
    found.unwrap()
}

fn kill(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn attaching_without_a_terminal_or_a_capsule_says_what_to_do() {
    let place = Place::new();
    let attach = || {
        let output = std::process::Command::new(support::JACKIN)
            .args(["capsule", "attach", "--socket", place.socket().to_str().unwrap()])
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(attach().contains("start one with `jackin capsule run`"));
    let mut daemon = place.daemon(ECHO);
    assert!(attach().contains("attaching needs a terminal"));
    place.ctl(&["shutdown"]);
    assert!(daemon.wait().success());
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    // The codes are those of a shell.
    for (program, code) in [("/no/such/agent", 127), ("no-such-agent-anywhere", 127), ("/etc/passwd", 126)] {
        let place = Place::new();
        let socket = place.socket();
        let mut terminal = support::Terminal::run(
            &["capsule", "run", "--socket", socket.to_str().unwrap(), "--", program],
            24,
            80,
        );
        assert_eq!(terminal.exit_code(), code, "{program}");
        terminal.wait_for(&format!("the capsule did not start: cannot start {program}"));
        assert!(!socket.exists() && !place.agent_socket().exists());
    }
}

/// What a client in another container does: its terminal is not lent, so keys and frames travel over the socket.
#[test]
fn a_client_that_keeps_its_terminal_gets_frames() {
    let place = Place::new();
    let mut daemon = place.daemon(ECHO);
    let mut client = RawClient::attach(&place);
    assert!(!client.welcome().terminal_taken);
    client.wait_for("ready");
    client.send(&Frame::Input(b"over the wire\r"));
    client.wait_for("got <over the wire>");
    place.ctl(&["shutdown"]);
    assert!(daemon.wait().success());
}

/// Anything but a terminal is refused, and costs nothing.
#[test]
fn only_a_terminal_can_be_lent() {
    let place = Place::new();
    let mut daemon = place.daemon(ECHO);
    let file = std::fs::File::open("/dev/null").unwrap();
    let mut client = RawClient::attach_lending(&place, &file);
    assert!(!client.welcome().terminal_taken);
    client.wait_for("ready");
    place.ctl(&["shutdown"]);
    assert!(daemon.wait().success());
}

/// A capsule that was started from this terminal, in the background, must not read it: the system would stop it.
#[test]
fn a_capsule_in_the_background_of_a_shell_can_be_attached_from_there() {
    let place = Place::new();
    let (jackin, socket) = (support::JACKIN, place.socket());
    let socket = socket.to_str().unwrap();
    // With job control, as in a shell that somebody types into.
    let script = format!(
        "set -m; '{jackin}' capsule daemon --socket '{socket}' -- sh -c '{}' & while ! [ -S '{socket}' ]; do :; done; \
         '{jackin}' capsule attach --socket '{socket}'",
        r#"printf "ready\n"; read -r line; printf "got <%s>\n" "$line"; read -r line"#
    );
    let terminal = support::Terminal::start("sh", &["-c", &script], 24, 80);
    terminal.wait_for("ready");
    terminal.type_in("here\r");
    terminal.wait_for("got <here>");
    place.ctl(&["shutdown"]);
}

/// A client that speaks the protocol by hand.
struct RawClient {
    stream: UnixStream,
    decoder: Decoder,
    screen: vt100::Parser,
}

impl RawClient {
    fn attach(place: &Place) -> Self {
        let mut client = Self::connect(place);
        client.send(&Frame::Hello(Hello::default()));
        client
    }

    fn attach_lending(place: &Place, file: &std::fs::File) -> Self {
        let mut client = Self::connect(place);
        let mut wire = Vec::new();
        encode(&Frame::Hello(Hello::default()), &mut wire).unwrap();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let lent = [file.as_fd()];
        assert!(control.push(SendAncillaryMessage::ScmRights(&lent)));
        sendmsg(&client.stream, &[IoSlice::new(&wire[..1])], &mut control, SendFlags::empty()).unwrap();
        client.stream.write_all(&wire[1..]).unwrap();
        client
    }

    fn connect(place: &Place) -> Self {
        let stream = UnixStream::connect(place.socket()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let Size { rows, cols } = Size::default();
        let screen = vt100::Parser::new(rows.try_into().unwrap(), cols.try_into().unwrap(), 0);
        Self { stream, decoder: Decoder::new(), screen }
    }

    fn send(&mut self, frame: &Frame<'_>) {
        let mut wire = Vec::new();
        encode(frame, &mut wire).unwrap();
        self.stream.write_all(&wire).unwrap();
    }

    fn welcome(&mut self) -> Welcome {
        loop {
            match self.decoder.next_frame().unwrap() {
                Some(Frame::Welcome(welcome)) => return welcome,
                Some(other) => panic!("the first frame is {other:?}"),
                None => self.read(),
            }
        }
    }

    fn wait_for(&mut self, text: &str) {
        while !self.screen.screen().contents().contains(text) {
            match self.decoder.next_frame().unwrap() {
                Some(Frame::Output(bytes)) => self.screen.process(bytes),
                Some(_) => {}
                None => self.read(),
            }
        }
    }

    fn read(&mut self) {
        let mut buf = [0; 4096];
        let len = self.stream.read(&mut buf).unwrap();
        assert!(len > 0, "the capsule closed the connection");
        assert_eq!(self.decoder.feed(&buf[..len]), len);
    }
}
