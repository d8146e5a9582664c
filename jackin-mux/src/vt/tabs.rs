//! Tab stops.

/// Columns where a tab stops; every eighth unless the program says otherwise.
#[derive(Debug, Clone)]
pub(super) struct Tabs {
    stops: Vec<u64>,
}

const WORDS: usize = jackin_core::Size::MAX_SIDE as usize / 64 + 1;
const EVERY_EIGHTH: u64 = 0x0101_0101_0101_0101;

impl Default for Tabs {
    fn default() -> Self {
        Self { stops: vec![EVERY_EIGHTH; WORDS] }
    }
}

impl Tabs {
    pub(super) fn set(&mut self, column: u16) {
        if let Some(word) = self.stops.get_mut(usize::from(column / 64)) {
            *word |= 1 << (column % 64);
        }
    }

    pub(super) fn clear(&mut self, column: u16) {
        if let Some(word) = self.stops.get_mut(usize::from(column / 64)) {
            *word &= !(1 << (column % 64));
        }
    }

    pub(super) fn clear_all(&mut self) {
        self.stops.fill(0);
    }

    /// Appends what sets these stops, where they are not the usual ones; the cursor is anywhere afterwards.
    pub(super) fn write(&self, columns: u16, out: &mut Vec<u8>) {
        let usual = Self::default();
        if (0..columns).all(|column| self.is_stop(column) == usual.is_stop(column)) {
            return;
        }
        out.extend_from_slice(b"\x1b[3g");
        for column in (0..columns).filter(|column| self.is_stop(*column)) {
            out.extend_from_slice(format!("\x1b[1;{}H\x1bH", column + 1).as_bytes());
        }
    }

    /// The next stop right of `column`, or the last column.
    pub(super) fn next(&self, column: u16, columns: u16) -> u16 {
        (column + 1..columns).find(|&c| self.is_stop(c)).unwrap_or(columns - 1)
    }

    /// The next stop left of `column`, or the first column.
    pub(super) fn previous(&self, column: u16) -> u16 {
        (0..column).rev().find(|&c| self.is_stop(c)).unwrap_or(0)
    }

    fn is_stop(&self, column: u16) -> bool {
        self.stops.get(usize::from(column / 64)).is_some_and(|word| word >> (column % 64) & 1 == 1)
    }
}
