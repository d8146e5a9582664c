//! The multiplexer's way from what a program prints to what the operator's terminal is sent, on 50 rows of 200 columns.
//!
//! `cargo bench -p jackin-benches --bench mux`; with `-- --check` it asserts the limits and prints a table. With
//! `-- --run CASE N` it does nothing but one case (by its number) so many times, for a profiler.

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use jackin_benches::cpu::{self, CpuTime};
use jackin_core::{PaneId, Size, Timestamp};
use jackin_mux::{Client, Input, Mux, Place, Settings};

const SIZE: Size = Size { rows: 50, cols: 200 };

/// One changed row takes at most this part of a full frame's time.
const ROW_PART: f64 = 1.0 / 20.0;
/// Nothing changed takes at most this long.
const NOTHING: Duration = Duration::from_micros(1);

fn main() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--run").skip(1);
    let mut number = || arguments.next().and_then(|number| number.parse().ok());
    if let (Some(case), Some(count)) = (number(), number()) {
        return run(case, count);
    }
    if std::env::args().any(|argument| argument == "--check") {
        return check();
    }
    let mut criterion = Criterion::default().with_measurement(CpuTime).configure_from_args();
    let mut group = criterion.benchmark_group("mux");
    for (name, run) in CASES {
        let mut scene = Scene::new();
        group.bench_function(*name, |bench| bench.iter(|| black_box(run(&mut scene))));
    }
    group.finish();
    criterion.final_summary();
}

/// What is measured; each returns the bytes that the terminal is sent.
type Case = fn(&mut Scene) -> usize;

const CASES: &[(&str, Case)] = &[
    ("nothing changed", Scene::draw),
    ("a typed character and its echo", Scene::key),
    ("one changed row", Scene::row),
    ("a full frame", Scene::full),
    ("20 lines of a log", Scene::log),
];

/// A pane full of text in a terminal that shows it.
struct Scene {
    mux: Mux,
    pane: PaneId,
    now: u64,
    turn: usize,
    frame: Vec<u8>,
}

impl Scene {
    fn new() -> Self {
        let mut mux = Mux::new(Settings::default());
        let now = Timestamp::from_millis(0);
        let Some(pane) = mux.open(Place::Tab, "shell", true, now) else { unreachable!("a tab has room") };
        mux.handle_input(Input::Attached(Client::modern(SIZE)), now);
        mux.handle_input(Input::Client(b"\x1b[?2026;2$y\x1b[?0u\x1b[?62c"), now);
        let mut scene = Self { mux, pane, now: 0, turn: 0, frame: Vec::with_capacity(1 << 20) };
        for row in 1..49 {
            scene.print(
                format!("\x1b[{row};1H\x1b[3{}m{}\x1b[m", row % 8, "some words ".repeat(18)).as_bytes(),
            );
        }
        scene.print(b"\x1b[49;1H$ ");
        scene.draw();
        scene
    }

    fn at(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }

    fn print(&mut self, bytes: &[u8]) {
        self.mux.handle_input(Input::Pty { pane: self.pane, bytes }, self.at());
        while self.mux.poll_output().is_some() {}
    }

    fn draw(&mut self) -> usize {
        self.now += 40;
        self.frame.clear();
        self.mux.render(self.at(), &mut self.frame);
        self.frame.len()
    }

    fn key(&mut self) -> usize {
        self.turn += 1;
        self.mux.handle_input(Input::Client(b"x"), self.at());
        while let Some(output) = self.mux.poll_output() {
            black_box(output);
        }
        // A line of a few words, and a new one.
        self.print(if self.turn.is_multiple_of(64) { b"\x1b[49;3H\x1b[K" } else { b"x" });
        self.draw()
    }

    fn row(&mut self) -> usize {
        self.turn += 1;
        let text = if self.turn.is_multiple_of(2) { "even words " } else { "odd texts " };
        self.print(format!("\x1b[20;1H\x1b[36m{}\x1b[m\x1b[K", text.repeat(14)).as_bytes());
        self.draw()
    }

    fn full(&mut self) -> usize {
        self.mux.run(jackin_mux::Command::Redraw, self.at());
        self.draw()
    }

    fn log(&mut self) -> usize {
        self.turn += 1;
        let line = format!("\r\n2026-11-16T02:07:00 INFO request {} served in 12 ms", self.turn);
        self.print(line.repeat(20).as_bytes());
        self.draw()
    }
}

fn run(case: usize, count: usize) {
    let mut scene = Scene::new();
    let (_, run) = CASES[case % CASES.len()];
    for _ in 0..count {
        black_box(run(&mut scene));
    }
}

fn check() {
    println!("| what | µs | bytes |\n|---|---|---|");
    let figures: Vec<(Duration, usize)> = CASES
        .iter()
        .map(|(name, run)| {
            let (time, bytes) = measure(*run);
            println!("| {name} | {:.2} | {bytes} |", time.as_nanos() as f64 / 1e3);
            (time, bytes)
        })
        .collect();
    let [nothing, key, row, full, log] = figures[..] else { unreachable!("there are five cases") };
    let part = row.0.as_nanos() as f64 / full.0.as_nanos() as f64;
    println!("\none changed row / a full frame: 1/{:.0}", 1.0 / part);
    assert!(nothing.0 < NOTHING && nothing.1 == 0, "nothing changed: {nothing:?}");
    assert!(key.1 <= 40, "a typed character: {} bytes", key.1);
    assert!(part <= ROW_PART && row.1 <= 200, "one changed row: {part}, {} bytes", row.1);
    let text = 20 * "2026-11-16T02:07:00 INFO request 12345 served in 12 ms\r\n".len();
    assert!(log.1 * 10 <= text * 13, "20 lines of a log: {} bytes for {text}", log.1);
}

/// The shortest of many rounds, and the most bytes that a frame took.
fn measure(run: Case) -> (Duration, usize) {
    const ROUNDS: u32 = 60;
    const RUNS: u32 = 50;
    let mut scene = Scene::new();
    let (mut best, mut most) = (Duration::MAX, 0);
    for _ in 0..ROUNDS {
        let begin = cpu::now();
        for _ in 0..RUNS {
            most = most.max(black_box(run(&mut scene)));
        }
        best = best.min(cpu::now().saturating_sub(begin) / RUNS);
    }
    (best, most)
}
