//! Any bytes for any decoder, cut anywhere: no panic, and every way of cutting gives the same events and counts.
#![no_main]

use jackin_status::{LineDecoder, Replay, Runtime, Tally};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (runtime, piece, bytes) = input;
    let runtime = Runtime::ALL[usize::from(runtime) % Runtime::ALL.len()];
    let whole = events(runtime, bytes, bytes.len().max(1));
    assert_eq!(events(runtime, bytes, usize::from(piece) + 1), whole);

    // The status that follows must hold for any events as well.
    let mut replay = Replay::new(runtime);
    let mut last = Default::default();
    let mut each = |change: jackin_status::Transition| {
        assert!(change.at >= last);
        last = change.at;
    };
    replay.feed(bytes, &mut each);
    replay.finish(&mut each);
});

fn events(runtime: Runtime, bytes: &[u8], piece: usize) -> (Vec<String>, Tally) {
    let mut lines = LineDecoder::new(runtime.decoder());
    let mut events = Vec::new();
    let mut each = |decoded: jackin_status::Decoded<'_>| {
        events.extend(decoded.events.drain(..).map(|event| format!("{event:?}")));
    };
    for piece in bytes.chunks(piece) {
        lines.feed(piece, &mut each);
    }
    lines.finish(&mut each);
    (events, lines.tally())
}
