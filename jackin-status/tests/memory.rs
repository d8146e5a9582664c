//! What hostile lines cost: counted by the allocator.
#![allow(unsafe_code, reason = "an allocator that counts can be written in no other way")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use jackin_status::{LineDecoder, MAX_LINE, Replay, Runtime};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    // Blocks of the sizes that matter here are moved by the kernel, not copied.
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        let now = NOW.fetch_add(size, Ordering::Relaxed) + size;
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How much more memory than at its beginning `work` held at most.
fn peak(work: impl FnOnce()) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    work();
    PEAK.load(Ordering::Relaxed) - before
}

/// A line of a mebibyte that begins with `head`, has `filling` over and over, and ends with `tail`.
fn filled(head: &str, filling: &str, tail: &str) -> Vec<u8> {
    let times = ((1 << 20) - head.len() - tail.len()) / filling.len();
    [head, &filling.repeat(times), tail].concat().into_bytes()
}

/// One test, because the counter is the process's.
#[test]
fn hostile_lines_are_bounded() {
    const MB: usize = 1 << 20;
    let chunk = vec![b'x'; MB];
    let cost = peak(|| {
        let mut lines = LineDecoder::new(Runtime::ClaudeStream.decoder());
        for _ in 0..1_024 {
            lines.feed(&chunk, |_| {});
        }
        lines.feed(b"\n{}\n", |_| {});
        assert_eq!((lines.tally().lines, lines.tally().oversized), (2, 1));
    });
    assert!(cost <= MAX_LINE + MB, "a line of a gibibyte cost {cost}");

    let lines = [
        filled(r#"{"type":"assistant","message":{"id":"m","content":["#, "{},", "{}]}}"),
        filled(
            r#"{"type":"assistant","message":{"id":"m","content":["#,
            r#"{"type":"tool_use","id":"a"},"#,
            "{}]}}",
        ),
        filled(r#"{"type":"user","message":{"content":["#, r#"{"type":"tool_result"},"#, "{}]}}"),
        filled(r#"{"type":"x","a":"#, "[", "1"),
        filled(r#"{"type":"gemini","toolCalls":["#, "{},", "{}]}"),
        filled(r#"{"type":"question.asked","properties":{"questions":["#, "{},", "{}]}}"),
        filled(r#"{"messages":["#, "{},", "{}]}"),
        filled(r#"{"type":"error","error":"#, "[", "1"),
        filled(r#"{"id":""#, "x", r#"","type":"turn.started"}"#),
    ];
    for line in &lines {
        for runtime in Runtime::ALL {
            let cost = peak(|| {
                let mut lines = LineDecoder::new(runtime.decoder());
                lines.line(line, |_| {});
            });
            // Skipping may need a byte per level of nesting, and so the line's length; the rest is bounded.
            let shown = String::from_utf8_lossy(&line[..40]);
            assert!(cost <= line.len() + MB, "{runtime}: {shown}… cost {cost}");
        }
    }

    // What stays behind after ever new ids, questions and tools.
    for runtime in Runtime::ALL {
        let id = "i".repeat(5_000);
        let kept = peak(|| {
            let mut replay = Replay::new(runtime);
            for number in 0..200 {
                let id = format!("{number}{id}");
                for line in [
                    format!(
                        r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"can_use_tool","tool_name":"{id}","tool_use_id":"{id}"}}}}"#
                    ),
                    format!(
                        r#"{{"type":"assistant","message":{{"id":"{id}","content":[{{"type":"tool_use","id":"{id}","name":"{id}"}}]}}}}"#
                    ),
                    format!(
                        r#"{{"type":"message.updated","properties":{{"info":{{"id":"{id}","role":"assistant"}}}}}}"#
                    ),
                    format!(
                        r#"{{"type":"message.part.updated","properties":{{"part":{{"id":"{id}","messageID":"{id}","type":"text","text":"x"}}}}}}"#
                    ),
                    format!(r#"{{"hook_event_name":"PreToolUse","tool_name":"{id}","tool_use_id":"{id}"}}"#),
                    format!(r#"{{"type":"item.started","item":{{"id":"{id}","type":"command_execution"}}}}"#),
                    format!(
                        r#"{{"id":"{id}","method":"item/fileChange/requestApproval","params":{{"itemId":"{id}"}}}}"#
                    ),
                    format!(r#"{{"type":"system","subtype":"task_started","task_id":"{id}"}}"#),
                ] {
                    replay.feed(line.as_bytes(), |_| {});
                    replay.feed(b"\n", |_| {});
                }
            }
        });
        let document = if runtime.is_document() { MAX_LINE } else { 0 };
        assert!(kept <= document + MB, "{runtime} kept {kept}");
    }
}
