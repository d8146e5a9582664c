//! The pane's terminal against `alacritty_terminal`: a table of MB/s of processor time, then criterion's measurements of ours.
//!
//! Output is fed as the reader hands it over: 64 KB where it gathers, 4 KB as the kernel gives it out of a PTY, and one frame at a time
//! for a program that waits between them.
//!
//! `cargo bench -p jackin-benches --bench vt -- --table` prints the table alone; `--only unicode` feeds one kind to ours alone, for a
//! profiler, and `--only unicode --read 4096` in reads of that size.

use std::time::Duration;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::Processor;
use criterion::{Criterion, Throughput};
use jackin_benches::cpu::{self, CpuTime};
use jackin_benches::output::Kind;
use jackin_core::Size;
use jackin_mux::vt::{Settings, Terminal};

const ROWS: u16 = 50;
const COLUMNS: u16 = 200;
/// What a reader that gathers hands over at a time.
const GATHERED: usize = 64 * 1024;
/// What the kernel hands out of a PTY at a time.
const PTY: usize = 4096;
const BYTES: usize = 4 << 20;
const ROUNDS: usize = 7;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    if let Some(kind) = value("--only") {
        let read = value("--read").and_then(|read| read.parse().ok()).unwrap_or(GATHERED);
        return only(kind, read);
    }
    table();
    if args.iter().any(|arg| arg == "--table") {
        return;
    }
    let mut criterion = Criterion::default().with_measurement(CpuTime).configure_from_args();
    for kind in Kind::ALL {
        let bytes = kind.make(1 << 20);
        let reads: Vec<&[u8]> = bytes.chunks(GATHERED).collect();
        let mut group = criterion.benchmark_group("vt/feed");
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(kind.name(), |bencher| {
            let mut terminal = ours();
            bencher.iter(|| feed_ours(&mut terminal, &reads));
        });
        group.finish();
    }
    criterion.final_summary();
}

fn table() {
    println!(
        "MB/s of processor time, {ROWS}x{COLUMNS}, 10,000 lines of history; best of {ROUNDS} rounds\n\n\
         | output | reads | jackin | alacritty_terminal | ratio |\n|---|---|---|---|---|"
    );
    for kind in Kind::ALL {
        let bytes = kind.make(BYTES);
        compare(kind, "64 KB", &bytes.chunks(GATHERED).collect::<Vec<_>>());
        compare(kind, "4 KB", &bytes.chunks(PTY).collect::<Vec<_>>());
        if matches!(kind, Kind::TuiRedraw | Kind::TuiStatus) {
            compare(kind, "one frame", &frames(&bytes));
        }
    }
    println!();
}

/// Prints a row of the table.
fn compare(kind: Kind, name: &str, reads: &[&[u8]]) {
    let (mut us, mut them) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let mut terminal = ours();
        let start = cpu::now();
        feed_ours(&mut terminal, reads);
        us = us.min(cpu::now().saturating_sub(start));

        let (mut term, mut parser) = alacritty();
        let start = cpu::now();
        for read in reads {
            parser.advance(&mut term, read);
        }
        them = them.min(cpu::now().saturating_sub(start));
    }
    let bytes: usize = reads.iter().map(|read| read.len()).sum();
    let speed = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    let (us, them) = (speed(us), speed(them));
    println!("| {} | {name} | {us:.0} | {them:.0} | {:.2} |", kind.name(), us / them);
}

/// The output cut behind each synchronized update.
fn frames(bytes: &[u8]) -> Vec<&[u8]> {
    const END: &[u8] = b"\x1b[?2026l";
    let mut frames = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(END.len()).position(|window| window == END) {
        let (frame, after) = rest.split_at(at + END.len());
        frames.push(frame);
        rest = after;
    }
    frames
}

/// `read` of 0 feeds frame by frame.
fn only(name: &str, read: usize) {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.name().contains(name)) {
        let bytes = kind.make(BYTES);
        let reads = if read == 0 { frames(&bytes) } else { bytes.chunks(read).collect() };
        let mut terminal = ours();
        let start = cpu::now();
        for _ in 0..ROUNDS {
            feed_ours(&mut terminal, &reads);
        }
        let time = cpu::now().saturating_sub(start) / ROUNDS as u32;
        println!("{}: {:.0} MB/s", kind.name(), bytes.len() as f64 / 1e6 / time.as_secs_f64());
    }
}

fn ours() -> Terminal {
    Terminal::new(Size::new(ROWS, COLUMNS), Settings::default())
}

fn feed_ours(terminal: &mut Terminal, reads: &[&[u8]]) {
    for read in reads {
        terminal.feed_all(read);
        while terminal.poll_event().is_some() {}
        terminal.clear_damage();
    }
}

fn alacritty() -> (Term<VoidListener>, Processor) {
    struct Dims;
    impl Dimensions for Dims {
        fn total_lines(&self) -> usize {
            usize::from(ROWS)
        }
        fn screen_lines(&self) -> usize {
            usize::from(ROWS)
        }
        fn columns(&self) -> usize {
            usize::from(COLUMNS)
        }
    }
    let config = Config { scrolling_history: 10_000, ..Config::default() };
    (Term::new(config, &Dims, VoidListener), Processor::new())
}
