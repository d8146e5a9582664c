//! What a pane's terminal holds in memory, and what hostile output costs: two tables.

use std::time::Duration;

use jackin_benches::cpu;
use jackin_benches::output::Kind;
use jackin_core::Size;
use jackin_mux::vt::{Settings, Terminal};

const PANES: usize = 16;

fn main() {
    if let Some(case) = std::env::args().skip_while(|arg| arg != "--case").nth(1) {
        return measure(case.parse().unwrap_or(0));
    }
    if let Some(case) = std::env::args().skip_while(|arg| arg != "--hostile").nth(1) {
        return measure_hostile(case.parse().unwrap_or(0));
    }
    memory();
    hostile();
}

const CASES: [&str; 4] =
    ["idle", "idle, both screens used", "10,000 lines of 100 characters", "10,000 colourful lines"];

fn memory() {
    println!("resident memory per pane, {PANES} panes of 50x200 in one process\n\n| pane | KB |\n|---|---|");
    let this = std::env::current_exe().unwrap_or_default();
    for (case, name) in CASES.into_iter().enumerate() {
        // A process of its own: memory that another case gave back would hide what this one takes.
        let output = std::process::Command::new(&this).args(["--case", &case.to_string()]).output();
        println!(
            "| {name} | {} |",
            output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default()
        );
    }
    println!();
}

/// Prints KB per pane for one of [`CASES`].
fn measure(case: usize) {
    let plain: Vec<u8> = (0..10_100).flat_map(|n| format!("{n:0>100}\r\n").into_bytes()).collect();
    let lines = |kind: Kind, count: usize| -> Vec<u8> {
        let bytes = kind.make(8 << 20);
        let end = bytes
            .iter()
            .enumerate()
            .filter(|(_, b)| **b == b'\n')
            .nth(count)
            .map_or(bytes.len(), |(at, _)| at + 1);
        bytes[..end].to_vec()
    };
    let colourful = lines(Kind::TruecolorWords, 10_100);
    let bytes = match case {
        0 => b"$ ".to_vec(),
        1 => b"$ \x1b[?1049hx\x1b[?1049l".to_vec(),
        2 => plain,
        _ => colourful,
    };
    let before = resident();
    let panes: Vec<Terminal> = (0..PANES)
        .map(|_| {
            let mut terminal = Terminal::new(Size::new(50, 200), Settings::default());
            for read in bytes.chunks(64 * 1024) {
                terminal.feed_all(read);
            }
            terminal
        })
        .collect();
    println!("{}", (resident() - before) / PANES / 1024);
    drop(panes);
}

/// Bytes of this process in memory.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = statm.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    pages * 4096
}

fn hostile() {
    println!(
        "hostile output, 50x200, up to 1 MiB of each\n\n\
         | output | ns per byte | longest call with a budget of 64 Ki, µs | memory held, KB |\n|---|---|---|---|"
    );
    let this = std::env::current_exe().unwrap_or_default();
    for (case, (name, _)) in hostile_output().into_iter().enumerate() {
        let output = std::process::Command::new(&this).args(["--hostile", &case.to_string()]).output();
        println!(
            "| {name} | {} |",
            output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default()
        );
    }
    let mut terminal = Terminal::new(Size::new(50, 200), Settings::default());
    terminal.feed_all(&Kind::LogLines.make(1 << 20));
    let start = cpu::now();
    for n in 0..100 {
        terminal.resize(Size::new(20 + n % 40, 60 + n * 7 % 200));
    }
    println!(
        "\na resize of a pane with 10,000 lines: {} µs\n",
        (cpu::now().saturating_sub(start) / 100).as_micros()
    );
}

/// Prints the figures of one kind of hostile output. What the machine does beside it can make any single call long: the longest call is
/// that of the best of several short rounds, after one that shows how much memory is held.
fn measure_hostile(case: usize) {
    const ROUNDS: usize = 12;
    const ROUND: Duration = Duration::from_millis(200);
    let Some((_, bytes)) = hostile_output().into_iter().nth(case) else { return };
    let before = resident();
    let (mut best, mut longest) = (f64::MAX, Duration::MAX);
    let mut held = 0;
    for round in 0..ROUNDS {
        let mut terminal = Terminal::new(Size::new(50, 200), Settings::default());
        let mut longest_now = Duration::ZERO;
        let mut at = 0;
        let start = cpu::now();
        let most = if round == 0 { 20 * ROUND } else { ROUND };
        while at < bytes.len() && cpu::now().saturating_sub(start) < most {
            let call = cpu::now();
            at += terminal.feed(&bytes[at..], 64 * 1024);
            longest_now = longest_now.max(cpu::now().saturating_sub(call));
            while terminal.poll_event().is_some() {}
        }
        best = best.min(cpu::now().saturating_sub(start).as_nanos() as f64 / at as f64);
        longest = longest.min(longest_now);
        held = held.max(resident().saturating_sub(before));
    }
    println!("{best:.1} | {} | {}", longest.as_micros(), held / 1024);
}

fn hostile_output() -> Vec<(&'static str, Vec<u8>)> {
    let repeat = |piece: &[u8]| piece.repeat((1 << 20) / piece.len());
    let mut deep = b"\x1b[".to_vec();
    deep.extend(b"1;".repeat(65_535));
    deep.push(b'm');
    vec![
        ("text, for comparison", repeat(b"plain text without end ")),
        ("unterminated OSC", [b"\x1b]0;".to_vec(), repeat(b"x")].concat()),
        ("ESC[65535b", repeat(b"x\x1b[65535b")),
        ("alternate screen on and off", repeat(b"\x1b[?1049hx\x1b[?1049l")),
        ("RIS", repeat(b"\x1bcx")),
        ("ESC[2J of a full screen", repeat(b"\x1b#8\x1b[2J")),
        ("SGR of 2,000 parameters", repeat(&[b"\x1b[".as_slice(), &b"1;".repeat(2000), b"mx"].concat())),
        ("CSI of 65,535 parameters", repeat(&deep)),
        (
            "a style each",
            (0u32..40_000)
                .flat_map(|n| {
                    format!("\x1b[4:3;38;2;{};{};{}mx", n & 255, n >> 8 & 255, n >> 16).into_bytes()
                })
                .collect(),
        ),
        ("a link each", (0..30_000).flat_map(|n| format!("\x1b]8;;http://{n}\x07x").into_bytes()).collect()),
        ("marks without end", repeat("\u{301}".as_bytes())),
        ("joiners without end", repeat("👩\u{200d}".as_bytes())),
        ("insert lines in colour", repeat(b"\x1b[41m\x1b[50L")),
        ("invalid UTF-8", repeat(b"\xff")),
        ("rows drawn whole, then touched", repeat(b"\x1b[7;1Hwhole row of text\x1b[K\x1b[7;3Hx")),
        ("a shell prompt in each row", repeat(b"\x1b]133;A\x07$ \x1b]133;D;1\x07\r\n")),
    ]
}
