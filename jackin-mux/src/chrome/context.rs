use super::theme::Theme;
use crate::input::Context;
use crate::layout::Rect;
use crate::render::Grid;

fn parts(context: &Context) -> impl Iterator<Item = &str> {
    let parts = [&context.branch, &context.pull_request, &context.instance, &context.usage];
    parts.into_iter().flatten().map(String::as_str).filter(|part| !part.is_empty())
}

/// Whether there is anything to show in the bottom row.
pub(crate) fn has_context(context: &Context) -> bool {
    parts(context).next().is_some()
}

/// The bottom row: branch, pull request, instance, usage.
pub(crate) fn draw_context(context: &Context, grid: &mut Grid, row: u16, hover: bool) {
    let cols = grid.size().cols;
    let pen = if hover { Theme::CONTEXT_HOVER } else { Theme::BAR };
    grid.fill(Rect { row, col: 0, rows: 1, cols }, pen);
    let mut col = 1;
    for (at, part) in parts(context).enumerate() {
        if at > 0 {
            col = grid.write(row, col, cols, " · ", pen);
        }
        col = grid.write_cut(row, col, cols, part, pen);
    }
}
