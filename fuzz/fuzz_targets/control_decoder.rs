//! Any bytes as control messages, and any JSON as a call: no panic, no more memory than one message.
#![no_main]

use jackin_core::protocol::control::{Call, Decoder, MAX_MESSAGE, Reply, StreamItem};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    let mut decoder = Decoder::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        rest = &rest[decoder.feed(rest)..];
        assert!(decoder.memory() <= MAX_MESSAGE + 4);
        loop {
            match decoder.next_message() {
                Ok(Some(json)) => read(json),
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
});

/// What is understood is written so that it is understood again.
fn read(json: &[u8]) {
    if let Ok(call) = Call::from_json(json) {
        let again = serde_json::to_vec(&call).expect("a call can be written");
        assert_eq!(Call::from_json(&again).expect("what we write can be read"), call);
    }
    drop(serde_json::from_slice::<Reply<StreamItem>>(json));
}
