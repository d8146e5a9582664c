//! Which columns the list has at a width. The most telling come first, and the rest as they fit.

/// A column of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Column {
    Name,
    Agent,
    Branch,
    Pull,
    Issue,
    Hint,
    Cpu,
    Memory,
    Tokens,
    Cost,
}

/// The sign of the state and the time in it stand before all columns.
pub(crate) const LEAD: usize = 8;

/// The columns that fit, with their widths, in the order in which they are shown.
pub(crate) fn columns(width: usize, longest_name: usize) -> Vec<(Column, usize)> {
    let name = longest_name.clamp(8, 26).min(width.saturating_sub(LEAD));
    let mut chosen = vec![(Column::Name, name)];
    let mut left = width.saturating_sub(LEAD + name);
    // The hint has a least width here and gets what is left in the end.
    for (column, wants) in [
        (Column::Hint, 14),
        (Column::Pull, 9),
        (Column::Agent, 8),
        (Column::Cost, 6),
        (Column::Issue, 6),
        (Column::Tokens, 6),
        (Column::Branch, 14),
        (Column::Cpu, 4),
        (Column::Memory, 5),
    ] {
        // One that does not fit makes room for none that matters less.
        if wants >= left {
            break;
        }
        left -= wants + 1;
        chosen.push((column, wants));
    }
    if let Some((_, hint)) = chosen.iter_mut().find(|(column, _)| *column == Column::Hint) {
        *hint += left;
    }
    chosen.sort_by_key(|(column, _)| *column);
    chosen
}

impl Column {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Name => "instance",
            Self::Agent => "agent",
            Self::Branch => "branch",
            Self::Pull => "PR",
            Self::Issue => "issue",
            Self::Hint => "what",
            Self::Cpu => "CPU",
            Self::Memory => "mem",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
        }
    }

    /// Whether figures stand at its right.
    pub(crate) fn is_right(self) -> bool {
        matches!(self, Self::Cpu | Self::Memory | Self::Tokens | Self::Cost)
    }
}

/// A number in at most five characters: `812`, `12.3k`, `4.5M`.
pub(crate) fn short(number: u64) -> String {
    let scaled = |unit: f64, letter: char| {
        let value = number as f64 / unit;
        if value < 99.95 { format!("{value:.1}{letter}") } else { format!("{value:.0}{letter}") }
    };
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => scaled(1e3, 'k'),
        1_000_000..1_000_000_000 => scaled(1e6, 'M'),
        _ => scaled(1e9, 'G'),
    }
}

/// Bytes in at most five characters.
pub(crate) fn bytes(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    match bytes / MIB {
        0 => format!("{}K", bytes / 1024),
        mib @ 1..1024 => format!("{mib}M"),
        mib => format!("{:.1}G", mib as f64 / 1024.0),
    }
}

/// A price in at most six characters.
pub(crate) fn dollars(cost: f64) -> String {
    if cost < 100.0 { format!("${cost:.2}") } else { format!("${cost:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fill_the_width_and_never_more() {
        for width in 0..300 {
            for name in [0, 5, 12, 40] {
                let columns = columns(width, name);
                let used: usize = columns.iter().map(|(_, wide)| wide).sum::<usize>() + columns.len() - 1;
                assert!(width < LEAD || LEAD + used <= width.max(LEAD), "{width} {columns:?}");
                assert!(columns.is_sorted_by_key(|(column, _)| *column));
            }
        }
        let at =
            |width| columns(width, 12).iter().map(|(column, _)| column.title()).collect::<Vec<_>>().join(" ");
        assert_eq!(at(40), "instance what");
        assert_eq!(at(60), "instance agent PR what");
        assert_eq!(at(80), "instance agent PR issue what tokens cost");
        assert_eq!(at(120), "instance agent branch PR issue what CPU mem tokens cost");
    }

    #[test]
    fn figures_are_short() {
        let shown = [0, 999, 1_000, 12_345, 999_999, 4_500_000, 120_000_000].map(short);
        assert_eq!(shown, ["0", "999", "1.0k", "12.3k", "1000k", "4.5M", "120M"]);
        assert_eq!([bytes(5_000), bytes(300 << 20), bytes(3 << 30)], ["4K", "300M", "3.0G"]);
        assert_eq!([dollars(0.0), dollars(3.456), dollars(1234.0)], ["$0.00", "$3.46", "$1234"]);
    }
}
