//! Standard input and output as a connection to a capsule.

mod support;

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use jackin_core::Size;
use jackin_core::protocol::attach::{Decoder, Frame, Hello, encode};
use serde_json::Value;
use support::{JACKIN, Place};

struct Bridge {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
}

impl Bridge {
    fn to(socket: &Path) -> Self {
        let mut child = Command::new(JACKIN)
            .args(["capsule", "bridge", "--socket", socket.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Bytes that look like anything, the same in every run.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn every_byte_arrives_in_both_directions_and_the_end_of_one_is_not_that_of_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let (up, down) = (noise(1, 3 << 20), noise(2, 3 << 20));
    let mut bridge = Bridge::to(&socket);
    let (peer, _) = listener.accept().unwrap();
    let mut input = bridge.input.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            input.write_all(&up).unwrap();
            drop(input);
        });
        let received = scope.spawn(|| {
            let mut received = Vec::new();
            (&peer).read_to_end(&mut received).unwrap();
            // The other side has said everything; ours has not.
            (&peer).write_all(&down).unwrap();
            peer.shutdown(std::net::Shutdown::Both).unwrap();
            received
        });
        let mut answered = Vec::new();
        bridge.output.read_to_end(&mut answered).unwrap();
        assert!(received.join().unwrap() == up, "what was sent arrived");
        assert!(answered == down, "what was answered arrived");
    });
    assert!(bridge.child.wait().unwrap().success());
}

#[test]
fn it_ends_when_the_capsule_does_although_nobody_closed_its_input() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut bridge = Bridge::to(&socket);
    drop(listener.accept().unwrap());
    assert!(bridge.child.wait().unwrap().success());
    assert!(bridge.input.is_some());
}

#[test]
fn without_a_capsule_it_says_what_to_do() {
    let place = Place::new();
    let output = Command::new(JACKIN)
        .args(["capsule", "bridge", "--socket", place.socket().to_str().unwrap()])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("start one with `jackin capsule run`"));
}

#[test]
fn a_capsule_is_attached_and_controlled_through_it() {
    let place = Place::new();
    let _daemon =
        place.daemon(r#"printf 'ready\n'; while read -r line; do printf 'got <%s>\n' "$line"; done"#);
    let mut bridge = Bridge::to(&place.socket());
    let send = |bridge: &mut Bridge, frame: &Frame<'_>| {
        let mut wire = Vec::new();
        encode(frame, &mut wire).unwrap();
        bridge.send(&wire);
    };
    send(&mut bridge, &Frame::Hello(Hello::default()));
    let Size { rows, cols } = Size::default();
    let mut screen = vt100::Parser::new(rows.try_into().unwrap(), cols.try_into().unwrap(), 0);
    let mut decoder = Decoder::new();
    let mut wait_for = |bridge: &mut Bridge, text: &str| {
        while !screen.screen().contents().contains(text) {
            match decoder.next_frame().unwrap() {
                Some(Frame::Output(bytes)) => screen.process(bytes),
                Some(_) => {}
                None => {
                    let mut buf = [0; 4096];
                    let len = bridge.output.read(&mut buf).unwrap();
                    assert!(len > 0, "the bridge ended before {text:?}");
                    assert_eq!(decoder.feed(&buf[..len]), len);
                }
            }
        }
    };
    wait_for(&mut bridge, "ready");
    send(&mut bridge, &Frame::Input(b"across\r"));
    wait_for(&mut bridge, "got <across>");

    let mut control = Bridge::to(&place.socket());
    let call = br#"{"method":"status"}"#;
    control.send(&[0]);
    control.send(&u32::try_from(call.len()).unwrap().to_be_bytes());
    control.send(call);
    let mut length = [0; 4];
    control.output.read_exact(&mut length).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    control.output.read_exact(&mut answer).unwrap();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answer["result"]["attached"], true);
    drop(control.input.take());
    assert!(control.child.wait().unwrap().success(), "the end of its input ends a control connection");

    drop(bridge.input.take());
    assert!(bridge.child.wait().unwrap().success());
    support::eventually("the capsule noticed", || place.ctl_json(&["status"])["attached"] == false);
}
