//! A box over the list.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::pencil::Pencil;
use super::scene::{Scene, Target};
use super::text::{cut, width};
use super::theme::Theme;

/// Draws an empty box of about this size in the middle, and returns what is within it.
pub(super) fn panel(
    buffer: &mut Buffer,
    screen: Rect,
    (columns, rows): (u16, u16),
    (title, hint): (&str, &str),
    theme: Theme,
    scene: &mut Scene,
) -> Rect {
    let columns = columns.saturating_add(4).min(screen.width);
    let rows = rows.saturating_add(2).min(screen.height);
    let area = Rect {
        x: screen.x + (screen.width - columns) / 2,
        y: screen.y + (screen.height - rows) / 2,
        width: columns,
        height: rows,
    };
    // What lies below it can be seen and neither clicked nor followed.
    scene.links.clear();
    scene.targets.push((screen, Target::Outside));
    scene.targets.push((area, Target::Inside));
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            buffer[(x, y)].reset();
        }
    }
    let across = usize::from(columns.saturating_sub(2));
    let title = cut(title, across.saturating_sub(4));
    let hint = cut(hint, across.saturating_sub(4));
    for (line, left, text, right) in [(0, "╭", &title, "╮"), (rows.saturating_sub(1), "╰", &hint, "╯")]
    {
        let mut pencil = Pencil::new(buffer, area, line);
        pencil.write(left, theme.quiet());
        if text.is_empty() {
            pencil.write(&"─".repeat(across), theme.quiet());
        } else {
            pencil.write("─", theme.quiet());
            pencil.write(&format!(" {text} "), if line == 0 { theme.strong() } else { theme.quiet() });
            let left = across.saturating_sub(width(text) + 3);
            pencil.write(&"─".repeat(left), theme.quiet());
        }
        pencil.write(right, theme.quiet());
    }
    for line in 1..rows.saturating_sub(1) {
        Pencil::new(buffer, area, line).write("│", theme.quiet());
        let edge = Rect { x: area.right().saturating_sub(1), width: 1, ..area };
        Pencil::new(buffer, edge, line).write("│", theme.quiet());
    }
    let inner = Rect {
        x: area.x + 2.min(area.width),
        y: area.y + 1.min(area.height),
        width: columns.saturating_sub(4),
        height: rows.saturating_sub(2),
    };
    scene.modal_rows = inner.height;
    inner
}

/// Lines of a text that may be longer than its box, and how much of it is seen.
pub(super) fn lines<'a>(
    buffer: &mut Buffer,
    area: Rect,
    first: usize,
    all: impl ExactSizeIterator<Item = (String, Style)> + 'a,
    scene: &mut Scene,
) {
    scene.modal_lines = all.len();
    for (line, (text, style)) in all.skip(first).take(usize::from(area.height)).enumerate() {
        Pencil::new(buffer, area, line as u16).write(&text, style);
    }
}
