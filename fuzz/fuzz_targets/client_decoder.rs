//! What an operator's terminal sends: any bytes, cut anywhere, mean the same as whole, and nothing is lost of what is a
//! program's to see.
//!
//! The first byte says how the rest is cut.
#![no_main]

use jackin_core::{Size, Timestamp};
use jackin_mux::{Client, Input, Mux, Output, Place, Settings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [cut, rest @ ..] = data else { return };
    let whole = written(rest, rest.len().max(1));
    let pieces = written(rest, usize::from(*cut) % 7 + 1);
    assert_eq!(whole.escape_ascii().to_string(), pieces.escape_ascii().to_string());
    // Text without sequences and without a prefix arrives as it was typed.
    if !rest.iter().any(|byte| matches!(byte, 0x1b)) {
        assert_eq!(whole, rest);
    }
});

/// What reaches the program when the bytes come in pieces of this size. Without a prefix all keys are its own.
fn written(bytes: &[u8], size: usize) -> Vec<u8> {
    let mut mux = Mux::new(Settings { prefix: None, chrome: false, ..Settings::default() });
    let mut now = Timestamp::from_millis(0);
    mux.open(Place::Tab, "shell", true, now);
    mux.handle_input(Input::Attached(Client::modern(Size::new(5, 20))), now);
    let mut written = Vec::new();
    for piece in bytes.chunks(size) {
        mux.handle_input(Input::Client(piece), now);
        take(&mut mux, &mut written);
    }
    // What was waited for comes out in the end, as it is. A paste may not have ended.
    for _ in 0..4 {
        let Some(due) = mux.poll_timeout() else { break };
        now = now.max(due);
        mux.handle_input(Input::Tick, now);
        take(&mut mux, &mut written);
    }
    written
}

fn take(mux: &mut Mux, written: &mut Vec<u8>) {
    while let Some(output) = mux.poll_output() {
        if let Output::WritePty { bytes, .. } = output {
            written.extend(bytes);
        }
    }
}
