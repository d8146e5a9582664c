use unicode_width::UnicodeWidthStr;

use super::theme::Theme;
use crate::render::{Grid, fit};
use crate::vt::{Color, Pen};

const BRAND: &str = " jackin' ";
/// The widest label; a longer one is cut.
const WIDEST_LABEL: u16 = 24;

/// What the bar shows of a tab.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TabEntry<'a> {
    pub(crate) label: &'a str,
    pub(crate) glyph: &'static str,
    pub(crate) colour: Color,
    pub(crate) zoomed: bool,
}

/// The top row: the brand and the tabs, each with the columns that a click on it has. Tabs are asked for by number when
/// they are needed, so that a bar costs no memory.
pub(crate) struct Bar<F> {
    entry: F,
    count: usize,
    active: usize,
    cols: u16,
    tabs_from: u16,
    /// The first tab that is shown.
    first: usize,
}

/// A tab that is shown: which one, its first column and the column after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    tab: usize,
    from: u16,
    to: u16,
}

impl<'a, F: Fn(usize) -> TabEntry<'a>> Bar<F> {
    /// Lays the tabs out. When there is no room for all, the shown one is among those that have it.
    pub(crate) fn new(count: usize, active: usize, cols: u16, entry: F) -> Self {
        let brand = BRAND.width() as u16;
        let tabs_from = if cols > brand + 8 { brand } else { 0 };
        // One column at each end is kept for the signs that there is more.
        let mut room = cols.saturating_sub(tabs_from + 2);
        let mut first = active.min(count.saturating_sub(1));
        if count > 0 {
            room = room.saturating_sub(width(entry(first)));
            while let Some(before) = first.checked_sub(1) {
                let Some(left) = room.checked_sub(width(entry(before))) else { break };
                (room, first) = (left, before);
            }
        }
        Self { entry, count, active, cols, tabs_from, first }
    }

    /// Shows each tab's place to `visit`; tells whether there is more at the right.
    fn each(&self, mut visit: impl FnMut(Slot)) -> bool {
        let mut from = self.tabs_from + u16::from(self.first > 0);
        for tab in self.first..self.count {
            let last = tab + 1 == self.count;
            let to = from.saturating_add(width((self.entry)(tab)));
            if to.saturating_add(u16::from(!last)) > self.cols {
                // A tab that is cut can still be clicked, if anything of it is seen.
                let to = self.cols.saturating_sub(1);
                if to > from.saturating_add(2) {
                    visit(Slot { tab, from, to });
                }
                return true;
            }
            visit(Slot { tab, from, to });
            from = to;
        }
        false
    }

    /// The tab at a column.
    pub(crate) fn hit(&self, col: u16) -> Option<usize> {
        let mut found = None;
        self.each(|slot| {
            if (slot.from..slot.to).contains(&col) {
                found = Some(slot.tab);
            }
        });
        found
    }

    pub(crate) fn draw(&self, grid: &mut Grid, row: u16, hover: Option<usize>) {
        grid.fill(crate::layout::Rect { row, col: 0, rows: 1, cols: self.cols }, Theme::BAR);
        if self.tabs_from > 0 {
            grid.write(row, 0, self.tabs_from, BRAND, Theme::BRAND);
        }
        if self.first > 0 {
            grid.write(row, self.tabs_from, self.cols, "‹", Theme::BAR);
        }
        let more = self.each(|Slot { tab, from, to }| {
            let pen = if tab == self.active {
                Theme::tab_active()
            } else if hover == Some(tab) {
                Theme::TAB_HOVER
            } else {
                Theme::BAR
            };
            let entry = (self.entry)(tab);
            let mut col = grid.write(row, from, to, " ", pen);
            col = grid.write_cut(row, col, to.min(col.saturating_add(WIDEST_LABEL)), entry.label, pen);
            col = grid.write(row, col, to, " ", pen);
            col = grid.write(row, col, to, entry.glyph, Pen { foreground: entry.colour, ..pen });
            col = grid.write(row, col, to, if entry.zoomed { "+ " } else { " " }, pen);
            // What is left of a cut wide label.
            while col < to {
                col = grid.write(row, col, to, " ", pen);
            }
        });
        if more {
            grid.write(row, self.cols.saturating_sub(1), self.cols, "›", Theme::BAR);
        }
    }
}

/// With the state's sign and the blanks around: all that is drawn can be clicked.
fn width(entry: TabEntry<'_>) -> u16 {
    let label = fit(entry.label, WIDEST_LABEL).cols;
    label + entry.glyph.width() as u16 + 3 + u16::from(entry.zoomed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar<'a>(labels: &'a [&'a str], active: usize, cols: u16) -> Bar<impl Fn(usize) -> TabEntry<'a>> {
        let entry =
            |at: usize| TabEntry { label: labels[at], glyph: "●", colour: Color::Default, zoomed: false };
        Bar::new(labels.len(), active, cols, entry)
    }

    fn slots<'a>(bar: &Bar<impl Fn(usize) -> TabEntry<'a>>) -> (Vec<(usize, u16, u16)>, bool) {
        let mut slots = Vec::new();
        let more = bar.each(|slot| slots.push((slot.tab, slot.from, slot.to)));
        (slots, more)
    }

    #[test]
    fn the_glyph_is_inside_the_width_that_is_clicked() {
        let bar = bar(&["Claude", "Codex"], 0, 80);
        // " jackin' " has 9 columns, " Claude ● " 10.
        assert_eq!(slots(&bar), (vec![(0, 9, 19), (1, 19, 28)], false));
        assert_eq!((bar.hit(8), bar.hit(9), bar.hit(17), bar.hit(19)), (None, Some(0), Some(0), Some(1)));
        assert_eq!(bar.hit(28), None);
    }

    #[test]
    fn the_shown_tab_has_a_place_however_many_there_are() {
        let labels = vec!["a-long-label"; 40];
        for active in 0..40 {
            let (slots, more) = slots(&bar(&labels, active, 60));
            assert!(slots.iter().any(|(tab, ..)| *tab == active), "{active}");
            assert!(slots.iter().all(|(_, from, to)| from < to && *to <= 60));
            let (last, _, end) = *slots.last().unwrap();
            assert_eq!(more, last < 39 || end == 59);
        }
    }

    #[test]
    fn tiny_terminals_and_endless_labels_are_survived() {
        let long = "x".repeat(10_000);
        for cols in 0..40 {
            let labels = [&*long, "日本語日本語日本語日本語日本語", ""];
            let bar = bar(&labels, 1, cols);
            bar.draw(&mut Grid::new(jackin_core::Size::new(1, cols.max(1))), 0, Some(0));
        }
    }
}
