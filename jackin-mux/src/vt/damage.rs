//! What changed on the screen since someone last looked.

/// The changes since the last [`take_damage`](super::Terminal::take_damage): first the scroll, if any, then the rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Damage {
    rows: Vec<u64>,
    scroll: Option<Scroll>,
}

/// A region that moved as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scroll {
    /// First row of the region.
    pub top: u16,
    /// Last row of the region.
    pub bottom: u16,
    /// Rows that it moved up; negative when it moved down. Never more than the region has.
    pub up: i32,
}

impl Damage {
    pub(super) fn all(rows: u16) -> Self {
        let mut damage = Self { rows: vec![0; usize::from(rows).div_ceil(64)], scroll: None };
        damage.mark_range(0, rows);
        damage
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.scroll.is_none() && self.rows.iter().all(|&bits| bits == 0)
    }

    /// The region that scrolled. Where other things happened between scrolls, the rows say it all and this is `None`.
    pub fn scroll(&self) -> Option<Scroll> {
        self.scroll
    }

    /// Whether a row changed, other than by the scroll.
    pub fn contains(&self, row: u16) -> bool {
        self.rows.get(usize::from(row / 64)).is_some_and(|bits| bits >> (row % 64) & 1 == 1)
    }

    /// The rows that changed, other than by the scroll, top down.
    pub fn rows(&self) -> impl Iterator<Item = u16> + '_ {
        self.rows.iter().enumerate().flat_map(|(at, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                (left != 0).then(|| {
                    left &= left - 1;
                    at as u16 * 64 + bit as u16
                })
            })
        })
    }

    #[inline]
    pub(super) fn mark(&mut self, row: u16) {
        if let Some(bits) = self.rows.get_mut(usize::from(row / 64)) {
            *bits |= 1 << (row % 64);
        }
    }

    pub(super) fn mark_range(&mut self, from: u16, to: u16) {
        for row in from..to {
            self.mark(row);
        }
    }

    fn unmark(&mut self, row: u16) {
        if let Some(bits) = self.rows.get_mut(usize::from(row / 64)) {
            *bits &= !(1 << (row % 64));
        }
    }

    /// Notes that the rows `top..=bottom` moved up by `up` (down if negative) and that the rows which came in are new.
    pub(super) fn scrolled(&mut self, top: u16, bottom: u16, up: i32) {
        let height = i32::from(bottom - top) + 1;
        let total = match self.scroll {
            None => up,
            Some(s) if (s.top, s.bottom) == (top, bottom) && s.up.signum() == up.signum() => s.up + up,
            // A second region, or back and forth: one distance no longer tells it.
            Some(s) => {
                self.mark_range(s.top, s.bottom + 1);
                self.mark_range(top, bottom + 1);
                self.scroll = None;
                return;
            }
        };
        if total.abs() >= height {
            self.mark_range(top, bottom + 1);
            self.scroll = None;
            return;
        }
        let by = up.unsigned_abs().min(height as u32) as u16;
        if up > 0 {
            for row in top..=bottom {
                let from = row + by;
                if from > bottom || self.contains(from) { self.mark(row) } else { self.unmark(row) }
            }
        } else {
            for row in (top..=bottom).rev() {
                if row < top + by || self.contains(row - by) { self.mark(row) } else { self.unmark(row) }
            }
        }
        self.scroll = Some(Scroll { top, bottom, up: total });
    }

    pub(super) fn clear(&mut self) {
        self.rows.fill(0);
        self.scroll = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(rows: u16) -> Damage {
        let mut damage = Damage::all(rows);
        damage.clear();
        damage
    }

    #[test]
    fn marked_rows_move_with_a_scroll() {
        let mut damage = clean(10);
        damage.mark(5);
        damage.scrolled(0, 9, 2);
        assert_eq!(damage.rows().collect::<Vec<_>>(), [3, 8, 9]);
        assert_eq!(damage.scroll(), Some(Scroll { top: 0, bottom: 9, up: 2 }));
        damage.scrolled(0, 9, 1);
        assert_eq!(damage.rows().collect::<Vec<_>>(), [2, 7, 8, 9]);
        assert_eq!(damage.scroll().unwrap().up, 3);
    }

    #[test]
    fn a_scroll_of_everything_is_rows_alone() {
        let mut damage = clean(70);
        damage.scrolled(2, 69, 68);
        assert_eq!(damage.scroll(), None);
        assert_eq!(damage.rows().collect::<Vec<_>>(), (2..70).collect::<Vec<_>>());
    }

    #[test]
    fn two_regions_are_rows_alone() {
        let mut damage = clean(10);
        damage.scrolled(0, 4, 1);
        damage.scrolled(2, 6, -1);
        assert_eq!(damage.scroll(), None);
        assert_eq!(damage.rows().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn down_is_negative() {
        let mut damage = clean(5);
        damage.mark(0);
        damage.scrolled(0, 4, -2);
        assert_eq!(damage.rows().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(damage.scroll().unwrap().up, -2);
    }
}
