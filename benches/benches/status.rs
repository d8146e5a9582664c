//! What it costs to know an agent's status: decoding against parsing into a document, and a verdict about a screen
//! against copying that screen.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::num::NonZero;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jackin_core::RuntimeEvent;
use jackin_status::{ClaudeStream, LineDecoder, RuleSet, Screen};
use rustix::time::{ClockId, clock_gettime};

const TRANSCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus/transcripts/claude");
const ROWS: usize = 50;
const COLUMNS: usize = 200;

/// The recorded streams over and over, 10 MB at least. Where the recordings are missing, lines of the same shapes.
fn stream() -> Vec<u8> {
    let mut recorded = Vec::new();
    for file in
        ["01-stream-subagent-explore-thinking", "10-stream-tool-use-captures", "11-stream-raw-2025-08"]
    {
        recorded.extend(
            std::fs::read(Path::new(TRANSCRIPTS).join(file).with_extension("jsonl")).unwrap_or_default(),
        );
    }
    if recorded.is_empty() {
        println!("recordings missing: lines of the same shapes are used");
        recorded.extend_from_slice(MODELLED.as_bytes());
    }
    recorded.repeat(10_000_000 / recorded.len() + 1)
}

const MODELLED: &str = r#"{"type":"system","subtype":"init","cwd":"/tmp","session_id":"s","tools":["Bash","Read","Edit"],"model":"m"}
{"type":"assistant","message":{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"I'll look at it."}],"stop_reason":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":6728,"cache_read_input_tokens":16945,"output_tokens":7}},"parent_tool_use_id":null,"session_id":"s","uuid":"u"}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"21","is_error":false}]},"parent_tool_use_id":null,"session_id":"s","uuid":"u"}
{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"done","session_id":"s","total_cost_usd":0.07,"usage":{"input_tokens":4,"output_tokens":576}}
"#;

fn decode(bytes: &[u8]) -> usize {
    let mut lines = LineDecoder::new(ClaudeStream::default());
    let mut words = 0;
    lines.feed(bytes, |decoded| {
        for event in decoded.events.iter() {
            if let RuntimeEvent::AssistantText { chunk, .. } = event {
                words += chunk.len();
            }
        }
    });
    assert_eq!(lines.tally().broken, 0);
    words
}

fn parse(bytes: &[u8]) -> usize {
    let mut lines = 0;
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let value: serde_json::Value = serde_json::from_slice(line).expect("recordings are JSON");
        black_box(&value);
        lines += 1;
    }
    lines
}

fn decoding(c: &mut Criterion) {
    let bytes = stream();
    let (ours, theirs) = (least(|| decode(&bytes)), least(|| parse(&bytes)));
    println!("decoding takes {:.2} of the time that parsing into serde_json::Value does", ours / theirs);
    assert!(ours <= theirs / 2.0, "decoding costs more than half of parsing");
    let mut group = c.benchmark_group("claude stream-json");
    group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(20);
    group.bench_function("decode", |b| b.iter(|| black_box(decode(&bytes))));
    group.bench_function("parse into serde_json::Value", |b| b.iter(|| parse(&bytes)));
    group.finish();
}

/// A screen full of output with the agent's prompt below, and no rule that matches early.
fn text() -> String {
    let mut text = String::new();
    for row in 0..ROWS - 4 {
        let line = format!(
            "  {row:3} let value = compute(row, {row}); // ── some output of a tool, as wide as it gets "
        );
        let line: String = line.chars().cycle().take(COLUMNS - 1).collect();
        writeln!(text, "{line}").expect("a String takes every write");
    }
    let rule = "─".repeat(COLUMNS);
    write!(text, "{rule}\n❯ \n{rule}\n  ? for shortcuts").expect("a String takes every write");
    text
}

fn screens(c: &mut Criterion) {
    let rules = RuleSet::builtin();
    let text = text();
    let screen = Screen { title: "✳ Claude Code".to_owned(), ..Screen::from_text(&text) };
    assert_eq!(screen.rows.len(), ROWS);
    let size = |n: usize| NonZero::new(n as u16).expect("a size above 0");
    let mut terminal = vt100::Parser::new(size(ROWS), size(COLUMNS), 0);
    terminal.process(text.replace('\n', "\r\n").as_bytes());

    let times = 1_000;
    let verdict = least(|| (0..times).filter_map(|_| rules.verdict("claude", black_box(&screen))).count());
    let copies = least(|| (0..times * 10).map(|_| black_box(black_box(&screen).rows.clone()).len()).sum());
    println!("a verdict takes {:.2} of the time of ten copies of the rows", verdict / copies);
    assert!(verdict < copies, "a verdict costs more than ten copies of the screen");

    let mut group = c.benchmark_group("screen 50x200");
    for agent in ["claude", "codex", "amp", "gemini", "opencode"] {
        group.bench_function(format!("verdict for {agent}"), |b| {
            b.iter(|| black_box(rules.verdict(agent, black_box(&screen))));
        });
    }
    group.bench_function("look for claude", |b| {
        b.iter(|| black_box(rules.look("claude", black_box(&screen))));
    });
    group.bench_function("clone the rows ten times", |b| {
        b.iter(|| {
            for _ in 0..10 {
                black_box(black_box(&screen).rows.clone());
            }
        });
    });
    group.bench_function("clone the terminal's grid ten times", |b| {
        b.iter(|| {
            for _ in 0..10 {
                black_box(black_box(terminal.screen()).clone());
            }
        });
    });
    group.finish();
}

/// The least time of several runs, by the thread's own clock: what else the machine does makes no difference.
fn least(mut work: impl FnMut() -> usize) -> f64 {
    (0..7)
        .map(|_| {
            let start = cpu_seconds();
            black_box(work());
            cpu_seconds() - start
        })
        .fold(f64::INFINITY, f64::min)
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

criterion_group!(benches, decoding, screens);
criterion_main!(benches);
