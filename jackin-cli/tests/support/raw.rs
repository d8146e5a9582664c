//! A client that speaks the attach channel by hand, and keeps its terminal: every frame is seen as it was sent.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use jackin_core::Size;
use jackin_core::protocol::attach::{Decoder, Frame, Hello, encode};

use super::Place;

pub struct RawClient {
    stream: UnixStream,
    decoder: Decoder,
    pub screen: vt100::Parser,
    /// Every byte for the terminal so far.
    pub output: Vec<u8>,
}

impl RawClient {
    /// A terminal of this size that says, when asked, that it can do what Ghostty can.
    pub fn ghostty(place: &Place, size: Size) -> Self {
        let mut client = Self::attach(place, size);
        client.send(b"\x1b[?2026;2$y\x1b[?0u\x1b[6;16;8t\x1b[?62;22c");
        client
    }

    pub fn attach(place: &Place, size: Size) -> Self {
        let stream = UnixStream::connect(place.socket()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let screen = vt100::Parser::new(size.rows.try_into().unwrap(), size.cols.try_into().unwrap(), 0);
        let mut client = Self { stream, decoder: Decoder::new(), screen, output: Vec::new() };
        let hello = Hello {
            size,
            term: Some("xterm-ghostty".into()),
            colorterm: Some("truecolor".into()),
            ..Hello::default()
        };
        client.frame(&Frame::Hello(hello));
        client
    }

    pub fn frame(&mut self, frame: &Frame<'_>) {
        let mut wire = Vec::new();
        encode(frame, &mut wire).unwrap();
        self.stream.write_all(&wire).unwrap();
    }

    /// Types; each call is a frame, which the capsule takes by itself.
    pub fn send(&mut self, keys: impl AsRef<[u8]>) {
        self.frame(&Frame::Input(keys.as_ref()));
    }

    pub fn text(&self) -> String {
        self.screen.screen().contents()
    }

    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |client| client.text().contains(text));
    }

    pub fn wait_for_bytes(&mut self, bytes: &[u8]) {
        let what = bytes.escape_ascii().to_string();
        self.wait_until(&what, |client| client.output.windows(bytes.len()).any(|sent| sent == bytes));
    }

    pub fn wait_until(&mut self, what: &str, condition: impl Fn(&Self) -> bool) {
        while !condition(self) {
            match self.decoder.next_frame().unwrap() {
                Some(Frame::Output(bytes)) => {
                    self.screen.process(bytes);
                    self.output.extend_from_slice(bytes);
                    continue;
                }
                Some(_) => continue,
                None => {}
            }
            let mut buf = [0; 16 * 1024];
            let len = self.stream.read(&mut buf).unwrap_or_else(|error| {
                panic!("{error}: never saw {what:?}; the screen:\n{}", self.text());
            });
            assert!(len > 0, "the capsule closed the connection before {what:?}");
            assert_eq!(self.decoder.feed(&buf[..len]), len);
        }
    }
}
