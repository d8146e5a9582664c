//! The pane's terminal against `alacritty_terminal`: a table of MB/s of processor time, then criterion's measurements of ours.
//!
//! `cargo bench -p jackin-benches --bench vt -- --table` prints the table alone; `--only unicode` feeds one kind to ours alone, for a
//! profiler.

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
/// What a reader hands over at a time.
const READ: usize = 64 * 1024;
const BYTES: usize = 4 << 20;
const ROUNDS: usize = 7;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == "--only") {
        return only(args.get(at + 1).map_or("", String::as_str));
    }
    table();
    if args.iter().any(|arg| arg == "--table") {
        return;
    }
    let mut criterion = Criterion::default().with_measurement(CpuTime).configure_from_args();
    for kind in Kind::ALL {
        let bytes = kind.make(1 << 20);
        let mut group = criterion.benchmark_group("vt/feed");
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(kind.name(), |bencher| {
            let mut terminal = ours();
            bencher.iter(|| feed_ours(&mut terminal, &bytes));
        });
        group.finish();
    }
    criterion.final_summary();
}

fn table() {
    println!(
        "MB/s of processor time, {ROWS}x{COLUMNS}, reads of 64 KB, 10,000 lines of history; best of {ROUNDS} rounds\n"
    );
    println!("| output | jackin | alacritty_terminal | ratio |\n|---|---|---|---|");
    for kind in Kind::ALL {
        let bytes = kind.make(BYTES);
        let (mut us, mut them) = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            let mut terminal = ours();
            let start = cpu::now();
            feed_ours(&mut terminal, &bytes);
            us = us.min(cpu::now().saturating_sub(start));

            let (mut term, mut parser) = alacritty();
            let start = cpu::now();
            for piece in bytes.chunks(READ) {
                parser.advance(&mut term, piece);
            }
            them = them.min(cpu::now().saturating_sub(start));
        }
        let speed = |time: Duration| bytes.len() as f64 / 1e6 / time.as_secs_f64();
        let (us, them) = (speed(us), speed(them));
        println!("| {} | {us:.0} | {them:.0} | {:.2} |", kind.name(), us / them);
    }
    println!();
}

fn only(name: &str) {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.name().contains(name)) {
        let bytes = kind.make(BYTES);
        let mut terminal = ours();
        let start = cpu::now();
        for _ in 0..ROUNDS * 3 {
            feed_ours(&mut terminal, &bytes);
        }
        let time = cpu::now().saturating_sub(start) / (ROUNDS as u32 * 3);
        println!("{}: {:.0} MB/s", kind.name(), bytes.len() as f64 / 1e6 / time.as_secs_f64());
    }
}

fn ours() -> Terminal {
    Terminal::new(Size::new(ROWS, COLUMNS), Settings::default())
}

fn feed_ours(terminal: &mut Terminal, bytes: &[u8]) {
    for piece in bytes.chunks(READ) {
        terminal.feed_all(piece);
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
