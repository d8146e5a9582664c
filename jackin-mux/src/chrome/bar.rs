use unicode_width::UnicodeWidthStr;

use super::theme::Theme;
use crate::render::Grid;
use crate::vt::{Color, Pen};

const BRAND: &str = " jackin' ";
/// The widest label; a longer one is cut.
const WIDEST_LABEL: usize = 24;

/// What the bar shows of a tab.
#[derive(Clone, Debug)]
pub(crate) struct TabEntry {
    pub(crate) label: String,
    pub(crate) glyph: &'static str,
    pub(crate) colour: Color,
    pub(crate) zoomed: bool,
}

/// The top row: the brand and the tabs, each with the columns that a click on it has.
#[derive(Debug)]
pub(crate) struct Bar {
    /// Tab, its first column and the column after it.
    places: Vec<(usize, u16, u16)>,
    entries: Vec<TabEntry>,
    active: usize,
    cols: u16,
    tabs_from: u16,
    more_left: bool,
    more_right: bool,
}

impl Bar {
    /// Lays the tabs out. When there is no room for all, the shown one is among those that have it.
    pub(crate) fn new(entries: Vec<TabEntry>, active: usize, cols: u16) -> Self {
        let brand = BRAND.width() as u16;
        let tabs_from = if cols > brand + 8 { brand } else { 0 };
        let widths: Vec<u16> = entries.iter().map(width).collect();
        let room = cols.saturating_sub(tabs_from);
        let mut first = 0;
        // One column at each end is kept for the signs that there is more.
        while first < active && widths[first..=active].iter().sum::<u16>() + 2 > room {
            first += 1;
        }
        let mut places = Vec::new();
        let mut col = tabs_from + u16::from(first > 0);
        let mut more_right = false;
        for (tab, width) in widths.iter().enumerate().skip(first) {
            let last = tab + 1 == widths.len();
            let end = col.saturating_add(*width);
            if end + u16::from(!last) > cols {
                // A tab that is cut can still be clicked, if anything of it is seen.
                let end = cols.saturating_sub(1);
                if end > col + 2 {
                    places.push((tab, col, end));
                }
                more_right = true;
                break;
            }
            places.push((tab, col, end));
            col = end;
        }
        Self { places, entries, active, cols, tabs_from, more_left: first > 0, more_right }
    }

    /// The tab at a column.
    pub(crate) fn hit(&self, col: u16) -> Option<usize> {
        self.places.iter().find(|(_, from, to)| (*from..*to).contains(&col)).map(|(tab, ..)| *tab)
    }

    pub(crate) fn draw(&self, grid: &mut Grid, row: u16, hover: Option<usize>) {
        grid.fill(crate::layout::Rect { row, col: 0, rows: 1, cols: self.cols }, Theme::BAR);
        if self.tabs_from > 0 {
            grid.write(row, 0, self.tabs_from, BRAND, Theme::BRAND);
        }
        if self.more_left {
            grid.write(row, self.tabs_from, self.cols, "‹", Theme::BAR);
        }
        for &(tab, from, to) in &self.places {
            let pen = if tab == self.active {
                Theme::tab_active()
            } else if hover == Some(tab) {
                Theme::TAB_HOVER
            } else {
                Theme::BAR
            };
            let entry = &self.entries[tab];
            let mut col = grid.write(row, from, to, " ", pen);
            col = grid.write(row, col, to, &cut(&entry.label), pen);
            col = grid.write(row, col, to, " ", pen);
            col = grid.write(row, col, to, entry.glyph, Pen { foreground: entry.colour, ..pen });
            col = grid.write(row, col, to, if entry.zoomed { "+ " } else { " " }, pen);
            // What is left of a cut wide label.
            while col < to {
                col = grid.write(row, col, to, " ", pen);
            }
        }
        if self.more_right {
            grid.write(row, self.cols.saturating_sub(1), self.cols, "›", Theme::BAR);
        }
    }
}

fn cut(label: &str) -> String {
    let mut text = String::new();
    for c in label.chars().filter(|c| !c.is_control()) {
        text.push(c);
        if text.width() > WIDEST_LABEL {
            text.pop();
            while text.width() >= WIDEST_LABEL {
                text.pop();
            }
            text.push('…');
            break;
        }
    }
    text
}

/// With the state's sign and the blanks around: all that is drawn can be clicked.
fn width(entry: &TabEntry) -> u16 {
    (cut(&entry.label).width() + entry.glyph.width() + 3 + usize::from(entry.zoomed)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(labels: &[&str], active: usize, cols: u16) -> Bar {
        let entry = |label: &&str| TabEntry {
            label: (*label).to_owned(),
            glyph: "●",
            colour: Color::Default,
            zoomed: false,
        };
        Bar::new(labels.iter().map(entry).collect(), active, cols)
    }

    #[test]
    fn the_glyph_is_inside_the_width_that_is_clicked() {
        let bar = bar(&["Claude", "Codex"], 0, 80);
        // " jackin' " has 9 columns, " Claude ● " 10.
        assert_eq!(bar.places, [(0, 9, 19), (1, 19, 28)]);
        assert_eq!((bar.hit(8), bar.hit(9), bar.hit(17), bar.hit(19)), (None, Some(0), Some(0), Some(1)));
        assert_eq!(bar.hit(28), None);
    }

    #[test]
    fn the_shown_tab_has_a_place_however_many_there_are() {
        let labels = vec!["a-long-label"; 40];
        for active in 0..40 {
            let bar = bar(&labels, active, 60);
            assert!(bar.places.iter().any(|(tab, ..)| *tab == active), "{active}");
            assert!(bar.places.iter().all(|(_, from, to)| from < to && *to <= 60));
            assert_eq!(
                bar.more_right,
                bar.places.last().unwrap().0 < 39 || bar.places.last().unwrap().2 == 59
            );
        }
    }

    #[test]
    fn tiny_terminals_and_endless_labels_are_survived() {
        let long = "x".repeat(10_000);
        for cols in 0..40 {
            let bar = bar(&[&long, "日本語日本語日本語日本語日本語", ""], 1, cols);
            bar.draw(&mut Grid::new(jackin_core::Size::new(1, cols.max(1))), 0, Some(0));
        }
    }
}
