//! Any bytes, cut anywhere: the decoder neither panics nor holds more than one frame, and every way of cutting gives
//! the same frames.
#![no_main]

use jackin_core::protocol::attach::{Decoder, HEADER_LEN, MAX_PAYLOAD};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, bytes) = input;
    assert_eq!(outcomes(bytes, usize::from(piece) + 1), outcomes(bytes, bytes.len().max(1)));
});

fn outcomes(bytes: &[u8], piece: usize) -> Vec<String> {
    let mut decoder = Decoder::new();
    let mut outcomes = Vec::new();
    for mut rest in bytes.chunks(piece) {
        while !rest.is_empty() {
            rest = &rest[decoder.feed(rest)..];
            assert!(decoder.memory() <= HEADER_LEN + MAX_PAYLOAD);
            loop {
                match decoder.next_frame() {
                    Ok(Some(frame)) => outcomes.push(format!("{frame:?}")),
                    Ok(None) => break,
                    Err(error) => {
                        outcomes.push(error.to_string());
                        if error.is_fatal() {
                            return outcomes;
                        }
                    }
                }
            }
        }
    }
    outcomes
}
