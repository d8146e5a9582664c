//! The tag parser: throughput on prose beside a bare sweep, and on input made to hurt, at two sizes each.
//!
//! `cargo bench -p jackin-benches --bench tags`; with `-- --check` it asserts the floors instead of only measuring.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use jackin_tags::TagParser;
use memchr::memchr3_iter;
use rustix::time::{ClockId, clock_gettime};

const MIB: usize = 1 << 20;

/// On hostile input the parser does at least this many bytes a second.
const FLOOR: f64 = 50e6;

/// Twice the input takes at most this much longer.
const GROWTH: f64 = 2.2;

/// On prose the parser is at most this many times slower than a sweep for the same three bytes.
const SLOWDOWN: f64 = 4.0;

/// Runs of a measurement, at least, and how long it takes, at least: a short run is disturbed more by others' use of the
/// caches.
const ROUNDS: usize = 50;
const SECONDS: f64 = 0.5;

fn main() {
    if std::env::args().any(|argument| argument == "--check") {
        check();
        return;
    }
    let mut criterion = Criterion::default().configure_from_args();
    prose(&mut criterion);
    hostile(&mut criterion);
    pieces(&mut criterion);
    criterion.final_summary();
}

fn prose(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tags/prose");
    for (name, text) in [("wrapped", wrapped(MIB)), ("long-lines", long_lines(MIB))] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::new("memchr3", name), |bench| {
            bench.iter(|| sweep(black_box(&text)));
        });
        group
            .bench_function(BenchmarkId::new("parser", name), |bench| bench.iter(|| parse(black_box(&text))));
    }
    group.finish();
}

fn hostile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tags/hostile");
    for (name, make) in HOSTILE {
        for size in [MIB, 2 * MIB] {
            let text = make(size);
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(BenchmarkId::new(*name, size / MIB), |bench| {
                bench.iter(|| parse(black_box(&text)));
            });
        }
    }
    group.finish();
}

/// As a runtime streams it: a few bytes at a time.
fn pieces(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tags/pieces");
    let text = wrapped(MIB);
    group.throughput(Throughput::Bytes(text.len() as u64));
    for size in [1, 16, 4096] {
        group.bench_function(BenchmarkId::from_parameter(size), |bench| {
            bench.iter(|| parse_pieces(black_box(&text), size));
        });
    }
    group.finish();
}

type Make = fn(usize) -> Vec<u8>;

const HOSTILE: &[(&str, Make)] = &[
    ("opens", |size| repeat("<jackin:pr>", size)),
    ("angle-brackets", |size| repeat("<", size)),
    ("backticks", |size| repeat("`", size)),
    ("unclosed-tag", |size| [b"<jackin:pr>".to_vec(), repeat("x", size)].concat()),
    ("unclosed-tag-of-brackets", |size| [b"<jackin:pr>".to_vec(), repeat("</jackin", size)].concat()),
    ("backticks-in-text", |size| [b"x".to_vec(), repeat("`", size)].concat()),
    ("single-backticks", |size| repeat("` ", size)),
    ("rising-runs", rising_runs),
    ("levels-then-runs", levels_then_runs),
    ("held-tags", |size| repeat("` <jackin:a>b</jackin:a> `` <jackin:a>b</jackin:a> ``` ", size)),
    ("quotes", |size| repeat("> ", size)),
    ("deep-lists-and-blank-lines", |size| [repeat("- ", 64), b"x".to_vec(), repeat("\n", size)].concat()),
    ("deep-lists-and-white-lines", |size| [repeat("- ", 64), b"x".to_vec(), repeat("\n ", size)].concat()),
    ("deep-quotes", |size| repeat(&("> ".repeat(32) + "\n"), size)),
    ("empty-quotes", |size| repeat(">\n", size)),
    ("empty-items", |size| repeat("-\n", size)),
    ("almost-rules", |size| repeat(&("- ".repeat(120) + "x\n"), size)),
    ("fences", |size| repeat("```\n", size)),
    ("almost-fences", |size| repeat("``` ` <jackin:a>b</jackin:a>\n", size)),
    ("backslashes", |size| repeat("\\\\\\`", size)),
];

fn rising_runs(size: usize) -> Vec<u8> {
    let unit: String = (1..44).map(|len| "`".repeat(len) + " ").collect();
    repeat(&unit, size)
}

/// As many levels as fit, and then as many runs that have to be looked for among them.
fn levels_then_runs(size: usize) -> Vec<u8> {
    let levels: String = (2..30).map(|len| "`".repeat(len) + " ").collect();
    repeat(&(levels + &"` ".repeat(250)), size)
}

fn repeat(unit: &str, size: usize) -> Vec<u8> {
    unit.bytes().cycle().take(size).collect()
}

const SENTENCES: &[&str] = &[
    "I looked at the failing test and the cause is a race between the writer and the flush timer. ",
    "The fix is small: the timer now takes the same lock, and the writer wakes it when it is done. ",
    "I ran the whole suite twice with `cargo test --workspace`, and it passes both times. ",
    "There is one more place that reads the old value, in the code that prints the summary; I left it alone. ",
    "Next I will open a pull request and ask for a review of the locking order. ",
];

/// What an agent writes, a paragraph to a line.
fn long_lines(size: usize) -> Vec<u8> {
    let mut text = String::new();
    let mut paragraph = 0;
    while text.len() < size {
        for sentence in 0..4 {
            text.push_str(SENTENCES[(paragraph + sentence) % SENTENCES.len()]);
        }
        paragraph += 1;
        text.push_str("\n\n");
        if paragraph % 20 == 0 {
            text.push_str("- one thing\n- another\n\n```rust\nlet x = 1;\nlet y = x < 2;\n```\n\n");
            text.push_str("<jackin:pr>https://github.com/example/project/pull/520</jackin:pr>\n");
        }
    }
    text.truncate(size);
    text.into_bytes()
}

/// The same, wrapped at eighty columns.
fn wrapped(size: usize) -> Vec<u8> {
    let mut text = long_lines(size);
    let (mut line_start, mut last_space) = (0, None);
    for at in 0..text.len() {
        match text[at] {
            b'\n' => (line_start, last_space) = (at + 1, None),
            b' ' => last_space = Some(at),
            _ => {}
        }
        if at - line_start >= 80
            && let Some(space) = last_space.take()
        {
            text[space] = b'\n';
            line_start = space + 1;
        }
    }
    text
}

fn sweep(text: &[u8]) -> usize {
    memchr3_iter(b'\n', b'`', b'<', text).count()
}

fn parse(text: &[u8]) -> usize {
    parse_pieces(text, text.len())
}

fn parse_pieces(text: &[u8], size: usize) -> usize {
    let mut parser = TagParser::new();
    let mut tags = 0;
    for piece in text.chunks(size) {
        parser.feed_with(piece, &mut |_| tags += 1);
    }
    parser.end_message_with(&mut |_| tags += 1);
    tags
}

/// Measures each figure by the best of many runs, and asserts it.
fn check() {
    let mut failed = false;
    let mut report = |good: bool, line: String| {
        println!("{} {line}", if good { "ok  " } else { "FAIL" });
        failed |= !good;
    };
    for (name, make) in HOSTILE {
        let (one, two) = (make(MIB), make(2 * MIB));
        let good = |short: f64, long: f64| one.len() as f64 / short >= FLOOR && long / short <= GROWTH;
        let (short, long) = best(|| parse(&one), || parse(&two));
        let rate = one.len() as f64 / short / 1e6;
        report(good(short, long), format!("{name:<28} {rate:>8.0} MB/s, 2n/n {:.2}", long / short));
    }
    for (name, text) in [("wrapped", wrapped(MIB)), ("long lines", long_lines(MIB))] {
        let good = |swept: f64, parsed: f64| parsed / swept <= SLOWDOWN;
        let (swept, parsed) = best(|| sweep(&text), || parse(&text));
        let rate = |seconds: f64| text.len() as f64 / seconds / 1e6;
        report(
            good(swept, parsed),
            format!(
                "prose, {name:<21} {:>8.0} MB/s, memchr3 {:.0} MB/s, {:.2} times slower",
                rate(parsed),
                rate(swept),
                parsed / swept
            ),
        );
    }
    assert!(!failed, "a figure is out of bounds");
}

/// Seconds of the best run of each, taken in turns so that both see the same machine.
fn best(first: impl Fn() -> usize, second: impl Fn() -> usize) -> (f64, f64) {
    let time = |run: &dyn Fn() -> usize, best: f64| {
        let start = cpu_seconds();
        black_box(run());
        best.min(cpu_seconds() - start)
    };
    let mut best = (f64::MAX, f64::MAX);
    let (start, mut rounds) = (cpu_seconds(), 0);
    while rounds < ROUNDS || cpu_seconds() - start < SECONDS {
        best = (time(&first, best.0), time(&second, best.1));
        rounds += 1;
    }
    best
}

/// The time that this thread has run; what it has waited for a busy machine does not count.
fn cpu_seconds() -> f64 {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}
