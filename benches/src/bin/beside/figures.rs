//! What was measured, and the tables of it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::program::Kind;

/// What a sample is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Series {
    Key,
    KeyBesideFlood,
    Attach,
    ColdStart,
    MemoryPerPane,
    IdleProcessor,
    IdleSwitches,
    /// How fast a kind of output goes through, by its place in [`OUTPUTS`](super::measures::OUTPUTS).
    Output(usize),
    /// The processor time that it takes.
    OutputProcessor(usize),
}

/// How samples become one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statistic {
    Median,
    P99,
}

/// A line of a table.
#[derive(Debug)]
pub(crate) struct Row {
    series: Series,
    statistic: Statistic,
    pub(crate) name: &'static str,
    decimals: usize,
}

const fn row(series: Series, statistic: Statistic, name: &'static str, decimals: usize) -> Row {
    Row { series, statistic, name, decimals }
}

/// Where less is better.
pub(crate) const LESS: [Row; 14] = [
    row(Series::Key, Statistic::Median, "key to screen, p50, ms", 2),
    row(Series::Key, Statistic::P99, "key to screen, p99, ms", 2),
    row(Series::KeyBesideFlood, Statistic::Median, "the same beside a flooding pane, p50, ms", 2),
    row(Series::KeyBesideFlood, Statistic::P99, "the same beside a flooding pane, p99, ms", 2),
    row(Series::Attach, Statistic::Median, "reattach to a full screen, ms", 1),
    row(Series::ColdStart, Statistic::Median, "cold start, ms", 1),
    row(
        Series::MemoryPerPane,
        Statistic::Median,
        "memory per pane with 10,000 lines of 100 characters, MB",
        2,
    ),
    row(Series::IdleProcessor, Statistic::Median, "processor with ten idle panes, %", 3),
    row(Series::IdleSwitches, Statistic::Median, "context switches a second with ten idle panes", 2),
    row(Series::OutputProcessor(0), Statistic::Median, "processor time for 100 MB of log lines, s", 2),
    row(Series::OutputProcessor(1), Statistic::Median, "for truecolor words, s", 2),
    row(Series::OutputProcessor(2), Statistic::Median, "for unicode, s", 2),
    row(Series::OutputProcessor(3), Statistic::Median, "for redrawn rows, s", 2),
    row(Series::OutputProcessor(4), Statistic::Median, "for redrawn screens, s", 2),
];

/// Where more is better.
pub(crate) const MORE: [Row; 5] = [
    row(Series::Output(0), Statistic::Median, "log lines, MB/s", 1),
    row(Series::Output(1), Statistic::Median, "truecolor words, MB/s", 1),
    row(Series::Output(2), Statistic::Median, "unicode, MB/s", 1),
    row(Series::Output(3), Statistic::Median, "redrawn rows, MB/s", 1),
    row(Series::Output(4), Statistic::Median, "redrawn screens, MB/s", 1),
];

/// The rows that the README shows.
const SHORT: [&str; 8] = [
    "key to screen, p50, ms",
    "the same beside a flooding pane, p50, ms",
    "reattach to a full screen, ms",
    "cold start, ms",
    "memory per pane with 10,000 lines of 100 characters, MB",
    "log lines, MB/s",
    "unicode, MB/s",
    "redrawn rows, MB/s",
];

/// All samples of a run, by program and round.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    samples: BTreeMap<Series, Vec<(Kind, usize, f64)>>,
}

impl Figures {
    pub(crate) fn add(&mut self, series: Series, program: Kind, round: usize, value: f64) {
        self.samples.entry(series).or_default().push((program, round, value));
    }

    /// The tables, with a column for each program that has figures.
    pub(crate) fn tables(&self) -> String {
        let parts = [("Less is better", &LESS[..]), ("More is better", &MORE[..])];
        let measured = parts.into_iter().filter(|(_, rows)| rows.iter().any(|row| self.has(row)));
        let tables = measured.map(|(heading, rows)| format!("{heading}:\n\n{}", self.table(rows)));
        tables.collect::<Vec<_>>().join("\n")
    }

    /// What the README shows of them.
    pub(crate) fn short_table(&self) -> String {
        let rows: Vec<&Row> = LESS.iter().chain(&MORE).filter(|row| SHORT.contains(&row.name)).collect();
        let programs: Vec<Kind> = self.programs().into_iter().filter(|kind| *kind != Kind::Bare).collect();
        self.table_of(&rows, &programs)
    }

    fn table(&self, rows: &[Row]) -> String {
        self.table_of(&rows.iter().collect::<Vec<_>>(), &self.programs())
    }

    fn has(&self, row: &Row) -> bool {
        self.samples.contains_key(&row.series)
    }

    fn programs(&self) -> Vec<Kind> {
        let has = |kind| self.samples.values().flatten().any(|(program, ..)| *program == kind);
        Kind::ALL.into_iter().filter(|kind| has(*kind)).collect()
    }

    fn table_of(&self, rows: &[&Row], programs: &[Kind]) -> String {
        let others: Vec<Kind> =
            programs.iter().copied().filter(|kind| ![Kind::Jackin, Kind::Bare].contains(kind)).collect();
        let mut out = String::from("| |");
        for program in programs {
            let _ = write!(out, " {program} |");
        }
        for other in &others {
            let _ = write!(out, " jackin / {other} |");
        }
        out.push_str("\n|---|");
        out.push_str(&"---|".repeat(programs.len() + others.len()));
        out.push('\n');
        for row in rows.iter().filter(|row| self.has(row)) {
            let _ = write!(out, "| {} |", row.name);
            for program in programs {
                let value = self.figure(row, *program, None);
                let value = value.map_or("–".to_owned(), |value| format!("{value:.*}", row.decimals));
                let _ = write!(out, " {value} |");
            }
            for other in &others {
                let _ = write!(out, " {} |", self.ratio(row, *other));
            }
            out.push('\n');
        }
        out
    }

    fn figure(&self, row: &Row, program: Kind, round: Option<usize>) -> Option<f64> {
        let samples = self.samples.get(&row.series)?.iter();
        let values: Vec<f64> = samples
            .filter(|(of, in_round, _)| *of == program && round.is_none_or(|round| round == *in_round))
            .map(|(_, _, value)| *value)
            .collect();
        statistic(row.statistic, values)
    }

    /// The ratio of the whole run, and, in brackets, the least and the greatest of its rounds.
    fn ratio(&self, row: &Row, other: Kind) -> String {
        let ratio = |round| {
            let (ours, theirs) = (self.figure(row, Kind::Jackin, round)?, self.figure(row, other, round)?);
            (theirs > 0.0).then(|| ours / theirs)
        };
        let Some(whole) = ratio(None) else { return "–".to_owned() };
        let rounds = self.samples.get(&row.series).into_iter().flatten().map(|(_, round, _)| *round).max();
        let each: Vec<f64> = (0..=rounds.unwrap_or(0)).filter_map(|round| ratio(Some(round))).collect();
        let (least, most) =
            (each.iter().copied().fold(whole, f64::min), each.iter().copied().fold(whole, f64::max));
        if each.len() < 2 { format!("{whole:.2}") } else { format!("{whole:.2} ({least:.2}–{most:.2})") }
    }
}

fn statistic(statistic: Statistic, mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(match statistic {
        Statistic::Median if last % 2 == 0 => values[last / 2],
        Statistic::Median => f64::midpoint(values[last / 2], values[last / 2 + 1]),
        Statistic::P99 => values[(values.len() * 99).div_ceil(100) - 1],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics() {
        let of = |kind, values: &[f64]| statistic(kind, values.to_vec());
        assert_eq!(of(Statistic::Median, &[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(of(Statistic::Median, &[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(of(Statistic::Median, &[]), None);
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(of(Statistic::P99, &hundred), Some(99.0), "one of a hundred is worse");
        assert_eq!(of(Statistic::P99, &[7.0]), Some(7.0));
    }

    #[test]
    fn a_table_has_what_was_measured_and_the_spread_of_its_rounds() {
        let mut figures = Figures::default();
        for (round, ours, theirs) in [(0, 1.0, 2.0), (1, 3.0, 3.0), (2, 2.0, 4.0)] {
            figures.add(Series::Attach, Kind::Jackin, round, ours);
            figures.add(Series::Attach, Kind::Tmux, round, theirs);
        }
        figures.add(Series::IdleSwitches, Kind::Jackin, 0, 1.0);
        figures.add(Series::IdleSwitches, Kind::Tmux, 0, 0.0);
        figures.add(Series::Output(0), Kind::Bare, 0, 41.26);
        assert_eq!(
            figures.tables(),
            "Less is better:\n\n\
             | | jackin | tmux | no multiplexer | jackin / tmux |\n|---|---|---|---|---|\n\
             | reattach to a full screen, ms | 2.0 | 3.0 | – | 0.67 (0.50–1.00) |\n\
             | context switches a second with ten idle panes | 1.00 | 0.00 | – | – |\n\
             \nMore is better:\n\n\
             | | jackin | tmux | no multiplexer | jackin / tmux |\n|---|---|---|---|---|\n\
             | log lines, MB/s | – | – | 41.3 | – |\n"
        );
        assert_eq!(Figures::default().tables(), "", "a table without rows is none");
    }

    #[test]
    fn the_short_table_knows_its_rows() {
        for name in SHORT {
            assert!(LESS.iter().chain(&MORE).any(|row| row.name == name), "{name}");
        }
    }
}
