//! Terminals that look on: `attach --read-only`.

mod support;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use jackin_core::Size;
use jackin_core::protocol::attach::{Decoder, Frame, Hello, ShutdownReason, encode};
use support::{Place, Terminal, eventually};

const ECHO: &str = r#"printf 'ready\n'; while read -r line; do [ "$line" = bye ] && exit 0; printf 'got <%s>\n' "$line"; done"#;

fn look_on(place: &Place, rows: u16, cols: u16) -> Terminal {
    let socket = place.socket();
    Terminal::run(&["capsule", "attach", "--read-only", "--socket", socket.to_str().unwrap()], rows, cols)
}

#[test]
fn many_look_on_without_taking_part() {
    let place = Place::new();
    let mut operator = place.run(ECHO, 24, 80);
    operator.wait_for("ready");
    let mut viewers: Vec<Terminal> =
        [(24, 80), (10, 30), (40, 120)].map(|(r, c)| look_on(&place, r, c)).into();
    for viewer in &viewers {
        viewer.wait_for("ready");
    }
    // What a viewer types is for nobody, and its size changes nothing.
    viewers[0].type_in("not for you\r");
    viewers[0].resize(30, 100);
    operator.type_in("mine\r");
    for terminal in viewers.iter().chain([&operator]) {
        terminal.wait_for("got <mine>");
        assert!(!terminal.text().contains("not for you"), "{}", terminal.text());
    }
    assert_eq!(
        place.ctl_json(&["status"])["sessions"][0]["size"],
        serde_json::json!({ "rows": 23, "cols": 80 })
    );
    assert_eq!(viewers[2].text().trim_end(), operator.text().trim_end());

    viewers[1].type_in("q");
    assert_eq!(viewers[1].exit_code(), 0);
    viewers[1].wait_for("[jackin] stopped looking on");
    let bytes = viewers[1].bytes();
    assert!(bytes.windows(8).any(|bytes| bytes == b"\x1b[?1049l"), "its terminal is given back");
    viewers[2].type_in(b"\x02d");
    assert_eq!(viewers[2].exit_code(), 0);

    operator.type_in("bye\r");
    assert_eq!(operator.exit_code(), 0);
    assert_eq!(viewers[0].exit_code(), 0);
    viewers[0].wait_for("[jackin] sh: ended");
}

#[test]
fn looking_on_needs_no_operator() {
    let place = Place::new();
    let _daemon = place.daemon(ECHO);
    let viewer = look_on(&place, 24, 80);
    viewer.wait_for("ready");
    place.ctl(&["send", "by a script"]);
    viewer.wait_for("got <by a script>");
    assert_eq!(place.ctl_json(&["status"])["attached"], false);
}

/// A viewer that speaks the protocol by hand.
struct RawViewer {
    stream: UnixStream,
    decoder: Decoder,
    screen: vt100::Parser,
    bytes: usize,
}

impl RawViewer {
    fn attach(place: &Place) -> Self {
        let stream = UnixStream::connect(place.socket()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let Size { rows, cols } = Size::default();
        let screen = vt100::Parser::new(rows.try_into().unwrap(), cols.try_into().unwrap(), 0);
        let mut wire = Vec::new();
        encode(&Frame::Hello(Hello { read_only: true, ..Hello::default() }), &mut wire).unwrap();
        (&stream).write_all(&wire).unwrap();
        Self { stream, decoder: Decoder::new(), screen, bytes: 0 }
    }

    /// The next frame, or the reason for the end.
    fn step(&mut self) -> Option<ShutdownReason> {
        match self.decoder.next_frame().unwrap() {
            Some(Frame::Output(bytes)) => self.screen.process(bytes),
            Some(Frame::Shutdown(shutdown)) => return Some(shutdown.reason),
            Some(_) => {}
            None => {
                let mut buf = [0; 4096];
                let len = self.stream.read(&mut buf).unwrap();
                assert!(len > 0, "the capsule closed the connection");
                self.bytes += len;
                assert_eq!(self.decoder.feed(&buf[..len]), len);
            }
        }
        None
    }

    fn wait_for(&mut self, text: &str) {
        while !self.screen.screen().contents().contains(text) {
            assert_eq!(self.step(), None, "it ended before {text:?}");
        }
    }
}

#[test]
fn there_is_a_limit_to_how_many_look_on() {
    let place = Place::new();
    let _daemon = place.daemon(ECHO);
    let mut viewers: Vec<RawViewer> = (0..16).map(|_| RawViewer::attach(&place)).collect();
    for viewer in &mut viewers {
        viewer.wait_for("ready");
    }
    let mut one_too_many = RawViewer::attach(&place);
    let reason = std::iter::repeat_with(|| one_too_many.step()).flatten().next();
    assert_eq!(reason, Some(ShutdownReason::Other));
    drop(viewers.pop());
    eventually("there is room again", || {
        let mut viewer = RawViewer::attach(&place);
        loop {
            if viewer.step().is_some() {
                return false;
            }
            if viewer.screen.screen().contents().contains("ready") {
                return true;
            }
        }
    });
}

/// One that does not read gets a fresh frame when it does, not everything that it missed.
#[test]
fn a_slow_viewer_gets_no_backlog() {
    let place = Place::new();
    let _daemon = place.daemon(
        "printf 'ready\\n'; read -r x; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); echo \"line $i\"; done; \
         printf 'the very end\\n'; read -r x",
    );
    let mut slow = RawViewer::attach(&place);
    slow.wait_for("ready");
    let quick = look_on(&place, 24, 80);
    quick.wait_for("ready");
    place.ctl(&["send", "go"]);
    quick.wait_for("the very end");
    let before = slow.bytes;
    slow.wait_for("the very end");
    // What stood in the socket's buffer, one frame in flight, and the last one. All of them would be megabytes.
    let came = slow.bytes - before;
    assert!(came < 512 * 1024, "{came} bytes came late");
}
