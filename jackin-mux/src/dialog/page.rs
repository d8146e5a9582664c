use jackin_core::Size;
use unicode_width::UnicodeWidthStr;

use super::Answer;
use super::panel::Panel;
use crate::chrome::Theme;
use crate::client::{Key, KeyCode};

/// Between what and its value.
const GAP: usize = 2;
const NARROWEST: usize = 22;
const WIDEST: usize = 94;

/// Something to read: rows of two columns.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    title: &'static str,
    rows: Vec<(String, String)>,
    from: usize,
    shown: usize,
    /// Lines, as they were last drawn.
    total: usize,
}

impl Page {
    pub(crate) fn new(title: &'static str, rows: Vec<(String, String)>) -> Self {
        Self { title, rows, from: 0, shown: 1, total: 0 }
    }

    pub(super) fn key(&mut self, key: Key) -> Answer {
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.scroll(true, 1),
            KeyCode::Down | KeyCode::Char('j') => self.scroll(false, 1),
            KeyCode::PageUp => self.scroll(true, self.shown),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll(false, self.shown),
            KeyCode::Home => self.scroll(true, self.total),
            KeyCode::End => self.scroll(false, self.total),
            KeyCode::Escape | KeyCode::Enter | KeyCode::Char(_) => Answer::Closed(None),
            _ => Answer::Ignored,
        }
    }

    pub(super) fn scroll(&mut self, up: bool, by: usize) -> Answer {
        let before = self.from;
        let last = self.total.saturating_sub(self.shown);
        self.from = if up { before.saturating_sub(by) } else { (before + by).min(last) };
        if self.from == before { Answer::Ignored } else { Answer::Changed }
    }

    pub(super) fn draw(&mut self, size: Size) -> Panel {
        let left = self.rows.iter().map(|(left, _)| left.width()).max().unwrap_or(0);
        let right = self.rows.iter().map(|(_, right)| right.width()).max().unwrap_or(0);
        let wanted = (left + GAP + right).clamp(NARROWEST, WIDEST) as u16;
        let lines = self.lines(Panel::room(size, wanted), left);
        // Something of what lies under it stays in sight, where that costs nothing.
        let most = if size.rows < 12 { size.rows } else { size.rows - 4 };
        let mut panel = Panel::new(size, (lines.len() as u16).min(most), wanted, self.title);
        let inside = panel.inside();
        let shown = usize::from(inside.rows).max(1);
        let from = self.from.min(lines.len().saturating_sub(shown));
        let end = inside.right();
        for (row, &(what, col, value)) in lines.iter().skip(from).take(shown).enumerate() {
            let row = inside.row + row as u16;
            panel.cells.write_cut(row, inside.col, end, what, Theme::PANEL_TITLE);
            panel.cells.write_cut(row, inside.col + col, end, value, Theme::PANEL);
        }
        panel.tell_part(from, shown, lines.len());
        (self.from, self.shown, self.total) = (from, shown, lines.len());
        panel
    }

    /// The lines of a page of so many columns: what, where its value starts, and the value. Values stand below each
    /// other if there is room, else where there is some, and else in lines of their own.
    fn lines(&self, cols: u16, left: usize) -> Vec<(&str, u16, &str)> {
        let cols = usize::from(cols);
        let aligned = self.rows.iter().all(|(_, value)| left + GAP + value.width() <= cols);
        let mut lines = Vec::new();
        for (what, value) in &self.rows {
            let beside = if aligned { left } else { what.width() } + GAP;
            if beside + value.width() <= cols || value.is_empty() {
                lines.push((&**what, beside as u16, &**value));
            } else {
                lines.push((&**what, 0, ""));
                lines.push(("", GAP as u16, &**value));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_where_there_is_room() {
        let rows = [("a", "one"), ("longer", "a longer value")];
        let page = Page::new("Page", rows.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec());
        assert_eq!(page.lines(40, 6), [("a", 8, "one"), ("longer", 8, "a longer value")]);
        assert_eq!(page.lines(16, 6), [("a", 3, "one"), ("longer", 0, ""), ("", 2, "a longer value")]);
    }

    #[test]
    fn a_page_is_read_to_its_end_and_back() {
        let rows = (0..30).map(|n| (n.to_string(), String::new())).collect();
        let mut page = Page::new("Page", rows);
        page.draw(Size::new(10, 40));
        assert_eq!((page.key(Key::plain(KeyCode::End)), page.from), (Answer::Changed, 22));
        assert_eq!(page.key(Key::plain(KeyCode::Down)), Answer::Ignored);
        assert_eq!((page.key(Key::plain(KeyCode::Home)), page.from), (Answer::Changed, 0));
        assert_eq!(page.key(Key::plain(KeyCode::Escape)), Answer::Closed(None));
        for size in [Size::new(1, 1), Size::new(5, 12), Size::new(300, 1)] {
            page.draw(size);
        }
    }
}
