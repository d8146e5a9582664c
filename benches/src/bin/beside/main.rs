//! Measures jackin beside other terminal multiplexers, each driven through a real PTY, in one run.
//!
//!     cargo run --release -p jackin-benches --bin beside              # prints the tables
//!     cargo run --release -p jackin-benches --bin beside -- --write   # writes them into docs/performance.md and README.md

mod figures;
mod measures;
mod page;
mod pane;
mod processes;
mod program;
mod terminal;
mod text;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand, ValueEnum};

use figures::Figures;
use measures::{Bench, Effort, Measure};
use pane::Pane;
use program::{Kind, Program, Room};

/// The pages that show figures: all of them, and the short table.
const PAGES: [&str; 2] = ["docs/performance.md", "README.md"];

/// Measure jackin beside tmux, and zellij where it is installed
#[derive(Debug, Parser)]
#[command(name = "beside", args_conflicts_with_subcommands = true)]
struct Args {
    /// Less of everything: less than three minutes
    #[arg(long)]
    quick: bool,
    /// As little as possible, to see that it works; the figures mean nothing
    #[arg(long, conflicts_with = "quick")]
    smoke: bool,
    /// Take these measurements only
    #[arg(long, value_name = "MEASURE", value_delimiter = ',')]
    only: Vec<Measure>,
    /// The jackin-capsule to measure [default: it is built]
    #[arg(long, value_name = "FILE")]
    capsule: Option<PathBuf>,
    /// Write the tables into docs/performance.md and README.md
    #[arg(long, conflicts_with = "only")]
    write: bool,
    /// The repository whose pages are written
    #[arg(long, hide = true, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/.."))]
    repository: PathBuf,
    #[command(subcommand)]
    pane: Option<InPane>,
}

#[derive(Debug, Subcommand)]
enum InPane {
    /// What runs in a pane
    #[command(hide = true, subcommand)]
    Pane(Pane),
}

fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(InPane::Pane(pane)) = &args.pane {
        return pane.run();
    }
    let capsule = args.capsule.clone().map_or_else(build_capsule, Ok)?;
    let capsule = capsule.canonicalize().with_context(|| format!("cannot find {}", capsule.display()))?;
    let (mut programs, mut absent) = (Vec::new(), Vec::new());
    for kind in Kind::ALL {
        match Program::find(kind, &capsule)? {
            Some(program) => programs.push(program),
            None => absent.push(kind.to_string()),
        }
    }
    let (effort, how) = match (args.quick, args.smoke) {
        (true, _) => (Effort::QUICK, "a quick run"),
        (_, true) => (Effort::SMOKE, "a run that only shows that the program works"),
        _ => (Effort::FULL, "a full run"),
    };
    let about = about(how, &effort, &programs, &absent)?;
    eprintln!("{about}\n");
    let bench = Bench { programs, room: Room::new(effort.settled)?, effort };
    let figures = measured(&bench, &args.only)?;

    let full = format!("{}\n{about}\n", figures.tables());
    if args.write {
        page::write(&args.repository.join(PAGES[0]), &full)?;
        page::write(&args.repository.join(PAGES[1]), &figures.short_table())?;
    } else {
        print!("{full}");
    }
    Ok(())
}

fn measured(bench: &Bench, only: &[Measure]) -> Result<Figures> {
    let mut figures = Figures::default();
    for measure in Measure::value_variants().iter().filter(|one| only.is_empty() || only.contains(one)) {
        let start = Instant::now();
        bench.measure(*measure, &mut figures).with_context(|| format!("measuring {measure:?}"))?;
        eprintln!("{measure:?}: {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(figures)
}

/// Builds the capsule as `cargo install` would; where it then is.
fn build_capsule() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "--locked", "-p", "jackin-cli", "--bin", "jackin-capsule"])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo; name a built program with --capsule")?;
    if !output.status.success() {
        bail!("jackin-capsule does not build");
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let built = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .find(|file| file.file_name().is_some_and(|name| name == "jackin-capsule"));
    built.context("cargo did not say where jackin-capsule is")
}

/// Versions, kind of machine and amount, in one paragraph; nothing by which the machine could be told from another.
fn about(how: &str, effort: &Effort, programs: &[Program], absent: &[String]) -> Result<String> {
    let versions: Vec<&str> = programs
        .iter()
        .map(|program| program.version.as_str())
        .filter(|version| !version.is_empty())
        .collect();
    let cores = std::thread::available_parallelism()?;
    let memory = std::fs::read_to_string("/proc/meminfo")?;
    let memory: u64 =
        memory.split_whitespace().nth(1).and_then(|word| word.parse().ok()).context("/proc/meminfo")?;
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let kernel: Vec<&str> = kernel.split('.').take(2).collect();
    let load = std::fs::read_to_string("/proc/loadavg")?;
    let load = load.split(' ').next().unwrap_or_default();
    let left_out = if absent.is_empty() {
        String::new()
    } else {
        format!(" Left out, because not installed: {}.", absent.join(", "))
    };
    Ok(format!(
        "{}, on a machine with {cores} processors ({}), {} GB and Linux {}; its load at the beginning was {load}. It was \
         {how}: {} rounds of {} keys and of {:.1} MB of each output, a terminal of {} rows and {} columns.{left_out}",
        versions.join(", "),
        std::env::consts::ARCH,
        (memory * 1024).div_ceil(1 << 30),
        kernel.join("."),
        effort.rounds,
        effort.keys,
        effort.output as f64 / 1e6,
        terminal::ROWS,
        terminal::COLS,
    ))
}
