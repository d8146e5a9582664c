//! The measurements. Each is taken of every program in turn, again and again, so that what else the machine does falls
//! on all of them alike.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use jackin_benches::output::Kind as Output;

use super::figures::{Figures, Series};
use super::pane::{DONE, FLOOD, Pane, READY, SCREEN_LINES, screen_line};
use super::processes::{self, Activity};
use super::program::{Program, Room, Session};
use super::terminal::PATIENCE;

/// The kinds of output that are sent through.
pub(crate) const OUTPUTS: [Output; 5] =
    [Output::LogLines, Output::TruecolorWords, Output::Unicode, Output::TuiStatus, Output::TuiRedraw];

/// Keys that stand in no bar and in no flood.
const KEYS: [char; 5] = ['Q', 'Z', '@', '~', '^'];

/// A key that did not show by then is counted with this.
const LOST: Duration = Duration::from_secs(3);

/// How many panes are idle.
const IDLE_PANES: usize = 10;

/// How much is done: rounds, and samples in each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    /// Keys typed in a round.
    pub(crate) keys: usize,
    /// Bytes of each kind of output.
    pub(crate) output: usize,
    pub(crate) attaches: usize,
    pub(crate) starts: usize,
    /// Panes with a full history.
    pub(crate) panes: usize,
    /// Lines printed in each: more than the 10,000 that are kept.
    pub(crate) lines: usize,
    pub(crate) idle: Duration,
    /// A screen is taken for drawn when nothing came for so long.
    pub(crate) settled: Duration,
}

impl Effort {
    pub(crate) const FULL: Self = Self {
        rounds: 5,
        keys: 100,
        output: 24 << 20,
        attaches: 10,
        starts: 5,
        panes: 16,
        lines: 12_000,
        idle: Duration::from_secs(20),
        settled: Duration::from_millis(300),
    };
    pub(crate) const QUICK: Self = Self {
        rounds: 3,
        keys: 50,
        output: 6 << 20,
        attaches: 5,
        starts: 3,
        panes: 6,
        lines: 12_000,
        idle: Duration::from_secs(4),
        settled: Duration::from_millis(200),
    };
    /// Shows that it works, and measures nothing.
    pub(crate) const SMOKE: Self = Self {
        rounds: 2,
        keys: 3,
        output: 64 << 10,
        attaches: 1,
        starts: 1,
        panes: 2,
        lines: 300,
        idle: Duration::from_millis(100),
        settled: Duration::from_millis(20),
    };
}

/// The programs, where they live, and how much is done.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) programs: Vec<Program>,
    pub(crate) room: Room,
    pub(crate) effort: Effort,
}

/// A measurement by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Measure {
    Keys,
    Flood,
    Attach,
    Start,
    Memory,
    Idle,
    Output,
}

impl Bench {
    pub(crate) fn measure(&self, measure: Measure, figures: &mut Figures) -> Result<()> {
        match measure {
            Measure::Keys => self.keys(figures),
            Measure::Flood => self.flood(figures),
            Measure::Attach => self.attach(figures),
            Measure::Start => self.start(figures),
            Measure::Memory => self.memory(figures),
            Measure::Idle => self.idle(figures),
            Measure::Output => self.output(figures),
        }
    }

    fn multiplexers(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter().filter(|program| program.is_multiplexer())
    }

    /// All are open at once and do nothing but echo; the keys go to one after the other.
    fn keys(&self, figures: &mut Figures) -> Result<()> {
        let mut sessions = Vec::new();
        for program in &self.programs {
            sessions.push(Session::ready(program, &self.room, &Pane::Echo).context(program.kind)?);
        }
        for round in 0..self.effort.rounds {
            for at in 0..self.effort.keys {
                sessions.rotate_left(1);
                for session in &mut sessions {
                    let (program, terminal) = (session.program.kind, session.terminal()?);
                    // Not in step with any timer of theirs.
                    terminal.read_for(Duration::from_micros(8_000 + (at as u64 * 7_919) % 16_000))?;
                    let took = terminal.press(KEYS[at % KEYS.len()], LOST).context(program)?;
                    figures.add(Series::Key, program, round, milliseconds(took));
                }
            }
        }
        Ok(())
    }

    /// One at a time, because a flood takes what processor it can get.
    fn flood(&self, figures: &mut Figures) -> Result<()> {
        self.each_round(|program, round| {
            let mut session = Session::ready(program, &self.room, &Pane::Echo)?;
            session.split(&Pane::Flood)?;
            let terminal = session.terminal()?;
            terminal.wait_for(&[FLOOD])?;
            terminal.read_for(2 * self.effort.settled)?;
            for at in 0..self.effort.keys {
                terminal.read_for(Duration::from_micros(8_000 + (at as u64 * 7_919) % 16_000))?;
                let took = terminal.press(KEYS[at % KEYS.len()], LOST)?;
                figures.add(Series::KeyBesideFlood, program.kind, round, milliseconds(took));
            }
            Ok(())
        })
    }

    /// From the start of a client to the last line of the screen.
    fn attach(&self, figures: &mut Figures) -> Result<()> {
        let mut sessions = Vec::new();
        for program in self.multiplexers() {
            let mut session = Session::ready(program, &self.room, &Pane::Screen).context(program.kind)?;
            session.detach().context(program.kind)?;
            sessions.push(session);
        }
        let rows =
            [screen_line(SCREEN_LINES - 40), screen_line(SCREEN_LINES - 20), screen_line(SCREEN_LINES - 1)];
        let wanted: Vec<&str> = rows.iter().map(String::as_str).chain([READY]).collect();
        for round in 0..self.effort.rounds {
            for _ in 0..self.effort.attaches {
                sessions.rotate_left(1);
                for session in &mut sessions {
                    let program = session.program.kind;
                    let start = Instant::now();
                    let shown = session.attach()?.wait_for(&wanted).context(program)?;
                    figures.add(Series::Attach, program, round, milliseconds(shown - start));
                    session.detach().context(program)?;
                }
            }
        }
        Ok(())
    }

    /// From nothing to what the first pane's program prints.
    fn start(&self, figures: &mut Figures) -> Result<()> {
        // The first start reads everything from the disk.
        for program in self.multiplexers() {
            drop(Session::ready(program, &self.room, &Pane::Echo).context(program.kind)?);
        }
        self.each_round(|program, round| {
            for _ in 0..self.effort.starts {
                let start = Instant::now();
                let mut session = Session::start(program, &self.room, &Pane::Echo)?;
                let shown = session.terminal()?.wait_for(&[READY])?;
                figures.add(Series::ColdStart, program.kind, round, milliseconds(shown - start));
                session.terminal()?.read_until_quiet(self.effort.settled)?;
            }
            Ok(())
        })
    }

    /// What each further pane costs the server.
    fn memory(&self, figures: &mut Figures) -> Result<()> {
        for program in self.multiplexers() {
            let done = self.room.path(&format!("filled-{:?}", program.kind));
            std::fs::create_dir(&done)?;
            let pane = Pane::Fill { lines: self.effort.lines, done: done.clone() };
            let mut session = Session::start(program, &self.room, &pane)?;
            session.terminal()?.wait_for(&[DONE]).context(program.kind)?;
            let servers = session.servers()?;
            let one = self.settled_memory(&mut session, &servers)?;
            for _ in 1..self.effort.panes {
                session.tab().context(program.kind)?;
            }
            let deadline = Instant::now() + PATIENCE;
            while std::fs::read_dir(&done)?.count() < self.effort.panes {
                anyhow::ensure!(Instant::now() < deadline, "{}: not all panes are filled", program.kind);
                session.terminal()?.read_for(Duration::from_millis(20))?;
            }
            let all = self.settled_memory(&mut session, &servers)?;
            let per_pane = (all as f64 - one as f64) / (self.effort.panes - 1) as f64;
            figures.add(Series::MemoryPerPane, program.kind, 0, per_pane / 1e6);
        }
        Ok(())
    }

    /// All at once: who does nothing disturbs nobody.
    fn idle(&self, figures: &mut Figures) -> Result<()> {
        let mut sessions = Vec::new();
        for program in self.multiplexers() {
            let mut session = Session::ready(program, &self.room, &Pane::Screen).context(program.kind)?;
            for _ in 1..IDLE_PANES {
                session.tab().context(program.kind)?;
            }
            session.terminal()?.read_until_quiet(4 * self.effort.settled)?;
            sessions.push((session.processes()?, session));
        }
        let before: Vec<Activity> =
            sessions.iter().map(|(pids, _)| Activity::of(pids)).collect::<Result<_>>()?;
        let start = Instant::now();
        std::thread::sleep(self.effort.idle);
        for ((pids, session), before) in sessions.iter().zip(before) {
            let (now, seconds) = (Activity::of(pids)?, start.elapsed().as_secs_f64());
            let program = session.program.kind;
            let ran = now.ran.saturating_sub(before.ran).as_secs_f64();
            let switches = now.switches.saturating_sub(before.switches) as f64;
            figures.add(Series::IdleProcessor, program, 0, 100.0 * ran / seconds);
            figures.add(Series::IdleSwitches, program, 0, switches / seconds);
        }
        Ok(())
    }

    /// From when the pane is told to print to the text that it prints after everything else. It is not told by a key:
    /// for a moment after one, a multiplexer may well have the operator's keys in mind.
    fn output(&self, figures: &mut Figures) -> Result<()> {
        for (at, kind) in OUTPUTS.into_iter().enumerate() {
            let file = self.room.path(&format!("output-{at}"));
            let bytes = kind.make(self.effort.output);
            std::fs::write(&file, &bytes)?;
            let megabytes = bytes.len() as f64 / 1e6;
            let go = self.room.path("go");
            let pane = Pane::Replay { file, go: go.clone() };
            for round in 0..self.effort.rounds {
                for program in in_turn(&self.programs, round) {
                    let name = program.kind;
                    let mut session = Session::ready(program, &self.room, &pane).context(name)?;
                    let pids = session.processes()?;
                    let before = processes::processor_time(&pids)?;
                    let start = Instant::now();
                    std::fs::File::create(&go)?;
                    let shown = session.terminal()?.wait_for(&[DONE]).context(name)?;
                    std::fs::remove_file(&go)?;
                    figures.add(Series::Output(at), name, round, megabytes / (shown - start).as_secs_f64());
                    if program.is_multiplexer() {
                        let spent = processes::processor_time(&pids)?.saturating_sub(before).as_secs_f64();
                        figures.add(Series::OutputProcessor(at), name, round, spent * 100.0 / megabytes);
                    }
                }
            }
        }
        Ok(())
    }

    /// The memory once it stays the same.
    fn settled_memory(&self, session: &mut Session<'_>, servers: &[u32]) -> Result<u64> {
        let deadline = Instant::now() + PATIENCE;
        let (mut last, mut same) = (0, 0);
        while same < 3 {
            anyhow::ensure!(Instant::now() < deadline, "{}: its memory never settles", session.program.kind);
            session.terminal()?.read_for(self.effort.settled)?;
            let now = processes::memory(servers)?;
            same = if now == last { same + 1 } else { 0 };
            last = now;
        }
        Ok(last)
    }

    fn each_round(&self, mut take: impl FnMut(&Program, usize) -> Result<()>) -> Result<()> {
        for round in 0..self.effort.rounds {
            for program in in_turn(&self.programs, round).filter(|program| program.is_multiplexer()) {
                take(program, round).context(program.kind)?;
            }
        }
        Ok(())
    }
}

/// Everybody once, each time beginning with another.
fn in_turn(programs: &[Program], round: usize) -> impl Iterator<Item = &Program> {
    programs.iter().cycle().skip(round % programs.len()).take(programs.len())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
