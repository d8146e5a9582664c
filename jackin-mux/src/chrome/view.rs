use jackin_core::{PaneId, Size};

use crate::layout::{Layout, Placement, Rect};

/// Where everything is on the operator's terminal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct View {
    pub(crate) size: Size,
    /// The row of the bar with the tabs.
    pub(crate) bar: Option<u16>,
    /// The line above the topmost panes, when there are several.
    pub(crate) header: Option<u16>,
    pub(crate) context: Option<u16>,
    /// What the panes have.
    pub(crate) area: Rect,
    pub(crate) placement: Placement,
    /// The border cells of each row of the terminal: column, and which neighbours are border too.
    lines: Vec<Vec<(u16, u8)>>,
}

const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;

impl View {
    /// A terminal of this size that shows `layout`. What does not fit is left out, the chrome first.
    pub(crate) fn new(size: Size, chrome: bool, context: bool, layout: Option<&Layout>) -> Self {
        let bar = (chrome && size.rows >= 3).then_some(0);
        let context = (chrome && context && size.rows >= 5).then(|| size.rows - 1);
        let mut area = Rect::of(size);
        if bar.is_some() {
            area.row += 1;
            area.rows -= 1;
        }
        if context.is_some() {
            area.rows -= 1;
        }
        let several = layout.is_some_and(|layout| layout.place(area).panes.len() > 1);
        let header = (chrome && several && area.rows >= 4).then_some(area.row);
        if header.is_some() {
            area.row += 1;
            area.rows -= 1;
        }
        let placement = layout.map(|layout| layout.place(area)).unwrap_or_default();
        let mut view = Self { size, bar, header, context, area, placement, lines: Vec::new() };
        view.lines = view.border_cells();
        view
    }

    fn border_cells(&self) -> Vec<Vec<(u16, u8)>> {
        let (rows, cols) = (usize::from(self.size.rows), usize::from(self.size.cols));
        if self.placement.borders.is_empty() && self.header.is_none() {
            return Vec::new();
        }
        let mut marked = vec![false; rows * cols];
        let header = self.header.map(|row| Rect { row, col: 0, rows: 1, cols: self.size.cols });
        for rect in self.placement.borders.iter().map(|border| border.rect).chain(header) {
            for row in rect.row..rect.bottom() {
                let row = usize::from(row) * cols;
                marked[row + usize::from(rect.col)..row + usize::from(rect.right())].fill(true);
            }
        }
        let at = |row: Option<usize>, col: Option<usize>| match (row, col) {
            (Some(row), Some(col)) => row < rows && col < cols && marked[row * cols + col],
            _ => false,
        };
        let mut lines = vec![Vec::new(); rows];
        for (row, line) in lines.iter_mut().enumerate() {
            for col in (0..cols).filter(|col| marked[row * cols + col]) {
                let mut sides = 0;
                for (side, there) in [
                    (UP, at(row.checked_sub(1), Some(col))),
                    (DOWN, at(Some(row + 1), Some(col))),
                    (LEFT, at(Some(row), col.checked_sub(1))),
                    (RIGHT, at(Some(row), Some(col + 1))),
                ] {
                    if there {
                        sides |= side;
                    }
                }
                line.push((col as u16, sides));
            }
        }
        lines
    }

    /// The border cells of a row, with what to draw there.
    pub(crate) fn line(&self, row: u16) -> impl Iterator<Item = (u16, &'static str)> {
        let line = self.lines.get(usize::from(row)).map(Vec::as_slice).unwrap_or_default();
        line.iter().map(|(col, sides)| (*col, stroke(*sides)))
    }

    /// The panes whose heading is in a row: those right below a border or the header.
    pub(crate) fn headed(&self, row: u16) -> impl Iterator<Item = (PaneId, Rect)> {
        let has_line = !self.lines.get(usize::from(row)).is_none_or(Vec::is_empty);
        let panes = self.placement.panes.iter().copied();
        panes.filter(move |(_, rect)| has_line && rect.row == row + 1)
    }
}

const fn stroke(sides: u8) -> &'static str {
    match sides {
        0 | LEFT | RIGHT | 12 => "─",
        UP | DOWN | 3 => "│",
        5 => "┘",
        6 => "┐",
        7 => "┤",
        9 => "└",
        10 => "┌",
        11 => "├",
        13 => "┴",
        14 => "┬",
        _ => "┼",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Side;

    fn id(number: u32) -> PaneId {
        PaneId::new(number).unwrap()
    }

    #[test]
    fn a_lone_pane_has_no_border_and_without_chrome_the_whole_terminal() {
        let layout = Layout::new(id(1));
        let size = Size::new(24, 80);
        let view = View::new(size, false, true, Some(&layout));
        assert_eq!((view.area, view.bar, view.context), (Rect::of(size), None, None));
        let view = View::new(size, true, true, Some(&layout));
        assert_eq!(view.area, Rect { row: 1, col: 0, rows: 22, cols: 80 });
        assert_eq!((view.bar, view.header, view.context), (Some(0), None, Some(23)));
        let tiny = View::new(Size::new(2, 2), true, true, Some(&layout));
        assert_eq!(tiny.area, Rect::of(Size::new(2, 2)), "the chrome goes first");
    }

    #[test]
    fn borders_meet() {
        let mut layout = Layout::new(id(1));
        let area = Rect { row: 2, col: 0, rows: 10, cols: 21 };
        assert!(layout.split(id(1), Side::Right, id(2), area));
        assert!(layout.split(id(2), Side::Down, id(3), area));
        let view = View::new(Size::new(12, 21), true, false, Some(&layout));
        assert_eq!(view.header, Some(1));
        let text = |row| view.line(row).map(|(_, stroke)| stroke).collect::<String>();
        assert_eq!(text(1), format!("{}┬{}", "─".repeat(10), "─".repeat(10)));
        assert_eq!(text(2), "│");
        let below = view.placement.rect(id(3)).unwrap();
        assert_eq!(text(below.row - 1), format!("├{}", "─".repeat(10)));
        assert_eq!(view.headed(1).map(|(pane, _)| pane).collect::<Vec<_>>(), [id(1), id(2)]);
        assert_eq!(view.headed(below.row - 1).map(|(pane, _)| pane).collect::<Vec<_>>(), [id(3)]);
    }
}
