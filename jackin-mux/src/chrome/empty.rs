use unicode_width::UnicodeWidthStr;

use super::theme::Theme;
use crate::layout::Rect;
use crate::render::Grid;
use crate::vt::Pen;

/// What stands where no pane is: how to start something, if there are keys for it.
pub(crate) fn draw_empty(grid: &mut Grid, area: Rect, row: u16, keys: Option<(String, String)>) {
    grid.fill(Rect { row, rows: 1, ..area }, Pen::default());
    let nothing = "Nothing runs here.";
    let lines = match keys {
        None => vec![nothing.to_owned()],
        Some((prefix, key)) => {
            let whole = format!("{nothing} Press {prefix} and then {key} to start something.");
            if whole.width() <= usize::from(area.cols) {
                vec![whole]
            } else {
                vec![nothing.to_owned(), format!("Press {prefix} {key}.")]
            }
        }
    };
    let first = area.row + area.rows.saturating_sub(lines.len() as u16) / 2;
    if let Some(text) = row.checked_sub(first).and_then(|at| lines.get(usize::from(at))) {
        let col = area.col + area.cols.saturating_sub(text.width() as u16) / 2;
        grid.write_cut(row, col, area.right(), text, Theme::HINT);
    }
}
