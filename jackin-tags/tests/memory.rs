//! A parser holds no more than it promises, measured at the allocator.
#![allow(unsafe_code, reason = "an allocator that counts is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use jackin_tags::{ParserOptions, TagParser};

struct Counting;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: hands every request on to the system's allocator unchanged, and counts beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.set(LIVE.get().wrapping_add(layout.size()));
        // SAFETY: as required of the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get().wrapping_sub(layout.size()));
        // SAFETY: as required of the caller.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn sixteen_kibibytes_whatever_arrives() {
    let mut most = 0;
    for (name, message) in hostile() {
        for piece in [1, 7, 4096, usize::MAX] {
            for explain in [false, true] {
                let held = held(&message, piece, explain);
                assert!(held <= TagParser::MEMORY_MAX, "{name}, in pieces of {piece}: {held} bytes");
                most = most.max(held);
            }
        }
    }
    // The inputs do reach the parser's buffers.
    assert!(most > 12 * 1024, "{most}");
}

/// The most that a parser holds after any piece of the message.
fn held(message: &[u8], piece: usize, explain: bool) -> usize {
    let mut parser = TagParser::with_options(ParserOptions { explain, ..ParserOptions::default() });
    let before = LIVE.get();
    let mut most = 0;
    for piece in message.chunks(piece.min(message.len())) {
        parser.feed_with(piece, &mut |finding| drop(finding));
        most = most.max(LIVE.get().wrapping_sub(before));
    }
    parser.end_message_with(&mut |finding| drop(finding));
    most.max(LIVE.get().wrapping_sub(before)) + size_of::<TagParser>()
}

fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let mib = |unit: &str| unit.repeat((1 << 16) / unit.len()).into_bytes();
    let rising: String = (1..60).map(|len| "`".repeat(len) + " <jackin:").collect();
    let long = format!("<jackin:status>{} ` </jackin:status>", "x".repeat(4000));
    let value = "y".repeat(900);
    vec![
        ("opens", mib("<jackin:pr>")),
        ("closes", mib("</jackin:pr>")),
        ("beginnings", mib("<jackin:")),
        ("brackets", mib("<")),
        ("backticks", mib("`")),
        ("quotes", mib("> ")),
        ("lists", mib("- ")),
        ("one unclosed tag", format!("<jackin:pr>{}", "x".repeat(1 << 16)).into_bytes()),
        ("runs of rising length", rising.repeat(20).into_bytes()),
        ("held tags", mib("` <jackin:a>b</jackin:a><jackin:a>b</jackin:a> `` ``` ")),
        ("held beginnings", format!("`{}", "<jackin:".repeat(1 << 13)).into_bytes()),
        ("long values around a run", long.repeat(20).into_bytes()),
        (
            "a long value, then held ones",
            format!("{long}<jackin:x>{value}</jackin:x><jackin:status>{value}").repeat(20).into_bytes(),
        ),
        ("info strings", mib("a ` <jackin:x>1</jackin:x>\n``` <jackin:<jackin:<jackin:x>1</jackin:x> ")),
        ("deep quotes with fences", mib("> > - > 1. > - > ```\n")),
    ]
}
