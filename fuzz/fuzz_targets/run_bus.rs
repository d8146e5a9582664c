//! Any bytes as a message bus: reading them neither panics nor keeps more than a message, and a message that is appended
//! behind them is found whole.
#![no_main]

use jackin_core::run::BusScanner;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|before: &[u8]| {
    let mut bus = String::from_utf8_lossy(before).into_owned();
    bus.push_str(BusScanner::mend(before));
    bus.push_str("---\nmsg_id: MSG-1\ntype: NEW\nproject_id: p\n---\nnews\n");
    let mut scanner = BusScanner::new();
    for line in bus.lines() {
        if let Some(message) = scanner.line(line) {
            assert!(message.header.len() + message.body.len() <= bus.len() + 64);
        }
    }
    let last = scanner.finish().expect("the last message is there");
    assert_eq!((last.field("type"), last.body.as_str()), (Some("NEW"), "news\n"));
});
