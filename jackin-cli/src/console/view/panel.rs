//! A box over the list.

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::pencil::Pencil;
use super::scene::{Scene, Target};
use super::text::{cut, width};
use super::theme::Theme;

/// What can be done in a box: the key as it is written, what it does, and the key itself, for whoever clicks on it.
pub(super) type Hint = (&'static str, &'static str, KeyCode);

pub(super) const CLOSE: Hint = ("Esc", "closes", KeyCode::Esc);

/// Draws an empty box of about this size in the middle, and returns what is within it.
pub(super) fn panel(
    buffer: &mut Buffer,
    screen: Rect,
    (columns, rows): (u16, u16),
    title: &str,
    hints: &[Hint],
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
    let last = rows.saturating_sub(1);
    for (line, left, right) in [(last, "╰", "╯"), (0, "╭", "╮")] {
        let mut pencil = Pencil::new(buffer, area, line);
        pencil.write(left, theme.quiet());
        pencil.write(&"─".repeat(usize::from(columns.saturating_sub(2))), theme.quiet());
        pencil.write(right, theme.quiet());
    }
    for line in 1..last {
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
    if inner.width > 2 {
        let title = cut(title, usize::from(inner.width) - 2);
        Pencil::new(buffer, Rect { y: area.y, height: 1, ..inner }, 0)
            .write(&format!(" {title} "), theme.strong());
    }
    // A box without a line of its own at the bottom has no room for hints either.
    if rows > 1 {
        draw_hints(buffer, Rect { y: area.y + last, height: 1, ..inner }, hints, theme, scene);
    }
    scene.modal_rows = inner.height;
    inner
}

fn draw_hints(buffer: &mut Buffer, line: Rect, hints: &[Hint], theme: Theme, scene: &mut Scene) {
    let mut pencil = Pencil::new(buffer, line, 0);
    for (key, does, code) in hints {
        if pencil.room() < width(key) + width(does) + 3 {
            break;
        }
        let start = pencil.write(&format!(" {key} "), theme.strong());
        let word = pencil.write(&format!("{does} "), theme.quiet());
        scene.targets.push((Rect { width: start.width + word.width, ..start }, Target::Press(*code)));
    }
}

/// Writes into the upper right corner of a box, given what is within it.
pub(super) fn corner(buffer: &mut Buffer, inner: Rect, text: &str, theme: Theme) {
    let wide = width(text) as u16 + 2;
    if inner.width > wide + 12 {
        let corner = Rect { x: inner.right() - wide, y: inner.y.saturating_sub(1), width: wide, height: 1 };
        Pencil::new(buffer, corner, 0).write(&format!(" {text} "), theme.quiet());
    }
}

/// Says which part of a longer text is seen.
pub(super) fn seen(buffer: &mut Buffer, inner: Rect, first: usize, all: usize, theme: Theme) {
    let last = (first + usize::from(inner.height)).min(all);
    if first > 0 || last < all {
        corner(buffer, inner, &format!("{}–{last} of {all}", first + 1), theme);
    }
}

/// Lines of a text that may be longer than its box.
pub(super) fn lines(
    buffer: &mut Buffer,
    inner: Rect,
    scroll: usize,
    all: &[(String, Style)],
    theme: Theme,
    scene: &mut Scene,
) {
    scene.modal_lines = all.len();
    let first = scroll.min(all.len().saturating_sub(usize::from(inner.height)));
    for (line, (text, style)) in all.iter().skip(first).take(usize::from(inner.height)).enumerate() {
        Pencil::new(buffer, inner, line as u16).write(text, *style);
    }
    seen(buffer, inner, first, all.len(), theme);
}
