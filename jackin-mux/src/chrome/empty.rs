use super::theme::Theme;
use crate::layout::Rect;
use crate::render::Grid;
use crate::vt::Pen;

/// What stands where no pane is: how to start something.
pub(crate) fn draw_empty(grid: &mut Grid, area: Rect, row: u16, prefix: Option<&str>) {
    grid.fill(Rect { row, rows: 1, ..area }, Pen::default());
    let middle = area.row + area.rows / 2;
    if row != middle {
        return;
    }
    let text = match prefix {
        Some(prefix) => format!("Nothing runs here. Press {prefix} and then c to start something."),
        None => "Nothing runs here.".to_owned(),
    };
    let width = text.chars().count() as u16;
    let col = area.col + area.cols.saturating_sub(width) / 2;
    grid.write(row, col, area.right(), &text, Theme::HINT);
}
