//! A capsule that somebody took over: what its client lets through to the operator's terminal.

mod support;

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use jackin_cli::capsule::{Part, attach_over};
use jackin_core::InstanceName;
use jackin_core::protocol::Version;
use jackin_core::protocol::attach::{Decoder, Frame, Shutdown, ShutdownReason, Welcome, encode};
use support::{Place, Terminal};

/// Not a capsule, but something at a capsule's socket.
struct Impostor {
    stream: UnixStream,
}

impl Impostor {
    /// Attaches a terminal and takes its greeting. The terminal that comes with it, if one does, is closed.
    fn attach(place: &Place) -> (Self, Terminal) {
        let listener = UnixListener::bind(place.socket()).unwrap();
        let terminal = place.attach(24, 80);
        let (mut stream, _) = listener.accept().unwrap();
        let mut decoder = Decoder::new();
        let mut buf = [0; 4096];
        while !matches!(decoder.next_frame().unwrap(), Some(Frame::Hello(_))) {
            let len = stream.read(&mut buf).unwrap();
            assert!(len > 0);
            assert_eq!(decoder.feed(&buf[..len]), len);
        }
        // So that nobody asks it to shut down.
        std::fs::remove_file(place.socket()).unwrap();
        (Self { stream }, terminal)
    }

    fn send(&mut self, frame: &Frame<'_>) {
        let mut wire = Vec::new();
        encode(frame, &mut wire).unwrap();
        self.stream.write_all(&wire).unwrap();
    }

    fn welcome(&mut self, terminal_taken: bool) {
        let instance = InstanceName::new("x").unwrap();
        let welcome = Welcome { version: Version::CURRENT, instance, session_count: 1, terminal_taken };
        self.send(&Frame::Welcome(welcome));
    }
}

#[test]
fn only_what_draws_reaches_the_terminal() {
    let place = Place::new();
    let (mut impostor, mut terminal) = Impostor::attach(&place);
    impostor.welcome(false);
    let forbidden = [
        "\x1b]52;c;?\x07",
        "\x1b[?1049l\x1b[3J",
        "\x1bP1000p",
        "\x1bPtmux;\x1b\x1b]52;c;?\x07\x1b\\",
        "\x1b[21t",
        "\x1bc",
        "\x1b]50;?\x07",
        "\x1b[5i",
        "\x1b]9;7;calc\x07",
        "\x05",
    ];
    for sequence in forbidden {
        // Whole, and cut between frames.
        impostor.send(&Frame::Output(sequence.as_bytes()));
        for byte in sequence.as_bytes() {
            impostor.send(&Frame::Output(&[*byte]));
        }
    }
    impostor.send(&Frame::Output(b"\x1b\\\x18\x1b[H\x1b[2J\x1b[1;31mstill drawn\x1b[m\x1b]9;done\x07"));
    terminal.wait_for("still drawn");
    terminal.wait_for_bytes(b"\x1b]9;done\x07");
    let bytes = terminal.bytes();
    let drawn = bytes.windows(11).position(|bytes| bytes == b"still drawn").unwrap();
    let before = &bytes[..drawn];
    for sequence in forbidden {
        let sequence = sequence.as_bytes();
        assert!(
            !before.windows(sequence.len()).any(|bytes| bytes == sequence),
            "{}",
            sequence.escape_ascii()
        );
    }
    // Nor anything that would become one.
    let entered = b"\x1b[22;2t\x1b[?1049h\x1b[2J\x1b[H";
    let sent = before.strip_prefix(entered).unwrap();
    assert!(
        !sent.contains(&0x05) && !sent.windows(2).any(|bytes| matches!(bytes, b"\x1bP" | b"\x1bc")),
        "{}",
        sent.escape_ascii()
    );

    let message = "gone \x1b]52;c;?\x07 away".to_owned();
    impostor.send(&Frame::Shutdown(Shutdown { reason: ShutdownReason::Stopped, message }));
    assert_eq!(terminal.exit_code(), 0);
    terminal.wait_for("[jackin] gone ]52;c;? away");
    assert!(terminal.bytes().windows(8).any(|bytes| bytes == b"\x1b[?1049l"));
}

/// One that says that it took the terminal and did not, and then ends: the terminal is given back all the same.
#[test]
fn a_lie_about_the_terminal_costs_the_view_alone() {
    let place = Place::new();
    let (mut impostor, mut terminal) = Impostor::attach(&place);
    impostor.welcome(true);
    impostor.send(&Frame::Output(b"never shown"));
    impostor.send(&Frame::Output(&vec![0x1b; 1 << 20]));
    drop(impostor);
    assert_eq!(terminal.exit_code(), 1);
    terminal.wait_for("[jackin] lost the connection");
    assert!(!terminal.text().contains("never shown"));
}

/// Garbage instead of frames ends the client with a message and a usable terminal.
#[test]
fn garbage_in_place_of_frames_is_told() {
    for garbage in [&[0xff; 9][..], b"\x82\xff\xff\xff\xff", b"HTTP/1.1 400 Bad Request\r\n\r\n"] {
        let place = Place::new();
        let (mut impostor, mut terminal) = Impostor::attach(&place);
        impostor.stream.write_all(garbage).unwrap();
        drop(impostor);
        assert_eq!(terminal.exit_code(), 1);
        terminal.wait_for("[jackin] ");
        assert!(terminal.bytes().windows(8).any(|bytes| bytes == b"\x1b[?1049l"));
    }
}

const OVER_A_BRIDGE: &str = "JACKIN_TEST_ATTACH_OVER";

/// Run by the next test, in a terminal of its own.
#[test]
fn attach_over_a_bridge_in_this_terminal() {
    let Ok(socket) = std::env::var(OVER_A_BRIDGE) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let parting = runtime.block_on(async {
        let mut bridge = tokio::process::Command::new(support::JACKIN)
            .args(["capsule", "bridge", "--socket", &socket])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let streams = tokio::io::join(bridge.stdout.take().unwrap(), bridge.stdin.take().unwrap());
        attach_over(streams, Part::Operator).await.unwrap()
    });
    println!("parted: {} {} {}", parting.message, parting.exit_code, parting.still_running);
    // Reading keys is left to the end of the process.
    std::process::exit(i32::from(parting.exit_code));
}

/// The attach client over a stream that is no socket of ours: keys, frames, sizes and detaching.
#[test]
fn a_terminal_is_attached_over_any_byte_stream() {
    let place = Place::new();
    let _daemon =
        place.daemon(r"trap 'stty size' WINCH; echo ready; while :; do read -r line && echo got $line; done");
    let program = std::env::current_exe().unwrap();
    let run = format!(
        "{OVER_A_BRIDGE}='{}' exec '{}' --exact attach_over_a_bridge_in_this_terminal --nocapture",
        place.socket().display(),
        program.display()
    );
    let mut terminal = Terminal::start("sh", &["-c", &run], 12, 60);
    terminal.wait_for("ready");
    terminal.type_in("over a bridge\r");
    terminal.wait_for("got over a bridge");
    terminal.resize(10, 40);
    terminal.wait_for("9 40");
    terminal.type_in(b"\x02d");
    assert_eq!(terminal.exit_code(), 0);
    terminal.wait_for("parted: detached");
}
